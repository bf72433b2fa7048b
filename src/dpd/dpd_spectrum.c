/* SPDX-License-Identifier: BSD-3-Clause */
/* Fourier transforms. A radix-2 transform of a power of two serves both purposes: the
 * autocorrelation of a series padded with zeros is that of its power, and a transform of
 * any length n is a convolution (L. I. Bluestein 1970), because 2 k t = k^2 + t^2 - (k-t)^2:
 *
 *   X[k] = w[k] sum_t (x[t] w[t]) / w[k-t],    w[k] = exp(-pi i k^2 / n)
 *
 * Angles are reduced in integers, k^2 modulo 2 n, so that they are exact for any n. The
 * code is scalar: it computes the same bits at every level. */
#include "dpd/dpd_spectrum.h"

#include <math.h>
#include <stdint.h>

static tsn_complex times(tsn_complex a, tsn_complex b) {
  return (tsn_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static tsn_complex conjugate(tsn_complex a) {
  return (tsn_complex){a.re, -a.im};
}

static tsn_complex unit(double angle) {
  return (tsn_complex){cos(angle), sin(angle)};
}

void tsn_spectrum_layout(tsn_arena *arena, size_t n, tsn_spectrum *spectrum) {
  tsn_spectrum *s = spectrum;
  s->n = n;
  s->padded = 4;
  while (s->padded < 2 * n) {
    if (n > SIZE_MAX / 4 || s->padded > SIZE_MAX / 4) {
      arena->overflow = true;
      return;
    }
    s->padded *= 2;
  }
  s->turn = tsn_arena_take(arena, s->padded / 2, sizeof *s->turn);
  s->chirp = tsn_arena_take(arena, n, sizeof *s->chirp);
  s->kernel = tsn_arena_take(arena, s->padded, sizeof *s->kernel);
  s->work = tsn_arena_take(arena, s->padded, sizeof *s->work);
}

static void reverse_bits(tsn_complex *x, size_t count) {
  for (size_t i = 1, j = 0; i < count; i++) {
    size_t bit = count / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    tsn_complex kept = x[i];
    x[i] = x[j];
    x[j] = kept;
  }
}

/* The transform in place, of `padded` elements. */
static void transform(const tsn_spectrum *s, tsn_complex *x) {
  reverse_bits(x, s->padded);
  for (size_t half = 1; half < s->padded; half *= 2) {
    size_t stride = s->padded / (2 * half);
    for (size_t begin = 0; begin < s->padded; begin += 2 * half) {
      tsn_complex *low = x + begin, *high = low + half;
      for (size_t k = 0; k < half; k++) {
        tsn_complex other = times(high[k], s->turn[k * stride]), own = low[k];
        low[k] = (tsn_complex){own.re + other.re, own.im + other.im};
        high[k] = (tsn_complex){own.re - other.re, own.im - other.im};
      }
    }
  }
}

void tsn_spectrum_prepare(tsn_spectrum *spectrum) {
  for (size_t k = 0; k < spectrum->padded / 2; k++) {
    spectrum->turn[k] = unit(-2 * M_PI * (double)k / (double)spectrum->padded);
  }
  tsn_spectrum_resize(spectrum, spectrum->n);
}

void tsn_spectrum_resize(tsn_spectrum *spectrum, size_t n) {
  tsn_spectrum *s = spectrum;
  s->n = n;
  size_t square = 0; /* k^2 modulo 2 n */
  for (size_t k = 0; k < s->n; k++) {
    s->chirp[k] = unit(-M_PI * (double)square / (double)s->n);
    square = (square + 2 * k + 1) % (2 * s->n);
  }
  for (size_t k = 0; k < s->padded; k++) s->kernel[k] = (tsn_complex){0, 0};
  s->kernel[0] = conjugate(s->chirp[0]);
  for (size_t k = 1; k < s->n; k++) {
    s->kernel[k] = s->kernel[s->padded - k] = conjugate(s->chirp[k]);
  }
  transform(s, s->kernel);
}

/* work[k] = sum_t work[t] / w[k-t], of which k < n counts; work[t] is 0 from n on. The
 * inverse transform is that of the conjugate. */
static void convolve(tsn_spectrum *s) {
  for (size_t k = s->n; k < s->padded; k++) s->work[k] = (tsn_complex){0, 0};
  transform(s, s->work);
  for (size_t k = 0; k < s->padded; k++) {
    s->work[k] = conjugate(times(s->work[k], s->kernel[k]));
  }
  transform(s, s->work);
  double scale = 1 / (double)s->padded;
  for (size_t k = 0; k < s->n; k++) {
    s->work[k] = (tsn_complex){s->work[k].re * scale, -s->work[k].im * scale};
  }
}

void tsn_spectrum_forward(tsn_spectrum *spectrum, const double *x, tsn_complex *line) {
  tsn_spectrum *s = spectrum;
  for (size_t t = 0; t < s->n; t++) {
    s->work[t] = (tsn_complex){x[t] * s->chirp[t].re, x[t] * s->chirp[t].im};
  }
  convolve(s);
  for (size_t k = 0; k <= s->n / 2; k++) line[k] = times(s->work[k], s->chirp[k]);
}

/* The lines above n / 2 are the conjugates of those below; x is the real part of the
 * transform of the conjugate of all, over n. */
void tsn_spectrum_inverse(tsn_spectrum *spectrum, const tsn_complex *line, double *x) {
  tsn_spectrum *s = spectrum;
  for (size_t k = 0; k < s->n; k++) {
    tsn_complex own = k <= s->n / 2 ? conjugate(line[k]) : line[s->n - k];
    s->work[k] = times(own, s->chirp[k]);
  }
  convolve(s);
  for (size_t t = 0; t < s->n; t++) {
    x[t] = times(s->work[t], s->chirp[t]).re / (double)s->n;
  }
}

void tsn_spectrum_products(tsn_spectrum *spectrum, const double *x, double *product) {
  tsn_spectrum *s = spectrum;
  for (size_t t = 0; t < s->padded; t++) {
    s->work[t] = (tsn_complex){t < s->n ? x[t] : 0, 0};
  }
  transform(s, s->work);
  for (size_t k = 0; k < s->padded; k++) {
    tsn_complex own = s->work[k];
    s->work[k] = (tsn_complex){own.re * own.re + own.im * own.im, 0};
  }
  transform(s, s->work);
  double scale = 1 / (double)s->padded;
  for (size_t m = 0; m < s->n; m++) product[m] = s->work[m].re * scale;
}
