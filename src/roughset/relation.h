/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows grouped by a set of attributes, and their decisions. */
#ifndef TSN_ROUGHSET_RELATION_H
#define TSN_ROUGHSET_RELATION_H

#include "roughset/table.h"

typedef struct {
  tsn_rs_index index;
  uint32_t *list;          /* the attributes of the set */
  uint32_t *group;         /* of each row */
  uint32_t *decision;      /* of each row, numbered by first appearance */
  uint32_t *count, *first; /* of each group: rows, and another number */
  int32_t *pairs;          /* group and decision, as a table of two columns */
  uint8_t *flag;           /* of each row or group */
} tsn_rs_relation;

void tsn_rs_relation_layout(tsn_arena *arena, const tsn_rs_input *input,
                            tsn_rs_relation *relation);

/* Carve the relation out of a workspace; a subset with a bit beyond the table's
 * attributes is refused. */
tsanom_status tsn_rs_relation_open(const tsn_rs_input *input, const uint64_t *subset,
                                   void *work, size_t work_bytes,
                                   tsn_workspace *workspace, tsn_rs_relation *relation);

/* Whether x and y agree on the attributes listed, a missing value agreeing with
 * every other if `wildcards`. */
bool tsn_rs_agree(const tsanom_roughset_table *table, const uint32_t *list, size_t count,
                  bool wildcards, size_t x, size_t y);

#endif
