/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows grouped by a set of attributes, and their decisions: what dependency.c,
 * inconsistent.c and rules.c have in common. The indiscernibility relation
 *
 *     x IND_B y  iff  a(x) = a(y) for all a in B
 *
 * is held as the number of the class of each row, O(rows) memory, never as pairs. */
#ifndef TSN_ROUGHSET_RELATION_H
#define TSN_ROUGHSET_RELATION_H

#include "roughset/table.h"

/* Buffers; each function says in its own comments what it uses `count`, `first` and
 * `flag` for. */
typedef struct {
  tsn_rs_index index;
  uint32_t *list;          /* the attributes of the set */
  uint32_t *group;         /* of each row */
  uint32_t *decision;      /* of each row, numbered by first appearance */
  uint32_t *count, *first; /* of each group: rows, and another number */
  int32_t *pairs;          /* group and decision, as a table of two columns */
  uint8_t *flag;           /* of each row or group */
} tsn_rs_relation;

/* A call whose buffers are one relation: the first member of its context. */
typedef struct {
  tsn_rs_input input;
  const uint64_t *subset; /* NULL: all attributes */
  tsn_rs_relation relation;
} tsn_rs_relation_call;

/* Check table and subset of such a call, with `context` beginning with a
 * tsn_rs_relation_call; a subset with a bit beyond the attributes is TSANOM_E_INDEX. */
tsn_body tsn_rs_relation_check;

/* Run the body of such a call, whose input was read, after `check`, which begins with
 * tsn_rs_relation_check(). */
tsanom_status tsn_rs_relation_run(tsn_body *check, tsn_body *body, void *context);

/* With wildcards: whether x and y agree on the attributes listed; a missing value agrees
 * with every other. That is reflexive and symmetric, but not transitive: it cannot be
 * hashed, and callers compare all pairs. */
bool tsn_rs_agree(const tsanom_roughset_table *table, const uint32_t *list, size_t count,
                  size_t x, size_t y);

#endif
