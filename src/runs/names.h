/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of names, numbered in the order in which they were added. Finding one takes O(1)
 * expected time: region files can contain tens of thousands, and comparing each name
 * with all others took 25 s for 60,000 of them instead of less than one. */
#ifndef TSN_RUNS_NAMES_H
#define TSN_RUNS_NAMES_H

#include "runs/memory.h"

typedef struct {
  /* Of the table; the names are not copied, and must live as long. */
  tsn_pool *pool;
  /* By number. */
  const char **name;
  size_t count, capacity;
  /* 2 * capacity of them: number + 1; 0: free. So zeroed memory is an empty table. */
  size_t *slot;
} tsn_names;

/* A set for at most `capacity` names; false: out of memory. */
bool tsn_names_create(tsn_names *names, tsn_pool *pool, size_t capacity);

/* The number of a name; TSANOM_NONE: not there. */
size_t tsn_names_find(const tsn_names *names, const char *name);

/* The number of a name, of which a copy in `pool` is added if it is new. TSANOM_NONE: the
 * set is full, or there is no memory. */
size_t tsn_names_number(tsn_names *names, tsn_pool *pool, const char *text);

/* Add a name that is not there; the set must have space for it. */
void tsn_names_add(tsn_names *names, const char *name);

#endif
