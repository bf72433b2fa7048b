/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations that use 16, 2, 12, 1, 16 and 4 threads for 8, 7, 7, 8, 7 and 7 ms: the
 * number of active processors of figure 3 of the periodicity paper. The threads sleep, so
 * that they need no processors; iteration i starts 44 i ms after the first. Arguments:
 * iterations, and the microseconds by which the parts differ in length by chance. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double start;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double end) {
  double left = start + end - now();
  if (left <= 0) return;
  struct timespec time = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
  nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
  static const int threads[] = {16, 2, 12, 1, 16, 4}, part_ms[] = {8, 7, 7, 8, 7, 7};
  int iterations = argc > 1 ? atoi(argv[1]) : 20;
  double jitter = argc > 2 ? 1e-6 * atof(argv[2]) : 0, end = 0;
  start = now();
  for (int i = 0; i < iterations; i++) {
    for (int k = 0; k < 6; k++) {
      end += 1e-3 * part_ms[k];
      double moved = k < 5 ? jitter * (2.0 * rand() / RAND_MAX - 1) : 0;
#pragma omp parallel num_threads(threads[k])
      sleep_until(end + moved);
    }
  }
  printf("%d iterations in %.3f s\n", iterations, now() - start);
  return 0;
}
