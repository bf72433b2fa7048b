/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW distance and path of one pair. */
#include <tsanom/dtw.h>

#include <math.h>

#include "core/check.h"
#include "core/exec.h"
#include "dtw/dtw_pair.h"

void tsn_dtw_pair_layout(tsn_arena *arena, size_t m, tsn_dtw_pair_buffers *buffers) {
  size_t length;
  if (__builtin_add_overflow(m, 1, &length)) arena->overflow = true;
  for (int k = 0; k < 2; k++) {
    buffers->row[k] = tsn_arena_take(arena, length, sizeof(double));
  }
}

static double cost(const double *x, const double *y, const tsanom_dtw_options *options) {
  double sum = 0;
  for (size_t d = 0; d < options->dimensions; d++) {
    double difference = x[d] - y[d];
    sum +=
        options->cost == TSANOM_DTW_SQUARED ? difference * difference : fabs(difference);
  }
  return sum;
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

/* V(-1,j-1): what the empty prefix costs before the first row. */
static void first_row(const tsn_dtw_problem *p, double *row) {
  for (size_t j = 0; j <= p->m; j++) row[j] = j <= p->open_begin_y ? 0 : INFINITY;
}

/* Row i of the matrix from the one above; index j + 1 holds column j. */
static void next_row(const tsn_dtw_problem *p, size_t i, const double *x, const double *y,
                     const tsanom_dtw_options *options, const double *above,
                     double *row) {
  size_t first, last;
  tsn_dtw_window_row(p, i, &first, &last);
  row[0] = i < p->open_begin_x ? 0 : INFINITY;
  for (size_t j = 0; j < p->m; j++) {
    double off_diagonal = smaller(above[j + 1], row[j]) + options->penalty;
    row[j + 1] = j < first || j > last
                     ? INFINITY
                     : cost(x + i * options->stride, y + j * options->stride, options) +
                           smaller(above[j], off_diagonal);
  }
}

double tsn_dtw_pair_distance(const double *x, size_t n, const double *y, size_t m,
                             const tsanom_dtw_options *options,
                             const tsn_dtw_pair_buffers *buffers) {
  tsn_dtw_problem problem;
  tsn_dtw_problem_init(&problem, n, m, options);
  double *above = buffers->row[0], *row = buffers->row[1], best = INFINITY;
  first_row(&problem, above);
  for (size_t i = 0; i < n; i++) {
    next_row(&problem, i, x, y, options, above, row);
    if (i + problem.open_end_x >= n - 1) best = smaller(best, row[m]);
    double *swap = above;
    above = row;
    row = swap;
  }
  for (size_t j = m - 1 - problem.open_end_y; j < m; j++) {
    best = smaller(best, above[j + 1]);
  }
  return best > options->cutoff ? INFINITY : best;
}

typedef struct {
  tsanom_dtw_options options;
  tsanom_exec exec;
  tsn_dtw_problem problem;
} call;

static tsanom_status read_call(call *own, size_t n, size_t m,
                               const tsanom_dtw_options *options,
                               const tsanom_exec *exec) {
  tsanom_status status;
  if ((status = tsn_dtw_options_read(&own->options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own->exec, exec)) < 0) return status;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  return tsn_dtw_problem_init(&own->problem, n, m, &own->options);
}

static bool samples_finite(const double *x, size_t n, const tsanom_dtw_options *options) {
  if (options->stride == options->dimensions)
    return tsn_all_finite(x, n * options->stride);
  for (size_t i = 0; i < n; i++) {
    if (!tsn_all_finite(x + i * options->stride, options->dimensions)) return false;
  }
  return true;
}

tsanom_status tsanom_dtw_workspace(size_t n, size_t m, const tsanom_dtw_options *options,
                                   const tsanom_exec *exec, size_t *bytes) {
  call own;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = read_call(&own, n, m, options, exec);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  tsn_dtw_pair_buffers buffers;
  tsn_dtw_pair_layout(&arena, m, &buffers);
  return tsn_arena_bytes(&arena, bytes);
}

/* What a distance that came out as `distance` means. */
static tsanom_status verdict(const call *own, double distance) {
  if (!tsn_dtw_path_exists(&own->problem)) return TSANOM_INFEASIBLE;
  return isinf(distance) && isfinite(own->options.cutoff) ? TSANOM_CUTOFF : TSANOM_OK;
}

tsanom_status tsanom_dtw_distance(const double *x, size_t n, const double *y, size_t m,
                                  const tsanom_dtw_options *options,
                                  const tsanom_exec *exec, void *work, size_t work_bytes,
                                  double *distance) {
  call own;
  if (!x || !y || !distance) return TSANOM_E_NULL;
  tsanom_status status = read_call(&own, n, m, options, exec);
  if (status < 0) return status;
  tsn_arena measured = tsn_arena_measure();
  tsn_dtw_pair_buffers buffers;
  tsn_dtw_pair_layout(&measured, m, &buffers);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own.exec, work, work_bytes);
  if (status < 0) return status;
  if (!samples_finite(x, n, &own.options) || !samples_finite(y, m, &own.options)) {
    status = TSANOM_E_NONFINITE;
  } else if (tsn_exec_stop(&own.exec, 0, 1)) {
    status = TSANOM_STOPPED;
  } else {
    tsn_dtw_pair_layout(&workspace.arena, m, &buffers);
    *distance = tsn_dtw_pair_distance(x, n, y, m, &own.options, &buffers);
    status = verdict(&own, *distance);
  }
  tsn_workspace_close(&workspace);
  return status;
}

static void path_layout(tsn_arena *arena, size_t n, size_t m, double **matrix) {
  size_t rows, columns, cells = 0;
  if (__builtin_add_overflow(n, 1, &rows) || __builtin_add_overflow(m, 1, &columns) ||
      __builtin_mul_overflow(rows, columns, &cells)) {
    arena->overflow = true;
  }
  *matrix = tsn_arena_take(arena, cells, sizeof(double));
}

tsanom_status tsanom_dtw_path_workspace(size_t n, size_t m,
                                        const tsanom_dtw_options *options,
                                        const tsanom_exec *exec, size_t *bytes) {
  call own;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = read_call(&own, n, m, options, exec);
  if (status < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  double *matrix;
  path_layout(&arena, n, m, &matrix);
  return tsn_arena_bytes(&arena, bytes);
}

/* The cell where the path ends: the least of the open ends, of equals the one
 * that leaves out fewest samples, of y before of x. */
static double path_end(const tsn_dtw_problem *p, const double *matrix, size_t *i,
                       size_t *j) {
  size_t width = p->m + 1;
  *i = p->n - 1;
  *j = p->m - 1;
  double best = matrix[p->n * width + p->m];
  for (size_t k = 1; k <= p->open_end_y; k++) {
    double value = matrix[p->n * width + p->m - k];
    if (value < best) best = value, *j = p->m - 1 - k;
  }
  for (size_t k = 1; k <= p->open_end_x; k++) {
    double value = matrix[(p->n - k) * width + p->m];
    if (value < best) best = value, *i = p->n - 1 - k, *j = p->m - 1;
  }
  return best;
}

static void reverse(size_t *path, size_t length) {
  for (size_t k = 0, l = length; k + 1 < l; k++) {
    l--;
    for (int side = 0; side < 2; side++) {
      size_t swap = path[2 * k + (size_t)side];
      path[2 * k + (size_t)side] = path[2 * l + (size_t)side];
      path[2 * l + (size_t)side] = swap;
    }
  }
}

static size_t trace(const tsn_dtw_problem *p, double penalty, const double *matrix,
                    size_t i, size_t j, size_t *path) {
  size_t width = p->m + 1, length = 0;
  for (;;) {
    path[2 * length] = i;
    path[2 * length + 1] = j;
    length++;
    double diagonal = matrix[i * width + j];
    double up = matrix[i * width + j + 1] + penalty;
    double left = matrix[(i + 1) * width + j] + penalty;
    bool on_diagonal = diagonal <= up && diagonal <= left;
    bool go_up = !on_diagonal && up <= left;
    if ((on_diagonal || go_up) && i == 0) break;
    if (!go_up && j == 0) break;
    if (on_diagonal || go_up) i--;
    if (!go_up) j--;
  }
  reverse(path, length);
  return length;
}

tsanom_status tsanom_dtw_path(const double *x, size_t n, const double *y, size_t m,
                              const tsanom_dtw_options *options, const tsanom_exec *exec,
                              void *work, size_t work_bytes, size_t *path, size_t *length,
                              double *distance) {
  call own;
  if (!x || !y || !path || !length) return TSANOM_E_NULL;
  tsanom_status status = read_call(&own, n, m, options, exec);
  if (status < 0) return status;
  if (own.options.tail) return TSANOM_E_OPTION;
  tsn_arena measured = tsn_arena_measure();
  double *matrix;
  path_layout(&measured, n, m, &matrix);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own.exec, work, work_bytes);
  if (status < 0) return status;
  if (!samples_finite(x, n, &own.options) || !samples_finite(y, m, &own.options)) {
    status = TSANOM_E_NONFINITE;
  } else if (tsn_exec_stop(&own.exec, 0, 1)) {
    status = TSANOM_STOPPED;
  } else {
    path_layout(&workspace.arena, n, m, &matrix);
    first_row(&own.problem, matrix);
    for (size_t i = 0; i < n; i++) {
      next_row(&own.problem, i, x, y, &own.options, matrix + i * (m + 1),
               matrix + (i + 1) * (m + 1));
    }
    size_t i, j;
    double best = path_end(&own.problem, matrix, &i, &j);
    if (best > own.options.cutoff) best = INFINITY;
    status = verdict(&own, best);
    *length = status == TSANOM_OK
                  ? trace(&own.problem, own.options.penalty, matrix, i, j, path)
                  : 0;
    if (distance) *distance = best;
  }
  tsn_workspace_close(&workspace);
  return status;
}
