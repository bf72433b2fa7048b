/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  OPTICS: the order in which points hang together by density, and the clusters
 *  that can be read from it.
 *
 *  Let N(p) be the points within eps of p, p among them, and d the distance.
 *  The core distance of p is its distance to the min_points-th nearest of N(p),
 *  undefined (INFINITY) if N(p) holds fewer. Points are processed one by one.
 *  The reachability of a point o that is not yet processed is
 *
 *      r(o) = min max{core(p), d(p,o)} over the processed p with d(p,o) <= eps,
 *
 *  and undefined (INFINITY) where no such p has a core distance; the first p
 *  processed that attains the minimum is the predecessor of o. Next comes the
 *  point with the smallest reachability, of equals the one with the smallest
 *  number; where none has a reachability, the one with the smallest number.
 *  The distances compared are those that are reported, rounded to double. All
 *  results are those of this definition, bitwise, for every thread count,
 *  instruction set and way of searching.
 *
 *  The Euclidean distance is the root of the squares of the differences added up
 *  in the order of the coordinates; the Manhattan distance adds up their
 *  magnitudes in that order. Duplicate points are at distance 0 like any other;
 *  a constant coordinate changes nothing.
 *
 *  Common to all functions: outputs are touched only if the status is >= 0;
 *  `work` is scratch of at least the size that the matching _workspace function
 *  tells, overlapping nothing and of any alignment, or NULL: then one block is
 *  borrowed from exec's allocator and given back. Calls with distinct workspaces
 *  may run at once.
 *
 *  Sources: M. Ankerst, M. M. Breunig, H.-P. Kriegel, J. Sander, OPTICS: ordering
 *  points to identify the clustering structure, SIGMOD 1999 (order, cut, xi);
 *  E. Schubert, M. Gertz, Improving the cluster structure extracted from OPTICS
 *  plots, LWDA 2018 (predecessor correction); B. Epstein, M. Sobel, Life testing,
 *  JASA 48 (1953) 486-502 (the test of the automatic cut). */
#ifndef TSANOM_OPTICS_H
#define TSANOM_OPTICS_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Distances between points. The values are ABI: append, never renumber. */
enum {
  TSANOM_OPTICS_EUCLIDEAN = 0, /**< root of the sum of squares (default) */
  TSANOM_OPTICS_MANHATTAN = 1, /**< sum of magnitudes */
  TSANOM_OPTICS_CHEBYSHEV = 2  /**< largest magnitude */
};

/** Ways to search for neighbours. They differ in speed only. ABI. */
enum {
  TSANOM_OPTICS_SEARCH_AUTO = 0,       /**< by number and dimension (default) */
  TSANOM_OPTICS_SEARCH_EXHAUSTIVE = 1, /**< every point, O(n^2) distances */
  TSANOM_OPTICS_SEARCH_TREE = 2        /**< a kd-tree */
};

/** What to compute: fill by tsanom_optics_options_init(), then change fields. */
typedef struct tsanom_optics_options {
  /** Set by tsanom_optics_options_init(): which fields this caller knows. */
  size_t struct_size;
  /** Points that make a neighbourhood dense, the point itself among them, >= 1
   *  and at most the number of points; 5 (default). With 1 every core distance
   *  is 0 and the order is that of single linkage. */
  size_t min_points;
  /** Radius beyond which points are no neighbours, >= 0; INFINITY (default). */
  double eps;
  int32_t metric; /**< TSANOM_OPTICS_EUCLIDEAN (default), ..., of points only */
  int32_t search; /**< TSANOM_OPTICS_SEARCH_AUTO (default), ..., of points only */
} tsanom_optics_options;

/** Write the defaults described at ::tsanom_optics_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_optics_options_init(tsanom_optics_options *options,
                                                    size_t struct_size);

/** Bytes of workspace that tsanom_optics_order() needs, O(n (dimensions +
 *  min_points)). Monotone in n and dimensions.
 *  @param      n           points, >= 1
 *  @param      dimensions  of a point, >= 1; 0 asks for what
 *                          tsanom_optics_order_matrix() and
 *                          tsanom_optics_order_function() need
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t, or n an int32_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_optics_workspace(size_t n, size_t dimensions,
                                                 const tsanom_optics_options *options,
                                                 const tsanom_exec *exec, size_t *bytes);

/** OPTICS order of points.
 *
 *  The k-th point processed is order[k]; reachability[k] and predecessor[k] are
 *  its own, so that reachability against k is the reachability plot.
 *  core_distance is by number of the point.
 *
 *  Neighbours are searched for in parallel. With a kd-tree (few dimensions) the
 *  time grows about as n log n for any eps while clusters are compact; without,
 *  as n^2 dimensions.
 *
 *  @param      points         row-major matrix of n rows; magnitudes up to 1e150.
 *                             Euclidean differences below 1e-154 may count as 0.
 *  @param      n              points, from options->min_points to INT32_MAX
 *  @param      dimensions     coordinates of a point, >= 1
 *  @param      leading        elements from one row to the next, >= dimensions
 *  @param      options        NULL: the defaults
 *  @param      exec           NULL: one thread, no poll
 *  @param      work           scratch, or NULL
 *  @param      work_bytes     at least the answer of the _workspace function
 *  @param[out] order          n numbers of points
 *  @param[out] reachability   n distances, INFINITY where undefined
 *  @param[out] predecessor    n numbers of points, SIZE_MAX where there is none;
 *                             may be NULL
 *  @param[out] core_distance  n distances, INFINITY where undefined; may be NULL
 *  @param[out] where          2 numbers, or NULL: where a sample is refused
 *                             (TSANOM_E_NONFINITE, TSANOM_E_VALUE), its row and
 *                             column; untouched otherwise
 *  @retval TSANOM_STOPPED      the poll asked to stop: the outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      n or dimensions is 0, or n < options->min_points
 *  @retval TSANOM_E_OPTION     a field of options, or leading, is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples: see where
 *  @retval TSANOM_E_VALUE      a magnitude above 1e150: see where
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_optics_order(const double *points, size_t n,
                                             size_t dimensions, size_t leading,
                                             const tsanom_optics_options *options,
                                             const tsanom_exec *exec, void *work,
                                             size_t work_bytes, size_t *order,
                                             double *reachability, size_t *predecessor,
                                             double *core_distance, size_t *where);

/** OPTICS order from a matrix of distances, O(n^2); outputs as
 *  tsanom_optics_order(). One thread.
 *
 *  @param      distances      condensed: d(0,1), d(0,2), ... d(0,n-1), d(1,2), ...
 *                             d(n-2,n-1), or a square of n rows: symmetric, 0 on
 *                             the diagonal. Finite and >= 0; not necessarily a
 *                             metric. Not read, and may be NULL, if condensed
 *                             with n = 1.
 *  @param      n              points, from options->min_points to INT32_MAX
 *  @param      leading        0: condensed; else elements from one row of the
 *                             square to the next, >= n
 *  @param      options        NULL: the defaults
 *  @param      exec           NULL: no poll
 *  @param      work           scratch, or NULL
 *  @param      work_bytes     at least tsanom_optics_workspace()'s answer
 *  @param[out] order          n numbers of points
 *  @param[out] reachability   n distances, INFINITY where undefined
 *  @param[out] predecessor    n numbers of points, or NULL
 *  @param[out] core_distance  n distances, or NULL
 *  @param[out] where          2 numbers, or NULL: the pair whose distance is
 *                             refused (TSANOM_E_NONFINITE, TSANOM_E_VALUE)
 *  @retval TSANOM_STOPPED      the poll asked to stop: the outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      n is 0, or n < options->min_points
 *  @retval TSANOM_E_OPTION     a field of options, or leading, is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a distance is NaN or infinite: see where
 *  @retval TSANOM_E_VALUE      a distance is negative, differs from the one across
 *                              the diagonal, or is not 0 on it: see where
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_optics_order_matrix(
    const double *distances, size_t n, size_t leading,
    const tsanom_optics_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, size_t *order, double *reachability, size_t *predecessor,
    double *core_distance, size_t *where);

/** A caller's distance.
 *  @param user  what the caller handed over
 *  @param i,j   numbers of two points, i < j
 *  @return their distance, finite and >= 0, the same whenever it is asked for;
 *          not necessarily a metric */
typedef double tsanom_optics_distance(void *user, size_t i, size_t j);

/** OPTICS order from a caller's distance function, O(n^2) calls of it, about
 *  three for each pair, all by the calling thread; outputs as
 *  tsanom_optics_order().
 *
 *  @param      distance       the function
 *  @param      user           handed to it
 *  @param      n              points, from options->min_points to INT32_MAX
 *  @param      options        NULL: the defaults
 *  @param      exec           NULL: no poll
 *  @param      work           scratch, or NULL
 *  @param      work_bytes     at least tsanom_optics_workspace()'s answer
 *  @param[out] order          n numbers of points
 *  @param[out] reachability   n distances, INFINITY where undefined
 *  @param[out] predecessor    n numbers of points, or NULL
 *  @param[out] core_distance  n distances, or NULL
 *  @param[out] where          2 numbers, or NULL: the pair whose distance is
 *                             refused (TSANOM_E_NONFINITE, TSANOM_E_VALUE)
 *  @retval TSANOM_STOPPED      the poll asked to stop: the outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      n is 0, or n < options->min_points
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @retval TSANOM_E_NONFINITE  a distance is NaN or infinite: see where
 *  @retval TSANOM_E_VALUE      a distance is negative: see where
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_optics_order_function(
    tsanom_optics_distance *distance, void *user, size_t n,
    const tsanom_optics_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, size_t *order, double *reachability, size_t *predecessor,
    double *core_distance, size_t *where);

/** Clusters at a cut of the reachability plot, as DBSCAN with radius eps would
 *  find them but for border points (Ankerst et al., ExtractDBSCAN-Clustering):
 *  walking the order, a point whose reachability exceeds eps starts a new cluster
 *  if its core distance is at most eps and is noise otherwise; any other point
 *  belongs to the cluster at hand. O(n).
 *
 *  @param      order          n numbers of points
 *  @param      reachability   in that order, >= 0
 *  @param      core_distance  by number of the point, >= 0
 *  @param      n              points, 1 ... INT32_MAX
 *  @param      eps            height of the cut, >= 0
 *  @param[out] labels         by number of the point: clusters count from 0 in the
 *                             order of their first points, noise is -1
 *  @param[out] clusters       how many; may be NULL
 *  @retval TSANOM_E_NULL      a required pointer is NULL
 *  @retval TSANOM_E_COUNT     n is 0
 *  @retval TSANOM_E_OVERFLOW  n exceeds INT32_MAX
 *  @retval TSANOM_E_OPTION    eps is NaN or negative
 *  @retval TSANOM_E_VALUE     order is not a number below n, or a distance is NaN
 *                             or negative
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_optics_cut(const size_t *order,
                                           const double *reachability,
                                           const double *core_distance, size_t n,
                                           double eps, int32_t *labels, size_t *clusters);

/** When several classes are claimed: fill by tsanom_optics_split_options_init(). */
typedef struct tsanom_optics_split_options {
  /** Set by tsanom_optics_split_options_init(). */
  size_t struct_size;
  /** Chance of claiming several classes where there is one, in (0, 1);
   *  0.05 (default). */
  double significance;
  /** Steps up to this size never separate, however regular the rest is: what a
   *  difference must be to matter, >= 0; 0 (default): unknown. */
  double resolution;
} tsanom_optics_split_options;

/** Write the defaults described at ::tsanom_optics_split_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_optics_split_options_init(
    tsanom_optics_split_options *options, size_t struct_size);

/** Bytes of workspace that tsanom_optics_split() needs, O(n).
 *  @param      n      points, >= 1
 *  @param      exec   NULL: one thread
 *  @param[out] bytes  the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t, or n an int32_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_optics_split_workspace(size_t n, const tsanom_exec *exec,
                                                       size_t *bytes);

/** One class or several? A cut that needs no eps, for few points.
 *
 *  The m = n - 1 reachabilities after the first are the steps by which the points
 *  are gathered, r_1 <= ... <= r_m when sorted. Were there one class of no
 *  structure, on a line and at random, they would be like m draws of one
 *  exponential distribution; in more dimensions and with larger min_points they
 *  vary less. For such draws the gap above the k smallest is independent of
 *  these, and
 *
 *      P(gap >= g) = (1 + D / T)^-k,   D = (m - k) g,
 *                                      T = r_1 + ... + r_k + (m - k) r_k
 *
 *  (Epstein and Sobel 1953: 2D over 2T/k has the F(2, 2k) distribution). Of the
 *  gaps k = 1 ... m - 1 above options->resolution the one of smallest P is taken,
 *  and several classes are claimed if (m - 1) P <= options->significance. The cut
 *  then lies in the middle of the gap, else above every finite step. Steps without
 *  a reachability always separate and count as larger than the rest.
 *
 *  On a line the tails of a normal distribution are sparser than that: at 5 % and
 *  min_points 1 one class is taken for several in 7 % of samples of 16 points, in
 *  15 % of 32. In two and more dimensions that happens hardly ever.
 *
 *  Scale does not matter. Two classes of 4 are told from one if they lie some 10
 *  times farther apart than their members, 4 points fall in pairs at some 25
 *  times. Points that are all different by about the same amount are one class:
 *  nothing but options->resolution or a cut can tell how much is too much. With
 *  min_points 1 a point alone is a class; with more it is noise. O(n log n).
 *
 *  @param      order          n numbers of points
 *  @param      reachability   in that order, >= 0
 *  @param      core_distance  by number of the point, >= 0
 *  @param      n              points, 1 ... INT32_MAX
 *  @param      options        NULL: the defaults
 *  @param      exec           NULL: the C heap
 *  @param      work           scratch, or NULL
 *  @param      work_bytes     at least the answer of the _workspace function
 *  @param[out] labels         as tsanom_optics_cut() at the cut chosen
 *  @param[out] clusters       how many; may be NULL
 *  @param[out] cut            its height; may be NULL
 *  @param[out] probability    (m - 1) P of the best gap, at most 1: small means
 *                             several classes; may be NULL
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   n exceeds INT32_MAX
 *  @retval TSANOM_E_VALUE      order is not a number below n, or a distance is NaN
 *                              or negative
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_optics_split(
    const size_t *order, const double *reachability, const double *core_distance,
    size_t n, const tsanom_optics_split_options *options, const tsanom_exec *exec,
    void *work, size_t work_bytes, int32_t *labels, size_t *clusters, double *cut,
    double *probability);

/** How to extract by steepness: fill by tsanom_optics_xi_options_init(). */
typedef struct tsanom_optics_xi_options {
  /** Set by tsanom_optics_xi_options_init(). */
  size_t struct_size;
  /** A step is steep if it changes the reachability at least by the factor
   *  1 - xi; in [0, 1); 0.05 (default). */
  double xi;
  /** Points that a cluster has at least, and flat steps that a steep area may
   *  contain in a row, >= 1; 5 (default). Normally that of the order. */
  size_t min_points;
  /** 0 (default): a cluster loses trailing points whose predecessor lies outside;
   *  1: it keeps them, as Ankerst et al. have it. */
  int32_t keep_tails;
  int32_t reserved0; /**< must be 0 */
} tsanom_optics_xi_options;

/** Write the defaults described at ::tsanom_optics_xi_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_optics_xi_options_init(tsanom_optics_xi_options *options,
                                                       size_t struct_size);

/** Bytes of workspace that tsanom_optics_xi() needs, O(n).
 *  @param      n      points, >= 1
 *  @param      exec   NULL: one thread
 *  @param[out] bytes  the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t, or n an int32_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_optics_xi_workspace(size_t n, const tsanom_exec *exec,
                                                    size_t *bytes);

/** Clusters of the reachability plot by steepness, a hierarchy (Ankerst et al.,
 *  section 4.3, with the corrections of Schubert and Gertz and the ends of areas
 *  as ELKI has them): each pairs a steep downward with a steep upward area of the
 *  plot, such that between them it stays below both by the factor 1 - xi.
 *
 *  Cluster k covers the positions clusters[2k] to clusters[2k+1] of the order,
 *  both included; clusters are sorted by first, then by last position. Flat labels
 *  name the innermost: of clusters in the order they are found, inner ones first,
 *  each that holds no labelled point yet gives its points a label.
 *  O(n) time plus that of looking at each pair of areas.
 *
 *  @param      order         n numbers of points
 *  @param      reachability  in that order, >= 0
 *  @param      predecessor   in that order; may be NULL with keep_tails
 *  @param      n             points, 1 ... INT32_MAX
 *  @param      options       NULL: the defaults
 *  @param      exec          NULL: the C heap
 *  @param      work          scratch, or NULL
 *  @param      work_bytes    at least the answer of the _workspace function
 *  @param[out] clusters      room for capacity pairs; may be NULL if that is 0
 *  @param      capacity      clusters there is room for
 *  @param[out] count         clusters found, whether there was room or not
 *  @param[out] labels        n labels by number of the point, counted from 0 in the
 *                            order of their first points, -1 for points in no
 *                            cluster; may be NULL
 *  @retval TSANOM_PARTIAL      more than capacity clusters: the first found are given
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_OVERFLOW   n exceeds INT32_MAX
 *  @retval TSANOM_E_VALUE      order is not a permutation, a reachability is NaN or
 *                              negative, or a predecessor is no point
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_optics_xi(
    const size_t *order, const double *reachability, const size_t *predecessor, size_t n,
    const tsanom_optics_xi_options *options, const tsanom_exec *exec, void *work,
    size_t work_bytes, size_t *clusters, size_t capacity, size_t *count, int32_t *labels);

#ifdef __cplusplus
}
#endif
#endif
