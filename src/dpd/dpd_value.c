/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector of the period of a stream of values: options, memory, the public
 * calls. The sums are in dpd_sums.c, the choice of the period is here. */
#include <tsanom/dpd.h>

#include <math.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "dpd/dpd_object.h"
#include "dpd/dpd_sums.h"

struct tsanom_dpd_value {
  tsn_object owner;
  tsanom_dpd_value_options options; /* as made: the largest window */
  tsn_sums sums;
  size_t period;
  uint64_t locked;   /* count at the sample that found the period */
  uint64_t constant; /* samples in a row that were equal */
};

enum { WINDOW_MAX = 1 << 20 };

static const tsanom_dpd_value_options defaults = {
    .struct_size = sizeof defaults, .window = 100, .depth = 0.5};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dpd_value_options),
                                           .first_size = sizeof(tsanom_dpd_value_options),
                                           .defaults = &defaults};

tsanom_status tsanom_dpd_value_options_init(tsanom_dpd_value_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_dpd_value_options *own,
                                  const tsanom_dpd_value_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool in_range = own->window >= 1 && own->window <= WINDOW_MAX &&
                  own->max_period <= own->window && own->scale >= 0 &&
                  isfinite(own->scale) && own->depth > 0 && own->depth < 1;
  if (!in_range) return TSANOM_E_OPTION;
  if (own->max_period == 0) own->max_period = own->window;
  return TSANOM_OK;
}

static tsanom_dpd_value *layout(tsn_arena *arena, const tsanom_dpd_value_options *options,
                                tsn_sums *sums) {
  tsanom_dpd_value *detector = tsn_arena_take(arena, 1, sizeof *detector);
  tsn_sums_layout(arena, options->window, options->max_period, options->scale, sums);
  return detector;
}

static tsanom_status measure(const tsanom_dpd_value_options *options,
                             tsanom_dpd_value_options *own, tsn_arena *measured) {
  tsanom_status status = read_options(own, options);
  if (status < 0) return status;
  *measured = tsn_arena_measure();
  tsn_sums sums;
  layout(measured, own, &sums);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_size(const tsanom_dpd_value_options *options,
                                    size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_dpd_value_options own;
  tsn_arena measured;
  tsanom_status status = measure(options, &own, &measured);
  return status < 0 ? status : tsn_arena_bytes(&measured, bytes);
}

tsanom_status tsanom_dpd_value_init(const tsanom_dpd_value_options *options,
                                    const tsanom_exec *exec, void *memory, size_t bytes,
                                    tsanom_dpd_value **detector) {
  if (!detector) return TSANOM_E_NULL;
  tsanom_dpd_value_options own;
  tsanom_exec own_exec;
  tsn_arena measured, arena;
  tsanom_status status = measure(options, &own, &measured);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if ((status = tsn_object_arena(&measured, memory, bytes, &arena)) < 0) return status;
  tsn_sums sums;
  tsanom_dpd_value *made = layout(&arena, &own, &sums);
  *made = (tsanom_dpd_value){.options = own, .sums = sums};
  tsn_sums_start(&made->sums, tsn_dpd_kernels_at(own_exec.isa), own.window,
                 own.max_period);
  *detector = made;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_create(const tsanom_dpd_value_options *options,
                                      const tsanom_exec *exec,
                                      tsanom_dpd_value **detector) {
  if (!detector) return TSANOM_E_NULL;
  size_t bytes;
  tsn_object owner;
  tsanom_dpd_value *made;
  tsanom_status status = tsanom_dpd_value_size(options, &bytes);
  if (status < 0) return status;
  if ((status = tsn_object_allocate(exec, bytes, &owner)) < 0) return status;
  status = tsanom_dpd_value_init(options, exec, owner.block, bytes, &made);
  if (status < 0) {
    tsn_object_release(&owner);
    return status;
  }
  made->owner = owner;
  *detector = made;
  return TSANOM_OK;
}

void tsanom_dpd_value_destroy(tsanom_dpd_value *detector) {
  if (detector) tsn_object_release(&detector->owner);
}

/* The lowest point of the first valley; 0 where there is none, or where delays
 * that are not complete yet may belong to it. The absolute threshold that picks the
 * first of equally deep minima is that of the YIN pitch detector (A. de
 * Cheveigne and H. Kawahara, J. Acoust. Soc. Am. 111 (2002) 1917-1930). */
static size_t first_valley(const tsn_sums *sums, size_t lags, double threshold) {
  size_t m = 1;
  while (m <= lags && tsn_sums_at(sums, m) <= threshold) m++;
  while (m <= lags && tsn_sums_at(sums, m) > threshold) m++;
  size_t lowest = m <= lags ? m : 0;
  for (; m <= lags && tsn_sums_at(sums, m) <= threshold; m++) {
    if (tsn_sums_at(sums, m) < tsn_sums_at(sums, lowest)) lowest = m;
  }
  return m <= lags || lags == sums->max_period ? lowest : 0;
}

static size_t choose_period(const tsanom_dpd_value *d, size_t lags,
                            tsn_dpd_extent extent) {
  if (d->constant >= d->sums.window + d->sums.max_period) return 1;
  double mean = extent.total / (double)lags;
  if (!(extent.least <= (1 - d->options.depth) * mean)) return 0;
  double threshold = extent.least + (mean - extent.least) / 4;
  if (d->period && d->period <= lags && tsn_sums_at(&d->sums, d->period) <= threshold) {
    return d->period;
  }
  return first_valley(&d->sums, lags, threshold);
}

static double depth_at(const tsanom_dpd_value *d, size_t lags, tsn_dpd_extent extent) {
  if (extent.total <= 0) return 1;
  double depth = 1 - tsn_sums_at(&d->sums, d->period) * (double)lags / extent.total;
  return depth < 1 ? depth : 1;
}

tsanom_status tsanom_dpd_value_push(tsanom_dpd_value *detector, double sample,
                                    tsanom_dpd_report *report) {
  if (!detector) return TSANOM_E_NULL;
  tsn_sums *sums = &detector->sums;
  tsn_dpd_extent extent;
  bool repeated = sums->count && tsn_sums_sample(sums, 0) == sample;
  tsanom_status status = tsn_sums_push(sums, sample, &extent);
  if (status < 0) return status;
  detector->constant = repeated ? detector->constant + 1 : 1;
  if (detector->constant == sums->window + sums->max_period) tsn_sums_clear(sums);

  size_t before = detector->period, lags = tsn_sums_complete(sums);
  detector->period = lags ? choose_period(detector, lags, extent) : 0;
  if (detector->period != before) detector->locked = sums->count;
  if (!report) return TSANOM_OK;
  *report = (tsanom_dpd_report){.period = detector->period};
  if (detector->period) {
    uint64_t since = sums->count - detector->locked;
    report->start = since % detector->period == 0;
    report->confidence = depth_at(detector, lags, extent);
    report->horizon = since + 1;
  }
  if (detector->period != before) {
    report->change = detector->period ? TSANOM_DPD_LOCKED : TSANOM_DPD_LOST;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_push_many(tsanom_dpd_value *detector,
                                         const double *samples, size_t count,
                                         size_t *periods, int32_t *starts, size_t *done) {
  if (!detector || (!samples && count)) return TSANOM_E_NULL;
  tsanom_status status = TSANOM_OK;
  size_t i = 0;
  for (; i < count; i++) {
    tsanom_dpd_report report;
    if ((status = tsanom_dpd_value_push(detector, samples[i], &report)) < 0) break;
    if (periods) periods[i] = report.period;
    if (starts) starts[i] = report.start;
  }
  if (done) *done = i;
  return status;
}

tsanom_status tsanom_dpd_value_resize(tsanom_dpd_value *detector, size_t window) {
  if (!detector) return TSANOM_E_NULL;
  if (window < 1 || window > detector->options.window) return TSANOM_E_OPTION;
  size_t max_period = detector->options.max_period;
  tsn_sums_start(&detector->sums, detector->sums.kernels, window,
                 max_period < window ? max_period : window);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_distances(const tsanom_dpd_value *detector,
                                         double *distances, size_t capacity,
                                         size_t *count) {
  if (!detector || !count || (!distances && capacity)) return TSANOM_E_NULL;
  const tsn_sums *sums = &detector->sums;
  size_t lags = tsn_sums_complete(sums);
  for (size_t m = 1; m <= lags && m <= capacity; m++) {
    double sum = tsn_sums_at(sums, m);
    distances[m - 1] = (sum > 0 ? sum : 0) / ((double)sums->window * sums->unit);
  }
  *count = lags;
  return lags > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_dpd_value_predict(const tsanom_dpd_value *detector, double *samples,
                                       size_t count) {
  if (!detector || !samples) return TSANOM_E_NULL;
  size_t period = detector->period;
  if (!period) return TSANOM_INFEASIBLE;
  for (size_t i = 0; i < count; i++) {
    samples[i] = tsn_sums_sample(&detector->sums, period - 1 - i % period);
  }
  return TSANOM_OK;
}
