/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Polynomial regression.
 *
 *  Given samples (x_i, y_i) and weights w_i > 0 (1 unless given), find the
 *  polynomial p of degree D that minimises RSS = sum w_i (y_i - p(x_i))^2.
 *  The polynomial is held as p(x) = sum c_k T_k(t), where T_k is the Chebyshev
 *  polynomial of the first kind and t = (x unit - center) scale maps the range
 *  of the samples to [-1, 1]. Calls with distinct workspaces and outputs may
 *  run at once.
 *
 *  Sources: equations 1-3 of the heartbeat paper (alignment of two sequences);
 *  A. Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, sections
 *  2.4 (QR), 2.9 (refinement) and 6.6 (triangles gathered by blocks). */
#ifndef TSANOM_POLYFIT_H
#define TSANOM_POLYFIT_H

#include <tsanom/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits of the room. */
enum {
  TSANOM_POLYFIT_MAX_DEGREE = 63, /**< the highest degree that can be asked for */
  TSANOM_POLYFIT_TERMS = 64       /**< coefficients a model has room for */
};

/** How the degree is chosen. The values are ABI: append, never renumber. */
enum {
  TSANOM_POLYFIT_FIXED = 0, /**< the degree asked for (default) */
  TSANOM_POLYFIT_R2 = 1,    /**< the lowest degree with R^2 above a threshold */
  TSANOM_POLYFIT_AICC = 2,  /**< the degree of least corrected Akaike criterion */
  TSANOM_POLYFIT_BIC = 3    /**< the degree of least Bayesian criterion */
};

/** Which factorisation a model came from. ABI: append, never renumber. */
enum {
  TSANOM_POLYFIT_GRAM = 0, /**< Cholesky of the Gram matrix: well conditioned data */
  TSANOM_POLYFIT_QR = 1    /**< Householder QR, gathered by blocks of rows */
};

/** What to compute: fill by tsanom_polyfit_options_init(), then change fields. */
typedef struct tsanom_polyfit_options {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  int32_t degree;     /**< degree, or the highest to try when one is selected:
                           0 ... TSANOM_POLYFIT_MAX_DEGREE; 1 (default) */
  int32_t selection;  /**< TSANOM_POLYFIT_*; fixed (default) */
  double r2;          /**< threshold of TSANOM_POLYFIT_R2, in [0, 1): the first
                           R^2 above it; 0.9 (default, the paper's) */
  double tolerance;   /**< a basis function counts as determined by the data if
                           the part of its column that is orthogonal to all
                           lower ones has more than this fraction of its norm;
                           in [0, 1), 0 = automatic: 2^-40 (default) */
  int32_t refine;     /**< 1 (default): refine the coefficients with residuals in
                           double-double arithmetic, so that they are exact to
                           the last digit; 0: plain double, several times
                           faster */
  int32_t reserved0;  /**< must be 0 */
} tsanom_polyfit_options;

/** A fitted polynomial with its statistics: plain data that can be copied and
 *  saved. Fill by tsanom_polyfit_model_init() before the first fit. Arrays hold
 *  degree + 1 entries; later entries are never touched. */
typedef struct tsanom_polyfit_model {
  size_t struct_size; /**< set by _init: which fields this caller knows */
  uint64_t samples;   /**< samples that were fitted, n */
  int32_t degree;     /**< degree of this polynomial */
  int32_t highest;    /**< highest degree whose RSS stands in degree_rss */
  int32_t rank;       /**< basis functions up to the degree asked for that the
                           data determine; highest + 1 */
  int32_t method;     /**< TSANOM_POLYFIT_GRAM or TSANOM_POLYFIT_QR */
  double unit;        /**< power of two that brings |x| to at most 1 */
  double center;      /**< t = (x unit - center) scale */
  double scale;       /**< 1 / (half the range of x unit), or 1 if that is 0 */
  double rss;         /**< residual sum of squares, weighted; INFINITY if it
                           does not fit a double (|y| above 1e153) */
  double tss;         /**< sum w (y - mean)^2 about the weighted mean; as rss */
  double r2;          /**< 1 - rss/tss; 1 if all y are equal */
  double adjusted_r2; /**< 1 - (1 - r2)(n - 1)/(n - degree - 1); -INFINITY with no
                           degree of freedom left, n = degree + 1, unless r2 is 1 */
  double residual_sd; /**< sqrt(rss/(n - degree - 1)); INFINITY with no degree of
                           freedom left */
  double condition;   /**< ||R||_F ||R^-1||_F of the design matrix in this basis
                           with columns of unit norm: at least its 2-norm
                           condition number, at most degree + 1 times that */
  double aicc;        /**< n log(rss/n) + 2k + 2k(k+1)/(n-k-1) with k = degree + 2
                           parameters; INFINITY if n <= k + 1 */
  double bic;         /**< n log(rss/n) + k log(n) */
  double high[TSANOM_POLYFIT_TERMS];        /**< c_k, in units of y; INFINITY with its
                                                 sign if no double holds it (|y| above
                                                 1e300) */
  double low[TSANOM_POLYFIT_TERMS];         /**< what c_k exceeds high by: each c_k is
                                                 known to twice the digits; 0 if not
                                                 refined */
  double sd[TSANOM_POLYFIT_TERMS];          /**< standard errors of c_k; INFINITY with no
                                                 degree of freedom left */
  double monomial[TSANOM_POLYFIT_TERMS];    /**< coefficients of 1, x, x^2, ... of the
                                                 raw x: see tsanom_polyfit_fit() */
  double monomial_sd[TSANOM_POLYFIT_TERMS]; /**< their standard errors */
  double degree_rss[TSANOM_POLYFIT_TERMS];  /**< RSS of the best polynomial of each
                                                 degree 0 ... highest; other than
                                                 that of `degree` itself they are
                                                 known to about 1e-14 condition tss */
} tsanom_polyfit_model;

/** Write the defaults described at ::tsanom_polyfit_options.
 *  @param[out] options      the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     options is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_polyfit_options_init(tsanom_polyfit_options *options,
                                                     size_t struct_size);

/** Make a model ready to receive a fit: the polynomial 0 of degree 0.
 *  @param[out] model        the caller's struct
 *  @param      struct_size  its sizeof, where the caller was compiled
 *  @retval TSANOM_E_NULL     model is NULL
 *  @retval TSANOM_E_VERSION  struct_size is smaller than the first release's
 *  @return TSANOM_OK otherwise */
TSANOM_API tsanom_status tsanom_polyfit_model_init(tsanom_polyfit_model *model,
                                                   size_t struct_size);

/** Bytes of workspace that tsanom_polyfit_fit() needs. Monotone in n, in the
 *  degree and in the thread count: the query for the largest case serves all.
 *  @param      n        samples, >= 1
 *  @param      options  NULL: the defaults
 *  @param      exec     NULL: one thread
 *  @param[out] bytes    the size, good for a block of any alignment
 *  @retval TSANOM_E_NULL      bytes is NULL
 *  @retval TSANOM_E_COUNT     n is 0
 *  @retval TSANOM_E_OVERFLOW  the size does not fit a size_t
 *  @return TSANOM_OK, or the status of a refused options or exec */
TSANOM_API tsanom_status tsanom_polyfit_workspace(size_t n,
                                                  const tsanom_polyfit_options *options,
                                                  const tsanom_exec *exec, size_t *bytes);

/** Fit a polynomial. O(n degree) time for well conditioned data and
 *  O(n degree^2) otherwise. Bitwise the same for every thread count and
 *  instruction set.
 *
 *  A degree is selected from one factorisation at the highest degree, which
 *  yields the RSS of every lower one; with fewer than options->degree + 1
 *  samples only degrees up to n - 1 are tried.
 *
 *  Monomial coefficients are converted in double-double arithmetic. One that is
 *  too large for a double is INFINITY with its sign, one that is too small is 0;
 *  the polynomial in its own basis is not affected.
 *
 *  @param      x,y         samples, all finite; only read
 *  @param      weights     n positive finite weights, inverse to the variances of
 *                          the y; NULL: all 1
 *  @param      n           count of samples, >= 1; > options->degree if the degree
 *                          is fixed
 *  @param      options     NULL: the defaults
 *  @param      exec        NULL: one thread, no poll
 *  @param      work        scratch that overlaps nothing; NULL: one block is
 *                          borrowed from exec's allocator
 *  @param      work_bytes  at least tsanom_polyfit_workspace()'s answer
 *  @param[in,out] model    initialised by tsanom_polyfit_model_init()
 *  @retval TSANOM_RANK_DEFICIENT the samples have too few distinct x, or nearly so,
 *                              for the degree asked for: model is the fit of the
 *                              highest degree below it that they determine. Not
 *                              given if a lower degree was selected by R^2
 *  @retval TSANOM_INFEASIBLE   no degree reached the threshold of R^2: model is
 *                              the fit of the highest degree tried
 *  @retval TSANOM_STOPPED      the poll asked to stop: model is untouched
 *  @retval TSANOM_E_NULL       x, y or model is NULL
 *  @retval TSANOM_E_COUNT      n is 0, or too small for the fixed degree
 *  @retval TSANOM_E_OPTION     a field of options is out of its range, such as a
 *                              degree above TSANOM_POLYFIT_MAX_DEGREE
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among samples or weights
 *  @retval TSANOM_E_VALUE      a weight is zero or negative
 *  @retval TSANOM_E_WORKSPACE  work_bytes is too small
 *  @retval TSANOM_E_MEMORY     work is NULL and the allocator gave NULL
 *  @return TSANOM_OK otherwise, or the status of a refused options, exec or model */
TSANOM_API tsanom_status tsanom_polyfit_fit(const double *x, const double *y,
                                            const double *weights, size_t n,
                                            const tsanom_polyfit_options *options,
                                            const tsanom_exec *exec, void *work,
                                            size_t work_bytes,
                                            tsanom_polyfit_model *model);

/** Evaluate a model and its first derivative in its stable basis, by
 *  Clenshaw's recurrence. O(n degree). Bitwise the same for every thread count
 *  and instruction set.
 *  @param      model   a fit
 *  @param      x       where to evaluate, all finite; only read; values outside
 *                      the range of the samples extrapolate
 *  @param      n       their count, >= 1
 *  @param      exec    NULL: one thread, no poll
 *  @param[out] values  p(x), n of them; may be x itself; NULL: not wanted
 *  @param[out] slopes  dp/dx, n of them; may be x itself; NULL: not wanted
 *  @retval TSANOM_STOPPED      the poll asked to stop: part of the outputs is
 *                              written
 *  @retval TSANOM_E_NULL       model or x is NULL, or both outputs are
 *  @retval TSANOM_E_COUNT      n is 0
 *  @retval TSANOM_E_FORMAT     model is damaged: a degree out of range or a
 *                              coefficient that is not finite
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity among x
 *  @retval TSANOM_E_VALUE      an x lies so far outside the range of the samples
 *                              that the result might not fit a double
 *  @return TSANOM_OK otherwise, or the status of a refused exec or model */
TSANOM_API tsanom_status tsanom_polyfit_evaluate(const tsanom_polyfit_model *model,
                                                 const double *x, size_t n,
                                                 const tsanom_exec *exec, double *values,
                                                 double *slopes);

/** A fit of samples that need not be there at once: opaque, in the caller's
 *  memory, of a size that does not depend on how many samples are pushed. It
 *  holds no pointers, so that it can be copied and moved as bytes.
 *
 *  It keeps sum w T_k(t), k <= 2 degree, and sum w y T_k(t) in double-double
 *  arithmetic, which leaves the coefficients as many digits as refinement does.
 *  The interval that t maps to [-1, 1] grows with the samples, and the sums are
 *  carried over by the change of basis, which is stable in that direction. Samples are
 * taken in blocks of fixed length, so that the fit does not depend on how they were cut
 * into pushes.
 *
 *  As the samples are gone when the fit is made, RSS is a difference of sums and
 *  not known below about 1e-30 of sum w y^2. One call at a time on a stream. */
typedef struct tsanom_polyfit_stream tsanom_polyfit_stream;

/** Bytes of a stream.
 *  @param      options  degree: the highest that will be asked for. NULL: the
 *                       defaults
 *  @param[out] bytes    the size
 *  @retval TSANOM_E_NULL  bytes is NULL
 *  @return TSANOM_OK, or the status of a refused options */
TSANOM_API tsanom_status tsanom_polyfit_stream_size(const tsanom_polyfit_options *options,
                                                    size_t *bytes);

/** Make an empty stream in the caller's memory.
 *  @param[out] stream   memory aligned for double
 *  @param      bytes    at least tsanom_polyfit_stream_size()'s answer
 *  @param      options  as there; kept for tsanom_polyfit_stream_fit(). With
 *                       refine = 0 the sums of a block are made in double, which is
 *                       several times faster
 *  @retval TSANOM_E_NULL       stream is NULL
 *  @retval TSANOM_E_WORKSPACE  bytes is too small
 *  @return TSANOM_OK, or the status of a refused options */
TSANOM_API tsanom_status tsanom_polyfit_stream_init(
    tsanom_polyfit_stream *stream, size_t bytes, const tsanom_polyfit_options *options);

/** Make an empty stream in memory of exec's allocator.
 *  @param      options  as in tsanom_polyfit_stream_init()
 *  @param      exec     NULL: the C heap
 *  @param[out] stream   untouched unless TSANOM_OK is returned
 *  @retval TSANOM_E_NULL    stream is NULL
 *  @retval TSANOM_E_MEMORY  the allocator gave NULL
 *  @return TSANOM_OK, or the status of a refused options or exec */
TSANOM_API tsanom_status
tsanom_polyfit_stream_create(const tsanom_polyfit_options *options,
                             const tsanom_exec *exec, tsanom_polyfit_stream **stream);

/** Give the memory of tsanom_polyfit_stream_create() back.
 *  @param stream  NULL: nothing happens
 *  @param exec    with the same allocator
 *  @return TSANOM_OK, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_polyfit_stream_destroy(tsanom_polyfit_stream *stream,
                                                       const tsanom_exec *exec);

/** Add samples, in any order of x. O(n degree). Blocks of 2048 samples are summed
 *  in parallel; the stream is bitwise the same for every thread count and
 *  instruction set.
 *  @param stream   initialised
 *  @param x,y      n samples, all finite
 *  @param weights  n positive finite weights; NULL: all 1
 *  @param n        0 is allowed
 *  @param exec     NULL: one thread, no poll. The poll counts samples, and is asked
 *                  before every 65536 of them that are summed
 *  @retval TSANOM_STOPPED      the poll asked to stop: none of the samples is taken
 *  @retval TSANOM_E_NULL       a required pointer is NULL
 *  @retval TSANOM_E_NONFINITE  a NaN or infinity: none of the samples is taken
 *  @retval TSANOM_E_VALUE      a weight is zero or negative: the same
 *  @return TSANOM_OK, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_polyfit_stream_push(tsanom_polyfit_stream *stream,
                                                    const double *x, const double *y,
                                                    const double *weights, size_t n,
                                                    const tsanom_exec *exec);

/** Add to one stream all that another one has seen. O(degree^2).
 *  @param stream  is added to
 *  @param other   a different one, made with the same degree and refine; its
 *                 samples stay what they were
 *  @param exec    NULL: one thread; only its instruction set is used
 *  @retval TSANOM_E_NULL    a stream is NULL
 *  @retval TSANOM_E_OPTION  the degrees or the refine of the two differ, or they
 *                           are one
 *  @return TSANOM_OK, or the status of a refused exec */
TSANOM_API tsanom_status tsanom_polyfit_stream_merge(tsanom_polyfit_stream *stream,
                                                     const tsanom_polyfit_stream *other,
                                                     const tsanom_exec *exec);

/** Fit all samples seen so far; more may be pushed afterwards. O(degree^3).
 *  @param         stream   initialised; only its scratch is written
 *  @param         options  degree at most the stream's; refine is not looked at.
 *                          NULL: those of tsanom_polyfit_stream_init()
 *  @param         exec     NULL: one thread; only its instruction set is used
 *  @param[in,out] model    as in tsanom_polyfit_fit()
 *  @retval TSANOM_E_NULL    stream or model is NULL
 *  @retval TSANOM_E_COUNT   no sample was pushed, or too few for the fixed degree
 *  @retval TSANOM_E_OPTION  the degree is above the stream's, or as in
 *                           tsanom_polyfit_fit()
 *  @return the other statuses of tsanom_polyfit_fit() */
TSANOM_API tsanom_status tsanom_polyfit_stream_fit(tsanom_polyfit_stream *stream,
                                                   const tsanom_polyfit_options *options,
                                                   const tsanom_exec *exec,
                                                   tsanom_polyfit_model *model);

#ifdef __cplusplus
}
#endif
#endif
