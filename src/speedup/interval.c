/* SPDX-License-Identifier: BSD-3-Clause */
/* What the missing iterations of a loop are expected to take, with an interval.
 *
 *   iteration  |warm-up      |1    |2    |3    | ... |n    |      N - n to come
 *   seconds    ..............x_1   x_2   x_3         x_n          forecast.c: their mean
 *
 * The interval is that of stationary iterations, which may depend on earlier ones, and
 * among which long ones are rare events of their own (forecast.c). It is "unknown" if its
 * longest remaining time is more than twice the shortest. If a line explains 4/5 of the
 * variance of the means of 8 parts, and changes by a tenth, iterations drift: no constant
 * describes them, and the end is not known.
 *
 * The mean limits outliers, because an interruption at the start need not come again; the
 * interval does not, because it may. But three kinds of outliers do come again:
 *
 * - The program's own work. An iteration that has c times the usual number of regions may
 *   take c times as long as another one before it is limited.
 * - A cycle: each K-th iteration is an outlier, and there are three such without an
 *   exception. They are not limited, and the mean is over the latest whole cycles, so
 *   that each phase counts as often as it comes.
 * - What at least half of the parts have: short iterations on a machine that others use
 *   are interrupted all the time. Then what the limit took away is added, of each part at
 *   most three times the median. For six workloads on such a machine, the predictions
 *   after a quarter were off by 26 % in the mean, nearly all too early, and by 9 % with
 *   this addition. */
#include <math.h>

#include "core/size.h"
#include "core/sort.h"
#include "speedup/forecast.h"
#include "speedup/summary.h"

enum { PARTS_MOST = 8, PARTS_LEAST = 4, PARTS_OF_LINE = 5 };

/* A drift: the line explains this share of the variance, and changes by this part of the
 * mean. */
static const double line_least = 0.8, drift_least = 0.1;

/* Of what outliers add, a part counts at most this multiple of the median. */
static const double excess_most = 3;

/* A long iteration takes this multiple of the median, and as many robust deviations
 * more, which normal iterations exceed by 1e-9. */
static const double long_medians = 3, long_deviations = 6;

/* The deviation of normal iterations is this multiple of the median of theirs. */
static const double normal_deviation = 1.4826;

/* The limits need many iterations: of the first, one in this number is left out. */
enum { WARM_UP = 10 };

/* A cycle is at least this many outliers; it is looked for in the gaps before that many
 * of the latest. */
enum { CYCLE_LEAST = 3, CYCLE_TRIALS = 8 };

/* The iterations on which a prediction is based: the typical ones of [first, end). */
typedef struct {
  const tsn_summary *summary;
  double most; /* longer ones are outliers */
  size_t first, end;
  uint64_t typical, used;
  size_t cycle, phase; /* those of number phase modulo cycle are; 0: no cycle */
} basis;

/* The means of parts of the iterations, with outliers limited and as they are. */
typedef struct {
  size_t count;
  uint64_t iterations; /* of all parts */
  double limited[PARTS_MOST], whole[PARTS_MOST];
} part_means;

/* Whether an iteration shows what the missing ones will take: it ran with the current
 * threads, and the serial code behind its last region is in it. */
static bool is_typical(const tsn_summary *s, size_t i, double *seconds) {
  tsanom_speedup_iteration iteration = tsn_summary_iteration(s, i);
  *seconds = iteration.seconds;
  return iteration.threads == s->loop.current_threads && i + 1 < s->iterations &&
         s->iteration[i + 1].first == s->iteration[i].end;
}

static bool is_outlier(const basis *b, size_t i) {
  double seconds;
  return is_typical(b->summary, i, &seconds) && seconds > b->most;
}

/* Whether iteration i and all that are a multiple of `cycle` from it are outliers. */
static bool recurs(const basis *b, size_t i, size_t cycle) {
  size_t count = 0, at = b->first + (i - b->first) % cycle;
  for (; at < b->end && is_outlier(b, at); at += cycle) count++;
  return at >= b->end && count >= CYCLE_LEAST;
}

static void find_cycle(basis *b) {
  size_t later = 0, trials = 0; /* `later`: the outlier behind, 0: none */
  for (size_t i = b->end; i > b->first && trials < CYCLE_TRIALS && !b->cycle; i--) {
    if (!is_outlier(b, i - 1)) continue;
    if (later && recurs(b, i - 1, later - (i - 1))) {
      b->cycle = later - (i - 1);
      b->phase = (i - 1) % b->cycle;
    }
    trials += later != 0;
    later = i - 1;
  }
}

/* Exclude the first typical ones. */
static void exclude(basis *b, uint64_t typical, uint64_t excluded) {
  double seconds;
  b->used = typical - excluded;
  for (b->first = 0; excluded; b->first++) {
    excluded -= is_typical(b->summary, b->first, &seconds);
  }
}

/* False: there is no typical iteration. */
static bool find_basis(const tsn_summary *s, basis *b) {
  double seconds;
  uint64_t typical = 0;
  *b = (basis){.summary = s};
  for (size_t i = 0; i < s->iterations; i++) {
    if (!is_typical(s, i, &seconds)) continue;
    typical++;
    b->end = i + 1;
  }
  if (typical == 0) return false;
  b->most = TSN_OUTLIER * tsn_times_median(tsn_loop_current(&s->loop));
  exclude(b, typical, tsn_excluded(typical));
  b->typical = typical;
  find_cycle(b);
  return true;
}

/* What an iteration counts in the mean. */
static double counted(const basis *b, size_t i, double seconds) {
  const tsanom_dpd_iteration *place = &b->summary->iteration[i];
  double events = (double)(place->end - place->first),
         usual = (double)b->summary->loop.period;
  if (b->cycle && i % b->cycle == b->phase) return seconds;
  return fmin(seconds, b->most * fmax(1, events / usual));
}

/* What outliers of the program's own work, and of a cycle, add to what an iteration is
 * expected to take. */
static double own_work(const basis *b) {
  double sum = 0, seconds;
  size_t whole = b->cycle ? (b->end - b->first) / b->cycle * b->cycle : 0, count = 0;
  for (size_t i = b->end - whole; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    sum += counted(b, i, seconds);
    count++;
  }
  if (count) return sum / (double)count - tsn_loop_expected(&b->summary->loop);
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    sum += counted(b, i, seconds) - fmin(seconds, b->most);
  }
  return sum / (double)b->used;
}

/* The mean times of up to 8 parts of the typical iterations behind the warm-up; no parts
 * if these are fewer than four. Limited, an iteration counts at most TSN_OUTLIER medians,
 * as in tsn_loop_expected(), but for the program's own work. */
static void take_parts(const basis *b, part_means *parts) {
  double seconds;
  uint64_t number = 0, in_part[PARTS_MOST] = {0};
  *parts = (part_means){.count = 0};
  if (b->used < PARTS_LEAST) return;
  size_t k = b->used < PARTS_MOST ? (size_t)b->used : PARTS_MOST;
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    size_t part = (size_t)(number++ * k / b->used);
    parts->limited[part] += counted(b, i, seconds);
    parts->whole[part] += seconds;
    in_part[part]++;
  }
  for (size_t i = 0; i < k; i++) {
    parts->limited[i] /= (double)in_part[i];
    parts->whole[i] /= (double)in_part[i];
  }
  parts->count = k;
  parts->iterations = b->used;
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

/* Whether a line through the means explains most of their variance, and changes. */
static bool drift(const part_means *parts) {
  double share, slope = slope_of(parts->limited, parts->count, &share);
  double change = fabs(slope) * (double)(parts->count - 1);
  return parts->count >= PARTS_OF_LINE && share >= line_least &&
         change > drift_least * mean_of(parts->limited, parts->count);
}

/* The median, and the time from which an iteration is long, of up to TSN_FORECAST_MOST
 * iterations at equal distances; `x` is overwritten. */
static double long_from(const basis *b, double *x, double *median) {
  size_t stride = b->used / TSN_FORECAST_MOST + 1, number = 0, count = 0;
  double seconds;
  for (size_t i = b->first; i < b->end; i++) {
    if (is_typical(b->summary, i, &seconds) && number++ % stride == 0)
      x[count++] = seconds;
  }
  *median = tsn_median(x, count);
  for (size_t i = 0; i < count; i++) x[i] = fabs(x[i] - *median);
  double deviation = normal_deviation * tsn_median(x, count);
  return fmax(long_medians * *median, *median + long_deviations * deviation);
}

/* The typical iterations as values: means of `each` of them, without long ones. Returns
 * what those of a cycle add to an iteration. */
static double take_values(const basis *b, tsn_forecast *f) {
  double seconds, median, sum = 0, squares = 0, cyclic = 0;
  double most = long_from(b, f->value, &median);
  size_t each = (b->used + TSN_FORECAST_MOST - 1) / TSN_FORECAST_MOST, number = 0;
  size_t count = b->used / each, dropped = b->used - count * each;
  f->count = count;
  f->each = (double)each;
  f->number = (double)b->used;
  f->longs = 0;
  for (size_t k = 0; k < count; k++) f->value[k] = 0;
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    double more = fmax(0, seconds - median);
    if (b->cycle && i % b->cycle == b->phase) {
      cyclic += more / (double)b->used;
      seconds = median;
    } else if (seconds > most) {
      f->longs++;
      sum += more;
      squares += more * more;
      seconds = median;
    }
    if (number++ >= dropped) f->value[(number - 1 - dropped) / each] += seconds / f->each;
  }
  f->size = f->longs > 0 ? sum / f->longs : 0;
  double off = squares - sum * f->size;
  f->deviation = f->longs > 1 ? sqrt(fmax(0, off) / (f->longs - 1)) : f->size;
  return cyclic;
}

/* The interval, which contains the expected end. */
static void set_limits(const basis *b, uint64_t left, tsanom_speedup_prediction *p) {
  tsn_forecast known;
  basis all = *b;
  exclude(&all, b->typical, b->typical / WARM_UP);
  if (!all.used) return;
  double low, high, more = take_values(&all, &known), count = (double)left;
  if (!tsn_forecast_limits(&known, count, &low, &high)) return;
  double from = b->summary->loop.last;
  p->low_s = fmin(from + count * (low + more), p->total_s);
  p->high_s = fmax(from + count * (high + more), p->total_s);
}

/* A loop that has more iterations than the caller expects is another one than meant: its
 * end is not known. */
void tsn_summary_predict(const tsn_summary *s, uint64_t wanted,
                         tsanom_speedup_prediction *p) {
  uint64_t left = p->expected - p->iterations;
  basis known;
  part_means parts;
  if (left == 0 && wanted && wanted < p->iterations) return;
  if (left == 0) p->low_s = p->high_s = p->total_s;
  if (left == 0) return;
  if (!find_basis(s, &known)) return;
  take_parts(&known, &parts);
  if (parts.count == 0) return;
  p->drifts = drift(&parts);
  if (p->drifts) {
    p->remaining_s = p->total_s = NAN;
    return;
  }
  p->total_s += (double)left * (own_work(&known) + recurring(&parts));
  set_limits(&known, left, p);
}
