/* SPDX-License-Identifier: BSD-3-Clause */
/* A parallel region in another: thread 0 of the outer one opens the inner one. */
#include <omp.h>
#include <stdlib.h>

static double sum;

static void inner(void) {
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000000; i++) sum += 1.0 / (1 + i);
}

int main(void) {
  for (int i = 0; i < 5; i++) {
#pragma omp parallel
    if (omp_get_thread_num() == 0) inner();
  }
  return sum > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
