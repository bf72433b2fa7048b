/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Nearest neighbors under dynamic time warping (DTW): which of many series is nearest to a
 *  query? Where does a pattern occur in a long series?
 *
 *  | you want                                   | use                                     |
 *  |--------------------------------------------|-----------------------------------------|
 *  | the nearest of a set, for many queries     | tsanom_search_index_create(), then tsanom_search_nearest() |
 *  | a pattern in one long series               | tsanom_search_stream()                  |
 *  | to compare shapes, not levels              | tsanom_search_options::z_normalize      |
 *
 *  Use <tsanom/dtw.h> instead if you need the distances to all series, or if the series
 *  have different lengths.
 *
 *  @code{.c}
 *  double stream[1000], pattern[50], distance;
 *  for (int i = 0; i < 1000; i++) stream[i] = sin(0.0001 * i * i);
 *  for (int i = 0; i < 50; i++) pattern[i] = 3 * stream[420 + i] + 7;  // louder and higher
 *  tsanom_search_options options;
 *  tsanom_search_options_init(&options, sizeof options);
 *  options.radius = 5;       // samples; without it nothing bounds the warping
 *  options.z_normalize = 1;  // compare shapes
 *  size_t start;
 *  tsanom_search_stream(pattern, 50, stream, 1000, &options, NULL, &start, &distance, NULL);
 *  printf("at %zu\n", start);  // -> at 420
 *  @endcode
 *
 *  Set the radius, to 5 to 10 % of the length of a query: without it the bounds remove
 *  little.
 *
 *  **How.** A cascade of lower bounds, cheapest first, removes most candidates before their
 *  DTW is computed: in an index, the means of segments against the means of the query's
 *  envelope; LB_KimFL; LB_Keogh; DTW in integers of 16 bits; and DTW itself, which is
 *  abandoned above the best distance so far. A candidate is removed only if a bound exceeds
 *  that distance by more than the rounding of both.
 *
 *  **Guarantees.** The results are those of brute force bitwise: the distances are those of
 *  tsanom_dtw_distance(), and ties are ordered by index. Results and counts are the same
 *  for every thread count and instruction set. A search that the poll stops changes
 *  nothing, unless its description says so.
 *
 *  **Errors** besides the common ones: ::TSANOM_E_COUNT, also: lengths differ;
 *  ::TSANOM_E_OPTION, also: a field of a set of series is out of its range, or an option
 *  that the function does not use is set; ::TSANOM_E_NONFINITE, a sample; ::TSANOM_E_VALUE,
 *  with normalization: the magnitude of a sample exceeds 1e140. The `element` is the
 *  sample, or in a set the series, with the sample in `second`. Sets of series must have
 *  one component for each sample, contiguous samples, and one length.
 *
 *  Sources: T. Rakthanmanon et al., KDD 2012, 262-270 (the cascade, normalization of a
 *  stream); E. Keogh and C. A. Ratanamahatana, Knowl. Inf. Syst. 7 (2005) 358-386
 *  (LB_Keogh); Y. Zhu and D. Shasha, SIGMOD 2003, 181-192 (means of segments). */
#ifndef TSANOM_SEARCH_H
#define TSANOM_SEARCH_H

#include <tsanom/base.h>

/** @addtogroup search
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** What to search for. Initialize it with tsanom_search_options_init(). */
typedef struct tsanom_search_options {
  size_t struct_size;  /**< set by _init */
  size_t radius;       /**< Sakoe-Chiba radius of DTW; ::TSANOM_NONE (default): any */
  size_t neighbors;    /**< only of a stream: matches to find, >= 1; 1 (default) */
  size_t exclusion;    /**< only of a stream: the starts of two matches differ by more
                            than this; ::TSANOM_NONE: half the length of the query
                            (default); 0: any two windows may both match */
  int32_t cost;        /**< TSANOM_COST_*; absolute (default) */
  int32_t z_normalize; /**< 1: apply tsanom_search_normalize() to every query, series and
                            window; 0 (default): do not */
  /** Only of an index, not with z_normalize. 1: refer to the caller's samples (and array
   *  of pointers), which must not change meanwhile; 0 (default): copy them. */
  int32_t borrow;
  int32_t reserved0; /**< must be 0 */
} tsanom_search_options;

/** Write the defaults described at ::tsanom_search_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_search_options_init(tsanom_search_options *options,
                                                    size_t struct_size);

/** Counts of one query. Removed, abandoned and computed ones add up to `candidates`. */
typedef struct tsanom_search_report {
  uint64_t candidates; /**< series of the index, or windows of the stream */
  uint64_t kim;        /**< removed by LB_KimFL; of a stream also after all matches at
                                distance 0 */
  uint64_t means;      /**< of an index: removed by the means, or after all neighbors
                                at distance 0 */
  uint64_t keogh;      /**< of an index: removed by LB_Keogh, envelope of the query */
  uint64_t
      keogh_reversed;   /**< of a stream: removed by LB_Keogh, envelope of the window */
  uint64_t abandoned;   /**< DTW abandoned above the best distance so far, in integers
                                or in double precision */
  uint64_t computed;    /**< DTW computed to the end */
  uint64_t found;       /**< neighbors found */
  uint64_t reserved[4]; /**< 0 */
} tsanom_search_report;

/** (x - mean) / standard deviation of a series, with the divisor n. A constant series
 *  becomes zeros. O(n). The same bits on every ISA level, and for a copy of the series to
 *  which a constant is added and that is multiplied by a power of two, both without
 *  rounding. A result z is off by at most about 2^-52 sqrt(n) (1 + |z|).
 *  @param      x     samples, all finite, magnitudes up to 1e140
 *  @param      n     number of samples, >= 1
 *  @param      exec  NULL: the defaults; threads are not used
 *  @param[out] out   n values; may be x itself
 *  @status */
TSANOM_API tsanom_status tsanom_search_normalize(const double *x, size_t n,
                                                 const tsanom_exec *exec, double *out);

/** A set of series of one length, prepared for searches: samples and sums of segments.
 *  Searches only read it, any number of threads at the same time. */
typedef struct tsanom_search_index tsanom_search_index;

/** Build an index in one block from exec's allocator, which must outlive the index: the
 *  samples, unless they are borrowed, and 17 numbers a series. The index keeps radius,
 *  cost and z_normalize of the options. Series are prepared in parallel. O(count·length)
 *  time.
 *  @param      series  series of one length
 *  @param[out] index   free it by tsanom_search_index_destroy()
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_search_index_create(const tsanom_series *series,
                                                    const tsanom_search_options *options,
                                                    const tsanom_exec *exec,
                                                    tsanom_search_index **index);

/** Free a created index, which no search uses. @param index NULL: nothing happens */
TSANOM_API void tsanom_search_index_destroy(tsanom_search_index *index);

/** The nearest series of an index for each query. Queries run in parallel. At worst
 *  O(queries·count·length·radius) time; typically with the DTW of a few percent. The
 *  workspace, O(threads·(count + length)), is the same for any queries.
 *  @param      index      the series to search
 *  @param      queries    series of the index's length
 *  @param      neighbors  number of results for each query, 1 to the index's count
 *  @param[out] indices    queries->count rows of `neighbors` indices, nearest first;
 *                         ::TSANOM_NONE where the distances overflow
 *  @param[out] distances  their distances, in units of the cost; INFINITY on overflow
 *  @param[out] reports    queries->count reports; may be NULL
 *  @retval TSANOM_STOPPED  the poll asked to stop; the outputs are unspecified
 *  @exec @status */
TSANOM_API tsanom_status tsanom_search_nearest(const tsanom_search_index *index,
                                               const tsanom_series *queries,
                                               size_t neighbors, const tsanom_exec *exec,
                                               size_t *indices, double *distances,
                                               tsanom_search_report *reports);

/** The windows of a stream that are nearest to a query: the nearest window (of equal ones
 *  the first), then the nearest of those whose start differs by more than
 *  options->exclusion from every start chosen before, and so on. With z_normalize each
 *  window is normalized separately. Parts of the stream are searched in parallel. At
 *  worst O(stream length·query length·radius) time; typically less than a percent of the
 *  windows passes the bounds. Workspace O(stream length + threads·query length).
 *  @param      query          samples
 *  @param      query_length   number of samples, >= 1
 *  @param      stream         samples
 *  @param      stream_length  number of samples, >= query_length
 *  @param[out] starts         options->neighbors indices of first samples; ::TSANOM_NONE
 *                             after the last match, if the exclusion leaves fewer or
 *                             distances overflow
 *  @param[out] distances      their distances, as of tsanom_search_nearest(), or INFINITY
 *  @param[out] report         counts; may be NULL
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_search_stream(const double *query, size_t query_length,
                                              const double *stream, size_t stream_length,
                                              const tsanom_search_options *options,
                                              const tsanom_exec *exec, size_t *starts,
                                              double *distances,
                                              tsanom_search_report *report);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
