/* SPDX-License-Identifier: BSD-3-Clause */
/* The discernibility matrix row by row, by the definition (A. Skowron and C. Rauszer,
 * 1992): for each pair of rows x < y the set of attributes in which they differ, and
 *
 *     kind   0   same decision: an empty set
 *            1   must be discerned: the set
 *           -1   inconsistent: different decisions, but no attribute discerns them
 *
 * O(rows^2 * attributes), for small tables that a reader wants to see, as figure 5 of the
 * SPMD paper. The other functions never form it: elements.c works with classes, core.c
 * and dependency.c by hashing. */
#include <string.h>
#include <tsanom/roughset.h>

#include "core/size.h"
#include "roughset/table.h"

/* Write the element of two rows, if `set` is not NULL; whether it is not empty. */
static bool write_element(const tsn_rs_input *input, size_t x, size_t y, uint64_t *set) {
  const tsanom_roughset_table *t = &input->table;
  const int32_t *a = t->values + x * t->ld, *b = t->values + y * t->ld;
  bool any = false, wildcards = input->options.missing == TSANOM_ROUGHSET_WILDCARD;
  for (size_t k = 0; k < t->attributes; k++) {
    bool wild =
        wildcards && (a[k] == TSANOM_ROUGHSET_MISSING || b[k] == TSANOM_ROUGHSET_MISSING);
    if (a[k] == b[k] || wild) continue;
    any = true;
    if (set) tsn_rs_add(set, k);
  }
  return any;
}

/* Pairs in the order (0,1) (0,2) ... (1,2) ...: the upper triangle, row by row. */
static tsanom_status fill_matrix(const tsn_rs_input *input, uint64_t *elements,
                                 int32_t *kind) {
  const tsanom_roughset_table *t = &input->table;
  size_t words = tsn_rs_words(t->attributes), pair = 0;
  for (size_t x = 0; x < t->rows; x++) {
    if (tsn_exec_stop(&input->exec, x, t->rows)) return TSANOM_STOPPED;
    for (size_t y = x + 1; y < t->rows; y++, pair++) {
      uint64_t *set = elements ? elements + pair * words : NULL;
      if (set) memset(set, 0, words * sizeof *set);
      kind[pair] = 0;
      if (t->decision[x] == t->decision[y]) continue;
      kind[pair] = write_element(input, x, y, set) ? 1 : -1;
    }
  }
  return TSANOM_OK;
}

tsanom_status tsanom_roughset_matrix(const tsanom_roughset_table *table,
                                     const tsanom_roughset_options *options,
                                     const tsanom_exec *exec, uint64_t *elements,
                                     int32_t *kind) {
  tsn_rs_input input;
  tsanom_status status = tsn_rs_read(&input, TSN_RS_MISSING, table, options, exec);
  if (status < 0 || (status = tsn_rs_check_table(&input)) < 0) return status;
  size_t rows = input.table.rows, pairs = rows * (rows - 1) / 2;
  if ((status = tsn_require_array(&input.exec, kind, pairs, "kind")) < 0) return status;
  size_t element = elements ? tsn_rs_words(input.table.attributes) * sizeof *elements : 1;
  if (!tsn_array_fits(pairs, tsn_larger(element, sizeof *kind))) {
    return tsn_reject_is(&input.exec, TSANOM_E_OVERFLOW, "table.rows", TSANOM_NONE,
                         "%zu; their %zu pairs do not fit the address space", rows,
                         pairs);
  }
  return fill_matrix(&input, elements, kind);
}
