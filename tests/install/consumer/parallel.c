/* SPDX-License-Identifier: BSD-3-Clause */
/* A program to record: 60 iterations of two parallel regions. */
#include <stdio.h>

enum { ITERATIONS = 60, TURNS = 20000 };

static double half(double x) {
  for (int i = 0; i < TURNS; i++) x = x * 0.5 + 1;
  return x;
}

int main(void) {
  double sum = 0;
  for (int i = 0; i < ITERATIONS; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += half(i);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += half(sum);
  }
  printf("%g\n", sum);
  return 0;
}
