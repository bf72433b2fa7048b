/* SPDX-License-Identifier: BSD-3-Clause */
/* The core without elements: attribute a is in the core iff two units of different labels
 * agree on all other attributes. The hash of a row is a sum over attributes, so that the
 * hash without a follows by one subtraction:
 *
 *     h(u) = key_0 u_0 + ... + key_m u_m,      h(u without a) = h(u) - key_a u_a
 *
 * For each attribute the units are looked up by it in an empty index: O(rows *
 * attributes) in all, where hashing each row without each attribute would be O(rows *
 * attributes^2) and the elements of all pairs O(rows^2 * attributes / 64). The search for
 * an attribute ends at the first pair of units that proves it.
 *
 * With wildcards the relation cannot be hashed (relation.c), and all pairs are compared:
 * those whose element has one attribute. */
#include "roughset/units.h"

#include <string.h>

#include "core/exec.h"

enum {
  USES = TSN_RS_READING | TSN_RS_MISSING,
  BATCH_WORDS = 1 << 15,
  /* Units whose slots are fetched ahead of being looked at. */
  AHEAD = 64
};

/* ---- classes: no two units are equal, so that two that agree without an
 * attribute differ in it alone */

static const int32_t *unit_values(const tsn_rs_input *input, const tsn_rs_units *units,
                                  size_t u) {
  return input->table.values + units->row[u] * input->table.ld;
}

static bool agree_without(const tsn_rs_input *input, const tsn_rs_units *units, size_t u,
                          size_t v, size_t attribute) {
  const int32_t *a = unit_values(input, units, u), *b = unit_values(input, units, v);
  size_t rest = input->table.attributes - attribute - 1;
  return memcmp(a, b, attribute * sizeof *a) == 0 &&
         memcmp(a + attribute + 1, b + attribute + 1, rest * sizeof *a) == 0;
}

/* Look the unit up among those before it, and add it; whether one of them has another
 * label and differs in the attribute alone. Rows are compared only where tags agree and
 * labels differ. */
static bool meets_another(const tsn_rs_input *input, tsn_rs_unit_buffers *b, size_t u,
                          uint64_t hash, size_t attribute) {
  const tsn_rs_units *units = &b->units;
  uint64_t *slot = b->index.slot, tag = hash & ~(uint64_t)UINT32_MAX;
  size_t mask = b->index.slots - 1, s = hash & mask;
  for (; slot[s] != 0; s = (s + 1) & mask) {
    uint32_t v = (uint32_t)slot[s] - 1;
    if ((slot[s] & ~(uint64_t)UINT32_MAX) != tag) continue;
    if (units->label[v] == units->label[u]) continue;
    if (agree_without(input, units, u, v, attribute)) return true;
  }
  slot[s] = tag | (u + 1);
  return false;
}

/* Whether the attribute is in the core. Units go in blocks, whose slots are prefetched,
 * as in table.c. */
static bool is_core(const tsn_rs_input *input, tsn_rs_unit_buffers *b,
                    const uint64_t *hash, size_t attribute) {
  const tsn_rs_units *units = &b->units;
  uint64_t key = tsn_rs_key(attribute), rest[AHEAD];
  memset(b->index.slot, 0, b->index.slots * sizeof *b->index.slot);
  for (size_t begin = 0; begin < units->units; begin += AHEAD) {
    size_t end = units->units - begin < AHEAD ? units->units : begin + AHEAD;
    for (size_t u = begin; u < end; u++) {
      uint32_t code = (uint32_t)unit_values(input, units, u)[attribute];
      rest[u - begin] = tsn_rs_finish(hash[u] - key * code);
      __builtin_prefetch(&b->index.slot[rest[u - begin] & (b->index.slots - 1)], 1);
    }
    for (size_t u = begin; u < end; u++) {
      if (meets_another(input, b, u, rest[u - begin], attribute)) return true;
    }
  }
  return false;
}

tsanom_status tsn_rs_core_of_classes(const tsn_rs_input *input, tsn_rs_unit_buffers *b,
                                     uint64_t *hash, uint64_t *core) {
  size_t attributes = input->table.attributes;
  for (size_t u = 0; u < b->units.units; u++) {
    const int32_t *values = unit_values(input, &b->units, u);
    hash[u] = 0;
    for (size_t a = 0; a < attributes; a++) {
      hash[u] += tsn_rs_key(a) * (uint32_t)values[a];
    }
  }
  for (size_t a = 0; a < attributes; a++) {
    if (tsn_exec_stop(&input->exec, a, attributes)) return TSANOM_STOPPED;
    if (is_core(input, b, hash, a)) tsn_rs_add(core, a);
  }
  return TSANOM_OK;
}

/* ---- wildcards: all pairs */

typedef struct {
  tsn_rs_unit_buffers units;
  uint64_t *hash;  /* of each unit, over all attributes, before it is finished */
  uint64_t *batch; /* wildcards: elements of a unit with others */
  uint64_t *core;  /* copied to the caller's only if the call succeeds */
} core_buffers;

typedef struct {
  tsn_rs_input input;
  core_buffers buffers;
  uint64_t *core; /* the caller's */
} core_call;

static void layout(tsn_arena *arena, void *context) {
  core_call *c = context;
  const tsn_rs_input *input = &c->input;
  core_buffers *b = &c->buffers;
  bool pairs = input->options.missing == TSANOM_ROUGHSET_WILDCARD;
  size_t words = tsn_rs_words(input->table.attributes);
  tsn_rs_units_layout(arena, input, pairs, &b->units);
  b->hash = tsn_arena_take(arena, input->table.rows, sizeof *b->hash);
  b->batch = tsn_arena_take(arena, pairs ? BATCH_WORDS + words : 0, sizeof *b->batch);
  b->core = tsn_arena_take(arena, words, sizeof *b->core);
}

/* The attributes that are elements alone, from all pairs that must be discerned. Elements
 * go in batches of 256 KiB and are never stored all. */
static tsanom_status core_of_pairs(const tsn_rs_input *input, core_buffers *b) {
  const tsn_rs_units *units = &b->units.units;
  const tsn_rs_elements_kernels *kernels = tsn_rs_elements_kernels_at(input->exec.isa);
  size_t words = units->packed.set_words;
  if (words == 0) return TSANOM_OK;
  size_t most = BATCH_WORDS / words + 1;
  for (size_t i = 0; i < units->units; i++) {
    if (tsn_exec_stop(&input->exec, i, units->units)) return TSANOM_STOPPED;
    for (size_t first = units->next[i]; first < units->units; first += most) {
      size_t last = units->units - first < most ? units->units : first + most;
      kernels->list(&units->packed, i, first, last, b->batch);
      for (size_t j = first; j < last; j++) {
        const uint64_t *set = b->batch + (j - first) * words;
        if (tsn_rs_size(set, words) != 1 || !tsn_rs_required(units, i, j)) continue;
        size_t w = 0;
        while (set[w] == 0) w++;
        tsn_rs_add(b->core, units->attribute[64 * w + (size_t)__builtin_ctzll(set[w])]);
      }
    }
  }
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const core_call *c = context;
  tsanom_status status = tsn_rs_check_table(&c->input);
  return status < 0 ? status : tsn_require(&c->input.exec, c->core, "core");
}

static tsanom_status body(void *context) {
  core_call *c = context;
  core_buffers *b = &c->buffers;
  size_t bytes = tsn_rs_words(c->input.table.attributes) * sizeof *c->core;
  memset(b->core, 0, bytes);
  bool pairs = c->input.options.missing == TSANOM_ROUGHSET_WILDCARD;
  tsanom_status status = tsn_rs_units_form(&c->input, pairs, &b->units);
  if (status != TSANOM_OK) return status;
  status = pairs ? core_of_pairs(&c->input, b)
                 : tsn_rs_core_of_classes(&c->input, &b->units, b->hash, b->core);
  if (status == TSANOM_OK) memcpy(c->core, b->core, bytes);
  return status;
}

tsanom_status tsanom_roughset_core(const tsanom_roughset_table *table,
                                   const tsanom_roughset_options *options,
                                   const tsanom_exec *exec, uint64_t *core) {
  core_call c = {.core = core};
  tsanom_status status = tsn_rs_read(&c.input, USES, table, options, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.input.exec, layout, check, body, &c);
}
