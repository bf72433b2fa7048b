/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of names, numbered in the order in which they were added. Finding one takes O(1)
 * expected time: region files can contain tens of thousands. */
#ifndef TSN_RUNS_NAMES_H
#define TSN_RUNS_NAMES_H

#include "runs/memory.h"

typedef struct {
  tsn_pool *pool;    /* of the table; the names are not copied */
  const char **name; /* by number */
  size_t count, capacity;
  size_t *slot; /* 2 * capacity of them: number + 1; 0: free */
} tsn_names;

/* A set for at most `capacity` names; false: out of memory. */
bool tsn_names_create(tsn_names *names, tsn_pool *pool, size_t capacity);

/* The number of a name; TSANOM_NONE: not there. */
size_t tsn_names_find(const tsn_names *names, const char *name);

/* Add a name that is not there; the set must have space for it. */
void tsn_names_add(tsn_names *names, const char *name);

#endif
