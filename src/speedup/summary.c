/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop whose iterations are known: the statistics of answers.c, and a prediction with
 * an interval.
 *
 *   iteration  |warm-up      |1    |2    |3    | ... |8    |      N - n to come
 *   seconds    ..............m_1   m_2   m_3         m_8          mean of these +- h
 *
 * The iterations on which the prediction is based are divided into up to 8 parts of equal
 * size. Their means m_i have the variance v, and d is the mean of (m_i+1 - m_i)^2. If the
 * speed of the machine changes at random, by the variance q from one part to the next,
 * and iterations scatter around it, the means by e, then
 *
 *     v = e + q (k + 1)/6,  d = 2 e + q,  hence  q = (2 v - d) / ((k + 1)/3 - 1),
 *
 * and the mean of the missing iterations, H parts of that size, differs from that of the
 * k known parts by the variance q (k + H)/3 besides that of e. So the interval is
 *
 *     h = t sqrt(v (1 + 1/k) + max(q, 0) (k + H)/3) + 0.05 mean,
 *
 * of which the last term is for programs that run beside it later but did not so far.
 * If a line explains half of the variance of the m_i, the interval also contains the end
 * that its continuation gives. If it explains 4/5, and changes by a tenth, iterations
 * drift: no constant describes them, and the end is not known.
 *
 * The mean limits outliers, because an interruption at the start need not come again; the
 * interval does not, because it may. But what at least half of the parts have does come
 * again: short iterations on a machine that others use are interrupted all the time. Then
 * what the limit took away is added, of each part at most three times the median. For six
 * workloads on such a machine, the predictions after a quarter were off by 26 % in the
 * mean, nearly all too early, and by 9 % with this addition. Of 189 predictions for real
 * programs on a machine with other work, 169 intervals contained the end, and 114 with t
 * s sqrt(1 + 1/k). */
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
static const double line_least = 0.8, drift_least = 0.1;

/* A line that explains this share may go on: the interval contains its end. */
static const double line_some = 0.5;

/* Of what outliers add, a part counts at most this multiple of the median. */
static const double excess_most = 3;

/* What no interval falls below, as a part of the mean. */
static const double half_least = 0.05;

/* The means of parts of the iterations, with outliers limited and as they are. */
typedef struct {
  size_t count;
  uint64_t iterations; /* of all parts */
  double limited[PARTS_MOST], whole[PARTS_MOST];
} part_means;

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

/* The mean times of up to 8 parts of the typical iterations behind the warm-up; no parts
 * if these are fewer than four. Limited, an iteration counts at most TSN_OUTLIER medians,
 * as in tsn_loop_expected(). */
static void take_parts(const summary *s, part_means *parts) {
  const tsn_times *times = tsn_loop_current(&s->loop);
  double most = TSN_OUTLIER * tsn_times_median(times), seconds;
  uint64_t typical = 0, number = 0, in_part[PARTS_MOST] = {0};
  *parts = (part_means){.count = 0};
  for (size_t i = 0; i < s->iterations; i++) typical += is_typical(s, i, &seconds);
  if (typical == 0) return;
  uint64_t excluded = tsn_excluded(typical), used = typical - excluded;
  if (used < PARTS_LEAST) return;
  size_t k = used < PARTS_MOST ? (size_t)used : PARTS_MOST;
  for (size_t i = 0; i < s->iterations; i++) {
    if (!is_typical(s, i, &seconds) || number++ < excluded) continue;
    size_t part = (size_t)((number - 1 - excluded) * k / used);
    parts->limited[part] += fmin(seconds, most);
    parts->whole[part] += seconds;
    in_part[part]++;
  }
  for (size_t i = 0; i < k; i++) {
    parts->limited[i] /= (double)in_part[i];
    parts->whole[i] /= (double)in_part[i];
  }
  parts->count = k;
  parts->iterations = used;
}

/* How many parts that many iterations are. */
static double parts_of(const part_means *parts, uint64_t iterations) {
  return (double)iterations * (double)parts->count / (double)parts->iterations;
}

static double mean_of(const double *mean, size_t k) {
  double sum = 0;
  for (size_t i = 0; i < k; i++) sum += mean[i];
  return sum / (double)k;
}

static double variance_of(const double *mean, size_t k) {
  double center = mean_of(mean, k), squares = 0;
  for (size_t i = 0; i < k; i++) squares += (mean[i] - center) * (mean[i] - center);
  return squares / (double)(k - 1);
}

/* What outliers add to the mean where they recur: 0 if less than half of the parts have
 * some. */
static double recurring(const part_means *parts) {
  size_t k = parts->count;
  tsn_times sorted = {.count = 0};
  double excess[PARTS_MOST];
  for (size_t i = 0; i < k; i++) {
    excess[i] = parts->whole[i] - parts->limited[i];
    tsn_times_insert(&sorted, excess[i]);
    sorted.count++;
  }
  double most = excess_most * tsn_times_median(&sorted);
  for (size_t i = 0; i < k; i++) excess[i] = fmin(excess[i], most);
  return mean_of(excess, k);
}

/* The slope of the line through k means, per part, and which share of the variance it
 * explains. */
static double slope_of(const double *mean, size_t k, double *share) {
  double product = 0, squares = 0, center = mean_of(mean, k);
  for (size_t i = 0; i < k; i++) {
    double x = (double)i - (double)(k - 1) / 2;
    product += x * (mean[i] - center);
    squares += x * x;
  }
  double all = variance_of(mean, k) * (double)(k - 1);
  *share = all > 0 ? product * product / squares / all : 0;
  return product / squares;
}

/* How far the mean of the `left` iterations is from that of the known ones if the line
 * through these goes on; 0: there is no line. Sets *drifts if it changes by too much. */
static double trend_of(const part_means *parts, uint64_t left, int32_t *drifts) {
  double share, slope = slope_of(parts->limited, parts->count, &share);
  double change = fabs(slope) * (double)(parts->count - 1);
  *drifts = parts->count >= PARTS_OF_LINE && share >= line_least &&
            change > drift_least * mean_of(parts->limited, parts->count);
  return share < line_some ? 0
                           : slope * ((double)parts->count + parts_of(parts, left)) / 2;
}

/* The h of the mean of `left` iterations. */
static double half_width(const part_means *parts, uint64_t left) {
  size_t k = parts->count;
  double variance = variance_of(parts->whole, k), steps = 0;
  for (size_t i = 1; i < k; i++) {
    double step = parts->whole[i] - parts->whole[i - 1];
    steps += step * step / (double)(k - 1);
  }
  double walk = fmax(0, (2 * variance - steps) / ((double)(k + 1) / 3 - 1));
  variance =
      variance * (1 + 1 / (double)k) + walk * ((double)k + parts_of(parts, left)) / 3;
  return student[k] * sqrt(variance) + half_least * mean_of(parts->limited, k);
}

/* A loop that has more iterations than the caller expects is another one than meant: its
 * end is not known. */
static void add_interval(const summary *s, uint64_t wanted,
                         tsanom_speedup_prediction *p) {
  uint64_t left = p->expected - p->iterations;
  part_means parts;
  if (left == 0 && wanted && wanted < p->iterations) return;
  if (left == 0) p->low_s = p->high_s = p->total_s;
  if (left == 0) return;
  take_parts(s, &parts);
  size_t k = parts.count;
  if (k == 0) return;
  double trend = (double)left * trend_of(&parts, left, &p->drifts);
  if (p->drifts) {
    p->remaining_s = p->total_s = NAN;
    return;
  }
  double half = (double)left * half_width(&parts, left);
  double limits = (double)left * (mean_of(parts.whole, k) - mean_of(parts.limited, k));
  double again = (double)left * recurring(&parts);
  p->total_s += again;
  p->low_s = fmax(p->total_s + fmin(trend, 0) - half, s->loop.last);
  p->high_s = p->total_s + limits - again + fmax(trend, 0) + half;
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
  if (status != TSANOM_OK) return status;
  add_interval(s, expected, p);
  if (!p->drifts) p->remaining_s = fmax(0, p->total_s - latest);
  return TSANOM_OK;
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
