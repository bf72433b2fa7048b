/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of a recorded program: those by which `tsanom record` (the
 * launcher) instructs the preloaded library (intercept), and those of MPI. */
#ifndef TSANOM_TOOLS_ENVIRONMENT_H
#define TSANOM_TOOLS_ENVIRONMENT_H

#include <stddef.h>
#include <stdlib.h>

#define ENVIRONMENT_RUN                                           \
  "TSANOM_RECORD_DIRECTORY" /* absolute path of the run directory \
                             */

#define ENVIRONMENT_LOOP "TSANOM_RECORD_LOOP" /* the place of --loop; unset: none */

/* Numbers; 0 or unset: off. */
#define ENVIRONMENT_HEARTBEAT_EVERY "TSANOM_RECORD_HEARTBEAT_EVERY"
#define ENVIRONMENT_CPU_TIME "TSANOM_RECORD_CPU_TIME"
#define ENVIRONMENT_BASELINE "TSANOM_RECORD_BASELINE"
#define ENVIRONMENT_BASELINE_ITERATIONS "TSANOM_RECORD_BASELINE_ITERATIONS"

/* The rank of this process in an MPI program, as the MPI launcher sets it; NULL: it is
 * not part of one. */
static inline const char *environment_mpi_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *rank = getenv(names[i]);
    if (rank && *rank) return rank;
  }
  return NULL;
}

#endif
