/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Which points belong together, if nobody knows how many classes there are?
 *
 *  First order the points. Then read classes from the order, as often as you like:
 *
 *  | you have                                  | function                              |
 *  |-------------------------------------------|---------------------------------------|
 *  | coordinates                               | tsanom_optics_order()                 |
 *  | a matrix of distances, as of DTW          | tsanom_optics_order_matrix()          |
 *  | distances that are cheap to compute again | tsanom_optics_order_function()        |
 *
 *  | you want                                  | function                              |
 *  |-------------------------------------------|---------------------------------------|
 *  | classes, without choosing a parameter     | tsanom_optics_split()                 |
 *  | classes at a distance that you know       | tsanom_optics_cut()                   |
 *  | classes within classes                    | tsanom_optics_xi()                    |
 *
 *  @code{.c}
 *  double points[] = {1.0, 1.1, 1.2, 1.3, 5.0, 5.1, 5.2, 5.3};  // on a line
 *  size_t order[8], classes;
 *  double reachability[8], core_distance[8];
 *  int32_t labels[8];
 *  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .order = order,
 *      .reachability = reachability, .core_distance = core_distance};
 *  tsanom_optics_order(points, 8, 1, 1, NULL, NULL, &ordering);
 *  tsanom_optics_split(&ordering, NULL, NULL, labels, &classes, NULL, NULL);
 *  printf("%zu classes; the last point is in class %d\n", classes, labels[7]);
 *  // -> 2 classes; the last point is in class 1
 *  @endcode
 *
 *  Scale coordinates of different units first: the one with the largest values dominates. A
 *  constant coordinate has no effect.
 *
 *  Let N(p) be the points within eps of p, including p, and d the distance. The core
 *  distance of p is its distance to the min_points-th nearest of N(p); it is undefined
 *  (INFINITY) if N(p) has fewer points. Points are processed one by one. The reachability
 *  of a point o that is not yet processed is
 *
 *  \f[ r(o) = \min \max\{\mathrm{core}(p), d(p,o)\} \quad
 *  \text{over the processed } p \text{ with } d(p,o) \le \mathrm{eps}, \f]
 *
 *  and undefined (INFINITY) if no such p has a core distance. The first processed p that
 *  attains the minimum is the predecessor of o. The next point is the one with the
 *  smallest reachability; ties, and points without a reachability, are ordered by index.
 *  Distances are compared as they are reported, rounded to double.
 *
 *  The Euclidean distance is the root of the sum of squared differences in the order of
 *  the coordinates. The Manhattan distance is the sum of their magnitudes in that order.
 *  Duplicate points have distance 0. All results equal those of this definition bitwise,
 *  for every thread count, ISA level and search method.
 *
 *  Errors besides the common ones: ::TSANOM_E_OVERFLOW, also: n exceeds INT32_MAX;
 *  ::TSANOM_E_COUNT, also: n is below options.min_points; ::TSANOM_E_OPTION, also: ld is
 *  out of its range, or an option that the function does not use is set;
 *  ::TSANOM_E_NONFINITE, a coordinate, distance or reachability (a reachability may be
 *  INFINITY in an ordering); ::TSANOM_E_VALUE and ::TSANOM_E_INDEX as described at the
 *  functions. The fault has the point, or the pair in `element` and `second`. Calls on
 *  different outputs may run at the same time. A call that the poll stops changes nothing.
 *
 *  Sources: M. Ankerst, M. M. Breunig, H.-P. Kriegel, J. Sander, OPTICS: ordering points
 *  to identify the clustering structure, SIGMOD 1999 (order, cut, xi); E. Schubert, M.
 *  Gertz, Improving the cluster structure extracted from OPTICS plots, LWDA 2018
 *  (predecessor correction); B. Epstein, M. Sobel, Life testing, JASA 48 (1953) 486-502
 *  (the test of gaps); W. Stuetzle, Estimating the cluster tree of a density, J.
 *  Classification 20 (2003) 25-47 (valleys of single linkage). */
#ifndef TSANOM_OPTICS_H
#define TSANOM_OPTICS_H

#include <tsanom/base.h>

/** @addtogroup optics
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Distances between points. ABI: append only. */
enum {
  TSANOM_OPTICS_EUCLIDEAN = 0, /**< root of the sum of squares (default) */
  TSANOM_OPTICS_MANHATTAN = 1, /**< sum of magnitudes */
  TSANOM_OPTICS_CHEBYSHEV = 2  /**< largest magnitude */
};

/** Methods of neighbor search. They change speed, never results. ABI: append only. */
enum {
  TSANOM_OPTICS_SEARCH_AUTO = 0,       /**< by number and dimension (default) */
  TSANOM_OPTICS_SEARCH_EXHAUSTIVE = 1, /**< all pairs, O(n^2) distances */
  TSANOM_OPTICS_SEARCH_TREE = 2        /**< a kd-tree */
};

/** What to compute. Initialize it with tsanom_optics_options_init(). */
typedef struct tsanom_optics_options {
  size_t struct_size; /**< set by _init */
  /** Points that make a neighborhood dense, including the point itself: 1 to the number
   *  of points n. 0 (default): the larger of 5 and sqrt(n)/2, 1 of fewer than 10 points.
   *  With 1 core distances are 0 and the order is that of single linkage. */
  size_t min_points;
  double eps; /**< radius of neighborhoods, >= 0; INFINITY (default) */
  /** TSANOM_OPTICS_EUCLIDEAN (default), ...; this and the next only of points. */
  int32_t metric;
  int32_t search; /**< TSANOM_OPTICS_SEARCH_AUTO (default), ... */
} tsanom_optics_options;

/** Write the defaults described at ::tsanom_optics_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_optics_options_init(tsanom_optics_options *options,
                                                    size_t struct_size);

/** An order of n points: the output of the order functions and the input of
 *  tsanom_optics_cut(), tsanom_optics_split() and tsanom_optics_xi(). Begin with
 *  `{.struct_size = sizeof x}`, then let the pointers refer to arrays of n elements;
 *  the struct does not own them. Reachability against position is the reachability plot,
 *  in which clusters are valleys. */
typedef struct tsanom_optics_ordering {
  size_t struct_size;    /**< sizeof, set by the caller */
  size_t n;              /**< points; set by the order functions */
  size_t *order;         /**< order[k]: index of the k-th processed point */
  double *reachability;  /**< of the k-th processed point; INFINITY: undefined */
  size_t *predecessor;   /**< of the k-th processed point: index of the point that it was
                              reached from, or ::TSANOM_NONE; NULL: not wanted */
  double *core_distance; /**< by index; INFINITY: undefined; NULL: not wanted */
  double eps; /**< radius of the neighborhoods, above which nothing is known: set by the
                   order functions, for a radius of 0 to the smallest double above it;
                   INFINITY or 0 (default): all is known */
  size_t min_points; /**< of the order; set by the order functions; 0 (default): not
                          known, which tsanom_optics_split() takes for 1 */
} tsanom_optics_ordering;

/** OPTICS order of points.
 *
 *  Neighbors are searched in parallel. With a kd-tree (few dimensions) the time grows
 *  about as n log n for any eps while clusters are compact; without, as n^2 dimensions.
 *  The workspace is O(n·(dimensions + min_points)), whichever search is chosen.
 *  @param      points      row-major matrix of n rows; magnitudes up to 1e150. Euclidean
 *                          differences below 1e-154 may count as 0
 *  @param      n           points, options->min_points to INT32_MAX
 *  @param      dimensions  coordinates of a point, >= 1
 *  @param      ld          elements from one row to the next, >= dimensions
 *  @param[out] ordering    `order` and `reachability` are required
 *  @options @exec @stopped
 *  @retval TSANOM_E_VALUE  the magnitude of points[element][second] exceeds 1e150 */
TSANOM_API tsanom_status tsanom_optics_order(const double *points, size_t n,
                                             size_t dimensions, size_t ld,
                                             const tsanom_optics_options *options,
                                             const tsanom_exec *exec,
                                             tsanom_optics_ordering *ordering);

/** OPTICS order from a matrix of distances, which need not be a metric. O(n^2) time, O(n)
 *  workspace, one thread. With `distances` of tsanom_dtw_condensed() it clusters time series.
 *  @param      distances  finite and >= 0; condensed: d(0,1), d(0,2), ... d(0,n-1),
 *                         d(1,2), ... d(n-2,n-1), not read if n = 1; or a square of n
 *                         rows, symmetric, with a diagonal of 0
 *  @param      n          points, options->min_points to INT32_MAX
 *  @param      ld         0: condensed; else elements from row to row of the square, >= n
 *  @param[out] ordering   `order` and `reachability` are required
 *  @options @exec @stopped
 *  @retval TSANOM_E_VALUE  a distance is negative, asymmetric, or on the diagonal and not
 *                          0 */
TSANOM_API tsanom_status tsanom_optics_order_matrix(const double *distances, size_t n,
                                                    size_t ld,
                                                    const tsanom_optics_options *options,
                                                    const tsanom_exec *exec,
                                                    tsanom_optics_ordering *ordering);

/** A distance function of the caller.
 *  @param user  as passed to tsanom_optics_order_function()
 *  @param i     index of a point
 *  @param j     index of another, i < j
 *  @return their distance, finite and >= 0, the same in every call; any, not only a
 *          metric */
typedef double tsanom_optics_distance(void *user, size_t i, size_t j);

/** OPTICS order from a distance function. It is called O(n^2) times, about three times
 *  for each pair, always by the calling thread. The workspace is O(n). Prefer tsanom_optics_order_matrix() if a
 *  distance is expensive and the matrix fits in memory.
 *  @param      distance  the function
 *  @param      user      its first argument
 *  @param      n         points, options->min_points to INT32_MAX
 *  @param[out] ordering  `order` and `reachability` are required
 *  @options @exec @stopped
 *  @retval TSANOM_E_VALUE  distance(element, second) is negative */
TSANOM_API tsanom_status
tsanom_optics_order_function(tsanom_optics_distance *distance, void *user, size_t n,
                             const tsanom_optics_options *options,
                             const tsanom_exec *exec, tsanom_optics_ordering *ordering);

/** Clusters at a cut of the reachability plot: those that DBSCAN with radius eps would
 *  find, except for border points (Ankerst et al., ExtractDBSCAN-Clustering). In the
 *  order of processing, a point whose reachability exceeds eps starts a new cluster if
 *  its core distance is at most eps, and is noise otherwise; any other point belongs to
 *  the current cluster. O(n).
 *  @param      ordering  with `core_distance`; `predecessor` is not read
 *  @param      eps       height of the cut, >= 0
 *  @param[out] labels    by index of the point: clusters are numbered from 0 in the order
 *                        of their first points; ::TSANOM_NOISE
 *  @param[out] clusters  number of clusters; may be NULL
 *  @exec @status
 *  @retval TSANOM_E_INDEX  ordering.order[element] is not below n
 *  @retval TSANOM_E_VALUE  a reachability or core distance is negative */
TSANOM_API tsanom_status tsanom_optics_cut(const tsanom_optics_ordering *ordering,
                                           double eps, const tsanom_exec *exec,
                                           int32_t *labels, size_t *clusters);

/** When to report several classes. */
typedef struct tsanom_optics_split_options {
  size_t struct_size;  /**< set by _init */
  double significance; /**< chance that one class is reported as several, in (0, 1); 0.05
                            (default) */
  double resolution;   /**< steps up to this size never separate classes: the smallest
                            difference that matters, >= 0; 0 (default): unknown */
} tsanom_optics_split_options;

/** Write the defaults described at ::tsanom_optics_split_options.
 *  @initializes{options} */
TSANOM_API tsanom_status tsanom_optics_split_options_init(
    tsanom_optics_split_options *options, size_t struct_size);

/** One class or several? Needs no eps.
 *
 *  **By a gap** (ordering.min_points of 0 or 1), for few points. The m = n - 1
 *  reachabilities after the first are the steps by which the points are collected,
 *  r_1 <= ... <= r_m when sorted. If there is one class without structure, uniformly
 *  distributed on a line, they behave like m draws of an exponential distribution; in
 *  more dimensions they vary less. For such draws the gap above the k smallest is
 *  independent of these, and
 *
 *  \f[ P(\text{gap} \ge g) = (1 + D/T)^{-k}, \quad D = (m-k)\,g, \quad
 *  T = r_1 + \dots + r_k + (m-k)\,r_k \f]
 *
 *  (Epstein and Sobel 1953: 2D over 2T/k has the F(2, 2k) distribution). Of the gaps
 *  k = 1 ... m - 1 above options->resolution the one with the smallest P is chosen, and
 *  several classes are reported if (m - 1) P <= options->significance, and if, from m = 16
 *  on, the gap is as improbable in the tail of a distribution (docs/optics.md). The cut
 *  then is the middle of the gap, otherwise it is above every finite step. Steps without
 *  a reachability always separate classes and count as larger than the others.
 *
 *  The result does not depend on scale. Two classes of 4 points are found if their
 *  distance is about 10 times the distances within them; two classes of 2 points at about
 *  25 times. Points that all differ by about the same amount are one class; only
 *  options->resolution or a cut can state which differences matter. A single point is a
 *  class.
 *
 *  **By valleys** (ordering.min_points of 2 or more), for classes of any density that may
 *  touch. The classes are the valleys of at least min_points points that are
 *  significantly deeper than the wall before the next one (docs/optics.md has the test);
 *  points above the walls are noise. If there are fewer than two such valleys, there is one
 *  class, and what a gap separates from it is noise. O(n·log(n)).
 *
 *  The significance is an upper limit of the rate for one uniform, normal or exponential
 *  class that is about as wide in all directions, from 17 points on. One class that is 30
 *  or more times as wide in one direction as in several others, as columns in different
 *  units make it, or that has heavy tails, is reported as several more often
 *  (docs/optics.md): scale the columns first. The workspace is O(n).
 *  @param      ordering     with `core_distance`; `predecessor` is not read
 *  @param[out] labels       by index of the point: classes are numbered from 0 in the
 *                           order of their first points; ::TSANOM_NOISE. Without valleys
 *                           those of tsanom_optics_cut() at the chosen cut
 *  @param[out] clusters     number of classes; may be NULL
 *  @param[out] cut          height of the cut; NaN if classes are valleys of several
 *                           heights; or NULL
 *  @param[out] probability  bound of the chance that one class has such a gap, (m - 1) P,
 *                           or such valleys, at most 1; may be NULL
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_optics_split(const tsanom_optics_ordering *ordering,
                                             const tsanom_optics_split_options *options,
                                             const tsanom_exec *exec, int32_t *labels,
                                             size_t *clusters, double *cut,
                                             double *probability);

/** How to extract clusters by steepness. */
typedef struct tsanom_optics_xi_options {
  size_t struct_size; /**< set by _init */
  /** A step is steep if it changes the reachability at least by the factor 1 - xi;
   *  in [0, 1); 0.05 (default). */
  double xi;
  /** Smallest number of points of a cluster, and largest number of consecutive flat
   *  steps in a steep area; 0 (default): that of the order, 5 if it is not known. */
  size_t min_points;
  /** 0 (default): a cluster loses trailing points whose predecessor lies outside;
   *  1: it keeps them, as Ankerst et al. define it. */
  int32_t keep_tails;
  int32_t reserved0; /**< must be 0 */
} tsanom_optics_xi_options;

/** Write the defaults described at ::tsanom_optics_xi_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_optics_xi_options_init(tsanom_optics_xi_options *options,
                                                       size_t struct_size);

/** Hierarchical clusters of the reachability plot by steepness (Ankerst et al., section
 *  4.3, with the corrections of Schubert and Gertz, and the ends of areas as in ELKI).
 *  Each cluster pairs a steep downward with a steep upward area of the plot, such that
 *  the plot between them stays below both by the factor 1 - xi.
 *
 *  Cluster k covers the positions clusters[2k] to clusters[2k+1] of the order, inclusive;
 *  clusters are sorted by first, then by last position. Flat labels name the innermost
 *  clusters: in the order in which clusters are found, inner ones first, each cluster
 *  that contains no labeled point labels its points. O(n) time plus one test for each
 *  pair of areas, and O(n) workspace. Call it with capacity 0 to count, then to fill.
 *  @param      ordering  `predecessor` is required unless options->keep_tails is set;
 *                        `core_distance` is not read
 *  @param[out] clusters  capacity pairs of positions; may be NULL if capacity is 0
 *  @param      capacity  number of clusters that `clusters` can hold
 *  @param[out] count     clusters found; it may exceed the capacity
 *  @param[out] labels    n labels by index of the point, numbered from 0 in the order of
 *                        their first points; ::TSANOM_NOISE for points in none; or NULL
 *  @options @exec @status
 *  @retval TSANOM_PARTIAL  0 < capacity < count: `clusters` holds the first found
 *  @retval TSANOM_E_INDEX  order[element] or predecessor[element] is not a point
 *  @retval TSANOM_E_VALUE  a reachability is negative, or order[element] occurs twice */
TSANOM_API tsanom_status tsanom_optics_xi(const tsanom_optics_ordering *ordering,
                                          const tsanom_optics_xi_options *options,
                                          const tsanom_exec *exec, size_t *clusters,
                                          size_t capacity, size_t *count,
                                          int32_t *labels);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
