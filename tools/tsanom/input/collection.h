/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that were recorded on several machines, each in a directory of its own, put
 * together to one run. */
#ifndef TSANOM_COMMAND_COLLECTION_H
#define TSANOM_COMMAND_COLLECTION_H

#include <stddef.h>
#include <stdint.h>
#include <tsanom/base.h>

#include "failure.h"

typedef struct {
  size_t ranks, size; /* in the run now, and of the job; size 0: not known */
  size_t copied;      /* of the ranks, by this call */
  size_t spawned;     /* copied processes that MPI_Comm_spawn started */
  uint64_t records;   /* of all that was copied */
} collection;

/* Copy the ranks of the directories to the run `output`, which is created, or has ranks
 * of the same job. A rank that is there already is left as it is. Each copy is read, and
 * must contain what the original contains. Processes that MPI_Comm_spawn started, in
 * spawned.N of a directory, are copied to spawned.N of the run. */
int collect_ranks(char *const *directories, size_t count, const char *output,
                  const tsanom_exec *exec, collection *done, failure *why);

#endif
