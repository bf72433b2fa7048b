/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the smallest reduct share: minimum.c, gap.c and learn.c. */
#ifndef TSN_ROUGHSET_MINIMUM_H
#define TSN_ROUGHSET_MINIMUM_H

#include "roughset/bound.h"
#include "roughset/elements.h"
#include "roughset/greedy.h"
#include "roughset/local_search.h"
#include "roughset/split.h"

/* Indiscernible pairs sought for a candidate, and elements learned from them: the
 * smallest ones, which exclude the most candidates. */
enum { TSN_RS_PAIRS_ASKED = 1 << 12, TSN_RS_LEARNED_AT_ONCE = 8 };

/* One call, of either function; a greedy reduct is the first half of the other. */
typedef struct {
  tsn_rs_input input;
  size_t words;
  bool pairwise; /* wildcards: all elements are held */
  /* Not pairwise: classes, their hashes for the core, pairs that the table returns. */
  tsn_rs_unit_buffers units;
  tsn_rs_greedy_buffers greedy;
  tsn_rs_split split;
  bool splits; /* the sizes that are left are searched by splitting rows */
  uint64_t *hash;
  uint32_t *pair;
  /* Pairwise: all minimal elements. */
  tsn_rs_element_buffers elements;
  /* Both. */
  tsn_rs_cover cover;
  tsn_rs_local local;
  tsn_rs_bound bound;
  uint64_t *set; /* scratch */
  uint64_t *core, *candidates, *learned, *best;
  uint32_t *core_list, *list;
  size_t core_size;
  tsanom_roughset_bounds bounds;
  bool all; /* every smallest reduct is wanted */
  tsanom_roughset_visitor visitor;
  size_t found;
  tsanom_roughset_bounds *bounds_out; /* the caller's; NULL for one greedy reduct */
  uint64_t *reduct_out;
  size_t *count_out;
} tsn_rs_minimum;

/* Write elements that the first `count` of r->list do not meet to r->learned; returns
 * their number: 0 if the list discerns everything. */
size_t tsn_rs_missed_elements(tsn_rs_minimum *r, size_t count);

/* Add them to r->cover. TSANOM_PARTIAL: no capacity; *learned is their number. */
tsanom_status tsn_rs_learn(tsn_rs_minimum *r, size_t count, size_t *learned);

/* The first `count` of r->list are the smallest set known that discerns everything. */
void tsn_rs_keep_best(tsn_rs_minimum *r, size_t count);

/* Raise the lower bound, which r->core_size is at first, and lower the upper one until
 * they meet; then visit every smallest reduct if r->all. */
tsanom_status tsn_rs_close_gap(tsn_rs_minimum *r);

#endif
