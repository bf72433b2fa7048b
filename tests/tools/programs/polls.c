/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls for a message that the rank sends to itself afterwards, and prints how many seconds
 * that took.
 *
 * usage: polls WHAT ROUNDS POLLS
 *
 *   one    MPI_Test in a loop
 *   two    MPI_Test and MPI_Iprobe in turn
 *   work   MPI_Test, between which the program computes for 50 us */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(void) {
  double end = seconds(CLOCK_THREAD_CPUTIME_ID) + 50e-6;
  while (seconds(CLOCK_THREAD_CPUTIME_ID) < end) continue;
}

static double poll_for(MPI_Request *request, const char *what, int polls) {
  int done, self;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  double began = seconds(CLOCK_MONOTONIC);
  for (int i = 0; i < polls; i++) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (!strcmp(what, "two")) {
      MPI_Iprobe(self, 1, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    }
    if (!strcmp(what, "work")) work();
  }
  return seconds(CLOCK_MONOTONIC) - began;
}

int main(int argc, char **argv) {
  int rounds = argc > 2 ? atoi(argv[2]) : 1, polls = argc > 3 ? atoi(argv[3]) : 1, rank;
  double polled = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < rounds; i++) {
    int sent = i, got;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    polled += poll_for(&request, argv[1], polls);
    MPI_Send(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 0) printf("%.6f\n", polled);
  MPI_Finalize();
  return 0;
}
