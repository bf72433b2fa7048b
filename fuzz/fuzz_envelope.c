/* SPDX-License-Identifier: BSD-3-Clause */
/* Envelopes and lower bounds beside their definitions: the envelope bit by bit, the sums
 * up to their rounding, and no bound above the distance of dynamic time warping. Samples
 * may overflow any sum. */
#include <tsanom/lbkeogh.h>

#include "input.h"
#include "lbkeogh/naive.h"
#include "support/ask.h"

#define REAL double
#define NAIVE(name) f64_##name
#include "dtw/naive.h"

enum { LONGEST = 48 };

typedef struct {
  size_t n, m, radius, bands;
  int32_t cost;
  double x[LONGEST], y[LONGEST];
  double lower[LONGEST], upper[LONGEST]; /* of x, at the positions of y */
  double distance;
  tsanom_lbkeogh_options options;
} problem;

static void take_problem(fuzz_input *in, problem *p) {
  size_t flags = take_byte(in), radius = take_byte(in);
  p->n = take_between(in, 1, LONGEST);
  p->m = flags & 2 ? take_between(in, 1, LONGEST) : p->n;
  p->bands = take_between(in, 0, 30);
  p->cost = (int32_t)(flags & 1);
  p->radius = radius == UINT8_MAX ? SIZE_MAX : radius % (LONGEST + 2);
  take_samples(in, p->x, p->n);
  take_samples(in, p->y, p->m);
  tsanom_lbkeogh_options_init(&p->options, sizeof p->options);
  p->options.radius = p->radius;
  p->options.cost = p->cost;
}

/* Up to the rounding of two sums of the same terms. */
static int equal_sums(double a, double b) {
  return (isinf(a) && isinf(b)) || a == b || nearly(a, b);
}

static void check_envelope(const problem *p, const tsanom_exec *exec) {
  double lower[LONGEST], upper[LONGEST], low[LONGEST], high[LONGEST];
  size_t bytes;
  tsanom_exec own = ask_exec(exec, &bytes);
  demand(tsanom_lbkeogh_envelope(NULL, p->n, p->radius, &own, NULL, NULL) ==
         TSANOM_E_WORKSPACE);
  own = with_work(*exec, bytes);
  naive_envelope(p->x, p->n, p->radius, p->n, lower, upper);
  demand(tsanom_lbkeogh_envelope(p->x, p->n, p->radius, &own, low, high) == TSANOM_OK);
  drop_work(&own);
  for (size_t i = 0; i < p->n; i++) demand(low[i] == lower[i] && high[i] == upper[i]);
}

static double cost(double a, double b, int32_t kind) {
  return kind == TSANOM_COST_SQUARED ? (a - b) * (a - b) : fabs(a - b);
}

/* LB_KimFL of series with at least six samples: the first and the last three of each, at
 * `x` and `y` and from there in `step`. */
static double kim_end(const double *x, const double *y, ptrdiff_t step, int32_t kind) {
  double sum = cost(*x, *y, kind), second = INFINITY, third = INFINITY;
  for (ptrdiff_t i = 0; i < 3; i++) {
    for (ptrdiff_t j = 0; j < 3; j++) {
      double pair = cost(x[i * step], y[j * step], kind);
      if (i + j > 0 && i < 2 && j < 2) second = fmin(second, pair);
      if (i == 2 || j == 2) third = fmin(third, pair);
    }
  }
  return sum + second + third;
}

static void check_kim(const problem *p, const tsanom_exec *exec) {
  double bound;
  demand(tsanom_lbkeogh_kim(p->x, p->n, p->y, p->m, p->cost, exec, &bound) == TSANOM_OK);
  demand(at_most(bound, p->distance, p->n + p->m));
  if (p->n < 6 || p->m < 6) return;
  double expected = kim_end(p->x, p->y, 1, p->cost) +
                    kim_end(p->x + p->n - 1, p->y + p->m - 1, -1, p->cost);
  demand(equal_sums(bound, expected));
}

static void check_pair(const problem *p, const tsanom_exec *exec) {
  double bounds[2];
  size_t difference = p->n > p->m ? p->n - p->m : p->m - p->n;
  tsanom_status status =
      tsanom_lbkeogh_pair(p->x, p->n, p->y, p->m, &p->options, exec, bounds);
  demand(status == (difference > p->radius ? TSANOM_INFEASIBLE : TSANOM_OK));
  demand(at_most(bounds[0], p->distance, p->n + p->m));
  demand(at_most(bounds[1], p->distance, p->n + p->m));
  if (status != TSANOM_OK) return;
  demand(equal_sums(bounds[0], naive_bound(p->y, p->lower, p->upper, p->m, p->cost)));
}

static void check_enhanced(const problem *p, const tsanom_exec *exec) {
  tsanom_lbkeogh_options options = p->options;
  double bound;
  options.bands = p->bands;
  demand(tsanom_lbkeogh_enhanced(p->y, p->x, p->lower, p->upper, p->n, &options, exec,
                                 &bound) == TSANOM_OK);
  demand(at_most(bound, p->distance, 2 * p->n));
  demand(
      equal_sums(bound, naive_enhanced(p->y, p->x, p->lower, p->upper, p->n, &options)));
}

static void check_improved(const problem *p, const tsanom_exec *exec) {
  double h[LONGEST], lower[LONGEST], upper[LONGEST], bound;
  for (size_t i = 0; i < p->n; i++) {
    h[i] = fmin(fmax(p->y[i], p->lower[i]), p->upper[i]);
  }
  naive_envelope(h, p->n, p->radius, p->n, lower, upper);
  double keogh = naive_bound(p->y, p->lower, p->upper, p->n, p->cost);
  double expected = keogh + naive_bound(p->x, lower, upper, p->n, p->cost);
  demand(tsanom_lbkeogh_improved(p->y, p->x, p->lower, p->upper, p->n, &p->options, exec,
                                 &bound) == TSANOM_OK);
  demand(at_most(bound, p->distance, 2 * p->n));
  demand(equal_sums(bound, expected));
}

static void check_tail(const problem *p, const tsanom_exec *exec) {
  double tail[LONGEST + 1];
  demand(tsanom_lbkeogh_tail(p->y, p->lower, p->upper, p->n, p->cost, exec, tail) ==
         TSANOM_OK);
  for (size_t i = 0; i <= p->n; i++) {
    demand(equal_sums(
        tail[i], naive_bound(p->y + i, p->lower + i, p->upper + i, p->n - i, p->cost)));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem p;
  tsanom_dtw_options options;
  fuzz_input in = {data, data + size};
  tsanom_exec exec = take_exec(&in);
  take_problem(&in, &p);
  int finite = all_finite(p.x, p.n) && all_finite(p.y, p.m);
  double bounds[2];
  if (!finite) {
    demand(tsanom_lbkeogh_pair(p.x, p.n, p.y, p.m, &p.options, &exec, bounds) ==
           TSANOM_E_NONFINITE);
    return 0;
  }
  tsanom_dtw_options_init(&options, sizeof options);
  options.radius = p.radius;
  options.cost = p.cost;
  p.distance = f64_distance(p.x, p.n, p.y, p.m, &options);
  naive_envelope(p.x, p.n, p.radius, p.m, p.lower, p.upper);
  check_envelope(&p, &exec);
  check_kim(&p, &exec);
  check_pair(&p, &exec);
  if (p.n != p.m) return 0;
  check_enhanced(&p, &exec);
  check_improved(&p, &exec);
  check_tail(&p, &exec);
  return 0;
}
