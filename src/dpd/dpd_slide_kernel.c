/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over a sliding window, a vector of delays at a time. What bounds these
 * loops is arithmetic: a vector of delays takes two differences, two magnitudes,
 * two additions and a minimum for each sample, so that the total, which needs one
 * addition more, is made as seldom as its readers allow. A minimum does not depend
 * on the order in which it is taken, nor does an integer total; the total of
 * doubles has its sixteen lanes fixed here, for every level to add in one order. */
#include "dpd/dpd_slide_kernel.h"

#include <math.h>
#include <stdbool.h>

#include "core/vector.h"

#define INLINE static inline __attribute__((always_inline))

enum { WIDTH = TSN_VECTOR_BYTES / 8, TOTAL_LANES = 16, PARTS = TOTAL_LANES / WIDTH };

INLINE tsn_f64 load_f64(const double *at) {
  return *(const tsn_f64_at *)at;
}

INLINE tsn_f64 magnitude_f64(tsn_f64 v) {
  return (tsn_f64)((tsn_i64)v & INT64_MAX);
}

/* All ones in the lanes below `count`, of 8 bytes each. By doubles, as the base level
 * compares no integers of that size. */
INLINE tsn_i64 lanes_below(size_t count) {
  tsn_f64 lane;
  for (int k = 0; k < WIDTH; k++) lane[k] = k;
  return (tsn_i64)(lane < (double)count);
}

/* Samples of a block whose minima stay in registers. */
enum { AT_ONCE = TSN_VECTOR_BYTES == 64 ? TSN_DPD_BLOCK : TSN_DPD_BLOCK / 2 };

/* The samples that enter and leave the window, in every lane, so that they stay
 * in registers. */
typedef struct {
  const double *newest;
  size_t window, samples;
  tsn_f64 enters[TSN_DPD_BLOCK], leaves[TSN_DPD_BLOCK];
} block_f64;

INLINE block_f64 block_of_f64(const double *newest, size_t window, size_t samples) {
  block_f64 block = {.newest = newest, .window = window, .samples = samples};
  for (size_t k = 0; k < samples; k++) {
    block.enters[k] = (tsn_f64){0} + newest[samples - 1 - k];
    block.leaves[k] = (tsn_f64){0} + newest[samples - 1 - k + window];
  }
  return block;
}

/* What the k-th sample adds to the sums of the delays m + 1, ... */
INLINE tsn_f64 step_f64(const block_f64 *block, size_t k, size_t m) {
  const double *before = block->newest + (block->samples - k) + m;
  tsn_f64 entering = magnitude_f64(block->enters[k] - load_f64(before));
  tsn_f64 leaving = magnitude_f64(block->leaves[k] - load_f64(before + block->window));
  return entering - leaving;
}

/* One vector of sums by all samples of a block. Lanes that are not `there` keep
 * their sums, and are no candidates: the minimum passes over a NaN in its first
 * operand. */
INLINE tsn_f64 slide_vector_f64(const block_f64 *block, size_t m, tsn_i64 there,
                                tsn_f64 s, tsn_f64 *least) {
  for (size_t k = 0; k < block->samples; k++) {
    s += (tsn_f64)((tsn_i64)step_f64(block, k, m) & there);
    least[k] = tsn_min_f64((tsn_f64)((tsn_i64)s | ~there), least[k]);
  }
  return s;
}

INLINE double least_lane(tsn_f64 v) {
  double least = v[0];
  for (size_t k = 1; k < WIDTH; k++) least = v[k] < least ? v[k] : least;
  return least;
}

/* By halves. */
INLINE double total_lanes(const tsn_f64 *total) {
  double lane[TOTAL_LANES];
  for (size_t k = 0; k < TOTAL_LANES; k++) lane[k] = total[k / WIDTH][k % WIDTH];
  for (size_t half = TOTAL_LANES / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

/* A block has a chain of minima for each sample; a single sample has one for each part,
 * for the chains not to wait for themselves. */
INLINE void slide_many_f64(const double *newest, size_t window, size_t samples,
                           const double *from, double *to, size_t lags, double *lowest,
                           double *total) {
  block_f64 block = block_of_f64(newest, window, samples);
  tsn_f64 least[TSN_DPD_BLOCK], sum[PARTS];
  for (size_t k = 0; k < TSN_DPD_BLOCK; k++) least[k] = (tsn_f64){0} + (double)INFINITY;
  for (size_t part = 0; part < PARTS; part++) sum[part] = (tsn_f64){0};
  size_t m = 0;
  for (; m + TOTAL_LANES <= lags; m += TOTAL_LANES) {
    for (size_t part = 0; part < PARTS; part++) {
      size_t at = m + part * WIDTH;
      tsn_f64 s = slide_vector_f64(&block, at, ~(tsn_i64){0}, load_f64(from + at),
                                   samples == 1 ? least + part : least);
      *(tsn_f64_at *)(to + at) = s;
      if (total) sum[part] += s;
    }
  }
  for (size_t part = 0; part < PARTS && m < lags; part++, m += WIDTH) {
    tsn_i64 there = lanes_below(lags - m);
    tsn_f64 s = slide_vector_f64(&block, m, there, load_f64(from + m), least);
    *(tsn_f64_at *)(to + m) = s;
    if (total) sum[part] += (tsn_f64)((tsn_i64)s & there);
  }
  for (size_t part = 1; samples == 1 && part < PARTS; part++) {
    least[0] = tsn_min_f64(least[part], least[0]);
  }
  for (size_t k = 0; k < samples; k++) lowest[k] = least_lane(least[k]);
  if (total) *total = total_lanes(sum);
}

_Static_assert((int)PARTS <= (int)TSN_DPD_BLOCK, "a chain of minima for each part");

static double slide_f64(const double *newest, size_t window, double *sum, size_t lags,
                        double *total) {
  double least;
  if (total) {
    slide_many_f64(newest, window, 1, sum, sum, lags, &least, total);
  } else {
    slide_many_f64(newest, window, 1, sum, sum, lags, &least, NULL);
  }
  return least;
}

static void slide_block_f64(const double *newest, size_t window, const double *from,
                            double *to, size_t lags, double *least, double *total) {
  double made;
  size_t later = TSN_DPD_BLOCK - AT_ONCE;
  if (later > 0) {
    slide_many_f64(newest + later, window, AT_ONCE, from, to, lags, least, NULL);
    from = to;
  }
  slide_many_f64(newest, window, AT_ONCE, from, to, lags, least + later, &made);
  *total = made;
}

/* Fixed point: the same, twice as many delays a vector. */
enum { WIDTH_U32 = TSN_VECTOR_BYTES / 4 };

INLINE tsn_i32 load_i32(const int32_t *at) {
  return *(const tsn_i32_at *)at;
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

INLINE tsn_i32 step_i32(const block_i32 *block, size_t k, size_t m) {
  const int32_t *before = block->newest + (block->samples - k) + m;
  tsn_i32 entering = tsn_abs_i32(block->enters[k] - load_i32(before));
  tsn_i32 leaving = tsn_abs_i32(block->leaves[k] - load_i32(before + block->window));
  return entering - leaving;
}

INLINE tsn_u32 slide_vector_u32(const block_i32 *block, size_t m, tsn_u32 there,
                                tsn_u32 s, tsn_u32 *least) {
  for (size_t k = 0; k < block->samples; k++) {
    s += (tsn_u32)step_i32(block, k, m) & there;
    least[k] = tsn_min_u32(s | ~there, least[k]);
  }
  return s;
}

/* Sums of 32 bits in lanes of 64: of both halves together, where the upper half
 * wraps, and of the upper halves alone. */
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

INLINE void slide_many_u32(const int32_t *newest, size_t window, size_t samples,
                           const uint32_t *from, uint32_t *to, size_t lags,
                           uint32_t *lowest, uint64_t *total) {
  block_i32 block = block_of_i32(newest, window, samples);
  tsn_u32 least[TSN_DPD_BLOCK];
  wide_total sum = {{0}, {0}};
  for (size_t k = 0; k < samples; k++) least[k] = ~(tsn_u32){0};
  size_t m = 0;
  for (; m + WIDTH_U32 <= lags; m += WIDTH_U32) {
    tsn_u32 s = slide_vector_u32(&block, m, ~(tsn_u32){0},
                                 *(const tsn_u32_at *)(from + m), least);
    *(tsn_u32_at *)(to + m) = s;
    if (total) add_wide(&sum, s);
  }
  if (m < lags) {
    tsn_u32 there = lanes_below_u32(lags - m);
    tsn_u32 s =
        slide_vector_u32(&block, m, there, *(const tsn_u32_at *)(from + m), least);
    *(tsn_u32_at *)(to + m) = s;
    if (total) add_wide(&sum, s & there);
  }
  for (size_t k = 0; k < samples; k++) {
    lowest[k] = least[k][0];
    for (size_t j = 1; j < WIDTH_U32; j++) {
      lowest[k] = least[k][j] < lowest[k] ? least[k][j] : lowest[k];
    }
  }
  if (total) *total = total_of_wide(&sum);
}

static uint32_t slide_u32(const int32_t *newest, size_t window, uint32_t *sum,
                          size_t lags, uint64_t *total) {
  uint32_t least;
  if (total) {
    slide_many_u32(newest, window, 1, sum, sum, lags, &least, total);
  } else {
    slide_many_u32(newest, window, 1, sum, sum, lags, &least, NULL);
  }
  return least;
}

static void slide_block_u32(const int32_t *newest, size_t window, const uint32_t *from,
                            uint32_t *to, size_t lags, uint32_t *least, uint64_t *total) {
  uint64_t made;
  size_t later = TSN_DPD_BLOCK - AT_ONCE;
  if (later > 0) {
    slide_many_u32(newest + later, window, AT_ONCE, from, to, lags, least, NULL);
    from = to;
  }
  slide_many_u32(newest, window, AT_ONCE, from, to, lags, least + later, &made);
  *total = made;
}

enum { DISTANCE_LANES = 32 };

/* Lanes are fixed for every level to add in the same order. */
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
    .slide_block_f64 = slide_block_f64,
    .slide_block_u32 = slide_block_u32,
    .distance_f64 = distance_f64,
};
