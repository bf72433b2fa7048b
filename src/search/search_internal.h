/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this module; README.md lists them in calling order.
 *
 * Rounding. Results are those of brute force to the last bit, although bounds and DTW are
 * rounded sums: a candidate is removed only if its bound exceeds the distance in question
 * by more than the rounding of both, tsn_search_limit(). All other choices (order,
 * batches, groups, rounds) only decide how much is computed. */
#ifndef TSN_SEARCH_INTERNAL_H
#define TSN_SEARCH_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/search.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/isa.h"

/* Moments, lower bounds and their inputs. Kernels that bound many candidates take arrays
 * by candidate, so that a vector holds one value of 8 candidates (level v4): LB_KimFL and
 * segments of one series are too short for a vector. LB_Keogh is long enough, and takes
 * one candidate. */

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

/* The caller's poll during a chunk of tsn_parallel_for(), which itself polls between
 * chunks only: the DTW of one query may take seconds.
 *
 *   calling thread   poll ---- chunk: DTW, poll, DTW, poll, ... ---- poll ---- chunk ...
 *   other threads         ---- chunk: DTW, stopped?, DTW, ...   ----
 *
 * Once the poll asked to stop, the threads leave their chunks, and the loop returns
 * TSANOM_STOPPED. */

/* One loop, or several that are one to the caller. */
typedef struct {
  const tsanom_exec *exec;      /* with the caller's poll */
  uint64_t before, done, total; /* of earlier loops; of the latest poll between chunks */
  _Atomic int stop;             /* the poll asked to stop */
} tsn_search_watch;

/* One thread of it. */
typedef struct {
  tsn_search_watch *watch;
  double cells;    /* of DTW since the latest poll */
  int32_t calling; /* 1: the calling thread, which polls */
} tsn_search_watcher;

/* The exec for loops over `total` items: as `exec`, but its poll notes what it is given in
 * `watch`, and stops the loop if a poll inside of a chunk asked to. */
tsanom_exec tsn_search_watch_begin(tsn_search_watch *watch, const tsanom_exec *exec,
                                   uint64_t total);

static inline bool tsn_search_stopped(const tsn_search_watcher *w) {
  return atomic_load_explicit(&w->watch->stop, memory_order_relaxed) != 0;
}

/* Read the options. `own` has radius, cost and z_normalize in range; each function checks
 * the fields that only some functions use. */
tsanom_status tsn_search_read_options(tsanom_search_options *own,
                                      const tsanom_search_options *caller,
                                      const tsanom_exec *exec);

/* Reject the first sample that cannot be searched: element k of the array `name`, or
 * element k of its element `series`. With z_normalize also finite samples are too large
 * if their squares might overflow. */
tsanom_status tsn_search_check(const tsanom_exec *exec, const char *name, size_t series,
                               const double *x, size_t n, int32_t z_normalize);

/* The samples as they are compared: copied, or normalized in passes that lose no digits
 * (search_kernel.c). Distances are defined by this function; bounds may use other
 * moments. */
void tsn_search_prepare(const tsn_search_kernels *kernels, const double *x, size_t n,
                        int32_t z_normalize, double *out);

/* DTW in one call of a search. */
typedef struct {
  size_t n, radius; /* samples of the query, and of each candidate */
  int32_t cost;
  tsanom_exec exec;  /* of lbkeogh and dtw: one thread, without poll and workspace */
  size_t work_bytes; /* of their workspace */
} tsn_search_dtw;

/* Set exec and work_bytes, for envelopes of up to `samples`. */
tsanom_status tsn_search_dtw_begin(tsn_search_dtw *dtw, size_t samples,
                                   const tsanom_exec *exec);

/* The value that a lower bound must exceed to imply that DTW exceeds `distance`; both are
 * sums of up to 2n terms with rounding. `error`: a normalized sample z is known up to
 * error (1 + |z|). In a nonzero term of LB_Keogh, a value of the envelope is between the
 * two samples; since both series have mean square at most 1, sums of n absolute
 * differences are off by less than 4 n error, and roots of sums of squares by less than
 * 4 error sqrt(n). */
double tsn_search_limit(const tsn_search_dtw *dtw, double distance, double error);

/* Candidates whose DTW is computed together: as many as the lower bound of coarse.h takes.
 * A larger batch would run with an older cut-off. */
enum { TSN_SEARCH_BATCH = 32 };

typedef struct {
  const double *series[TSN_SEARCH_BATCH];
  size_t id[TSN_SEARCH_BATCH];
  size_t count;
  tsn_search_watcher *watcher; /* of the thread */
} tsn_search_batch;

/* Workspace of one thread. */
typedef struct {
  void *block;                              /* of the functions of lbkeogh and dtw */
  int16_t *query, *rounded, *columns, *row; /* of coarse.h */
} tsn_search_work;

void tsn_search_work_layout(tsn_arena *arena, const tsn_search_dtw *dtw,
                            tsn_search_work *work);

/* Envelope of n samples. */
void tsn_search_envelope(const tsn_search_dtw *dtw, const double *x, size_t n,
                         const tsn_search_work *work, double *lower, double *upper);

/* A query and the cut-off of its distances; INFINITY: none. */
typedef struct {
  const tsn_search_dtw *dtw;
  const double *query;
  double cutoff;
} tsn_search_pairs;

/* DTW of the query to each series of a batch; INFINITY above the cut-off. False: the poll
 * asked to stop, and the distances are not known. */
bool tsn_search_distances(const tsn_search_pairs *pairs, const tsn_search_batch *batch,
                          const tsn_search_work *work, double *distances);

#endif
