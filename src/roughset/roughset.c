/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of a table: arguments and workspace; elements.c computes.
 *
 * tsanom_roughset_elements() is a count-then-fill function: `*count` is the number of
 * elements even if fewer fit, so that a caller can come back with enough capacity. The
 * elements are written as sets of the table's attributes, while elements.c works with the
 * attributes that vary. */
#include <tsanom/roughset.h>

#include "core/size.h"
#include "roughset/elements.h"

enum { USES = TSN_RS_READING | TSN_RS_MISSING | TSN_RS_ABSORB | TSN_RS_ELEMENT_LIMIT };

typedef struct {
  tsn_rs_input input;
  tsn_rs_element_buffers buffers;
  uint64_t *elements;
  size_t capacity, *count;
} elements_call;

static void layout(tsn_arena *arena, void *context) {
  elements_call *c = context;
  tsn_rs_elements_layout(arena, &c->input, &c->buffers);
}

static tsanom_status check(void *context) {
  const elements_call *c = context;
  tsanom_status status = tsn_rs_check_table(&c->input);
  if (status < 0) return status;
  status = tsn_require(&c->input.exec, c->count, "count");
  if (status < 0 || c->capacity == 0) return status;
  return tsn_require_array(&c->input.exec, c->elements, c->capacity, "elements");
}

static tsanom_status body(void *context) {
  elements_call *c = context;
  c->buffers.family.count = 0;
  tsanom_status status = tsn_rs_elements_find(&c->input, &c->buffers);
  if (status < 0) return tsn_rs_reject_limit(&c->input, status);
  size_t words = tsn_rs_words(c->input.table.attributes);
  size_t found = c->buffers.family.count;
  for (size_t i = 0; i < tsn_smaller(found, c->capacity); i++) {
    tsn_rs_elements_write(&c->buffers, i, words, c->elements + i * words);
  }
  *c->count = found;
  return status == TSANOM_OK && found > c->capacity ? TSANOM_PARTIAL : status;
}

tsanom_status tsanom_roughset_elements(const tsanom_roughset_table *table,
                                       const tsanom_roughset_options *options,
                                       const tsanom_exec *exec, uint64_t *elements,
                                       size_t capacity, size_t *count) {
  elements_call c = {.elements = elements, .capacity = capacity, .count = count};
  tsanom_status status = tsn_rs_read(&c.input, USES, table, options, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.input.exec, layout, check, body, &c);
}
