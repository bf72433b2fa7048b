/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, and the hash index that groups rows. Rows that agree on a list of attributes
 * are found in expected O(rows * attributes) time: each row is hashed, and compared with
 * the first row of the group that its hash leads to. Every function without wildcards
 * rests on this index instead of the n x n matrix.
 *
 * The hash is a sum over attributes,
 *
 *     h(x) = finish(sum over k of key_k * x_k  mod 2^64),
 *
 * and not a chain in which each code is mixed with all before it: the core (core.c) takes
 * one attribute out of a sum by one subtraction. Hashing alone does not decide anything:
 * equal hashes are verified, so that results are exact for every table.
 *
 * Slots are reached at random, one cache miss each in large tables. So rows go in blocks:
 * the slots of a block are fetched while its rows are hashed. */
#include "roughset/table.h"

#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "core/versioned.h"

static const tsanom_roughset_table empty_table = {.struct_size = sizeof empty_table};

static const tsn_versioned table_type = {.size = sizeof(tsanom_roughset_table),
                                         .first_size = sizeof(tsanom_roughset_table),
                                         .defaults = &empty_table};

static const tsanom_roughset_options defaults = {
    .struct_size = sizeof defaults,
    .reading = TSANOM_ROUGHSET_ORDINARY,
    .missing = TSANOM_ROUGHSET_OWN_VALUE,
    .absorb = 1,
    .element_limit = (size_t)1 << 20,
    .reduct_limit = SIZE_MAX,
    .size_limit = SIZE_MAX,
};

static const tsn_versioned options_type = {.size = sizeof(tsanom_roughset_options),
                                           .first_size = sizeof(tsanom_roughset_options),
                                           .defaults = &defaults};

tsanom_status tsanom_roughset_options_init(tsanom_roughset_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* One option: its name, whether it is valid and at its default, and its use. An option
 * that the function ignores must be at its default: a caller that sets it expects an
 * effect. */
typedef struct {
  const char *field;
  bool is_valid, is_default;
  int use;
} option;

/* Read the options in the order of their fields, so that the first fault is reported. */
static tsanom_status read_options(tsn_rs_input *input, int uses,
                                  const tsanom_roughset_options *caller) {
  tsanom_roughset_options *own = &input->options;
  const tsanom_roughset_options *d = &defaults;
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return tsn_reject(&input->exec, status, "options");
  if (!caller) return TSANOM_OK; /* the defaults are valid for all */
  const option options[] = {
      {"reading", own->reading >= 0 && own->reading <= TSANOM_ROUGHSET_GENERALIZED,
       own->reading == d->reading, TSN_RS_READING},
      {"missing", own->missing >= 0 && own->missing <= TSANOM_ROUGHSET_WILDCARD,
       own->missing == d->missing, TSN_RS_MISSING},
      {"absorb", own->absorb == 0 || own->absorb == 1, own->absorb == d->absorb,
       TSN_RS_ABSORB},
      {"reserved0", own->reserved0 == 0, true, 0},
      {"element_limit", own->element_limit > 0 && own->element_limit <= UINT32_MAX / 4,
       own->element_limit == d->element_limit, TSN_RS_ELEMENT_LIMIT},
      {"reduct_limit", true, own->reduct_limit == d->reduct_limit, TSN_RS_REDUCT_LIMIT},
      {"size_limit", true, own->size_limit == d->size_limit, TSN_RS_SIZE_LIMIT}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    const option *o = &options[i];
    bool is_used = (uses & o->use) != 0;
    if (o->is_valid && (is_used || o->is_default)) continue;
    char argument[64];
    (void)snprintf(argument, sizeof argument, "options.%s", o->field);
    if (!o->is_valid) return tsn_reject(&input->exec, TSANOM_E_OPTION, argument);
    return tsn_reject_text(&input->exec, TSANOM_E_OPTION, argument, TSANOM_NONE,
                           "this function does not use it; leave its default");
  }
  return TSANOM_OK;
}

static tsanom_status check_size(const tsanom_exec *exec, size_t size, const char *name) {
  if (size == 0) return tsn_reject(exec, TSANOM_E_COUNT, name);
  return size > INT32_MAX ? tsn_reject(exec, TSANOM_E_OVERFLOW, name) : TSANOM_OK;
}

/* Read and check the table. A missing decision has no meaning: a row without one could
 * not be said to differ from any other. */
static tsanom_status read_table(tsn_rs_input *input,
                                const tsanom_roughset_table *caller) {
  tsanom_roughset_table *own = &input->table;
  const tsanom_exec *exec = &input->exec;
  if (!caller) return tsn_reject(exec, TSANOM_E_NULL, "table");
  tsanom_status status = tsn_versioned_read(&table_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "table");
  if (!own->values) return tsn_reject(exec, TSANOM_E_NULL, "table.values");
  if (!own->decision) return tsn_reject(exec, TSANOM_E_NULL, "table.decision");
  if ((status = check_size(exec, own->rows, "table.rows")) < 0) return status;
  if ((status = check_size(exec, own->attributes, "table.attributes")) < 0) return status;
  if (own->ld == 0) own->ld = own->attributes;
  if (own->ld < own->attributes) return tsn_reject(exec, TSANOM_E_OPTION, "table.ld");
  if (own->ld > SIZE_MAX / sizeof(int32_t) ||
      !tsn_array_fits(own->rows, own->ld * sizeof(int32_t))) {
    return tsn_reject(exec, TSANOM_E_OVERFLOW, "table.ld");
  }
  for (size_t row = 0; row < own->rows; row++) {
    if (own->decision[row] == TSANOM_ROUGHSET_MISSING) {
      return tsn_reject_at(exec, TSANOM_E_VALUE, "table.decision", row);
    }
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_read(tsn_rs_input *input, int uses,
                          const tsanom_roughset_table *table,
                          const tsanom_roughset_options *options,
                          const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&input->exec, exec);
  if (status < 0) return status;
  if ((status = read_options(input, uses, options)) < 0) return status;
  return read_table(input, table);
}

tsanom_status tsn_rs_read_sizes(tsn_rs_input *input, int uses, size_t rows,
                                size_t attributes, const tsanom_roughset_options *options,
                                const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&input->exec, exec);
  if (status < 0) return status;
  if ((status = read_options(input, uses, options)) < 0) return status;
  input->table = empty_table;
  input->table.rows = rows;
  input->table.attributes = attributes;
  if ((status = check_size(&input->exec, rows, "rows")) < 0) return status;
  return check_size(&input->exec, attributes, "attributes");
}

tsanom_status tsn_rs_read_element_sizes(tsn_rs_input *input, int uses, size_t elements,
                                        size_t attributes,
                                        const tsanom_roughset_options *options,
                                        const tsanom_exec *exec) {
  tsanom_status status = tsn_rs_read_sizes(input, uses, 1, attributes, options, exec);
  if (status < 0) return status;
  if (elements <= UINT32_MAX / 4) return TSANOM_OK;
  return tsn_reject(&input->exec, TSANOM_E_OVERFLOW, "count");
}

tsanom_status tsn_rs_read_elements(tsn_rs_input *input, int uses,
                                   const uint64_t *elements, size_t count,
                                   size_t attributes,
                                   const tsanom_roughset_options *options,
                                   const tsanom_exec *exec) {
  tsanom_status status =
      tsn_rs_read_element_sizes(input, uses, count, attributes, options, exec);
  if (status < 0) return status;
  if (!elements && count > 0) return tsn_reject(&input->exec, TSANOM_E_NULL, "elements");
  size_t words = tsn_rs_words(attributes);
  for (size_t i = 0; i < count; i++) {
    size_t bit = tsn_rs_first_beyond(elements + i * words, attributes);
    if (bit != TSANOM_NONE) {
      return tsn_reject_pair(&input->exec, TSANOM_E_INDEX, "elements", i, bit);
    }
  }
  return TSANOM_OK;
}

size_t tsn_rs_first_beyond(const uint64_t *set, size_t attributes) {
  size_t used = attributes % 64;
  uint64_t beyond = used ? set[attributes / 64] >> used : 0;
  return beyond ? attributes + (size_t)__builtin_ctzll(beyond) : TSANOM_NONE;
}

size_t tsn_rs_list(const uint64_t *set, size_t attributes, uint32_t *list) {
  size_t count = 0;
  for (size_t a = 0; a < attributes; a++) {
    if (!set || tsn_rs_has(set, a)) list[count++] = (uint32_t)a;
  }
  return count;
}

/* HASH_BLOCK: rows whose slots are prefetched: long enough to hide a miss, and their
 * hashes fit the first cache and the stack. POLL_ROWS: rows between two polls, a few
 * milliseconds with a hundred attributes. */
enum { HASH_BLOCK = 64, POLL_ROWS = 1 << 14 };

/* A power of two, at least twice the rows. It is chosen for the rows of each grouping,
 * since all slots must be cleared first: with a fixed least number, that was a large part
 * of the time of small tables. */
static size_t slots_for(size_t rows) {
  size_t slots = 2;
  while (slots / 2 < rows) slots *= 2;
  return slots;
}

void tsn_rs_index_layout(tsn_arena *arena, size_t rows, size_t attributes,
                         tsn_rs_index *index) {
  index->slots = slots_for(rows);
  index->slot = tsn_arena_take(arena, index->slots, sizeof *index->slot);
  index->key = tsn_arena_take(arena, attributes, sizeof *index->key);
  index->first = tsn_arena_take(arena, rows, sizeof *index->first);
}

static size_t column(const tsn_rs_projection *p, size_t k) {
  return p->list ? p->list[k] : k;
}

static const int32_t *row_values(const tsn_rs_projection *p, size_t i) {
  return p->values + (p->row ? p->row[i] : i) * p->stride;
}

/* Multilinear hashing: a sum of products with odd 64-bit keys (D. Lemire and
 * O. Kaser, Comput. J. 57, 2014); equal hashes are verified. The barrier keeps compilers
 * from vectors, which at the base level multiply 64 bits in parts. */
static uint64_t hash_row(const tsn_rs_projection *p, const uint64_t *key, size_t i) {
  const int32_t *values = row_values(p, i);
  uint64_t sum = 0;
  for (size_t k = 0; k < p->count; k++) {
    sum += key[k] * (uint32_t)values[column(p, k)];
    __asm__("" : "+r"(sum));
  }
  return tsn_rs_finish(sum);
}

static bool rows_agree(const tsn_rs_projection *p, size_t i, size_t j) {
  const int32_t *a = row_values(p, i), *b = row_values(p, j);
  for (size_t k = 0; k < p->count; k++) {
    if (a[column(p, k)] != b[column(p, k)]) return false;
  }
  return true;
}

/* The group of row i, a new one if there is none yet. A slot is free at the end of every
 * chain, as the index is at most half full: the loop ends. */
static uint32_t find_group(const tsn_rs_projection *p, tsn_rs_index *index, size_t i,
                           uint64_t hash, size_t *groups) {
  const uint64_t tag = hash & ~(uint64_t)UINT32_MAX;
  for (size_t s = hash & (index->slots - 1);; s = (s + 1) & (index->slots - 1)) {
    uint64_t entry = index->slot[s];
    if (entry == 0) {
      index->first[*groups] = (uint32_t)i;
      index->slot[s] = tag | (*groups + 1);
      return (uint32_t)(*groups)++;
    }
    uint32_t group = (uint32_t)entry - 1;
    if ((entry & ~(uint64_t)UINT32_MAX) == tag && rows_agree(p, i, index->first[group])) {
      return group;
    }
  }
}

/* An index that is as small as the rows allow, emptied and keyed. A copy: the caller's
 * index keeps the number of slots that its buffers have. */
static tsn_rs_index start_index(const tsn_rs_projection *p, const tsn_rs_index *index) {
  tsn_rs_index used = *index;
  used.slots = slots_for(p->rows);
  memset(used.slot, 0, used.slots * sizeof *used.slot);
  for (size_t k = 0; k < p->count; k++) used.key[k] = tsn_rs_key(column(p, k));
  return used;
}

/* Hash the rows of a block and prefetch their slots. */
static void hash_block(const tsn_rs_projection *p, const tsn_rs_index *index,
                       size_t begin, size_t end, uint64_t *hash) {
  for (size_t i = begin; i < end; i++) {
    hash[i - begin] = hash_row(p, index->key, i);
    __builtin_prefetch(&index->slot[hash[i - begin] & (index->slots - 1)], 1);
  }
}

/* Between blocks, after many rows. */
static bool is_stopped(const tsn_rs_projection *p, size_t block) {
  const tsn_rs_watch *watch = p->watch;
  return watch && block > 0 && block % POLL_ROWS == 0 &&
         tsn_exec_stop(watch->exec, watch->done, watch->total);
}

size_t tsn_rs_group(const tsn_rs_projection *p, tsn_rs_index *index, uint32_t *group) {
  size_t groups = 0;
  uint64_t hash[HASH_BLOCK];
  tsn_rs_index used = start_index(p, index);
  for (size_t block = 0; block < p->rows; block += HASH_BLOCK) {
    size_t end = p->rows - block < HASH_BLOCK ? p->rows : block + HASH_BLOCK;
    if (is_stopped(p, block)) return TSN_RS_STOPPED;
    hash_block(p, &used, block, end, hash);
    for (size_t i = block; i < end; i++) {
      group[i] = find_group(p, &used, i, hash[i - block], &groups);
    }
  }
  return groups;
}

size_t tsn_rs_find_indiscernible(const tsn_rs_projection *p, const uint32_t *label,
                                 tsn_rs_index *index, uint32_t *pairs, size_t most) {
  size_t groups = 0, found = 0;
  uint64_t hash[HASH_BLOCK];
  tsn_rs_index used = start_index(p, index);
  for (size_t block = 0; block < p->rows; block += HASH_BLOCK) {
    size_t end = p->rows - block < HASH_BLOCK ? p->rows : block + HASH_BLOCK;
    if (is_stopped(p, block)) return TSN_RS_STOPPED;
    hash_block(p, &used, block, end, hash);
    for (size_t i = block; i < end; i++) {
      uint32_t group = find_group(p, &used, i, hash[i - block], &groups);
      uint32_t first = used.first[group];
      if (label[first] == label[i]) continue;
      pairs[2 * found] = first;
      pairs[2 * found + 1] = (uint32_t)i;
      if (++found == most) return found;
    }
  }
  return found;
}
