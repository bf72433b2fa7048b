/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums that a stream keeps, in an interval that grows. */
#ifndef TSN_POLYFIT_SUMS_H
#define TSN_POLYFIT_SUMS_H

#include <stdint.h>
#include <tsanom/polyfit.h>

#include "polyfit/polyfit_kernel.h"

/* What sums are expressed in: the interval of the map, in units of x, and the
 * units of x, y and the weights. */
typedef struct {
  double low, high;
  tsn_polyfit_map map;
} tsn_polyfit_frame;

/* What a block asks of the frame of its sums. */
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

tsn_polyfit_ranges tsn_polyfit_survey_block(const tsn_polyfit_samples *block,
                                            int32_t isa);

/* The status that samples of such ranges are refused with, or TSANOM_OK. */
tsanom_status tsn_polyfit_check(const tsn_polyfit_ranges *ranges);

/* The frame of sums that hold samples of these ranges too; `frame`: of what they
 * hold already, NULL if nothing. */
tsn_polyfit_frame tsn_polyfit_frame_with(const tsn_polyfit_frame *frame, int terms,
                                         const tsn_polyfit_ranges *ranges);

/* Add the sums of `count` samples, `added`, made in `frame`, which is that of
 * tsn_polyfit_frame_with(). */
void tsn_polyfit_sums_take(tsn_polyfit_sums *sums, int terms,
                           const tsn_polyfit_frame *frame,
                           const tsn_polyfit_ranges *ranges, size_t count,
                           const tsn_dd *added);

enum {
  TSN_POLYFIT_STREAM_BLOCK = 2048, /* samples added to a stream's sums at a time */
  TSN_POLYFIT_STREAM_WAVE = 32     /* blocks in work at a time */
};

/* A block on its way into the sums. */
typedef struct {
  tsn_polyfit_ranges ranges;
  tsn_polyfit_frame frame;
} tsn_polyfit_block;

/* Scratch of one wave. */
typedef struct {
  tsn_polyfit_block *blocks; /* TSN_POLYFIT_STREAM_WAVE */
  tsn_dd *added;             /* 3 terms for each block */
} tsn_polyfit_wave;

/* What is added, and how: `exactly` means in double-double. */
typedef struct {
  const tsanom_exec *exec;
  int terms, exactly;
} tsn_polyfit_adding;

/* Add one block of finite samples with positive weights. */
void tsn_polyfit_sums_add(tsn_polyfit_sums *sums, const tsn_polyfit_adding *how,
                          const tsn_polyfit_samples *block);

/* Add whole blocks, on exec's threads. The poll is told of `before` samples more
 * as done and of `total` as to do. Returns TSANOM_OK; TSANOM_STOPPED or a status
 * of tsn_polyfit_check(), after which the sums are of no use. */
tsanom_status tsn_polyfit_sums_add_all(tsn_polyfit_sums *sums,
                                       const tsn_polyfit_adding *how,
                                       const tsn_polyfit_samples *samples,
                                       const tsn_polyfit_wave *wave, uint64_t before,
                                       uint64_t total);

/* Add all that `other` has; its interval and units may change, nothing else. */
void tsn_polyfit_sums_join(tsn_polyfit_sums *sums, int terms, tsn_polyfit_sums *other);

/* Map exactly the range of the samples to [-1, 1]. */
void tsn_polyfit_sums_tighten(tsn_polyfit_sums *sums, int terms);

typedef struct {
  tsn_dd *triangle;             /* terms x terms, by columns */
  double *r, *inverse, *matrix; /* the same each */
} tsn_polyfit_sums_scratch;

/* The fit of sums that were made for `stream_terms`. */
tsanom_status tsn_polyfit_sums_solve(const tsn_polyfit_sums *sums, int stream_terms,
                                     int exactly, const tsanom_polyfit_options *options,
                                     int32_t isa, const tsn_polyfit_sums_scratch *scratch,
                                     tsanom_polyfit_model *model);

#endif
