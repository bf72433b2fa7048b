/* SPDX-License-Identifier: BSD-3-Clause */
/* Nanoseconds of processor time of an empty parallel region: the least of many
 * repeats, by the thread that opens it. Four regions in turn, as an iteration has. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static volatile int sink;

#define EMPTY_REGION _Pragma("omp parallel") sink = 0

int main(int argc, char **argv) {
  enum { ITERATIONS = 5000, REGIONS = 4 };
  int repeats = argc > 1 ? atoi(argv[1]) : 31;
  double least = 1e9;
  for (int repeat = 0; repeat < repeats; repeat++) {
    double before = cpu_seconds();
    for (int i = 0; i < ITERATIONS; i++) {
      EMPTY_REGION;
      EMPTY_REGION;
      EMPTY_REGION;
      EMPTY_REGION;
    }
    double each = (cpu_seconds() - before) / (ITERATIONS * REGIONS);
    if (each < least) least = each;
  }
  printf("%.1f\n", least * 1e9);
  return 0;
}
