/* SPDX-License-Identifier: BSD-3-Clause */
/* Whitening. A trend or noise that remembers the past repeats nothing, but makes each
 * value resemble its neighbors. Two steps leave the part in which a period can be found:
 *
 *   1. The least-squares fit by 1, t and cos(pi k (t + 1/2) / n), k <= 3, is subtracted:
 *      drifts, and waves longer than those that are searched for (n/4).
 *
 *   2. The spectrum is divided by its smooth background
 *
 *        power |   :       :        a period: lines at the multiples of n/p
 *              |``.:.      :
 *              |   : ``-.__:______  background: a f^b exp(c cos 2 pi f)
 *              +-----------------> f
 *
 *      A straight line in the logarithms, a f^b, describes white noise, random walks and
 *      1/f noise; the cosine adds noise that remembers one sample only. The fit is by
 *      least absolute deviations, so that lines do not count; in the second round, lines
 *      of more than e^3 times the background are omitted (1e-6 by chance).
 *
 * The parts of step 1 are orthogonal but for the line, from which what the cosines
 * explain is subtracted. */
#include "dpd/dpd_whiten.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 5, ROUNDS = 25, BACKGROUND = 3 };

/* A line is this far above the background, in the logarithm. */
static const double line_least = 3;
/* The least absolute deviation that a weight is computed from. */
static const double deviation_least = .05;
/* What is left of a series that consists of its slow part, relative to it: rounding. */
static const double nothing = 1e-10;

void tsn_whitening_layout(tsn_arena *arena, size_t n, tsn_whitening *whitening) {
  whitening->n = 0;
  tsn_spectrum_layout(arena, n, &whitening->spectrum);
  if (arena->overflow) return;
  whitening->cosine = tsn_arena_take(arena, n, sizeof *whitening->cosine);
  whitening->line_rest = tsn_arena_take(arena, n, sizeof *whitening->line_rest);
  whitening->line = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->line);
  whitening->logarithm = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->logarithm);
  whitening->slope = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->slope);
  whitening->wave = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->wave);
  whitening->used = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->used);
}

/* cos 2a and cos 3a by cos a, of doubles and of pairs. */
#define SECOND(one) (2 * (one) * (one)-1)
#define THIRD(one) ((4 * (one) * (one)-3) * (one))

/* Sums have two lanes, of even and of odd elements, and not those that a compiler chooses
 * for a reduction: they would differ in the last bits by compiler and by its options. */
typedef double pair __attribute__((vector_size(16)));
typedef double pair_at __attribute__((vector_size(16), aligned(8)));
typedef int64_t pair_bits __attribute__((vector_size(16)));

static inline pair pair_of(const double *x, size_t k) {
  return *(const pair_at *)(x + k);
}

/* The last element, if their number is odd: 0 after it. */
static inline pair last_of(const double *x, size_t k) {
  return (pair){x[k], 0};
}

static inline double total(pair sum) {
  return sum[0] + sum[1];
}

static inline void add_products(pair *sums, pair y, pair cosine, pair rest) {
  sums[0] += y;
  sums[1] += y * cosine;
  sums[2] += y * SECOND(cosine);
  sums[3] += y * THIRD(cosine);
  sums[4] += y * rest;
}

/* product[k] = sum of y[t] times column k at t. */
static void multiply_columns(const tsn_whitening *w, const double *y, double *product) {
  pair sums[COLUMNS] = {{0}};
  size_t t = 0;
  for (; t + 2 <= w->n; t += 2) {
    add_products(sums, pair_of(y, t), pair_of(w->cosine, t), pair_of(w->line_rest, t));
  }
  if (t < w->n) {
    add_products(sums, last_of(y, t), last_of(w->cosine, t), last_of(w->line_rest, t));
  }
  for (int k = 0; k < COLUMNS; k++) product[k] = total(sums[k]);
}

/* y[t] -= sum of share[k] times column k at t. */
static void subtract_columns(const tsn_whitening *w, const double *share, double *y) {
#pragma omp simd
  for (size_t t = 0; t < w->n; t++) {
    double cosine = w->cosine[t];
    y[t] -= share[0] + share[1] * cosine + share[2] * SECOND(cosine) +
            share[3] * THIRD(cosine) + share[4] * w->line_rest[t];
  }
}

/* The squares of the cosines sum to n / 2 each, those of what they leave of the line are
 * summed. */
static void prepare_columns(tsn_whitening *w) {
  size_t n = w->n;
  double share[COLUMNS], square = 0;
  for (size_t t = 0; t < n; t++) {
    w->cosine[t] =
        2 * t < n ? cos(M_PI * ((double)t + .5) / (double)n) : -w->cosine[n - 1 - t];
    w->line_rest[t] = ((double)t + .5) / (double)n - .5;
  }
  multiply_columns(w, w->line_rest, share);
  share[0] = share[COLUMNS - 1] = 0;
  for (int k = 1; k < COLUMNS - 1; k++) share[k] *= 2 / (double)n;
  subtract_columns(w, share, w->line_rest);
  for (size_t t = 0; t < n; t++) square += w->line_rest[t] * w->line_rest[t];
  w->line_square = square;
}

void tsn_whitening_prepare(tsn_whitening *whitening, size_t n) {
  tsn_whitening *w = whitening;
  tsn_spectrum_prepare(&w->spectrum, n);
  if (w->n == n) return;
  w->n = n;
  prepare_columns(w);
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    double frequency = (double)k / (double)n;
    w->slope[k] = log(frequency);
    w->wave[k] = cos(2 * M_PI * frequency);
  }
}

/* Subtract the fit; twice, because a large trend leaves rounding errors. */
static void subtract_slow(const tsn_whitening *w, double *x) {
  for (int pass = 0; pass < 2; pass++) {
    double share[COLUMNS];
    multiply_columns(w, x, share);
    share[0] /= (double)w->n;
    for (int k = 1; k < COLUMNS - 1; k++) share[k] *= 2 / (double)w->n;
    share[COLUMNS - 1] /= w->line_square;
    subtract_columns(w, share, x);
  }
}

/* The logarithm of the background at line k. */
static inline double background_at(const tsn_whitening *w, size_t k, const double *c) {
  return c[0] + c[1] * w->slope[k] + c[2] * w->wave[k];
}

/* Solve the symmetric system a c = b of `count` unknowns by Gauss; the result replaces b.
 */
static void solve(double a[BACKGROUND][BACKGROUND], double *b, int count) {
  double reciprocal[BACKGROUND];
  for (int i = 0; i < count; i++) {
    reciprocal[i] = 1 / (a[i][i] + 1e-9);
    for (int j = i + 1; j < count; j++) {
      double factor = a[j][i] * reciprocal[i];
      for (int k = i + 1; k < count; k++) a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  }
  for (int i = count; i-- > 0;) {
    for (int k = i + 1; k < count; k++) b[i] -= a[i][k] * b[k];
    b[i] *= reciprocal[i];
  }
}

static inline pair magnitude(pair x) {
  return (pair)((pair_bits)x & INT64_MAX);
}

static inline pair at_least(pair x, double least) {
  pair_bits above = x > least;
  return (pair)(((pair_bits)x & above) | ((pair_bits)(pair){least, least} & ~above));
}

/* Sums over lines k of weight times 1, slope and wave, their products, and the level. */
typedef struct {
  pair one, s, v, ss, sv, vv, y, sy, vy;
} line_sums;

static inline void add_lines(line_sums *sum, pair weight, pair slope, pair wave,
                             pair level) {
  pair by_slope = weight * slope, by_wave = weight * wave;
  sum->one += weight;
  sum->s += by_slope;
  sum->v += by_wave;
  sum->ss += by_slope * slope;
  sum->sv += by_slope * wave;
  sum->vv += by_wave * wave;
  sum->y += weight * level;
  sum->sy += by_slope * level;
  sum->vy += by_wave * level;
}

/* 1 / |deviation| from the background c of the lines in use, or equal weights. */
static inline pair weight_of(bool equal, const double *c, pair used, pair slope,
                             pair wave, pair level) {
  pair off = magnitude(level - (c[0] + c[1] * slope + c[2] * wave));
  return equal ? used : used / at_least(off, deviation_least);
}

/* The normal equations of the lines in use, by the weights 1 / |deviation| from the
 * background so far, or by equal ones. One pass over the lines. */
static void sum_equations(const tsn_whitening *w, bool equal, const double *coefficient,
                          double a[BACKGROUND][BACKGROUND], double *b) {
  const double c[BACKGROUND] = {coefficient[0], coefficient[1], coefficient[2]};
  line_sums sum = {.one = {0}};
  size_t k = TSN_WHITEN_LOWEST, lines = w->n / 2 + 1;
  for (; k + 2 <= lines; k += 2) {
    pair slope = pair_of(w->slope, k), wave = pair_of(w->wave, k);
    pair level = pair_of(w->logarithm, k), used = pair_of(w->used, k);
    add_lines(&sum, weight_of(equal, c, used, slope, wave, level), slope, wave, level);
  }
  if (k < lines) {
    pair slope = last_of(w->slope, k), wave = last_of(w->wave, k);
    pair level = last_of(w->logarithm, k), used = last_of(w->used, k);
    add_lines(&sum, weight_of(equal, c, used, slope, wave, level), slope, wave, level);
  }
  double s = total(sum.s), v = total(sum.v), sv = total(sum.sv);
  const double sums[BACKGROUND][BACKGROUND] = {
      {total(sum.one), s, v}, {s, total(sum.ss), sv}, {v, sv, total(sum.vv)}};
  memcpy(a, sums, sizeof sums);
  b[0] = total(sum.y), b[1] = total(sum.sy), b[2] = total(sum.vy);
}

/* Reweighted least squares by the first `count` terms, until the coefficients have settled
 * to a hundredth of a deviation of the logarithms. */
static void fit_terms(const tsn_whitening *w, int count, double *coefficient) {
  const double settled = 1e-2;
  double change = 1;
  for (int round = 0; round < ROUNDS && !(change < settled); round++) {
    double a[BACKGROUND][BACKGROUND], b[BACKGROUND];
    sum_equations(w, round == 0, coefficient, a, b);
    solve(a, b, count);
    change = 0;
    for (int i = 0; i < count; i++) {
      change = fmax(change, fabs(b[i] - coefficient[i]));
      coefficient[i] = b[i];
    }
  }
}

/* Power below (6/n)^2 of the largest counts as this, by which that of a random walk falls
 * from line 3 to n/2: of a wave without noise, what leaks to other lines would else look
 * like the background. Returns false if the lines are all 0. */
static bool fit_background(const tsn_whitening *w, double coefficient[BACKGROUND]) {
  size_t n = w->n;
  double largest = 0, least = 6 / (double)n * (6 / (double)n);
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    tsn_complex line = w->line[k];
    w->logarithm[k] = line.re * line.re + line.im * line.im;
    if (w->logarithm[k] > largest) largest = w->logarithm[k];
  }
  if (!(largest > 0)) return false;
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    w->logarithm[k] = log(w->logarithm[k] + least * largest);
    w->used[k] = 1;
  }
  fit_terms(w, 2, coefficient);
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    w->used[k] = w->logarithm[k] - background_at(w, k, coefficient) < line_least;
  }
  fit_terms(w, BACKGROUND, coefficient);
  return true;
}

static double largest_of(const double *x, size_t n) {
  double largest = 0;
  for (size_t t = 0; t < n; t++) largest = fabs(x[t]) > largest ? fabs(x[t]) : largest;
  return largest;
}

/* The fit of the logarithms is that of medians: the median of an exponential variate is
 * log 2 times its mean. */
bool tsn_whiten(tsn_whitening *whitening, double *x, double *e) {
  tsn_whitening *w = whitening;
  size_t n = w->n;
  double coefficient[BACKGROUND] = {0};
  double before = largest_of(x, n);
  subtract_slow(w, x);
  double largest = largest_of(x, n);
  if (!(largest > nothing * before)) return false;
  for (size_t t = 0; t < n; t++) e[t] = x[t] / largest;
  tsn_spectrum_forward(&w->spectrum, e, w->line);
  if (!fit_background(w, coefficient)) return false;
  for (size_t k = 0; k <= n / 2; k++) {
    double factor = 0;
    if (k >= TSN_WHITEN_LOWEST) {
      factor = sqrt(log(2) / exp(background_at(w, k, coefficient)));
    }
    w->line[k].re *= factor;
    w->line[k].im *= factor;
  }
  tsn_spectrum_inverse(&w->spectrum, w->line, e);
  return true;
}
