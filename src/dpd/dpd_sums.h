/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums s(m) = N·d(m) of eq. 1 for all delays m, updated as the window slides.
 *
 * Each sample adds one term to each sum and removes one. The rounding errors of these
 * steps accumulate, so that after every REFRESH_EVERY samples one sum, in turn, is
 * computed from its terms.
 *
 * The sums are slid by TSN_DPD_BLOCK samples at a time, which loads and stores each sum
 * once per block. So they may be a few samples behind:
 *
 *   samples   ... | 8 samples, slid | 3 new samples |
 *                                     `behind` = 3: only the sum of the followed delay
 * and a lower bound of all sums are up to date */
#ifndef TSN_DPD_SUMS_H
#define TSN_DPD_SUMS_H

#include <stdbool.h>

#include "core/arena.h"
#include "dpd/dpd_slide_kernel.h"

/* The interval [low, high]. */
typedef struct {
  double low, high;
} tsn_range;

/* A segment is the samples between two moves of the history, which contains at most this
 * number of segments. */
enum { TSN_SUMS_SEGMENTS = 5 };

/* Invariant after each push: sum[m-1] is s(m) after the sample `behind` before the
 * newest; followed_sum is s(followed) after the newest; least is not above any complete
 * s(m) after the newest. */
typedef struct {
  const tsn_dpd_slide_kernels *kernels;
  size_t window;       /* N */
  size_t max_period;   /* M */
  uint64_t count;      /* samples so far */
  size_t head;         /* index of the newest sample; older ones follow */
  size_t history;      /* samples that are kept */
  size_t slack;        /* free elements before the history: when they are used up, the
                          history moves up by this number, so that it is contiguous */
  size_t samples;      /* length of the arrays of samples */
  size_t delays;       /* length of the arrays of sums */
  double *value;       /* the samples */
  double *sum;         /* s(m) at m - 1 */
  size_t behind;       /* newest samples by which the sums have not been slid yet */
  double least;        /* minimum of the complete sums, or a lower bound while they are
                          behind; infinity if there are none */
  size_t followed;     /* a delay, or 0 */
  double followed_sum; /* its sum, always up to date */
  double mean; /* of the complete sums; in a window of 64 samples or more, at the last one
                       whose number is a multiple of TSN_DPD_BLOCK */
  size_t refreshed; /* delay of the sum that was last computed from its terms */
  tsn_range segment[TSN_SUMS_SEGMENTS]; /* ranges of samples, newest first */
  tsn_range range;                      /* the union of these */
} tsn_sums;

/* Lay out the arrays for windows up to `window` and delays up to max_period.
 * tsn_sums_start() initializes them. */
void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, tsn_sums *sums);

/* Start, or continue with other sizes on the samples in the history. */
void tsn_sums_start(tsn_sums *sums, const tsn_dpd_slide_kernels *kernels, size_t window,
                    size_t max_period);

/* Push a sample. If it is rejected, nothing changes. */
tsanom_status tsn_sums_push(tsn_sums *sums, double sample);

/* Slide the sums by the samples by which they are behind. */
void tsn_sums_catch_up(tsn_sums *sums);

/* Keep the sum of a delay up to date from now on; 0: none. */
void tsn_sums_follow(tsn_sums *sums, size_t delay);

/* Call it after each TSN_DPD_BLOCK samples: it computes the next sum from its terms when
 * REFRESH_EVERY samples have passed. */
void tsn_sums_refresh_next(tsn_sums *sums);

/* Set the sums to 0, without rounding errors: all samples of the windows are equal. */
void tsn_sums_zero(tsn_sums *sums);

/* The sum of a delay at the newest sample. */
double tsn_sums_at(const tsn_sums *sums, size_t delay);

/* Number of delays, from 1, with a complete window. */
static inline size_t tsn_sums_complete(const tsn_sums *sums) {
  if (sums->count <= sums->window) return 0;
  uint64_t complete = sums->count - sums->window;
  return complete < sums->max_period ? (size_t)complete : sums->max_period;
}

/* The sum of a delay after the samples by which it has been slid. */
static inline double tsn_sums_slid(const tsn_sums *sums, size_t delay) {
  return sums->sum[delay - 1];
}

/* The sample `back` before the newest. */
static inline double tsn_sums_sample(const tsn_sums *sums, size_t back) {
  return sums->value[sums->head + back];
}

#endif
