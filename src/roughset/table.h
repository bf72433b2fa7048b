/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's table and options, checked, and the grouping of rows by a hash index; and
 * sets of attributes as bits:
 *
 *     set of attributes {0, 2, 65}      word 0: ...000101    word 1: ...000010
 *
 * A set of m attributes has tsn_rs_words(m) words; bits from m on are 0. Rows, attributes
 * and classes are numbered in 32 bits, which check_size() of table.c makes sufficient. */
#ifndef TSN_ROUGHSET_TABLE_H
#define TSN_ROUGHSET_TABLE_H

#include <stdbool.h>
#include <tsanom/roughset.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"

/* The arguments that calls on a table have in common: defaults are filled in, and table.ld
 * is not 0. It points to the caller's arrays. */
typedef struct {
  tsanom_roughset_table table;
  tsanom_roughset_options options;
  tsanom_exec exec;
} tsn_rs_input;

/* Options that a function uses; it rejects others that are not at their default. */
enum {
  TSN_RS_READING = 1,
  TSN_RS_MISSING = 2,
  TSN_RS_ABSORB = 4,
  TSN_RS_ELEMENT_LIMIT = 8,
  TSN_RS_REDUCT_LIMIT = 16,
  TSN_RS_SIZE_LIMIT = 32
};

/* Read and check the arguments, apart from the arrays. `uses` names the options that the
 * function uses. Returns the status of the first one that is invalid, and describes it in
 * exec->fault. */
tsanom_status tsn_rs_read(tsn_rs_input *input, int uses,
                          const tsanom_roughset_table *table,
                          const tsanom_roughset_options *options,
                          const tsanom_exec *exec);

/* Check the arrays, O(rows): no decision is missing; codes may have any value. */
tsanom_status tsn_rs_check_table(const tsn_rs_input *input);

/* The same for calls on `count` elements instead of a table. Each element must be within
 * the attributes; whether it may be empty is up to the function. */
tsanom_status tsn_rs_read_elements(tsn_rs_input *input, int uses, size_t count,
                                   size_t attributes,
                                   const tsanom_roughset_options *options,
                                   const tsanom_exec *exec);
tsanom_status tsn_rs_check_elements(const tsn_rs_input *input, const uint64_t *elements,
                                    size_t count);

/* Report that there are more elements than element_limit. */
tsanom_status tsn_rs_reject_limit(const tsn_rs_input *input, tsanom_status status);

/* Words of a set of `attributes` attributes. */
static inline size_t tsn_rs_words(size_t attributes) {
  return attributes / 64 + (attributes % 64 != 0);
}

static inline bool tsn_rs_has(const uint64_t *set, size_t attribute) {
  return (set[attribute / 64] >> (attribute % 64) & 1) != 0;
}

static inline void tsn_rs_add(uint64_t *set, size_t attribute) {
  set[attribute / 64] |= (uint64_t)1 << (attribute % 64);
}

static inline size_t tsn_rs_size(const uint64_t *set, size_t words) {
  size_t size = 0;
  for (size_t w = 0; w < words; w++) size += (size_t)__builtin_popcountll(set[w]);
  return size;
}

static inline bool tsn_rs_is_empty(const uint64_t *set, size_t words) {
  uint64_t any = 0;
  for (size_t w = 0; w < words; w++) any |= set[w];
  return !any;
}

/* The smallest bit of a set at or above `attributes`; TSANOM_NONE: none. Sets of callers
 * are checked with it, since the kernels rely on these bits being 0. */
size_t tsn_rs_first_beyond(const uint64_t *set, size_t attributes);

/* List the attributes of a set (NULL: all); returns their number. */
size_t tsn_rs_list(const uint64_t *set, size_t attributes, uint32_t *list);

/* A hash index of rows: groups rows that agree on a list of attributes. Open addressing
 * with linear probing; it is at most half full, so that a chain is short:
 *
 *     slot    63 ............ 32 31 .......... 0
 *             high half of hash | group + 1        0: free
 *
 * The low bits of the hash choose the slot, the high half is compared before the rows:
 * rows of different groups are read together about once in 2^32 comparisons. */
typedef struct {
  uint64_t *slot;  /* 0: free; else tag in the high half, group + 1 in the low */
  size_t slots;    /* a power of two, at least twice the rows */
  uint64_t *key;   /* multipliers of the attributes in a hash */
  uint32_t *first; /* the first row of each group */
} tsn_rs_index;

void tsn_rs_index_layout(tsn_arena *arena, size_t rows, size_t attributes,
                         tsn_rs_index *index);

/* The poll of a long grouping: what it reports as done meanwhile. */
typedef struct {
  const tsanom_exec *exec;
  uint64_t done, total;
} tsn_rs_watch;

/* The result of a grouping that the poll stopped. */
#define TSN_RS_STOPPED SIZE_MAX

/* One projection: the codes of row r on attribute list[k]. Every table of integers can be
 * grouped by it, such as the two columns (group, decision) that several files form. */
typedef struct {
  const int32_t *values;
  size_t stride;
  const uint32_t *list; /* NULL: the attributes 0 ... count - 1 */
  size_t count;
  const uint32_t *row; /* the rows; NULL: 0 ... rows - 1 */
  size_t rows;
  const tsn_rs_watch *watch; /* NULL: no poll */
} tsn_rs_projection;

/* The rows of the table, on all attributes. */
static inline tsn_rs_projection tsn_rs_rows(const tsn_rs_input *input,
                                            const tsn_rs_watch *watch) {
  const tsanom_roughset_table *t = &input->table;
  return (tsn_rs_projection){.values = t->values,
                             .stride = t->ld,
                             .count = t->attributes,
                             .rows = t->rows,
                             .watch = watch};
}

/* Group the rows: group[i] is the group of the i-th row, numbered by first appearance;
 * index->first[g] is the position of the first row of group g. Returns the number of
 * groups, or TSN_RS_STOPPED. Expected O(rows * count) time. The numbers do not depend on
 * the hash, so that results are the same on every machine. */
size_t tsn_rs_group(const tsn_rs_projection *projection, tsn_rs_index *index,
                    uint32_t *group);

/* Find positions i < j of rows that agree but whose labels differ, at least one pair for
 * every group of rows that has such; stops after `most` pairs. Returns the number of
 * pairs written to `pairs`, two numbers each, or TSN_RS_STOPPED. 0 proves that the
 * attributes discern all labels. Pairs are with the first row of a group only: O(rows) of
 * them, where all pairs of a group would be quadratic. */
size_t tsn_rs_find_indiscernible(const tsn_rs_projection *projection,
                                 const uint32_t *label, tsn_rs_index *index,
                                 uint32_t *pairs, size_t most);

/* Multiplier of an attribute in the hash of a row: splitmix64 of its number, which needs
 * no table and no state; odd, so that different codes have different products. */
static inline uint64_t tsn_rs_key(size_t attribute) {
  uint64_t z = ((uint64_t)attribute + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) | 1;
}

/* Spread the bits of a sum of products over the word: the low bits of the sum depend only
 * on the low bits of the codes, and would fill few slots. */
static inline uint64_t tsn_rs_finish(uint64_t sum) {
  sum = (sum ^ (sum >> 32)) * 0xD6E8FEB86659FD93u;
  return sum ^ (sum >> 32);
}

/* Sort keys in increasing order; scratch holds `count` keys. O(count), radix, stable: qsort()
 * may allocate. */
void tsn_rs_sort(uint64_t *keys, uint64_t *scratch, size_t count);

#endif
