/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the search by splitting rows, and the loop that calls the kernel between
 * polls. */
#include "roughset/split.h"

#include <string.h>

#include "core/exec.h"

/* Nodes between two chances to stop: about a millisecond. */
enum { NODES_PER_POLL = 1 << 11 };

void tsn_rs_split_layout(tsn_arena *arena, size_t rows, size_t attributes,
                         tsn_rs_split *s) {
  const size_t depths = TSN_RS_SPLIT_DEPTH + 1;
  s->words = tsn_rs_words(attributes);
  s->rows = rows < TSN_RS_SPLIT_ROWS ? rows : TSN_RS_SPLIT_ROWS;
  s->row = tsn_arena_take(arena, s->rows * s->words, sizeof *s->row);
  /* Classes have two rows at least; one more is written before it is known to be none. */
  s->class = tsn_arena_take(arena, depths * (s->rows / 2) + 1, sizeof *s->class);
  s->first = tsn_arena_take(arena, depths + 1, sizeof *s->first);
  s->candidates = tsn_arena_take(arena, depths * s->words, sizeof *s->candidates);
  s->branch = tsn_arena_take(arena, depths * s->words, sizeof *s->branch);
  s->chosen = tsn_arena_take(arena, depths, sizeof *s->chosen);
}

/* Whether the values of attribute `a` are at most two: the bit of each row. */
static bool load_attribute(tsn_rs_split *s, const tsanom_roughset_table *t,
                           const tsn_rs_units *units, size_t a) {
  const int32_t low = t->values[units->row[0] * t->ld + a];
  int32_t high = low;
  for (size_t i = 0; i < units->units; i++) {
    int32_t value = t->values[units->row[i] * t->ld + a];
    if (value == low) continue;
    if (value != high && high != low) return false;
    high = value;
    tsn_rs_add(s->row + i * s->words, a);
  }
  return true;
}

bool tsn_rs_split_load(tsn_rs_split *s, const tsanom_roughset_table *table,
                       const tsn_rs_units *units) {
  if (units->units > s->rows || units->labels < units->units) return false;
  s->rows = units->units;
  memset(s->row, 0, s->rows * s->words * sizeof *s->row);
  for (size_t a = 0; a < table->attributes; a++) {
    if (!load_attribute(s, table, units, a)) return false;
  }
  return true;
}

void tsn_rs_split_root(tsn_rs_split *s, const uint32_t *core, size_t core_size,
                       const uint64_t *candidates, int32_t isa) {
  s->depth = 0;
  s->first[0] = 0;
  s->first[1] = 1;
  s->class[0] = (tsn_rs_class){0, (uint32_t)s->rows};
  memcpy(s->candidates, candidates, s->words * sizeof *candidates);
  for (size_t k = 0; k < core_size; k++) {
    tsn_rs_split_kernels_at(isa)->choose(s, core[k]);
  }
  s->base = s->depth;
}

tsanom_status tsn_rs_split_search(tsn_rs_split *s, size_t limit, const tsanom_exec *exec,
                                  tsn_rs_split_examine *examine, void *context) {
  const tsn_rs_split_kernels *kernels = tsn_rs_split_kernels_at(exec->isa);
  int event = TSN_RS_SPLIT_NODES;
  s->limit = limit;
  s->nodes = 0;
  kernels->open(s);
  for (uint64_t turns = 0; event != TSN_RS_SPLIT_DONE; turns++) {
    if (tsn_exec_stop(exec, turns, 0)) return TSANOM_STOPPED;
    event = kernels->run(s, NODES_PER_POLL);
    if (event != TSN_RS_SPLIT_FOUND) continue;
    tsanom_status status = examine(context, s->chosen, s->depth);
    if (status != TSANOM_INFEASIBLE) return status;
  }
  return TSANOM_OK;
}
