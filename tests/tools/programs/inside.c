/* SPDX-License-Identifier: BSD-3-Clause */
/* All work inside one parallel region: two static loops and a barrier an iteration. A
 * second argument says how many regions of another kind come before. */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 5000 };

static double a[SIZE], b[SIZE];

int main(int argc, char **argv) {
  int iterations = argc > 1 ? atoi(argv[1]) : 100;
  int before = argc > 2 ? atoi(argv[2]) : 0;
  for (int k = 0; k < before; k++) {
#pragma omp parallel
    if (k < 0) b[0] = k;
  }
#pragma omp parallel
  for (int it = 0; it < iterations; it++) {
#pragma omp for
    for (int i = 0; i < SIZE; i++) a[i] = b[i] + it;
#pragma omp for
    for (int i = 0; i < SIZE; i++) b[i] = a[i] / 2;
#pragma omp barrier
  }
  printf("b %.6e\n", b[7]);
  return 0;
}
