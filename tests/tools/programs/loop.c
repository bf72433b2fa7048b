/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenMP program that knows nothing of heartbeats: three regions an iteration. With
 * a second argument it is killed after that many iterations. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 5000, STATUS = 5 };

static double a[SIZE], b[SIZE];

int main(int argc, char **argv) {
  int iterations = argc > 1 ? atoi(argv[1]) : 100;
  int killed_at = argc > 2 ? atoi(argv[2]) : -1;
  double sum = 0;
  for (int i = 0; i < SIZE; i++) b[i] = i;
  for (int it = 0; it < iterations; it++) {
    if (it == killed_at) raise(SIGKILL);
#pragma omp parallel for
    for (int i = 0; i < SIZE; i++) a[i] = b[i] + it;
#pragma omp parallel for schedule(dynamic, 1000)
    for (int i = 0; i < SIZE; i++) b[i] = a[i] / 2;
#pragma omp parallel for reduction(+ : sum) schedule(guided)
    for (int i = 0; i < SIZE; i++) sum += b[i];
  }
  printf("sum %.6e\n", sum);
  return STATUS;
}
