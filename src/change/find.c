/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a whole series: the noise (series.c), the changes (segments.c), and for each
 * the interval of its place, which are the places whose gain is hardly less, and of its
 * size, by the variance of the mean of autocorrelated samples, v / (1 - phi)^2 / n. */
#include <math.h>

#include "change/change.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"

/* Two-sided 95 % of a normal variable, and a little more: phi and the variance are
 * estimated. */
#define NORMAL_95 2.05

typedef struct {
  tsn_change_series series;
  tsanom_change_options options;
  tsanom_exec exec;
  tsanom_change_point *points;
  size_t capacity, count;
  size_t *wanted; /* the caller's count */
} find_call;

static void layout(tsn_arena *arena, void *context) {
  tsn_change_layout(arena, &((find_call *)context)->series);
}

static double mean_of(const double *y, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; i++) sum += y[i];
  return sum / (double)(end - begin);
}

/* The places from the first to the last whose gain is hardly less than that of the best. */
static void place(const tsn_change_series *s, size_t begin, size_t end, double gain,
                  tsanom_change_point *point) {
  const double *sum = s->sum + begin;
  double n = (double)(end - begin), mean = (sum[end - begin] - sum[0]) / n;
  point->low = point->high = point->at;
  for (size_t k = 1; k < end - begin; k++) {
    if (tsn_change_gain(sum[k] - sum[0], n, mean, (double)k) <
        gain - TSN_CHANGE_PLACE_DROP)
      continue;
    if (begin + k < point->low) point->low = begin + k;
    if (begin + k > point->high) point->high = begin + k;
  }
}

/* Next to a change and an outlier, a sample of the one level may have been taken for an
 * outlier of the other: it belongs to the level that it is nearer to. The level that ends
 * at end keeps its fewest samples. */
static uint64_t corrected(const tsn_change_series *s, uint64_t at, uint64_t end,
                          double before, double after) {
  for (int i = 0; i < TSN_CHANGE_SIDE && at + TSN_CHANGE_SIDE < end; i++, at++) {
    double x = s->x[at] / s->unit - s->middle;
    if (x == s->y[at] || fabs(x - before) >= fabs(x - after)) break;
  }
  return at;
}

/* The change at ends[j], between its neighbors. */
static tsanom_change_point point_of(const tsn_change_series *s, size_t j) {
  size_t begin = tsn_change_begin(s, j - 1), at = s->ends[j], end = s->ends[j + 1];
  size_t best = at;
  tsanom_change_point point = {.at = at};
  double gain = tsn_change_best(s, begin, end, &best);
  place(s, begin, end, gain, &point);
  double before = mean_of(s->y, s->ends[j - 1], at), after = mean_of(s->y, at, end);
  point.at = corrected(s, at, end, before, after);
  if (point.at > point.high) point.high = point.at;
  double error = NORMAL_95 * s->deviation / (1 - s->phi) *
                 sqrt(1 / (double)(at - begin) + 1 / (double)(end - at));
  point.before = (before + s->middle) * s->unit;
  point.after = (after + s->middle) * s->unit;
  point.size = (after - before) * s->unit;
  point.size_low = (after - before - error) * s->unit;
  point.size_high = (after - before + error) * s->unit;
  double scale = 2 * log((double)s->n / (double)(end - begin));
  point.significance = tsn_change_significance(s->n, s->phi, gain - scale);
  return point;
}

static tsanom_status body(void *context) {
  find_call *call = context;
  tsn_change_series *s = &call->series;
  if (s->n < TSN_CHANGE_LEAST || !tsn_change_model(s)) return TSANOM_INFEASIBLE;
  tsn_change_search(s, tsn_change_critical(s->n, s->phi, call->options.level));
  call->count = s->end_count - 2;
  size_t stored = tsn_smaller(call->count, call->capacity);
  for (size_t j = 0; j < stored; j++) call->points[j] = point_of(s, j + 1);
  return stored < call->count ? TSANOM_PARTIAL : TSANOM_OK;
}

static tsanom_status check(void *context) {
  const find_call *call = context;
  const double *x = call->series.x;
  size_t n = call->series.n;
  tsanom_status status = tsn_require_array(&call->exec, x, n, "x");
  if (status == TSANOM_OK && call->capacity) {
    status = tsn_require_array(&call->exec, call->points, call->capacity, "points");
  }
  if (status == TSANOM_OK) status = tsn_require(&call->exec, call->wanted, "count");
  return status < 0 ? status : tsn_change_finite(x, n, "x", &call->exec);
}

tsanom_status tsanom_change_find(const double *x, size_t n,
                                 const tsanom_change_options *options,
                                 const tsanom_exec *exec, tsanom_change_point *points,
                                 size_t capacity, size_t *count) {
  find_call call = {.series = {.x = x, .n = n},
                    .points = points,
                    .capacity = capacity,
                    .wanted = count};
  tsanom_status status = tsn_exec_read(&call.exec, exec);
  if (status < 0) return status;
  status = tsn_change_options_read(&call.options, options, TSN_CHANGE_FIND, &call.exec);
  if (status < 0) return status;
  if ((status = tsn_change_count(n, "n", &call.exec)) < 0) return status;
  call.series.kernels = tsn_change_kernels_at(call.exec.isa);
  status = tsn_workspace_run(&call.exec, layout, check, body, &call);
  if (status >= 0) *count = call.count;
  return status;
}
