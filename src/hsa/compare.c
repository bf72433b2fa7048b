/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of a series C against a reference Q, equations 5-13.
 *
 *     GTR             end of C / end of Q                             eq. 5
 *     LTR             mean over windows of their durations' ratios    eq. 6
 *     GHR             mean rate of C / mean rate of Q                 eq. 7
 *     LHR             mean over windows of their rates' ratios        eq. 8
 *     DTW, LB_Keogh   distances of the aligned rates                  eq. 9-13
 *     beat ratio      beats of C / beats of Q
 *     interval ratio  lower quartile of the intervals of C / of Q
 *
 * Ratios come from the two digests alone. For the distances, both polynomials of rate
 * over time are evaluated at the same `points` timestamps, evenly spaced over the time in
 * which both series have a rate: the alignment of eq. 1-4. No polynomial is evaluated
 * outside the data that it was fitted to. DTW and LB_Keogh then compare these two arrays
 * with the same radius.
 *
 * Rates are divided by the geometric mean of both mean rates before they are compared:
 * the distances have no unit, and half and double speed are equally far from equal.
 * Divided by Q's rate alone, no slow series could be farther than 1 from Q.
 *
 * Two digests are compared in O(max_windows + points·radius), whatever the length of the
 * series.
 *
 * Source: W. Wang and W. Luo, section 3; docs/hsa.md lists the differences from it. */
#include <math.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/size.h"
#include "hsa/hsa.h"

/* The radius of DTW is that of the envelope, too. */
static tsanom_dtw_options dtw_options(const tsanom_hsa_options *options) {
  tsanom_dtw_options dtw;
  tsanom_dtw_options_init(&dtw, sizeof dtw);
  dtw.radius = options->radius;
  return dtw;
}

/* DTW and the envelope run one after the other in the same workspace. */
tsanom_status tsn_hsa_pair_bytes(const tsn_hsa_context *context, size_t *bytes) {
  size_t points = context->options.points, dtw_bytes = 0, envelope_bytes = 0;
  tsanom_dtw_options dtw = dtw_options(&context->options);
  tsanom_exec ask = tsn_exec_asking(&context->inner, &dtw_bytes);
  tsanom_status status =
      tsn_asked(tsanom_dtw_distance(NULL, points, NULL, points, &dtw, &ask, NULL));
  if (status < 0) return status;
  ask.work_needed = &envelope_bytes;
  status = tsn_asked(
      tsanom_lbkeogh_envelope(NULL, points, context->options.radius, &ask, NULL, NULL));
  if (status >= 0) *bytes = tsn_larger(dtw_bytes, envelope_bytes);
  return status;
}

/* A quotient with a denominator of 0 is not defined, rather than infinite: an undefined
 * feature lies in no range. */
static void define_if_finite(tsanom_hsa_features *features, int32_t feature,
                             double value) {
  if (isfinite(value)) tsn_hsa_define(features, feature, value);
}

/* The features that a series has even if it is too short for a heart rate. An interval of
 * 0 in C means a clock too coarse for its beats, not infinite speed. */
static void define_simple_ratios(const tsanom_hsa_reference *c,
                                 const tsanom_hsa_reference *q,
                                 tsanom_hsa_features *features) {
  define_if_finite(features, TSANOM_HSA_GTR, c->completion / q->completion);
  define_if_finite(features, TSANOM_HSA_BEAT_RATIO, (double)c->beats / (double)q->beats);
  if (c->interval > 0) {
    define_if_finite(features, TSANOM_HSA_INTERVAL_RATIO, c->interval / q->interval);
  }
}

/* The mean of those of the `count` quotients that are finite. With `of_differences`,
 * quotients of the differences of neighbors, for which the arrays have count + 1
 * elements. */
static void define_mean_ratio(tsanom_hsa_features *features, int32_t feature,
                              const double *numerator, const double *denominator,
                              size_t count, bool of_differences) {
  double sum = 0;
  size_t used = 0;
  for (size_t j = 0; j < count; j++) {
    double above = numerator[j], below = denominator[j];
    if (of_differences) {
      above = numerator[j + 1] - above;
      below = denominator[j + 1] - below;
    }
    if (!isfinite(above / below)) continue;
    sum += above / below;
    used++;
  }
  if (used > 0) define_if_finite(features, feature, sum / (double)used);
}

/* Windows that both series fill, in order from the start: the j-th window of C against
 * that of Q. The literal form of eq. 8 divides differences of rates, which are 0 for a
 * steady program; the default divides the mean rates of the windows. */
static void local_features(const tsanom_hsa_reference *c, const tsanom_hsa_reference *q,
                           int32_t local_rate, tsanom_hsa_features *features) {
  size_t k = c->windows < q->windows ? c->windows : q->windows;
  define_mean_ratio(features, TSANOM_HSA_LTR, c->time, q->time, k, true);
  if (local_rate == TSANOM_HSA_LOCAL_RATE_LITERAL) {
    define_mean_ratio(features, TSANOM_HSA_LHR, c->rate, q->rate, k, true);
  } else {
    define_mean_ratio(features, TSANOM_HSA_LHR, c->window_rate, q->window_rate, k, false);
  }
}

/* Replace times by the values of a digest's polynomial there, in multiples of `unit`. */
static tsanom_status evaluate(const tsanom_hsa_reference *digest, double unit,
                              size_t points, const tsanom_exec *exec,
                              tsanom_polyfit_model *model, double *times) {
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  model->degree = (int32_t)digest->degree;
  model->unit = digest->unit;
  model->center = digest->center;
  model->scale = digest->scale;
  memcpy(model->high, digest->coefficient, (digest->degree + 1) * sizeof(double));
  tsanom_status status = tsanom_polyfit_evaluate(model, times, points, exec, times, NULL);
  for (size_t i = 0; status >= 0 && i < points; i++) times[i] /= unit;
  return status;
}

/* Heart rates of both series at the same timestamps, evenly spaced from `first` to
 * `last`, in multiples of the geometric mean of their mean rates. */
static tsanom_status align(const tsanom_hsa_reference *c, const tsanom_hsa_reference *q,
                           double first, double last, size_t points,
                           const tsanom_exec *exec, const tsn_hsa_scratch *scratch) {
  double step = (last - first) / (double)(points - 1);
  for (size_t i = 0; i < points; i++) {
    double time = fmin(first + step * (double)i, last);
    scratch->target[i] = time;
    scratch->reference[i] = time;
  }
  double unit = sqrt(c->mean_rate) * sqrt(q->mean_rate);
  tsanom_status status = evaluate(c, unit, points, exec, scratch->model, scratch->target);
  if (status < 0) return status;
  return evaluate(q, unit, points, exec, scratch->model, scratch->reference);
}

/* The envelope is that of the reference, and the target is bounded against it (eq.
 * 11-13). Both distances are divided by the number of points, so that they do not grow
 * with it. */
static tsanom_status distance_features(const tsn_hsa_context *context,
                                       const tsn_hsa_scratch *s,
                                       tsanom_hsa_features *features) {
  const tsanom_hsa_options *options = &context->options;
  const tsanom_exec *exec = &context->inner;
  tsanom_dtw_options dtw = dtw_options(options);
  size_t n = options->points;
  double distance, bound;
  tsanom_status status =
      tsanom_dtw_distance(s->target, n, s->reference, n, &dtw, exec, &distance);
  if (status < 0) return status;
  status =
      tsanom_lbkeogh_envelope(s->reference, n, options->radius, exec, s->lower, s->upper);
  if (status < 0) return status;
  status = tsanom_lbkeogh_bound(s->target, s->lower, s->upper, n, TSANOM_COST_SQUARED,
                                exec, &bound);
  if (status < 0) return status;
  define_if_finite(features, TSANOM_HSA_DTW, distance / (double)n);
  define_if_finite(features, TSANOM_HSA_LB_KEOGH, bound / (double)n);
  return TSANOM_OK;
}

/* The distances are undefined if the series have no common time with a rate: one ended
 * before the other had beaten for a window. */
tsanom_status tsn_hsa_compare_digests(const tsn_hsa_context *context,
                                      const tsanom_hsa_reference *target,
                                      const tsanom_hsa_reference *reference,
                                      const tsn_hsa_scratch *scratch,
                                      tsanom_hsa_features *features) {
  memset(features, 0, sizeof *features);
  define_simple_ratios(target, reference, features);
  define_if_finite(features, TSANOM_HSA_GHR, target->mean_rate / reference->mean_rate);
  local_features(target, reference, context->options.local_rate, features);
  double first = fmax(target->domain[0], reference->domain[0]);
  double last = fmin(target->domain[1], reference->domain[1]);
  if (first > last) return TSANOM_OK; /* no time at which both have a heart rate */
  tsanom_status status = align(target, reference, first, last, context->options.points,
                               &context->inner, scratch);
  return status < 0 ? status : distance_features(context, scratch, features);
}

/* A series of no more beats than a window has no rate, and needs no digest: its simple
 * ratios are computed from end, count and intervals. */
tsanom_status tsn_hsa_compare_series(const tsn_hsa_context *context,
                                     const tsanom_hsa_series *series, double start,
                                     const tsanom_hsa_reference *reference,
                                     const tsn_hsa_scratch *scratch,
                                     tsn_hsa_digest *digest,
                                     tsanom_hsa_features *features) {
  tsn_hsa_windows windows = {reference->window, reference->local_window};
  tsanom_hsa_reference *target = &digest->content;
  if (series->beats <= windows.window) {
    memset(features, 0, sizeof *features);
    target->beats = series->beats;
    target->completion = series->time[series->beats - 1] - start;
    target->interval = tsn_hsa_quartile_interval(series->time, series->beats);
    define_simple_ratios(target, reference, features);
    return TSANOM_OK;
  }
  tsanom_status status =
      tsn_hsa_digest_series(context, series, start, &windows, scratch, digest);
  if (status < 0) return status;
  return tsn_hsa_compare_digests(context, target, reference, scratch, features);
}
