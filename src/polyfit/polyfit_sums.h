/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of a stream, in an interval that grows with the samples. */
#ifndef TSN_POLYFIT_SUMS_H
#define TSN_POLYFIT_SUMS_H

#include <stdbool.h>
#include <stdint.h>
#include <tsanom/polyfit.h>

#include "polyfit/polyfit_kernel.h"

/* Units of a set of sums: the interval of the map, in units of x, and the units of x, y
 * and the weights. */
typedef struct {
  double low, high;
  tsn_polyfit_map map;
} tsn_polyfit_frame;

/* Ranges of a block, which determine the frame of its sums. */
typedef struct {
  tsn_polyfit_range x, y, weights;
} tsn_polyfit_ranges;

typedef struct {
  uint64_t samples;
  tsn_polyfit_frame frame;
  double x_low, x_high; /* range of the samples */
  double y_low, y_high;
  /* sum w T_k (2 terms - 1 of them), sum w T_k y (terms), sum w y^2. */
  tsn_dd sums[TSN_POLYFIT_MAX_SUMS];
} tsn_polyfit_sums;

void tsn_polyfit_sums_clear(tsn_polyfit_sums *sums);

/* Complete sums whose map has only the units of y and of the weights; false: no samples have
 * such sums. */
bool tsn_polyfit_sums_restore(tsn_polyfit_sums *sums, int terms);

tsn_polyfit_ranges tsn_polyfit_ranges_of(const tsn_polyfit_samples *block, int32_t isa);

/* Whether all samples are finite and all weights positive. */
bool tsn_polyfit_valid(const tsn_polyfit_ranges *ranges);

/* The frame of sums after adding samples of these ranges; `frame`: of the sums before,
 * NULL if they are empty. */
tsn_polyfit_frame tsn_polyfit_frame_with(const tsn_polyfit_frame *frame, int terms,
                                         const tsn_polyfit_ranges *ranges);

/* Add `added`, the sums of `count` samples in `frame`, the result of
 * tsn_polyfit_frame_with(). turning: scratch of TSN_POLYFIT_TURNING terms, here and below. */
enum { TSN_POLYFIT_TURNING = 7 };
void tsn_polyfit_sums_take(tsn_polyfit_sums *sums, int terms,
                           const tsn_polyfit_frame *frame,
                           const tsn_polyfit_ranges *ranges, size_t count,
                           const tsn_dd *added, tsn_dd *turning);

enum {
  TSN_POLYFIT_STREAM_BLOCK = 2048, /* samples added to a stream's sums at a time */
  TSN_POLYFIT_STREAM_WAVE = 32     /* blocks computed in parallel */
};

/* A block of a wave. */
typedef struct {
  tsn_polyfit_ranges ranges;
  tsn_polyfit_frame frame;
} tsn_polyfit_block;

/* Scratch of one wave. */
typedef struct {
  tsn_polyfit_block *blocks; /* TSN_POLYFIT_STREAM_WAVE */
  tsn_dd *added;             /* 3 terms for each block */
  tsn_dd *turning;
} tsn_polyfit_wave;

/* How to add samples; `exactly`: in double-double; `lanes`: scratch of the calling thread. */
typedef struct {
  const tsanom_exec *exec;
  int terms, exactly;
  double *lanes;
  tsn_polyfit_wave wave;
} tsn_polyfit_adding;

/* Add one block of finite samples with positive weights. */
void tsn_polyfit_sums_add(tsn_polyfit_sums *sums, const tsn_polyfit_adding *how,
                          const tsn_polyfit_samples *block);

/* Add whole blocks on exec's threads. The poll receives `before` plus the samples added
 * as `done`, and `total`. Returns TSANOM_OK, or TSANOM_STOPPED or TSANOM_E_VALUE (some
 * sample is invalid), after which the sums are undefined. */
tsanom_status tsn_polyfit_sums_add_all(tsn_polyfit_sums *sums,
                                       const tsn_polyfit_adding *how,
                                       const tsn_polyfit_samples *samples,
                                       uint64_t before, uint64_t total);

/* Add the samples of `other`, of which only interval and units may change. */
void tsn_polyfit_sums_join(tsn_polyfit_sums *sums, int terms, tsn_polyfit_sums *other,
                           tsn_dd *turning);

/* Map exactly the range of the samples to [-1, 1]. */
void tsn_polyfit_sums_tighten(tsn_polyfit_sums *sums, int terms, tsn_dd *turning);

typedef struct {
  tsn_dd *triangle;             /* terms x terms, by columns */
  double *r, *inverse, *matrix; /* the same each */
  double *lanes;                /* tsn_polyfit_lanes() */
} tsn_polyfit_sums_scratch;

/* The fit of the sums of a stream of `stream_terms` terms. */
tsanom_status tsn_polyfit_sums_solve(const tsn_polyfit_sums *sums, int stream_terms,
                                     int exactly, const tsanom_polyfit_options *options,
                                     int32_t isa, const tsn_polyfit_sums_scratch *scratch,
                                     tsanom_polyfit_model *model);

#endif
