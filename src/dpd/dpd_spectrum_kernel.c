/* SPDX-License-Identifier: BSD-3-Clause */
/* Radix-2 butterflies. A convolution multiplies two transforms element by element, in any
 * order. So the forward transform halves from the top and leaves reversed bits, and the
 * backward one doubles from the bottom and takes them: no element moves.
 *
 *     forward   half = count/2 ... 1    a, b  ->  a + b, (a - b) w^k
 *     backward  half = 1 ... count/2    a, b  ->  a + b/w^k, a - b/w^k
 *
 * The last two halves, whose w^k are 1 and -i, are one step without products. Elements
 * are independent of each other, so that all levels compute the same bits. */
#include "dpd/dpd_spectrum_kernel.h"

#define INLINE static inline __attribute__((always_inline))

INLINE void split(double *restrict re, double *restrict im, const double *turn_re,
                  const double *turn_im, size_t half) {
#pragma omp simd
  for (size_t k = 0; k < half; k++) {
    double own_re = re[k] - re[half + k], own_im = im[k] - im[half + k];
    re[k] += re[half + k];
    im[k] += im[half + k];
    re[half + k] = own_re * turn_re[k] - own_im * turn_im[k];
    im[half + k] = own_re * turn_im[k] + own_im * turn_re[k];
  }
}

INLINE void join(double *restrict re, double *restrict im, const double *turn_re,
                 const double *turn_im, size_t half) {
#pragma omp simd
  for (size_t k = 0; k < half; k++) {
    double other_re = re[half + k] * turn_re[k] + im[half + k] * turn_im[k];
    double other_im = im[half + k] * turn_re[k] - re[half + k] * turn_im[k];
    re[half + k] = re[k] - other_re;
    im[half + k] = im[k] - other_im;
    re[k] += other_re;
    im[k] += other_im;
  }
}

/* Halves 2 and 1 of the four elements from x on. */
INLINE void split_four(double *re, double *im) {
  double a = re[0] + re[2], b = re[1] + re[3], c = re[0] - re[2], d = re[1] - re[3];
  double e = im[0] + im[2], f = im[1] + im[3], g = im[0] - im[2], h = im[1] - im[3];
  re[0] = a + b, im[0] = e + f;
  re[1] = a - b, im[1] = e - f;
  re[2] = c + h, im[2] = g - d;
  re[3] = c - h, im[3] = g + d;
}

INLINE void join_four(double *re, double *im) {
  double a = re[0] + re[1], b = re[0] - re[1], c = re[2] + re[3], d = re[2] - re[3];
  double e = im[0] + im[1], f = im[0] - im[1], g = im[2] + im[3], h = im[2] - im[3];
  re[0] = a + c, im[0] = e + g;
  re[2] = a - c, im[2] = e - g;
  re[1] = b - h, im[1] = f + d;
  re[3] = b + h, im[3] = f - d;
}

static void forward(tsn_parts x, tsn_parts turn, size_t count) {
  for (size_t half = count / 2; half > 4; half /= 2) {
    for (size_t i = 0; i < count; i += 2 * half) {
      split(x.re + i, x.im + i, turn.re + half, turn.im + half, half);
    }
  }
  for (size_t i = 0; i < count; i += 8) {
    split(x.re + i, x.im + i, turn.re + 4, turn.im + 4, 4);
    split_four(x.re + i, x.im + i);
    split_four(x.re + i + 4, x.im + i + 4);
  }
}

static void backward(tsn_parts x, tsn_parts turn, size_t count) {
  for (size_t i = 0; i < count; i += 8) {
    join_four(x.re + i, x.im + i);
    join_four(x.re + i + 4, x.im + i + 4);
    join(x.re + i, x.im + i, turn.re + 4, turn.im + 4, 4);
  }
  for (size_t half = 8; half < count; half *= 2) {
    for (size_t i = 0; i < count; i += 2 * half) {
      join(x.re + i, x.im + i, turn.re + half, turn.im + half, half);
    }
  }
}

const tsn_dpd_spectrum_kernels TSN_LEVEL(tsn_dpd_spectrum_kernels) = {
    .forward = forward,
    .backward = backward,
};
