/* SPDX-License-Identifier: BSD-3-Clause */
/* Usage: region_cost PIECES [idle]
 * Nanoseconds of processor time of an empty parallel region, by the thread that opens
 * it: the median over pieces of 1000 regions, and the mean over all of them. Four
 * regions in turn, as an iteration has. "idle" starts a thread that sleeps. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ITERATIONS = 250, REGIONS = 4, MOST = 100000 };

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static volatile int sink;

#define EMPTY_REGION _Pragma("omp parallel") sink = 0

static void run_piece(void) {
  for (int i = 0; i < ITERATIONS; i++) {
    EMPTY_REGION;
    EMPTY_REGION;
    EMPTY_REGION;
    EMPTY_REGION;
  }
}

static void *sleep_on(void *unused) {
  for (;;) pause();
  return unused;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static double piece[MOST];
  pthread_t idle;
  int pieces = argc > 1 ? atoi(argv[1]) : 1000;
  if (pieces < 1 || pieces > MOST) return 2;
  if (argc > 2 && !strcmp(argv[2], "idle")) pthread_create(&idle, NULL, sleep_on, NULL);
  run_piece();
  double sum = 0;
  for (int i = 0; i < pieces; i++) {
    double before = cpu_seconds();
    run_piece();
    piece[i] = (cpu_seconds() - before) / (ITERATIONS * REGIONS) * 1e9;
    sum += piece[i];
  }
  qsort(piece, (size_t)pieces, sizeof *piece, compare);
  printf("%.1f %.1f\n", piece[pieces / 2], sum / pieces);
  return 0;
}
