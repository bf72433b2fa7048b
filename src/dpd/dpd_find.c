/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a whole series in noise: the dips of d(m) of the whitened series show it
 * (dips_choose()). The exact period is that by which the series itself, without its slow
 * part, folds best (best_fold()). The other steps are a few Fourier
 * transforms, O(n log n); those folds take O(n) for each of 2 (1 + p/32) periods. */
#include "dpd/dpd_find.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/chance.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"
#include "dpd/dpd_spectrum_kernel.h"

/* ---- Fourier transforms of series of any length n, and the autocorrelation, in O(n log n).
 * Transforms of a power of two (dpd_spectrum_kernel.c) serve both purposes.
 *
 * A transform of any length v is a convolution (L. I. Bluestein 1970), because
 * 2 k t = k^2 + t^2 - (k-t)^2:
 *
 *   Z[k] = w[k] sum_t (z[t] w[t]) / w[k-t],    w[k] = exp(-pi i k^2 / v)
 *
 * k^2 is reduced modulo 2 v in integers, so that angles are exact for any v. The values
 * of a series of even n are pairs, z[t] = x[2t] + i x[2t+1], v = n / 2. Its lines are
 *
 *   X[k] = (Z[k] + conj Z[v-k]) / 2 + exp(-pi i k / v) (Z[k] - conj Z[v-k]) / 2i
 *
 * The autocorrelation needs 2 n places, but a complex transform of L >= n: at points z
 * with z^L = -i, what wraps around returns as the imaginary part (H. J. Nussbaumer 1981):
 *
 *   |sum_t x[t] z^t|^2 = sum_m (r[m] + i r[L-m]) z^m,    z = exp(-2 pi i (k + 1/4) / L) */
typedef struct {
  double re, im;
} tsn_complex;

typedef struct {
  const tsn_dpd_spectrum_kernels *kernels;
  size_t n;            /* of the series prepared for; 0: none */
  size_t values;       /* complex ones of a series: n / 2 if n is even, else n */
  size_t padded;       /* a power of two, at least 2 values */
  size_t most;         /* the power of two of the longest series: at least its length */
  tsn_parts turn;      /* of the kernels */
  tsn_complex *twist;  /* exp(-pi i k / 2 most), k <= most */
  tsn_complex *circle; /* exp(-pi i k / values), k < 2 values */
  tsn_parts filter;    /* transform of the inverse chirp, over padded */
  tsn_parts work;
} tsn_spectrum;

static tsn_complex times(tsn_complex a, tsn_complex b) {
  return (tsn_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static tsn_complex conjugate(tsn_complex a) {
  return (tsn_complex){a.re, -a.im};
}

/* By sincos(), which gcc would use for cos() and sin() and clang would not: they differ in
 * the last bit in glibc 2.31. */
static tsn_complex unit(double angle) {
  tsn_complex z;
  sincos(angle, &z.im, &z.re);
  return z;
}

/* A power of two. SIZE_MAX / 2 at least is too much for any arena. */
static size_t power_from(size_t least) {
  size_t power = TSN_SPECTRUM_LEAST;
  while (power < least && power < SIZE_MAX / 4) power *= 2;
  return power;
}

static tsn_parts take_parts(tsn_arena *arena, size_t count) {
  tsn_parts parts;
  parts.re = tsn_arena_take(arena, count, sizeof *parts.re);
  parts.im = tsn_arena_take(arena, count, sizeof *parts.im);
  return parts;
}

/* Take the buffers for series of at most n samples, at least 1. */
static void spectrum_layout(tsn_arena *arena, size_t n, tsn_spectrum *s) {
  if (n > SIZE_MAX / 8) {
    arena->overflow = true;
    return;
  }
  s->most = power_from(n);
  s->turn = take_parts(arena, 2 * s->most);
  s->twist = tsn_arena_take(arena, s->most + 1, sizeof *s->twist);
  s->circle = tsn_arena_take(arena, 2 * n, sizeof *s->circle);
  s->filter = take_parts(arena, 2 * s->most);
  s->work = take_parts(arena, 2 * s->most);
}

/* The second half of the quarter is the first one, mirrored; the turns of the second
 * quarter are those of the first, by -i. */
static void prepare_powers(tsn_spectrum *s) {
  size_t most = s->most;
  for (size_t k = 0; k <= most / 2; k++) {
    tsn_complex own = unit(-M_PI_2 * (double)k / (double)most);
    s->twist[k] = own;
    s->twist[most - k] = (tsn_complex){-own.im, -own.re};
  }
  for (size_t half = 1; half <= most; half *= 2) {
    size_t step = 2 * most / half, quarter = half / 2 + half % 2;
    for (size_t k = 0; k < quarter; k++) {
      tsn_complex own = s->twist[k * step];
      s->turn.re[half + k] = own.re;
      s->turn.im[half + k] = own.im;
      if (half == 1) continue;
      s->turn.re[half + quarter + k] = own.im;
      s->turn.im[half + quarter + k] = -own.re;
    }
  }
}

/* The other three quarters are mirrored. */
static void prepare_circle(tsn_spectrum *s) {
  size_t values = s->values;
  for (size_t k = 0; k <= values / 2; k++) {
    tsn_complex own = unit(-M_PI * (double)k / (double)values);
    s->circle[k] = own;
    s->circle[values + k] = (tsn_complex){-own.re, -own.im};
    if (k == 0) continue;
    s->circle[values - k] = (tsn_complex){-own.re, own.im};
    s->circle[2 * values - k] = conjugate(own);
  }
}

/* w[k]; *square is k^2 modulo 2 values, and becomes that of k + 1. */
static tsn_complex chirp(const tsn_spectrum *s, size_t k, size_t *square) {
  tsn_complex own = s->circle[*square];
  *square = (*square + 2 * k + 1) % (2 * s->values);
  return own;
}

static void put(tsn_parts parts, size_t k, tsn_complex value) {
  parts.re[k] = value.re;
  parts.im[k] = value.im;
}

static void clear_from(tsn_parts parts, size_t begin, size_t end) {
  for (size_t k = begin; k < end; k++) parts.re[k] = parts.im[k] = 0;
}

static void prepare_filter(tsn_spectrum *s) {
  double scale = 1 / (double)s->padded;
  size_t square = 0;
  clear_from(s->filter, 0, s->padded);
  for (size_t k = 0; k < s->values; k++) {
    tsn_complex own = chirp(s, k, &square);
    own = (tsn_complex){own.re * scale, -own.im * scale};
    put(s->filter, k, own);
    if (k > 0) put(s->filter, s->padded - k, own);
  }
  s->kernels->forward(s->filter, s->turn, s->padded);
}

/* Prepare for series of n samples, at most those of the layout. Costs nothing if it has
 * just been prepared for n. */
static void spectrum_prepare(tsn_spectrum *s, size_t n) {
  if (s->n == n) return;
  if (s->n == 0) prepare_powers(s);
  s->n = n;
  s->values = n % 2 ? n : n / 2;
  s->padded = power_from(2 * s->values);
  prepare_circle(s);
  prepare_filter(s);
}

/* Multiply the values in `work` by w, and convolve them with 1/w. */
static void convolve(tsn_spectrum *s) {
  tsn_parts x = s->work, f = s->filter;
  size_t square = 0;
  for (size_t t = 0; t < s->values; t++) {
    put(x, t, times((tsn_complex){x.re[t], x.im[t]}, chirp(s, t, &square)));
  }
  clear_from(x, s->values, s->padded);
  s->kernels->forward(x, s->turn, s->padded);
  for (size_t k = 0; k < s->padded; k++) {
    double re = x.re[k], im = x.im[k];
    x.re[k] = re * f.re[k] - im * f.im[k];
    x.im[k] = re * f.im[k] + im * f.re[k];
  }
  s->kernels->backward(x, s->turn, s->padded);
}

/* The transform of all values, in `work`. */
static void transform(tsn_spectrum *s) {
  size_t square = 0;
  convolve(s);
  for (size_t k = 0; k < s->values; k++) {
    tsn_complex own = {s->work.re[k], s->work.im[k]};
    put(s->work, k, times(own, chirp(s, k, &square)));
  }
}

/* line[k] = sum_t x[t] exp(-2 pi i k t / n) for k <= n / 2. */
static void spectrum_forward(tsn_spectrum *s, const double *x, tsn_complex *line) {
  bool pairs = s->n % 2 == 0;
  for (size_t t = 0; t < s->values; t++) {
    put(s->work, t,
        pairs ? (tsn_complex){x[2 * t], x[2 * t + 1]} : (tsn_complex){x[t], 0});
  }
  transform(s);
  for (size_t k = 0; k <= s->n / 2; k++) {
    size_t low = k % s->values, high = (s->values - low) % s->values;
    tsn_complex own = {s->work.re[low], s->work.im[low]};
    if (pairs) {
      tsn_complex other = {s->work.re[high], -s->work.im[high]};
      tsn_complex even = {(own.re + other.re) / 2, (own.im + other.im) / 2};
      tsn_complex odd = {(own.im - other.im) / 2, (other.re - own.re) / 2};
      odd = times(odd, s->circle[k]);
      own = (tsn_complex){even.re + odd.re, even.im + odd.im};
    }
    line[k] = own;
  }
}

/* The series that has these lines: the conjugate of the transform of the conjugate, over the
 * number of values. The lines above n / 2 are the conjugates of those below. */
static void spectrum_inverse(tsn_spectrum *s, const tsn_complex *line, double *x) {
  bool pairs = s->n % 2 == 0;
  double scale = 1 / (double)s->values;
  for (size_t k = 0; k < s->values; k++) {
    tsn_complex own = k <= s->n / 2 ? line[k] : conjugate(line[s->n - k]);
    if (pairs) {
      tsn_complex other = conjugate(line[s->values - k]);
      tsn_complex odd = {(own.re - other.re) / 2, (own.im - other.im) / 2};
      odd = times(odd, conjugate(s->circle[k]));
      own = (tsn_complex){(own.re + other.re) / 2 - odd.im,
                          (own.im + other.im) / 2 + odd.re};
    }
    put(s->work, k, conjugate(own));
  }
  transform(s);
  for (size_t t = 0; t < s->values; t++) {
    x[pairs ? 2 * t : t] = s->work.re[t] * scale;
    if (pairs) x[2 * t + 1] = -s->work.im[t] * scale;
  }
}

/* product[m] = sum_t x[t] x[t-m] for m < n. */
static void spectrum_products(tsn_spectrum *s, const double *x, double *product) {
  size_t length = power_from(s->n), step = s->most / length;
  double scale = 1 / (double)length;
  for (size_t t = 0; t < s->n; t++) {
    tsn_complex twist = s->twist[t * step];
    put(s->work, t, (tsn_complex){x[t] * twist.re, x[t] * twist.im});
  }
  clear_from(s->work, s->n, length);
  s->kernels->forward(s->work, s->turn, length);
  for (size_t k = 0; k < length; k++) {
    double re = s->work.re[k], im = s->work.im[k];
    put(s->work, k, (tsn_complex){re * re + im * im, 0});
  }
  s->kernels->backward(s->work, s->turn, length);
  for (size_t m = 0; m < s->n; m++) {
    tsn_complex twist = s->twist[m * step];
    product[m] = (s->work.re[m] * twist.re + s->work.im[m] * twist.im) * scale;
  }
}

/* ---- whitening: a series without its slow part, and with a flat spectrum
 *
 * A trend or noise that remembers the past repeats nothing, but makes each value resemble
 * its neighbors. Two steps leave the part in which a period can be found:
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
enum { LOWEST = 3 }; /* lines below this one are part of the slow part */

typedef struct {
  size_t n; /* of the series prepared for; 0: none */
  tsn_spectrum spectrum;
  double *cosine;       /* pi (t + 1/2) / n */
  double *line_rest;    /* of a straight line, without these cosines */
  double line_square;   /* sum of the squares of it */
  tsn_complex *line;    /* of the whitened series, n / 2 + 1 */
  double *slope, *wave; /* terms of the background at each line */
  double *logarithm;    /* of the power */
  double *used;         /* 1 in the fit, else 0 */
} tsn_whitening;

enum { COLUMNS = 5, ROUNDS = 25, BACKGROUND = 3 };

/* A line is this far above the background, in the logarithm. */
static const double line_least = 3;
/* The least absolute deviation that a weight is computed from. */
static const double deviation_least = .05;
/* What is left of a series that consists of its slow part, relative to it: rounding. */
static const double nothing = 1e-10;

static void whitening_layout(tsn_arena *arena, size_t n, tsn_whitening *w) {
  size_t lines = n / 2 + 1;
  spectrum_layout(arena, n, &w->spectrum);
  if (arena->overflow) return;
  w->cosine = tsn_arena_take(arena, n, sizeof *w->cosine);
  w->line_rest = tsn_arena_take(arena, n, sizeof *w->line_rest);
  w->line = tsn_arena_take(arena, lines, sizeof *w->line);
  w->logarithm = tsn_arena_take(arena, lines, sizeof *w->logarithm);
  w->slope = tsn_arena_take(arena, lines, sizeof *w->slope);
  w->wave = tsn_arena_take(arena, lines, sizeof *w->wave);
  w->used = tsn_arena_take(arena, lines, sizeof *w->used);
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

/* Prepare for series of n samples. What was prepared for the same n stays. */
static void whitening_prepare(tsn_whitening *w, size_t n) {
  spectrum_prepare(&w->spectrum, n);
  if (w->n == n) return;
  w->n = n;
  prepare_columns(w);
  for (size_t k = LOWEST; k <= n / 2; k++) {
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
  size_t k = LOWEST, lines = w->n / 2 + 1;
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
  for (size_t k = LOWEST; k <= n / 2; k++) {
    tsn_complex line = w->line[k];
    w->logarithm[k] = line.re * line.re + line.im * line.im;
    if (w->logarithm[k] > largest) largest = w->logarithm[k];
  }
  if (!(largest > 0)) return false;
  for (size_t k = LOWEST; k <= n / 2; k++) {
    w->logarithm[k] = log(w->logarithm[k] + least * largest);
    w->used[k] = 1;
  }
  fit_terms(w, 2, coefficient);
  for (size_t k = LOWEST; k <= n / 2; k++) {
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

/* Subtract the slow part from x and store the whitened series in e; false: nothing is left
 * of x. The fit of the logarithms is that of medians: the median of an exponential variate
 * is log 2 times its mean. */
static bool whiten(tsn_whitening *w, double *x, double *e) {
  size_t n = w->n;
  double coefficient[BACKGROUND] = {0};
  double before = largest_of(x, n);
  subtract_slow(w, x);
  double largest = largest_of(x, n);
  if (!(largest > nothing * before)) return false;
  for (size_t t = 0; t < n; t++) e[t] = x[t] / largest;
  spectrum_forward(&w->spectrum, e, w->line);
  if (!fit_background(w, coefficient)) return false;
  for (size_t k = 0; k <= n / 2; k++) {
    double factor = 0;
    if (k >= LOWEST) factor = sqrt(log(2) / exp(background_at(w, k, coefficient)));
    w->line[k].re *= factor;
    w->line[k].im *= factor;
  }
  spectrum_inverse(&w->spectrum, w->line, e);
  return true;
}

/* ---- the period that the dips of d(m) show
 *
 * rho(m) = sum_t e[t] e[t-m] / sum_t e[t]^2 is computed for all delays of the whitened
 * series e. It is the dip of the mean squared difference: d(m) / (2 n var e) = 1 - rho(m),
 * up to the ends.
 *
 *   rho  |        .           .           .
 *        |       / \         / \         / \          contrast c(k) = rho(kp) minus the
 *        |--.---'---`---.---'---`---.---'---`---.--   mean of rho over one period around
 * kp |   `.'         `.'         `.'         `    (so that slopes cancel)
 *        +-------p----------2p----------3p-------> m
 *
 * In white noise rho(m) has variance (n - m) / n^2, and a contrast (1 - 1/p) of that. So
 *
 *   score(p) = sum_k c(k) / sqrt((1 - 1/p) sum_k (n - kp) / n^2),  kp <= n/2
 *
 * has mean 0 and variance 1 for a p chosen beforehand. Multiples of a period have fewer
 * dips of the same depth, divisors and neighbors have shallower ones: the period has the
 * highest score, unless it consists of parts that differ little
 * (dips_fundamental()). For a p that is chosen as the best of many, the chance is
 * multiplied by their number (Bonferroni).
 *
 * The score is a quadratic form of e, and skewed: two pairs of multiples, j p and k p,
 * share samples. Its third moment is 6 sum_k (k-1)(n-kp) over the 3/2-th power of
 * sum_k (n-kp); that of e adds to it, by which the dips of sparse pulses are skewed. The
 * squared kurtosis of e over sum_k (n-kp) is that of the score: outliers make its tail
 * long on both sides. A gamma with this kurtosis is as long on one.
 * Pearson's type III, a shifted gamma, has this skewness: with it, stated chances of 20 %
 * down to 1 % were 0.73 to 1.12 of what 3800 series of noise showed. What whitening leaves
 * correlated has a larger variance, by Bartlett's formula.
 *
 * A resonance, and a cycle whose length varies, have deep dips too, but wide lines:
 * dips_lines(). */

/* The whitened series and its autocorrelation rho. */
typedef struct tsn_dips {
  size_t n;
  tsn_whitening whitening;
  double *e;   /* the whitened series */
  double *rho; /* at delay m < n */
  double *sum; /* sum[m] = rho(0) + ... + rho(m-1) */
} tsn_dips;

/* What the dips show. */
typedef struct {
  size_t candidate;
  double dip, score;
  double probability; /* that noise has such dips */
  double variation;   /* of the length of a period, relative */
} tsn_dips_choice;

enum {
  LEAST_PERIOD = 2,
  SHORT_LAGS = 8,        /* that count for the variance */
  RING = 8,              /* lines on both sides that one is compared with */
  LEAST_RING = 4,        /* with fewer, nothing can be said: fewer than 6 periods */
  MOST_PARTS = 16,       /* of a period, that differ little */
  ENDS = 32,             /* share where whitening leaves peaks of a wave */
  DIPS_OF_VARIATION = 64 /* from which the variation is estimated */
};

/* By which a multiple must be deeper, in standard errors and relative to the others. */
static const double deeper_errors = 5, deeper_ratio = 1.05;
/* Mean of the largest of three neighbors in the logarithm, in units of one. */
static const double largest_of_three = 1.5;
/* The least skewness; a gamma of less is normal. */
static const double skewness_least = 0.01;
/* The excess kurtosis of a gamma is this multiple of its squared skewness. */
static const double gamma_kurtosis = 1.5;

static void dips_layout(tsn_arena *arena, size_t n, tsn_dips *s) {
  whitening_layout(arena, n, &s->whitening);
  if (arena->overflow) return;
  s->e = tsn_arena_take(arena, n, sizeof *s->e);
  s->rho = tsn_arena_take(arena, n, sizeof *s->rho);
  s->sum = tsn_arena_take(arena, n + 1, sizeof *s->sum);
}

/* The prefix sums of rho give contrast() a mean over any p delays in O(1). */
static bool dips_correlate(tsn_dips *s, size_t n, double *x) {
  s->n = n;
  whitening_prepare(&s->whitening, n);
  if (!whiten(&s->whitening, x, s->e)) return false;
  spectrum_products(&s->whitening.spectrum, s->e, s->rho);
  double norm = s->rho[0];
  s->sum[0] = 0;
  for (size_t m = 0; m < s->n; m++) {
    s->rho[m] /= norm;
    s->sum[m + 1] = s->sum[m] + s->rho[m];
  }
  return norm > 0;
}

/* x[t] minus the mean of the p elements around it; an even p has half weights at the ends.
 * sums[i] = x[0] + ... + x[i-1]. */
static inline double less_mean(const double *x, const double *sums, size_t t, size_t p) {
  size_t half = p / 2;
  double around = sums[t + half + 1] - sums[t - half];
  if (p % 2 == 0) around -= (x[t - half] + x[t + half]) / 2;
  return x[t] - around / (double)p;
}

/* Of rho at delay m; m + p/2 <= n - 2. */
static double contrast(const tsn_dips *s, size_t m, size_t p) {
  return less_mean(s->rho, s->sum, m, p);
}

/* Number of multiples of p >= 1 whose contrast is known, up to delay `most`. */
static size_t multiples(const tsn_dips *s, size_t p, size_t most) {
  return tsn_smaller(most, s->n - 2 - p / 2) / tsn_larger(p, 1);
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

/* The chance of such a score at p in noise. */
static double score_chance(const tsn_dips *s, size_t p, double score) {
  double square = 0, third = 0, fourth = 0, pairs = 0, shared = 0, before = 0;
  size_t end = s->n / ENDS;
  for (size_t t = end; t < s->n - end; t++) {
    double own = s->e[t] * s->e[t] / (double)(s->n - 2 * end);
    square += own;
    third += own * s->e[t];
    fourth += own * s->e[t] * s->e[t];
  }
  for (size_t m = p; m <= s->n / 2; m += p) {
    pairs += (double)(s->n - m);
    shared += before++ * (double)(s->n - m);
  }
  double skewness = 6 * shared / pow(pairs, 1.5) +
                    third * third / (square * square * square) / sqrt(pairs);
  double kurtosis = fourth / (square * square);
  double as_long = kurtosis / sqrt(gamma_kurtosis * pairs);
  double skewed = fmax(fmax(skewness, as_long), skewness_least);
  double shape = 4 / (skewed * skewed);
  double z = score / sqrt(bartlett(s, p));
  return tsn_gamma_tail(shape, shape + z * sqrt(shape));
}

/* Power of line k of the whole periods. */
static double power_at(const tsn_dips *s, size_t k) {
  tsn_complex line = s->whitening.line[k];
  return line.re * line.re + line.im * line.im;
}

/* -log of the chance that this line exceeds those beside it so much: of m lines of noise,
 * one exceeds r times the sum of the others by (1 + r)^-m. Negative: unknown. */
static double line_strength(const tsn_dips *s, size_t at, size_t width) {
  size_t last = s->whitening.spectrum.n / 2, others = 0;
  double sum = 0, own = 0;
  for (size_t k = at - width; k <= at + width && k <= last; k++) {
    bool is_own = k + 1 >= at && k <= at + 1;
    if (is_own) own = fmax(own, power_at(s, k));
    if (is_own || k <= LOWEST) continue;
    sum += power_at(s, k);
    others++;
  }
  return others > 1 ? (double)others * log1p(own / sum) : -1;
}

/* A period that repeats through the whole series has lines of one bin, a resonance or a
 * cycle of varying length wide ones, that do not stand out from the bins beside them:
 *
 *   |     |              |.:|:.
 *   |.....|....      |..:|||||:..
 *         c                 c
 *
 * The transform is that of c whole periods, so that the lines are at multiples of c. The
 * most unlikely line counts, or the product of all chances (Fisher), as often as there
 * are bins that could have been the line. */
static double dips_lines(tsn_dips *s, size_t p) {
  tsn_spectrum *spectrum = &s->whitening.spectrum;
  size_t cycles = s->n / p, width = tsn_smaller(RING, cycles - 2); /* not to the next */
  double most = 0, sum = 0, lines = 0;
  if (width < LEAST_RING) return 0;
  spectrum_prepare(spectrum, cycles * p);
  spectrum_forward(spectrum, s->e, s->whitening.line);
  for (size_t j = 1; j <= p / 2; j++) {
    double own = line_strength(s, cycles * j, width);
    if (own < 0) continue;
    most = fmax(most, own);
    sum += own;
    lines++;
  }
  if (lines == 0) return 0;
  double one = lines * exp(-most), all = tsn_gamma_tail(lines, sum / largest_of_three);
  return fmin(1, 2 * (double)(2 * width + 1) * fmin(one, all));
}

/* Standard deviation of the length of a period, relative. If lengths vary independently
 * by v, the beat is off by sqrt(k) v after k periods, and the dip of a wave decreases as
 * exp(-2 pi^2 v^2 k). The line through the logarithms of the first dips, until one is in
 * the noise, has that slope. */
static double variation_of(const tsn_dips *s, size_t p) {
  double noise = 2 / sqrt((double)s->n), count = 0, x = 0, y = 0, xx = 0, xy = 0;
  size_t most = tsn_smaller(multiples(s, p, s->n / 2), DIPS_OF_VARIATION);
  for (size_t k = 1; k <= most; k++) {
    double dip = contrast(s, k * p, p) / weight(s, k * p);
    if (!(dip > noise)) break;
    double at = (double)k, own = log(dip);
    count++;
    x += at;
    y += own;
    xx += at * at;
    xy += at * own;
  }
  if (count < 2) return NAN;
  double slope = (count * xy - x * y) / (count * xx - x * x);
  return sqrt(fmax(0, -slope) / 2) / M_PI;
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

/* The multiples of parts that differ little have dips nearly as deep as those of the
 * period, but more of them. */
static size_t dips_fundamental(const tsn_dips *s, size_t p) {
  for (size_t j = 2; j <= MOST_PARTS && j * p <= s->n / 2; j++) {
    if (!is_deeper(s, p, j)) continue;
    p *= j;
    j = 1;
  }
  return p;
}

/* A cycle whose length varies loses its beat: its first dip is deeper than those of its
 * multiples, which may have the higher score. */
static size_t dips_cycle(const tsn_dips *s, size_t max_period, double *variation) {
  double most = 0;
  size_t cycle = 0;
  for (size_t p = LEAST_PERIOD; p <= max_period; p++) {
    double dip = contrast(s, p, p) / weight(s, p);
    if (dip <= most) continue;
    most = dip;
    cycle = p;
  }
  *variation = cycle ? variation_of(s, cycle) : NAN;
  return cycle;
}

/* The highest score of all p; ties go to the smallest. */
static tsn_dips_choice dips_choose(const tsn_dips *s, size_t max_period) {
  tsn_dips_choice c = {.probability = 1, .variation = NAN};
  for (size_t p = LEAST_PERIOD; p <= max_period; p++) {
    double dip = 0, score = score_of(s, p, &dip);
    if (score <= c.score) continue;
    c.score = score;
    c.dip = dip;
    c.candidate = p;
  }
  if (!c.candidate) return c;
  double tests = (double)(max_period - LEAST_PERIOD + 1);
  c.probability = fmin(1, score_chance(s, c.candidate, c.score) * tests);
  c.variation = variation_of(s, c.candidate);
  return c;
}

/* ---- the exact period, by folding
 *
 * A series minus its moving mean over p samples is cut into stretches of p samples, and the
 * mean stretch is the estimate of what repeats.
 *
 *     R^2(p) = sum_j count_j mean_j^2 / sum_t x[t]^2
 *
 * is the share of the variance that it explains. p means also explain p/N of the variance
 * of noise, which the adjusted R^2 = 1 - (1 - R^2) (N - 1) / (N - p) leaves out. All
 * samples count, so that the maximum is sharper than that of a dip of d(m), which
 * compares samples in pairs. */

/* Adjusted R^2 of the fold by p; sums[i] = x[0] + ... + x[i-1]. */
static double explained(const double *x, size_t n, size_t p, const double *sums,
                        double *bins) {
  size_t half = p / 2, count = n - 2 * half;
  double total = 0, fold = 0;
  for (size_t j = 0; j < p; j++) bins[j] = 0;
  for (size_t begin = half; begin + half < n; begin += p) {
    for (size_t j = 0; j < p && begin + j + half < n; j++) {
      double own = less_mean(x, sums, begin + j, p);
      bins[j] += own;
      total += own * own;
    }
  }
  for (size_t j = 0; j < p; j++) {
    size_t number = count / p + (j < count % p);
    fold += bins[j] * bins[j] / (double)number;
  }
  if (!(total > 0)) return 0;
  return 1 - (1 - fold / total) * (double)(count - 1) / (double)(count - p);
}

/* ---- the search */

enum {
  DEFAULT_MAX_PERIOD = 16384,
  LARGEST_MAX_PERIOD = 1 << 20,
  /* Periods that differ by 1 or by less than 1/32 are distinguished by folding. */
  FOLD_SHARE = 32,
  STEPS = 3 /* between which the caller is polled */
};

/* The p of [low, high] whose fold explains most of x: ties go to the smallest; 0: the poll stopped.
 * `sums` has n + 1 elements, `bins` has `high`. 2 <= low <= high < n / 2. O(n (high - low + 1)). */
static size_t best_fold(const tsanom_exec *exec, const double *x, size_t n, size_t low,
                        size_t high, double *sums, double *bins) {
  size_t best = low;
  double most = 0;
  sums[0] = 0;
  for (size_t i = 0; i < n; i++) sums[i + 1] = sums[i] + x[i];
  for (size_t p = low; p <= high; p++) {
    if (tsn_exec_stop(exec, STEPS - 1, STEPS)) return 0;
    double own = explained(x, n, p, sums, bins);
    if (own <= most && p > low) continue;
    most = own;
    best = p;
  }
  return best;
}

static const tsanom_dpd_find_options default_options = {
    .struct_size = sizeof default_options, .significance = 0.01};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_dpd_find_options),
    .first_size = sizeof(tsanom_dpd_find_options),
    .defaults = &default_options,
};

static const tsanom_dpd_found no_period = {
    .struct_size = sizeof no_period, .probability = 1, .lines = 1, .variation = NAN};

static const tsn_versioned found_type = {
    .size = sizeof(tsanom_dpd_found),
    .first_size = sizeof(tsanom_dpd_found),
    .defaults = &no_period,
};

tsanom_status tsanom_dpd_find_options_init(tsanom_dpd_find_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

void tsn_find_layout(tsn_arena *arena, size_t n, tsn_find *find) {
  tsn_dips dips = {.n = 0};
  find->value = tsn_arena_take(arena, n, sizeof *find->value);
  find->dips = tsn_arena_take(arena, 1, sizeof *find->dips);
  dips_layout(arena, n, &dips);
  if (find->dips) *find->dips = dips;
}

/* A power of two that brings the largest magnitude to about 1, so that no product
 * overflows and none vanishes; scaling by it is exact but for subnormal numbers. */
static double scale_of(const double *x, size_t n) {
  int exponent;
  (void)frexp(largest_of(x, n), &exponent);
  return ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Without their mean, whose sums would cost digits. */
static void take_values(tsn_find *s) {
  double scale = scale_of(s->x, s->n), mean = 0;
  for (size_t i = 0; i < s->n; i++) mean += s->x[i] * scale;
  mean /= (double)s->n;
  for (size_t i = 0; i < s->n; i++) s->value[i] = s->x[i] * scale - mean;
}

static bool is_constant(const tsn_find *s) {
  for (size_t i = 1; i < s->n; i++) {
    if (s->x[i] != s->x[0]) return false;
  }
  return true;
}

static size_t exact_period(tsn_find *s, size_t period) {
  size_t margin = 1 + period / FOLD_SHARE, least = LEAST_PERIOD;
  size_t low = period > margin + least ? period - margin : least;
  return best_fold(s->exec, s->value, s->n, low, period + margin, s->dips->sum,
                   s->dips->rho);
}

tsanom_status tsn_find_run(tsn_find *find) {
  tsn_find *s = find;
  s->found = no_period;
  s->found.max_period = s->max_period;
  if (is_constant(s)) {
    s->found.period = s->found.candidate = 1;
    s->found.probability = s->found.lines = s->found.variation = 0;
    return TSANOM_OK;
  }
  if (tsn_exec_stop(s->exec, 0, STEPS)) return TSANOM_STOPPED;
  s->dips->whitening.spectrum.kernels = tsn_dpd_spectrum_kernels_at(s->exec->isa);
  take_values(s);
  if (!dips_correlate(s->dips, s->n, s->value)) return TSANOM_OK;
  if (tsn_exec_stop(s->exec, 1, STEPS)) return TSANOM_STOPPED;
  tsn_dips_choice c = dips_choose(s->dips, s->max_period);
  s->found.candidate = c.candidate;
  s->found.dip = c.dip;
  s->found.score = c.score;
  s->found.probability = c.probability;
  s->found.variation = c.variation;
  if (!(c.probability <= s->significance)) return TSANOM_OK;
  double variation;
  size_t cycle = dips_cycle(s->dips, s->max_period, &variation);
  size_t period = exact_period(s, dips_fundamental(s->dips, c.candidate));
  if (!period) return TSANOM_STOPPED;
  s->found.lines = dips_lines(s->dips, period);
  if (s->found.lines > s->significance) {
    s->found.candidate = cycle;
    s->found.variation = variation;
  } else if (period <= s->max_period) {
    s->found.period = period;
  }
  return TSANOM_OK;
}

typedef struct {
  tsn_find find;
  tsanom_exec exec;
  tsanom_dpd_found *found;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  tsn_find_layout(arena, c->find.n, &c->find);
}

static tsanom_status run(void *context) {
  call *c = context;
  c->find.exec = &c->exec;
  return tsn_find_run(&c->find);
}

static tsanom_status read_call(call *c, size_t n, const tsanom_dpd_find_options *options,
                               const tsanom_exec *exec) {
  tsanom_dpd_find_options own;
  *c = (call){.find.n = n};
  tsanom_status status = tsn_exec_read(&c->exec, exec);
  if (status < 0) return status;
  status = tsn_struct_read(&c->exec, &options_type, &own, options, "options");
  if (status < 0) return status;
  if (!(isgreater(own.significance, 0) && islessequal(own.significance, 0.5))) {
    return tsn_reject_value(&c->exec, TSANOM_E_OPTION, "options.significance",
                            TSANOM_NONE, TSANOM_NONE, own.significance,
                            "more than 0 and at most 0.5 is expected");
  }
  if ((status = tsn_require_size(&c->exec, TSANOM_E_OPTION, "options.max_period",
                                 own.max_period, 0, LARGEST_MAX_PERIOD)) < 0 ||
      (status = tsn_require_size(&c->exec, TSANOM_E_COUNT, "n", n, TSN_FIND_LEAST,
                                 SIZE_MAX)) < 0 ||
      (status = tsn_require_size(&c->exec, TSANOM_E_OVERFLOW, "n", n, TSN_FIND_LEAST,
                                 PTRDIFF_MAX / sizeof *c->find.x)) < 0) {
    return status;
  }
  c->find.significance = own.significance;
  c->find.max_period = tsn_smaller(own.max_period ? own.max_period : DEFAULT_MAX_PERIOD,
                                   n / TSN_FIND_PERIODS);
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const call *c = context;
  const double *x = c->find.x;
  if (!x) return tsn_reject_null(&c->exec, "samples", c->find.n);
  tsanom_status status = tsn_struct_check(&c->exec, &found_type, c->found, "found");
  if (status < 0) return status;
  if (tsn_all_finite(x, c->find.n)) return TSANOM_OK;
  size_t i = tsn_first_nonfinite(x, c->find.n);
  return tsn_reject_value(&c->exec, TSANOM_E_NONFINITE, "samples", i, TSANOM_NONE, x[i],
                          TSN_FINITE);
}

tsanom_status tsanom_dpd_find(const double *samples, size_t n,
                              const tsanom_dpd_find_options *options,
                              const tsanom_exec *exec, tsanom_dpd_found *found) {
  call c;
  tsanom_status status = read_call(&c, n, options, exec);
  if (status < 0) return status;
  c.find.x = samples;
  c.found = found;
  status = tsn_workspace_run(&c.exec, layout, check, run, &c);
  if (status == TSANOM_OK) tsn_versioned_write(&found_type, found, &c.find.found);
  return status;
}
