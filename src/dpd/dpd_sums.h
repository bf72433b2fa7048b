/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums N d(m) of eq. 1 for all delays m, kept up as the window slides, in
 * double precision or in fixed point.
 *
 * Each sample adds a term to each sum and takes one off. In double precision the
 * rounding of those steps piles up, so that every few samples one of the sums
 * is computed afresh, each in turn. Fixed point is exact. */
#ifndef TSN_DPD_SUMS_H
#define TSN_DPD_SUMS_H

#include <stdbool.h>

#include "core/arena.h"
#include "dpd/dpd_slide_kernel.h"

typedef struct {
  const tsn_dpd_slide_kernels *kernels;
  size_t window;       /* N */
  size_t max_period;   /* M */
  double scale;        /* above 0: fixed point */
  double unit;         /* of the sums: scale, or 1 */
  double fixed_most;   /* the largest sample in fixed point, scaled */
  uint64_t count;      /* samples so far */
  size_t head;         /* where the newest sample is, the older ones behind it */
  size_t history;      /* samples that are kept */
  size_t room;         /* places before them: the history moves up by so many when
                          they are used up, so that it is contiguous and in the cache */
  size_t samples;      /* places for samples */
  size_t delays;       /* places for sums */
  double *value;       /* the samples as they came */
  int32_t *fixed;      /* in fixed point */
  double *sum;         /* of delay m at m - 1 */
  uint32_t *fixed_sum; /* in fixed point, instead */
  double *next_sum;    /* the sums after a block, until it is taken */
  uint32_t *next_fixed_sum;
  double mean;      /* of the complete sums; of 64 or more complete ones, at the last
                       sample whose number is a multiple of TSN_DPD_BLOCK */
  size_t refreshed; /* the sum that was last computed afresh */
} tsn_sums;

/* A block of samples that was slid over but not taken yet. */
typedef struct {
  double least[TSN_DPD_BLOCK]; /* sum after each sample */
  double at[TSN_DPD_BLOCK];    /* the sum of the delay that was asked for */
  double mean;                 /* after the last */
} tsn_block;

void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, double scale,
                     tsn_sums *sums);

/* Begin, or go on with smaller sizes on the samples there are. */
void tsn_sums_start(tsn_sums *sums, const tsn_dpd_slide_kernels *kernels, size_t window,
                    size_t max_period);

/* Take a sample; `least` is that of the complete sums, infinity where there are
 * none. On a refusal nothing has changed. */
tsanom_status tsn_sums_push(tsn_sums *sums, double sample, double *least);

/* Slide over TSN_DPD_BLOCK samples, looking at the sum of `delay` (0: none) on the
 * way; either tsn_sums_take_block() or tsn_sums_drop_block() follows. False, and
 * nothing has changed: these samples are to be pushed one by one. */
bool tsn_sums_try_block(tsn_sums *sums, const double *samples, size_t delay,
                        tsn_block *block);
void tsn_sums_take_block(tsn_sums *sums, const tsn_block *block);
void tsn_sums_drop_block(tsn_sums *sums);

/* To be called after each sample or block that was taken: computes a sum afresh when
 * it is time for one. */
void tsn_sums_settle(tsn_sums *sums);

/* All samples of the window are equal: the sums are 0, whatever rounding says. */
void tsn_sums_zero(tsn_sums *sums);

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
