/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of many pairs: one to many, condensed and cross matrices. */
#include <math.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/parallel.h"
#include "dtw/dtw_pair.h"

/* Pairs are numbered row by row; pair k joins a series of xs to one of ys. */
typedef struct {
  const double *const *xs;
  const size_t *lengths_x;
  size_t count_x;
  const double *const *ys;
  const size_t *lengths_y;
  size_t count_y;
  bool condensed; /* xs and ys are one set, and only pairs a < b are wanted */
  tsanom_dtw_options options;
  tsanom_exec exec;
  tsn_dtw_pair_buffers *buffers; /* of each thread */
  double *distances;
  size_t leading;
} job;

static void job_layout(tsn_arena *arena, size_t longest, int32_t threads, job *j) {
  j->buffers = tsn_arena_take(arena, (size_t)threads, sizeof *j->buffers);
  for (int32_t t = 0; t < threads; t++) {
    tsn_dtw_pair_buffers buffers;
    tsn_dtw_pair_layout(arena, longest, &buffers);
    if (j->buffers) j->buffers[t] = buffers;
  }
}

static void run_rows(void *context, size_t begin, size_t end, int thread) {
  const job *j = context;
  for (size_t a = begin; a < end; a++) {
    double *row = j->condensed ? j->distances + a * (2 * j->count_x - a - 1) / 2 - a - 1
                               : j->distances + a * j->leading;
    for (size_t b = j->condensed ? a + 1 : 0; b < j->count_y; b++) {
      row[b] = tsn_dtw_pair_distance(j->xs[a], j->lengths_x[a], j->ys[b], j->lengths_y[b],
                                     &j->options, &j->buffers[thread]);
    }
  }
}

static tsanom_status check_set(const double *const *series, const size_t *lengths,
                               size_t count, size_t *longest) {
  if (!series || !lengths) return TSANOM_E_NULL;
  if (count == 0) return TSANOM_E_COUNT;
  for (size_t k = 0; k < count; k++) {
    if (!series[k]) return TSANOM_E_NULL;
    if (lengths[k] == 0) return TSANOM_E_COUNT;
    if (lengths[k] > *longest) *longest = lengths[k];
  }
  return TSANOM_OK;
}

static bool set_finite(const double *const *series, const size_t *lengths, size_t count,
                       const tsanom_dtw_options *options) {
  for (size_t k = 0; k < count; k++) {
    for (size_t i = 0; i < lengths[k]; i++) {
      if (!tsn_all_finite(series[k] + i * options->stride, options->dimensions)) {
        return false;
      }
    }
  }
  return true;
}

static tsanom_status run_job(job *j, const tsanom_dtw_options *options,
                             const tsanom_exec *exec, void *work, size_t work_bytes,
                             size_t *computed) {
  size_t longest_x = 0, longest_y = 0, rows;
  tsanom_status status;
  if (!j->distances) return TSANOM_E_NULL;
  if ((status = tsn_dtw_options_read(&j->options, options)) < 0) return status;
  if ((status = tsn_exec_read(&j->exec, exec)) < 0) return status;
  if ((status = check_set(j->xs, j->lengths_x, j->count_x, &longest_x)) < 0 ||
      (status = check_set(j->ys, j->lengths_y, j->count_y, &longest_y)) < 0) {
    return status;
  }
  tsn_dtw_problem problem;
  status = tsn_dtw_problem_init(&problem, longest_x, longest_y, &j->options);
  if (status < 0) return status;
  if (j->options.tail) return TSANOM_E_OPTION;
  tsn_arena measured = tsn_arena_measure();
  job_layout(&measured, longest_y, j->exec.threads, j);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &j->exec, work, work_bytes);
  if (status < 0) return status;
  if (!set_finite(j->xs, j->lengths_x, j->count_x, &j->options) ||
      !set_finite(j->ys, j->lengths_y, j->count_y, &j->options)) {
    status = TSANOM_E_NONFINITE;
  } else {
    job_layout(&workspace.arena, longest_y, j->exec.threads, j);
    status = tsn_parallel_for(&j->exec, j->count_x, 1, run_rows, j, &rows);
    if (computed) {
      *computed =
          j->condensed ? rows * (2 * j->count_x - rows - 1) / 2 : rows * j->count_y;
    }
  }
  tsn_workspace_close(&workspace);
  return status;
}

static tsanom_status job_workspace(size_t longest_x, size_t longest_y, size_t count,
                                   const tsanom_dtw_options *options,
                                   const tsanom_exec *exec, size_t *bytes) {
  job j;
  tsn_dtw_problem problem;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_dtw_options_read(&j.options, options)) < 0) return status;
  if ((status = tsn_exec_read(&j.exec, exec)) < 0) return status;
  if (longest_x == 0 || longest_y == 0 || count == 0) return TSANOM_E_COUNT;
  status = tsn_dtw_problem_init(&problem, longest_x, longest_y, &j.options);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  job_layout(&arena, longest_y, j.exec.threads, &j);
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status tsanom_dtw_one_to_many_workspace(size_t n, size_t longest, size_t count,
                                               const tsanom_dtw_options *options,
                                               const tsanom_exec *exec, size_t *bytes) {
  return job_workspace(n, longest, count, options, exec, bytes);
}

tsanom_status tsanom_dtw_one_to_many(const double *x, size_t n,
                                     const double *const *series, const size_t *lengths,
                                     size_t count, const double *const *tails,
                                     const tsanom_dtw_options *options,
                                     const tsanom_exec *exec, void *work,
                                     size_t work_bytes, double *distances,
                                     size_t *computed) {
  (void)tails; /* they bound what is computed in full here */
  job j = {.xs = &x,
           .lengths_x = &n,
           .count_x = 1,
           .ys = series,
           .lengths_y = lengths,
           .count_y = count,
           .distances = distances,
           .leading = count};
  return run_job(&j, options, exec, work, work_bytes, computed);
}

tsanom_status tsanom_dtw_condensed_workspace(size_t longest, size_t count,
                                             const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, size_t *bytes) {
  if (bytes && count == 1) return TSANOM_E_COUNT;
  return job_workspace(longest, longest, count, options, exec, bytes);
}

tsanom_status tsanom_dtw_condensed(const double *const *series, const size_t *lengths,
                                   size_t count, const tsanom_dtw_options *options,
                                   const tsanom_exec *exec, void *work, size_t work_bytes,
                                   double *distances, size_t *computed) {
  if (series && lengths && distances && count == 1) return TSANOM_E_COUNT;
  job j = {.xs = series,
           .lengths_x = lengths,
           .count_x = count,
           .ys = series,
           .lengths_y = lengths,
           .count_y = count,
           .condensed = true,
           .distances = distances};
  return run_job(&j, options, exec, work, work_bytes, computed);
}

tsanom_status tsanom_dtw_cross_workspace(size_t longest_x, size_t count_x,
                                         size_t longest_y, size_t count_y,
                                         const tsanom_dtw_options *options,
                                         const tsanom_exec *exec, size_t *bytes) {
  if (bytes && count_y == 0) return TSANOM_E_COUNT;
  return job_workspace(longest_x, longest_y, count_x, options, exec, bytes);
}

tsanom_status tsanom_dtw_cross(const double *const *xs, const size_t *lengths_x,
                               size_t count_x, const double *const *ys,
                               const size_t *lengths_y, size_t count_y,
                               const tsanom_dtw_options *options, const tsanom_exec *exec,
                               void *work, size_t work_bytes, double *distances,
                               size_t leading, size_t *computed) {
  if (leading < count_y) return TSANOM_E_OPTION;
  job j = {.xs = xs,
           .lengths_x = lengths_x,
           .count_x = count_x,
           .ys = ys,
           .lengths_y = lengths_y,
           .count_y = count_y,
           .distances = distances,
           .leading = leading};
  return run_job(&j, options, exec, work, work_bytes, computed);
}
