/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy of charged particles, summed over all pairs by several ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { PARTICLES = 1200, STEPS = 20 };

static double x[PARTICLES];
static int rank, size;

/* Particles first, first + step, ... with all particles before them. */
static double energy(int first, int end, int step) {
  double sum = 0;
  for (int i = first; i < end; i += step) {
    for (int j = 0; j < i; j++) sum += 1 / sqrt((x[i] - x[j]) * (x[i] - x[j]) + 1);
  }
  return sum;
}

static double total_energy(void) {
  int first = rank * PARTICLES / size, end = (rank + 1) * PARTICLES / size;
  double own = energy(first, end, 1), all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  double sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < PARTICLES; i++) x[i] = i + 0.3 * sin(step + i);
    sum += total_energy();
  }
  if (rank == 0) printf("mean energy %.6f\n", sum / STEPS);
  MPI_Finalize();
}
