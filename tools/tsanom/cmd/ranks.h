/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of several ranks in subcommands that analyze one process at a time. */
#ifndef TSANOM_COMMAND_RANKS_H
#define TSANOM_COMMAND_RANKS_H

#include <jansson.h>

#include "failure.h"
#include "options.h"

/* Call `one` for the run in shared->argument[0] or, if that has several ranks, for the
 * run of each rank, with its path there; as text each has one line, if `brief`. Returns the largest exit status. */
int for_each_rank(shared_options *shared, int brief, int (*one)(const void *request),
                  const void *request);

/* Put the runs of the ranks in place of each argument that is a run of several ranks. */
int expand_ranks(shared_options *shared, failure *why);

/* Keep the result of a rank, and return 1; 0: it is not one of several. */
int ranks_collect(json_t *value);

#endif
