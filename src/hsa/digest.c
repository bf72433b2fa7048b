/* SPDX-License-Identifier: BSD-3-Clause */
/* A series of any length, reduced to what its features are computed from: at most
 * max_windows windows of L beats each, and the polynomial of its heart rate over time.
 *
 *   beats  |....|....|....|....|..     n beats; L = local_window
 *   time   0    1    2    3    4       times of the beats 0, L, 2L, ...
 *   rate   0    1    2    3    4       r_i = w / (t_i - t_{i-w}) at these beats
 *   window_rate 0    1    2    3       mean of the r_i in each window
 *
 * w is `window`; by default a hundredth of the longest normal series: programs beat from
 * ten to a million times a second, and a hundredth of a run is long enough to average
 * over the bursts of a parallel loop and short enough to show a change of pace. L is the
 * least multiple of w with at most max_windows windows. So a digest has bounded size, and
 * is computed in O(beats), once.
 *
 * Eq. 6 and 8 slide windows by one beat, here by a whole window: the same mean except at
 * its ends, in bounded memory.
 *
 * Source: W. Wang and W. Luo, equations 1-4. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/check.h"
#include "core/size.h"
#include "core/sort.h"
#include "hsa/hsa.h"

/* The lower quartile of the intervals between beats: the pace of a thread while it runs.
 * A thread that is preempted, or waits for another thread, has some long intervals and an
 * unchanged quartile; a slowdown of every beat changes the quartile.
 *
 * The quartile is selected by the digits of the bit patterns, most significant first: each
 * pass counts the values of one byte among the intervals with the bytes found before, until
 * they are few. At most eight passes, O(beats), and 4 KiB whatever the length. */

/* Bit patterns of numbers >= 0 have the order of the numbers, so that the selection is
 * exact. */
enum { DIGIT_BITS = 8, DIGITS = 8, VALUES = 1 << DIGIT_BITS, FEW = 256 };

static uint64_t interval_bits(const double *time, size_t i) {
  double interval = time[i + 1] - time[i];
  uint64_t bits;
  memcpy(&bits, &interval, sizeof bits);
  return bits;
}

/* Count, for each value of the next digit, the intervals that begin with `prefix`. */
static void count_digit(const double *time, size_t intervals, unsigned shift,
                        uint64_t prefix, size_t *count) {
  memset(count, 0, VALUES * sizeof *count);
  for (size_t i = 0; i < intervals; i++) {
    uint64_t head = interval_bits(time, i) >> shift;
    count[head % VALUES] += head / VALUES == prefix;
  }
}

/* The interval of this rank among the `count` that begin with `prefix`. */
static double select_of_few(const double *time, size_t intervals, unsigned shift,
                            uint64_t prefix, size_t count, size_t rank) {
  double few[FEW];
  for (size_t i = 0, found = 0; found < count && i < intervals; i++) {
    few[found] = time[i + 1] - time[i];
    found += interval_bits(time, i) >> shift == prefix;
  }
  tsn_select(few, count, rank);
  return few[rank];
}

double tsn_hsa_quartile_interval(const double *time, size_t beats) {
  if (beats < 2) return 0;
  size_t count[VALUES], rank = (beats - 2) / 4;
  uint64_t prefix = 0;
  for (unsigned digit = DIGITS; digit-- > 0;) {
    unsigned shift = digit * DIGIT_BITS;
    size_t value = 0;
    count_digit(time, beats - 1, shift, prefix, count);
    while (rank >= count[value]) rank -= count[value++];
    prefix = prefix * VALUES + value;
    if (count[value] <= FEW)
      return select_of_few(time, beats - 1, shift, prefix, count[value], rank);
  }
  double quartile;
  memcpy(&quartile, &prefix, sizeof quartile);
  return quartile;
}

/* More rates do not determine a polynomial of a low degree better: their windows
 * overlap. */
enum { MOST_FITTED = 4096 };

/* Windows of a series if options.window is 0; see above. */
enum { AUTOMATIC_WINDOWS = 100 };

static size_t divide_up(size_t a, size_t b) {
  return a / b + (a % b != 0);
}

/* Chosen once for a thread, from its longest normal series, and stored in the model:
 * rates over different numbers of beats are not comparable. */
tsn_hsa_windows tsn_hsa_choose_windows(size_t beats, const tsanom_hsa_options *options) {
  tsn_hsa_windows w = {.window = options->window};
  if (w.window == 0) w.window = beats ? divide_up(beats, AUTOMATIC_WINDOWS) : 1;
  size_t windows = beats > w.window ? (beats - 1) / w.window : 1;
  w.local_window = w.window * (windows / (options->max_windows + 1) + 1);
  return w;
}

size_t tsn_hsa_count_windows(size_t beats, const tsn_hsa_windows *windows,
                             size_t max_windows) {
  return tsn_smaller(beats ? (beats - 1) / windows->local_window : 0, max_windows);
}

/* A field of a series in the caller's arguments. */
typedef struct {
  char text[64];
} field_name;

static field_name name_of(const tsn_hsa_place *place, const char *field) {
  field_name name;
  if (place->run == TSANOM_NONE) {
    (void)snprintf(name.text, sizeof name.text, "%s.%s", place->name, field);
  } else {
    (void)snprintf(name.text, sizeof name.text, "%s[%zu].threads.%s", place->name,
                   place->run, field);
  }
  return name;
}

/* Whether no reserved field is set. */
static bool are_zero(const uint64_t *reserved, size_t count) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++) all |= reserved[i];
  return all == 0;
}

static tsanom_status check_fields(const tsn_hsa_place *place,
                                  const tsanom_hsa_series *series) {
  size_t beats = series->beats, most = PTRDIFF_MAX / sizeof *series->time;
  if (!are_zero(series->reserved, sizeof series->reserved / sizeof(uint64_t))) {
    return tsn_reject_pair_is(place->exec, TSANOM_E_VERSION,
                              name_of(place, "reserved").text, place->thread, TSANOM_NONE,
                              "not 0; 0 is expected");
  }
  if (beats && !series->time) {
    return tsn_reject_pair_is(place->exec, TSANOM_E_NULL, name_of(place, "time").text,
                              place->thread, TSANOM_NONE,
                              "NULL; an array of %zu is expected", beats);
  }
  if (beats <= most) return TSANOM_OK;
  return tsn_reject_pair_is(place->exec, TSANOM_E_OVERFLOW, name_of(place, "beats").text,
                            place->thread, TSANOM_NONE, "%zu; at most %zu is expected",
                            beats, most);
}

/* In the order of cost: fields, then one pass each for finiteness, order, and rates. Two
 * beats may have the same time, but a window of beats within one tick of the clock has no
 * finite rate. */
tsanom_status tsn_hsa_check_series(const tsn_hsa_place *place,
                                   const tsanom_hsa_series *series, double start,
                                   size_t window) {
  const double *time = series->time;
  size_t beats = series->beats, i = 0;
  tsanom_status status = check_fields(place, series);
  if (status < 0) return status;
  if (!tsn_all_finite(time, beats)) {
    i = tsn_first_nonfinite(time, beats);
    return tsn_reject_value(place->exec, TSANOM_E_NONFINITE, name_of(place, "time").text,
                            place->thread, i, time[i], TSN_FINITE);
  }
  if (beats && time[0] >= start) i = 1;
  while (i && i < beats && time[i] >= time[i - 1]) i++;
  if (i < beats) {
    return tsn_reject_pair_is(place->exec, TSANOM_E_ORDER, name_of(place, "time").text,
                              place->thread, i, "%.9g; at least %.9g, %s, is expected",
                              time[i], i ? time[i - 1] : start,
                              i ? "the beat before" : "the start of the run");
  }
  for (i = window; i < beats; i++) {
    if (isfinite((double)window / (time[i] - time[i - window]))) continue;
    return tsn_reject_pair_is(place->exec, TSANOM_E_VALUE, name_of(place, "time").text,
                              place->thread, i,
                              "%.9g; more than %.9g, %zu beats before, is expected",
                              time[i], time[i - window], window);
  }
  return TSANOM_OK;
}

tsanom_status tsn_hsa_check_run(const tsanom_hsa_run *run, const char *name, size_t i,
                                const tsanom_exec *exec) {
  const size_t most = PTRDIFF_MAX / sizeof *run->threads, threads = run->thread_count;
  if (!are_zero(run->reserved, sizeof run->reserved / sizeof(uint64_t))) {
    return tsn_reject_field_is(exec, TSANOM_E_VERSION, name, "reserved", i,
                               "not 0; 0 is expected");
  }
  if (threads == 0 || !tsn_array_fits(threads, sizeof *run->threads)) {
    tsanom_status status = threads ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT;
    return tsn_reject_field_is(exec, status, name, "thread_count", i,
                               "%zu; 1 to %zu is expected", threads, most);
  }
  if (!run->threads) {
    return tsn_reject_field_is(exec, TSANOM_E_NULL, name, "threads", i,
                               "NULL; an array of %zu is expected", threads);
  }
  if (isfinite(run->start)) return TSANOM_OK;
  return tsn_reject_field_is(exec, TSANOM_E_NONFINITE, name, "start", i,
                             "%s; a finite time is expected",
                             isnan(run->start) ? "NaN" : "infinite");
}

tsanom_status tsn_hsa_check_runs(const tsanom_hsa_run *runs, size_t count,
                                 const tsanom_exec *exec) {
  const size_t most = PTRDIFF_MAX / sizeof *runs;
  tsanom_status status = count ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT;
  status = tsn_require_size(exec, status, "run_count", count, 1, most);
  if (status == TSANOM_OK) status = tsn_require_array(exec, runs, count, "runs");
  for (size_t i = 0; i < count && status == TSANOM_OK; i++) {
    status = tsn_hsa_check_run(&runs[i], "runs", i, exec);
  }
  return status;
}

/* max_windows and max_degree have limits, so that the sum does not overflow. */
size_t tsn_hsa_digest_numbers(const tsanom_hsa_options *options) {
  return 3 * options->max_windows + options->max_degree + 3;
}

void tsn_hsa_digest_place(tsn_hsa_digest *digest, const tsanom_hsa_options *options,
                          double *numbers) {
  size_t windows = options->max_windows;
  digest->time = numbers;
  digest->rate = numbers + windows + 1;
  digest->window_rate = numbers + 2 * (windows + 1);
  digest->coefficient = numbers + 3 * windows + 2;
  digest->content = (tsanom_hsa_reference){.time = digest->time,
                                           .rate = digest->rate,
                                           .window_rate = digest->window_rate,
                                           .coefficient = digest->coefficient};
}

/* The rule of the paper: the first degree whose R^2 exceeds a threshold. Without
 * refinement: the rates have fewer correct digits than a plain fit. */
static void fit_options(const tsanom_hsa_options *options, tsanom_polyfit_options *fit) {
  tsanom_polyfit_options_init(fit, sizeof *fit);
  fit->degree = (int32_t)options->max_degree;
  fit->refine = 0;
  fit->selection = TSANOM_POLYFIT_R2;
  fit->r2 = options->r2;
}

tsanom_status tsn_hsa_fit_bytes(const tsn_hsa_context *context, size_t *bytes) {
  tsanom_polyfit_options fit;
  fit_options(&context->options, &fit);
  tsanom_exec asking = tsn_exec_asking(&context->inner, bytes);
  return tsn_asked(
      tsanom_polyfit_fit(NULL, NULL, NULL, MOST_FITTED, &fit, &asking, NULL));
}

void tsn_hsa_scratch_layout(tsn_arena *arena, tsn_hsa_context *context,
                            tsn_hsa_scratch *scratch) {
  size_t points = context->options.points;
  context->inner.work = tsn_arena_take(arena, context->inner.work_bytes, 1);
  scratch->x = tsn_arena_take(arena, MOST_FITTED, sizeof(double));
  scratch->y = tsn_arena_take(arena, MOST_FITTED, sizeof(double));
  scratch->target = tsn_arena_take(arena, points, sizeof(double));
  scratch->reference = tsn_arena_take(arena, points, sizeof(double));
  scratch->lower = tsn_arena_take(arena, points, sizeof(double));
  scratch->upper = tsn_arena_take(arena, points, sizeof(double));
  scratch->model = tsn_arena_take(arena, 1, sizeof *scratch->model);
}

static double rate_at(const tsanom_hsa_series *series, size_t window, size_t beat) {
  return (double)window / (series->time[beat] - series->time[beat - window]);
}

/* Times and rates at the beats 0, L, 2L, ... and the mean rates between them. The first
 * beats have no rate of w beats; the rate of beat w stands for that at 0, and the first
 * window begins at w. */
static void digest_windows(const tsanom_hsa_series *series, double start,
                           const tsn_hsa_windows *windows, size_t max_windows,
                           tsn_hsa_digest *digest) {
  size_t w = windows->window, length = windows->local_window;
  size_t count = tsn_hsa_count_windows(series->beats, windows, max_windows);
  digest->content.windows = count;
  digest->time[0] = series->time[0] - start;
  digest->rate[0] = rate_at(series, w, w);
  for (size_t j = 0; j < count; j++) {
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

/* Rates of a series, evenly spaced in it, at most MOST_FITTED. */
static size_t take_rates(const tsanom_hsa_series *series, double start, size_t window,
                         const tsn_hsa_scratch *scratch) {
  size_t count = 0, step = divide_up(series->beats - window, MOST_FITTED);
  for (size_t i = window; i < series->beats; i += step) {
    scratch->x[count] = series->time[i] - start;
    scratch->y[count++] = rate_at(series, window, i);
  }
  return count;
}

/* The regression of eq. 1-3. */
static tsanom_status fit_rates(const tsn_hsa_context *context,
                               const tsanom_hsa_series *series, double start,
                               size_t window, const tsn_hsa_scratch *scratch,
                               tsn_hsa_digest *digest) {
  tsanom_hsa_reference *r = &digest->content;
  tsanom_polyfit_options fit;
  tsanom_polyfit_model *model = scratch->model;
  fit_options(&context->options, &fit);
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  size_t count = take_rates(series, start, window, scratch);
  tsanom_status status = tsanom_polyfit_fit(scratch->x, scratch->y, NULL, count, &fit,
                                            &context->inner, model);
  if (status < 0) return status;
  r->degree = (size_t)model->degree;
  r->unit = model->unit;
  r->center = model->center;
  r->scale = model->scale;
  r->r2 = model->r2;
  memcpy(digest->coefficient, model->high, (r->degree + 1) * sizeof(double));
  return TSANOM_OK;
}

tsanom_status tsn_hsa_digest_series(const tsn_hsa_context *context,
                                    const tsanom_hsa_series *series, double start,
                                    const tsn_hsa_windows *windows,
                                    const tsn_hsa_scratch *scratch,
                                    tsn_hsa_digest *digest) {
  tsanom_hsa_reference *r = &digest->content;
  r->beats = series->beats;
  r->window = windows->window;
  r->local_window = windows->local_window;
  r->completion = series->time[series->beats - 1] - start;
  r->mean_rate = mean_rate(series, windows->window);
  r->interval = tsn_hsa_quartile_interval(series->time, series->beats);
  r->domain[0] = series->time[windows->window] - start;
  r->domain[1] = r->completion;
  digest_windows(series, start, windows, context->options.max_windows, digest);
  return fit_rates(context, series, start, windows->window, scratch, digest);
}
