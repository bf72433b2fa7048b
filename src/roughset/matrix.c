/* SPDX-License-Identifier: BSD-3-Clause */
/* The discernibility matrix row by row, by the definition (A. Skowron and C. Rauszer,
 * 1992): for each pair of rows x < y the set of attributes in which they differ, and
 *
 *     kind   0   same decision, or the reading does not require the pair: an empty set
 *            1   must be discerned: the set
 *           -1   inconsistent: different decisions, but no attribute discerns them
 *
 * O(rows^2 * attributes), for small tables that a reader wants to see. The other
 * functions never form it: elements.c works with classes, core.c and dependency.c by
 * hashing. */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/size.h"
#include "roughset/relation.h"

/* What the reading needs to know of each row. */
typedef struct {
  tsn_rs_relation relation;
  uint64_t *delta;     /* generalized: delta of each row, else NULL */
  uint8_t *consistent; /* positive region: whether |delta| = 1, else NULL */
  size_t delta_words;
} matrix_buffers;

enum { USES = TSN_RS_READING | TSN_RS_MISSING };

typedef struct {
  tsn_rs_input input;
  matrix_buffers buffers;
  uint64_t *elements;
  int32_t *kind;
} matrix_call;

static void layout(tsn_arena *arena, void *context) {
  matrix_call *c = context;
  const tsn_rs_input *input = &c->input;
  matrix_buffers *b = &c->buffers;
  size_t rows = input->table.rows, bits = 0;
  b->delta_words = tsn_rs_words(rows);
  b->delta = NULL;
  b->consistent = NULL;
  tsn_rs_relation_layout(arena, input, &b->relation);
  if (input->options.reading == TSANOM_ROUGHSET_GENERALIZED) {
    if (__builtin_mul_overflow(rows, b->delta_words, &bits)) arena->overflow = true;
    b->delta = tsn_arena_take(arena, bits, sizeof *b->delta);
  } else if (input->options.reading == TSANOM_ROUGHSET_POSITIVE_REGION) {
    b->consistent = tsn_arena_take(arena, rows, sizeof *b->consistent);
  }
}

tsanom_status tsanom_roughset_matrix_workspace(size_t rows, size_t attributes,
                                               const tsanom_roughset_options *options,
                                               const tsanom_exec *exec, size_t *bytes) {
  matrix_call c;
  tsanom_status status =
      tsn_rs_read_sizes(&c.input, USES, rows, attributes, options, exec);
  return status < 0 ? status : tsn_workspace_query(&c.input.exec, layout, &c, bytes);
}

static bool wildcards(const tsn_rs_input *input) {
  return input->options.missing == TSANOM_ROUGHSET_WILDCARD;
}

/* For the reading: the decisions of the rows indiscernible from each row. The ordinary
 * reading needs none; the poll counts this as the first half of the work. */
static tsanom_status relate_rows(const tsn_rs_input *input, matrix_buffers *b) {
  const tsanom_roughset_table *t = &input->table;
  if (!b->delta && !b->consistent) return TSANOM_OK;
  if (b->delta) memset(b->delta, 0, t->rows * b->delta_words * sizeof *b->delta);
  if (b->consistent) memset(b->consistent, 1, t->rows);
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, 2 * t->rows)) return TSANOM_STOPPED;
    uint32_t own = b->relation.decision[x];
    if (b->delta) tsn_rs_add(b->delta + x * b->delta_words, own);
    for (size_t y = x + 1; y < t->rows; y++) {
      uint32_t other = b->relation.decision[y];
      if (own == other ||
          !tsn_rs_agree(t, b->relation.list, t->attributes, wildcards(input), x, y)) {
        continue;
      }
      if (b->delta) {
        tsn_rs_add(b->delta + x * b->delta_words, other);
        tsn_rs_add(b->delta + y * b->delta_words, own);
      } else {
        b->consistent[x] = b->consistent[y] = 0;
      }
    }
  }
  return TSANOM_OK;
}

/* Whether the reading requires two rows of different decisions to be discerned: the table
 * of docs/roughset.md. */
static bool required(const matrix_buffers *b, size_t x, size_t y) {
  const uint32_t *decision = b->relation.decision;
  if (b->consistent) return b->consistent[x] || b->consistent[y];
  if (b->delta) {
    return !tsn_rs_has(b->delta + x * b->delta_words, decision[y]) ||
           !tsn_rs_has(b->delta + y * b->delta_words, decision[x]);
  }
  return true;
}

/* Write the element of two rows, if `set` is not NULL; whether it is not empty. */
static bool write_element(const tsn_rs_input *input, size_t x, size_t y, uint64_t *set) {
  const tsanom_roughset_table *t = &input->table;
  const int32_t *a = t->values + x * t->ld, *b = t->values + y * t->ld;
  bool any = false;
  for (size_t k = 0; k < t->attributes; k++) {
    bool wild = wildcards(input) &&
                (a[k] == TSANOM_ROUGHSET_MISSING || b[k] == TSANOM_ROUGHSET_MISSING);
    if (a[k] == b[k] || wild) continue;
    any = true;
    if (set) tsn_rs_add(set, k);
  }
  return any;
}

/* Pairs in the order (0,1) (0,2) ... (1,2) ...: the upper triangle, row by row. */
static tsanom_status fill_matrix(const tsn_rs_input *input, const matrix_buffers *b,
                                 uint64_t *elements, int32_t *kind) {
  size_t rows = input->table.rows, words = tsn_rs_words(input->table.attributes);
  size_t pair = 0;
  for (size_t x = 0; x < rows; x++) {
    if (tsn_exec_stop(&input->exec, rows + x, 2 * rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < rows; y++, pair++) {
      uint64_t *set = elements ? elements + pair * words : NULL;
      if (set) memset(set, 0, words * sizeof *set);
      kind[pair] = 0;
      if (b->relation.decision[x] == b->relation.decision[y]) continue;
      if (!write_element(input, x, y, set)) {
        kind[pair] = -1;
      } else if (required(b, x, y)) {
        kind[pair] = 1;
      } else if (set) {
        memset(set, 0, words * sizeof *set);
      }
    }
  }
  return TSANOM_OK;
}

static tsanom_status body(void *context) {
  matrix_call *c = context;
  const tsanom_roughset_table *t = &c->input.table;
  tsn_rs_relation *r = &c->buffers.relation;
  tsn_rs_projection decision = {
      .values = t->decision, .stride = 1, .count = 1, .rows = t->rows};
  tsn_rs_group(&decision, &r->index, r->decision);
  tsn_rs_list(NULL, t->attributes, r->list);
  tsanom_status status = relate_rows(&c->input, &c->buffers);
  if (status != TSANOM_OK) return status;
  return fill_matrix(&c->input, &c->buffers, c->elements, c->kind);
}

tsanom_status tsanom_roughset_matrix(const tsanom_roughset_table *table,
                                     const tsanom_roughset_options *options,
                                     const tsanom_exec *exec, uint64_t *elements,
                                     int32_t *kind) {
  matrix_call c = {.elements = elements, .kind = kind};
  tsanom_status status = tsn_rs_read(&c.input, USES, table, options, exec);
  if (status < 0) return status;
  exec = &c.input.exec;
  if (!kind) return tsn_reject(exec, TSANOM_E_NULL, "kind");
  const tsanom_roughset_table *t = &c.input.table;
  size_t pairs = t->rows * (t->rows - 1) / 2;
  size_t element = elements ? tsn_rs_words(t->attributes) * sizeof *elements : 1;
  if (!tsn_array_fits(pairs, tsn_larger(element, sizeof *kind))) {
    return tsn_reject(exec, TSANOM_E_OVERFLOW, "table.rows");
  }
  return tsn_workspace_run(exec, layout, body, &c);
}
