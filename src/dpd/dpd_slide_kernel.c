/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over a sliding window, a vector of delays at a time; dpd_slide_kernel.h has the
 * recurrences.
 *
 *     delays       m ... m+W-1   | m+W ...          one vector of sums in a register
 *     per sample   + |x[t] - x[t-m]|  - |x[t-N] - x[t-N-m]|
 *                    broadcast  one load            one load
 *
 * Arithmetic limits these loops: per vector of delays and sample, two differences, two
 * magnitudes and two additions. At N = M = 1024 with AVX-512 that is 800 operations per
 * sample, 108 to 114 ns of the 108 to 122 ns that the loop takes (2-core
 * Xeon). Two consequences:
 *
 * - A pass slides the sums by several samples, so that loads and stores of sums are rare.
 *   Each sample needs two broadcast constants in registers, which limits the samples of a
 *   pass (AT_ONCE).
 * - The minimum and the total are computed only once per block of samples, if requested.
 *
 * Equal results at every level: delays are independent of each other, so that the width
 * of a vector does not matter to a sum. A minimum does not depend on the order of its
 * operands; the total uses sixteen lanes at every level, so that all levels add in one
 * order. */
#include "dpd/dpd_slide_kernel.h"

#include <math.h>
#include <string.h>

#include "core/vector.h"

#define INLINE static inline __attribute__((always_inline))

enum { WIDTH = TSN_VECTOR_BYTES / 8, TOTAL_LANES = 16, PARTS = TOTAL_LANES / WIDTH };

INLINE tsn_f64 load_f64(const double *at) {
  return *(const tsn_f64_at *)at;
}

/* Clears the sign bit: one operation, exact, also for -0. */
INLINE tsn_f64 magnitude_f64(tsn_f64 v) {
  return (tsn_f64)((tsn_i64)v & INT64_MAX);
}

/* All ones in the lanes below `count`, of 8 bytes each. It compares doubles because the
 * base level cannot compare 64-bit integers. */
INLINE tsn_i64 lanes_below(size_t count) {
  tsn_f64 lane;
  for (int k = 0; k < WIDTH; k++) lane[k] = k;
  return (tsn_i64)(lane < (double)count);
}

/* Samples whose constants, two vectors each, stay in registers: AVX-512 has 32 vector
 * registers, lower levels have 16. */
enum { AT_ONCE = TSN_VECTOR_BYTES == 64 ? TSN_DPD_BLOCK : TSN_DPD_BLOCK / 2 };

/* The samples that enter and leave the window, broadcast to all lanes, so that they stay
 * in registers. */
typedef struct {
  const double *newest;
  size_t window, samples;
  tsn_f64 enters[TSN_DPD_BLOCK], leaves[TSN_DPD_BLOCK];
} block_f64;

/* Sample k of a block is the k-th in time: the oldest is newest[samples - 1]. */
INLINE block_f64 block_of_f64(const double *newest, size_t window, size_t samples) {
  block_f64 block = {.newest = newest, .window = window, .samples = samples};
  for (size_t k = 0; k < samples; k++) {
    block.enters[k] = (tsn_f64){0} + newest[samples - 1 - k];
    block.leaves[k] = (tsn_f64){0} + newest[samples - 1 - k + window];
  }
  return block;
}

/* The change of the sums of delays m + 1, ... by the k-th sample. The order of the three
 * operations is part of the result: slid() in dpd_value.c repeats it for a single sum. */
INLINE tsn_f64 step_f64(const block_f64 *block, size_t k, size_t m) {
  const double *before = block->newest + (block->samples - k) + m;
  tsn_f64 entering = magnitude_f64(block->enters[k] - load_f64(before));
  tsn_f64 leaving = magnitude_f64(block->leaves[k] - load_f64(before + block->window));
  return entering - leaving;
}

/* Slide one vector of sums by all samples of a block. Lanes not in `there` keep their
 * sums. */
INLINE tsn_f64 slide_vector_f64(const block_f64 *block, size_t m, tsn_i64 there,
                                tsn_f64 s) {
  for (size_t k = 0; k < block->samples; k++) {
    s += (tsn_f64)((tsn_i64)step_f64(block, k, m) & there);
  }
  return s;
}

/* Halving shortens the chain of dependent comparisons. */
INLINE double least_lane(tsn_f64 v) {
  double lane[WIDTH];
  memcpy(lane, &v, sizeof lane);
  for (size_t half = WIDTH / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) {
      lane[k] = lane[k + half] < lane[k] ? lane[k + half] : lane[k];
    }
  }
  return lane[0];
}

/* The order of addition is fixed: halves. */
INLINE double total_lanes(const tsn_f64 *total) {
  double lane[TOTAL_LANES];
  for (size_t k = 0; k < TOTAL_LANES; k++) lane[k] = total[k / WIDTH][k % WIDTH];
  for (size_t half = TOTAL_LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

/* Slide all sums by one block. The last, partial stretch of delays reads whole vectors
 * (arrays are padded) and masks: lanes not in `there` keep their sums. For the minimum
 * they are set to NaN, which the minimum ignores in its first operand. */
INLINE void pass_f64(const double *newest, size_t window, size_t samples, double *sum,
                     size_t lags, double *lowest, double *total) {
  block_f64 block = block_of_f64(newest, window, samples);
  tsn_f64 least[PARTS], all[PARTS];
  for (size_t part = 0; part < PARTS; part++) {
    least[part] = (tsn_f64){0} + (double)INFINITY;
    all[part] = (tsn_f64){0};
  }
  size_t m = 0;
  for (; m + TOTAL_LANES <= lags; m += TOTAL_LANES) {
    for (size_t part = 0; part < PARTS; part++) {
      size_t at = m + part * WIDTH;
      tsn_f64 s = slide_vector_f64(&block, at, ~(tsn_i64){0}, load_f64(sum + at));
      *(tsn_f64_at *)(sum + at) = s;
      if (lowest) least[part] = tsn_min_f64(s, least[part]);
      if (total) all[part] += s;
    }
  }
  for (size_t part = 0; part < PARTS && m < lags; part++, m += WIDTH) {
    tsn_i64 there = lanes_below(lags - m);
    tsn_f64 s = slide_vector_f64(&block, m, there, load_f64(sum + m));
    *(tsn_f64_at *)(sum + m) = s;
    if (lowest) least[part] = tsn_min_f64((tsn_f64)((tsn_i64)s | ~there), least[part]);
    if (total) all[part] += (tsn_f64)((tsn_i64)s & there);
  }
  for (size_t part = 1; part < PARTS; part++) {
    least[0] = tsn_min_f64(least[part], least[0]);
  }
  if (lowest) *lowest = least_lane(least[0]);
  if (total) *total = total_lanes(all);
}

/* Whole blocks first. A rest that is shorter than a block goes one sample at a time: the
 * number of samples of a pass is a constant that the compiler unrolls, and a pass for
 * each rest would multiply the code for the few calls that have one. */
static double slide_f64(const double *newest, size_t window, size_t samples, double *sum,
                        size_t lags, double *total) {
  double least;
  while (samples > AT_ONCE) {
    samples -= AT_ONCE;
    pass_f64(newest + samples, window, AT_ONCE, sum, lags, NULL, NULL);
  }
  if (samples == AT_ONCE) {
    pass_f64(newest, window, AT_ONCE, sum, lags, &least, total);
    return least;
  }
  while (--samples > 0) pass_f64(newest + samples, window, 1, sum, lags, NULL, NULL);
  pass_f64(newest, window, 1, sum, lags, &least, total);
  return least;
}

enum { DISTANCE_LANES = 32 };

/* A sum from its terms, for a refresh. The number of lanes is fixed, so that all levels
 * add in the same order. 32 lanes are four AVX-512 accumulators, which hides the latency
 * of the addition. */
static double distance_f64(const double *x, const double *y, size_t count) {
  double total[DISTANCE_LANES] = {0};
  size_t i = 0;
  for (; i + DISTANCE_LANES <= count; i += DISTANCE_LANES) {
#pragma omp simd
    for (size_t k = 0; k < DISTANCE_LANES; k++) total[k] += fabs(x[i + k] - y[i + k]);
  }
  for (size_t k = 0; i < count; i++, k++) total[k] += fabs(x[i] - y[i]);
  for (size_t half = DISTANCE_LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) total[k] += total[k + half];
  }
  return total[0];
}

const tsn_dpd_slide_kernels TSN_LEVEL(tsn_dpd_slide_kernels) = {
    .slide_f64 = slide_f64,
    .distance_f64 = distance_f64,
};
