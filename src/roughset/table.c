/* SPDX-License-Identifier: BSD-3-Clause */
#include "roughset/table.h"

#include <string.h>

#include "core/exec.h"
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

tsanom_status tsanom_roughset_table_init(tsanom_roughset_table *table,
                                         size_t struct_size) {
  return tsn_versioned_init(&table_type, table, struct_size);
}

tsanom_status tsanom_roughset_options_init(tsanom_roughset_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_rs_read_options(tsanom_roughset_options *own,
                                  const tsanom_roughset_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool good = own->reading >= TSANOM_ROUGHSET_ORDINARY &&
              own->reading <= TSANOM_ROUGHSET_GENERALISED &&
              (own->missing == TSANOM_ROUGHSET_OWN_VALUE ||
               own->missing == TSANOM_ROUGHSET_WILDCARD) &&
              (own->absorb == 0 || own->absorb == 1) && own->reserved0 == 0 &&
              own->element_limit > 0 && own->element_limit <= UINT32_MAX / 4;
  return good ? TSANOM_OK : TSANOM_E_OPTION;
}

static tsanom_status check_sizes(size_t rows, size_t attributes) {
  if (rows == 0 || attributes == 0) return TSANOM_E_COUNT;
  return rows > INT32_MAX || attributes > INT32_MAX ? TSANOM_E_OVERFLOW : TSANOM_OK;
}

tsanom_status tsn_rs_read_table(tsanom_roughset_table *own,
                                const tsanom_roughset_table *caller) {
  if (!caller) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_read(&table_type, own, caller);
  if (status < 0) return status;
  if (!own->values || !own->decision) return TSANOM_E_NULL;
  if ((status = check_sizes(own->rows, own->attributes)) < 0) return status;
  if (own->stride == 0) own->stride = own->attributes;
  if (own->stride < own->attributes) return TSANOM_E_OPTION;
  size_t codes;
  if (__builtin_mul_overflow(own->rows, own->stride, &codes) ||
      codes > PTRDIFF_MAX / sizeof(int32_t)) {
    return TSANOM_E_OVERFLOW;
  }
  for (size_t row = 0; row < own->rows; row++) {
    if (own->decision[row] == TSANOM_ROUGHSET_MISSING) return TSANOM_E_VALUE;
  }
  return TSANOM_OK;
}

tsanom_status tsn_rs_read(tsn_rs_input *input, const tsanom_roughset_table *table,
                          const tsanom_roughset_options *options,
                          const tsanom_exec *exec) {
  tsanom_status status;
  if ((status = tsn_rs_read_options(&input->options, options)) < 0) return status;
  if ((status = tsn_exec_read(&input->exec, exec)) < 0) return status;
  return tsn_rs_read_table(&input->table, table);
}

tsanom_status tsn_rs_read_sizes(tsn_rs_input *input, size_t rows, size_t attributes,
                                const tsanom_roughset_options *options,
                                const tsanom_exec *exec) {
  tsanom_status status;
  if ((status = tsn_rs_read_options(&input->options, options)) < 0) return status;
  if ((status = tsn_exec_read(&input->exec, exec)) < 0) return status;
  input->table = empty_table;
  input->table.rows = rows;
  input->table.attributes = attributes;
  return check_sizes(rows, attributes);
}

bool tsn_rs_beyond(const uint64_t *set, size_t attributes) {
  return attributes % 64 != 0 && set[attributes / 64] >> (attributes % 64) != 0;
}

size_t tsn_rs_list(const uint64_t *set, size_t attributes, uint32_t *list) {
  size_t count = 0;
  for (size_t a = 0; a < attributes; a++) {
    if (!set || tsn_rs_has(set, a)) list[count++] = (uint32_t)a;
  }
  return count;
}

/* Rows whose slots are fetched ahead of being looked at. */
enum { HASH_BLOCK = 64 };

void tsn_rs_index_layout(tsn_arena *arena, size_t rows, size_t attributes,
                         tsn_rs_index *index) {
  index->slots = (size_t)2 * HASH_BLOCK;
  while (index->slots / 2 < rows) index->slots *= 2;
  index->slot = tsn_arena_take(arena, index->slots, sizeof *index->slot);
  index->hash = tsn_arena_take(arena, HASH_BLOCK, sizeof *index->hash);
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
 * O. Kaser, Comput. J. 57, 2014); equal hashes are verified. */
static uint64_t hash_row(const tsn_rs_projection *p, const uint64_t *key, size_t i) {
  const int32_t *values = row_values(p, i);
  uint64_t sum = 0;
  if (p->list) {
    for (size_t k = 0; k < p->count; k++) sum += key[k] * (uint32_t)values[p->list[k]];
  } else {
    for (size_t k = 0; k < p->count; k++) sum += key[k] * (uint32_t)values[k];
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

/* An index that is as small as the rows allow, emptied and keyed. */
static tsn_rs_index start_index(const tsn_rs_projection *p, const tsn_rs_index *index) {
  size_t wanted = (size_t)2 * HASH_BLOCK;
  while (wanted / 2 < p->rows) wanted *= 2;
  tsn_rs_index used = *index;
  used.slots = wanted < index->slots ? wanted : index->slots;
  memset(used.slot, 0, used.slots * sizeof *used.slot);
  for (size_t k = 0; k < p->count; k++) used.key[k] = tsn_rs_key(column(p, k));
  return used;
}

static void hash_block(const tsn_rs_projection *p, tsn_rs_index *index, size_t begin,
                       size_t end) {
  for (size_t i = begin; i < end; i++) {
    index->hash[i - begin] = hash_row(p, index->key, i);
    __builtin_prefetch(&index->slot[index->hash[i - begin] & (index->slots - 1)], 1);
  }
}

size_t tsn_rs_group(const tsn_rs_projection *p, tsn_rs_index *index, uint32_t *group) {
  size_t groups = 0;
  tsn_rs_index used = start_index(p, index);
  for (size_t block = 0; block < p->rows; block += HASH_BLOCK) {
    size_t end = p->rows - block < HASH_BLOCK ? p->rows : block + HASH_BLOCK;
    hash_block(p, &used, block, end);
    for (size_t i = block; i < end; i++) {
      group[i] = find_group(p, &used, i, used.hash[i - block], &groups);
    }
  }
  return groups;
}

size_t tsn_rs_find_alike(const tsn_rs_projection *p, const uint32_t *label,
                         tsn_rs_index *index, uint32_t *pairs, size_t most) {
  size_t groups = 0, found = 0;
  tsn_rs_index used = start_index(p, index);
  for (size_t block = 0; block < p->rows; block += HASH_BLOCK) {
    size_t end = p->rows - block < HASH_BLOCK ? p->rows : block + HASH_BLOCK;
    hash_block(p, &used, block, end);
    for (size_t i = block; i < end; i++) {
      uint32_t group = find_group(p, &used, i, used.hash[i - block], &groups);
      uint32_t first = used.first[group];
      if (label[first] == label[i]) continue;
      pairs[2 * found] = first;
      pairs[2 * found + 1] = (uint32_t)i;
      if (++found == most) return found;
    }
  }
  return found;
}
