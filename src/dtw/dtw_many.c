/* SPDX-License-Identifier: BSD-3-Clause */
/* One to many, condensed and cross matrices: arguments and workspace. */
#include "dtw/dtw_matrix.h"

typedef NAME(tsn_dtw_set) set;
typedef NAME(tsn_dtw_matrix) matrix;

static tsanom_status query(const matrix *m, const tsanom_dtw_options *options,
                           const tsanom_exec *exec, size_t *bytes) {
  tsn_dtw_call call;
  tsn_arena arena;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0) return status;
  if (m->xs.count <= (size_t)m->condensed || m->ys.count == 0) return TSANOM_E_COUNT;
  if ((status = NAME(tsn_dtw_matrix_measure)(m, &call, &arena)) < 0) return status;
  return tsn_arena_bytes(&arena, bytes);
}

static tsanom_status compute(matrix *m, const tsanom_dtw_options *options,
                             const tsanom_exec *exec, void *work, size_t work_bytes,
                             size_t *computed) {
  tsn_dtw_call call;
  tsn_arena measured;
  tsn_workspace workspace;
  tsanom_status status;
  if (!m->distances) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0) return status;
  if (call.options.tail || (m->tails && call.options.open_end_x)) return TSANOM_E_OPTION;
  if ((status = NAME(tsn_dtw_set_check)(&m->xs)) < 0 ||
      (status = NAME(tsn_dtw_set_check)(&m->ys)) < 0) {
    return status;
  }
  if (m->condensed && m->xs.count < 2) return TSANOM_E_COUNT;
  if (!m->condensed && m->leading < m->ys.count) return TSANOM_E_OPTION;
  if ((status = NAME(tsn_dtw_matrix_measure)(m, &call, &measured)) < 0 ||
      (status = tsn_workspace_borrow(&workspace, &measured, &call.exec, work,
                                     work_bytes)) < 0) {
    return status;
  }
  if (!NAME(tsn_dtw_set_finite)(&m->xs, &call.options) ||
      (!m->condensed && !NAME(tsn_dtw_set_finite)(&m->ys, &call.options))) {
    status = TSANOM_E_NONFINITE;
  } else {
    status = NAME(tsn_dtw_matrix_run)(m, &call, &workspace.arena);
    if (computed) *computed = m->computed;
  }
  tsn_workspace_close(&workspace);
  return status;
}

/* The distances are written through the matrix.
 * NOLINTBEGIN(readability-non-const-parameter) */

tsanom_status NAME(tsanom_dtw_one_to_many_workspace)(size_t n, size_t longest,
                                                     size_t count,
                                                     const tsanom_dtw_options *options,
                                                     const tsanom_exec *exec,
                                                     size_t *bytes) {
  matrix m = {.xs = {.count = 1, .longest = n},
              .ys = {.count = count, .longest = longest}};
  return query(&m, options, exec, bytes);
}

tsanom_status NAME(tsanom_dtw_one_to_many)(
    const real *x, size_t n, const real *const *series, const size_t *lengths,
    size_t count, const double *const *tails, const tsanom_dtw_options *options,
    const tsanom_exec *exec, void *work, size_t work_bytes, real *distances,
    size_t *computed) {
  matrix m = {.xs = {.series = &x, .lengths = &n, .count = 1},
              .ys = {.series = series, .lengths = lengths, .count = count},
              .tails = tails,
              .distances = distances,
              .leading = count};
  return compute(&m, options, exec, work, work_bytes, computed);
}

tsanom_status NAME(tsanom_dtw_condensed_workspace)(size_t longest, size_t count,
                                                   const tsanom_dtw_options *options,
                                                   const tsanom_exec *exec,
                                                   size_t *bytes) {
  set all = {.count = count, .longest = longest};
  matrix m = {.xs = all, .ys = all, .condensed = true};
  return query(&m, options, exec, bytes);
}

tsanom_status NAME(tsanom_dtw_condensed)(const real *const *series, const size_t *lengths,
                                         size_t count, const tsanom_dtw_options *options,
                                         const tsanom_exec *exec, void *work,
                                         size_t work_bytes, real *distances,
                                         size_t *computed) {
  set all = {.series = series, .lengths = lengths, .count = count};
  matrix m = {.xs = all, .ys = all, .condensed = true, .distances = distances};
  return compute(&m, options, exec, work, work_bytes, computed);
}

tsanom_status NAME(tsanom_dtw_cross_workspace)(size_t longest_x, size_t count_x,
                                               size_t longest_y, size_t count_y,
                                               const tsanom_dtw_options *options,
                                               const tsanom_exec *exec, size_t *bytes) {
  matrix m = {.xs = {.count = count_x, .longest = longest_x},
              .ys = {.count = count_y, .longest = longest_y}};
  return query(&m, options, exec, bytes);
}

tsanom_status NAME(tsanom_dtw_cross)(const real *const *xs, const size_t *lengths_x,
                                     size_t count_x, const real *const *ys,
                                     const size_t *lengths_y, size_t count_y,
                                     const tsanom_dtw_options *options,
                                     const tsanom_exec *exec, void *work,
                                     size_t work_bytes, real *distances, size_t leading,
                                     size_t *computed) {
  matrix m = {.xs = {.series = xs, .lengths = lengths_x, .count = count_x},
              .ys = {.series = ys, .lengths = lengths_y, .count = count_y},
              .distances = distances,
              .leading = leading};
  return compute(&m, options, exec, work, work_bytes, computed);
}

/* NOLINTEND(readability-non-const-parameter) */
