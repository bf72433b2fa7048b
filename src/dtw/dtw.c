/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW distance: arguments, workspace, polling. The loops are in dtw_kernel.c. */
#include <tsanom/dtw.h>

#include <math.h>

#include "core/arena.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/versioned.h"
#include "dtw/dtw_kernel.h"

/* Cells between two calls of the poll: about a millisecond of work. */
enum { CELLS_PER_POLL = 1 << 20 };

static const tsanom_dtw_options defaults = {
    .struct_size = sizeof defaults, .radius = SIZE_MAX, .cost = TSANOM_DTW_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dtw_options),
                                           .first_size = sizeof(tsanom_dtw_options),
                                           .defaults = &defaults};

tsanom_status tsanom_dtw_options_init(tsanom_dtw_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_dtw_options *own,
                                  const tsanom_dtw_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  if (own->cost != TSANOM_DTW_ABSOLUTE && own->cost != TSANOM_DTW_SQUARED) {
    return TSANOM_E_OPTION;
  }
  return own->reserved0 == 0 ? TSANOM_OK : TSANOM_E_OPTION;
}

typedef struct {
  double *y_reversed;
  double *diagonal[3];
} buffers;

static void layout(tsn_arena *arena, size_t n, size_t m, buffers *b) {
  b->y_reversed = tsn_arena_take(arena, m, sizeof(double));
  for (int k = 0; k < 3; k++) {
    size_t length;
    if (__builtin_add_overflow(n, 2, &length)) arena->overflow = true;
    b->diagonal[k] = tsn_arena_take(arena, length, sizeof(double));
  }
}

/* By symmetry the shorter series runs along the diagonals. */
static void order_by_length(size_t *n, size_t *m) {
  if (*n > *m) {
    size_t longer = *n;
    *n = *m;
    *m = longer;
  }
}

tsanom_status tsanom_dtw_workspace(size_t n, size_t m, const tsanom_dtw_options *options,
                                   const tsanom_exec *exec, size_t *bytes) {
  tsanom_dtw_options own_options;
  tsanom_exec own_exec;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = read_options(&own_options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  order_by_length(&n, &m);
  tsn_arena arena = tsn_arena_measure();
  buffers b;
  layout(&arena, n, m, &b);
  return tsn_arena_bytes(&arena, bytes);
}

static tsanom_status sweep_all(const tsn_dtw_problem *problem, int32_t cost,
                               const tsanom_exec *exec) {
  const tsn_dtw_kernels *kernels = tsn_dtw_kernels_at(exec->isa);
  size_t diagonals = problem->n + problem->m - 1;
  size_t step = 1 + CELLS_PER_POLL / problem->n;
  for (size_t d = 0; d < diagonals; d += step) {
    size_t last = diagonals - d < step ? diagonals : d + step;
    if (tsn_exec_stop(exec, d, diagonals)) return TSANOM_STOPPED;
    if (cost == TSANOM_DTW_ABSOLUTE) {
      kernels->sweep_absolute(problem, d, last);
    } else {
      kernels->sweep_squared(problem, d, last);
    }
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dtw_distance(const double *x, size_t n, const double *y, size_t m,
                                  const tsanom_dtw_options *options,
                                  const tsanom_exec *exec, void *work, size_t work_bytes,
                                  double *distance) {
  tsanom_dtw_options own_options;
  tsanom_exec own_exec;
  tsanom_status status;
  if (!x || !y || !distance) return TSANOM_E_NULL;
  if ((status = read_options(&own_options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  if (n > m) {
    const double *longer = x;
    x = y;
    y = longer;
  }
  order_by_length(&n, &m);

  tsn_arena measured = tsn_arena_measure();
  buffers b;
  layout(&measured, n, m, &b);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  if (!tsn_all_finite(x, n) || !tsn_all_finite(y, m)) {
    status = TSANOM_E_NONFINITE;
  } else if (m - n > own_options.radius) {
    *distance = INFINITY;
    status = TSANOM_INFEASIBLE;
  } else {
    layout(&workspace.arena, n, m, &b);
    for (size_t j = 0; j < m; j++) b.y_reversed[j] = y[m - 1 - j];
    for (int k = 0; k < 3; k++) {
      for (size_t i = 0; i < n + 2; i++) b.diagonal[k][i] = INFINITY;
    }
    tsn_dtw_problem problem = {.x = x,
                               .n = n,
                               .y_reversed = b.y_reversed,
                               .m = m,
                               .radius = own_options.radius < m ? own_options.radius : m,
                               .diagonal = {b.diagonal[0], b.diagonal[1], b.diagonal[2]}};
    status = sweep_all(&problem, own_options.cost, &own_exec);
    if (status == TSANOM_OK) *distance = b.diagonal[(n + m - 2) % 3][n];
  }
  tsn_workspace_close(&workspace);
  return status;
}
