/* SPDX-License-Identifier: BSD-3-Clause */
/* A steady iteration of two parallel loops and a tenth of serial work, of some
 * milliseconds. Prints the seconds of all iterations. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 200000 };

static double a[SIZE], b[SIZE];

static double value(int i, double x) {
  double y = x + i;
  for (int k = 0; k < 8; k++) y = y / 1.5 + 1 / (1 + y * y);
  return y;
}

int main(int argc, char **argv) {
  int iterations = argc > 1 ? atoi(argv[1]) : 400;
  double sum = 0, start = omp_get_wtime();
  for (int it = 0; it < iterations; it++) {
#pragma omp parallel for
    for (int i = 0; i < SIZE; i++) a[i] = value(i, b[i]);
#pragma omp parallel for
    for (int i = 0; i < SIZE; i++) b[i] = value(i, a[i]);
    for (int i = 0; i < SIZE / 5; i++) sum += value(i, b[i]);
  }
  printf("%.4f\n", omp_get_wtime() - start);
  return sum == 0.5;
}
