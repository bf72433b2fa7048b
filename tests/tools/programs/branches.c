/* SPDX-License-Identifier: BSD-3-Clause */
/* Each iteration opens one of two regions. Optimisers make one call of the two. */
#include <stdio.h>

enum { SIZE = 1000, ITERATIONS = 60 };

static double values[SIZE];

int main(void) {
  for (int k = 0; k < ITERATIONS; k++) {
    if (k % 2) {
#pragma omp parallel for
      for (int i = 1; i < SIZE; i += 2) values[i] += 1;
    } else {
#pragma omp parallel for
      for (int i = 0; i < SIZE; i += 2) values[i] *= 0.5;
    }
  }
  printf("%g\n", values[1]);
  return 0;
}
