/* SPDX-License-Identifier: BSD-3-Clause */
/* Random problems over all options, and the plain double loops that solve them. */
#ifndef TSANOM_TEST_PROBLEMS_H
#define TSANOM_TEST_PROBLEMS_H

#define REAL double
#define NAIVE(name) f64_##name
#include "dtw/naive.h"
#define REAL float
#define NAIVE(name) f32_##name
#include "dtw/naive.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

static inline size_t open_end(uint64_t *seed, size_t longest) {
  return random_bits(seed) % 4 != 0   ? 0
         : random_bits(seed) % 8 == 0 ? SIZE_MAX
                                      : random_between(seed, 0, longest);
}

static inline void draw_options(tsanom_dtw_options *o, uint64_t *seed, size_t longest) {
  tsanom_dtw_options_init(o, sizeof *o);
  o->cost = (int32_t)(random_bits(seed) % 2);
  o->window = (int32_t)(random_bits(seed) % 2);
  if (random_bits(seed) % 2) {
    o->radius = random_between(seed, 0, longest / (1 + random_bits(seed) % 8));
  }
  if (random_bits(seed) % 3 == 0) o->penalty = 0.25 * (double)random_between(seed, 0, 4);
  o->open_begin_x = open_end(seed, longest);
  o->open_begin_y = open_end(seed, longest);
  o->open_end_x = open_end(seed, longest);
  o->open_end_y = open_end(seed, longest);
  if (random_bits(seed) % 4 == 0) o->dimensions = random_between(seed, 1, 3);
  o->stride = o->dimensions + (random_bits(seed) % 4 == 0);
}

/* Short ones more often than their share. */
static inline size_t draw_length(uint64_t *seed, size_t longest) {
  return random_between(seed, 1, random_bits(seed) % 8 == 0 ? 3 : longest);
}

typedef struct {
  size_t length;
  double *f64;
  float *f32;
} sample;

/* Often values of which ties or roundings to nothing come. */
static inline void fill(double *x, size_t count, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 8;
  for (size_t i = 0; i < count; i++) {
    double u = random_unit(seed);
    x[i] = kind < 4    ? u * 10 - 5
           : kind == 4 ? floor(u * 4)
           : kind == 5 ? u * 0x1p-140 /* too small for a normal float */
           : kind == 6 ? (u < 0.5 ? -0.0 : 0)
                       : 1;
  }
}

static inline sample draw(uint64_t *seed, size_t length, size_t stride) {
  sample s = {length, malloc(length * stride * sizeof(double)),
              malloc(length * stride * sizeof(float))};
  fill(s.f64, length * stride, seed);
  for (size_t k = 0; k < length * stride; k++) s.f32[k] = (float)s.f64[k];
  return s;
}

static inline void drop(sample *s) {
  free(s->f64);
  free(s->f32);
}

static inline tsanom_status expected_status(double distance, double cutoff) {
  return isinf(distance)     ? TSANOM_INFEASIBLE
         : distance > cutoff ? TSANOM_CUTOFF
                             : TSANOM_OK;
}

#endif
