/* SPDX-License-Identifier: BSD-3-Clause */
/* The handler of an error leaves a call of MPI by longjmp(), and the program goes on:
 * left_calls KIND. Calls with few and many arguments are left, and follow. */
#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf before;

static void leave(MPI_Comm *communicator, int *error, ...) {
  (void)communicator;
  (void)error;
  longjmp(before, 1);
}

static void fail(int kind, MPI_Comm c) {
  enum { NOBODY = 999 };
  double a = 0, b = 0;
  if (kind == 0) MPI_Send(&a, 1, MPI_DOUBLE, NOBODY, 0, c);
  if (kind == 1) MPI_Bcast(&a, -1, MPI_DOUBLE, 0, c);
  if (kind == 2) {
    MPI_Sendrecv(&a, 1, MPI_DOUBLE, NOBODY, 0, &b, 1, MPI_DOUBLE, NOBODY, 0, c,
                 MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  MPI_Comm own;
  MPI_Errhandler handler;
  double a = 1, b[2] = {0};
  int counts[2] = {0}, displacements[2] = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(own, handler);
  if (!setjmp(before)) fail(argc > 1 ? atoi(argv[1]) : 0, own);
  for (int i = 0; i < 20; i++) {
    MPI_Alltoallv(&a, counts, displacements, MPI_DOUBLE, b, counts, displacements,
                  MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allreduce(&a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
