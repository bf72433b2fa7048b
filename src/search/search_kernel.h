/* SPDX-License-Identifier: BSD-3-Clause */
/* Moments, lower bounds and their inputs. Kernels that bound many candidates take arrays
 * by candidate, so that a vector holds one value of 8 candidates (level v4): LB_KimFL and
 * segments of one series are too short for a vector. LB_Keogh is long enough, and takes
 * one candidate. */
#ifndef TSN_SEARCH_KERNEL_H
#define TSN_SEARCH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/isa.h"

/* Samples at each end of a series that LB_KimFL uses. */
enum { TSN_SEARCH_ENDS = 3 };

/* The ends of many candidates: sample k from the front of candidate i is front[k][i], and
 * from the back back[k][i]. Of candidates too short for disjoint ends only front_count
 * and back_count samples are used; the other pointers repeat one of these. */
typedef struct {
  const double *front[TSN_SEARCH_ENDS], *back[TSN_SEARCH_ENDS];
  size_t front_count, back_count;
} tsn_search_ends;

/* Candidate i is compared as (x - mean[i]) * inverse[i]: windows of a stream are
 * normalized as they are read. */
typedef struct {
  double query_front[TSN_SEARCH_ENDS], query_back[TSN_SEARCH_ENDS];
  const double *mean, *inverse;
} tsn_search_kim;

/* Sums over segments of `length` samples: segment s of candidate i is
 * sums[s * stride + i]; in the envelope of the query it is from low[s] to high[s]. */
typedef struct {
  const double *sums, *low, *high;
  size_t stride, count, length;
} tsn_search_segments;

/* LB_Keogh of c against lower and upper, which are compared as (v - mean) * inverse. A
 * sum that exceeds `limit` is abandoned and returned as it is. */
typedef struct {
  const double *c, *lower, *upper;
  size_t n;
  double mean, inverse, limit;
} tsn_search_keogh;

/* z = ((x - base) * unit - mean) * inverse: `base` is a sample, `unit` a power of two;
 * `inverse` is 0 for a constant series. */
typedef struct {
  double base, unit, mean, inverse;
} tsn_search_moments;

typedef struct {
  /* Whether all |x| <= limit; false for NaN. */
  bool (*within)(const double *x, size_t n, double limit);
  double (*largest)(const double *x, size_t n); /* max |x| */
  /* From here on samples are within TSN_SEARCH_LARGEST. */
  void (*moments)(const double *x, size_t n, tsn_search_moments *moments);
  /* Normalize; out may be x. */
  void (*scale)(const double *x, size_t n, const tsn_search_moments *moments,
                double *out);
  /* All samples less their mean, scaled, and in that unit the moments of the windows
   * x[i .. i + n), 0 <= i < count, such that every sample v of a window has |(v - mean) *
   * inverse - z| <= TSN_SEARCH_ERROR (1 + |z|), z being its exact normalization. Windows
   * for which that cannot be have the inverse NAN, and bounds that are NAN. */
  void (*window_moments)(const double *x, size_t count, size_t n, double *shifted,
                         double *mean, double *inverse);
  void (*kim[2])(const tsn_search_ends *ends, const tsn_search_kim *kim, size_t count,
                 double *bounds);
  /* Sums of the segments of x; `sums` holds half the samples of `count` segments, and
   * `count` elements. */
  void (*segment_sums)(const double *x, size_t count, size_t length, double *sums);
  /* bounds[i]: lower bound of candidate first + i by its segments. */
  void (*segments[2])(const tsn_search_segments *segments, size_t first, size_t count,
                      double *bounds);
  double (*keogh[2])(const tsn_search_keogh *problem);
} tsn_search_kernels; /* arrays are by cost */

/* Moving sums lose digits when the variance of a window is small against that of the
 * chunk. Windows of which this accuracy is not certain are computed directly; limits are
 * raised by the effect of an error of this size, so it is small enough for bounds to
 * remain tight. */
#define TSN_SEARCH_ERROR 1e-6

/* No sum of samples overflows. */
#define TSN_SEARCH_LARGEST 1e140

TSN_KERNEL_TABLE(tsn_search_kernels);

#endif
