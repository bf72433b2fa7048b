/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance_mpi KIND PERCENT ITERATIONS: ranks that compute and exchange, of which the last
 * has PERCENT more work than each other.
 *
 *   barrier   compute, MPI_Allreduce
 *   startup   ten short computations of different length first, a barrier behind each
 *   polling   the last rank computes and sends; the others wait by MPI_Test
 *   oddeven   neighbors exchange by MPI_Send and MPI_Recv, odd ranks in the other order
 *   pipeline  each rank receives from the one before, computes, and sends on */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 1000000, TAG = 1 };

static int rank, ranks;

/* Units of about a millisecond, on values that stay in registers. */
static double compute(double units) {
  double x = 0.5;
  for (long i = (long)(units * UNIT); i > 0; i--) x = x * x - 1.25 + 1e-9 * (double)i;
  return x;
}

static double starting(void) {
  double sum = 0;
  for (int i = 0; i < 10; i++) {
    sum += compute(1e-5 * (1 + i % 3 + rank % 2));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return sum;
}

static double barrier(double units) {
  double mine = compute(units), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static double polling(double units) {
  double value = 0;
  if (rank == ranks - 1) {
    value = compute(units);
    for (int to = 0; to < rank; to++) {
      MPI_Send(&value, 1, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD);
    }
    return value;
  }
  MPI_Request request;
  int done = 0;
  MPI_Irecv(&value, 1, MPI_DOUBLE, ranks - 1, TAG, MPI_COMM_WORLD, &request);
  double mine = compute(1);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return mine + value;
}

static double odd_even(double units) {
  double mine = compute(units), other = 0;
  int partner = rank ^ 1;
  if (partner >= ranks) return mine;
  for (int turn = 0; turn < 2; turn++) {
    if (turn == rank % 2) {
      MPI_Send(&mine, 1, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&other, 1, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return mine + other;
}

static double pipeline(double units) {
  double value = 0;
  if (rank) {
    MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  value += compute(units);
  if (rank + 1 < ranks) MPI_Ssend(&value, 1, MPI_DOUBLE, rank + 1, TAG, MPI_COMM_WORLD);
  return value;
}

int main(int argc, char **argv) {
  static const char *const name[] = {"barrier", "startup", "polling", "oddeven",
                                     "pipeline"};
  static double (*const step[])(double) = {barrier, barrier, polling, odd_even, pipeline};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int kind = 0, last = rank == ranks - 1;
  while (argc == 4 && kind < 5 && strcmp(argv[1], name[kind])) kind++;
  if (argc != 4 || kind == 5) {
    if (rank == 0) fprintf(stderr, "imbalance_mpi KIND PERCENT ITERATIONS\n");
    MPI_Finalize();
    return 2;
  }
  double units = 1 + (last ? atof(argv[2]) / 100 : 0), sum = 0;
  int iterations = atoi(argv[3]);
  if (kind == 1) sum += starting();
  for (int i = 0; i < iterations; i++) sum += step[kind](units);
  if (rank == 0) printf("%d iterations, %g\n", iterations, sum);
  MPI_Finalize();
  return 0;
}
