/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of the DTW distance: arguments and workspace. */
#include <math.h>
#include <tsanom/lbkeogh.h>

#include "core/check.h"
#include "core/exec.h"
#include "lbkeogh/lbkeogh_internal.h"

static double cost_of(double difference, int32_t cost) {
  return cost == TSANOM_LBKEOGH_SQUARED ? difference * difference : fabs(difference);
}

static double bound_by(const tsn_lbkeogh_kernels *kernels, int32_t cost, const double *c,
                       const double *lower, const double *upper, size_t n) {
  return cost == TSANOM_LBKEOGH_SQUARED ? kernels->bound_squared(c, lower, upper, n)
                                        : kernels->bound_absolute(c, lower, upper, n);
}

/* The cheapest pairing of sample k from one end with the samples up to k of
 * the other, either way round, within the radius. `x` and `y` point at that end,
 * `step` is +1 from the beginning and -1 from the end. */
static double band_minimum(const double *x, const double *y, ptrdiff_t step, ptrdiff_t k,
                           size_t radius, int32_t cost) {
  double best = cost_of(x[k * step] - y[k * step], cost);
  for (ptrdiff_t i = k; i > 0 && (size_t)(k - i + 1) <= radius; i--) {
    best = fmin(best, cost_of(x[k * step] - y[(i - 1) * step], cost));
    best = fmin(best, cost_of(x[(i - 1) * step] - y[k * step], cost));
  }
  return best;
}

/* Sums over `front` bands at the beginning and `back` at the end. */
static double band_sum(const double *x, size_t n, const double *y, size_t m, size_t front,
                       size_t back, size_t radius, int32_t cost) {
  double sum = 0;
  for (size_t k = 0; k < front; k++) {
    sum += band_minimum(x, y, 1, (ptrdiff_t)k, radius, cost);
  }
  for (size_t k = 0; k < back; k++) {
    sum += band_minimum(x + n - 1, y + m - 1, -1, (ptrdiff_t)k, radius, cost);
  }
  return sum;
}

enum { KIM_SAMPLES = 3 };

tsanom_status tsanom_lbkeogh_kim(const double *x, size_t n, const double *y, size_t m,
                                 const tsanom_lbkeogh_options *options,
                                 const tsanom_exec *exec, double *bound) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!x || !y || !bound) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  size_t shorter = n < m ? n : m;
  size_t front = (shorter + 1) / 2, back = shorter / 2;
  if (front > KIM_SAMPLES) front = KIM_SAMPLES;
  if (back > KIM_SAMPLES) back = KIM_SAMPLES;
  if (!tsn_all_finite(x, front) || !tsn_all_finite(y, front) ||
      !tsn_all_finite(x + n - back, back) || !tsn_all_finite(y + m - back, back)) {
    return TSANOM_E_NONFINITE;
  }
  *bound = band_sum(x, n, y, m, front, back, SIZE_MAX, own_options.cost);
  return TSANOM_OK;
}

tsanom_status tsanom_lbkeogh_enhanced(const double *c, const double *q,
                                      const double *lower, const double *upper, size_t n,
                                      const tsanom_lbkeogh_options *options,
                                      const tsanom_exec *exec, double *bound) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!c || !q || !lower || !upper || !bound) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  if (!tsn_all_finite(c, n) || !tsn_all_finite(q, n)) return TSANOM_E_NONFINITE;
  size_t bands = own_options.bands < n / 2 ? own_options.bands : n / 2;
  double ends = band_sum(c, n, q, n, bands, bands, own_options.radius, own_options.cost);
  *bound = ends + bound_by(tsn_lbkeogh_kernels_at(own_exec.isa), own_options.cost,
                           c + bands, lower + bands, upper + bands, n - 2 * bands);
  return TSANOM_OK;
}

tsanom_status tsanom_lbkeogh_bound(const double *c, const double *lower,
                                   const double *upper, size_t n,
                                   const tsanom_lbkeogh_options *options,
                                   const tsanom_exec *exec, double *bound) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!c || !lower || !upper || !bound) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  double sum = bound_by(tsn_lbkeogh_kernels_at(own_exec.isa), own_options.cost, c, lower,
                        upper, n);
  /* A sample that is not finite leaves a sum that is not; so may a sum of
   * finite terms that overflows. */
  if (!isfinite(sum) && !tsn_all_finite(c, n)) return TSANOM_E_NONFINITE;
  *bound = sum;
  return TSANOM_OK;
}

tsanom_status tsanom_lbkeogh_tail(const double *c, const double *lower,
                                  const double *upper, size_t n,
                                  const tsanom_lbkeogh_options *options,
                                  const tsanom_exec *exec, double *tail) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!c || !lower || !upper || !tail) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  if (!tsn_all_finite(c, n)) return TSANOM_E_NONFINITE;
  tsn_lbkeogh_kernels_at(own_exec.isa)->clip(c, lower, upper, n, tail);
  double sum = 0;
  for (size_t i = n; i-- > 0;) {
    sum += cost_of(c[i] - tail[i], own_options.cost);
    tail[i] = sum;
  }
  tail[n] = 0;
  return TSANOM_OK;
}

typedef struct {
  double *clipped, *lower, *upper; /* as many as positions */
  tsn_envelope_scratch scratch;
} buffers;

static void pair_layout(tsn_arena *arena, size_t longest, size_t radius, buffers *b) {
  b->lower = tsn_arena_take(arena, longest, sizeof(double));
  b->upper = tsn_arena_take(arena, longest, sizeof(double));
  tsn_envelope_layout(arena, longest, radius, &b->scratch);
}

static void improved_layout(tsn_arena *arena, size_t n, size_t radius, buffers *b) {
  b->clipped = tsn_arena_take(arena, n, sizeof(double));
  pair_layout(arena, n, radius, b);
}

/* The envelope of x at `count` positions, into the buffers. */
static void envelope_of(int32_t isa, const buffers *b, const double *x, size_t n,
                        size_t radius, size_t count) {
  tsn_envelope_kernels_at(isa)->envelope(x, n, radius, count, b->scratch.lowest,
                                         b->scratch.highest, b->lower, b->upper);
}

typedef void layout_function(tsn_arena *arena, size_t longest, size_t radius, buffers *b);

static tsanom_status query(size_t longest, const tsanom_lbkeogh_options *options,
                           const tsanom_exec *exec, layout_function *layout,
                           size_t *bytes) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (longest == 0) return TSANOM_E_COUNT;
  tsn_arena arena = tsn_arena_measure();
  buffers b;
  layout(&arena, longest, tsn_lbkeogh_radius(own_options.radius, longest), &b);
  return tsn_arena_bytes(&arena, bytes);
}

tsanom_status tsanom_lbkeogh_pair_workspace(size_t n, size_t m,
                                            const tsanom_lbkeogh_options *options,
                                            const tsanom_exec *exec, size_t *bytes) {
  size_t longest = n == 0 || m == 0 ? 0 : n > m ? n : m;
  return query(longest, options, exec, pair_layout, bytes);
}

tsanom_status tsanom_lbkeogh_improved_workspace(size_t n,
                                                const tsanom_lbkeogh_options *options,
                                                const tsanom_exec *exec, size_t *bytes) {
  return query(n, options, exec, improved_layout, bytes);
}

tsanom_status tsanom_lbkeogh_pair(const double *x, size_t n, const double *y, size_t m,
                                  const tsanom_lbkeogh_options *options,
                                  const tsanom_exec *exec, void *work, size_t work_bytes,
                                  double *bounds) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!x || !y || !bounds) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0 || m == 0) return TSANOM_E_COUNT;
  size_t longest = n > m ? n : m,
         radius = tsn_lbkeogh_radius(own_options.radius, longest);
  tsn_arena measured = tsn_arena_measure();
  buffers b;
  pair_layout(&measured, longest, radius, &b);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  if (!tsn_all_finite(x, n) || !tsn_all_finite(y, m)) {
    status = TSANOM_E_NONFINITE;
  } else if ((n > m ? n - m : m - n) > radius) {
    bounds[0] = bounds[1] = INFINITY;
    status = TSANOM_INFEASIBLE;
  } else {
    const tsn_lbkeogh_kernels *kernels = tsn_lbkeogh_kernels_at(own_exec.isa);
    pair_layout(&workspace.arena, longest, radius, &b);
    envelope_of(own_exec.isa, &b, x, n, radius, m);
    bounds[0] = bound_by(kernels, own_options.cost, y, b.lower, b.upper, m);
    envelope_of(own_exec.isa, &b, y, m, radius, n);
    bounds[1] = bound_by(kernels, own_options.cost, x, b.lower, b.upper, n);
  }
  tsn_workspace_close(&workspace);
  return status;
}

tsanom_status tsanom_lbkeogh_improved(const double *c, const double *q,
                                      const double *lower, const double *upper, size_t n,
                                      const tsanom_lbkeogh_options *options,
                                      const tsanom_exec *exec, void *work,
                                      size_t work_bytes, double *bound) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!c || !q || !lower || !upper || !bound) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  size_t radius = tsn_lbkeogh_radius(own_options.radius, n);
  tsn_arena measured = tsn_arena_measure();
  buffers b;
  improved_layout(&measured, n, radius, &b);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  if (!tsn_all_finite(c, n) || !tsn_all_finite(q, n)) {
    status = TSANOM_E_NONFINITE;
  } else {
    const tsn_lbkeogh_kernels *kernels = tsn_lbkeogh_kernels_at(own_exec.isa);
    improved_layout(&workspace.arena, n, radius, &b);
    kernels->clip(c, lower, upper, n, b.clipped);
    envelope_of(own_exec.isa, &b, b.clipped, n, radius, n);
    *bound = bound_by(kernels, own_options.cost, c, lower, upper, n) +
             bound_by(kernels, own_options.cost, q, b.lower, b.upper, n);
  }
  tsn_workspace_close(&workspace);
  return status;
}
