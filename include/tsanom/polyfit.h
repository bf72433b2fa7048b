/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Which polynomial follows these samples, and how well?
 *
 *  | you have, or want                                  | function                      |
 *  |----------------------------------------------------|-------------------------------|
 *  | samples in arrays                                  | tsanom_polyfit_fit()          |
 *  | values and slopes of a fit                         | tsanom_polyfit_evaluate()     |
 *  | samples that arrive in pieces, or exceed memory    | ::tsanom_polyfit_stream       |
 *  | one fit of what several threads have seen          | tsanom_polyfit_stream_merge() |
 *  | to continue a stream later, or in another process  | tsanom_save()                 |
 *
 *  If you know the degree, set options.degree. If you do not, set it to the highest degree
 *  that makes sense, and set options.selection to a rule that chooses.
 *
 *  @code{.c}
 *  double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, 5, 10, 17}, at = 10, value;
 *  tsanom_polyfit_options options;
 *  tsanom_polyfit_options_init(&options, sizeof options);
 *  options.degree = 2;
 *  tsanom_polyfit_model model = {.struct_size = sizeof model};
 *  tsanom_polyfit_fit(x, y, NULL, 5, &options, NULL, &model);
 *  tsanom_polyfit_evaluate(&model, &at, 1, NULL, &value, NULL);
 *  printf("%g + %g x^2\n", model.monomial[0], model.monomial[2]);  // -> 1 + 1 x^2
 *  printf("R^2 %g, p(10) = %g\n", model.r2, value);  // -> R^2 1, p(10) = 101
 *  @endcode
 *
 *  Given samples \f$(x_i, y_i)\f$ and weights \f$w_i > 0\f$ (1 by default), you get the
 *  polynomial p of degree D that minimizes \f$RSS = \sum w_i (y_i - p(x_i))^2\f$. It is
 *  \f$p(x) = \sum c_k T_k(t)\f$, where \f$T_k\f$ is the Chebyshev polynomial of the first
 *  kind and t = (x·unit - center)·scale maps the range of the samples to [-1, 1]. You also
 *  get the coefficients of 1, x, x^2, ...; to compute values, prefer
 *  tsanom_polyfit_evaluate(), because powers of x cancel each other when x is far from 0.
 *  Weights below \f$2^{-300}\f$ of the largest count as 0 in double-double sums.
 *
 *  The results are bitwise identical for every thread count, instruction set and
 *  floating-point environment of the caller. Exception: in builds with LAPACKE, the condition
 *  number and a rank in doubt of a fit by QR also depend on the processor (@ref embed_bits).
 *  Calls with distinct outputs, exec and stream may run concurrently.
 *
 *  Errors besides the common ones: ::TSANOM_E_COUNT, also: too few samples for a fixed
 *  degree; ::TSANOM_E_OPTION, also: an option has no effect on the call and is not at its
 *  default; ::TSANOM_E_NONFINITE, a sample or weight; ::TSANOM_E_VALUE, a weight is not
 *  positive. The fault names the argument and the smallest offending index; of several
 *  offending arrays it names the first in the order x, y, weights.
 *
 *  Sources: equations 1-3 of the heartbeat paper (alignment of two sequences);
 *  A. Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, sections
 *  2.4 (QR), 2.9 (refinement) and 6.6 (QR by blocks of rows). */
#ifndef TSANOM_POLYFIT_H
#define TSANOM_POLYFIT_H

#include <tsanom/base.h>

/** @addtogroup polyfit
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Limits of the module. */
enum {
  TSANOM_POLYFIT_MAX_DEGREE = 63, /**< highest degree */
  TSANOM_POLYFIT_TERMS = 64       /**< length of the arrays in a model */
};

/** Choice of the degree. ABI: append only. */
enum {
  TSANOM_POLYFIT_FIXED = 0, /**< options.degree (default) */
  TSANOM_POLYFIT_R2 = 1,    /**< the lowest degree with R^2 above options.r2 */
  TSANOM_POLYFIT_AICC = 2,  /**< least corrected Akaike information criterion */
  TSANOM_POLYFIT_BIC = 3    /**< least Bayesian information criterion */
};

/** Factorization that a model came from. ABI: append only. */
enum {
  TSANOM_POLYFIT_GRAM = 0, /**< Cholesky of the Gram matrix: well-conditioned data */
  TSANOM_POLYFIT_QR = 1    /**< Householder QR by blocks of rows */
};

/** What to compute. Initialize it with tsanom_polyfit_options_init(). */
typedef struct tsanom_polyfit_options {
  size_t struct_size; /**< set by _init */
  int32_t degree;     /**< degree, or highest degree to try if one is selected: 0 to
                           TSANOM_POLYFIT_MAX_DEGREE; 1 (default) */
  int32_t selection;  /**< TSANOM_POLYFIT_FIXED (default), _R2, _AICC or _BIC */
  double r2;          /**< of TSANOM_POLYFIT_R2: threshold in [0, 1); 0.9 (default, as in
                           the paper) */
  /** A basis function counts as determined by the data if the part of its column that is
   *  orthogonal to all lower columns has more than this fraction of its norm; in [0, 1),
   *  0 (default): \f$2^{-40}\f$. */
  double tolerance;
  /** 1 (default): refine the coefficients with residuals in double-double arithmetic,
   *  which makes them exact to the last digit, unless weights differ by more than a factor
   *  of 1e16: what only samples of the ratio r to the largest weight determine is known to
   *  1e-32/r. 0: plain double, several times faster. */
  int32_t refine;
  /** 0 (default): the whole model; 1: not the statistics, which take more than half of
   *  the time of a small fit: rss to bic except condition, sd, monomial, monomial_sd
   *  and degree_rss are NaN. */
  int32_t coefficients_only;
} tsanom_polyfit_options;

/** A fitted polynomial with its statistics: plain data that can be copied and saved.
 *  Begin with `{.struct_size = sizeof x}` before the first fit. Arrays hold
 *  degree + 1 entries; a fit writes no others. `struct_size` may end before
 *  degree_rss. */
typedef struct tsanom_polyfit_model {
  size_t struct_size; /**< sizeof, set by the caller */
  uint64_t samples;   /**< number of samples, n */
  int32_t degree;     /**< degree of this polynomial */
  int32_t highest;    /**< highest degree in degree_rss */
  int32_t rank;   /**< basis functions up to the requested degree that the data determine;
                     highest + 1 */
  int32_t method; /**< TSANOM_POLYFIT_GRAM or TSANOM_POLYFIT_QR */
  double unit;    /**< power of two that brings |x| to at most 1 */
  double center;  /**< t = (x·unit - center)·scale */
  double scale;   /**< 1 / (half the range of x·unit), or 1 if that is 0 */
  /** Weighted residual sum of squares; INFINITY on overflow (|y| above 1e153). */
  double rss;
  double tss; /**< \f$\sum w (y - \bar y)^2\f$ about the weighted mean; as rss */
  double r2;  /**< 1 - rss/tss; 1 if all y are equal */
  /** 1 - (1 - r2)(n - 1)/(n - degree - 1); without a degree of freedom, n = degree + 1,
   *  -INFINITY, unless r2 is 1. */
  double adjusted_r2;
  /** \f$\sqrt{rss/(n - degree - 1)}\f$; INFINITY without a degree of freedom. */
  double residual_sd;
  /** \f$\|R\|_F \|R^{-1}\|_F\f$ of the design matrix in this basis with columns of unit
   *  norm: between its 2-norm condition number and degree + 1 times that. */
  double condition;
  /** \f$n\log(rss/n) + 2k + 2k(k+1)/(n-k-1)\f$ with k = degree + 2; INFINITY if
   *  n <= k + 1. */
  double aicc;
  double bic; /**< n log(rss/n) + k log(n) */
  /** c_k, in units of y; INFINITY with its sign on overflow (|y| above 1e300). */
  double high[TSANOM_POLYFIT_TERMS];
  /** c_k minus high, which doubles the number of known digits; 0 if not refined. */
  double low[TSANOM_POLYFIT_TERMS];
  /** Standard errors of c_k; INFINITY without a degree of freedom. */
  double sd[TSANOM_POLYFIT_TERMS];
  /** Coefficients of 1, x, x^2, ..., converted in double-double arithmetic; INFINITY with
   *  its sign on overflow, 0 on underflow; a c_k below 2^-600 of the largest counts as
   *  0. NaN: the samples are so far from 0, for their range and the degree, that the
   *  conversion itself might overflow. */
  double monomial[TSANOM_POLYFIT_TERMS];
  double monomial_sd[TSANOM_POLYFIT_TERMS]; /**< their standard errors */
  /** RSS of the best polynomial of each degree 0 to `highest`; except for `degree` known
   *  to about 1e-14·condition·tss. */
  double degree_rss[TSANOM_POLYFIT_TERMS];
} tsanom_polyfit_model;

/** Write the defaults described at ::tsanom_polyfit_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_polyfit_options_init(tsanom_polyfit_options *options,
                                                     size_t struct_size);

/** Fit a polynomial. O(n·degree) time for well-conditioned data, O(n·degree^2) otherwise.
 *
 *  One factorization at the highest degree yields the RSS of every lower degree, from
 *  which the degree is selected. With fewer than options.degree + 1 samples, a selection
 *  tries degrees up to n - 1.
 *
 *  The workspace grows with n, the degree and the threads, but is bounded for every n: below
 *  10 MiB on one thread.
 *  @param      x        n positions
 *  @param      y        n samples
 *  @param      weights  n positive weights, inverse to variances of y; NULL: all 1
 *  @param      n        number of samples, >= 1; > options.degree for a fixed degree
 *  @param[out] model    begins with its struct_size
 *  @options @exec @status
 *  @retval TSANOM_RANK_DEFICIENT  the samples have too few distinct x, or nearly so:
 *                                 model is the fit of the highest degree that they
 *                                 determine. Not returned if R^2 selected a lower degree
 *  @retval TSANOM_INFEASIBLE      no degree reached the threshold of R^2: model is of the
 *                                 highest degree
 *  @retval TSANOM_STOPPED         the poll asked to stop; model is not modified */
TSANOM_API tsanom_status tsanom_polyfit_fit(const double *x, const double *y,
                                            const double *weights, size_t n,
                                            const tsanom_polyfit_options *options,
                                            const tsanom_exec *exec,
                                            tsanom_polyfit_model *model);

/** Evaluate a model and its first derivative by Clenshaw's recurrence. O(n·degree).
 *  @param      model   a fit
 *  @param      x       arguments; values outside the range of the samples extrapolate
 *  @param      n       number of arguments, >= 1
 *  @param[out] values  n values p(x); may be x itself; NULL: not wanted
 *  @param[out] slopes  n values dp/dx; may be x itself; NULL: not wanted
 *  @exec @status
 *  @retval TSANOM_STOPPED   the poll asked to stop; part of the outputs is written
 *  @retval TSANOM_E_FORMAT  the model is damaged: a degree out of range, or a coefficient
 *                           not finite
 *  @retval TSANOM_E_VALUE   an x is so far outside the samples that the result may
 *                           overflow */
TSANOM_API tsanom_status tsanom_polyfit_evaluate(const tsanom_polyfit_model *model,
                                                 const double *x, size_t n,
                                                 const tsanom_exec *exec, double *values,
                                                 double *slopes);

/** Fit of samples that arrive in pieces, in memory that does not depend on their number.
 *
 *  The object keeps sum w T_k(t), k <= 2·degree, and sum w y T_k(t) in double-double
 *  arithmetic, which gives the coefficients as many digits as refinement does up to a
 *  condition number of 1e8; beyond, their relative error is about 1e-32·condition^2. Fewer
 *  than 2048 samples are kept and fitted as tsanom_polyfit_fit() does, exactly. The
 *  interval that t maps to [-1, 1] grows with the samples; a change of basis, stable in
 *  that direction, transforms the sums. Samples are summed in blocks of 2048, so that the
 *  fit does not depend on how they were divided into pushes. RSS is a difference of sums,
 *  known to about 1e-30 of sum w y^2.
 *
 *  A stream serves one call at a time. */
typedef struct tsanom_polyfit_stream tsanom_polyfit_stream;

/** Make an empty stream in one block of exec's allocator.
 *  @param      options  kept for tsanom_polyfit_stream_fit(): `degree` is the highest degree
 *                       of later fits; refine = 0 sums each block in double, which is several
 *                       times faster. NULL: the defaults
 *  @param[out] stream   pass it to tsanom_polyfit_stream_destroy()
 *  @exec @status */
TSANOM_API tsanom_status
tsanom_polyfit_stream_create(const tsanom_polyfit_options *options,
                             const tsanom_exec *exec, tsanom_polyfit_stream **stream);

/** Free a created stream. @param stream NULL: nothing happens */
TSANOM_API void tsanom_polyfit_stream_destroy(tsanom_polyfit_stream *stream);

/** Add samples, in any order of x. O(n·degree). Takes all samples, or none if it returns
 *  another status than TSANOM_OK.
 *  @param x        n positions
 *  @param y        n samples
 *  @param weights  n positive weights; NULL: all 1
 *  @param n        number of samples; 0 is allowed
 *  @param exec     NULL: one thread. The poll counts samples and is called before every
 *                  65536 samples that are summed
 *  @the{stream} @status
 *  @retval TSANOM_STOPPED  the poll asked to stop */
TSANOM_API tsanom_status tsanom_polyfit_stream_push(tsanom_polyfit_stream *stream,
                                                    const double *x, const double *y,
                                                    const double *weights, size_t n,
                                                    const tsanom_exec *exec);

/** Add all samples of another stream. O(degree^2).
 *  @param stream  receives the samples
 *  @param other   a different stream with the same degree and refine; not modified
 *  @exec @status
 *  @retval TSANOM_E_OPTION  degree or refine differ, or the streams are one */
TSANOM_API tsanom_status tsanom_polyfit_stream_merge(tsanom_polyfit_stream *stream,
                                                     const tsanom_polyfit_stream *other,
                                                     const tsanom_exec *exec);

/** Fit all samples so far; more may be pushed afterwards. O(degree^3).
 *  @param      stream   only its scratch memory is modified
 *  @param      options  degree at most that of the stream, refine as in the stream or at
 *                       its default. NULL: the options of the stream
 *  @param[out] model    begins with its struct_size
 *  @exec @return a status of tsanom_polyfit_fit(), except TSANOM_STOPPED */
TSANOM_API tsanom_status tsanom_polyfit_stream_fit(tsanom_polyfit_stream *stream,
                                                   const tsanom_polyfit_options *options,
                                                   const tsanom_exec *exec,
                                                   tsanom_polyfit_model *model);

#ifdef __cplusplus
}
#endif
/** @} */
#endif
