/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_SEARCH_KERNEL_H
#define TSN_SEARCH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/isa.h"

/* The samples at each end of a series that LB_KimFL looks at. */
enum { TSN_SEARCH_ENDS = 3 };

/* Where those of many candidates lie: sample k from the front of candidate i
 * is front[k][i], and from the back back[k][i]. Of candidates too short for
 * disjoint ends only front_count and back_count are looked at, and the other
 * pointers repeat one of these. */
typedef struct {
  const double *front[TSN_SEARCH_ENDS], *back[TSN_SEARCH_ENDS];
  size_t front_count, back_count;
} tsn_search_ends;

/* Each candidate is seen as (x - mean[i]) * inverse[i]. */
typedef struct {
  double query_front[TSN_SEARCH_ENDS], query_back[TSN_SEARCH_ENDS];
  const double *mean, *inverse;
} tsn_search_kim;

/* Series of which only sums over segments of `length` samples are looked at:
 * these lie between low and high, that of segment s and candidate i at
 * [s * stride + i]; those of the query between query_low and query_high. */
typedef struct {
  const double *low, *high;
  const double *query_low, *query_high;
  size_t stride, count, length;
} tsn_search_segments;

/* LB_Keogh of c against lower and upper, one of the two sides being seen as
 * (v - mean) * inverse. The sum is given up, and what it is by then returned,
 * when it exceeds `limit`. */
typedef struct {
  const double *c, *lower, *upper;
  size_t n;
  double mean, inverse, limit;
} tsn_search_keogh;

typedef struct {
  /* Whether all |x| <= limit; no for a NaN. */
  bool (*within)(const double *x, size_t n, double limit);
  double (*largest)(const double *x, size_t n); /* max |x| */
  /* Mean and the reciprocal of the standard deviation, 0 for a constant
   * series. Here and below samples are within TSN_SEARCH_LARGEST. */
  void (*moments)(const double *x, size_t n, double *mean, double *inverse);
  /* out = (x - mean) * inverse; out may be x. */
  void (*scale)(const double *x, size_t n, double mean, double inverse, double *out);
  /* Moments of the windows x[i .. i + n), 0 <= i < count, such that every
   * sample v of a window has |(v - mean) * inverse - z| <= TSN_SEARCH_ERROR
   * (1 + |z|), z being its exact normalisation. */
  void (*window_moments)(const double *x, size_t count, size_t n, double *mean,
                         double *inverse);
  void (*kim[2])(const tsn_search_ends *ends, const tsn_search_kim *kim, size_t count,
                 double *bounds);
  /* Sums of the segments of x; sums has room for half the samples of `count`
   * segments, and for count. */
  void (*segment_sums)(const double *x, size_t count, size_t length, double *sums);
  /* bounds[i] = what candidate first + i must cost at least by its segments. */
  void (*segments[2])(const tsn_search_segments *segments, size_t first, size_t count,
                      double *bounds);
  double (*keogh[2])(const tsn_search_keogh *problem);          /* nothing scaled */
  double (*keogh_series[2])(const tsn_search_keogh *problem);   /* c is */
  double (*keogh_envelope[2])(const tsn_search_keogh *problem); /* the envelope is */
} tsn_search_kernels;                                           /* arrays are by cost */

#define TSN_SEARCH_ERROR 1e-6

/* No sum of squares of differences overflows. */
#define TSN_SEARCH_LARGEST 1e140

TSN_KERNEL_TABLE(tsn_search_kernels);

#endif
