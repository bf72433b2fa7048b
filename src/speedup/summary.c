/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop whose iterations are known: the statistics of answers.c, and a prediction with
 * an interval.
 *
 *   iteration  |warm-up      |1    |2    |3    | ... |8    |      N - n to come
 *   seconds    ..............m_1   m_2   m_3         m_8          mean of these +- h
 *
 * The iterations on which the prediction is based are divided into up to 8 parts. The
 * means of long parts scatter less than iterations do, but contain what changes slowly,
 * such as other programs on the machine; so their deviation s is that of the mean of the
 * missing iterations too: h = t s sqrt(1 + 1/k). A line through the m_i shows whether
 * iterations drift. Then no constant describes them, and the end is not known. */
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "speedup/speedup.h"

enum { PARTS_MOST = 8, PARTS_LEAST = 4, PARTS_OF_LINE = 5 };

/* Student's t of k - 1 degrees of freedom, at 95 % on both sides, for k parts. */
static const double student[PARTS_MOST + 1] = {0,     0,     0,     0,    3.182,
                                               2.776, 2.571, 2.447, 2.365};

/* A drift: the line explains this share of the variance, and changes by this part of the
 * mean. */
static const double line_least = 0.8, drift_least = 0.2;

typedef struct {
  const tsanom_speedup_event *event;
  size_t count;
  const tsanom_dpd_iteration *iteration;
  size_t iterations;
  tsanom_speedup_options options;
  tsn_loop loop;
} summary;

static size_t events_of(const tsanom_dpd_iteration *iteration) {
  return iteration->end - iteration->first;
}

/* When iteration i ends. */
static double end_of(const summary *s, size_t i) {
  size_t end = s->iteration[i].end;
  bool goes_on = i + 1 < s->iterations && s->iteration[i + 1].first == end;
  return goes_on ? s->event[end].begin : s->event[end - 1].end;
}

static tsanom_speedup_iteration describe(const summary *s, size_t i) {
  const tsanom_dpd_iteration *place = &s->iteration[i];
  tsanom_speedup_iteration made = {
      .start = s->loop.start,
      .period = events_of(place),
      .number = i,
      .begin = s->event[place->first].begin,
      .threads = 1,
  };
  made.seconds = end_of(s, i) - made.begin;
  for (size_t e = place->first; e < place->end; e++) {
    made.parallel += s->event[e].end - s->event[e].begin;
    if (s->event[e].threads > made.threads) made.threads = s->event[e].threads;
  }
  return made;
}

/* Add up the iterations and runs. Returns the iterations of the latest run if it may be
 * going on: no more events have followed than the longest iteration has. */
static uint64_t add_up(summary *s) {
  tsn_loop *loop = &s->loop;
  size_t events = 0, longest = 0;
  uint64_t now = 0;
  loop->start = s->event[s->iteration->first].region;
  for (size_t i = 0; i < s->iterations; i++) {
    tsanom_speedup_iteration iteration = describe(s, i);
    bool goes_on = i && s->iteration[i - 1].end == s->iteration[i].first;
    if (!goes_on && loop->runs++) {
      loop->last_run = now;
      loop->between += iteration.begin - loop->last;
    }
    now = goes_on ? now + 1 : 1;
    tsn_loop_add(loop, &iteration, end_of(s, i));
    if (s->options.visit) s->options.visit(s->options.visit_user, &iteration);
    events += iteration.period;
    longest = tsn_larger(longest, iteration.period);
  }
  size_t n = tsn_larger(s->iterations, 1);
  loop->period = (events + n / 2) / n;
  if (s->count - s->iteration[s->iterations - 1].end <= longest) return now;
  loop->last_run = now;
  return 0;
}

/* Whether an iteration shows what the missing ones will take: it ran with the current
 * threads, and the serial code behind its last region is in it. */
static bool is_typical(const summary *s, size_t i, double *seconds) {
  tsanom_speedup_iteration iteration = describe(s, i);
  *seconds = iteration.seconds;
  return iteration.threads == s->loop.current_threads && i + 1 < s->iterations &&
         s->iteration[i + 1].first == s->iteration[i].end;
}

/* The mean times of k parts of the typical iterations behind the warm-up; returns k. An
 * iteration counts at most TSN_OUTLIER medians, as in tsn_loop_expected(). */
static size_t part_means(const summary *s, double *mean) {
  const tsn_times *times = tsn_loop_current(&s->loop);
  double most = TSN_OUTLIER * tsn_times_median(times), seconds;
  uint64_t typical = 0, number = 0, in_part[PARTS_MOST] = {0};
  for (size_t i = 0; i < s->iterations; i++) typical += is_typical(s, i, &seconds);
  if (typical == 0) return 0;
  uint64_t excluded = tsn_excluded(typical), used = typical - excluded;
  size_t k = used < PARTS_MOST ? (size_t)used : PARTS_MOST;
  memset(mean, 0, k * sizeof *mean);
  for (size_t i = 0; i < s->iterations; i++) {
    if (!is_typical(s, i, &seconds) || number++ < excluded) continue;
    size_t part = (size_t)((number - 1 - excluded) * k / used);
    mean[part] += fmin(seconds, most);
    in_part[part]++;
  }
  for (size_t i = 0; i < k; i++) mean[i] /= (double)in_part[i];
  return k;
}

/* Whether k means lie on a line that rises or falls. */
static bool do_drift(const double *mean, size_t k, double center, double variance) {
  double product = 0, squares = 0;
  for (size_t i = 0; i < k; i++) {
    double x = (double)i - (double)(k - 1) / 2;
    product += x * (mean[i] - center);
    squares += x * x;
  }
  double slope = product / squares, explained = slope * product;
  return k >= PARTS_OF_LINE && explained >= line_least * variance * (double)(k - 1) &&
         fabs(slope) * (double)(k - 1) > drift_least * center;
}

static void add_interval(const summary *s, tsanom_speedup_prediction *p) {
  uint64_t left = p->expected - p->iterations;
  double mean[PARTS_MOST], center = 0, squares = 0;
  if (left == 0) p->low_s = p->high_s = p->total_s;
  size_t k = left ? part_means(s, mean) : 0;
  if (k < PARTS_LEAST) return;
  for (size_t i = 0; i < k; i++) center += mean[i] / (double)k;
  for (size_t i = 0; i < k; i++) squares += (mean[i] - center) * (mean[i] - center);
  double variance = squares / (double)(k - 1);
  double half = (double)left * student[k] * sqrt(variance * (1 + 1 / (double)k));
  p->low_s = fmax(p->total_s - half, s->loop.last);
  p->high_s = p->total_s + half;
  if (!do_drift(mean, k, center, variance)) return;
  p->drifts = 1;
  p->remaining_s = p->total_s = p->low_s = p->high_s = NAN;
}

static tsanom_status check(const summary *s, const tsanom_exec *exec) {
  if (s->count > PTRDIFF_MAX / sizeof *s->event) {
    return tsn_reject(exec, TSANOM_E_OVERFLOW, "count");
  }
  if (s->iterations > PTRDIFF_MAX / sizeof *s->iteration) {
    return tsn_reject(exec, TSANOM_E_OVERFLOW, "iteration_count");
  }
  for (size_t i = 0; i < s->count; i++) {
    double earliest = i ? s->event[i - 1].end : -INFINITY;
    tsanom_status status = tsn_speedup_check(&s->event[i], earliest);
    if (status < 0) return tsn_reject_at(exec, status, "events", i);
  }
  size_t end = 0;
  for (size_t i = 0; i < s->iterations; i++) {
    const tsanom_dpd_iteration *place = &s->iteration[i];
    if (place->first < end || place->end <= place->first || place->end > s->count) {
      return tsn_reject_at(exec, TSANOM_E_INDEX, "iterations", i);
    }
    end = place->end;
  }
  return TSANOM_OK;
}

static tsanom_status read_call(summary *s, const tsanom_speedup_options *options,
                               const tsanom_exec *caller, tsanom_exec *exec) {
  tsanom_speedup_options usual;
  tsanom_status status = tsn_exec_read(exec, caller);
  if (status < 0) return status;
  status = tsn_speedup_options_read(&s->options, options, exec);
  if (status < 0) return status;
  (void)tsn_speedup_options_read(&usual, NULL, exec);
  if (s->options.max_period != usual.max_period) {
    return tsn_reject(exec, TSANOM_E_OPTION, "options.max_period");
  }
  if (s->options.capacity != usual.capacity) {
    return tsn_reject(exec, TSANOM_E_OPTION, "options.capacity");
  }
  if (!s->event) return tsn_reject(exec, TSANOM_E_NULL, "events");
  if (!s->iteration) return tsn_reject(exec, TSANOM_E_NULL, "iterations");
  if (!s->iterations) return tsn_reject(exec, TSANOM_E_COUNT, "iteration_count");
  return TSANOM_OK;
}

static tsanom_status predict(const summary *s, uint64_t now, uint64_t expected,
                             tsanom_speedup_prediction *p) {
  double latest = s->event[s->count - 1].end;
  tsanom_status status = tsn_loop_predict(&s->loop, now, expected, latest, p);
  if (status == TSANOM_OK) add_interval(s, p);
  return status;
}

tsanom_status tsanom_speedup_summarize(const tsanom_speedup_event *events, size_t count,
                                       const tsanom_dpd_iteration *iterations,
                                       size_t iteration_count,
                                       const tsanom_speedup_options *options,
                                       uint64_t expected, const tsanom_exec *exec,
                                       tsanom_speedup_loop *loop,
                                       tsanom_speedup_prediction *prediction) {
  summary s = {.event = events,
               .count = count,
               .iteration = iterations,
               .iterations = iteration_count};
  tsanom_exec own;
  tsanom_speedup_prediction p;
  tsanom_status status = read_call(&s, options, exec, &own);
  if (status < 0) return status;
  if (!loop) return tsn_reject(&own, TSANOM_E_NULL, "loop");
  if (prediction) status = tsn_versioned_check(&tsn_prediction_type, prediction);
  if (status < 0) return tsn_reject(&own, status, "prediction");
  if ((status = check(&s, &own)) < 0) return status;
  tsn_environment before = tsn_environment_enter();
  uint64_t now = add_up(&s);
  tsn_loop_describe(&s.loop, s.options.baseline, loop);
  status = prediction ? predict(&s, now, expected, &p) : TSANOM_OK;
  tsn_environment_leave(before);
  if (prediction && status == TSANOM_OK) {
    tsn_versioned_write(&tsn_prediction_type, prediction, &p);
  }
  return status;
}
