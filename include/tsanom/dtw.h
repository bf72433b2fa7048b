/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Dynamic time warping (DTW): how far apart are two series that run at different speeds,
 *  and which of their samples correspond?
 *
 *  | you want                                          | use                        |
 *  |---------------------------------------------------|----------------------------|
 *  | the distance of two series                        | tsanom_dtw_distance()      |
 *  | the distance, and the samples that correspond     | tsanom_dtw_path()          |
 *  | the distances of one series to many               | tsanom_dtw_one_to_many()   |
 *  | the distances of all pairs of a set               | tsanom_dtw_condensed()     |
 *  | the distances of one set to another               | tsanom_dtw_cross()         |
 *  | the most typical series of a set                  | tsanom_dtw_medoid()        |
 *  | an average of a set                               | tsanom_dtw_barycenter()    |
 *
 *  If you only want the nearest of many series, use <tsanom/search.h> instead: it skips
 *  most of the distances.
 *
 *  @code{.c}
 *  double normal[] = {1, 1, 2, 3, 4, 4, 3, 2, 1}, leaking[] = {1, 1, 2, 2, 2, 2, 2, 2, 1};
 *  double delayed[] = {1, 1, 1, 1, 2, 3, 4, 4, 3, 2, 1}, one, two;
 *  tsanom_dtw_options options;
 *  tsanom_dtw_options_init(&options, sizeof options);
 *  options.radius = 3;  // samples; without it any two samples may correspond
 *  tsanom_dtw_distance(normal, 9, delayed, 11, &options, NULL, &one);
 *  tsanom_dtw_distance(normal, 9, leaking, 9, &options, NULL, &two);
 *  printf("delayed %g, leaking %g\n", one, two);  // -> delayed 0, leaking 6
 *  @endcode
 *
 *  Set the radius: it bounds the warping and the time. With 5 to 10 % of the length most
 *  pairs are compared well. No root is taken of the distance, and it grows with the number
 *  of samples: divide it by the length before you compare series of different lengths.
 *
 *  **Definition.** The distance is \f$D(n-1,m-1)\f$ of
 *
 *  \f[ D(i,j) = c(x_i, y_j) + \min\{D(i-1,j-1),\ p + D(i-1,j),\ p + D(i,j-1)\} \f]
 *
 *  over the pairs (i,j) that the window admits, where c is the cost and p the penalty.
 *  The empty prefix costs nothing, so the first pair costs like any other.
 *
 *  **Guarantees.** You get the same bits for every number of threads and instruction set:
 *  those of the plain double loop over i and j. Every cell is computed by exactly the
 *  operations above, in this order. The workspace of a call serves every call with the
 *  same options and no longer or more series.
 *
 *  **Single precision.** Functions whose name ends in _f32 compute the same in single
 *  precision, of at most 2^30 samples.
 *
 *  **Outcomes** that are not errors. ::TSANOM_INFEASIBLE, no path fits the window, and
 *  ::TSANOM_CUTOFF, the distance is above the cut-off: the distance is INFINITY, and a path
 *  has length 0. The window is never widened. ::TSANOM_STOPPED, the poll asked to stop: of
 *  several distances the `computed` leading ones are valid and the others undefined; so is
 *  a path. Other outputs are not modified.
 *
 *  **Errors** besides the common ones: ::TSANOM_E_OPTION, also: an option that the function
 *  does not use is not at its default; ::TSANOM_E_NONFINITE, a sample. The fault names
 *  the first offending sample, or the series of a set and its sample.
 *
 *  Sources: H. Sakoe and S. Chiba, IEEE Trans. ASSP 26 (1978) 43-49 (recurrence and
 *  window); T. Rakthanmanon et al., KDD 2012 (abandoning with the tail of a lower bound);
 *  F. Petitjean et al., Pattern Recognition 44 (2011) 678-693 (barycenter); A. Driga et
 *  al., Algorithmica 45 (2006) 337-375 (path in little memory). */
#ifndef TSANOM_DTW_H
#define TSANOM_DTW_H

#include <tsanom/base.h>

/** @addtogroup dtw
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of window: the pairs that a radius r admits. For series of equal length the two
 *  are the same. The values are ABI. */
enum {
  /** \f$|i-j| \le r\f$ (default). Without open ends no path fits unless r >= |n-m|. */
  TSANOM_DTW_SAKOE_CHIBA = 0,
  /** \f$|i(m-1) - j(n-1)| \le r(\min(n,m)-1)\f$: within r samples of the longer series
   *  from the straight line between the corners of the matrix. */
  TSANOM_DTW_SLOPE = 1
};

/** Memory of tsanom_dtw_path() and tsanom_dtw_barycenter(). The path is the same. ABI. */
enum {
  /** About 2 bits per pair of the window, 4 in double precision at the level base; in a
   *  slope window up to max(1, n/m) times that (default). */
  TSANOM_DTW_PATH_FULL = 0,
  /** O(n + m), a few hundred bytes per sample. */
  TSANOM_DTW_PATH_LINEAR = 1
};

/** What to compute. Initialize it with tsanom_dtw_options_init(), then change fields. */
typedef struct tsanom_dtw_options {
  size_t struct_size; /**< set by _init */
  /** Radius r of the window; SIZE_MAX (default): every pair is admitted. */
  size_t radius;
  /** Give up as soon as the distance is known to be larger; a distance equal to the
   *  cut-off is found. >= 0; INFINITY (default): never. */
  double cutoff;
  /** Lower bounds that make the cut-off more effective; only for tsanom_dtw_distance()
   *  and tsanom_dtw_one_to_many(). tails[k][i], i = 0 ... n-1, is at most the cost of all
   *  pairs with samples i, i+1, ... n-1 of x on any path to series k, such as the result
   *  of tsanom_lbkeogh_tail() for the same cost and window. A single pair is k = 0; an
   *  element may be NULL: no bound. The bounds are used with a relative margin of (n+m)
   *  2^-50 for their rounding. They need open_end_x = 0. NULL (default): none. */
  const double *const *tails;
  /** Added for every step that advances one series only, >= 0; 0 (default). */
  double penalty;
  /** Open begin: a path may leave out up to this many leading samples of x without cost,
   *  or of y, not of both; 0 (default); SIZE_MAX: any number. */
  size_t open_begin_x;
  /** See open_begin_x, of y. */
  size_t open_begin_y;
  /** Open end: a path may leave out up to this many trailing samples of x without cost,
   *  or of y, not of both; 0 (default); SIZE_MAX: any number. */
  size_t open_end_x;
  /** See open_end_x, of y. */
  size_t open_end_y;
  /** Components of a sample, >= 1; 1 (default). A series of vectors is a row-major matrix
   *  of n rows; all components are warped together ("dependent" multivariate DTW).
   *  Functions of sets use tsanom_series::dimensions instead. */
  size_t dimensions;
  /** Elements from one sample to the next, >= dimensions; 0 (default): dimensions.
   *  Functions of sets use tsanom_series::stride instead. */
  size_t stride;
  int32_t cost;   /**< ::TSANOM_COST_ABSOLUTE (default) or ::TSANOM_COST_SQUARED; of
                       vectors the sum over the components */
  int32_t window; /**< ::TSANOM_DTW_SAKOE_CHIBA (default) or ::TSANOM_DTW_SLOPE */
  /** ::TSANOM_DTW_PATH_FULL (default) or ::TSANOM_DTW_PATH_LINEAR */
  int32_t path_memory;
  int32_t reserved0; /**< 0 */
} tsanom_dtw_options;

/** Write the defaults described at ::tsanom_dtw_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_dtw_options_init(tsanom_dtw_options *options,
                                                 size_t struct_size);

/** Distance of two series, in O(n m) time, or O(n radius) in a window; workspace O(n + m).
 *  Several threads compute a large pair as a wavefront of tiles.
 *  @param      x         series of n samples
 *  @param      n         its count, >= 1
 *  @param      y         series of m samples
 *  @param      m         its count, >= 1
 *  @param[out] distance  in units of the cost; INFINITY if the sum overflows
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_dtw_distance(const double *x, size_t n, const double *y,
                                             size_t m, const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, double *distance);

/** @copydoc tsanom_dtw_distance */
TSANOM_API tsanom_status tsanom_dtw_distance_f32(const float *x, size_t n, const float *y,
                                                 size_t m,
                                                 const tsanom_dtw_options *options,
                                                 const tsanom_exec *exec,
                                                 float *distance);

/** Distance of two series and the warping path that attains it. options.path_memory states
 *  the workspace.
 *
 *  Pair k of the path joins sample path[2k] of x to sample path[2k+1] of y. Both indices
 *  increase by at most one from pair to pair. Where several paths cost the same, each
 *  pair is preceded by (i-1,j-1) if that attains the minimum, else by (i-1,j), else by
 *  (i,j-1), seen from the end. Of equal open ends, the path takes the one that leaves out
 *  fewest samples, of y before of x. If the sum overflows, the distance is INFINITY and
 *  the length 0. The calling thread alone computes, about twice as long as the distance.
 *  @param      x         series of n samples
 *  @param      n         its count, >= 1
 *  @param      y         series of m samples
 *  @param      m         its count, >= 1
 *  @param[out] path      at most n + m - 1 pairs; the array has 2 (n + m - 1) elements
 *  @param[out] length    pairs in the path
 *  @param[out] distance  see tsanom_dtw_distance(); may be NULL
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_dtw_path(const double *x, size_t n, const double *y,
                                         size_t m, const tsanom_dtw_options *options,
                                         const tsanom_exec *exec, size_t *path,
                                         size_t *length, double *distance);

/** @copydoc tsanom_dtw_path */
TSANOM_API tsanom_status tsanom_dtw_path_f32(const float *x, size_t n, const float *y,
                                             size_t m, const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, size_t *path,
                                             size_t *length, float *distance);

/** Distances of one series to each of many: the building block of a search. The workspace
 *  is O(threads (n + longest) + count).
 *
 *  Candidates of equal length run side by side in the lanes of the vector unit, in
 *  batches of up to 16, and a batch is abandoned when all its lanes are above the
 *  cut-off. A search calls this function with 16 or more candidates at a time, in the
 *  order of their lower bounds, and lowers options->cutoff to the best distance in
 *  between. A candidate above the cut-off, or without a path in the window, gets
 *  INFINITY.
 *  @param      x          the one series, n samples of series->dimensions components,
 *                         series->stride elements apart
 *  @param      n          its count, >= 1
 *  @param      series     the many
 *  @param[out] distances  series->count distances
 *  @param[out] computed   number of valid leading distances; it grows by a batch or, if
 *                         lengths differ, by a sixteenth of the count; may be NULL
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_dtw_one_to_many(const double *x, size_t n,
                                                const tsanom_series *series,
                                                const tsanom_dtw_options *options,
                                                const tsanom_exec *exec,
                                                double *distances, size_t *computed);

/** @copydoc tsanom_dtw_one_to_many */
TSANOM_API tsanom_status tsanom_dtw_one_to_many_f32(const float *x, size_t n,
                                                    const tsanom_series_f32 *series,
                                                    const tsanom_dtw_options *options,
                                                    const tsanom_exec *exec,
                                                    float *distances, size_t *computed);

/** Distances of all pairs of a set of N series: the condensed matrix, whose element for
 *  a < b has the index \f$a(2N - a - 1)/2 + b - a - 1\f$. Pairs run in parallel, in a
 *  workspace of O(threads longest + N). A pair above the cut-off, or without a path in the
 *  window, gets INFINITY.
 *  @param      series     the set, at least two series
 *  @param[out] distances  N (N - 1) / 2 distances
 *  @param[out] computed   number of valid leading distances; if lengths differ, of whole
 *                         rows, or parts of a row where there are fewer than 16; or NULL
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_dtw_condensed(const tsanom_series *series,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, double *distances,
                                              size_t *computed);

/** @copydoc tsanom_dtw_condensed */
TSANOM_API tsanom_status tsanom_dtw_condensed_f32(const tsanom_series_f32 *series,
                                                  const tsanom_dtw_options *options,
                                                  const tsanom_exec *exec,
                                                  float *distances, size_t *computed);

/** Distances of each series of one set to each of another: a row-major matrix of
 *  xs->count rows and ys->count columns. Pairs run in parallel, in a workspace of
 *  O(threads longest + ys->count). A pair above the cut-off, or without a path in the
 *  window, gets INFINITY.
 *  @param      xs         a set
 *  @param      ys         the other, of the same dimensions
 *  @param[out] distances  the matrix
 *  @param      ld         elements from row to row of the matrix, >= ys->count
 *  @param[out] computed   as tsanom_dtw_condensed(); may be NULL
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_dtw_cross(const tsanom_series *xs,
                                          const tsanom_series *ys,
                                          const tsanom_dtw_options *options,
                                          const tsanom_exec *exec, double *distances,
                                          size_t ld, size_t *computed);

/** @copydoc tsanom_dtw_cross */
TSANOM_API tsanom_status tsanom_dtw_cross_f32(const tsanom_series_f32 *xs,
                                              const tsanom_series_f32 *ys,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, float *distances,
                                              size_t ld, size_t *computed);

/** Medoid of a set: the series whose distances to all others have the smallest sum; of
 *  equals the first. A good start for tsanom_dtw_barycenter(). All pairs are computed, in a
 *  workspace of O(count^2).
 *  @param      series  the set
 *  @param[out] medoid  its index
 *  @param[out] sum     the sum of its distances; may be NULL
 *  @options @exec @stopped
 *  @retval TSANOM_INFEASIBLE  every series has another one without a path in the window,
 *                             or above the cut-off; no output is modified */
TSANOM_API tsanom_status tsanom_dtw_medoid(const tsanom_series *series,
                                           const tsanom_dtw_options *options,
                                           const tsanom_exec *exec, size_t *medoid,
                                           double *sum);

/** Barycenter of a set by DTW barycenter averaging (DBA). Each iteration aligns every
 *  series to the average, and replaces each sample of the average by the mean (squared
 *  cost) or the lower median of each component (absolute cost) of the samples aligned to
 *  it. It ends when the sum of the distances falls by no more than `tolerance` times
 *  itself. For both costs that sum never increases from one iteration to the next. The
 *  workspace is a path for each thread, and O(count (length + longest)).
 *  @param         series      the set
 *  @param         length      samples of the barycenter, >= 1
 *  @param         iterations  largest number of iterations, >= 1
 *  @param         tolerance   >= 0
 *  @param[in,out] barycenter  in: where to start, such as the medoid; out: the average.
 *                             `length` samples, series->stride elements apart
 *  @param[out]    sum         sum of the distances of the series to it; or NULL
 *  @options @exec @stopped
 *  @retval TSANOM_PARTIAL     the iterations were used up; the result is valid
 *  @retval TSANOM_INFEASIBLE  for one of the series no path fits the window, or it is
 *                             above the cut-off; no output is modified */
TSANOM_API tsanom_status tsanom_dtw_barycenter(const tsanom_series *series, size_t length,
                                               int32_t iterations, double tolerance,
                                               const tsanom_dtw_options *options,
                                               const tsanom_exec *exec,
                                               double *barycenter, double *sum);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
