/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Exact nearest neighbours under dynamic time warping: of whole series in an
 *  index that is built once, and of a query among all windows of one stream.
 *
 *  A cascade of lower bounds, cheapest first, removes most candidates before
 *  any DTW is computed: LB_KimFL, with it in an index the means of segments
 *  against the means of envelopes, LB_Keogh against the envelope of the query,
 *  LB_Keogh of the query against the envelope of the candidate, and DTW itself
 *  that gives up above the best distance so far. A candidate is removed only
 *  when a bound exceeds that distance by more than the rounding of both, so
 *  that results are those of brute force to the last bit: the distances are
 *  tsanom_dtw_distance()'s, and equal ones go in the order of their indices.
 *
 *  Results and counts are the same for every thread count and instruction set.
 *
 *  Sources: T. Rakthanmanon et al., KDD 2012, 262-270 (the cascade,
 *  normalisation of a stream); E. Keogh and C. A. Ratanamahatana, Knowl. Inf.
 *  Syst. 7 (2005) 358-386 (LB_Keogh); Y. Zhu and D. Shasha, SIGMOD 2003,
 *  181-192 (means of segments). */
#ifndef TSANOM_SEARCH_H
#define TSANOM_SEARCH_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cost of pairing two samples, with the values of the DTW cost of the same
 *  name. ABI: append, never renumber. */
enum {
  TSANOM_SEARCH_ABSOLUTE = 0, /**< |x-y| (default) */
  TSANOM_SEARCH_SQUARED = 1   /**< (x-y)^2; no root is taken of the sum */
};

/** What to search for: fill by tsanom_search_options_init(), then change. */
typedef struct tsanom_search_options {
  size_t struct_size;  /**< set by _init: which fields this caller knows */
  size_t radius;       /**< Sakoe-Chiba radius of DTW; SIZE_MAX = all (default) */
  size_t neighbours;   /**< how many to find, >= 1; 1 (default) */
  size_t exclusion;    /**< of a stream: the starts of two matches differ by more
                            than this; SIZE_MAX (default) = half the query's
                            length; 0 = any two windows may both match. An index
                            does not use it */
  int32_t cost;        /**< TSANOM_SEARCH_*; absolute (default) */
  int32_t z_normalize; /**< 1: compare every query, series and window after
                            tsanom_search_normalize(); 0 (default): as it is */
  int32_t borrow;      /**< of an index: 1: keep the caller's pointer, who keeps
                            the series alive and unchanged; not together with
                            z_normalize. 0 (default): keep a copy */
  int32_t reserved0;   /**< must be 0 */
} tsanom_search_options;

/** Write the defaults described at ::tsanom_search_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_search_options_init(tsanom_search_options *options,
                                                    size_t struct_size);

/** What became of the candidates of one query. All but `candidates` add up to
 *  it. */
typedef struct tsanom_search_report {
  uint64_t candidates;     /**< series of the index, or windows of the stream */
  uint64_t kim;            /**< of a stream: removed by LB_KimFL */
  uint64_t keogh;          /**< removed by LB_Keogh, envelope of the query */
  uint64_t keogh_reversed; /**< removed by LB_Keogh, envelope of the candidate */
  uint64_t abandoned;      /**< DTW given up above the best distance so far */
  uint64_t computed;       /**< DTW computed to the end */
  uint64_t means;          /**< of an index: removed by LB_KimFL and the bound of
                                segment means together */
  uint64_t reserved;       /**< 0 */
} tsanom_search_report;

/** (x - mean) / standard deviation of a series, the latter with the divisor n,
 *  both in two passes. A constant series becomes zeros. O(n) time. Bitwise the
 *  same on every instruction set.
 *  @param      x     samples, all finite, none beyond 1e140 in magnitude
 *  @param      n     their count, >= 1
 *  @param      exec  NULL: the defaults; only the instruction set is used
 *  @param[out] out   n values; may be x itself
 *  @retval TSANOM_E_NULL       x or out is NULL
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_VALUE      a sample beyond 1e140 in magnitude
 *  @return TSANOM_OK otherwise, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_search_normalize(const double *x, size_t n,
                                                 const tsanom_exec *exec, double *out);

/** A set of series of one length, ready to be searched: their samples, their
 *  envelopes and their ends. It lives in memory of the caller and is only read
 *  by searches, so that any number of threads may search it at once. */
typedef struct tsanom_search_index tsanom_search_index;

/** Bytes that tsanom_search_index_init() needs: O(count length), three times
 *  the series, or twice if they are borrowed. Monotone in count and length.
 *  @param      count    series, >= 1
 *  @param      length   samples in each, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the defaults; as it will be given to _init
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_search_index_size(size_t count, size_t length,
                                                  const tsanom_search_options *options,
                                                  const tsanom_exec *exec, size_t *bytes);

/** Build an index in memory of the caller. Nothing needs to be undone: he
 *  frees the memory when no search uses it any more. Series are prepared in
 *  parallel. O(count length) time.
 *  @param      memory   at least tsanom_search_index_size()'s answer
 *  @param      bytes    its size
 *  @param      series   count rows of length samples, all finite
 *  @param      count    series, >= 1
 *  @param      length   samples in each, >= 1
 *  @param      stride   samples from one row to the next, >= length
 *  @param      options  NULL: the defaults. Radius, cost and z_normalize are
 *                       kept in the index
 *  @param      exec     NULL: the defaults
 *  @param[out] index    the index, somewhere in `memory`
 *  @retval TSANOM_STOPPED      the poll asked to stop: index is untouched
 *  @retval TSANOM_E_NULL       memory, series or index is NULL
 *  @retval TSANOM_E_COUNT      count or length is 0, or stride below length
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_VALUE      as tsanom_search_normalize()
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @retval TSANOM_E_OVERFLOW   the sizes do not fit the address space
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_search_index_init(void *memory, size_t bytes,
                                                  const double *series, size_t count,
                                                  size_t length, size_t stride,
                                                  const tsanom_search_options *options,
                                                  const tsanom_exec *exec,
                                                  tsanom_search_index **index);

/** Build an index in one block from exec's allocator.
 *  @param      series   as for tsanom_search_index_init()
 *  @param      count    series, >= 1
 *  @param      length   samples in each, >= 1
 *  @param      stride   samples from one row to the next, >= length
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the defaults. Its allocator must live as long as
 *                       the index
 *  @param[out] index    the index
 *  @retval TSANOM_E_MEMORY  the allocator gave NULL
 *  @return as tsanom_search_index_init() */
TSANOM_API tsanom_status tsanom_search_index_create(const double *series, size_t count,
                                                    size_t length, size_t stride,
                                                    const tsanom_search_options *options,
                                                    const tsanom_exec *exec,
                                                    tsanom_search_index **index);

/** Give the block of tsanom_search_index_create() back.
 *  @param index  from _create, which no search uses any more; NULL: nothing
 *                happens */
TSANOM_API void tsanom_search_index_destroy(tsanom_search_index *index);

/** Bytes of workspace that tsanom_search_nearest() needs,
 *  O(threads (count + length)), whatever the number of queries.
 *  @param      index       what will be searched
 *  @param      neighbours  how many for each query, 1 ... count
 *  @param      exec        NULL: the defaults
 *  @param[out] bytes       the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_search_nearest_workspace(const tsanom_search_index *index,
                                                         size_t neighbours,
                                                         const tsanom_exec *exec,
                                                         size_t *bytes);

/** The nearest series of an index for each of some queries. Queries run in
 *  parallel. At worst O(queries count length radius) time; typically a few per
 *  cent of the DTWs are computed.
 *  @param      index       what to search
 *  @param      queries     query_count rows of the index's length, all finite
 *  @param      query_count their number, >= 1
 *  @param      stride      samples from one row to the next, >= the length
 *  @param      neighbours  how many for each query, 1 ... count
 *  @param      exec        NULL: the defaults
 *  @param      work        scratch that overlaps nothing; NULL: one block is
 *                          borrowed from exec's allocator
 *  @param      work_bytes  at least tsanom_search_nearest_workspace()'s answer
 *  @param[out] indices     query_count rows of `neighbours` series numbers, the
 *                          nearest first
 *  @param[out] distances   theirs, in units of the cost; INFINITY only where the
 *                          sum overflows
 *  @param[out] reports     query_count reports, or NULL
 *  @retval TSANOM_STOPPED      the poll asked to stop: the rows of some queries
 *                              are written, those of others untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      query_count or neighbours is 0, neighbours
 *                              exceeds the index, or stride is below the length
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_VALUE      as tsanom_search_normalize()
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_search_nearest(
    const tsanom_search_index *index, const double *queries, size_t query_count,
    size_t stride, size_t neighbours, const tsanom_exec *exec, void *work,
    size_t work_bytes, size_t *indices, double *distances, tsanom_search_report *reports);

/** Bytes of workspace that tsanom_search_stream() needs,
 *  O(stream length + threads query length). Monotone in its sizes.
 *  @param      query_length   samples of the query, >= 1
 *  @param      stream_length  samples of the stream, >= query_length
 *  @param      options        NULL: the defaults
 *  @param      exec           NULL: the defaults
 *  @param[out] bytes          the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status tsanom_search_stream_workspace(
    size_t query_length, size_t stream_length, const tsanom_search_options *options,
    const tsanom_exec *exec, size_t *bytes);

/** The windows of a stream that are nearest to a query: the nearest window of
 *  all (of equal ones the first), then the nearest of those whose start differs
 *  by more than options->exclusion from every start taken, and so on. With
 *  z_normalize every window is normalised by itself. Parallel over parts of the
 *  stream. At worst O(stream length query length radius) time; the windows that
 *  the bounds leave over are typically below a per cent.
 *  @param      query          samples, all finite
 *  @param      query_length   their count, >= 1
 *  @param      stream         samples, all finite
 *  @param      stream_length  their count, >= query_length
 *  @param      options        NULL: the defaults
 *  @param      exec           NULL: the defaults
 *  @param      work           scratch that overlaps nothing; NULL: one block is
 *                             borrowed from exec's allocator
 *  @param      work_bytes     at least tsanom_search_stream_workspace()'s answer
 *  @param[out] starts         options->neighbours first samples of windows
 *  @param[out] distances      theirs, in units of the cost
 *  @param[out] found          how many there are: fewer than asked for if the
 *                             exclusion leaves no more windows
 *  @param[out] report         what became of the windows, or NULL
 *  @retval TSANOM_STOPPED      the poll asked to stop: outputs are untouched
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_COUNT      query_length is 0 or exceeds stream_length
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_VALUE      as tsanom_search_normalize()
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_search_stream(const double *query, size_t query_length,
                                              const double *stream, size_t stream_length,
                                              const tsanom_search_options *options,
                                              const tsanom_exec *exec, void *work,
                                              size_t work_bytes, size_t *starts,
                                              double *distances, size_t *found,
                                              tsanom_search_report *report);

#ifdef __cplusplus
}
#endif
#endif
