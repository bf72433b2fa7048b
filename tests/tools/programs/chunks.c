/* SPDX-License-Identifier: BSD-3-Clause */
/* One parallel region with one loop of schedule KIND, over a variable of type WORD. The
 * work is proportional to TERMS. */
#include <stdio.h>

#ifndef TERMS
#define TERMS 20000
#endif

enum { CHUNKS = 3200 };

int main(void) {
  WORD i;
  double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp for schedule(KIND)
  for (i = 0; i < CHUNKS; i++) {
    volatile double term = 0;
    for (int k = 0; k < TERMS; k++) term = term + 1e-3;
    sum += term;
  }
  printf("%.0f\n", sum);
  return 0;
}
