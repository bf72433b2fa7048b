/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a series: the noise, the changes of a whole series, and for each the interval
 * of its place, which are the places whose gain is hardly less, and of its size, by the
 * variance of the mean of autocorrelated samples, v / (1 - phi)^2 / n; at the end, a
 * detector that receives samples while they are measured. */
#include <math.h>
#include <string.h>

#include "change/change.h"
#include "change/critical.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/sort.h"

/* Fewest samples of a series that is judged; tsn_change_model() asks for more of
 * autocorrelated ones. */
enum { LEAST = 30 };

/* The noise of a series: outliers, autocorrelation, variance.
 *
 *   x  ---->  y: outliers become the median of eleven samples around them
 *      ---->  e_i = y_i - phi y_(i-1): innovations, uncorrelated if y is autoregressive
 *
 * A level that changes by d changes the mean of e by (1 - phi) d, in every unit, so that
 * sums of e find it as well. phi is first estimated by differences, which changes of level
 * hardly disturb (I. Tecuapetla-Gomez, A. Munk, Scand. J. Statist. 44 (2017) 346-368):
 *
 *   E (y_i - y_(i-1))^2 = 2 v (1 - phi),   E (y_i - y_(i-2))^2 = 2 v (1 - phi^2)
 *
 * so that their ratio is 1 + phi; and then, with half of that variance, by the residuals
 * of the levels found so far. */

/* Standard deviation of normal samples over the median of their absolute values. */
#define NORMAL_OF_MEDIAN 1.4826

/* Samples of the local median, and the deviations from it of an outlier. */
enum { WINDOW = 11 };
#define OUTLIER 4.0

/* Largest autocorrelation that is modeled; beyond it a series is too short anyway. */
#define PHI_MAX 0.98

static double median_of(double *values, size_t count) {
  tsn_select(values, count, count / 2);
  return values[count / 2];
}

double tsn_change_deviation(double *absolute, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += absolute[i];
  double median = median_of(absolute, count);
  return median > 0 ? NORMAL_OF_MEDIAN * median : 1.2533 * sum / (double)count;
}

static double median_of_window(const double *x) {
  double sorted[WINDOW];
  for (int i = 0; i < WINDOW; i++) {
    int k = i;
    for (; k > 0 && sorted[k - 1] > x[i]; k--) sorted[k] = sorted[k - 1];
    sorted[k] = x[i];
  }
  return sorted[WINDOW / 2];
}

/* The samples in units of a power of two above them, so that no square overflows. */
static const double *to_units(tsn_change_series *s) {
  double largest = 0;
  int exponent = 0;
  for (size_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(s->x[i]));
  (void)frexp(largest, &exponent);
  exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
  s->unit = ldexp(1, exponent);
  double factor = ldexp(1, -exponent), *x = s->moment;
  for (size_t i = 0; i < s->n; i++) x[i] = s->x[i] * factor;
  return x;
}

/* The window of samples near an end is the first or the last one. */
static void remove_outliers(tsn_change_series *s) {
  size_t n = s->n;
  const double *x = to_units(s);
  for (size_t i = 0; i < n; i++) {
    size_t first = i < WINDOW / 2 ? 0 : tsn_smaller(i - WINDOW / 2, n - WINDOW);
    s->y[i] = median_of_window(x + first);
    s->scratch[i] = fabs(x[i] - s->y[i]);
  }
  double limit = OUTLIER * tsn_change_deviation(s->scratch, n);
  for (size_t i = 0; i < n; i++) {
    if (fabs(x[i] - s->y[i]) <= limit) s->y[i] = x[i];
    s->scratch[i] = s->y[i];
  }
  s->middle = median_of(s->scratch, n);
  for (size_t i = 0; i < n; i++) s->y[i] -= s->middle;
}

/* Mean square of differences of a lag without those that contain a change. */
static double mean_square_difference(const tsn_change_series *s, size_t lag) {
  size_t count = s->n - lag, kept = 0;
  for (size_t i = 0; i < count; i++) s->scratch[i] = fabs(s->y[i + lag] - s->y[i]);
  double limit = OUTLIER * tsn_change_deviation(s->scratch, count), sum = 0;
  for (size_t i = 0; i < count; i++) {
    double d = s->y[i + lag] - s->y[i];
    if (fabs(d) > limit) continue;
    sum += d * d;
    kept++;
  }
  return kept ? sum / (double)kept : 0;
}

static double innovation(const tsn_change_series *s, size_t i) {
  return i ? s->y[i] - s->phi * s->y[i - 1] : (1 - s->phi) * s->y[0];
}

/* Samples of at most 1 are rounded to 1e-16, so that no change is below 1e-12. */
static void sum_up(tsn_change_series *s) {
  s->deviation = fmax(s->deviation, 1e-12);
  s->sum[0] = s->moment[0] = 0;
  for (size_t i = 0; i < s->n; i++) {
    double e = innovation(s, i) / s->deviation;
    s->sum[i + 1] = s->sum[i] + e;
    s->moment[i + 1] = s->moment[i] + e * (double)i;
  }
}

/* First estimates of y, phi, deviation and sums from x. */
static void prepare(tsn_change_series *s) {
  remove_outliers(s);
  double one = mean_square_difference(s, 1), two = mean_square_difference(s, 2);
  s->phi = one > 0 ? fmin(fmax(two / one - 1, 0), PHI_MAX) : 0;
  /* Var y = one / (2 (1 - phi)), Var e = (1 - phi^2) Var y */
  s->deviation = sqrt(one * (1 + s->phi) / 2);
  sum_up(s);
}

/* The first innovation of level j that does not contain the step to it: that of its first
 * sample has the whole step, others 1 - phi of it. */
static size_t begin_of(const tsn_change_series *s, size_t j) {
  return s->ends[j] + (j > 0);
}

static double residual_variance(const tsn_change_series *s) {
  double sum = 0, freedom = 0;
  for (size_t j = 0; j + 1 < s->end_count; j++) {
    size_t begin = begin_of(s, j), end = s->ends[j + 1];
    double mean = 0;
    for (size_t i = begin; i < end; i++) mean += innovation(s, i);
    mean /= (double)(end - begin);
    for (size_t i = begin; i < end; i++) {
      double r = innovation(s, i) - mean;
      sum += r * r;
    }
    freedom += (double)(end - begin) - 1;
  }
  return sum / fmax(freedom - 1, 1);
}

/* Samples of a batch whose mean shows what correlation is left. */
enum { BATCH = 40, BATCHES_LEAST = 24 };

/* Variance of the innovations at low frequency: BATCH times that of the means of batches,
 * which do not cross a change. The variance itself where there are few batches. */
static double long_run_variance(const tsn_change_series *s, double variance) {
  double sum = 0, batches = 0, freedom = 0;
  for (size_t j = 0; j + 1 < s->end_count; j++) {
    size_t begin = begin_of(s, j), count = (s->ends[j + 1] - begin) / BATCH;
    if (count < 2) continue;
    double mean = 0, squares = 0;
    for (size_t b = 0; b < count; b++) {
      double batch = 0;
      for (size_t i = 0; i < BATCH; i++) batch += innovation(s, begin + b * BATCH + i);
      batch /= BATCH;
      double d = batch - mean;
      mean += d / (double)(b + 1);
      squares += d * (batch - mean);
    }
    sum += squares;
    batches += (double)count;
    freedom += (double)count - 1;
  }
  return batches < BATCHES_LEAST ? variance : fmax(variance, BATCH * sum / freedom);
}

/* Estimate phi and the deviation from the residuals of the levels in `ends`. */
static void refit(tsn_change_series *s) {
  double product = 0, square = 0;
  for (size_t j = 0; j + 1 < s->end_count; j++) {
    size_t begin = s->ends[j], end = s->ends[j + 1];
    double mean = 0;
    for (size_t i = begin; i < end; i++) mean += s->y[i];
    mean /= (double)(end - begin);
    for (size_t i = begin; i < end; i++) {
      double r = s->y[i] - mean;
      square += r * r;
      if (i > begin) product += r * (s->y[i - 1] - mean);
    }
  }
  double phi = square > 0 ? product / square : 0;
  double levels = (double)(s->end_count - 1);
  phi += levels * (1 + 4 * phi) / (2 * (double)s->n);
  s->phi = fmin(fmax(phi, 0), PHI_MAX);
  s->variance = residual_variance(s);
  s->deviation = sqrt(long_run_variance(s, s->variance));
  sum_up(s);
}

/* Several changes: one is looked for in each of O(n) intervals, whose lengths fall by
 * sqrt(2) from layer to layer, and which overlap by half:
 *
 *   layer 0   |-------------------------------|
 *   layer 1   |---------------------|
 *                       |---------------------|
 *   layer 2   |---------------|
 *                   |---------------|
 *                           |---------------|  ...
 *
 * together O(n log n) (S. Kovacs, P. Buhlmann, H. Li, A. Munk, Seeded binary segmentation,
 * Biometrika 110 (2023) 249-256). The change with the largest gain is taken first; an
 * interval that contains it is dropped. Then each is looked for again between its
 * neighbors, and dropped if it is not significant there.
 *
 * Short intervals are many, so that their largest gain is 2 log(n / length) larger than
 * that of the whole (L. Dumbgen, V. Spokoiny, Ann. Statist. 29 (2001) 124-152). This is
 * subtracted, so that the error rate is spread evenly over the scales.
 *
 * A line explains a drift better than a step does, and a step a change: the gain of a step
 * must exceed that of a line. */

/* Innovations of the shortest interval. */
enum { SHORTEST = 2 * TSN_CHANGE_SIDE + 4 };

/* Passes over all changes, at most; usually two are enough. */
enum { PASSES = 20 };

/* Gain of the levels by which the noise is estimated: about that of significant changes.
 * If it is lower, levels follow the noise of strongly correlated series, whose correlation
 * is then estimated too low; if it is higher, changes are taken for correlation. */
#define MODEL_GAIN 20.0

/* By how much the gain of a change exceeds that of a line. Were it constant, a drift
 * would be taken for a step in the longer series, which show smaller drifts: a drift of a
 * fifth of the scatter in 3 % of series of 4000 samples at 9. A larger one costs power:
 * at 12 a step by the scatter in 400 samples with phi = 0.5 is found in 56 % instead of
 * 72 %. */
static double drift_guard(size_t n) {
  return 9 + 5 * fmax(0, log10((double)n / 400));
}

static bool before(const tsn_change_seed *a, const tsn_change_seed *b) {
  return a->gain > b->gain || (a->gain == b->gain && a->begin < b->begin) ||
         (a->gain == b->gain && a->begin == b->begin && a->end < b->end);
}

static void sort_seeds(tsn_change_seed *values, size_t count);

TSN_HEAPSORT(sort_seeds, tsn_change_seed, before)

static size_t layer_length(size_t n, int layer) {
  return (size_t)ceil((double)n * exp2(-0.5 * layer));
}

static size_t layer_count(int layer) {
  return 2 * (size_t)ceil(exp2(0.5 * layer) - 1e-9) - 1;
}

static size_t count_seeds(size_t n) {
  size_t seeds = 0;
  for (int layer = 0; layer_length(n, layer) >= SHORTEST; layer++) {
    seeds += layer_count(layer);
  }
  return seeds;
}

void tsn_change_layout(tsn_arena *arena, tsn_change_series *s) {
  size_t n = s->n;
  s->y = tsn_arena_take(arena, n, sizeof *s->y);
  s->scratch = tsn_arena_take(arena, n, sizeof *s->scratch);
  s->sum = tsn_arena_take(arena, n + 1, sizeof *s->sum);
  s->moment = tsn_arena_take(arena, n + 1, sizeof *s->moment);
  s->changed = tsn_arena_take(arena, n, sizeof *s->changed);
  s->seeds = tsn_arena_take(arena, count_seeds(n), sizeof *s->seeds);
  s->ends = tsn_arena_take(arena, n / TSN_CHANGE_SIDE + 2, sizeof *s->ends);
}

/* Fewest innovations on each side of a change: the ends of a long interval have shorter
 * ones. A change that was found near an end stays there. */
static size_t side_of(size_t begin, size_t end, size_t near) {
  size_t side = tsn_larger(TSN_CHANGE_SIDE, (end - begin) / 40);
  return tsn_smaller(side, tsn_smaller(near - begin, end - near));
}

/* What a line explains in [begin, end). */
static double line_gain(const tsn_change_series *s, size_t begin, size_t end) {
  double m = (double)(end - begin), center = (double)begin + (m - 1) / 2;
  double slope =
      s->moment[end] - s->moment[begin] - center * (s->sum[end] - s->sum[begin]);
  return slope * slope * 12 / (m * (m * m - 1));
}

/* The best place of one change between innovations begin and end, and its gain; *at is a
 * place between them, and becomes the best one. */
static double change_best(const tsn_change_series *s, size_t begin, size_t end,
                          size_t *at) {
  const double *sum = s->sum + begin;
  size_t length = end - begin, side = side_of(begin, end, *at);
  double best = s->kernels->scan(sum, length, side), n = (double)length;
  double mean = (sum[length] - sum[0]) / n;
  for (size_t k = side; k <= length - side; k++) {
    if (tsn_change_gain(sum[k] - sum[0], n, mean, (double)k) == best) {
      *at = begin + k;
      return best;
    }
  }
  return best;
}

/* Judge the best change of an interval: its gain less that of the scale; -infinity: none that
 * exceeds a line. */
static double judge(const tsn_change_series *s, tsn_change_seed *seed, double threshold,
                    double guard) {
  size_t length = seed->end - seed->begin, side;
  side = seed->at > seed->begin ? side_of(seed->begin, seed->end, seed->at) : 0;
  if (side < TSN_CHANGE_SIDE) return -INFINITY;
  double scale = 2 * log((double)s->n / (double)length);
  double gain = s->kernels->scan(s->sum + seed->begin, length, side);
  if (gain - scale <= threshold) return gain - scale;
  if (gain - line_gain(s, seed->begin, seed->end) <= guard) return -INFINITY;
  seed->gain = change_best(s, seed->begin, seed->end, &seed->at);
  return gain - scale;
}

static void mark(tsn_change_series *s, size_t candidates) {
  sort_seeds(s->seeds, candidates);
  memset(s->changed, 0, s->n);
  for (size_t i = 0; i < candidates; i++) {
    const tsn_change_seed *seed = &s->seeds[i];
    if (memchr(s->changed + seed->begin, 1, seed->end - seed->begin)) continue;
    s->changed[seed->at] = 1;
  }
  s->end_count = 0;
  s->ends[s->end_count++] = 0;
  for (size_t i = 1; i < s->n; i++) {
    if (s->changed[i]) s->ends[s->end_count++] = i;
  }
  s->ends[s->end_count++] = s->n;
}

/* Look for each change again between its neighbors; returns whether one was dropped. */
static bool settle(tsn_change_series *s, double threshold, double guard) {
  size_t kept = 1;
  bool dropped = false;
  for (size_t j = 1; j + 1 < s->end_count; j++) {
    tsn_change_seed seed = {
        .begin = begin_of(s, kept - 1), .end = s->ends[j + 1], .at = s->ends[j]};
    if (judge(s, &seed, threshold, guard) > threshold) {
      s->ends[kept++] = seed.at;
    } else {
      dropped = true;
    }
  }
  s->ends[kept++] = s->n;
  s->end_count = kept;
  return dropped;
}

static double search(tsn_change_series *s, double threshold, double guard) {
  size_t candidates = 0;
  double best = -INFINITY;
  for (int layer = 0; layer_length(s->n, layer) >= SHORTEST; layer++) {
    size_t length = layer_length(s->n, layer), count = layer_count(layer);
    for (size_t i = 0; i < count; i++) {
      size_t begin =
          count < 2 ? 0
                    : (size_t)((double)(s->n - length) * (double)i / (double)(count - 1));
      tsn_change_seed seed = {begin, begin + length, begin + length / 2, 0};
      double gain = judge(s, &seed, threshold, guard);
      best = fmax(best, gain);
      if (gain > threshold) s->seeds[candidates++] = seed;
    }
  }
  mark(s, candidates);
  for (int pass = 0; pass < PASSES && settle(s, threshold, guard); pass++) continue;
  return best;
}

/* n samples are worth n (1 - phi) / (1 + phi) independent ones. 20 are enough to see a
 * change, but the estimate of a large phi needs more: with 400 samples and phi = 0.9 it is
 * often so low that only absurd critical gains would keep the error rate.
 *
 * A series has at least two levels here: a change that is not significant is noise whose
 * correlation would be estimated too high. */
bool tsn_change_model(tsn_change_series *s) {
  prepare(s);
  search(s, MODEL_GAIN, -INFINITY);
  if (s->end_count == 2) {
    s->ends[1] = s->n / 2;
    change_best(s, 0, s->n, &s->ends[1]);
    s->ends[s->end_count++] = s->n;
  }
  refit(s);
  return (double)s->n * (1 - s->phi) >= (20 + 25 * s->phi) * (1 + s->phi);
}

/* The same of a series that has one level. */
static void model_level(tsn_change_series *s) {
  prepare(s);
  s->ends[0] = 0;
  s->ends[1] = s->n;
  s->end_count = 2;
  refit(s);
}

double tsn_change_search(tsn_change_series *s, double threshold) {
  return search(s, threshold, drift_guard(s->n));
}

/* Critical gains. A gain is the square of a normalized difference of means, the largest of
 * many: its tail falls like exp(-gain / 2) for known noise, and more slowly for noise that
 * is estimated from the same samples. So the critical gains are simulated; they are
 * interpolated by phi, log n and log level. bench/tables/change_critical.c prints the
 * table. Its values beyond 16000 samples are those of 16000. */

const double tsn_change_lengths[TSN_CHANGE_LENGTHS] = {30,  50,   100,  200,
                                                       400, 1000, 4000, 16000};
const double tsn_change_phis[TSN_CHANGE_PHIS] = {0, 0.3, 0.5, 0.7, 0.8, 0.9};
const double tsn_change_levels[TSN_CHANGE_LEVELS] = {0.05, 0.01, 0.001};

#include "change/critical_table.h"

/* The cell of the axis in which the value lies, and where in it: 0 to 1. */
static int cell(const double *axis, int count, double value, double *part) {
  int i = 0;
  while (i < count - 2 && value >= axis[i + 1]) i++;
  *part = fmin(fmax((value - axis[i]) / (axis[i + 1] - axis[i]), 0), 1);
  return i;
}

double tsn_change_interpolate(const double *row, double phi) {
  double part;
  int j = cell(tsn_change_phis, TSN_CHANGE_PHIS, phi, &part);
  return (1 - part) * row[j] + part * row[j + 1];
}

/* Critical gain of one of the levels. */
static double gain_of(size_t n, double phi, int level) {
  double axis[TSN_CHANGE_LENGTHS], part;
  for (int i = 0; i < TSN_CHANGE_LENGTHS; i++) axis[i] = log(tsn_change_lengths[i]);
  int i = cell(axis, TSN_CHANGE_LENGTHS, log((double)n), &part);
  return (1 - part) * tsn_change_interpolate(critical[i][level], phi) +
         part * tsn_change_interpolate(critical[i + 1][level], phi);
}

double tsn_change_critical(size_t n, double phi, double level) {
  const double *levels = tsn_change_levels;
  int k = level < levels[1] ? 1 : 0;
  double low = gain_of(n, phi, k), high = gain_of(n, phi, k + 1);
  return low + (high - low) * log(level / levels[k]) / log(levels[k + 1] / levels[k]);
}

double tsn_change_significance(size_t n, double phi, double gain) {
  const double *levels = tsn_change_levels;
  int k = gain > gain_of(n, phi, 1) ? 1 : 0;
  double low = gain_of(n, phi, k), high = gain_of(n, phi, k + 1);
  double part = (gain - low) / (high - low);
  return fmin(1, levels[k] * pow(levels[k + 1] / levels[k], part));
}

/* The true place of a change has at least the gain of the best place less this with 95 %:
 * P(difference > x) = 1 - (1 - exp(-x/2))^2, as for a small change of the mean of normal
 * samples (Y.-C. Yao, Ann. Statist. 15 (1987) 1321-1328). */
#define PLACE_DROP 7.352

/* Two-sided 95 % of a normal variable, and a little more: phi and the variance are
 * estimated. */
#define NORMAL_95 2.05

typedef struct {
  tsn_change_series series;
  tsanom_change_options options;
  tsanom_exec exec;
  tsanom_change_point *points;
  size_t capacity, count;
  size_t *wanted; /* the caller's count */
} find_call;

static void layout(tsn_arena *arena, void *context) {
  tsn_change_layout(arena, &((find_call *)context)->series);
}

static double mean_of(const double *y, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; i++) sum += y[i];
  return sum / (double)(end - begin);
}

/* The places from the first to the last whose gain is hardly less than that of the best. */
static void place(const tsn_change_series *s, size_t begin, size_t end, double gain,
                  tsanom_change_point *point) {
  const double *sum = s->sum + begin;
  double n = (double)(end - begin), mean = (sum[end - begin] - sum[0]) / n;
  point->low = point->high = point->at;
  for (size_t k = 1; k < end - begin; k++) {
    if (tsn_change_gain(sum[k] - sum[0], n, mean, (double)k) < gain - PLACE_DROP)
      continue;
    if (begin + k < point->low) point->low = begin + k;
    if (begin + k > point->high) point->high = begin + k;
  }
}

/* Next to a change and an outlier, a sample of the one level may have been taken for an
 * outlier of the other: it belongs to the level that it is nearer to. The level that ends
 * at end keeps its fewest samples. */
static uint64_t corrected(const tsn_change_series *s, uint64_t at, uint64_t end,
                          double before, double after) {
  for (int i = 0; i < TSN_CHANGE_SIDE && at + TSN_CHANGE_SIDE < end; i++, at++) {
    double x = s->x[at] / s->unit - s->middle;
    if (x == s->y[at] || fabs(x - before) >= fabs(x - after)) break;
  }
  return at;
}

/* The change at ends[j], between its neighbors. */
static tsanom_change_point point_of(const tsn_change_series *s, size_t j) {
  size_t begin = begin_of(s, j - 1), at = s->ends[j], end = s->ends[j + 1];
  size_t best = at;
  tsanom_change_point point = {.at = at};
  double gain = change_best(s, begin, end, &best);
  place(s, begin, end, gain, &point);
  double before = mean_of(s->y, s->ends[j - 1], at), after = mean_of(s->y, at, end);
  point.at = corrected(s, at, end, before, after);
  if (point.at > point.high) point.high = point.at;
  double error = NORMAL_95 * s->deviation / (1 - s->phi) *
                 sqrt(1 / (double)(at - begin) + 1 / (double)(end - at));
  point.before = (before + s->middle) * s->unit;
  point.after = (after + s->middle) * s->unit;
  point.size = (after - before) * s->unit;
  point.size_low = (after - before - error) * s->unit;
  point.size_high = (after - before + error) * s->unit;
  double scale = 2 * log((double)s->n / (double)(end - begin));
  point.significance = tsn_change_significance(s->n, s->phi, gain - scale);
  return point;
}

/* Standard errors of phi by which it may be larger than its estimate from few samples. */
#define PHI_ERRORS 3.0

/* Too few samples for their autocorrelation: only what is significant with the largest phi that
 * is likely counts. */
static void assume_largest_phi(tsn_change_series *s) {
  double error = sqrt((1 - s->phi * s->phi) / (double)s->n);
  s->phi = fmin(s->phi + PHI_ERRORS * error, PHI_MAX);
  s->deviation = sqrt(residual_variance(s));
  sum_up(s);
}

static tsanom_status body(void *context) {
  find_call *call = context;
  tsn_change_series *s = &call->series;
  if (s->n < LEAST) return TSANOM_INFEASIBLE;
  bool is_certain = tsn_change_model(s);
  if (!is_certain) assume_largest_phi(s);
  double level = call->options.level,
         threshold = tsn_change_critical(s->n, s->phi, level);
  tsn_change_search(s, threshold);
  bool dropped = true;
  while (dropped && tsn_change_confirm(s, level)) {
    dropped = settle(s, threshold, drift_guard(s->n));
  }
  call->count = s->end_count - 2;
  if (!is_certain) {
    if (!call->count) return TSANOM_INFEASIBLE;
    refit(s); /* intervals and significances are those of the estimate */
  }
  size_t stored = tsn_smaller(call->count, call->capacity);
  for (size_t j = 0; j < stored; j++) call->points[j] = point_of(s, j + 1);
  return stored < call->count ? TSANOM_PARTIAL : TSANOM_OK;
}

static tsanom_status check(void *context) {
  const find_call *call = context;
  const double *x = call->series.x;
  size_t n = call->series.n;
  tsanom_status status = tsn_require_array(&call->exec, x, n, "x");
  if (status == TSANOM_OK && call->capacity) {
    status = tsn_require_array(&call->exec, call->points, call->capacity, "points");
  }
  if (status == TSANOM_OK) status = tsn_require(&call->exec, call->wanted, "count");
  return status < 0 ? status : tsn_change_finite(x, n, "x", &call->exec);
}

tsanom_status tsanom_change_find(const double *x, size_t n,
                                 const tsanom_change_options *options,
                                 const tsanom_exec *exec, tsanom_change_point *points,
                                 size_t capacity, size_t *count) {
  find_call call = {.series = {.x = x, .n = n},
                    .points = points,
                    .capacity = capacity,
                    .wanted = count};
  tsanom_status status = tsn_exec_read(&call.exec, exec);
  if (status < 0) return status;
  status = tsn_change_options_read(&call.options, options, TSN_CHANGE_FIND, &call.exec);
  if (status < 0) return status;
  if ((status = tsn_change_count(n, "n", &call.exec)) < 0) return status;
  call.series.kernels = tsn_change_kernels_at(call.exec.isa);
  status = tsn_workspace_run(&call.exec, layout, check, body, &call);
  if (status >= 0) *count = call.count;
  return status;
}

/* Changes of a series that is still being measured, in constant memory. The first samples
 * define a level, an autocorrelation phi and a deviation, as in a whole series; two
 * cumulative sums of the innovations e of later samples y decide:
 *
 *   p = phi y',  e = (y - p) / deviation, limited,   y' = p + e deviation for the next one
 *   up = max(0, up + e - k),     down = max(0, down - e - k)
 *
 *   samples   |--- reference ---|--- watched ---------^--- reference ---|--- ...
 *                                              change | reported
 *
 * (E. S. Page, Biometrika 41 (1954) 100-115). An outlier counts at most LIMIT - k, also in
 * the prediction of the next sample. The allowance k is larger than the error of the level,
 * so that a sum does not grow without a change; it is also half the least step that is
 * found soon. When a sum exceeds the threshold, the place is the one with the largest gain
 * among the latest samples, and the detector learns the level anew. */

#define LIMIT 3.0
#define ALLOWANCE 0.7

/* Simulated (tests/change/rates.c): a sum without a change exceeds this in 1 % of 4000
 * samples, be they independent, autocorrelated up to 0.9, or with 2 % outliers. The rate
 * falls like exp(-2 k threshold), by Wald's identity. */
static double threshold_of(double level) {
  return 11.5 + log(0.01 / level) / (2 * ALLOWANCE);
}

/* What noise of two modes or with a long tail raises a sum to is no change (confirm.c). The
 * error rate is that of this number of samples. Half of the sum is left, so that a change is
 * looked at again a few samples later. */
enum { WATCHED = 4000 };
#define UNCONFIRMED 0.5

/* By how much a change of level in the reference must lower the logarithm of its variance,
 * in units of 1 / samples. */
#define CHANGE_GAIN 25.0

/* Autocorrelation beyond this cannot be estimated from a few hundred samples. */
#define PHI_LEARNED 0.96

/* Latest samples, in which the place of a change is looked for. */
enum { RECENT = 256 };

struct tsanom_change_detector {
  tsn_object owner;
  double level;   /* of false alarms */
  uint64_t taken; /* samples so far */
  size_t learned; /* samples of the reference */
  uint64_t begun; /* first sample after the reference */
  tsn_change_series reference;
  double mean; /* of the reference, in units, less its median */
  double last; /* y' */
  double up, down, threshold;
  bool pending; /* `point` has not been returned */
  tsanom_change_point point;
  double x[RECENT], e[RECENT]; /* of sample i at i % RECENT */
  double *samples;             /* of the reference; when it is learned, its innovations */
  double *pooled, *scratch;    /* reference + RECENT */
};

typedef struct {
  tsanom_exec exec;
  tsanom_change_detector *detector, **handle;
  tsn_change_series reference;
  double *samples, *pooled, *scratch;
} placement;

static void detector_layout(tsn_arena *arena, void *context) {
  placement *p = context;
  p->detector = tsn_arena_take(arena, 1, sizeof *p->detector);
  p->samples = tsn_arena_take(arena, p->reference.n, sizeof *p->samples);
  p->pooled = tsn_arena_take(arena, p->reference.n + RECENT, sizeof *p->pooled);
  p->scratch = tsn_arena_take(arena, p->reference.n + RECENT, sizeof *p->scratch);
  tsn_change_layout(arena, &p->reference);
}

static tsanom_status detector_check(void *context) {
  const placement *p = context;
  return tsn_require(&p->exec, p->handle, "detector");
}

tsanom_status tsanom_change_create(const tsanom_change_options *options,
                                   const tsanom_exec *exec,
                                   tsanom_change_detector **detector) {
  placement p = {.handle = detector};
  tsanom_change_options own;
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&p.exec, exec);
  if (status < 0) return status;
  status = tsn_change_options_read(&own, options, TSN_CHANGE_PUSH, &p.exec);
  if (status < 0) return status;
  p.reference.n = own.reference;
  p.reference.kernels = tsn_change_kernels_at(p.exec.isa);
  status = tsn_object_create(&p.exec, detector_layout, detector_check, &p, &owner);
  if (status < 0) return status;
  memset(p.detector, 0, sizeof *p.detector);
  p.detector->owner = owner;
  p.detector->reference = p.reference;
  p.detector->reference.x = p.detector->samples = p.samples;
  p.detector->pooled = p.pooled;
  p.detector->scratch = p.scratch;
  p.detector->level = own.level;
  *detector = p.detector;
  return TSANOM_OK;
}

void tsanom_change_destroy(tsanom_change_detector *detector) {
  if (!detector) return;
  tsn_object owner = detector->owner;
  tsn_object_release(&owner);
}

/* The innovation of the next sample. */
static double next_innovation(tsanom_change_detector *d, double x) {
  const tsn_change_series *r = &d->reference;
  double y = x / r->unit - r->middle - d->mean, predicted = r->phi * d->last;
  double e = fmin(fmax((y - predicted) / r->deviation, -LIMIT), LIMIT);
  d->last = predicted + e * r->deviation;
  return e;
}

/* The noise of the reference. Levels that follow correlated noise leave a phi that is too
 * low, by which alarms are raised; one level with changes in it leaves one that is too high,
 * by which changes are missed. So levels must explain much more than phi does.
 *
 * A phi that is a little too high costs little. So it is that of two standard errors more,
 * in part. */
static void learn(tsanom_change_detector *d) {
  tsn_change_series *r = &d->reference;
  double n = (double)r->n;
  model_level(r);
  double without = r->variance;
  (void)tsn_change_model(r);
  double changes = (double)(r->end_count - 2);
  if (!(without > r->variance * exp(CHANGE_GAIN * changes / n))) model_level(r);
  double doubt = 2 * sqrt((1 - r->phi * r->phi) / n);
  r->phi = fmin(r->phi * (1 + doubt), PHI_LEARNED);
  double sum = 0;
  for (size_t i = 0; i < r->n; i++) sum += r->y[i];
  d->mean = sum / (double)r->n;
  d->last = 0;
  for (size_t i = 0; i < r->n; i++) d->samples[i] = next_innovation(d, d->samples[i]);
  d->up = d->down = 0;
  d->threshold = threshold_of(d->level);
}

/* The place of the change: the sample from which on the mean innovation has the largest
 * gain, in the direction of the alarm; its interval are those with hardly less. */
static void locate(const tsanom_change_detector *d, double sign,
                   tsanom_change_point *point) {
  uint64_t first = d->begun, end = d->taken;
  if (end - first > RECENT) first = end - RECENT;
  double gains[RECENT], best = -1, sum = 0;
  for (uint64_t i = end; i-- > first;) {
    sum += d->e[i % RECENT];
    double gain = sum * sign > 0 ? sum * sum / (double)(end - i) : 0;
    gains[i - first] = gain;
    if (gain < best) continue;
    best = gain;
    point->at = i;
  }
  point->low = point->high = point->at;
  for (uint64_t i = first; i < end; i++) {
    if (gains[i - first] < best - PLACE_DROP) continue;
    if (i < point->low) point->low = i;
    if (i > point->high) point->high = i;
  }
}

/* Mean of the samples since the change, in units, each limited to `reach` from their
 * median. */
static double level_since(const tsanom_change_detector *d, uint64_t at, double reach) {
  double values[RECENT], sum = 0;
  size_t count = (size_t)(d->taken - at);
  for (size_t i = 0; i < count; i++) values[i] = d->x[(at + i) % RECENT];
  double middle = median_of(values, count);
  for (size_t i = 0; i < count; i++) {
    sum += fmin(fmax(values[i], middle - reach), middle + reach) / (double)count;
  }
  return sum;
}

/* Whether the innovations since the change are so unlike those of the reference, whatever
 * their distribution is. */
static bool is_confirmed(const tsanom_change_detector *d, uint64_t at) {
  size_t learned = d->reference.n, n = learned, after = (size_t)(d->taken - at);
  memcpy(d->pooled, d->samples, learned * sizeof *d->pooled);
  for (uint64_t i = at; i < d->taken; i++) d->pooled[n++] = d->e[i % RECENT];
  double needed = tsn_change_deviance_needed(WATCHED, after, d->level);
  return tsn_change_deviance(d->pooled, d->scratch, n, learned) > needed;
}

/* A sum has exceeded the threshold with the latest sample. Returns whether it is a change. */
static bool report(tsanom_change_detector *d, double sign, double sum) {
  const tsn_change_series *r = &d->reference;
  tsanom_change_point *point = &d->point;
  memset(point, 0, sizeof *point);
  locate(d, sign, point);
  if (!is_confirmed(d, point->at)) return false;
  double count = (double)(d->taken - point->at), unit = r->unit;
  double scatter = r->deviation / sqrt(1 - r->phi * r->phi);
  double error =
      1.98 * unit * r->deviation / (1 - r->phi) * sqrt(1 / count + 1 / (double)r->n);
  point->before = (r->middle + d->mean) * unit;
  point->after = level_since(d, point->at, LIMIT * scatter * unit);
  point->size = point->after - point->before;
  point->size_low = point->size - error;
  point->size_high = point->size + error;
  point->significance = d->level * exp(-2 * ALLOWANCE * (sum - d->threshold));
  d->pending = true;
  d->learned = 0;
  return true;
}

static void take_sample(tsanom_change_detector *d, double x) {
  size_t at = d->taken++ % RECENT;
  if (d->learned < d->reference.n) {
    d->samples[d->learned++] = x;
    d->begun = d->taken;
    if (d->learned == d->reference.n) learn(d);
    return;
  }
  double e = next_innovation(d, x);
  d->x[at] = x;
  d->e[at] = e;
  d->up = fmax(0, d->up + e - ALLOWANCE);
  d->down = fmax(0, d->down - e - ALLOWANCE);
  if (d->up > d->threshold) {
    if (!report(d, 1, d->up)) d->up *= UNCONFIRMED;
  } else if (d->down > d->threshold) {
    if (!report(d, -1, d->down)) d->down *= UNCONFIRMED;
  }
}

tsanom_status tsanom_change_push(tsanom_change_detector *detector, const double *x,
                                 size_t n, tsanom_change_point *points, size_t capacity,
                                 size_t *count, size_t *taken) {
  if (!detector || !count || !taken || (n && !x) || (capacity && !points)) {
    return TSANOM_E_NULL;
  }
  if (!tsn_array_fits(n, sizeof *x) || !tsn_array_fits(capacity, sizeof *points)) {
    return TSANOM_E_OVERFLOW;
  }
  if (!tsn_all_finite(x, n)) return TSANOM_E_NONFINITE;
  tsn_environment before = tsn_environment_enter();
  size_t found = 0, i = 0;
  for (;; i++) {
    if (detector->pending) {
      if (found == capacity) break;
      points[found++] = detector->point;
      detector->pending = false;
    }
    if (i == n) break;
    take_sample(detector, x[i]);
  }
  tsn_environment_leave(before);
  *count = found;
  *taken = i;
  return detector->pending ? TSANOM_PARTIAL : TSANOM_OK;
}
