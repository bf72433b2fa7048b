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

/* A period shows where the deepest minimum reaches this. */
static double deep_enough(const tsanom_dpd_value *d, double mean) {
  return (1 - d->options.depth) * mean;
}

static double valley_threshold(double least, double mean) {
  return least + (mean - least) / 4;
}

/* Samples since all delays see nothing but one value. */
static bool is_constant(const tsanom_dpd_value *d, uint64_t equal) {
  return equal >= d->sums.window + d->sums.max_period;
}

/* The period that stays, or 0: what can be said of a sample without searching the
 * curve; UNDECIDED where it is to be searched. `before` is the period before the
 * sample, `at` the sum at it. */
static size_t period_unsearched(const tsanom_dpd_value *d, size_t before, double at,
                                double least, double mean) {
  if (is_constant(d, d->constant)) return 1;
  if (!(least <= deep_enough(d, mean))) return 0;
  bool stays = before && at <= valley_threshold(least, mean);
  return stays ? before : (size_t)UNDECIDED;
}

static size_t choose_period(const tsanom_dpd_value *d, double least) {
  size_t lags = tsn_sums_complete(&d->sums), before = d->period;
  double mean = d->sums.mean;
  if (lags == 0) return 0;
  if (before > lags) before = 0;
  double at = before ? tsn_sums_at(&d->sums, before) : 0;
  size_t period = period_unsearched(d, before, at, least, mean);
  if (period != (size_t)UNDECIDED) return period;
  return first_valley(&d->sums, lags, valley_threshold(least, mean));
}

/* Whether the sample that came `back` before the newest was as its period predicts:
 * off by no more than d(m) may be at a period. */
static bool was_predicted(const tsanom_dpd_value *d, size_t period, size_t back) {
  double error =
      tsn_sums_sample(&d->sums, back) - tsn_sums_sample(&d->sums, back + period);
  double window = (double)d->sums.window * d->sums.unit;
  return fabs(error) * window <= deep_enough(d, d->sums.mean);
}

/* Of the samples of the window. */
static uint64_t predictions_held(const tsanom_dpd_value *d, size_t period) {
  size_t held = 0;
  while (held < d->sums.window && was_predicted(d, period, held)) held++;
  return held;
}

/* Take down the period of the sample that came `back` before the newest. A new one is
 * only found at the newest. */
static void follow(tsanom_dpd_value *d, size_t period, size_t back) {
  uint64_t number = d->sums.count - back;
  if (period != d->period) {
    d->period = period;
    d->phase = 0;
    d->locked = number;
    d->held = period ? predictions_held(d, period) : 0;
  } else if (period) {
    d->phase = d->phase + 1 == period ? 0 : d->phase + 1;
    d->held = was_predicted(d, period, back) ? d->held + 1 : 0;
  }
  if (period) d->unlocked = number;
}

static void change_window(tsanom_dpd_value *d, size_t window) {
  size_t max_period = d->options.max_period;
  tsn_sums_start(&d->sums, d->sums.kernels, window,
                 max_period < window ? max_period : window);
}

/* The window of `adapt`: a few periods once one has held for the full window, the full
 * one again when nothing has been found for twice as long. Looked at after every
 * block, so that single samples and blocks agree. */
static void adapt_window(tsanom_dpd_value *d) {
  size_t full = d->options.window, window = d->sums.window;
  uint64_t count = d->sums.count;
  if (count % TSN_DPD_BLOCK != 0) return;
  if (d->period) {
    size_t wanted = ADAPTED_PERIODS * d->period;
    if (wanted < ADAPTED_LEAST) wanted = ADAPTED_LEAST;
    if (wanted < window && count - d->locked >= full) change_window(d, wanted);
  } else if (window < full && count - d->unlocked >= 2 * full) {
    d->unlocked = count;
    change_window(d, full);
  }
}

static void settle(tsanom_dpd_value *d) {
  tsn_sums_settle(&d->sums);
  if (d->options.adapt) adapt_window(d);
}

static double depth_at_period(const tsanom_dpd_value *d) {
  if (d->sums.mean <= 0) return 1;
  double depth = 1 - tsn_sums_at(&d->sums, d->period) / d->sums.mean;
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
  double least;
  bool repeated = d->sums.count && tsn_sums_sample(&d->sums, 0) == sample;
  tsanom_status status = tsn_sums_push(&d->sums, sample, &least);
  if (status < 0) return status;
  d->constant = repeated ? d->constant + 1 : 1;
  if (d->constant == d->sums.window + d->sums.max_period) tsn_sums_zero(&d->sums);
  size_t before = d->period;
  follow(d, choose_period(d, least), 0);
  if (report) fill_report(d, before, report);
  settle(d);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_push(tsanom_dpd_value *detector, double sample,
                                    tsanom_dpd_report *report) {
  return detector ? push(detector, sample, report) : TSANOM_E_NULL;
}

/* Where the period goes on after each sample. */
typedef struct {
  size_t *period;
  int32_t *start;
} tracks;

static void note(const tsanom_dpd_value *d, const tracks *to, size_t at) {
  if (to->period) to->period[at] = d->period;
  if (to->start) to->start[at] = d->period && d->phase == 0;
}

/* A block whose curve is to be searched after one of its samples is dropped: the curve
 * is only there after the last. */
static bool push_block(tsanom_dpd_value *d, const double *samples, const tracks *to,
                       size_t at) {
  if (is_constant(d, d->constant + TSN_DPD_BLOCK)) return false;
  tsn_block block;
  double last = tsn_sums_sample(&d->sums, 0);
  if (!tsn_sums_try_block(&d->sums, samples, d->period, &block)) return false;
  size_t period[TSN_DPD_BLOCK], before = d->period;
  for (size_t k = 0; k < TSN_DPD_BLOCK; k++) {
    double mean = k + 1 < TSN_DPD_BLOCK ? d->sums.mean : block.mean;
    before = period[k] = period_unsearched(d, before, block.at[k], block.least[k], mean);
    if (before == (size_t)UNDECIDED) {
      tsn_sums_drop_block(&d->sums);
      return false;
    }
  }
  for (size_t k = 0; k < TSN_DPD_BLOCK; k++) {
    if (k + 1 == TSN_DPD_BLOCK) tsn_sums_take_block(&d->sums, &block);
    d->constant = samples[k] == (k ? samples[k - 1] : last) ? d->constant + 1 : 1;
    follow(d, period[k], TSN_DPD_BLOCK - 1 - k);
    note(d, to, at + k);
  }
  settle(d);
  return true;
}

tsanom_status tsanom_dpd_value_push_many(tsanom_dpd_value *detector,
                                         const double *samples, size_t count,
                                         size_t *periods, int32_t *starts, size_t *done) {
  if (!detector || (!samples && count)) return TSANOM_E_NULL;
  tsanom_status status = TSANOM_OK;
  tracks to;
  to.period = periods;
  to.start = starts;
  size_t i = 0;
  while (i < count) {
    if (count - i >= TSN_DPD_BLOCK && push_block(detector, samples + i, &to, i)) {
      i += TSN_DPD_BLOCK;
      continue;
    }
    if ((status = push(detector, samples[i], NULL)) < 0) break;
    note(detector, &to, i++);
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
