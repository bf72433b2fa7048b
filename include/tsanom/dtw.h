/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Dynamic time warping (DTW) of two series.
 *
 *  D(i,j) = c(x_i, y_j) + min{ D(i-1,j-1), D(i-1,j), D(i,j-1) }, where the
 *  empty prefix costs nothing, so that the first pair costs like any other;
 *  the distance is D(n-1,m-1). Calls with distinct workspaces may run at once.
 *
 *  Source: H. Sakoe and S. Chiba, IEEE Trans. ASSP 26 (1978) 43-49. */
#ifndef TSANOM_DTW_H
#define TSANOM_DTW_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cost of pairing two samples. The values are ABI: append, never renumber. */
enum {
  TSANOM_DTW_ABSOLUTE = 0, /**< |x-y| (default) */
  TSANOM_DTW_SQUARED = 1   /**< (x-y)^2; no root is taken of the sum */
};

/** What to compute: fill by tsanom_dtw_options_init(), then change fields. */
typedef struct tsanom_dtw_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  size_t radius;      /**< Sakoe-Chiba: pairs with |i-j| <= radius are
                           admitted; SIZE_MAX = all (default) */
  int32_t cost;       /**< TSANOM_DTW_*; absolute (default) */
  int32_t reserved0;  /**< must be 0 */
} tsanom_dtw_options;

/** Write the defaults described at ::tsanom_dtw_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_dtw_options_init(tsanom_dtw_options *options,
                                                 size_t struct_size);

/** Bytes of workspace that tsanom_dtw_distance() needs, O(min(n, m)).
 *  Monotone in n and m: the query for the largest case serves all.
 *  @param      n,m      samples in the two series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_dtw_workspace(size_t n, size_t m,
                                              const tsanom_dtw_options *options,
                                              const tsanom_exec *exec, size_t *bytes);

/** Distance of two series. O(n m) time, or O(n radius) in a window.
 *  Bitwise the same for every thread count and instruction set.
 *  @param      x,y         samples, all finite; only read
 *  @param      n,m         their counts, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch that overlaps nothing; NULL: one block is
 *                          borrowed from exec's allocator
 *  @param      work_bytes  at least tsanom_dtw_workspace()'s answer
 *  @param[out] distance    in units of the cost
 *  @retval TSANOM_INFEASIBLE   no path fits the window: distance is INFINITY
 *  @retval TSANOM_STOPPED      the poll asked to stop: distance is untouched
 *  @retval TSANOM_E_NULL       x, y or distance is NULL
 *  @retval TSANOM_E_COUNT      n or m is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_dtw_distance(const double *x, size_t n, const double *y,
                                             size_t m, const tsanom_dtw_options *options,
                                             const tsanom_exec *exec, void *work,
                                             size_t work_bytes, double *distance);

#ifdef __cplusplus
}
#endif
#endif
