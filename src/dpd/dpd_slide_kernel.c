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
 * sample, 108 to 114 ns of the 108 to 122 ns that the loop takes; in fixed point, where a
 * maximum replaces difference and magnitude and a vector has twice the delays, the bound
 * is 42 to 45 ns and the loop takes 55 to 58 (2-core Xeon, docs/dpd.md, "Cost and
 * limits"). Two consequences:
 *
 * - A pass slides the sums by several samples, so that loads and stores of sums are rare.
 *   Each sample needs two broadcast constants in registers, which limits the samples of a
 *   pass (AT_ONCE).
 * - The minimum and the total are computed only once per block of samples, if requested.
 *
 * Equal results at every level: delays are independent of each other, so that the width
 * of a vector does not matter to a sum. A minimum and an integer total do not depend on
 * the order of their operands; the total of doubles uses sixteen lanes at every level, so
 * that all levels add in one order. */
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
 * operations is part of the result: slid_f64() in dpd_sums.c repeats it for a single sum.
 */
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

/* Fixed point: twice as many delays per vector, four operations instead of six. All of it
 * is modulo 2^32, where intermediate g(m) may wrap and the s(m) computed from them are
 * exact. */
enum { WIDTH_U32 = TSN_VECTOR_BYTES / 4 };

INLINE tsn_i32 load_i32(const int32_t *at) {
  return *(const tsn_i32_at *)at;
}

INLINE tsn_u32 load_u32(const uint32_t *at) {
  return *(const tsn_u32_at *)at;
}

INLINE tsn_u32 lanes_below_u32(size_t count) {
  tsn_u32 lane;
  for (uint32_t k = 0; k < WIDTH_U32; k++) lane[k] = k;
  return (tsn_u32)(lane < (uint32_t)count);
}

typedef struct {
  const int32_t *newest;
  size_t window, samples;
  tsn_i32 enters[TSN_DPD_BLOCK], leaves[TSN_DPD_BLOCK];
} block_i32;

INLINE block_i32 block_of_i32(const int32_t *newest, size_t window, size_t samples) {
  block_i32 block = {.newest = newest, .window = window, .samples = samples};
  for (size_t k = 0; k < samples; k++) {
    block.enters[k] = (tsn_i32){0} + newest[samples - 1 - k];
    block.leaves[k] = (tsn_i32){0} + newest[samples - 1 - k + window];
  }
  return block;
}

/* The change of g(m): maxima of signed samples, differences modulo 2^32. */
INLINE tsn_u32 step_i32(const block_i32 *block, size_t k, size_t m) {
  const int32_t *before = block->newest + (block->samples - k) + m;
  tsn_i32 entering = tsn_max_i32(block->enters[k], load_i32(before));
  tsn_i32 leaving = tsn_max_i32(block->leaves[k], load_i32(before + block->window));
  return (tsn_u32)entering - (tsn_u32)leaving;
}

INLINE tsn_u32 slide_vector_u32(const block_i32 *block, size_t m, tsn_u32 there,
                                tsn_u32 g) {
  for (size_t k = 0; k < block->samples; k++) {
    g += step_i32(block, k, m) & there;
    TSN_IN_REGISTER(g);
  }
  return g;
}

/* Totals of 32-bit sums in 64-bit lanes: of whole lanes, where the upper half wraps, and
 * of the upper halves. */
typedef struct {
  tsn_u64 both, upper;
} wide_total;

INLINE void add_wide(wide_total *total, tsn_u32 s) {
  total->both += (tsn_u64)s;
  total->upper += (tsn_u64)s >> 32;
}

INLINE uint64_t total_of_wide(const wide_total *total) {
  uint64_t both = 0, upper = 0;
  for (size_t k = 0; k < WIDTH; k++) {
    both += total->both[k];
    upper += total->upper[k];
  }
  return both - (upper << 32) + upper;
}

INLINE uint32_t least_lane_u32(tsn_u32 v) {
  uint32_t lane[WIDTH_U32];
  memcpy(lane, &v, sizeof lane);
  for (size_t half = WIDTH_U32 / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) {
      lane[k] = lane[k + half] < lane[k] ? lane[k + half] : lane[k];
    }
  }
  return lane[0];
}

/* As pass_f64(). The sums s(m) = 2 g(m) - w[t] - w[t-m] exist only in registers, for
 * minimum and total: the array keeps g(m), from which the next sample continues. Masked
 * lanes are set to the largest number for the minimum and to 0 for the total. */
INLINE void pass_u32(const int32_t *newest, const uint32_t *newest_window, size_t window,
                     size_t samples, uint32_t *greater, size_t lags, uint32_t *lowest,
                     uint64_t *total) {
  block_i32 block = block_of_i32(newest, window, samples);
  tsn_u32 least = ~(tsn_u32){0}, now = (tsn_u32){0} + newest_window[0];
  wide_total all = {{0}, {0}};
  size_t m = 0;
  for (; m + WIDTH_U32 <= lags; m += WIDTH_U32) {
    tsn_u32 g = slide_vector_u32(&block, m, ~(tsn_u32){0}, load_u32(greater + m));
    *(tsn_u32_at *)(greater + m) = g;
    tsn_u32 s = 2 * g - load_u32(newest_window + 1 + m) - now;
    if (lowest) least = tsn_min_u32(s, least);
    if (total) add_wide(&all, s);
  }
  if (m < lags) {
    tsn_u32 there = lanes_below_u32(lags - m);
    tsn_u32 g = slide_vector_u32(&block, m, there, load_u32(greater + m));
    *(tsn_u32_at *)(greater + m) = g;
    tsn_u32 s = 2 * g - load_u32(newest_window + 1 + m) - now;
    if (lowest) least = tsn_min_u32(s | ~there, least);
    if (total) add_wide(&all, s & there);
  }
  if (lowest) *lowest = least_lane_u32(least);
  if (total) *total = total_of_wide(&all);
}

/* As slide_f64(). */
static uint32_t slide_u32(const int32_t *newest, const uint32_t *newest_window,
                          size_t window, size_t samples, uint32_t *greater, size_t lags,
                          uint64_t *total) {
  uint32_t least;
  while (samples > AT_ONCE) {
    samples -= AT_ONCE;
    pass_u32(newest + samples, newest_window, window, AT_ONCE, greater, lags, NULL, NULL);
  }
  if (samples == AT_ONCE) {
    pass_u32(newest, newest_window, window, AT_ONCE, greater, lags, &least, total);
    return least;
  }
  while (--samples > 0) {
    pass_u32(newest + samples, newest_window, window, 1, greater, lags, NULL, NULL);
  }
  pass_u32(newest, newest_window, window, 1, greater, lags, &least, total);
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
    .slide_u32 = slide_u32,
    .distance_f64 = distance_f64,
};
