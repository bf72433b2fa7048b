/* SPDX-License-Identifier: BSD-3-Clause */
/* Fourier transforms of real series. Transforms of a power of two (dpd_spectrum_kernel.c)
 * serve both purposes.
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
#include "dpd/dpd_spectrum.h"

#include <math.h>

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

void tsn_spectrum_layout(tsn_arena *arena, size_t n, tsn_spectrum *spectrum) {
  tsn_spectrum *s = spectrum;
  if (n > SIZE_MAX / 8) {
    arena->overflow = true;
    return;
  }
  s->n = 0;
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

void tsn_spectrum_prepare(tsn_spectrum *spectrum, size_t n) {
  tsn_spectrum *s = spectrum;
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

void tsn_spectrum_forward(tsn_spectrum *spectrum, const double *x, tsn_complex *line) {
  tsn_spectrum *s = spectrum;
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

/* The conjugate of the transform of the conjugate, over the number of values. The lines
 * above n / 2 are the conjugates of those below. */
void tsn_spectrum_inverse(tsn_spectrum *spectrum, const tsn_complex *line, double *x) {
  tsn_spectrum *s = spectrum;
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

void tsn_spectrum_products(tsn_spectrum *spectrum, const double *x, double *product) {
  tsn_spectrum *s = spectrum;
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
