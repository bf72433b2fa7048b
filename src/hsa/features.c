/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of the heart rates of series: options, checks, a series reduced to a digest,
 * and the features of one digest against another.
 *
 * The defaults that decide quality, and where their reasons are (docs/hsa.md):
 *
 *     coverage 0.99   several ranges are asked at once: the share of normal threads that
 *                     are called abnormal is at most 2 (1 - coverage) (Bonferroni)
 *     margin 0.05     a range is never narrower, however similar the normal runs are
 *     rule PACE       macro F is at least 0.989 on recordings of six workloads, and 0.865
 *                     to 0.977 by Algorithm 1 to the letter
 *     window 0        a hundredth of the longest normal series */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tsanom/dtw.h>
#include <tsanom/lbkeogh.h>
#include <tsanom/polyfit.h>

#include "core/check.h"
#include "core/names.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "hsa/hsa.h"

static const tsanom_hsa_options defaults = {.struct_size = sizeof defaults,
                                            .window = 0,
                                            .max_windows = 256,
                                            .max_degree = 8,
                                            .points = 256,
                                            .radius = 12,
                                            .r2 = 0.9,
                                            .coverage = 0.99,
                                            .margin = 0.05,
                                            .single_run_margin = 0.25,
                                            .rule = TSANOM_HSA_RULE_PACE,
                                            .local_rate = TSANOM_HSA_LOCAL_RATE_RATIO};

static const tsn_versioned options_type = {.size = sizeof(tsanom_hsa_options),
                                           .first_size = sizeof(tsanom_hsa_options),
                                           .defaults = &defaults};

tsanom_status tsanom_hsa_options_init(tsanom_hsa_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* A number and its range. */
typedef struct {
  const char *field;
  double value, low, high;
  bool above, below; /* an end does not belong to the range */
} limited;

/* Written so that a NaN fails. */
static bool is_good(const limited *f) {
  return (f->above ? isgreater(f->value, f->low) : isgreaterequal(f->value, f->low)) &&
         (f->below ? isless(f->value, f->high) : islessequal(f->value, f->high));
}

static tsanom_status reject(const tsanom_exec *exec, const char *name, const limited *f) {
  char expected[96];
  (void)snprintf(expected, sizeof expected, "%s %.9g and %s %.9g is expected",
                 f->above ? "more than" : "at least", f->low,
                 f->below ? "less than" : "at most", f->high);
  return tsn_reject_value(exec, TSANOM_E_OPTION, tsn_name_field(name, f->field).text,
                          TSANOM_NONE, TSANOM_NONE, f->value, expected);
}

/* A table in the order of the fields, so that the fault names the first invalid one. */
tsanom_status tsn_hsa_options_read(tsanom_hsa_options *own,
                                   const tsanom_hsa_options *caller, const char *name,
                                   const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, name);
  if (status < 0) return status;
  const limited fields[] = {
      {"max_windows", (double)own->max_windows, 1, TSANOM_HSA_MAX_WINDOWS, false, false},
      {"max_degree", (double)own->max_degree, 0, TSANOM_HSA_MAX_DEGREE, false, false},
      {"points", (double)own->points, 2, TSANOM_HSA_MAX_POINTS, false, false},
      {"r2", own->r2, 0, 1, false, true},
      {"coverage", own->coverage, 0, 1, true, true},
      {"margin", own->margin, 0, 1e6, false, false},
      {"single_run_margin", own->single_run_margin, 0, 1e6, true, false},
      {"rule", own->rule, 0, TSANOM_HSA_RULE_PACE, false, false},
      {"local_rate", own->local_rate, 0, TSANOM_HSA_LOCAL_RATE_LITERAL, false, false}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    if (!is_good(&fields[i])) return reject(exec, name, &fields[i]);
  }
  return TSANOM_OK;
}

const char *tsanom_hsa_feature_name(int32_t feature) {
  static const char *const names[] = {TSN_HSA_FEATURE_NAMES};
  _Static_assert(sizeof names / sizeof *names == TSANOM_HSA_FEATURES, "names");
  return feature >= 0 && feature < TSANOM_HSA_FEATURES ? names[feature] : "?";
}

const char *tsanom_hsa_status_name(int32_t status) {
  static const char *const names[TSANOM_HSA_STATUSES] = {
      "normal",    "memory_leak", "shutdown",       "contention", "slowdown",
      "imbalance", "hang",        "not_comparable", "unknown",    "waiting"};
  return status >= 0 && status < TSANOM_HSA_STATUSES ? names[status] : "?";
}

/* More rates do not determine a polynomial of a low degree better: their windows
 * overlap. */
enum { MOST_FITTED = 4096 };

/* The rule of the paper: the first degree whose R^2 exceeds a threshold. Without
 * refinement: the rates have fewer correct digits than a plain fit. */
static void fit_options(const tsanom_hsa_options *options, tsanom_polyfit_options *fit) {
  tsanom_polyfit_options_init(fit, sizeof *fit);
  fit->degree = (int32_t)options->max_degree;
  fit->refine = 0;
  fit->selection = TSANOM_POLYFIT_R2;
  fit->r2 = options->r2;
}

/* The radius of DTW is that of the envelope, too. */
static tsanom_dtw_options dtw_options(const tsanom_hsa_options *options) {
  tsanom_dtw_options dtw;
  tsanom_dtw_options_init(&dtw, sizeof dtw);
  dtw.radius = options->radius;
  return dtw;
}

/* The inner calls get one block of the caller's workspace, as large as the most that any
 * of them needs: they run one after the other. */
static tsanom_status ask_inner_calls(tsn_hsa_context *c) {
  size_t points = c->options.points, bytes[3] = {0};
  tsanom_polyfit_options fit;
  fit_options(&c->options, &fit);
  tsanom_dtw_options dtw = dtw_options(&c->options);
  tsanom_exec ask = tsn_exec_asking(&c->inner, &bytes[0]);
  tsanom_status status =
      tsn_asked(tsanom_polyfit_fit(NULL, NULL, NULL, MOST_FITTED, &fit, &ask, NULL));
  ask.work_needed = &bytes[1];
  if (status >= 0) {
    status = tsn_asked(tsanom_dtw_distance(NULL, points, NULL, points, &dtw, &ask, NULL));
  }
  ask.work_needed = &bytes[2];
  if (status >= 0) {
    status =
        tsn_asked(tsanom_lbkeogh_envelope(NULL, points, dtw.radius, &ask, NULL, NULL));
  }
  c->inner.work_bytes = tsn_larger(bytes[0], tsn_larger(bytes[1], bytes[2]));
  return status;
}

/* One thread: the pieces are too small to start threads for. */
tsanom_status tsn_hsa_context_read(tsn_hsa_context *context,
                                   const tsanom_hsa_options *options, const char *name,
                                   const tsanom_exec *exec) {
  tsanom_status status = tsn_exec_read(&context->exec, exec);
  if (status < 0) return status;
  status = tsn_hsa_options_read(&context->options, options, name, &context->exec);
  if (status < 0) return status;
  context->inner = tsn_exec_for_object(&context->exec);
  context->inner.threads = 1;
  status = ask_inner_calls(context);
  return status < 0 ? tsn_reject(&context->exec, status, name) : TSANOM_OK;
}

void tsn_hsa_context_layout(tsn_arena *arena, tsn_hsa_context *c) {
  size_t points = c->options.points;
  c->inner.work = tsn_arena_take(arena, c->inner.work_bytes, 1);
  c->x = tsn_arena_take(arena, MOST_FITTED, sizeof(double));
  c->y = tsn_arena_take(arena, MOST_FITTED, sizeof(double));
  c->target = tsn_arena_take(arena, points, sizeof(double));
  c->reference = tsn_arena_take(arena, points, sizeof(double));
  c->lower = tsn_arena_take(arena, points, sizeof(double));
  c->upper = tsn_arena_take(arena, points, sizeof(double));
  c->model = tsn_arena_take(arena, 1, sizeof *c->model);
}

/* A field of a series in the caller's arguments. */
static tsn_field_name name_of(const tsn_hsa_place *place, const char *field) {
  if (place->run == TSANOM_NONE) return tsn_name_field(place->name, field);
  tsn_field_name name;
  (void)snprintf(name.text, sizeof name.text, "%s[%zu].threads.%s", place->name,
                 place->run, field);
  return name;
}

#define REJECT(place, status, field, element, ...)                                       \
  tsn_reject_pair_is((place)->exec, status, name_of(place, field).text, (place)->thread, \
                     element, __VA_ARGS__)

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
    return REJECT(place, TSANOM_E_VERSION, "reserved", TSANOM_NONE,
                  "not 0; 0 is expected");
  }
  if (beats && !series->time) {
    return REJECT(place, TSANOM_E_NULL, "time", TSANOM_NONE,
                  "NULL; an array of %zu is expected", beats);
  }
  if (beats <= most) return TSANOM_OK;
  return REJECT(place, TSANOM_E_OVERFLOW, "beats", TSANOM_NONE,
                "%zu; at most %zu is expected", beats, most);
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
    return REJECT(
        place, TSANOM_E_ORDER, "time", i, "%.9g; at least %.9g, %s, is expected", time[i],
        i ? time[i - 1] : start, i ? "the beat before" : "the start of the run");
  }
  for (i = window; i < beats; i++) {
    if (isfinite((double)window / (time[i] - time[i - window]))) continue;
    return REJECT(place, TSANOM_E_VALUE, "time", i,
                  "%.9g; more than %.9g, %zu beats before, is expected", time[i],
                  time[i - window], window);
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

void tsn_hsa_digest_layout(tsn_arena *arena, const tsanom_hsa_options *options,
                           tsn_hsa_digest *digest) {
  size_t windows = options->max_windows, numbers = sizeof(double);
  digest->time = tsn_arena_take(arena, windows + 1, numbers);
  digest->rate = tsn_arena_take(arena, windows + 1, numbers);
  digest->window_rate = tsn_arena_take(arena, windows, numbers);
  digest->coefficient = tsn_arena_take(arena, options->max_degree + 1, numbers);
}

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

static double quartile_interval(const double *time, size_t beats) {
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
  size_t count = tsn_smaller((series->beats - 1) / length, max_windows);
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
static size_t take_rates(const tsn_hsa_context *context, const tsanom_hsa_series *series,
                         double start, size_t window) {
  size_t count = 0, step = 1 + (series->beats - window - 1) / MOST_FITTED;
  for (size_t i = window; i < series->beats; i += step) {
    context->x[count] = series->time[i] - start;
    context->y[count++] = rate_at(series, window, i);
  }
  return count;
}

/* The regression of eq. 1-3. */
static tsanom_status fit_rates(const tsn_hsa_context *context,
                               const tsanom_hsa_series *series, double start,
                               size_t window, tsn_hsa_digest *digest) {
  tsanom_hsa_reference *r = &digest->content;
  tsanom_polyfit_options fit;
  tsanom_polyfit_model *model = context->model;
  fit_options(&context->options, &fit);
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  size_t count = take_rates(context, series, start, window);
  tsanom_status status = tsanom_polyfit_fit(context->x, context->y, NULL, count, &fit,
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

/* A series of no more beats than a window has no rate: no window, and no time with one. */
tsanom_status tsn_hsa_digest_series(const tsn_hsa_context *context,
                                    const tsanom_hsa_series *series, double start,
                                    const tsn_hsa_windows *windows,
                                    tsn_hsa_digest *digest) {
  size_t w = windows->window;
  tsanom_hsa_reference *r = &digest->content;
  *r = (tsanom_hsa_reference){.beats = series->beats,
                              .window = w,
                              .local_window = windows->local_window,
                              .completion = series->time[series->beats - 1] - start,
                              .interval = quartile_interval(series->time, series->beats),
                              .mean_rate = NAN,
                              .domain = {INFINITY, -INFINITY},
                              .time = digest->time,
                              .rate = digest->rate,
                              .window_rate = digest->window_rate,
                              .coefficient = digest->coefficient};
  if (series->beats <= w) return TSANOM_OK;
  r->mean_rate = mean_rate(series, w);
  r->domain[0] = series->time[w] - start;
  r->domain[1] = r->completion;
  digest_windows(series, start, windows, context->options.max_windows, digest);
  return fit_rates(context, series, start, w, digest);
}
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
static tsanom_status evaluate(const tsn_hsa_context *context,
                              const tsanom_hsa_reference *digest, double unit,
                              double *times) {
  size_t points = context->options.points;
  tsanom_polyfit_model *model = context->model;
  *model = (tsanom_polyfit_model){.struct_size = sizeof *model};
  model->degree = (int32_t)digest->degree;
  model->unit = digest->unit;
  model->center = digest->center;
  model->scale = digest->scale;
  memcpy(model->high, digest->coefficient, (digest->degree + 1) * sizeof(double));
  tsanom_status status =
      tsanom_polyfit_evaluate(model, times, points, &context->inner, times, NULL);
  for (size_t i = 0; status >= 0 && i < points; i++) times[i] /= unit;
  return status;
}

/* Heart rates of both series at the same timestamps, evenly spaced from `first` to
 * `last`, in multiples of the geometric mean of their mean rates. */
static tsanom_status align(const tsn_hsa_context *context, const tsanom_hsa_reference *c,
                           const tsanom_hsa_reference *q, double first, double last) {
  size_t points = context->options.points;
  double step = (last - first) / (double)(points - 1);
  for (size_t i = 0; i < points; i++) {
    double time = fmin(first + step * (double)i, last);
    context->target[i] = context->reference[i] = time;
  }
  double unit = sqrt(c->mean_rate) * sqrt(q->mean_rate);
  tsanom_status status = evaluate(context, c, unit, context->target);
  return status < 0 ? status : evaluate(context, q, unit, context->reference);
}

/* The envelope is that of the reference, and the target is bounded against it (eq.
 * 11-13). Both distances are divided by the number of points, so that they do not grow
 * with it. */
static tsanom_status distance_features(const tsn_hsa_context *c,
                                       tsanom_hsa_features *features) {
  const tsanom_exec *exec = &c->inner;
  tsanom_dtw_options dtw = dtw_options(&c->options);
  size_t n = c->options.points;
  double distance, bound;
  tsanom_status status =
      tsanom_dtw_distance(c->target, n, c->reference, n, &dtw, exec, &distance);
  if (status < 0) return status;
  status = tsanom_lbkeogh_envelope(c->reference, n, dtw.radius, exec, c->lower, c->upper);
  if (status < 0) return status;
  status = tsanom_lbkeogh_bound(c->target, c->lower, c->upper, n, TSANOM_COST_SQUARED,
                                exec, &bound);
  if (status < 0) return status;
  define_if_finite(features, TSANOM_HSA_DTW, distance / (double)n);
  define_if_finite(features, TSANOM_HSA_LB_KEOGH, bound / (double)n);
  return TSANOM_OK;
}

/* The distances are undefined if the series have no common time with a rate: one ended
 * before the other had beaten for a window, or has no rate. */
tsanom_status tsn_hsa_compare(const tsn_hsa_context *context,
                              const tsanom_hsa_reference *target,
                              const tsanom_hsa_reference *reference,
                              tsanom_hsa_features *features) {
  memset(features, 0, sizeof *features);
  define_simple_ratios(target, reference, features);
  define_if_finite(features, TSANOM_HSA_GHR, target->mean_rate / reference->mean_rate);
  local_features(target, reference, context->options.local_rate, features);
  double first = fmax(target->domain[0], reference->domain[0]);
  double last = fmin(target->domain[1], reference->domain[1]);
  if (first > last) return TSANOM_OK; /* no time at which both have a heart rate */
  tsanom_status status = align(context, target, reference, first, last);
  return status < 0 ? status : distance_features(context, features);
}
