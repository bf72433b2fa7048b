/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds programs by the compilers of Open MPI and of MPICH, and records their ranks
 * under mpirun. A library that is not installed is noted and left out; a test is skipped
 * where neither is. */
#include "mpi_programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"
#include "support/skip.h"

/* By default Open MPI starts no ranks for root, and not more than there are processors.
 */
void prepare_mpi(void) {
  enter_folder();
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
}

const char *const mpi_libraries[MPI_LIBRARIES] = {"openmpi", "mpich"};

#define OPENMPI_PACKAGES "openmpi-bin libopenmpi-dev"
#define MPICH_PACKAGES "mpich libmpich-dev"
static const char *const packages[MPI_LIBRARIES] = {OPENMPI_PACKAGES, MPICH_PACKAGES};
static const char all_packages[] = OPENMPI_PACKAGES " " MPICH_PACKAGES;

static bool has_mpi(int library) {
  const char *mpi = mpi_libraries[library];
  return shell("command -v mpirun.%s >found && command -v mpicc.%s >found", mpi, mpi) ==
         0;
}

bool build_mpi_program(int library, const char *source, const char *name) {
  const char *mpi = mpi_libraries[library];
  bool is_c = strstr(source, ".c") != NULL;
  if (!has_mpi(library)) {
    if (!has_mpi(1 - library)) SKIP_TEST("needs the Debian packages %s", all_packages);
    note_skipped("needs the Debian packages %s", packages[library]);
    return false;
  }
  if (!is_c && shell("command -v gfortran >found") != 0) {
    note_skipped("needs the Debian package gfortran");
    return false;
  }
  char command[64];
  (void)snprintf(command, sizeof command, "%s.%s -g -O1%s", is_c ? "mpicc" : "mpif90",
                 mpi, is_c ? " -pthread -fopenmp" : "");
  cr_assert(build_kept(command, source, name), "%s", source);
  return true;
}

int record_ranks(int library, int ranks, const char *options, const char *run,
                 const char *program) {
  return shell("mpirun.%s -n %d tsanom record %s -o %s -- ./%s >out 2>err",
               mpi_libraries[library], ranks, options, run, program);
}
