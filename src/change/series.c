/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <math.h>

#include "change/change.h"
#include "core/size.h"
#include "core/sort.h"

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

/* Standard deviation of most of the values, by their absolute values in scratch. Where
 * more than half of them are 0, the mean takes the place of the median. */
static double robust_deviation(double *absolute, size_t count) {
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
  double limit = OUTLIER * robust_deviation(s->scratch, n);
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
  double limit = OUTLIER * robust_deviation(s->scratch, count), sum = 0;
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

void tsn_change_layout(tsn_arena *arena, tsn_change_series *s) {
  size_t n = s->n;
  s->y = tsn_arena_take(arena, n, sizeof *s->y);
  s->scratch = tsn_arena_take(arena, n, sizeof *s->scratch);
  s->sum = tsn_arena_take(arena, n + 1, sizeof *s->sum);
  s->moment = tsn_arena_take(arena, n + 1, sizeof *s->moment);
  s->changed = tsn_arena_take(arena, n, sizeof *s->changed);
  s->seeds = tsn_arena_take(arena, tsn_change_seeds(n), sizeof *s->seeds);
  s->ends = tsn_arena_take(arena, n / TSN_CHANGE_SIDE + 2, sizeof *s->ends);
}

void tsn_change_prepare(tsn_change_series *s) {
  remove_outliers(s);
  double one = mean_square_difference(s, 1), two = mean_square_difference(s, 2);
  s->phi = one > 0 ? fmin(fmax(two / one - 1, 0), PHI_MAX) : 0;
  /* Var y = one / (2 (1 - phi)), Var e = (1 - phi^2) Var y */
  s->deviation = sqrt(one * (1 + s->phi) / 2);
  sum_up(s);
}

static double residual_variance(const tsn_change_series *s) {
  double sum = 0, freedom = 0;
  for (size_t j = 0; j + 1 < s->end_count; j++) {
    size_t begin = tsn_change_begin(s, j), end = s->ends[j + 1];
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
    size_t begin = tsn_change_begin(s, j), count = (s->ends[j + 1] - begin) / BATCH;
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

void tsn_change_refit(tsn_change_series *s) {
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
