/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums N d(m) of eq. 1 for all delays m, kept up as the window slides, in
 * double precision or in fixed point.
 *
 * Each step adds a term to each sum and takes one off. In double precision the
 * rounding of those steps piles up, so that every few samples one of the sums
 * is computed afresh, each in turn. Fixed point is exact. */
#ifndef TSN_DPD_SUMS_H
#define TSN_DPD_SUMS_H

#include "core/arena.h"
#include "dpd/dpd_kernel.h"

typedef struct {
  const tsn_dpd_kernels *kernels;
  size_t window;     /* N */
  size_t max_period; /* M */
  double scale;      /* above 0: fixed point */
  double unit;       /* of the sums: scale, or 1 */
  uint64_t count;    /* samples so far */
  size_t head;       /* where the newest sample is */
  size_t mask;       /* newest first in a ring of mask + 1 samples, stored twice so
                        that any stretch of it is contiguous */
  double *value;     /* the samples as they came */
  int32_t *fixed;    /* in fixed point */
  double *sum;       /* of delay m at m - 1 */
  uint32_t *fixed_sum;
  int64_t fixed_total; /* of the first `totalled` fixed sums */
  size_t totalled;
  size_t refreshed; /* the sum that was last computed afresh */
} tsn_sums;

void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, double scale,
                     tsn_sums *sums);

/* Begin, or go on with other sizes on the samples there are. */
void tsn_sums_start(tsn_sums *sums, const tsn_dpd_kernels *kernels, size_t window,
                    size_t max_period);

/* Take a sample; the extent is that of the complete sums. On a refusal nothing
 * has changed. */
tsanom_status tsn_sums_push(tsn_sums *sums, double sample, tsn_dpd_extent *extent);

/* All samples of the window are equal: the sums are 0, whatever rounding says. */
void tsn_sums_clear(tsn_sums *sums);

/* How many delays, from 1 on, have a complete window behind them. */
static inline size_t tsn_sums_complete(const tsn_sums *sums) {
  if (sums->count <= sums->window) return 0;
  uint64_t complete = sums->count - sums->window;
  return complete < sums->max_period ? (size_t)complete : sums->max_period;
}

static inline double tsn_sums_at(const tsn_sums *sums, size_t delay) {
  return sums->fixed ? (double)sums->fixed_sum[delay - 1] : sums->sum[delay - 1];
}

/* The sample that came `back` before the newest. */
static inline double tsn_sums_sample(const tsn_sums *sums, size_t back) {
  return sums->value[sums->head + back];
}

#endif
