/* SPDX-License-Identifier: BSD-3-Clause */
/* Computations before one barrier: many of some microseconds, and then one of milliseconds in
 * which the rank also sleeps, in rounds of random sizes. Rank 0 prints the seconds of processor time
 * and of elapsed time that all of them took.
 *
 * usage: rare SEED ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double between(double least, double most) {
  return least + (most - least) * rand() / RAND_MAX;
}

static void work(double how_long) {
  double end = seconds(CLOCK_THREAD_CPUTIME_ID) + how_long;
  while (seconds(CLOCK_THREAD_CPUTIME_ID) < end) continue;
}

static void sleep_for(double how_long) {
  struct timespec pause = {.tv_nsec = (long)(how_long * 1e9)};
  nanosleep(&pause, NULL);
}

int main(int argc, char **argv) {
  int rank, rounds = argc > 2 ? atoi(argv[2]) : 1;
  double cpu = 0, elapsed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
  for (int i = 0; i < rounds; i++) {
    int rest = (int)between(20, 200);
    do {
      double used = seconds(CLOCK_THREAD_CPUTIME_ID), began = seconds(CLOCK_MONOTONIC);
      if (rest) {
        work(between(0, 3e-6));
      } else {
        work(between(1e-3, 4e-3));
        sleep_for(between(2e-3, 8e-3));
      }
      cpu += seconds(CLOCK_THREAD_CPUTIME_ID) - used;
      elapsed += seconds(CLOCK_MONOTONIC) - began;
      MPI_Barrier(MPI_COMM_SELF);
    } while (rest--);
  }
  if (rank == 0) printf("%.6f %.6f\n", cpu, elapsed);
  MPI_Finalize();
  return 0;
}
