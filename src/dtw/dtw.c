/* SPDX-License-Identifier: BSD-3-Clause */
/* Distance and path of one pair: arguments and workspace. */
#include "dtw/dtw_path.h"
#include "dtw/dtw_single.h"

tsanom_status NAME(tsanom_dtw_workspace)(size_t n, size_t m,
                                         const tsanom_dtw_options *options,
                                         const tsanom_exec *exec, size_t *bytes) {
  tsn_dtw_call call;
  tsn_arena arena;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0 ||
      (status = NAME(tsn_dtw_single_measure)(n, m, &call, &arena)) < 0) {
    return status;
  }
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status NAME(tsanom_dtw_distance)(const real *x, size_t n, const real *y, size_t m,
                                        const tsanom_dtw_options *options,
                                        const tsanom_exec *exec, void *work,
                                        size_t work_bytes, real *distance) {
  tsn_dtw_call call;
  tsn_arena measured;
  tsn_workspace workspace;
  tsanom_status status;
  if (!x || !y || !distance) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0) return status;
  if (call.options.tail && call.options.open_end_x) return TSANOM_E_OPTION;
  if ((status = NAME(tsn_dtw_single_measure)(n, m, &call, &measured)) < 0 ||
      (status = tsn_workspace_borrow(&workspace, &measured, &call.exec, work,
                                     work_bytes)) < 0) {
    return status;
  }
  _Atomic int stop = 0;
  tsn_dtw_watch watch = {.exec = &call.exec, .stop = &stop, .polls = true, .total = 1};
  if (!NAME(tsn_dtw_finite)(x, n, &call.options) ||
      !NAME(tsn_dtw_finite)(y, m, &call.options)) {
    status = TSANOM_E_NONFINITE;
  } else if (tsn_dtw_watch_stop(&watch)) {
    status = TSANOM_STOPPED;
  } else {
    status =
        NAME(tsn_dtw_single_run)(x, n, y, m, &call, workspace.arena, &watch, distance);
  }
  tsn_workspace_close(&workspace);
  return status;
}

tsanom_status NAME(tsanom_dtw_path_workspace)(size_t n, size_t m,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, size_t *bytes) {
  tsn_dtw_call call;
  tsn_arena arena;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0 ||
      (status = NAME(tsn_dtw_path_measure)(n, m, &call, &arena)) < 0) {
    return status;
  }
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status NAME(tsanom_dtw_path)(const real *x, size_t n, const real *y, size_t m,
                                    const tsanom_dtw_options *options,
                                    const tsanom_exec *exec, void *work,
                                    size_t work_bytes, size_t *path, size_t *length,
                                    real *distance) {
  tsn_dtw_call call;
  tsn_arena measured;
  tsn_workspace workspace;
  tsanom_status status;
  real own_distance;
  if (!x || !y || !path || !length) return TSANOM_E_NULL;
  if ((status = tsn_dtw_call_read(&call, options, exec)) < 0) return status;
  if (call.options.tail) return TSANOM_E_OPTION;
  if ((status = NAME(tsn_dtw_path_measure)(n, m, &call, &measured)) < 0 ||
      (status = tsn_workspace_borrow(&workspace, &measured, &call.exec, work,
                                     work_bytes)) < 0) {
    return status;
  }
  _Atomic int stop = 0;
  tsn_dtw_watch watch = {.exec = &call.exec, .stop = &stop, .polls = true, .total = 1};
  if (!NAME(tsn_dtw_finite)(x, n, &call.options) ||
      !NAME(tsn_dtw_finite)(y, m, &call.options)) {
    status = TSANOM_E_NONFINITE;
  } else if (tsn_dtw_watch_stop(&watch)) {
    status = TSANOM_STOPPED;
  } else {
    status = NAME(tsn_dtw_path_run)(x, n, y, m, &call, workspace.arena, &watch, path,
                                    length, distance ? distance : &own_distance);
  }
  tsn_workspace_close(&workspace);
  return status;
}
