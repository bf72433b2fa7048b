/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread 1 of 2 does more work in the first of two regions, and reads more: this program
 * defines getrusage() in place of the C library's, so that the bytes are known. */
#include <omp.h>
#include <stddef.h>
#include <sys/resource.h>

enum { ITERATIONS = 20, TERMS = 400000 };

static _Thread_local long blocks;

int getrusage(__rusage_who_t who, struct rusage *used) {
  (void)who;
  *used = (struct rusage){.ru_inblock = blocks, .ru_oublock = blocks};
  return 0;
}

static void work(int terms) {
  volatile double sum = 0;
  for (int i = 0; i < terms; i++) sum = sum + 1e-3 * i;
}

int main(void) {
  for (int i = 0; i < ITERATIONS; i++) {
#pragma omp parallel num_threads(2)
    {
      int share = 1 + 3 * omp_get_thread_num();
      work(share * TERMS);
      blocks += share;
    }
#pragma omp parallel num_threads(2)
    work(TERMS);
  }
  return 0;
}
