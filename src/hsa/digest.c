/* SPDX-License-Identifier: BSD-3-Clause */
/* A series of any length, digested into what its features need: a bounded number
 * of windows, and the polynomial of its heart rate. */
#include <math.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/check.h"
#include "hsa/hsa.h"

/* A polynomial of a low degree is as well determined by this many rates as by
 * millions of them, whose windows overlap anyway. */
enum { MOST_FITTED = 4096 };

/* A series has this many windows unless options say otherwise. */
enum { AUTOMATIC_WINDOWS = 100 };

static size_t divide_up(size_t a, size_t b) {
  return a / b + (a % b != 0);
}

tsn_hsa_windows tsn_hsa_choose_windows(size_t beats, const tsanom_hsa_options *options) {
  tsn_hsa_windows w = {.window = options->window};
  if (w.window == 0) w.window = beats ? divide_up(beats, AUTOMATIC_WINDOWS) : 1;
  size_t windows = beats > w.window ? (beats - 1) / w.window : 1;
  w.local_window = w.window * (windows / (options->max_windows + 1) + 1);
  return w;
}

tsanom_status tsn_hsa_check_series(const tsanom_hsa_series *series, double start,
                                   size_t window) {
  const double *time = series->time;
  if (!isfinite(start)) return TSANOM_E_NONFINITE;
  if (series->beats == 0) return TSANOM_OK;
  if (!time) return TSANOM_E_NULL;
  if (!tsn_all_finite(time, series->beats)) return TSANOM_E_NONFINITE;
  if (time[0] < start) return TSANOM_E_ORDER;
  for (size_t i = 1; i < series->beats; i++) {
    if (time[i] < time[i - 1]) return TSANOM_E_ORDER;
  }
  for (size_t i = window; i < series->beats; i++) {
    if (!isfinite((double)window / (time[i] - time[i - window]))) return TSANOM_E_VALUE;
  }
  return TSANOM_OK;
}

void tsn_hsa_digest_layout(tsn_arena *arena, const tsanom_hsa_options *options,
                           tsn_hsa_digest *digest) {
  size_t windows = options->max_windows, marks = windows + 1;
  digest->time = tsn_arena_take(arena, marks, sizeof(double));
  digest->rate = tsn_arena_take(arena, marks, sizeof(double));
  digest->window_rate = tsn_arena_take(arena, windows, sizeof(double));
  digest->coefficient = tsn_arena_take(arena, options->max_degree + 1, sizeof(double));
}

static void fit_options(const tsanom_hsa_options *options, tsanom_polyfit_options *fit) {
  tsanom_polyfit_options_init(fit, sizeof *fit);
  fit->degree = (int32_t)options->max_degree;
  fit->selection = TSANOM_POLYFIT_R2;
  fit->r2 = options->r2;
  fit->refine = 0;
}

tsanom_status tsn_hsa_fit_layout(tsn_arena *arena, const tsn_hsa_context *context,
                                 tsn_hsa_fit_scratch *scratch) {
  tsanom_polyfit_options fit;
  fit_options(&context->options, &fit);
  tsanom_status status = tsanom_polyfit_fit_workspace(MOST_FITTED, &fit, &context->inner,
                                                      &scratch->fit_bytes);
  if (status < 0) return status;
  scratch->x = tsn_arena_take(arena, MOST_FITTED, sizeof(double));
  scratch->y = tsn_arena_take(arena, MOST_FITTED, sizeof(double));
  scratch->fit = tsn_arena_take(arena, scratch->fit_bytes, 1);
  return TSANOM_OK;
}

static double rate_at(const tsanom_hsa_series *series, size_t window, size_t beat) {
  return (double)window / (series->time[beat] - series->time[beat - window]);
}

/* Times and rates at the beats 0, w, 2w, ... and the mean rates between them. */
static void digest_windows(const tsanom_hsa_series *series, double start,
                           const tsn_hsa_windows *windows, size_t max_windows,
                           tsn_hsa_digest *digest) {
  size_t w = windows->window, length = windows->local_window;
  size_t full = (series->beats - 1) / length;
  digest->windows = full < max_windows ? full : max_windows;
  digest->time[0] = series->time[0] - start;
  digest->rate[0] = rate_at(series, w, w);
  for (size_t j = 0; j < digest->windows; j++) {
    size_t first = j * length + 1, last = (j + 1) * length;
    if (first < w) first = w;
    double sum = 0;
    for (size_t i = first; i <= last; i++) sum += rate_at(series, w, i);
    digest->window_rate[j] = sum / (double)(last - first + 1);
    digest->time[j + 1] = series->time[last] - start;
    digest->rate[j + 1] = rate_at(series, w, last);
  }
}

static double mean_rate(const tsanom_hsa_series *series, size_t window) {
  double sum = 0;
  for (size_t i = window; i < series->beats; i++) sum += rate_at(series, window, i);
  return sum / (double)(series->beats - window);
}

/* The regression of eq. 1-3 through at most MOST_FITTED rates, evenly spread over
 * the series. */
static tsanom_status fit_rates(const tsn_hsa_context *context,
                               const tsanom_hsa_series *series, double start,
                               size_t window, const tsn_hsa_fit_scratch *scratch,
                               tsn_hsa_digest *digest) {
  tsanom_polyfit_options fit;
  tsanom_polyfit_model model;
  fit_options(&context->options, &fit);
  tsanom_polyfit_model_init(&model, sizeof model);
  size_t rates = series->beats - window;
  size_t step = divide_up(rates, MOST_FITTED), count = 0;
  for (size_t i = window; i < series->beats; i += step) {
    scratch->x[count] = series->time[i] - start;
    scratch->y[count++] = rate_at(series, window, i);
  }
  tsanom_exec exec = context->inner;
  exec.work = scratch->fit;
  exec.work_bytes = scratch->fit_bytes;
  tsanom_status status =
      tsanom_polyfit_fit(scratch->x, scratch->y, NULL, count, &fit, &exec, &model);
  if (status < 0) return status;
  digest->degree = (size_t)model.degree;
  digest->unit = model.unit;
  digest->center = model.center;
  digest->scale = model.scale;
  digest->r2 = model.r2;
  memcpy(digest->coefficient, model.high, (digest->degree + 1) * sizeof(double));
  return TSANOM_OK;
}

tsanom_status tsn_hsa_digest_series(const tsn_hsa_context *context,
                                    const tsanom_hsa_series *series, double start,
                                    const tsn_hsa_windows *windows,
                                    const tsn_hsa_fit_scratch *scratch,
                                    tsn_hsa_digest *digest) {
  digest->beats = series->beats;
  digest->completion = series->time[series->beats - 1] - start;
  digest->mean_rate = mean_rate(series, windows->window);
  digest->interval = tsn_hsa_quartile_interval(series->time, series->beats);
  digest->domain[0] = series->time[windows->window] - start;
  digest->domain[1] = digest->completion;
  digest_windows(series, start, windows, context->options.max_windows, digest);
  return fit_rates(context, series, start, windows->window, scratch, digest);
}
