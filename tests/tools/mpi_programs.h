/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI programs that are built and recorded with each of Debian's MPI libraries. */
#ifndef TSANOM_TEST_MPI_PROGRAMS_H
#define TSANOM_TEST_MPI_PROGRAMS_H

#include <stdbool.h>

enum { OPENMPI, MPICH, MPI_LIBRARIES };
extern const char *const mpi_libraries[MPI_LIBRARIES];

/* A new folder, and what Open MPI needs. */
void prepare_mpi(void);

/* Build a program of tests/tools/programs as `name`; false if the library is missing. */
bool build_mpi_program(int library, const char *source, const char *name);

/* Record the program as RUN `run`; returns the exit status of mpirun. */
int record_ranks(int library, int ranks, const char *options, const char *run,
                 const char *program);

#endif
