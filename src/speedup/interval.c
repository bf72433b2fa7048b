/* SPDX-License-Identifier: BSD-3-Clause */
/* What the missing iterations of a loop are expected to take, with an interval.
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
 *   this addition.
 *
 * Of 189 predictions for real programs on a machine with other work, 169 intervals
 * contained the end, and 114 with t s sqrt(1 + 1/k). */
#include <math.h>

#include "core/size.h"
#include "speedup/summary.h"

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

/* A cycle is at least this many outliers; it is looked for in the gaps before that many
 * of the latest. */
enum { CYCLE_LEAST = 3, CYCLE_TRIALS = 8 };

/* The iterations on which a prediction is based: the typical ones of [first, end). */
typedef struct {
  const tsn_summary *summary;
  double most; /* longer ones are outliers */
  size_t first, end;
  uint64_t used;
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
  uint64_t excluded = tsn_excluded(typical);
  b->most = TSN_OUTLIER * tsn_times_median(tsn_loop_current(&s->loop));
  b->used = typical - excluded;
  for (uint64_t left = excluded; left; b->first++) {
    left -= is_typical(s, b->first, &seconds);
  }
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
  p->total_s += (double)left * own_work(&known) + again;
  p->low_s = fmax(p->total_s + fmin(trend, 0) - half, s->loop.last);
  p->high_s = p->total_s + limits - again + fmax(trend, 0) + half;
}
