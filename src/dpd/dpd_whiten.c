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

/* cos 2a and cos 3a by cos a. */
static inline double second(double one) {
  return 2 * one * one - 1;
}

static inline double third(double one) {
  return (4 * one * one - 3) * one;
}

/* product[k] = sum of y[t] times column k at t. */
static void multiply_columns(const tsn_whitening *w, const double *y, double *product) {
  double mean = 0, one = 0, two = 0, three = 0, line = 0;
#pragma omp simd reduction(+ : mean, one, two, three, line)
  for (size_t t = 0; t < w->n; t++) {
    double cosine = w->cosine[t];
    mean += y[t];
    one += y[t] * cosine;
    two += y[t] * second(cosine);
    three += y[t] * third(cosine);
    line += y[t] * w->line_rest[t];
  }
  const double products[COLUMNS] = {mean, one, two, three, line};
  memcpy(product, products, sizeof products);
}

/* y[t] -= sum of share[k] times column k at t. */
static void subtract_columns(const tsn_whitening *w, const double *share, double *y) {
#pragma omp simd
  for (size_t t = 0; t < w->n; t++) {
    double cosine = w->cosine[t];
    y[t] -= share[0] + share[1] * cosine + share[2] * second(cosine) +
            share[3] * third(cosine) + share[4] * w->line_rest[t];
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

/* The normal equations of the lines in use, by the weights 1 / |deviation| from the
 * background so far, or by equal ones. One pass over the lines, in vectors. */
static void sum_equations(const tsn_whitening *w, bool equal, const double *coefficient,
                          double a[BACKGROUND][BACKGROUND], double *b) {
  const double *level = w->logarithm, *slope = w->slope, *wave = w->wave, *used = w->used;
  const double c[BACKGROUND] = {coefficient[0], coefficient[1], coefficient[2]};
  double one = 0, s = 0, v = 0, ss = 0, sv = 0, vv = 0, y = 0, sy = 0, vy = 0;
#pragma omp simd reduction(+ : one, s, v, ss, sv, vv, y, sy, vy)
  for (size_t k = TSN_WHITEN_LOWEST; k <= w->n / 2; k++) {
    double off = fabs(level[k] - (c[0] + c[1] * slope[k] + c[2] * wave[k]));
    double divisor = equal ? 1 : off > deviation_least ? off : deviation_least;
    double weight = used[k] / divisor;
    double by_slope = weight * slope[k], by_wave = weight * wave[k];
    one += weight;
    s += by_slope;
    v += by_wave;
    ss += by_slope * slope[k];
    sv += by_slope * wave[k];
    vv += by_wave * wave[k];
    y += weight * level[k];
    sy += by_slope * level[k];
    vy += by_wave * level[k];
  }
  const double sums[BACKGROUND][BACKGROUND] = {{one, s, v}, {s, ss, sv}, {v, sv, vv}};
  memcpy(a, sums, sizeof sums);
  b[0] = y, b[1] = sy, b[2] = vy;
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
  double largest = 0, least = pow(6 / (double)n, 2);
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
