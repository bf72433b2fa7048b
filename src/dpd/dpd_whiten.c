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

enum { COLUMNS = TSN_WHITEN_SLOW + 2, ROUNDS = 25, BACKGROUND = TSN_WHITEN_TERMS };

/* A line is this far above the background, in the logarithm. */
static const double line_least = 3;
/* The least absolute deviation that a weight is computed from. */
static const double deviation_least = .05;
/* What is left of a series that consists of its slow part, relative to it: rounding. */
static const double nothing = 1e-10;

void tsn_whitening_layout(tsn_arena *arena, size_t n, tsn_whitening *whitening) {
  tsn_spectrum_layout(arena, n, &whitening->spectrum);
  if (arena->overflow) return;
  whitening->line = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->line);
  whitening->logarithm = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->logarithm);
  whitening->term = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->term);
  whitening->weight = tsn_arena_take(arena, n / 2 + 1, sizeof *whitening->weight);
}

/* The cosines of a sample: cos 2a and cos 3a by cos a, which is `one`. */
static void cosines(double one, double value[TSN_WHITEN_SLOW]) {
  value[0] = one;
  value[1] = 2 * one * one - 1;
  value[2] = (4 * one * one - 3) * one;
}

static double centered(size_t t, size_t n) {
  return ((double)t + .5) / (double)n - .5;
}

/* All columns at sample t. `explained`: what the cosines explain of the line. */
static void columns_at(size_t t, size_t n, double one,
                       const double explained[TSN_WHITEN_SLOW], double column[COLUMNS]) {
  column[0] = 1;
  cosines(one, column + 1);
  double line = centered(t, n);
  for (int k = 0; k < TSN_WHITEN_SLOW; k++) line -= explained[k] * column[1 + k];
  column[COLUMNS - 1] = line;
}

/* Subtract the fit; twice, because a large trend leaves rounding errors. `cosine` has n
 * elements. */
static void subtract_slow(double *x, size_t n, double *cosine) {
  double explained[TSN_WHITEN_SLOW] = {0}, column[COLUMNS];
  for (size_t t = 0; t < n; t++) {
    cosine[t] = cos(M_PI * ((double)t + .5) / (double)n);
    cosines(cosine[t], column);
    for (int k = 0; k < TSN_WHITEN_SLOW; k++) {
      explained[k] += 2 * centered(t, n) * column[k] / (double)n;
    }
  }
  for (int pass = 0; pass < 2; pass++) {
    double product[COLUMNS] = {0}, square[COLUMNS] = {0};
    for (size_t t = 0; t < n; t++) {
      columns_at(t, n, cosine[t], explained, column);
      for (int k = 0; k < COLUMNS; k++) {
        product[k] += x[t] * column[k];
        square[k] += column[k] * column[k];
      }
    }
    for (size_t t = 0; t < n; t++) {
      columns_at(t, n, cosine[t], explained, column);
      for (int k = 0; k < COLUMNS; k++) x[t] -= product[k] / square[k] * column[k];
    }
  }
}

/* The logarithm of the background at line k, of its first `count` terms. */
static double background_at(const tsn_whitening *w, size_t k, const double *coefficient,
                            int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += coefficient[i] * w->term[k][i];
  return sum;
}

/* Solve the symmetric system a c = b of `count` unknowns by Gauss. */
static void solve(double a[BACKGROUND][BACKGROUND], double *b, int count) {
  for (int i = 0; i < count; i++) a[i][i] += 1e-9;
  for (int i = 0; i < count; i++) {
    for (int j = i + 1; j < count; j++) {
      double factor = a[j][i] / a[i][i];
      for (int k = i; k < count; k++) a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  }
  for (int i = count; i-- > 0;) {
    for (int k = i + 1; k < count; k++) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
}

/* One step of reweighted least squares; updates the weights. Returns whether the
 * coefficients have settled, to a hundredth of a deviation of the logarithms. */
static bool refit(const tsn_whitening *w, int count, double *coefficient) {
  const double settled = 1e-2;
  size_t n = w->spectrum.n;
  double a[BACKGROUND][BACKGROUND] = {{0}}, b[BACKGROUND] = {0};
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    const double *term = w->term[k];
    double weight = w->weight[k], at = weight * w->logarithm[k];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j <= i; j++) a[i][j] += weight * term[i] * term[j];
      b[i] += at * term[i];
    }
  }
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < i; j++) a[j][i] = a[i][j];
  }
  solve(a, b, count);
  double change = 0;
  for (int i = 0; i < count; i++) {
    change = fmax(change, fabs(b[i] - coefficient[i]));
    coefficient[i] = b[i];
  }
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    if (w->weight[k] == 0) continue;
    double off = fabs(w->logarithm[k] - background_at(w, k, coefficient, count));
    w->weight[k] = 1 / fmax(off, deviation_least);
  }
  return change < settled;
}

static void fit_terms(const tsn_whitening *w, int count, double *coefficient) {
  int round = 0;
  while (round < ROUNDS && !refit(w, count, coefficient)) round++;
}

/* Power below (6/n)^2 of the largest counts as this, by which that of a random walk falls
 * from line 3 to n/2: of a wave without noise, what leaks to other lines would else look
 * like the background. Returns false if the lines are all 0. */
static bool fit_background(const tsn_whitening *w, double coefficient[BACKGROUND]) {
  size_t n = w->spectrum.n;
  double largest = 0, least = pow(6 / (double)n, 2);
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    tsn_complex line = w->line[k];
    w->logarithm[k] = line.re * line.re + line.im * line.im;
    largest = fmax(largest, w->logarithm[k]);
  }
  if (!(largest > 0)) return false;
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    double frequency = (double)k / (double)n;
    w->logarithm[k] = log(w->logarithm[k] + least * largest);
    w->weight[k] = w->term[k][0] = 1;
    w->term[k][1] = log(frequency);
    w->term[k][2] = cos(2 * M_PI * frequency);
  }
  fit_terms(w, 2, coefficient);
  for (size_t k = TSN_WHITEN_LOWEST; k <= n / 2; k++) {
    w->weight[k] = w->logarithm[k] - background_at(w, k, coefficient, 2) < line_least;
  }
  fit_terms(w, BACKGROUND, coefficient);
  return true;
}

/* The fit of the logarithms is that of medians: the median of an exponential variate is
 * log 2 times its mean. */
bool tsn_whiten(tsn_whitening *whitening, double *x, double *e) {
  tsn_whitening *w = whitening;
  size_t n = w->spectrum.n;
  double before = 0, largest = 0, coefficient[BACKGROUND] = {0};
  for (size_t t = 0; t < n; t++) before = fmax(before, fabs(x[t]));
  subtract_slow(x, n, e);
  for (size_t t = 0; t < n; t++) largest = fmax(largest, fabs(x[t]));
  if (!(largest > nothing * before)) return false;
  for (size_t t = 0; t < n; t++) e[t] = x[t] / largest;
  tsn_spectrum_forward(&w->spectrum, e, w->line);
  if (!fit_background(w, coefficient)) return false;
  for (size_t k = 0; k <= n / 2; k++) {
    double factor = 0;
    if (k >= TSN_WHITEN_LOWEST) {
      factor = sqrt(log(2) / exp(background_at(w, k, coefficient, BACKGROUND)));
    }
    w->line[k].re *= factor;
    w->line[k].im *= factor;
  }
  tsn_spectrum_inverse(&w->spectrum, w->line, e);
  return true;
}
