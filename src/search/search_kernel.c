/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums run in 32 lanes at every level and are added in one fixed tree, so that all levels
 * return the same bits:
 *
 *     lane k = x[k] + x[k + 32] + x[k + 64] + ...,   then lanes k and k + 16, k + 8, ...
 *
 * Costs are compile-time arguments of inlined functions, which keeps branches out of the
 * loops.
 *
 * A bound of one candidate by LB_KimFL reads six samples, so that loops over samples
 * would be shorter than a vector: these loops go over candidates. LB_Keogh goes over
 * samples and is abandoned between blocks of 64 as soon as the sum exceeds the limit.
 *
 * These are the bounds of a stream. Its windows are normalized as they are read, which
 * the functions of lbkeogh cannot do: with copies of windows for these, or without
 * abandoning, a search of random walks takes 1.2 to 2.9 or 1.4 to 1.6 times as long (Zen
 * 5). */
#include "search/search_internal.h"

#include <float.h>
#include <math.h>

enum { LANES = 32 };

static inline double smaller(double a, double b) {
  return a < b ? a : b;
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

/* Force inlining: the argument `cost` is constant at each call, and loops that branch on
 * it or call through a pointer are not vectorized. */
#define ALWAYS static inline __attribute__((always_inline))

enum { ABSOLUTE, SQUARED };

ALWAYS double cost_of(double d, int cost) {
  return cost == SQUARED ? d * d : fabs(d);
}

static inline double total(const double *lane) {
  double sum[LANES];
  for (size_t k = 0; k < LANES; k++) sum[k] = lane[k];
  for (size_t half = LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) sum[k] += sum[k + half];
  }
  return sum[0];
}

/* Counts instead of returning early: a loop with an exit is not vectorized. The negated
 * comparison is true for NaN. */
static bool within(const double *x, size_t n, double limit) {
  size_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
  for (size_t i = 0; i < n; i++) beyond += !(fabs(x[i]) <= limit);
  return beyond == 0;
}

/* Largest |x - from|. */
static double farthest(const double *x, size_t n, double from) {
  double most = 0;
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < n; i++) most = larger(fabs(x[i] - from), most);
  return most;
}

static double largest(const double *x, size_t n) {
  return farthest(x, n, 0);
}

/* The power of two by which `largest` is below 1, and at least 1/2 unless it is
 * subnormal: products by it are exact. */
static double unit_of(double largest) {
  int exponent;
  (void)frexp(largest, &exponent);
  return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

/* Sum of the differences from `base` in a unit, less `mean`; squared: of their squares. */
ALWAYS double sum_about(const double *x, size_t n, double base, double unit, double mean,
                        bool squared) {
  double lane[LANES] = {0};
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
#pragma omp simd
    for (size_t k = 0; k < LANES; k++) {
      double d = (x[i + k] - base) * unit - mean;
      lane[k] += squared ? d * d : d;
    }
  }
  for (size_t k = 0; i + k < n; k++) {
    double d = (x[i + k] - base) * unit - mean;
    lane[k] += squared ? d * d : d;
  }
  return total(lane);
}

static double variance_in_unit(const double *x, size_t n, tsn_search_moments *m) {
  m->mean = sum_about(x, n, m->base, m->unit, 0, false) / (double)n;
  return sum_about(x, n, m->base, m->unit, m->mean, true) / (double)n;
}

/* Differences from the first sample: a series and a copy of it that is shifted, without
 * rounding, have the same ones. Their mean is at most sqrt(n) deviations away, so that it
 * is known to about sqrt(n) u deviations. Powers of two do not change results unless
 * squares underflow or overflow; where that may be, differences are scaled first. */
static void moments(const double *x, size_t n, tsn_search_moments *m) {
  *m = (tsn_search_moments){.base = x[0], .unit = 1};
  double variance = variance_in_unit(x, n, m);
  if (!(variance > 0x1p-900 && variance < 0x1p900)) {
    double most = farthest(x, n, x[0]);
    if (most == 0) return;
    m->unit = unit_of(most);
    variance = variance_in_unit(x, n, m);
  }
  m->inverse = 1 / sqrt(variance);
}

static void scale(const double *x, size_t n, const tsn_search_moments *moments,
                  double *out) {
  tsn_search_moments m = *moments;
#pragma omp simd
  for (size_t i = 0; i < n; i++) out[i] = ((x[i] - m.base) * m.unit - m.mean) * m.inverse;
}

/* The moments of x, as those of (x - center) * unit. NAN, with which bounds compare as
 * not above any limit, where rounding of the latter is not small against the deviation. */
static void moments_about(const double *x, size_t n, double center, double unit,
                          double *mean, double *inverse) {
  tsn_search_moments m;
  moments(x, n, &m);
  double ratio = unit / m.unit;
  *mean = (m.base - center) * unit + m.mean * ratio;
  *inverse = m.inverse / ratio;
  if (!(8 * DBL_EPSILON * *inverse <= TSN_SEARCH_ERROR)) *inverse = NAN;
}

/* Sums of a window that moves by one sample, about the mean of all samples: a pass for
 * each window takes 2.2 to 2.7 times as long in a stream of random walks (Zen 5). After
 * `count` steps the rounding error of a sum of squares is at most about (count + n) n u,
 * since deviations from that mean are scaled to at most 1; u is the unit roundoff. The
 * moments of a window whose variance is not large against it are computed directly. */
static void window_moments(const double *x, size_t count, size_t n, double *shifted,
                           double *mean, double *inverse) {
  size_t all = count + n - 1;
  double samples = (double)all, length = (double)n;
  double center = sum_about(x, all, 0, 1, 0, false) / samples;
  double unit = unit_of(farthest(x, all, center));
#pragma omp simd
  for (size_t i = 0; i < all; i++) shifted[i] = (x[i] - center) * unit;
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    sum += shifted[i];
    squares += shifted[i] * shifted[i];
  }
  for (size_t i = 0;; i++) {
    mean[i] = sum;
    inverse[i] = squares;
    if (i + 1 == count) break;
    double out = shifted[i], in = shifted[i + n];
    sum += in - out;
    squares += in * in - out * out;
  }
  double least = 4 * (samples + 8) * DBL_EPSILON / TSN_SEARCH_ERROR;
  size_t uncertain = 0;
#pragma omp simd reduction(+ : uncertain)
  for (size_t i = 0; i < count; i++) {
    double m = mean[i] / length, variance = inverse[i] / length - m * m;
    bool certain = variance > least;
    mean[i] = m;
    inverse[i] = certain ? 1 / sqrt(variance) : -1;
    uncertain += !certain;
  }
  for (size_t i = 0; uncertain > 0; i++) {
    if (!(inverse[i] < 0)) continue;
    moments_about(x + i, n, center, unit, mean + i, inverse + i);
    uncertain--;
  }
}

/* Sample i of an array by candidate, normalized. */
ALWAYS double scaled_sample(const double *x, size_t i, double mean, double inverse) {
  return (x[i] - mean) * inverse;
}

/* Three samples at one end of the query, and the weight of each of the bands of pairs
 * that end with them: 0 or 1, instead of a branch. */
typedef struct {
  double q0, q1, q2, weight0, weight1, weight2;
} query_end;

/* LB_KimFL at one end: band k holds the pairs (i, j) with max(i, j) = k, and a warping
 * path passes at least one pair of each band. Scalars, because loops over small arrays
 * are not vectorized. */
ALWAYS double bands(const query_end *e, double x0, double x1, double x2, int cost) {
  double band0 = cost_of(x0 - e->q0, cost);
  double band1 = smaller(cost_of(x1 - e->q1, cost),
                         smaller(cost_of(x1 - e->q0, cost), cost_of(x0 - e->q1, cost)));
  double early = smaller(cost_of(x2 - e->q0, cost), cost_of(x0 - e->q2, cost));
  double late = smaller(cost_of(x2 - e->q1, cost), cost_of(x1 - e->q2, cost));
  double band2 = smaller(cost_of(x2 - e->q2, cost), smaller(early, late));
  return e->weight0 * band0 + e->weight1 * band1 + e->weight2 * band2;
}

ALWAYS query_end end_of(const double *query, size_t count) {
  return (query_end){query[0], query[1], query[2], count > 0, count > 1, count > 2};
}

ALWAYS void kim(const tsn_search_ends *ends, const tsn_search_kim *kim, size_t count,
                double *restrict bounds, int cost) {
  const double *f0 = ends->front[0], *f1 = ends->front[1], *f2 = ends->front[2];
  const double *b0 = ends->back[0], *b1 = ends->back[1], *b2 = ends->back[2];
  const double *mean = kim->mean, *inverse = kim->inverse;
  query_end front = end_of(kim->query_front, ends->front_count);
  query_end back = end_of(kim->query_back, ends->back_count);
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    double m = mean[i], s = inverse[i];
    double begins = bands(&front, scaled_sample(f0, i, m, s), scaled_sample(f1, i, m, s),
                          scaled_sample(f2, i, m, s), cost);
    double ends_with =
        bands(&back, scaled_sample(b0, i, m, s), scaled_sample(b1, i, m, s),
              scaled_sample(b2, i, m, s), cost);
    bounds[i] = begins + ends_with;
  }
}

/* Addition is monotone, so that a series below another has no larger sums, in spite of
 * rounding. Reads are ahead of writes in the same array. */
static void segment_sums(const double *x, size_t count, size_t length, double *sums) {
  const double *from = x;
  for (; length > 1; length /= 2, from = sums) {
#pragma omp simd
    for (size_t i = 0; i < count * length / 2; i++)
      sums[i] = from[2 * i] + from[2 * i + 1];
  }
  for (size_t i = 0; from == x && i < count; i++) sums[i] = x[i];
}

/* t + |t| is twice the distance of a sum that is t beyond an interval; a branch would
 * prevent vectorization. */
ALWAYS void segments(const tsn_search_segments *segments, size_t first, size_t count,
                     double *restrict bounds, int cost) {
  double weight = cost == SQUARED ? 0.25 / (double)segments->length : 0.5;
  for (size_t i = 0; i < count; i++) bounds[i] = 0;
  for (size_t s = 0; s < segments->count; s++) {
    const double *restrict sums = segments->sums + s * segments->stride + first;
    double low = segments->low[s], high = segments->high[s];
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
      double t = larger(low - sums[i], sums[i] - high);
      bounds[i] += weight * cost_of(t + fabs(t), cost);
    }
  }
}

ALWAYS double keogh_term(const tsn_search_keogh *p, size_t i, int cost) {
  double lower = scaled_sample(p->lower, i, p->mean, p->inverse);
  double upper = scaled_sample(p->upper, i, p->mean, p->inverse);
  return cost_of(p->c[i] - smaller(larger(p->c[i], lower), upper), cost);
}

/* Samples between two tests against the limit. */
enum { BLOCK = 2 * LANES };

ALWAYS double keogh(const tsn_search_keogh *problem, int cost) {
  tsn_search_keogh p = *problem;
  double lane[LANES] = {0};
  size_t i = 0;
  while (i + LANES <= p.n) {
    size_t stop = p.n - i < BLOCK ? p.n : i + BLOCK;
    for (; i + LANES <= stop; i += LANES) {
#pragma omp simd
      for (size_t k = 0; k < LANES; k++) lane[k] += keogh_term(&p, i + k, cost);
    }
    if (i + LANES <= p.n) {
      double sum = total(lane);
      if (sum > p.limit) return sum;
    }
  }
  for (size_t k = 0; i + k < p.n; k++) lane[k] += keogh_term(&p, i + k, cost);
  return total(lane);
}

#define FOR_COST(suffix, cost)                                                   \
  static void kim##suffix(const tsn_search_ends *ends, const tsn_search_kim *k,  \
                          size_t count, double *bounds) {                        \
    kim(ends, k, count, bounds, cost);                                           \
  }                                                                              \
  static void segments##suffix(const tsn_search_segments *problem, size_t first, \
                               size_t count, double *bounds) {                   \
    segments(problem, first, count, bounds, cost);                               \
  }                                                                              \
  static double keogh##suffix(const tsn_search_keogh *problem) {                 \
    return keogh(problem, cost);                                                 \
  }

FOR_COST(_absolute, ABSOLUTE)
FOR_COST(_squared, SQUARED)

const tsn_search_kernels TSN_LEVEL(tsn_search_kernels) = {
    .within = within,
    .largest = largest,
    .moments = moments,
    .scale = scale,
    .window_moments = window_moments,
    .kim = {kim_absolute, kim_squared},
    .segment_sums = segment_sums,
    .segments = {segments_absolute, segments_squared},
    .keogh = {keogh_absolute, keogh_squared},
};
