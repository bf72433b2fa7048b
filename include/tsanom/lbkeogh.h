/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Envelopes of a series, and lower bounds of its DTW distance to another.
 *
 *  The envelope of x for a radius r is the band
 *  l_i = min{ x_j : |i-j| <= r }, u_i = max{ x_j : |i-j| <= r }.
 *  Whatever DTW pairs with position i inside a Sakoe-Chiba window of radius r
 *  lies in it, so that the distance from the band can only be too small:
 *  LB_Keogh(c) = sum over i of d(c_i), where d is the cost of c_i - u_i above
 *  the band, of l_i - c_i below it, and 0 inside.
 *
 *  A bound is one for DTW of the same cost and of at most the same radius: a
 *  sum of squares never bounds a sum of absolute differences. All bounds are
 *  exact up to the rounding of a sum of n terms, whose relative error is below
 *  n * 2^-53; who prunes by one should leave that margin.
 *
 *  Calls with distinct workspaces and outputs may run at once. No function
 *  here runs more than the calling thread: exec gives the instruction set and
 *  the allocator, and the poll is not called.
 *
 *  Sources: E. Keogh and C. A. Ratanamahatana, Knowl. Inf. Syst. 7 (2005)
 *  358-386 (LB_Keogh); D. Lemire, Pattern Recognition 42 (2009) 2169-2180
 *  (LB_Improved); T. Rakthanmanon et al., KDD 2012, 262-270 (LB_KimFL);
 *  C. W. Tan, F. Petitjean and G. I. Webb, SDM 2019, 522-530 (LB_Enhanced). */
#ifndef TSANOM_LBKEOGH_H
#define TSANOM_LBKEOGH_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Cost of a difference, with the values of the DTW cost of the same name.
 *  ABI: append, never renumber. */
enum {
  TSANOM_LBKEOGH_ABSOLUTE = 0, /**< |d| (default) */
  TSANOM_LBKEOGH_SQUARED = 1   /**< d^2; no root is taken of the sum */
};

/** What to compute: fill by tsanom_lbkeogh_options_init(), then change. */
typedef struct tsanom_lbkeogh_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  size_t radius;      /**< positions |i-j| <= radius are within the window;
                           SIZE_MAX = all (default) */
  size_t bands;       /**< of LB_Enhanced, at each end; 5 (default) */
  int32_t cost;       /**< TSANOM_LBKEOGH_*; absolute (default) */
  int32_t reserved0;  /**< must be 0 */
} tsanom_lbkeogh_options;

/** Write the defaults described at ::tsanom_lbkeogh_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_lbkeogh_options_init(tsanom_lbkeogh_options *options,
                                                     size_t struct_size);

/** Bytes of workspace for tsanom_lbkeogh_envelope() and its single-precision
 *  twin, O(min(n, radius)). Monotone in n and in the radius.
 *  @param      n        samples in the series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the defaults
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status
tsanom_lbkeogh_envelope_workspace(size_t n, const tsanom_lbkeogh_options *options,
                                  const tsanom_exec *exec, size_t *bytes);

/** Envelope of a series, for options->radius. O(n) time for any radius.
 *  A zero of the envelope is always +0. Bitwise the same on every instruction
 *  set.
 *  @param      x           samples, all finite; only read
 *  @param      n           their count, >= 1
 *  @param      options     NULL: the defaults, that is the global minimum and
 *                          maximum everywhere
 *  @param      exec        NULL: the defaults
 *  @param      work        scratch that overlaps nothing; NULL: one block is
 *                          borrowed from exec's allocator
 *  @param      work_bytes  at least tsanom_lbkeogh_envelope_workspace()'s answer
 *  @param[out] lower       n minima; overlaps nothing
 *  @param[out] upper       n maxima; overlaps nothing
 *  @retval TSANOM_E_NULL       x, lower or upper is NULL
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_lbkeogh_envelope(const double *x, size_t n,
                                                 const tsanom_lbkeogh_options *options,
                                                 const tsanom_exec *exec, void *work,
                                                 size_t work_bytes, double *lower,
                                                 double *upper);

/** tsanom_lbkeogh_envelope() in single precision.
 *  @param      x           samples, all finite; only read
 *  @param      n           their count, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: the defaults
 *  @param      work        scratch or NULL, as there
 *  @param      work_bytes  at least tsanom_lbkeogh_envelope_workspace()'s answer
 *  @param[out] lower       n minima; overlaps nothing
 *  @param[out] upper       n maxima; overlaps nothing
 *  @return as tsanom_lbkeogh_envelope() */
TSANOM_API tsanom_status tsanom_lbkeogh_envelope_f32(
    const float *x, size_t n, const tsanom_lbkeogh_options *options,
    const tsanom_exec *exec, void *work, size_t work_bytes, float *lower, float *upper);

/** LB_KimFL: what the first and the last three samples of each series must
 *  cost at least, O(1). The first pairs with the first and the last with the
 *  last; the second of either costs at least its cheapest pairing with the
 *  first two of the other, and the third likewise. A bound for every radius
 *  and for unequal lengths. Series too short for disjoint ends give the part
 *  of the sum that they determine.
 *  @param      x,y      samples; the six used of each must be finite
 *  @param      n,m      their counts, >= 1
 *  @param      options  NULL: the defaults; only the cost is used
 *  @param      exec     NULL: the defaults
 *  @param[out] bound    in units of the cost
 *  @retval TSANOM_E_NULL       x, y or bound is NULL
 *  @retval TSANOM_E_COUNT      n or m is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples used
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_lbkeogh_kim(const double *x, size_t n, const double *y,
                                            size_t m,
                                            const tsanom_lbkeogh_options *options,
                                            const tsanom_exec *exec, double *bound);

/** LB_Keogh of a series c against the envelope of another of the same length:
 *  equation 13 of the heartbeat paper for the squared cost (whose second case
 *  must read c_i < l_i). For the other direction swap the roles: the envelope
 *  of c, and the other series. O(n) time. The sum runs in lanes fixed by n,
 *  so that it is bitwise the same on every instruction set and at any address;
 *  it is fastest where the three arrays lie alike in their cache lines.
 *  @param      c            samples, all finite; only read
 *  @param      lower,upper  envelope, n each, lower[i] <= upper[i]; infinities
 *                           mean no bound at that position. It is trusted to
 *                           be an envelope: a NaN there is not looked for
 *  @param      n            the common count, >= 1
 *  @param      options      NULL: the defaults; only the cost is used, the
 *                           radius is that of the envelope
 *  @param      exec         NULL: the defaults
 *  @param[out] bound        in units of the cost
 *  @retval TSANOM_E_NULL       c, lower, upper or bound is NULL
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_lbkeogh_bound(const double *c, const double *lower,
                                              const double *upper, size_t n,
                                              const tsanom_lbkeogh_options *options,
                                              const tsanom_exec *exec, double *bound);

/** Cumulative tails of LB_Keogh for the early abandoning of DTW:
 *  tail[i] = sum over k >= i of d(c_k), so that tail[0] is the bound and
 *  tail[n] = 0. A DTW that walks along c and has filled its rows below i with
 *  a cheapest cell D costs at least D + tail[i] in the end. O(n) time.
 *  @param      c            samples, all finite; only read
 *  @param      lower,upper  envelope, as for tsanom_lbkeogh_bound()
 *  @param      n            the common count, >= 1
 *  @param      options      NULL: the defaults; only the cost is used
 *  @param      exec         NULL: the defaults
 *  @param[out] tail         n + 1 sums; may not overlap the inputs
 *  @return as tsanom_lbkeogh_bound() */
TSANOM_API tsanom_status tsanom_lbkeogh_tail(const double *c, const double *lower,
                                             const double *upper, size_t n,
                                             const tsanom_lbkeogh_options *options,
                                             const tsanom_exec *exec, double *tail);

/** Bytes of workspace for tsanom_lbkeogh_pair(), O(max(n, m)).
 *  Monotone in n, m and the radius.
 *  @param      n,m      samples in the two series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the defaults
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status
tsanom_lbkeogh_pair_workspace(size_t n, size_t m, const tsanom_lbkeogh_options *options,
                              const tsanom_exec *exec, size_t *bytes);

/** LB_Keogh of two series in both directions, envelopes included. The larger
 *  of the two is the better bound. Lengths may differ by up to the radius: the
 *  envelope then covers the positions of the other series, each with the
 *  samples its window meets. O(n + m) time.
 *  @param      x,y         samples, all finite; only read
 *  @param      n,m         their counts, >= 1
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: the defaults
 *  @param      work        scratch that overlaps nothing; NULL: one block is
 *                          borrowed from exec's allocator
 *  @param      work_bytes  at least tsanom_lbkeogh_pair_workspace()'s answer
 *  @param[out] bounds      two values: [0] is y against the envelope of x (the
 *                          paper's LB_Keogh(Q, C) for x = Q and y = C), [1] is
 *                          x against the envelope of y
 *  @retval TSANOM_INFEASIBLE   |n-m| exceeds the radius, so that DTW has no
 *                              path: both bounds are INFINITY
 *  @retval TSANOM_E_NULL       x, y or bounds is NULL
 *  @retval TSANOM_E_COUNT      n or m is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_lbkeogh_pair(const double *x, size_t n, const double *y,
                                             size_t m,
                                             const tsanom_lbkeogh_options *options,
                                             const tsanom_exec *exec, void *work,
                                             size_t work_bytes, double *bounds);

/** Bytes of workspace for tsanom_lbkeogh_improved(), O(n).
 *  Monotone in n and in the radius.
 *  @param      n        samples in each series, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: the defaults
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused argument */
TSANOM_API tsanom_status
tsanom_lbkeogh_improved_workspace(size_t n, const tsanom_lbkeogh_options *options,
                                  const tsanom_exec *exec, size_t *bytes);

/** LB_Improved of a series c against q: LB_Keogh(c), plus the LB_Keogh of q
 *  against the envelope of h, where h is c clipped to the envelope of q. Never
 *  below LB_Keogh(c). O(n) time.
 *  @param      c            samples, all finite; only read
 *  @param      q            samples of the other series, all finite; only read
 *  @param      lower,upper  envelope of q for options->radius, n each
 *  @param      n            the common count, >= 1
 *  @param      options      NULL: the defaults
 *  @param      exec         NULL: the defaults
 *  @param      work         scratch that overlaps nothing; NULL: one block is
 *                           borrowed from exec's allocator
 *  @param      work_bytes   at least tsanom_lbkeogh_improved_workspace()'s
 *                           answer
 *  @param[out] bound        in units of the cost
 *  @retval TSANOM_E_NULL       c, q, lower, upper or bound is NULL
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_OPTION     a field of options is out of its range
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_lbkeogh_improved(const double *c, const double *q,
                                                 const double *lower, const double *upper,
                                                 size_t n,
                                                 const tsanom_lbkeogh_options *options,
                                                 const tsanom_exec *exec, void *work,
                                                 size_t work_bytes, double *bound);

/** LB_Enhanced of a series c against q: at both ends options->bands L-shaped
 *  bands of the matrix of pairs, of each of which every warping path takes at
 *  least the cheapest pair, and LB_Keogh(c) in between. More than n/2 bands are
 *  n/2. O(n + bands^2) time, without scratch. With 3 bands it is at least
 *  LB_KimFL.
 *  @param      c            samples, all finite; only read
 *  @param      q            samples of the other series, all finite; only read
 *  @param      lower,upper  envelope of q for options->radius, n each
 *  @param      n            the common count, >= 1
 *  @param      options      NULL: the defaults
 *  @param      exec         NULL: the defaults
 *  @param[out] bound        in units of the cost
 *  @return as tsanom_lbkeogh_bound() */
TSANOM_API tsanom_status tsanom_lbkeogh_enhanced(const double *c, const double *q,
                                                 const double *lower, const double *upper,
                                                 size_t n,
                                                 const tsanom_lbkeogh_options *options,
                                                 const tsanom_exec *exec, double *bound);

/** The envelope of a series that is still coming in: a sample in, and after the
 *  first `radius` samples the pair of `radius` samples ago out. It lives in
 *  memory of the caller, holds no pointers, and may be copied. One thread at a
 *  time may use one. */
typedef struct tsanom_lbkeogh_stream tsanom_lbkeogh_stream;

/** Bytes of a stream: O(radius).
 *  @param      options  NULL: the defaults, whose radius is too large; only the
 *                       radius is used
 *  @param[out] bytes    the size, of a block aligned for any type
 *  @retval TSANOM_E_NULL      bytes is NULL
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused options */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_size(const tsanom_lbkeogh_options *options,
                                                    size_t *bytes);

/** Begin a stream in memory of the caller, who frees it when he is done.
 *  @param      memory   aligned for any type, at least as large as
 *                       tsanom_lbkeogh_stream_size() says
 *  @param      bytes    its size
 *  @param      options  as given to tsanom_lbkeogh_stream_size()
 *  @param[out] stream   the stream, at `memory`
 *  @retval TSANOM_E_NULL       memory or stream is NULL
 *  @retval TSANOM_E_WORKSPACE  bytes is too small, or memory is misaligned
 *  @retval TSANOM_E_OVERFLOW   the size does not fit a size_t
 *  @return TSANOM_OK otherwise, or the status of a refused options */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_init(void *memory, size_t bytes,
                                                    const tsanom_lbkeogh_options *options,
                                                    tsanom_lbkeogh_stream **stream);

/** Take in samples. Amortised O(1) a sample; every 2 radius + 1 samples one of
 *  them takes O(radius).
 *  @param      stream       from tsanom_lbkeogh_stream_init()
 *  @param      x            samples, all finite; only read
 *  @param      count        how many, >= 0
 *  @param[out] lower,upper  the pairs that came out, in order; room for `count`
 *  @param[out] produced     how many came out
 *  @retval TSANOM_E_NULL       a pointer is NULL, though count is not 0
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among the samples: none was
 *                              taken in
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_push(tsanom_lbkeogh_stream *stream,
                                                    const double *x, size_t count,
                                                    double *lower, double *upper,
                                                    size_t *produced);

/** tsanom_lbkeogh_stream_push() in single precision. Both may feed one stream.
 *  @param      stream       from tsanom_lbkeogh_stream_init()
 *  @param      x            samples, all finite; only read
 *  @param      count        how many, >= 0
 *  @param[out] lower,upper  the pairs that came out, rounded to single precision;
 *                           room for `count`
 *  @param[out] produced     how many came out
 *  @return as tsanom_lbkeogh_stream_push() */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_push_f32(tsanom_lbkeogh_stream *stream,
                                                        const float *x, size_t count,
                                                        float *lower, float *upper,
                                                        size_t *produced);

/** End the series: the pairs of its last samples, up to `radius` of them. The
 *  stream is then as after tsanom_lbkeogh_stream_init().
 *  @param      stream       from tsanom_lbkeogh_stream_init()
 *  @param[out] lower,upper  the pairs, in order; room for `radius`
 *  @param[out] produced     how many there are
 *  @retval TSANOM_E_NULL  a pointer is NULL
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_finish(tsanom_lbkeogh_stream *stream,
                                                      double *lower, double *upper,
                                                      size_t *produced);

#ifdef __cplusplus
}
#endif
#endif
