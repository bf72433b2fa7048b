/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of one series against another, equations 5-13. */
#include <math.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/exec.h"
#include "hsa/hsa.h"

/* The radius of DTW is that of the envelope, too. */
static tsanom_dtw_options dtw_options(const tsanom_hsa_options *options) {
  tsanom_dtw_options dtw;
  tsanom_dtw_options_init(&dtw, sizeof dtw);
  dtw.radius = options->radius;
  return dtw;
}

/* The exec of one inner call, with a workspace of its own and no fault. */
static tsanom_exec inner_exec(const tsn_hsa_context *context, void *work,
                              size_t work_bytes) {
  tsanom_exec exec = context->inner;
  exec.work = work;
  exec.work_bytes = work_bytes;
  exec.fault = NULL;
  return exec;
}

tsanom_status tsn_hsa_pair_layout(tsn_arena *arena, const tsn_hsa_context *context,
                                  tsn_hsa_pair_scratch *scratch) {
  const tsanom_hsa_options *options = &context->options;
  tsanom_dtw_options dtw = dtw_options(options);
  tsanom_exec exec = inner_exec(context, NULL, 0);
  tsanom_status status = tsanom_dtw_distance_workspace(options->points, options->points,
                                                       &dtw, &exec, &scratch->dtw_bytes);
  if (status < 0) return status;
  status = tsanom_lbkeogh_envelope_workspace(options->points, options->radius, &exec,
                                             &scratch->envelope_bytes);
  if (status < 0) return status;
  scratch->target = tsn_arena_take(arena, options->points, sizeof(double));
  scratch->reference = tsn_arena_take(arena, options->points, sizeof(double));
  scratch->lower = tsn_arena_take(arena, options->points, sizeof(double));
  scratch->upper = tsn_arena_take(arena, options->points, sizeof(double));
  scratch->dtw = tsn_arena_take(arena, scratch->dtw_bytes, 1);
  scratch->envelope = tsn_arena_take(arena, scratch->envelope_bytes, 1);
  return TSANOM_OK;
}

static void define_if_finite(tsanom_hsa_features *features, int32_t feature,
                             double value) {
  if (isfinite(value)) tsn_hsa_define(features, feature, value);
}

/* What even a series too short for a heart rate has. */
static void define_simple_ratios(const tsn_hsa_digest *c, const tsn_hsa_digest *q,
                                 tsanom_hsa_features *features) {
  define_if_finite(features, TSANOM_HSA_GTR, c->completion / q->completion);
  define_if_finite(features, TSANOM_HSA_BEAT_RATIO, (double)c->beats / (double)q->beats);
  if (c->interval > 0) {
    define_if_finite(features, TSANOM_HSA_INTERVAL_RATIO, c->interval / q->interval);
  }
}

/* Mean of the finite ones among `count` quotients. */
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

static void local_features(const tsn_hsa_digest *c, const tsn_hsa_digest *q,
                           int32_t local_rate, tsanom_hsa_features *features) {
  size_t k = c->windows < q->windows ? c->windows : q->windows;
  define_mean_ratio(features, TSANOM_HSA_LTR, c->time, q->time, k, true);
  if (local_rate == TSANOM_HSA_LOCAL_RATE_LITERAL) {
    define_mean_ratio(features, TSANOM_HSA_LHR, c->rate, q->rate, k, true);
  } else {
    define_mean_ratio(features, TSANOM_HSA_LHR, c->window_rate, q->window_rate, k, false);
  }
}

/* The polynomial of a digest at times, which are overwritten by its values, as
 * multiples of `unit`. */
static tsanom_status evaluate(const tsn_hsa_digest *digest, double unit, size_t points,
                              const tsanom_exec *exec, double *times) {
  tsanom_polyfit_model model;
  tsanom_polyfit_model_init(&model, sizeof model);
  model.degree = (int32_t)digest->degree;
  model.unit = digest->unit;
  model.center = digest->center;
  model.scale = digest->scale;
  memcpy(model.high, digest->coefficient, (digest->degree + 1) * sizeof(double));
  tsanom_status status =
      tsanom_polyfit_evaluate(&model, times, points, exec, times, NULL);
  for (size_t i = 0; status >= 0 && i < points; i++) times[i] /= unit;
  return status;
}

/* Heart rates of both series at the same timestamps, evenly spread from `first` to
 * `last`, as multiples of the geometric mean of their mean rates. */
static tsanom_status align(const tsn_hsa_digest *c, const tsn_hsa_digest *q, double first,
                           double last, size_t points, const tsanom_exec *exec,
                           const tsn_hsa_pair_scratch *scratch) {
  double step = (last - first) / (double)(points - 1);
  for (size_t i = 0; i < points; i++) {
    double time = fmin(first + step * (double)i, last);
    scratch->target[i] = time;
    scratch->reference[i] = time;
  }
  double unit = sqrt(c->mean_rate) * sqrt(q->mean_rate);
  tsanom_status status = evaluate(c, unit, points, exec, scratch->target);
  if (status < 0) return status;
  return evaluate(q, unit, points, exec, scratch->reference);
}

static tsanom_status distance_features(const tsn_hsa_context *context,
                                       const tsn_hsa_pair_scratch *s,
                                       tsanom_hsa_features *features) {
  const tsanom_hsa_options *options = &context->options;
  tsanom_dtw_options dtw = dtw_options(options);
  size_t n = options->points;
  double distance, bound;
  tsanom_exec exec = inner_exec(context, s->dtw, s->dtw_bytes);
  tsanom_status status =
      tsanom_dtw_distance(s->target, n, s->reference, n, &dtw, &exec, &distance);
  if (status < 0) return status;
  exec = inner_exec(context, s->envelope, s->envelope_bytes);
  status = tsanom_lbkeogh_envelope(s->reference, n, options->radius, &exec, s->lower,
                                   s->upper);
  if (status < 0) return status;
  status = tsanom_lbkeogh_bound(s->target, s->lower, s->upper, n, TSANOM_COST_SQUARED,
                                &exec, &bound);
  if (status < 0) return status;
  define_if_finite(features, TSANOM_HSA_DTW, distance / (double)n);
  define_if_finite(features, TSANOM_HSA_LB_KEOGH, bound / (double)n);
  return TSANOM_OK;
}

tsanom_status tsn_hsa_compare_digests(const tsn_hsa_context *context,
                                      const tsn_hsa_digest *target,
                                      const tsn_hsa_digest *reference,
                                      const tsn_hsa_pair_scratch *scratch,
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

double tsn_hsa_scale(int32_t feature, double target_rate, double reference_rate,
                     const tsanom_hsa_options *options) {
  if (options->normalise) return 1;
  double points = (double)options->points;
  if (feature == TSANOM_HSA_DTW) {
    return points * sqrt(target_rate) * sqrt(reference_rate);
  }
  return feature == TSANOM_HSA_LB_KEOGH ? points * target_rate * reference_rate : 1;
}

tsanom_status tsn_hsa_comparer_layout(tsn_arena *arena, const tsn_hsa_context *context,
                                      tsn_hsa_comparer *comparer) {
  tsn_hsa_digest_layout(arena, &context->options, &comparer->target);
  tsanom_status status = tsn_hsa_fit_layout(arena, context, &comparer->fit);
  return status < 0 ? status : tsn_hsa_pair_layout(arena, context, &comparer->pair);
}

tsanom_status tsn_hsa_compare_series(const tsn_hsa_context *context,
                                     const tsanom_hsa_series *series, double start,
                                     const tsn_hsa_windows *windows,
                                     const tsn_hsa_digest *reference,
                                     tsn_hsa_comparer *comparer,
                                     tsanom_hsa_features *features) {
  tsn_hsa_digest *target = &comparer->target;
  if (series->beats <= windows->window) {
    memset(features, 0, sizeof *features);
    target->beats = series->beats;
    target->completion = series->time[series->beats - 1] - start;
    target->interval = tsn_hsa_quartile_interval(series->time, series->beats);
    define_simple_ratios(target, reference, features);
    return TSANOM_OK;
  }
  tsanom_status status =
      tsn_hsa_digest_series(context, series, start, windows, &comparer->fit, target);
  if (status < 0) return status;
  status = tsn_hsa_compare_digests(context, target, reference, &comparer->pair, features);
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    features->value[f] *=
        tsn_hsa_scale(f, target->mean_rate, reference->mean_rate, &context->options);
  }
  return status;
}

/* --- tsanom_hsa_compare() --- */

typedef struct {
  tsn_hsa_digest reference;
  tsn_hsa_comparer comparer;
} buffers;

static tsanom_status layout(tsn_arena *arena, const tsn_hsa_context *context,
                            buffers *b) {
  tsn_hsa_digest_layout(arena, &context->options, &b->reference);
  return tsn_hsa_comparer_layout(arena, context, &b->comparer);
}

tsanom_status tsanom_hsa_compare_workspace(const tsanom_hsa_options *options,
                                           const tsanom_exec *exec, size_t *bytes) {
  tsn_hsa_context context;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsn_hsa_context_read(&context, options, exec)) < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  buffers b;
  if ((status = layout(&arena, &context, &b)) < 0) return status;
  return tsn_arena_bytes(&arena, bytes);
}

static tsanom_status run_compare(const tsn_hsa_context *context,
                                 const tsanom_hsa_run *target,
                                 const tsanom_hsa_run *reference,
                                 const tsn_hsa_windows *windows, buffers *b,
                                 tsanom_hsa_features *features) {
  tsanom_hsa_features result;
  if (tsn_exec_stop(&context->exec, 0, 2)) return TSANOM_STOPPED;
  tsanom_status status =
      tsn_hsa_digest_series(context, reference->threads, reference->start, windows,
                            &b->comparer.fit, &b->reference);
  if (status < 0) return status;
  if (tsn_exec_stop(&context->exec, 1, 2)) return TSANOM_STOPPED;
  status = tsn_hsa_compare_series(context, target->threads, target->start, windows,
                                  &b->reference, &b->comparer, &result);
  if (status >= 0) *features = result;
  return status;
}

tsanom_status tsanom_hsa_compare(const tsanom_hsa_series *target, double target_start,
                                 const tsanom_hsa_series *reference,
                                 double reference_start,
                                 const tsanom_hsa_options *options,
                                 const tsanom_exec *exec, void *work, size_t work_bytes,
                                 tsanom_hsa_features *features) {
  tsn_hsa_context context;
  tsanom_status status;
  if (!target || !reference || !features) return TSANOM_E_NULL;
  if (!target->time || !reference->time) return TSANOM_E_NULL;
  if ((status = tsn_hsa_context_read(&context, options, exec)) < 0) return status;
  tsn_hsa_windows windows = tsn_hsa_choose_windows(reference->beats, &context.options);
  if (target->beats == 0 || reference->beats <= windows.window) return TSANOM_E_COUNT;
  status = tsn_hsa_check_series(target, target_start, windows.window);
  if (status < 0) return status;
  status = tsn_hsa_check_series(reference, reference_start, windows.window);
  if (status < 0) return status;

  tsn_arena measured = tsn_arena_measure();
  buffers b;
  if ((status = layout(&measured, &context, &b)) < 0) return status;
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &context.exec, work, work_bytes);
  if (status < 0) return status;
  status = layout(&workspace.arena, &context, &b);
  if (status >= 0) {
    tsanom_hsa_run target_run = {target, 1, target_start};
    tsanom_hsa_run reference_run = {reference, 1, reference_start};
    status = run_compare(&context, &target_run, &reference_run, &windows, &b, features);
  }
  tsn_workspace_close(&workspace);
  return status;
}
