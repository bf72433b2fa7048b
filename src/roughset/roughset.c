/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of a table: arguments and workspace. */
#include <tsanom/roughset.h>

#include "roughset/elements.h"

tsanom_status tsanom_roughset_elements_workspace(size_t rows, size_t attributes,
                                                 const tsanom_roughset_options *options,
                                                 const tsanom_exec *exec, size_t *bytes) {
  tsn_rs_input input;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_rs_read_sizes(&input, rows, attributes, options, exec);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  tsn_rs_element_buffers buffers;
  tsn_rs_elements_layout(&arena, &input, &buffers);
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status tsanom_roughset_elements(const tsanom_roughset_table *table,
                                       const tsanom_roughset_options *options,
                                       const tsanom_exec *exec, void *work,
                                       size_t work_bytes, uint64_t *elements,
                                       size_t capacity, size_t *count) {
  tsn_rs_input input;
  if (!count || (capacity > 0 && !elements)) return TSANOM_E_NULL;
  tsanom_status status = tsn_rs_read(&input, table, options, exec);
  if (status < 0) return status;
  tsn_arena measured = tsn_arena_measure();
  tsn_rs_element_buffers buffers;
  tsn_rs_elements_layout(&measured, &input, &buffers);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &input.exec, work, work_bytes);
  if (status < 0) return status;
  tsn_rs_elements_layout(&workspace.arena, &input, &buffers);
  buffers.family.count = 0;
  status = tsn_rs_elements_find(&input, &buffers);
  if (status >= 0) {
    size_t words = tsn_rs_words(input.table.attributes), found = buffers.family.count;
    for (size_t i = 0; i < found && i < capacity; i++) {
      tsn_rs_elements_write(&buffers, i, words, elements + i * words);
    }
    *count = found;
    if (status == TSANOM_OK && found > capacity) status = TSANOM_PARTIAL;
  }
  tsn_workspace_close(&workspace);
  return status;
}
