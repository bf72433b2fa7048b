/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of the DTW distance, for a search that must compute few distances.
 *
 * LB_Keogh. A path within radius r pairs c_i only with samples q_j, |i-j| <= r. All of
 * them are in the envelope [l_i, u_i], so c_i costs at least its distance from it:
 *
 *   l_i = min q_j,  u_i = max q_j  (|i-j| <= r),    LB = sum d(c_i - clip(c_i, l_i, u_i))
 *
 * with d(x) = |x| or x^2. The bound holds for DTW of the same or a smaller radius.
 *
 * LB_Improved adds LB_Keogh of q against the envelope of h, which is c clipped to the
 * envelope of q. Since h_i lies between c_i and q_j, the two terms add up in each pair:
 *
 *   d(c_i - q_j) >= d(c_i - h_i) + d(h_i - q_j)
 *
 * LB_KimFL and LB_Enhanced use L-shaped bands of the matrix of pairs. Every warping path
 * crosses each of them, so it costs at least the sum of their cheapest pairs:
 *
 *        y ->                 band k from the beginning: the pairs (k, 0..k), (0..k, k)
 *    x   0 1 2 . . .
 *    |   1 1 2 . . .
 *    v   2 2 2 . . .
 *        . . . . . .          and likewise from the end
 *
 * The rows between the two ends have no pair in a band, so that LB_Enhanced may add
 * LB_Keogh of these rows. It takes O(n + bands^2), LB_KimFL O(1), the others O(n).
 *
 * Bounds are sums with rounding, up to 2n terms: callers allow for a relative n*2^-53.
 *
 * E. Keogh and C. A. Ratanamahatana, Knowl. Inf. Syst. 7 (2005) 358-386; D. Lemire,
 * Pattern Recognition 42 (2009) 2169-2180; T. Rakthanmanon et al., KDD 2012, 262-270;
 * C. W. Tan et al., SDM 2019, 522-530. */
#include <math.h>

#include "core/environment.h"
#include "core/versioned.h"
#include "lbkeogh/lbkeogh_arguments.h"

/* Options and checks that several functions of the module share. */

static const tsanom_lbkeogh_options defaults = {.struct_size = sizeof defaults,
                                                .radius = SIZE_MAX,
                                                .bands = 5,
                                                .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_lbkeogh_options),
                                           .first_size = sizeof(tsanom_lbkeogh_options),
                                           .defaults = &defaults};

tsanom_status tsanom_lbkeogh_options_init(tsanom_lbkeogh_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* Read the options; `uses_bands`: else options.bands must be the default. */
static tsanom_status options_read(tsanom_lbkeogh_options *own,
                                  const tsanom_lbkeogh_options *caller, bool uses_bands,
                                  const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.cost", own->cost, 0, 1);
  if (status < 0) return status;
  if (!uses_bands && own->bands != defaults.bands) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.bands", TSANOM_NONE,
                         "%zu; the function does not use it, and %zu is expected",
                         own->bands, defaults.bands);
  }
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

/* TSANOM_E_NONFINITE at the first sample that is not finite. */
static tsanom_status check_finite(const tsanom_exec *exec, const double *x, size_t n,
                                  const char *name) {
  if (tsn_all_finite(x, n)) return TSANOM_OK;
  size_t at = tsn_first_nonfinite(x, n);
  return tsn_reject_value(exec, TSANOM_E_NONFINITE, name, at, TSANOM_NONE, x[at],
                          TSN_FINITE);
}

static double cost_of(double difference, int32_t cost) {
  return cost == TSANOM_COST_SQUARED ? difference * difference : fabs(difference);
}

/* LB_Keogh of c against an envelope. */
static double bound_by(const tsn_lbkeogh_kernels *kernels, int32_t cost, const double *c,
                       const double *lower, const double *upper, size_t n) {
  return cost == TSANOM_COST_SQUARED ? kernels->bound_squared(c, lower, upper, n)
                                     : kernels->bound_absolute(c, lower, upper, n);
}

/* The cheapest pair of band k within the radius. `x` and `y` point at the first or the
 * last samples; `step` is +1 from the beginning and -1 from the end. */
static double band_minimum(const double *x, const double *y, ptrdiff_t step, ptrdiff_t k,
                           size_t radius, int32_t cost) {
  double best = cost_of(x[k * step] - y[k * step], cost);
  for (ptrdiff_t i = k; i > 0 && (size_t)(k - i + 1) <= radius; i--) {
    best = fmin(best, cost_of(x[k * step] - y[(i - 1) * step], cost));
    best = fmin(best, cost_of(x[(i - 1) * step] - y[k * step], cost));
  }
  return best;
}

/* Sums over `front` bands at the beginning and `back` at the end. A path crosses all of
 * them at different pairs only if front + back <= min(n, m). */
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

static tsanom_status check_cost(const tsanom_exec *exec, int32_t cost) {
  return tsn_require_int(exec, TSANOM_E_OPTION, "cost", cost, 0, 1);
}

/* Check the `count` samples from `first` on; the fault counts from x[0]. */
static tsanom_status check_part(const tsanom_exec *exec, const double *x, size_t first,
                                size_t count, const char *name) {
  if (tsn_all_finite(x + first, count)) return TSANOM_OK;
  size_t at = first + tsn_first_nonfinite(x + first, count);
  return tsn_reject_value(exec, TSANOM_E_NONFINITE, name, at, TSANOM_NONE, x[at],
                          TSN_FINITE);
}

tsanom_status tsanom_lbkeogh_kim(const double *x, size_t n, const double *y, size_t m,
                                 int32_t cost, const tsanom_exec *exec, double *bound) {
  enum { SAMPLES = 3 }; /* at each end */
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0 || (status = tsn_lbkeogh_check_count(&own, n, "n")) < 0 ||
      (status = tsn_lbkeogh_check_count(&own, m, "m")) < 0 ||
      (status = check_cost(&own, cost)) < 0 ||
      (status = tsn_require_array(&own, x, n, "x")) < 0 ||
      (status = tsn_require_array(&own, y, m, "y")) < 0 ||
      (status = tsn_require(&own, bound, "bound")) < 0) {
    return status;
  }
  /* A series of fewer than 6 samples is divided between the two ends. */
  size_t shorter = tsn_smaller(n, m);
  size_t front = tsn_smaller((shorter + 1) / 2, SAMPLES);
  size_t back = tsn_smaller(shorter / 2, SAMPLES);
  if ((status = check_part(&own, x, 0, front, "x")) < 0 ||
      (status = check_part(&own, x, n - back, back, "x")) < 0 ||
      (status = check_part(&own, y, 0, front, "y")) < 0 ||
      (status = check_part(&own, y, m - back, back, "y")) < 0) {
    return status;
  }
  tsn_environment before = tsn_environment_enter();
  *bound = band_sum(x, n, y, m, front, back, SIZE_MAX, cost);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* Check the pointers that a series against an envelope has. */
static tsanom_status require_against(const tsanom_exec *exec, const double *c,
                                     const double *lower, const double *upper, size_t n) {
  tsanom_status status = tsn_require_array(exec, c, n, "c");
  if (status < 0 || (status = tsn_require_array(exec, lower, n, "lower")) < 0) {
    return status;
  }
  return tsn_require_array(exec, upper, n, "upper");
}

tsanom_status tsanom_lbkeogh_bound(const double *c, const double *lower,
                                   const double *upper, size_t n, int32_t cost,
                                   const tsanom_exec *exec, double *bound) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0 || (status = tsn_lbkeogh_check_count(&own, n, "n")) < 0 ||
      (status = check_cost(&own, cost)) < 0 ||
      (status = require_against(&own, c, lower, upper, n)) < 0 ||
      (status = tsn_require(&own, bound, "bound")) < 0) {
    return status;
  }
  tsn_environment before = tsn_environment_enter();
  double sum = bound_by(tsn_lbkeogh_kernels_at(own.isa), cost, c, lower, upper, n);
  tsn_environment_leave(before);
  /* A sample that is not finite leaves a sum that is not; so may a sum of finite terms
   * that overflows. */
  if (!isfinite(sum) && (status = check_finite(&own, c, n, "c")) < 0) {
    return status;
  }
  *bound = sum;
  return TSANOM_OK;
}

/* tail[i] is LB_Keogh of the samples from i on, hence a bound of what a path still costs
 * that has come to row i. The array holds the clipped samples first. */
tsanom_status tsanom_lbkeogh_tail(const double *c, const double *lower,
                                  const double *upper, size_t n, int32_t cost,
                                  const tsanom_exec *exec, double *tail) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0 || (status = tsn_lbkeogh_check_count(&own, n, "n")) < 0 ||
      (status = check_cost(&own, cost)) < 0 ||
      (status = require_against(&own, c, lower, upper, n)) < 0 ||
      (status = tsn_require_array(&own, tail, n + 1, "tail")) < 0 ||
      (status = check_finite(&own, c, n, "c")) < 0) {
    return status;
  }
  tsn_environment before = tsn_environment_enter();
  tsn_lbkeogh_kernels_at(own.isa)->clip(c, lower, upper, n, tail);
  double sum = 0;
  for (size_t i = n; i-- > 0;) {
    sum += cost_of(c[i] - tail[i], cost);
    tail[i] = sum;
  }
  tail[n] = 0;
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* A call with options. Buffers are parts of the workspace. */
typedef struct {
  tsanom_exec exec;
  tsanom_lbkeogh_options options;
  const double *x, *y;                     /* of pair */
  const double *c, *q, *c_lower, *c_upper; /* of improved and enhanced */
  size_t n, m;
  double *bounds;
  size_t longest, radius;
  double *clipped, *lower, *upper;
  tsn_envelope_scratch scratch;
} call;

static void pair_layout(tsn_arena *arena, void *context) {
  call *c = context;
  c->lower = tsn_arena_take(arena, c->longest, sizeof(double));
  c->upper = tsn_arena_take(arena, c->longest, sizeof(double));
  tsn_envelope_layout(arena, c->longest, c->radius, &c->scratch);
}

static void improved_layout(tsn_arena *arena, void *context) {
  call *c = context;
  c->clipped = tsn_arena_take(arena, c->longest, sizeof(double));
  pair_layout(arena, c);
}

/* The envelope of x at `count` positions, into the buffers. */
static void envelope_of(const call *c, const double *x, size_t n, size_t count) {
  tsn_envelope_kernels_at(c->exec.isa)
      ->envelope(x, n, c->radius, count, c->scratch.lowest, c->scratch.highest, c->lower,
                 c->upper);
}

static double bound_to(const call *c, const double *x, const double *lower,
                       const double *upper, size_t n) {
  return bound_by(tsn_lbkeogh_kernels_at(c->exec.isa), c->options.cost, x, lower, upper,
                  n);
}

/* Read exec, options and counts. */
static tsanom_status read_call(call *c, const tsanom_lbkeogh_options *options,
                               bool uses_bands, const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&c->exec, exec);
  if (status < 0 ||
      (status = options_read(&c->options, options, uses_bands, &c->exec)) < 0 ||
      (status = tsn_lbkeogh_check_count(&c->exec, c->n, "n")) < 0 ||
      (status = tsn_lbkeogh_check_count(&c->exec, c->m, "m")) < 0) {
    return status;
  }
  c->longest = tsn_larger(c->n, c->m);
  c->radius = tsn_lbkeogh_radius(c->options.radius, c->longest);
  return TSANOM_OK;
}

/* Each series against the envelope of the other; where lengths differ, an envelope has
 * as many positions as the other series. More than the radius apart no path exists. */
static tsanom_status run_pair(void *context) {
  call *c = context;
  if (tsn_larger(c->n, c->m) - tsn_smaller(c->n, c->m) > c->radius) {
    c->bounds[0] = c->bounds[1] = INFINITY;
    return TSANOM_INFEASIBLE;
  }
  envelope_of(c, c->x, c->n, c->m);
  c->bounds[0] = bound_to(c, c->y, c->lower, c->upper, c->m);
  envelope_of(c, c->y, c->m, c->n);
  c->bounds[1] = bound_to(c, c->x, c->lower, c->upper, c->n);
  return TSANOM_OK;
}

static tsanom_status check_pair(void *context) {
  const call *c = context;
  const tsanom_exec *exec = &c->exec;
  tsanom_status status = tsn_require_array(exec, c->x, c->n, "x");
  if (status < 0 || (status = tsn_require_array(exec, c->y, c->m, "y")) < 0 ||
      (status = tsn_require_array(exec, c->bounds, 2, "bounds")) < 0 ||
      (status = check_finite(exec, c->x, c->n, "x")) < 0) {
    return status;
  }
  return check_finite(exec, c->y, c->m, "y");
}

tsanom_status tsanom_lbkeogh_pair(const double *x, size_t n, const double *y, size_t m,
                                  const tsanom_lbkeogh_options *options,
                                  const tsanom_exec *exec, double *bounds) {
  call c = {.x = x, .y = y, .n = n, .m = m, .bounds = bounds};
  tsanom_status status = read_call(&c, options, false, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&c.exec, pair_layout, check_pair, run_pair, &c);
}

/* Series c against q and the envelope of q. */
static tsanom_status check_against(void *context) {
  const call *c = context;
  const tsanom_exec *exec = &c->exec;
  tsanom_status status = require_against(exec, c->c, c->c_lower, c->c_upper, c->n);
  if (status < 0 || (status = tsn_require_array(exec, c->q, c->n, "q")) < 0 ||
      (status = tsn_require(exec, c->bounds, "bound")) < 0 ||
      (status = check_finite(exec, c->c, c->n, "c")) < 0) {
    return status;
  }
  return check_finite(exec, c->q, c->n, "q");
}

/* Four passes: clip c, envelope of that, and two sums. */
static tsanom_status run_improved(void *context) {
  call *c = context;
  tsn_lbkeogh_kernels_at(c->exec.isa)
      ->clip(c->c, c->c_lower, c->c_upper, c->n, c->clipped);
  envelope_of(c, c->clipped, c->n, c->n);
  *c->bounds = bound_to(c, c->c, c->c_lower, c->c_upper, c->n) +
               bound_to(c, c->q, c->lower, c->upper, c->n);
  return TSANOM_OK;
}

static call against(const double *c, const double *q, const double *lower,
                    const double *upper, size_t n, double *bound) {
  return (call){.c = c,
                .q = q,
                .c_lower = lower,
                .c_upper = upper,
                .n = n,
                .m = n,
                .bounds = bound};
}

tsanom_status tsanom_lbkeogh_improved(const double *c, const double *q,
                                      const double *lower, const double *upper, size_t n,
                                      const tsanom_lbkeogh_options *options,
                                      const tsanom_exec *exec, double *bound) {
  call own = against(c, q, lower, upper, n, bound);
  tsanom_status status = read_call(&own, options, false, exec);
  if (status < 0) return status;
  return tsn_workspace_run(&own.exec, improved_layout, check_against, run_improved, &own);
}

tsanom_status tsanom_lbkeogh_enhanced(const double *c, const double *q,
                                      const double *lower, const double *upper, size_t n,
                                      const tsanom_lbkeogh_options *options,
                                      const tsanom_exec *exec, double *bound) {
  call own = against(c, q, lower, upper, n, bound);
  tsanom_status status = read_call(&own, options, true, exec);
  if (status < 0 || (status = check_against(&own)) < 0) return status;
  tsn_environment before = tsn_environment_enter();
  const tsanom_lbkeogh_options *o = &own.options;
  size_t bands = tsn_smaller(o->bands, n / 2);
  double ends = band_sum(c, n, q, n, bands, bands, o->radius, o->cost);
  *bound = ends + bound_to(&own, c + bands, lower + bands, upper + bands, n - 2 * bands);
  tsn_environment_leave(before);
  return TSANOM_OK;
}
