/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Lower bounds of a DTW distance: which pairs of series need no DTW?
 *
 *  DTW takes time for pairs of samples, a bound at most for each sample. If the bound of a
 *  pair is larger than the distances that interest you, skip the DTW of this pair.
 *  <tsanom/search.h> does this for you; use a bound yourself for another kind of search.
 *
 *  | you have                                    | use                                    |
 *  |---------------------------------------------|----------------------------------------|
 *  | two series of any lengths, and little time  | tsanom_lbkeogh_kim(), O(1)             |
 *  | the envelope of one series, and many others | tsanom_lbkeogh_bound(), O(n)           |
 *  | the same, and a bound that is still too low | tsanom_lbkeogh_enhanced(), then tsanom_lbkeogh_improved() |
 *  | two series and no envelope                  | tsanom_lbkeogh_pair(), O(n + m)        |
 *  | a DTW that shall be abandoned early         | tsanom_lbkeogh_tail()                  |
 *  | a series of which you want the envelope     | tsanom_lbkeogh_envelope()              |
 *  | a series that is still growing              | tsanom_lbkeogh_stream_push()           |
 *
 *  @code{.c}
 *  double q[64], c[64], lower[64], upper[64], kim, keogh;
 *  for (int i = 0; i < 64; i++) {
 *    q[i] = sin(0.2 * i);
 *    c[i] = 2 * sin(0.2 * i + 0.5);
 *  }
 *  tsanom_lbkeogh_envelope(q, 64, 3, NULL, lower, upper);  // once, for every series c
 *  tsanom_lbkeogh_kim(c, 64, q, 64, TSANOM_COST_ABSOLUTE, NULL, &kim);
 *  tsanom_lbkeogh_bound(c, lower, upper, 64, TSANOM_COST_ABSOLUTE, NULL, &keogh);
 *  printf("DTW is at least %.1f and at least %.1f\n", kim, keogh);
 *  // -> DTW is at least 4.1 and at least 33.6
 *  @endcode
 *
 *  A bound is valid for DTW of the same cost and of the same or a smaller radius; a sum of
 *  squares never bounds a sum of absolute differences. All bounds are exact up to the
 *  rounding of a sum of n terms, whose relative error is below \f$n\,2^{-53}\f$: allow for
 *  this margin.
 *
 *  **Definition.** The envelope of x for a radius r is the band
 *
 *  \f[ l_i = \min\{x_j : |i-j| \le r\}, \qquad u_i = \max\{x_j : |i-j| \le r\}. \f]
 *
 *  Every sample that DTW pairs with position i in a Sakoe-Chiba window of radius r lies
 *  in the band, so the distance from the band is never larger than the cost of the pair:
 *  LB_Keogh(c) = \f$\sum_i d(c_i)\f$, where d is the cost of \f$c_i - u_i\f$ above the
 *  band, of \f$l_i - c_i\f$ below it, and 0 inside.
 *
 *  **Guarantees.** Every result is bitwise the same on every instruction set. All functions
 *  run on the calling thread, and do not call the poll. A workspace, where a function uses
 *  one, serves every call of the same or a smaller radius and length.
 *
 *  **Errors** besides the common ones: ::TSANOM_E_OPTION, also: an option that the function
 *  does not use is not at its default; ::TSANOM_E_NONFINITE, a sample.
 *
 *  Sources: E. Keogh and C. A. Ratanamahatana, Knowl. Inf. Syst. 7 (2005) 358-386
 *  (LB_Keogh); D. Lemire, Pattern Recognition 42 (2009) 2169-2180 (LB_Improved);
 *  T. Rakthanmanon et al., KDD 2012, 262-270 (LB_KimFL); C. W. Tan, F. Petitjean and
 *  G. I. Webb, SDM 2019, 522-530 (LB_Enhanced). */
#ifndef TSANOM_LBKEOGH_H
#define TSANOM_LBKEOGH_H

#include <tsanom/base.h>

/** @addtogroup lbkeogh
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Options of the bounds that need a radius. */
typedef struct tsanom_lbkeogh_options {
  size_t struct_size; /**< set by _init */
  size_t radius;      /**< positions |i-j| <= radius are admitted; SIZE_MAX (default):
                           all */
  size_t bands;       /**< bands of LB_Enhanced at each end; 5 (default); only of it */
  int32_t cost;       /**< ::TSANOM_COST_ABSOLUTE (default) or ::TSANOM_COST_SQUARED */
  int32_t reserved0;  /**< 0 */
} tsanom_lbkeogh_options;

/** Write the defaults described at ::tsanom_lbkeogh_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_lbkeogh_options_init(tsanom_lbkeogh_options *options,
                                                     size_t struct_size);

/** Envelope of a series in O(n) time for any radius; workspace O(min(n, radius)). A zero
 *  of the envelope is +0.
 *  @param      x       samples
 *  @param      n       their count, >= 1
 *  @param      radius  of the window; SIZE_MAX: the global minimum and maximum everywhere
 *  @param[out] lower   n minima; overlaps nothing
 *  @param[out] upper   n maxima; overlaps nothing
 *  @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_envelope(const double *x, size_t n, size_t radius,
                                                 const tsanom_exec *exec, double *lower,
                                                 double *upper);

/** @copydoc tsanom_lbkeogh_envelope */
TSANOM_API tsanom_status tsanom_lbkeogh_envelope_f32(const float *x, size_t n,
                                                     size_t radius,
                                                     const tsanom_exec *exec,
                                                     float *lower, float *upper);

/** LB_KimFL: the least cost of the first and the last three samples of each series, O(1).
 *  The first pairs with the first and the last with the last; the second of either costs
 *  at least its cheapest pair with the first two of the other, and the third likewise. It
 *  bounds DTW of every radius and of different lengths. Series too short for disjoint
 *  ends give the part of the sum that they determine.
 *  @param      x      samples; the six used must be finite
 *  @param      n      their count, >= 1
 *  @param      y      samples of the other series, likewise
 *  @param      m      their count, >= 1
 *  @param      cost   ::TSANOM_COST_ABSOLUTE or ::TSANOM_COST_SQUARED
 *  @param[out] bound  in units of the cost
 *  @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_kim(const double *x, size_t n, const double *y,
                                            size_t m, int32_t cost,
                                            const tsanom_exec *exec, double *bound);

/** LB_Keogh of a series c against the envelope of another one of the same length:
 *  equation 13 of the heartbeat paper for the squared cost (whose second case must read
 *  c_i < l_i). For the other direction pass the other series and the envelope of c. O(n)
 *  time, fastest where the three arrays have the same offset in their cache lines.
 *  @param      c      samples
 *  @param      lower  n lower ends of the envelope, lower[i] <= upper[i]; infinities: no
 *                     bound at that position. Not checked: with NaN the bound is undefined
 *  @param      upper  n upper ends; infinities and NaN as for `lower`
 *  @param      n      the common count, >= 1
 *  @param      cost   ::TSANOM_COST_ABSOLUTE or ::TSANOM_COST_SQUARED
 *  @param[out] bound  in units of the cost
 *  @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_bound(const double *c, const double *lower,
                                              const double *upper, size_t n, int32_t cost,
                                              const tsanom_exec *exec, double *bound);

/** Cumulative tails of LB_Keogh for tsanom_dtw_options::tails: \f$tail_i = \sum_{k \ge i}
 *  d(c_k)\f$, so tail[0] is the bound and tail[n] = 0. If the cheapest cell of the rows
 *  below i of a DTW along c is D, its distance is at least D + tail[i]. O(n) time.
 *  @param      c      samples
 *  @param      lower  envelope, as for tsanom_lbkeogh_bound()
 *  @param      upper  as for tsanom_lbkeogh_bound()
 *  @param      n      the common count, >= 1
 *  @param      cost   ::TSANOM_COST_ABSOLUTE or ::TSANOM_COST_SQUARED
 *  @param[out] tail   n + 1 sums; overlaps nothing
 *  @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_tail(const double *c, const double *lower,
                                             const double *upper, size_t n, int32_t cost,
                                             const tsanom_exec *exec, double *tail);

/** LB_Keogh of two series in both directions, envelopes included. The larger of the two
 *  is the better bound. Lengths may differ by up to the radius: the envelope then covers
 *  the positions of the other series, each with the samples in its window. O(n + m) time,
 *  workspace O(max(n, m)).
 *  @param      x       samples
 *  @param      n       their count, >= 1
 *  @param      y       samples of the other series
 *  @param      m       their count, >= 1
 *  @param[out] bounds  two values: [0] is y against the envelope of x (the paper's
 *                      LB_Keogh(Q, C) for x = Q and y = C), [1] is x against that of y
 *  @options @exec @status
 *  @retval TSANOM_INFEASIBLE  |n-m| exceeds the radius, so that there is no path: bounds
 *                             are INFINITY */
TSANOM_API tsanom_status tsanom_lbkeogh_pair(const double *x, size_t n, const double *y,
                                             size_t m,
                                             const tsanom_lbkeogh_options *options,
                                             const tsanom_exec *exec, double *bounds);

/** LB_Improved of a series c against q: LB_Keogh(c), plus the LB_Keogh of q against the
 *  envelope of h, where h is c clipped to the envelope of q. At least LB_Keogh(c). O(n),
 *  four passes; workspace O(n).
 *  @param      c      samples
 *  @param      q      samples of the other series
 *  @param      lower  envelope of q for options->radius, as for tsanom_lbkeogh_bound()
 *  @param      upper  as for tsanom_lbkeogh_bound()
 *  @param      n      the common count, >= 1
 *  @param[out] bound  in units of the cost
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_improved(const double *c, const double *q,
                                                 const double *lower, const double *upper,
                                                 size_t n,
                                                 const tsanom_lbkeogh_options *options,
                                                 const tsanom_exec *exec, double *bound);

/** LB_Enhanced of a series c against q: options->bands L-shaped bands of the matrix of
 *  pairs at each end, and LB_Keogh(c) in between. Every warping path takes at least the
 *  cheapest pair of each band. More than n/2 bands are n/2. O(n + bands^2) time, without
 *  workspace. With 3 bands, and an even n or at least 6 samples, it is at least LB_KimFL.
 *  @param      c      samples
 *  @param      q      samples of the other series
 *  @param      lower  envelope of q for options->radius, as for tsanom_lbkeogh_bound()
 *  @param      upper  as for tsanom_lbkeogh_bound()
 *  @param      n      the common count, >= 1
 *  @param[out] bound  in units of the cost
 *  @options @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_enhanced(const double *c, const double *q,
                                                 const double *lower, const double *upper,
                                                 size_t n,
                                                 const tsanom_lbkeogh_options *options,
                                                 const tsanom_exec *exec, double *bound);

/** The envelope of a series that is still growing: each sample goes in, and after the
 *  first `radius` samples each push gives the pair of `radius` samples ago. One thread at
 *  a time may use it. */
typedef struct tsanom_lbkeogh_stream tsanom_lbkeogh_stream;

/** Begin a stream in a block of exec's allocator, O(radius).
 *  @param      radius  of the window; too large, such as SIZE_MAX: ::TSANOM_E_OVERFLOW
 *  @param[out] stream  release it by tsanom_lbkeogh_stream_destroy()
 *  @exec @status */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_create(size_t radius,
                                                      const tsanom_exec *exec,
                                                      tsanom_lbkeogh_stream **stream);

/** Release a stream. @param stream NULL: nothing happens */
TSANOM_API void tsanom_lbkeogh_stream_destroy(tsanom_lbkeogh_stream *stream);

/** Take in samples. Amortized O(1) per sample; one of 2·radius + 1 takes O(radius).
 *  @param      x            samples
 *  @param      count        their count, >= 0
 *  @param[out] lower     lower ends of the pairs that came out, in order; at most `count`
 *  @param[out] upper     upper ends of these pairs
 *  @param[out] produced  number of pairs
 *  @param[out] taken     number of samples taken in
 *  @the{stream} @status
 *  @retval TSANOM_PARTIAL  sample x[*taken] is not finite; the samples before it were
 *                          taken in, and the other outputs are valid for them */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_push(tsanom_lbkeogh_stream *stream,
                                                    const double *x, size_t count,
                                                    double *lower, double *upper,
                                                    size_t *produced, size_t *taken);

/** End the series: returns the pairs of its last samples. The stream is then as after
 *  tsanom_lbkeogh_stream_create().
 *  @param[out] lower     lower ends of the pairs, in order; at most `radius`
 *  @param[out] upper     upper ends of these pairs
 *  @param[out] produced  number of pairs
 *  @the{stream} @status */
TSANOM_API tsanom_status tsanom_lbkeogh_stream_finish(tsanom_lbkeogh_stream *stream,
                                                      double *lower, double *upper,
                                                      size_t *produced);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
