/* SPDX-License-Identifier: BSD-3-Clause */
/* The period that the dips of d(m) show.
 *
 * The series is whitened, e[t] = x[t] - phi x[t-1] with phi its lag-1 autocorrelation,
 * and rho(m) = sum_t e[t] e[t-m] / sum_t e[t]^2 is computed for all delays m <= L. It is
 * the dip of the mean squared difference: d(m) / (2 n var e) = 1 - rho(m), up to the
 * ends.
 *
 *   rho  |        .           .           .
 *        |       / \         / \         / \          contrast c(k) = rho(kp) minus the
 *        |--.---'---`---.---'---`---.---'---`---.--   mean of rho over one period around
 * kp |   `.'         `.'         `.'         `    (so that slopes cancel)
 *        +-------p----------2p----------3p-------> m
 *
 * In white noise rho(m) is nearly normal with variance (n - m) / n^2, and a contrast has
 * (1 - 1/p) of that. So
 *
 *   score(p) = sum_k c(k) / sqrt((1 - 1/p) sum_k (n - kp) / n^2)
 *
 * is standard normal for a p chosen beforehand. Multiples of a period have fewer dips of
 * the same depth, divisors and neighbors have shallower ones: the period has the highest
 * score, unless it consists of parts that differ little (fundamental()). For a p that is
 * chosen as the best of many, the chance is multiplied by their number (Bonferroni).
 *
 * Noise that whitening by one coefficient leaves correlated has a larger variance, by
 * Bartlett's formula. Its lags below p/2, at most 8, are counted; later ones may be those
 * of the period. The products of sparse pulses are skewed (deviate_of()). Two more
 * conditions reject what is still not noise of that kind: the c(k) must agree with each
 * other (Student's statistic over k, in groups, because neighboring c(k) of a resonance
 * are correlated), also for the far two thirds of the multiples, and each half of the
 * series must show the period. */
#include "dpd/dpd_dips.h"

#include <math.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "core/size.h"
#include "dpd/dpd_products_kernel.h"

enum {
  LEAST_MULTIPLES = 3,    /* for an estimate of their scatter */
  GROUPS = 12,            /* of multiples */
  SHORT_LAGS = 8,         /* that count for the variance */
  MULTIPLES_OF_HALF = 64, /* tested in each half */
  MOST_PARTS = 16         /* of a period, that differ little */
};

/* Chosen on random series (bench/tables/periods_in_noise): with 4, random walks, pulses
 * and autoregressive noise pass in fewer than 1 % of the cases; true periods exceed it by
 * far. */
static const double least_consistency = 4;
/* In each half, where the period is given: one test, at 2.5 standard errors. */
static const double least_half_score = 2.5;
/* By which a multiple must be deeper, in standard errors and relative to the others. */
static const double deeper_errors = 5, deeper_ratio = 1.05;

static size_t chunks_of(size_t delays) {
  return (delays + TSN_PRODUCTS_DELAYS - 1) / TSN_PRODUCTS_DELAYS;
}

static size_t whole_tiles(size_t delays) {
  return (delays + TSN_PRODUCTS_TILE - 1) / TSN_PRODUCTS_TILE * TSN_PRODUCTS_TILE;
}

static size_t delays_of(size_t n, size_t max_period) {
  return tsn_smaller(n - 2, TSN_DIPS_PERIODS_NEEDED * max_period);
}

/* Zeros before and after the series stand for samples that do not exist, and add nothing
 * to a product. */
void tsn_dips_layout(tsn_arena *arena, size_t n, size_t max_period, tsn_dips *dips) {
  size_t delays = whole_tiles(delays_of(n, max_period)), length;
  if (__builtin_add_overflow(n, 2 * TSN_PRODUCTS_PADDING, &length)) {
    arena->overflow = true;
    return;
  }
  dips->padded = tsn_arena_take(arena, length, sizeof *dips->padded);
  dips->rho = tsn_arena_take(arena, delays + 1, sizeof *dips->rho);
  dips->sum = tsn_arena_take(arena, delays + 2, sizeof *dips->sum);
}

/* e[t] = x[t] - phi x[t-1] without its mean; phi, the lag-1 autocorrelation, is limited
 * to [0, 1]: 1 turns a random walk into its steps. n - 1 samples remain. Returns false if
 * they are all 0. */
static bool whiten(tsn_dips *s, const double *x, size_t n) {
  double mean = 0, square = 0, product = 0;
  for (size_t i = 0; i < n; i++) mean += x[i];
  mean /= (double)n;
  for (size_t i = 0; i < n; i++) {
    double own = x[i] - mean;
    square += own * own;
    if (i > 0) product += own * (x[i - 1] - mean);
  }
  if (!(square > 0)) return false;
  double phi = fmin(fmax(product / square, 0), 1);
  double *e = s->e = s->padded + TSN_PRODUCTS_PADDING, e_mean = 0;
  s->n = n - 1;
  for (size_t t = 0; t < s->n; t++) {
    e[t] = (x[t + 1] - mean) - phi * (x[t] - mean);
    e_mean += e[t];
  }
  e_mean /= (double)s->n;
  s->norm = 0;
  for (size_t t = 0; t < s->n; t++) {
    e[t] -= e_mean;
    s->norm += e[t] * e[t];
  }
  for (size_t i = 0; i < TSN_PRODUCTS_PADDING; i++) s->padded[i] = e[s->n + i] = 0;
  return s->norm > 0;
}

static void compute_chunks(void *context, size_t begin, size_t end, int thread) {
  const tsn_dips *s = context;
  const tsn_dpd_products_kernels *kernels = tsn_dpd_products_kernels_at(s->exec->isa);
  (void)thread;
  for (size_t c = begin; c < end; c++) {
    size_t first = 1 + c * TSN_PRODUCTS_DELAYS, left = whole_tiles(s->delays + 1 - first);
    kernels->products(s->e, s->n, first, tsn_smaller(left, TSN_PRODUCTS_DELAYS),
                      s->rho + first);
  }
}

/* rho(m) and its prefix sums, from which contrast() takes a mean over any p delays in
 * O(1). */
tsanom_status tsn_dips_correlate(tsn_dips *dips, const double *x, size_t n,
                                 size_t max_period) {
  tsn_dips *s = dips;
  s->max_period = max_period;
  s->delays = delays_of(n, max_period);
  if (!whiten(s, x, n)) return TSANOM_INFEASIBLE;
  tsanom_status status =
      tsn_parallel_for(s->exec, chunks_of(s->delays), 1, compute_chunks, s, NULL);
  if (status != TSANOM_OK) return status;
  s->rho[0] = 1;
  s->sum[0] = 0;
  s->sum[1] = 1;
  for (size_t m = 1; m <= s->delays; m++) {
    s->rho[m] /= s->norm;
    s->sum[m + 1] = s->sum[m] + s->rho[m];
  }
  return TSANOM_OK;
}

/* rho(m) minus its mean over the p delays around m; an even p has half weights at the
 * ends. m + p/2 <= delays. */
static double contrast(const tsn_dips *s, size_t m, size_t p) {
  size_t half = p / 2;
  double around = s->sum[m + half + 1] - s->sum[m - half];
  if (p % 2 == 0) around -= (s->rho[m - half] + s->rho[m + half]) / 2;
  return s->rho[m] - around / (double)p;
}

/* Number of multiples of p whose contrast is known, up to delay `most`. */
static size_t multiples(const tsn_dips *s, size_t p, size_t most) {
  size_t last = tsn_smaller(most, s->delays - tsn_smaller(s->delays, p / 2));
  return last / p;
}

/* Share of the n samples that have one m before them. */
static double weight(const tsn_dips *s, size_t m) {
  return (double)(s->n - m) / (double)s->n;
}

/* Multiples up to half of the series: those beyond rest on less than half of its samples.
 */
static double score_of(const tsn_dips *s, size_t p, double *dip) {
  size_t count = multiples(s, p, s->n / 2);
  double sum = 0, weights = 0;
  for (size_t k = 1; k <= count; k++) {
    sum += contrast(s, k * p, p);
    weights += weight(s, k * p);
  }
  if (count == 0) return 0;
  *dip = sum / weights;
  return sum / sqrt(weights / (double)s->n * (1 - 1 / (double)p));
}

/* Factor by which correlation of the whitened series increases the variance of rho. */
static double bartlett(const tsn_dips *s, size_t p) {
  double factor = 1;
  for (size_t k = 1; k <= SHORT_LAGS && 2 * k < p; k++) {
    factor += 2 * s->rho[k] * s->rho[k];
  }
  return factor;
}

/* The normal deviate that is as rare as the score of p. A product of two independent
 * values has the third moment g^2, g that of a value, and so the sum of `pairs` products
 * the skewness g^2 / sqrt(pairs). By the expansion of Cornish and Fisher, the deviate y
 * corresponds to y + a (y^2 - 1), a = skewness / 6. Sparse pulses have a large g: a few
 * of them are often at equal distances by chance. */
static double deviate_of(const tsn_dips *s, size_t p, double score) {
  double third = 0, pairs = 0, deviation = sqrt(s->norm / (double)s->n);
  for (size_t t = 0; t < s->n; t++) {
    double own = s->e[t] / deviation;
    third += own * own * own / (double)s->n;
  }
  for (size_t m = p, count = multiples(s, p, s->n / 2); count > 0; count--, m += p) {
    pairs += (double)(s->n - m);
  }
  double a = third * third / sqrt(pairs) / 6, z = score / sqrt(bartlett(s, p)) + a;
  return 2 * z / (1 + sqrt(1 + 4 * a * z));
}

/* Student's statistic of the dips from multiple `first` on: their weighted mean in units
 * of its standard error, estimated from the scatter of the means of up to 12 groups. */
static double consistency_of(const tsn_dips *s, size_t p, size_t first) {
  size_t count = multiples(s, p, s->n - 2);
  double total[GROUPS] = {0}, weights[GROUPS] = {0}, sum = 0, all = 0, squares = 0;
  if (count + 1 < first + LEAST_MULTIPLES) return INFINITY;
  size_t number = count - first + 1, groups = tsn_smaller(number, GROUPS);
  for (size_t k = first; k <= count; k++) {
    size_t group = (k - first) * groups / number;
    total[group] += contrast(s, k * p, p);
    weights[group] += weight(s, k * p);
  }
  for (size_t g = 0; g < groups; g++) {
    sum += total[g];
    all += weights[g];
  }
  double mean = sum / all;
  for (size_t g = 0; g < groups; g++) {
    double off = total[g] / weights[g] - mean;
    squares += weights[g] * off * off;
  }
  double variance = squares / (double)(groups - 1);
  return mean * sqrt(all) / sqrt(fmax(variance, 1e-30));
}

/* Whether a part of the whitened series shows the period by itself; what happened in one
 * part only does not. Only products at multiples of p are needed, O(n MULTIPLES_OF_HALF).
 */
static bool part_shows(const double *e, size_t n, size_t p) {
  double mean = 0, norm = 0, sum = 0, variance = 0;
  for (size_t t = 0; t < n; t++) mean += e[t];
  mean /= (double)n;
  for (size_t t = 0; t < n; t++) norm += (e[t] - mean) * (e[t] - mean);
  size_t most = tsn_smaller(n / 2, MULTIPLES_OF_HALF * p);
  for (size_t m = p; m <= most; m += p) {
    double product = 0;
    for (size_t t = m; t < n; t++) product += (e[t] - mean) * (e[t - m] - mean);
    sum += product;
    variance += (double)(n - m) / ((double)n * (double)n);
  }
  return sum >= least_half_score * norm * sqrt(variance) && variance > 0;
}

static bool is_period(const tsn_dips *s, const tsn_dips_choice *c, double significance) {
  size_t p = c->candidate, half = s->n / 2;
  size_t far = 1 + multiples(s, p, s->n - 2) / 3;
  return c->probability <= significance && c->consistency >= least_consistency &&
         consistency_of(s, p, far) >= least_consistency && part_shows(s->e, half, p) &&
         part_shows(s->e + half, half, p);
}

/* Whether the multiples of j p are significantly deeper than the others of p:
 *
 *     rho  |    .       .       |       .       .       |       p = 3 consists of parts
 *          +----p-------2p------3p------4p------5p------6p      that differ little */
static bool is_deeper(const tsn_dips *s, size_t p, size_t j) {
  size_t most = multiples(s, j * p, s->n / 2) * j;
  double deep = 0, deep_weights = 0, others = 0, other_weights = 0;
  for (size_t k = 1; k <= most; k++) {
    double dip = contrast(s, k * p, p), w = weight(s, k * p);
    if (k % j == 0) {
      deep += dip;
      deep_weights += w;
    } else {
      others += dip;
      other_weights += w;
    }
  }
  if (most < 2 * j) return false;
  deep /= deep_weights;
  others /= other_weights;
  double error = sqrt((1 / deep_weights + 1 / other_weights) / (double)s->n);
  return deep - others > deeper_errors * error && deep > deeper_ratio * others;
}

/* The period of which p is a part. The multiples of parts that differ little have dips
 * nearly as deep as those of the period, but more of them. */
static size_t fundamental(const tsn_dips *s, size_t p) {
  for (size_t j = 2; j <= MOST_PARTS && j * p <= s->max_period; j++) {
    if (!is_deeper(s, p, j)) continue;
    p *= j;
    j = 1;
  }
  return p;
}

/* The highest score of all p; ties go to the smallest. Bonferroni: `tail` is the chance
 * of such a score at one p. */
tsn_dips_choice tsn_dips_choose(const tsn_dips *dips, size_t least, double significance) {
  tsn_dips_choice c = {.probability = 1};
  for (size_t p = least; p <= dips->max_period; p++) {
    double dip = 0, score = score_of(dips, p, &dip);
    if (score <= c.score) continue;
    c.score = score;
    c.dip = dip;
    c.candidate = p;
  }
  if (!c.candidate) return c;
  double tail = erfc(deviate_of(dips, c.candidate, c.score) * M_SQRT1_2) / 2;
  c.probability = fmin(1, tail * (double)(dips->max_period - least + 1));
  c.consistency = consistency_of(dips, c.candidate, 1);
  if (is_period(dips, &c, significance)) c.period = fundamental(dips, c.candidate);
  return c;
}
