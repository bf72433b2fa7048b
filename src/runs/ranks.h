/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of several ranks: RUN/ranks.tsv, and an ordinary run RUN/rank.K for each rank
 * (docs/formats.md). */
#ifndef TSN_RUNS_RANKS_H
#define TSN_RUNS_RANKS_H

#include "runs/memory.h"

/* Of the file of a run of ranks. */
#define TSN_RANKS_FILE "ranks.tsv"

typedef struct {
  int32_t *rank; /* those that recorded something, in increasing order */
  size_t count;
  size_t size; /* of the job; 0: not known */
} tsn_ranks;

/* The ranks of a run, in a pool. None, if the directory is not a run of ranks. */
tsanom_status tsn_ranks_read(const char *path, const tsanom_exec *exec, tsn_pool *pool,
                             tsn_ranks *ranks);

#endif
