/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums N d(m) of eq. 1 for all delays m, kept up as the window slides, in
 * double precision or in fixed point.
 *
 * Each sample adds a term to each sum and takes one off. In double precision the
 * rounding of those steps piles up, so that every few samples one of the sums
 * is computed afresh, each in turn. Fixed point is exact.
 *
 * The sums are slid by TSN_DPD_BLOCK samples in one go, so that they may be a few
 * samples behind. Until they catch up one of them is followed from sample to sample,
 * and a bound is known of all. */
#ifndef TSN_DPD_SUMS_H
#define TSN_DPD_SUMS_H

#include <stdbool.h>

#include "core/arena.h"
#include "dpd/dpd_slide_kernel.h"

/* What lies between. */
typedef struct {
  double low, high;
} tsn_range;

/* The stretches of samples, from one move of the history to the next, of whose ranges
 * the history consists. */
enum { TSN_SUMS_STRETCHES = 5 };

typedef struct {
  const tsn_dpd_slide_kernels *kernels;
  size_t window;       /* N */
  size_t max_period;   /* M */
  double scale;        /* above 0: fixed point */
  double weight;       /* of d(m) in the sums: N, scaled */
  double fixed_most;   /* the largest sample in fixed point, scaled: good for every
                          window */
  uint64_t count;      /* samples so far */
  size_t head;         /* where the newest sample is, the older ones behind it */
  size_t history;      /* samples that are kept */
  size_t room;         /* places before them: the history moves up by so many when
                          they are used up, so that it is contiguous and in the cache */
  size_t samples;      /* places for samples */
  size_t delays;       /* places for sums */
  double *value;       /* the samples as they came */
  int32_t *fixed;      /* in fixed point */
  uint32_t *windowed;  /* in fixed point: the sums of the windows that end at them */
  double *sum;         /* of delay m at m - 1 */
  uint32_t *greater;   /* in fixed point, instead: g(m) of the kernels */
  size_t behind;       /* the newest samples, by which the sums have not been slid yet */
  double least;        /* of the complete sums, or, while they are behind, a lower bound;
                          infinity where there are none */
  size_t followed;     /* a delay, or 0 */
  double followed_sum; /* of it, never behind */
  double mean;         /* of the complete sums; of 64 or more complete ones, at the last
                          sample whose number is a multiple of TSN_DPD_BLOCK */
  size_t refreshed;    /* the sum that was last computed afresh */
  tsn_range stretch[TSN_SUMS_STRETCHES]; /* of the samples, scaled; the newest first */
  tsn_range range;                       /* of all of these */
} tsn_sums;

void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, double scale,
                     tsn_sums *sums);

/* Begin, or go on with smaller sizes on the samples there are. */
void tsn_sums_start(tsn_sums *sums, const tsn_dpd_slide_kernels *kernels, size_t window,
                    size_t max_period);

/* Take a sample. On a refusal nothing has changed. */
tsanom_status tsn_sums_push(tsn_sums *sums, double sample);

/* Slide the sums by the samples that they are behind. */
void tsn_sums_catch_up(tsn_sums *sums);

/* Follow the sum of a delay from now on; 0: none. */
void tsn_sums_follow(tsn_sums *sums, size_t delay);

/* To be called after each TSN_DPD_BLOCK samples: computes a sum afresh when it is time
 * for one. */
void tsn_sums_settle(tsn_sums *sums);

/* All samples of the window are equal: the sums are 0, whatever rounding says. */
void tsn_sums_zero(tsn_sums *sums);

/* The sum of a delay at the newest sample. */
double tsn_sums_at(const tsn_sums *sums, size_t delay);

/* How many delays, from 1 on, have a complete window behind them. */
static inline size_t tsn_sums_complete(const tsn_sums *sums) {
  if (sums->count <= sums->window) return 0;
  uint64_t complete = sums->count - sums->window;
  return complete < sums->max_period ? (size_t)complete : sums->max_period;
}

/* The sum of a delay after the samples by which it has been slid. */
static inline double tsn_sums_slid(const tsn_sums *sums, size_t delay) {
  if (!sums->fixed) return sums->sum[delay - 1];
  const uint32_t *windowed = sums->windowed + sums->head + sums->behind;
  return 2 * sums->greater[delay - 1] - windowed[0] - windowed[delay];
}

/* The sample that came `back` before the newest. */
static inline double tsn_sums_sample(const tsn_sums *sums, size_t back) {
  return sums->value[sums->head + back];
}

#endif
