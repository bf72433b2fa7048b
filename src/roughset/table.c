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
 * and not a chain in which each code is mixed with all before it: the core (minimum.c) takes
 * one attribute out of a sum by one subtraction. Hashing alone does not decide anything:
 * equal hashes are verified, so that results are exact for every table.
 *
 * Slots are reached at random, one cache miss each in large tables. So rows go in blocks:
 * the slots of a block are fetched while its rows are hashed. */
#include "roughset/table.h"

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

/* An option that the function ignores must be at its default: a caller that sets it
 * expects an effect. */
static tsanom_status check_use(const tsanom_exec *exec, bool is_used, const char *name,
                               size_t value, size_t usual) {
  if (is_used || value == usual) return TSANOM_OK;
  return tsn_reject_is(
      exec, TSANOM_E_OPTION, name, TSANOM_NONE,
      "%zu; its default, %zu, is expected: this function does not use it", value, usual);
}

/* The same for a choice among 0 ... most, which must be one of them. */
static tsanom_status check_choice(const tsanom_exec *exec, bool is_used, const char *name,
                                  int32_t value, int32_t most, int32_t usual) {
  tsanom_status status = tsn_require_int(exec, TSANOM_E_OPTION, name, value, 0, most);
  return status < 0 ? status
                    : check_use(exec, is_used, name, (size_t)value, (size_t)usual);
}

/* Read the options in the order of their fields, so that the first fault is reported. */
static tsanom_status read_options(tsn_rs_input *input, int uses,
                                  const tsanom_roughset_options *caller) {
  const tsanom_roughset_options *own = &input->options, *d = &defaults;
  const tsanom_exec *exec = &input->exec;
  tsanom_status status =
      tsn_struct_read(exec, &options_type, &input->options, caller, "options");
  if (status < 0) return status;
  if (!caller) return TSANOM_OK; /* the defaults are valid for all */
  if ((status = check_choice(exec, uses & TSN_RS_READING, "options.reading", own->reading,
                             TSANOM_ROUGHSET_GENERALIZED, d->reading)) < 0 ||
      (status = check_choice(exec, uses & TSN_RS_MISSING, "options.missing", own->missing,
                             TSANOM_ROUGHSET_WILDCARD, d->missing)) < 0 ||
      (status = check_choice(exec, uses & TSN_RS_ABSORB, "options.absorb", own->absorb, 1,
                             d->absorb)) < 0 ||
      (status = check_choice(exec, true, "options.reserved0", own->reserved0, 0, 0)) <
          0 ||
      (status = tsn_require_size(exec, TSANOM_E_OPTION, "options.element_limit",
                                 own->element_limit, 1, UINT32_MAX / 4)) < 0 ||
      (status = check_use(exec, uses & TSN_RS_ELEMENT_LIMIT, "options.element_limit",
                          own->element_limit, d->element_limit)) < 0 ||
      (status = check_use(exec, uses & TSN_RS_REDUCT_LIMIT, "options.reduct_limit",
                          own->reduct_limit, d->reduct_limit)) < 0) {
    return status;
  }
  return check_use(exec, uses & TSN_RS_SIZE_LIMIT, "options.size_limit", own->size_limit,
                   d->size_limit);
}

static tsanom_status check_size(const tsanom_exec *exec, size_t size, const char *name) {
  tsanom_status status = tsn_require_size(exec, TSANOM_E_COUNT, name, size, 1, SIZE_MAX);
  return status < 0 ? status
                    : tsn_require_size(exec, TSANOM_E_OVERFLOW, name, size, 1, INT32_MAX);
}

/* Read the table and check its sizes. */
static tsanom_status read_table(tsn_rs_input *input,
                                const tsanom_roughset_table *caller) {
  tsanom_roughset_table *own = &input->table;
  const tsanom_exec *exec = &input->exec;
  if (!caller) return tsn_require(exec, caller, "table");
  tsanom_status status = tsn_struct_read(exec, &table_type, own, caller, "table");
  if (status < 0) return status;
  if ((status = check_size(exec, own->rows, "table.rows")) < 0) return status;
  if ((status = check_size(exec, own->attributes, "table.attributes")) < 0) return status;
  if (own->ld == 0) own->ld = own->attributes;
  if (own->ld < own->attributes) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "table.ld", TSANOM_NONE,
                         "%zu; 0 or at least %zu, the attributes, is expected", own->ld,
                         own->attributes);
  }
  return tsn_require_size(exec, TSANOM_E_OVERFLOW, "table.ld", own->ld, 0,
                          PTRDIFF_MAX / sizeof *own->values / own->rows);
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

/* A missing decision has no meaning: a row without one could not be said to differ from
 * any other. */
tsanom_status tsn_rs_check_table(const tsn_rs_input *input) {
  const tsanom_roughset_table *own = &input->table;
  const tsanom_exec *exec = &input->exec;
  if (!own->values) {
    return tsn_reject_is(exec, TSANOM_E_NULL, "table.values", TSANOM_NONE,
                         "NULL; %zu rows of %zu values are expected", own->rows,
                         own->attributes);
  }
  if (!own->decision) return tsn_reject_null(exec, "table.decision", own->rows);
  for (size_t row = 0; row < own->rows; row++) {
    if (own->decision[row] != TSANOM_ROUGHSET_MISSING) continue;
    return tsn_reject_is(exec, TSANOM_E_VALUE, "table.decision", row,
                         "TSANOM_ROUGHSET_MISSING; a decision is expected in every row");
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_read_elements(tsn_rs_input *input, int uses, size_t count,
                                   size_t attributes,
                                   const tsanom_roughset_options *options,
                                   const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&input->exec, exec);
  if (status < 0) return status;
  if ((status = read_options(input, uses, options)) < 0) return status;
  input->table = empty_table;
  input->table.rows = 1;
  input->table.attributes = attributes;
  if ((status = check_size(&input->exec, attributes, "attributes")) < 0) return status;
  return tsn_require_size(&input->exec, TSANOM_E_OVERFLOW, "count", count, 0,
                          UINT32_MAX / 4);
}

tsanom_status tsn_rs_check_elements(const tsn_rs_input *input, const uint64_t *elements,
                                    size_t count) {
  size_t attributes = input->table.attributes, words = tsn_rs_words(attributes);
  if (!elements && count > 0) {
    return tsn_reject_null(&input->exec, "elements", count * words);
  }
  for (size_t i = 0; i < count; i++) {
    size_t bit = tsn_rs_first_beyond(elements + i * words, attributes);
    if (bit == TSANOM_NONE) continue;
    return tsn_reject_pair_is(&input->exec, TSANOM_E_INDEX, "elements", i, bit,
                              "1; 0 is expected beyond the %zu attributes", attributes);
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_reject_limit(const tsn_rs_input *input, tsanom_status status) {
  return tsn_reject_is(&input->exec, status, "options.element_limit", TSANOM_NONE,
                       "%zu; more elements are needed at once",
                       input->options.element_limit);
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

/* 8 bits at a time from the lowest; each pass is stable, so that the earlier ones decide among
 * equal digits. A digit that all keys share is skipped: keys of a class and a decision, both
 * small, take 2 to 4 passes of the 8. */
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void tsn_rs_sort(uint64_t *keys, uint64_t *scratch, size_t count) {
  uint64_t *from = keys, *to = scratch;
  for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) start[from[i] >> shift & (DIGITS - 1)]++;
    if (count == 0 || start[from[0] >> shift & (DIGITS - 1)] == count) continue;
    size_t sum = 0;
    for (size_t digit = 0; digit < DIGITS; digit++) {
      size_t here = start[digit];
      start[digit] = sum;
      sum += here;
    }
    for (size_t i = 0; i < count; i++) {
      to[start[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    }
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) memcpy(keys, from, count * sizeof *keys);
}
