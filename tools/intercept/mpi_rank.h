/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_INTERCEPT_MPI_RANK_H
#define TSN_INTERCEPT_MPI_RANK_H

#include <stddef.h>
#include <stdlib.h>

/* The number of this process in an MPI program, as its launcher sets it; NULL: it is not
 * part of one. */
static inline const char *icp_mpi_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *rank = getenv(names[i]);
    if (rank && *rank) return rank;
  }
  return NULL;
}

#endif
