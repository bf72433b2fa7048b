/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop of two regions inside the main loop, which has one region more. Arguments: the
 * iterations of the main loop, and those of the inner loop in each. */
#include <stdio.h>
#include <stdlib.h>

static double sum;

int main(int argc, char **argv) {
  int outer = argc > 1 ? atoi(argv[1]) : 10, inner = argc > 2 ? atoi(argv[2]) : 10;
  for (int i = 0; i < outer; i++) {
    for (int k = 0; k < inner; k++) {
#pragma omp parallel
      if (k < 0) sum = k;
#pragma omp parallel
      if (k < 0) sum = 2 * k;
    }
#pragma omp parallel
    if (i < 0) sum = i;
  }
  printf("%d iterations, %g\n", outer, sum);
  return 0;
}
