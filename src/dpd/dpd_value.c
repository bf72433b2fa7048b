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
  size_t phase;      /* samples since a period started */
  uint64_t held;     /* predictions in a row that held */
  uint64_t locked;   /* count at the sample that found the period */
  uint64_t unlocked; /* count at the last sample that had a period */
  uint64_t constant; /* samples in a row that were equal */
};

enum {
  WINDOW_MAX = 1 << 20,
  /* The window of `adapt`. Shorter ones take noise for a period. */
  ADAPTED_PERIODS = 4,
  ADAPTED_LEAST = 32,
  UNDECIDED = -1
};

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
                  isfinite(own->scale) && own->depth > 0 && own->depth < 1 &&
                  (own->adapt == 0 || own->adapt == 1) && own->reserved0 == 0;
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
  tsn_sums_start(&made->sums, tsn_dpd_slide_kernels_at(own_exec.isa), own.window,
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
static size_t first_valley(const tsn_sums *sums, double threshold) {
  size_t m = 1, lags = tsn_sums_complete(sums);
  while (m <= lags && tsn_sums_slid(sums, m) <= threshold) m++;
  while (m <= lags && tsn_sums_slid(sums, m) > threshold) m++;
  size_t lowest = m <= lags ? m : 0;
  for (; m <= lags && tsn_sums_slid(sums, m) <= threshold; m++) {
    if (tsn_sums_slid(sums, m) < tsn_sums_slid(sums, lowest)) lowest = m;
  }
  return m <= lags || lags == sums->max_period ? lowest : 0;
}

/* A period shows where the deepest minimum reaches this. */
static double deep_enough(const tsanom_dpd_value *d, double mean) {
  return (1 - d->options.depth) * mean;
}

/* Rounding included, it grows with both. */
static double valley_threshold(double least, double mean) {
  return least * 0.75 + mean * 0.25;
}

/* Samples since all delays see nothing but one value. */
static bool is_constant(const tsanom_dpd_value *d) {
  return d->constant >= d->sums.window + d->sums.max_period;
}

/* The period that stays, or 0: what can be said without searching the curve. While the
 * sums are behind only their lower bound is known, and the sum at the period, which the
 * least cannot exceed; UNDECIDED where that does not do. */
static size_t period_unsearched(const tsanom_dpd_value *d) {
  const tsn_sums *sums = &d->sums;
  double deep = deep_enough(d, sums->mean), at = sums->followed_sum;
  if (!(sums->least <= deep)) return 0;
  if (!sums->followed || (sums->behind && at > deep)) return (size_t)UNDECIDED;
  bool stays = at <= valley_threshold(sums->least, sums->mean);
  return stays ? sums->followed : (size_t)UNDECIDED;
}

static size_t choose_period(tsanom_dpd_value *d) {
  tsn_sums *sums = &d->sums;
  if (is_constant(d)) return 1;
  size_t period = period_unsearched(d);
  if (period == (size_t)UNDECIDED && sums->behind) {
    tsn_sums_catch_up(sums);
    period = period_unsearched(d);
  }
  if (period != (size_t)UNDECIDED) return period;
  return first_valley(sums, valley_threshold(sums->least, sums->mean));
}

/* Whether the sample that came `back` before the newest was as its period predicts:
 * off by no more than d(m) may be at a period. */
static bool was_predicted(const tsanom_dpd_value *d, size_t back) {
  double error =
      tsn_sums_sample(&d->sums, back) - tsn_sums_sample(&d->sums, back + d->period);
  return fabs(error) * d->sums.weight <= deep_enough(d, d->sums.mean);
}

/* Of the samples of the window. */
static uint64_t predictions_held(const tsanom_dpd_value *d) {
  size_t held = 0;
  while (held < d->sums.window && was_predicted(d, held)) held++;
  return held;
}

/* Take down the period of the newest sample. */
static void follow(tsanom_dpd_value *d, size_t period) {
  if (period != d->period) {
    d->period = period;
    d->phase = 0;
    d->locked = d->sums.count;
    d->held = period ? predictions_held(d) : 0;
    tsn_sums_follow(&d->sums, period);
  } else if (period) {
    d->phase = d->phase + 1 == period ? 0 : d->phase + 1;
    d->held = was_predicted(d, 0) ? d->held + 1 : 0;
  }
  if (period) d->unlocked = d->sums.count;
}

static void change_window(tsanom_dpd_value *d, size_t window) {
  size_t max_period = d->options.max_period;
  tsn_sums_start(&d->sums, d->sums.kernels, window,
                 max_period < window ? max_period : window);
}

/* The window of `adapt`: a few periods once one has held for the full window, the full
 * one again when nothing has been found for twice as long. Looked at where the sums have
 * been slid. */
static void adapt_window(tsanom_dpd_value *d) {
  size_t full = d->options.window, window = d->sums.window;
  uint64_t count = d->sums.count;
  if (d->period) {
    size_t wanted = ADAPTED_PERIODS * d->period;
    if (wanted < ADAPTED_LEAST) wanted = ADAPTED_LEAST;
    if (wanted < window && count - d->locked >= full) change_window(d, wanted);
  } else if (window < full && count - d->unlocked >= 2 * full) {
    d->unlocked = count;
    change_window(d, full);
  }
}

static double depth_at_period(const tsanom_dpd_value *d) {
  if (d->sums.mean <= 0) return 1;
  double depth = 1 - d->sums.followed_sum / d->sums.mean;
  return depth < 0 ? 0 : depth < 1 ? depth : 1;
}

static void fill_report(const tsanom_dpd_value *d, size_t before,
                        tsanom_dpd_report *report) {
  *report = (tsanom_dpd_report){.period = d->period};
  if (d->period) {
    report->start = d->phase == 0;
    report->confidence = depth_at_period(d);
    report->horizon = d->held;
  }
  if (d->period != before) {
    report->change = d->period ? TSANOM_DPD_LOCKED : TSANOM_DPD_LOST;
  }
}

static tsanom_status push(tsanom_dpd_value *d, double sample, tsanom_dpd_report *report) {
  bool repeated = tsn_sums_sample(&d->sums, 0) == sample;
  tsanom_status status = tsn_sums_push(&d->sums, sample);
  if (status < 0) return status;
  d->constant = repeated ? d->constant + 1 : 1;
  if (d->constant == d->sums.window + d->sums.max_period) tsn_sums_zero(&d->sums);
  size_t before = d->period;
  follow(d, choose_period(d));
  if (report) fill_report(d, before, report);
  if (d->sums.count % TSN_DPD_BLOCK == 0) {
    tsn_sums_settle(&d->sums);
    if (d->options.adapt) adapt_window(d);
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_push(tsanom_dpd_value *detector, double sample,
                                    tsanom_dpd_report *report) {
  return detector ? push(detector, sample, report) : TSANOM_E_NULL;
}

tsanom_status tsanom_dpd_value_push_many(tsanom_dpd_value *detector,
                                         const double *samples, size_t count,
                                         size_t *periods, int32_t *starts, size_t *done) {
  if (!detector || (!samples && count)) return TSANOM_E_NULL;
  tsanom_status status = TSANOM_OK;
  size_t i = 0;
  for (; i < count; i++) {
    if ((status = push(detector, samples[i], NULL)) < 0) break;
    if (periods) periods[i] = detector->period;
    if (starts) starts[i] = detector->period && detector->phase == 0;
  }
  if (done) *done = i;
  return status;
}

tsanom_status tsanom_dpd_value_resize(tsanom_dpd_value *detector, size_t window) {
  if (!detector) return TSANOM_E_NULL;
  if (window < 1 || window > detector->options.window) return TSANOM_E_OPTION;
  change_window(detector, window);
  return TSANOM_OK;
}

size_t tsanom_dpd_value_window(const tsanom_dpd_value *detector) {
  return detector ? detector->sums.window : 0;
}

tsanom_status tsanom_dpd_value_distances(const tsanom_dpd_value *detector,
                                         double *distances, size_t capacity,
                                         size_t *count) {
  if (!detector || !count || (!distances && capacity)) return TSANOM_E_NULL;
  const tsn_sums *sums = &detector->sums;
  size_t lags = tsn_sums_complete(sums);
  for (size_t m = 1; m <= lags && m <= capacity; m++) {
    double sum = tsn_sums_at(sums, m);
    distances[m - 1] = (sum > 0 ? sum : 0) / sums->weight;
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
