/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI in functions that the compiler inlines: one of a header, one of this file that
 * two functions call, and one that is inlined in main(). */
#include <mpi.h>

#define INLINED static inline __attribute__((always_inline))

/* clang-format off */
# 7 "library.hpp"
INLINED void reduce(double *value) {
  MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
# 17 "inlined.c"
/* clang-format on */
INLINED void gather(double *value) {
  MPI_Bcast(value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* 19 */
}

static __attribute__((noinline)) double flux(double value) {
  reduce(&value); /* 23 */
  gather(&value);
  return value;
}

static __attribute__((noinline)) double halo(double value) {
  gather(&value);
  return value;
}

INLINED void finish(void) {
  MPI_Barrier(MPI_COMM_WORLD); /* 34 */
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  double value = argc;
  for (int i = 0; i < 10; i++) value = halo(flux(value / 4));
  finish();
  MPI_Finalize(); /* 42 */
  return value > 1e9;
}
