/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Dynamic time warping (DTW): distances, warping paths, matrices of
 *  distances, medoid and barycentre of a set.
 *
 *  D(i,j) = c(x_i, y_j) + min{ D(i-1,j-1), p + D(i-1,j), p + D(i,j-1) } over the
 *  pairs (i,j) that the window admits, where c is the cost, p the penalty, and
 *  the empty prefix costs nothing, so that the first pair costs like any other.
 *  The distance is D(n-1,m-1); no root is taken of it. Every cell is computed by
 *  exactly these operations, in the order written, for every thread count and
 *  instruction set, so that all results are bitwise equal to the plain double
 *  loop over i and j.
 *
 *  Common to all functions: samples must be finite; x and y are only read;
 *  outputs are touched only if the status is >= 0; `work` is scratch of at least
 *  the size that the matching _workspace function tells, overlapping nothing and
 *  of any alignment, or NULL: then one block is borrowed from exec's allocator
 *  and given back. Calls with distinct workspaces may run at once. Functions
 *  whose name ends in _f32 compute in single precision what their namesakes
 *  compute in double, and their distances are those of the same loop in float.
 *
 *  Sources: H. Sakoe and S. Chiba, IEEE Trans. ASSP 26 (1978) 43-49 (recurrence
 *  and window); T. Rakthanmanon et al., KDD 2012 (abandoning with the tail of a
 *  lower bound); F. Petitjean et al., Pattern Recognition 44 (2011) 678-693
 *  (barycentre); A. Driga et al., Algorithmica 45 (2006) 337-375 (path in little
 *  memory). */
#ifndef TSANOM_DTW_H
#define TSANOM_DTW_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cost of pairing two samples. The values are ABI: append, never renumber. */
enum {
  TSANOM_DTW_ABSOLUTE = 0, /**< |x-y| (default); of vectors the sum over components */
  TSANOM_DTW_SQUARED = 1   /**< (x-y)^2; of vectors the sum over components */
};

/** Kinds of window, which tell the pairs that a radius r admits. For series of
 *  one length the two are the same. The values are ABI. */
enum {
  /** |i-j| <= r (default). Without open ends no path fits unless r >= |n-m|. */
  TSANOM_DTW_SAKOE_CHIBA = 0,
  /** |i(m-1) - j(n-1)| <= r(min(n,m)-1): within r samples of the longer series
   *  from the straight line between the corners of the matrix. */
  TSANOM_DTW_SLOPE = 1
};

/** How much memory tsanom_dtw_path() may take. The path is the same. ABI. */
enum {
  /** About 2 bits a pair of the window, 4 in double precision at the level base
   *  (default). */
  TSANOM_DTW_PATH_FULL = 0,
  /** O(n + m), a few hundred bytes a sample. */
  TSANOM_DTW_PATH_LINEAR = 1
};

/** What to compute: fill by tsanom_dtw_options_init(), then change fields. */
typedef struct tsanom_dtw_options {
  /** Set by tsanom_dtw_options_init(): which fields this caller knows. */
  size_t struct_size;
  /** Radius r of the window; SIZE_MAX = every pair is admitted (default). */
  size_t radius;
  /** Give up as soon as the distance is known to lie above; a distance equal to
   *  the cut-off is still found. >= 0; INFINITY (default): never. */
  double cutoff;
  /** Makes tsanom_dtw_distance() give up earlier: tail[i], i = 0 ... n-1, is what
   *  the pairs with samples i, i+1, ... n-1 of x are known to cost at least, for
   *  instance the sum over those samples of an LB_Keogh bound of the same cost
   *  and window. It is used with a relative margin of (n+m) 2^-50 against the
   *  rounding of that sum. Only with a cut-off and without an open end of x. NULL
   *  (default): no bound is known. Other functions refuse one. */
  const double *tail;
  /** Added for every step that advances one series only, >= 0; 0 (default). */
  double penalty;
  /** Open begin: up to so many leading samples of x may be left out of the path
   *  for free, or of y, not of both; 0 (default); SIZE_MAX: any number. */
  size_t open_begin_x;
  /** As open_begin_x, of y. */
  size_t open_begin_y;
  /** Open end: up to so many trailing samples of x may be left out of the path
   *  for free, or of y, not of both; 0 (default); SIZE_MAX: any number. */
  size_t open_end_x;
  /** As open_end_x, of y. */
  size_t open_end_y;
  /** Components of a sample, >= 1; 1 (default). A series of vectors is a
   *  row-major matrix of n rows; all components are warped together
   *  ("dependent" multivariate DTW). */
  size_t dimensions;
  /** Elements from one sample of a series to the next, >= dimensions;
   *  0 (default): dimensions. */
  size_t stride;
  int32_t cost;        /**< TSANOM_DTW_ABSOLUTE (default) or _SQUARED */
  int32_t window;      /**< TSANOM_DTW_SAKOE_CHIBA (default) or _SLOPE */
  int32_t path_memory; /**< TSANOM_DTW_PATH_FULL (default) or _LINEAR */
  int32_t reserved0;   /**< must be 0 */
} tsanom_dtw_options;

/** Write the defaults described at ::tsanom_dtw_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dtw_options_init(tsanom_dtw_options *options,
                                                 size_t struct_size);

/** Bytes of workspace that tsanom_dtw_distance() needs, O(n + m).
 *  Monotone in n and m: the query for the largest case serves all.
 *
 *  @param      n,m      samples in the two series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_workspace(size_t n, size_t m,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, size_t *bytes);

/** As tsanom_dtw_workspace(), in single precision.
 *  @copydetails tsanom_dtw_workspace() */
TSANOM_API tsanom_status tsanom_dtw_workspace_f32(size_t n, size_t m,
                                                  const tsanom_dtw_options *options,
                                                  const tsanom_exec *exec, size_t *bytes);

/** Distance of two series. O(n m) time, or O(n radius) in a window; with several
 *  threads one pair is computed as a wavefront of tiles.
 *
 *  @param      x,y         series of n and m samples
 *  @param      n,m         their counts, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[out] distance    in units of the cost; INFINITY if the sum overflows
 *  @retval TSANOM_INFEASIBLE   no path fits the window: distance is INFINITY
 *  @retval TSANOM_CUTOFF       it lies above options->cutoff: distance is INFINITY
 *  @retval TSANOM_STOPPED      the poll asked to stop: distance is untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_dtw_distance(const double *x, size_t n, const double *y,
                                             size_t m, const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, void *work,
                                             size_t work_bytes, double *distance);

/** As tsanom_dtw_distance(), in single precision.
 *  @copydetails tsanom_dtw_distance() */
TSANOM_API tsanom_status tsanom_dtw_distance_f32(const float *x, size_t n, const float *y,
                                                 size_t m,
                                                 const tsanom_dtw_options *options,
                                                 const tsanom_exec *exec, void *work,
                                                 size_t work_bytes, float *distance);

/** Bytes of workspace that tsanom_dtw_path() needs: as options->path_memory says.
 *
 *  @param      n,m      samples in the two series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_path_workspace(size_t n, size_t m,
                                                   const tsanom_dtw_options *options,
                                                   const tsanom_exec *exec,
                                                   size_t *bytes);

/** As tsanom_dtw_path_workspace(), in single precision.
 *  @copydetails tsanom_dtw_path_workspace() */
TSANOM_API tsanom_status tsanom_dtw_path_workspace_f32(size_t n, size_t m,
                                                       const tsanom_dtw_options *options,
                                                       const tsanom_exec *exec,
                                                       size_t *bytes);

/** Distance of two series and the warping path that attains it.
 *
 *  Pair k of the path joins sample path[2k] of x to sample path[2k+1] of y. Both
 *  increase by at most one from pair to pair. Where several paths cost the same,
 *  each pair is preceded by (i-1,j-1) if that attains the minimum, else by
 *  (i-1,j), else by (i,j-1), seen from the end; of equal open ends the one
 *  that leaves out fewest samples is taken, of y before of x. If the sum overflows,
 *  the distance is INFINITY and the length 0. It runs on the calling
 *  thread, in time of the order of the distance's: O(n m), or O(n radius) in a window.
 *
 *  @param      x,y         series of n and m samples
 *  @param      n,m         their counts, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[out] path        room for n + m - 1 pairs, 2 (n + m - 1) elements
 *  @param[out] length      pairs in the path
 *  @param[out] distance    as tsanom_dtw_distance(); may be NULL
 *  @retval TSANOM_INFEASIBLE   no path fits the window: length 0, INFINITY
 *  @retval TSANOM_CUTOFF       it lies above options->cutoff: length 0, INFINITY
 *  @retval TSANOM_STOPPED      the poll asked to stop: path holds anything, the
 *                              other outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_dtw_path(const double *x, size_t n, const double *y,
                                         size_t m, const tsanom_dtw_options *options,
                                         const tsanom_exec *exec, void *work,
                                         size_t work_bytes, size_t *path, size_t *length,
                                         double *distance);

/** As tsanom_dtw_path(), in single precision.
 *  @copydetails tsanom_dtw_path() */
TSANOM_API tsanom_status tsanom_dtw_path_f32(const float *x, size_t n, const float *y,
                                             size_t m, const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, void *work,
                                             size_t work_bytes, size_t *path,
                                             size_t *length, float *distance);

/** Bytes of workspace that tsanom_dtw_one_to_many() needs, O(threads (n + m) + count).
 *  Monotone in its sizes.
 *
 *  @param      n        samples of the one series, >= 1
 *  @param      longest  samples of the longest of the many, >= 1
 *  @param      count    how many, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_one_to_many_workspace(
    size_t n, size_t longest, size_t count, const tsanom_dtw_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** As tsanom_dtw_one_to_many_workspace(), in single precision.
 *  @copydetails tsanom_dtw_one_to_many_workspace() */
TSANOM_API tsanom_status tsanom_dtw_one_to_many_workspace_f32(
    size_t n, size_t longest, size_t count, const tsanom_dtw_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** Distances of one series to each of many: the building block of a search.
 *
 *  Candidates of one length run side by side in the lanes of the vector unit, in
 *  batches of up to 16, each abandoned when all its lanes lie above the cut-off; a
 *  search calls this with 16 or more candidates at a time, in the order of their
 *  lower bounds, lowering options->cutoff to the best distance in between. With a
 *  workspace such calls allocate nothing. A candidate that is above the cut-off,
 *  or for which no path fits the window, gets INFINITY.
 *
 *  @param      x           the one series, n samples
 *  @param      n           its count, >= 1
 *  @param      series      the many: count pointers, in any order and repetition
 *  @param      lengths     their counts of samples, each >= 1
 *  @param      count       how many, >= 1
 *  @param      tails       for each candidate the n lower bounds of
 *                          tsanom_dtw_distance(), or NULL; NULL: none has any
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[out] distances   count distances
 *  @param[out] computed    how many leading distances are valid, of series of
 *                          different lengths a sixteenth of count, or a batch,
 *                          at a time; may be NULL
 *  @retval TSANOM_STOPPED  the poll asked to stop: *computed leading distances
 *                          are valid, the others are undefined
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_dtw_one_to_many(
    const double *x, size_t n, const double *const *series, const size_t *lengths,
    size_t count, const double *const *tails, const tsanom_dtw_options *options,
    const tsanom_exec *exec, void *work, size_t work_bytes, double *distances,
    size_t *computed);

/** As tsanom_dtw_one_to_many(), in single precision.
 *  @copydetails tsanom_dtw_one_to_many() */
TSANOM_API tsanom_status tsanom_dtw_one_to_many_f32(
    const float *x, size_t n, const float *const *series, const size_t *lengths,
    size_t count, const double *const *tails, const tsanom_dtw_options *options,
    const tsanom_exec *exec, void *work, size_t work_bytes, float *distances,
    size_t *computed);

/** Bytes of workspace that tsanom_dtw_condensed() needs, O(threads longest + count).
 *  Monotone in its sizes.
 *
 *  @param      longest  samples of the longest series, >= 1
 *  @param      count    how many series, >= 2
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_condensed_workspace(size_t longest, size_t count,
                                                        const tsanom_dtw_options *options,
                                                        const tsanom_exec *exec,
                                                        size_t *bytes);

/** As tsanom_dtw_condensed_workspace(), in single precision.
 *  @copydetails tsanom_dtw_condensed_workspace() */
TSANOM_API tsanom_status tsanom_dtw_condensed_workspace_f32(
    size_t longest, size_t count, const tsanom_dtw_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** Distances of all pairs of a set: the condensed matrix, whose element for a < b
 *  is number a (2 count - a - 1) / 2 + b - a - 1. Pairs run in parallel. A pair
 *  that is above the cut-off, or for which no path fits the window, gets INFINITY.
 *
 *  @param      series      count pointers to the series
 *  @param      lengths     their counts of samples, each >= 1
 *  @param      count       how many, >= 2
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[out] distances   count (count - 1) / 2 distances
 *  @param[out] computed    how many leading distances are valid, of series of
 *                          different lengths those of whole rows, or of parts of
 *                          one where there are fewer than 16; may be NULL
 *  @retval TSANOM_STOPPED  the poll asked to stop: *computed leading distances
 *                          are valid, the others are undefined
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_dtw_condensed(const double *const *series,
                                              const size_t *lengths, size_t count,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, void *work,
                                              size_t work_bytes, double *distances,
                                              size_t *computed);

/** As tsanom_dtw_condensed(), in single precision.
 *  @copydetails tsanom_dtw_condensed() */
TSANOM_API tsanom_status tsanom_dtw_condensed_f32(const float *const *series,
                                                  const size_t *lengths, size_t count,
                                                  const tsanom_dtw_options *options,
                                                  const tsanom_exec *exec, void *work,
                                                  size_t work_bytes, float *distances,
                                                  size_t *computed);

/** Bytes of workspace that tsanom_dtw_cross() needs, O(threads (n + m) + count_x +
 * count_y). Monotone in its sizes.
 *
 *  @param      longest_x,longest_y  samples of the longest series on each side
 *  @param      count_x,count_y      how many series on each side, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_cross_workspace(size_t longest_x, size_t count_x,
                                                    size_t longest_y, size_t count_y,
                                                    const tsanom_dtw_options *options,
                                                    const tsanom_exec *exec,
                                                    size_t *bytes);

/** As tsanom_dtw_cross_workspace(), in single precision.
 *  @copydetails tsanom_dtw_cross_workspace() */
TSANOM_API tsanom_status tsanom_dtw_cross_workspace_f32(size_t longest_x, size_t count_x,
                                                        size_t longest_y, size_t count_y,
                                                        const tsanom_dtw_options *options,
                                                        const tsanom_exec *exec,
                                                        size_t *bytes);

/** Distances of each series of one set to each of another: a row-major matrix of
 *  count_x rows. Pairs run in parallel. A pair that is above the cut-off, or for
 *  which no path fits the window, gets INFINITY.
 *
 *  @param      xs,ys                count_x and count_y pointers to the series
 *  @param      lengths_x,lengths_y  their counts of samples, each >= 1
 *  @param      count_x,count_y      how many, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[out] distances   the matrix
 *  @param      leading     elements from row to row of the matrix, >= count_y
 *  @param[out] computed    how many leading distances, counted row by row, are
 *                          valid, of series of different lengths those of whole
 *                          rows, or of parts of one where there are fewer than
 *                          16; may be NULL
 *  @retval TSANOM_STOPPED  the poll asked to stop: *computed leading distances
 *                          are valid, the others are undefined
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status
tsanom_dtw_cross(const double *const *xs, const size_t *lengths_x, size_t count_x,
                 const double *const *ys, const size_t *lengths_y, size_t count_y,
                 const tsanom_dtw_options *options, const tsanom_exec *exec, void *work,
                 size_t work_bytes, double *distances, size_t leading, size_t *computed);

/** As tsanom_dtw_cross(), in single precision.
 *  @copydetails tsanom_dtw_cross() */
TSANOM_API tsanom_status tsanom_dtw_cross_f32(
    const float *const *xs, const size_t *lengths_x, size_t count_x,
    const float *const *ys, const size_t *lengths_y, size_t count_y,
    const tsanom_dtw_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, float *distances, size_t leading, size_t *computed);

/** Bytes of workspace that tsanom_dtw_medoid() needs: that of the condensed matrix
 *  and the matrix itself, O(count^2).
 *
 *  @param      longest  samples of the longest series, >= 1
 *  @param      count    how many series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_medoid_workspace(size_t longest, size_t count,
                                                     const tsanom_dtw_options *options,
                                                     const tsanom_exec *exec,
                                                     size_t *bytes);

/** Medoid of a set: the series whose distances to all others have the smallest
 *  sum; of equals the first. A good start for tsanom_dtw_barycentre().
 *
 *  @param      series      count pointers to the series
 *  @param      lengths     their counts of samples, each >= 1
 *  @param      count       how many, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[out] medoid      its index
 *  @param[out] sum         the sum of its distances; may be NULL
 *  @retval TSANOM_INFEASIBLE  every series has one to which no path fits the window
 *                             or that is above the cut-off: the outputs are untouched
 *  @retval TSANOM_STOPPED  the poll asked to stop: the outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_dtw_medoid(const double *const *series,
                                           const size_t *lengths, size_t count,
                                           const tsanom_dtw_options *options,
                                           const tsanom_exec *exec, void *work,
                                           size_t work_bytes, size_t *medoid,
                                           double *sum);

/** Bytes of workspace that tsanom_dtw_barycentre() needs:
 *  O(threads path + sum of path lengths).
 *
 *  @param      longest  samples of the longest series, >= 1
 *  @param      count    how many series, >= 1
 *  @param      length   samples of the barycentre, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_barycentre_workspace(
    size_t longest, size_t count, size_t length, const tsanom_dtw_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** Barycentre of a set by DTW barycentre averaging (DBA): every series is aligned
 *  to the average, and each sample of the average becomes the mean (squared cost)
 *  or the lower median of each component (absolute cost) of the samples aligned to
 *  it, until the sum of the distances falls by less than `tolerance` times itself.
 *  For both costs that sum never increases from one iteration to the next.
 *
 *  @param      series      count pointers to the series
 *  @param      lengths     their counts of samples, each >= 1
 *  @param      count       how many, >= 1
 *  @param      length      samples of the barycentre, >= 1
 *  @param      iterations  at most so many, >= 1
 *  @param      tolerance   >= 0
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch, or NULL
 *  @param      work_bytes  at least the answer of the _workspace function
 *  @param[in,out] barycentre  in: where to start, such as the medoid; out: the
 *                          average. Laid out as the series, options->stride included
 *  @param[out] sum         the sum of the distances of the series to the barycentre;
 *                          may be NULL
 *  @retval TSANOM_PARTIAL     the iterations were used up first; the result is valid
 *  @retval TSANOM_INFEASIBLE  to one series no path fits the window or all are above
 *                             the cut-off: the outputs are untouched
 *  @retval TSANOM_STOPPED     the poll asked to stop: the outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      a count of samples or series is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status
tsanom_dtw_barycentre(const double *const *series, const size_t *lengths, size_t count,
                      size_t length, int32_t iterations, double tolerance,
                      const tsanom_dtw_options *options, const tsanom_exec *exec,
                      void *work, size_t work_bytes, double *barycentre, double *sum);

#ifdef __cplusplus
}
#endif
#endif
