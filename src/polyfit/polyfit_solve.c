/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit makes up to four passes over the samples:
 *
 *   1. ranges of x, y and weights      -> the map to [-1, 1], validity of the samples
 *   2. moments, sum w T_k and w T_k y  -> Gram matrix, Cholesky, c = R^-1 R^-T A^T W y
 *      or, if that is ill conditioned, Householder QR
 *   3. residuals in double             -> RSS of every degree, from which one is selected
 *   4. residuals in double-double      -> refined c; repeated if one step is not enough
 *
 * The Gram matrix costs O(n D) because T_i T_j = (T_{i+j} + T_{|i-j|}) / 2 reduces it to
 * 2 D + 1 sums; QR costs O(n D^2). Refinement corrects the error of the Gram matrix up to
 * GRAM_CONDITION, so that QR is needed only beyond. */
#include "polyfit/polyfit_solve.h"

#include <math.h>
#include <stddef.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "core/size.h"
#include "polyfit/polyfit_call.h"
#include "polyfit/polyfit_map.h"
#include "polyfit/polyfit_qr.h"

/* Algebra of upper triangles of at most 64 columns, stored by columns. With A the
 * weighted design matrix, A = Q R and A^T A = R^T R, everything after the sums follows
 * from R and R^-1:
 *
 *     c = R^-1 z                  z = R^-T A^T y                     coefficients
 *     var(c_k) = sigma^2 ||row k of R^-1||^2                         standard errors
 *     condition = ||R D||_F ||(R D)^-1||_F                           choice of the method
 *
 * R^-1 is computed once, in O(terms^3), here from the R of a QR or of a stream, by
 * polyfit_factor.h from the sums of a fit. It is then applied in O(terms^2) for each
 * right-hand side; the standard errors need it in any case. Refinement corrects its
 * rounding errors. Column-oriented loops of this size cost less than a call of BLAS. */

#define FACTOR_PART double
#define FACTOR_WIDTH 1
#include "polyfit/polyfit_factor.h"

/* The operations of factor_rows() for two terms: the coefficients of 4 samples take 102
 * ns instead of 114 (Zen 5, AVX-512), as long as by the bare normal equations of Eigen. */
static int factor_two(const double *sums, double least, int ld, double *inverse,
                      double *z) {
  double *second = inverse + ld, diagonal = (sums[2] + sums[0]) / 2;
  double reciprocal = 1 / sums[0], root = sqrt(sums[0]) * reciprocal;
  double multiple = sums[1] * reciprocal;
  double pivot = diagonal - multiple * sums[1];
  if (!(sums[0] > least * sums[0] && pivot > least * diagonal)) return 0;
  double last_reciprocal = 1 / pivot, last_root = sqrt(pivot) * last_reciprocal;
  inverse[0] = root;
  second[0] = (0 - multiple) * last_root;
  second[1] = last_root;
  z[0] = sums[3] * root;
  z[1] = (sums[4] - multiple * sums[3]) * last_root;
  return 1;
}

int tsn_polyfit_factor_few(const double *sums, int terms, double least, int ld,
                           double *rows, double *inverse, double *z) {
  if (terms == 2) return factor_two(sums, least, ld, inverse, z);
  return factor_rows(sums, terms, least, ld, rows, inverse, z);
}

static inline const double *column_of(const double *matrix, int ld, int column) {
  return matrix + (ptrdiff_t)column * ld;
}

/* In one order at every level: this file is not compiled per level. */
static double dot(const double *a, const double *b, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

void tsn_polyfit_invert(const double *r, int ld, int count, double *inverse,
                        double *norms) {
  for (int k = 0; k < count; k++) {
    double *column = inverse + (ptrdiff_t)k * ld;
    norms[k] = dot(column_of(r, ld, k), column_of(r, ld, k), k + 1);
    for (int i = 0; i < k; i++) column[i] = 0;
    column[k] = 1 / r[k + (ptrdiff_t)k * ld];
    /* Rows above: R^-1 e_k by back substitution; the diagonal of the inverse
     * holds the reciprocals. */
    for (int j = k; j > 0; j--) {
      const double *r_column = column_of(r, ld, j);
      for (int i = 0; i < j; i++) column[i] -= r_column[i] * column[j];
      column[j - 1] *= inverse[(j - 1) + (ptrdiff_t)(j - 1) * ld];
    }
  }
}

/* out = inverse^T in, for the first `count` entries; ld is that of inverse. */
static void apply_transposed(const double *inverse, int ld, int count, const double *in,
                             double *out) {
  for (int k = 0; k < count; k++) out[k] = dot(column_of(inverse, ld, k), in, k + 1);
}

/* out = inverse in, for the first `count` entries. */
static void apply(const double *inverse, int ld, int count, const double *in,
                  double *out) {
  for (int i = 0; i < count; i++) {
    double sum = 0;
    for (int k = i; k < count; k++) sum += column_of(inverse, ld, k)[i] * in[k];
    out[i] = sum;
  }
}

/* With D scaling the columns of R to unit norm, the rows of (R D)^-1 are those of R^-1
 * times the norms: ||R D||_F = sqrt(count), and ||(R D)^-1||_F^2 = sum_k ||column k||^2
 * ||row k of R^-1||^2. Equilibration removes what the choice of units of the columns adds
 * to the condition number, which does not affect the accuracy. */
double tsn_polyfit_condition(tsn_polyfit_factor *factor, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) {
    double row = 0;
    for (int k = i; k < count; k++) {
      double entry = column_of(factor->inverse, factor->ld, k)[i];
      row += entry * entry;
    }
    factor->rows[i] = row;
    sum += factor->norms[i] * row;
  }
  return sqrt((double)count * sum);
}

/* |r_kk| is the norm of the part of column k that is orthogonal to all lower ones. The
 * comparison is false for a NaN. Returns how many columns from the first on have more than
 * `tolerance` of their norm on the diagonal. */
static int count_determined(const double *r, int terms, double tolerance) {
  for (int k = 0; k < terms; k++) {
    const double *column = column_of(r, terms, k);
    if (!(fabs(column[k]) > tolerance * sqrt(dot(column, column, k + 1)))) return k;
  }
  return terms;
}

/* The Gram matrix squares the condition number. Up to this condition number its error
 * stays below the square root of the precision, which refinement corrects in two steps.
 */
#define GRAM_CONDITION 0x1p11
#define GRAM_PIVOT (1 / (GRAM_CONDITION * GRAM_CONDITION))

/* Coefficients are refined until their relative error is below this: then a
 * coefficient is rounded correctly unless it is closer to a tie than 2^-31 of its last
 * place. */
#define REFINED_EXPONENT (-84)

/* Enough for QR of a condition number of 2^39, about the largest that the default
 * tolerance accepts; see most_steps(). */
enum { MOST_STEPS = 6 };

/* Passes over the samples in blocks of fixed length. The results of the blocks are added
 * in order, so that they do not depend on the number of threads:
 *
 *   samples  [block 0][block 1] ... [block 63] | [block 64] ...
 *   slots     sums 0   sums 1        sums 63   | a wave, computed in parallel
 *   total    ((0 + sums 0) + sums 1) + ...       added by the calling thread
 *
 * A pass is a callback that computes the result of a block, and one that adds it to the
 * total:
 *
 *     pass      result of a block                  joined by
 *     ranges    ranges of x, y and weights         minimum, maximum
 *     moments   sum w T_k, sum w T_k y, sum w y^2  addition
 *     residual  RSS and sums about the mean        addition
 *     refine    A^T W r, RSS and the others        addition
 *
 * Sums of blocks are added in double-double even if the kernel computes in double: then
 * the rounding error of a sum is that of one block, whatever the number of samples. */

enum {
  BLOCK = 2048, /* samples of a block */
  WAVE = 64,    /* blocks computed in parallel before their results are joined */
  RANGES_WIDTH = (sizeof(tsn_polyfit_ranges) + sizeof(tsn_dd) - 1) / sizeof(tsn_dd)
};

/* State of a fit, in mapped units, which begins its scratch: the caller's stack may be small.
 * The buffers follow it in one piece: laying out several takes part of the time of a small
 * fit. rss, z and c change together: refine() improves all. */
typedef struct {
  tsn_polyfit_passes passes;
  tsn_polyfit_factor factor; /* refers to z and to passes.map; has the inverse */
  uint64_t done, total;      /* samples times passes, for the poll */
  double total_weight;
  double mean;                       /* weighted mean of y, rounded */
  double constant;                   /* all y have this value, if tss is 0 */
  double z[TSN_POLYFIT_MAX_TERMS];   /* Q^T W^(1/2) y */
  tsn_dd rss[TSN_POLYFIT_MAX_TERMS]; /* by degree */
  tsn_dd c[TSN_POLYFIT_MAX_TERMS];
  /* Terms x terms, as the inverse; both begin at multiples of a row. */
  double *r, *matrix;
  tsn_dd *slots;   /* results of a wave of blocks */
  tsn_dd *sums;    /* of the pass in progress, as many as a slot has */
  double *moments; /* 3 terms */
  double *qr;      /* scratch of the QR, and at other times the lanes */
  double *lanes;   /* scratch of each thread's kernel */
} fit_state;

/* Doubles of the state, a multiple of a row. */
enum {
  STATE = (sizeof(fit_state) / sizeof(double) + TSN_POLYFIT_ROW - 1) / TSN_POLYFIT_ROW *
          TSN_POLYFIT_ROW
};

/* Capacity for the results of one wave, of the widest pass; 0 if one block holds all
 * samples. Slots are reused by each wave, so that memory does not depend on n. */
static size_t slots_of(size_t n, size_t terms) {
  size_t blocks = n / BLOCK + (n % BLOCK != 0);
  size_t slots = tsn_smaller(blocks, WAVE);
  return blocks == 1 ? 0 : slots * (3 * terms + TSN_POLYFIT_RESIDUAL_SUMS);
}

static size_t square_of(size_t terms) {
  return terms * tsn_round_up(terms, TSN_POLYFIT_ROW);
}

size_t tsn_polyfit_scratch(size_t n, size_t terms, int threads) {
  size_t team = n > BLOCK ? (size_t)threads : 1; /* of the passes */
  size_t sums = 3 * terms + TSN_POLYFIT_RESIDUAL_SUMS;
  return STATE + 3 * square_of(terms) + 2 * (slots_of(n, terms) + sums) + 3 * terms +
         tsn_larger(tsn_polyfit_qr_scratch(n, terms, threads),
                    tsn_polyfit_lanes_of(team, terms));
}

static void place_buffers(fit_state *fit, size_t n, size_t terms) {
  size_t square = square_of(terms);
  fit->r = (double *)fit + STATE;
  fit->factor.inverse = fit->r + square;
  fit->matrix = fit->factor.inverse + square;
  fit->slots = (tsn_dd *)(fit->matrix + square);
  fit->sums = fit->slots + slots_of(n, terms);
  fit->moments = (double *)(fit->sums + 3 * terms + TSN_POLYFIT_RESIDUAL_SUMS);
  fit->qr = fit->moments + 3 * terms;
  fit->lanes = tsn_polyfit_lanes_in(fit->qr);
}

/* A pass: the callback for a block, and what joins its result with the total. */
typedef struct block_pass {
  fit_state *fit;
  void (*run)(const struct block_pass *pass, const tsn_polyfit_samples *block,
              double *lanes, void *result);
  void (*join)(void *total, const void *result, int width);
  int terms, width; /* width: that of a result, in units of tsn_dd */
  size_t first;     /* block of slot 0 */
} block_pass;

static void run_blocks(void *context, size_t begin, size_t end, int thread) {
  const block_pass *pass = context;
  const fit_state *fit = pass->fit;
  const tsn_polyfit_samples *s = &fit->passes.samples;
  double *lanes = fit->lanes + (size_t)thread * tsn_polyfit_lanes((size_t)pass->terms);
  for (size_t i = begin; i < end; i++) {
    size_t first = (pass->first + i) * BLOCK;
    tsn_polyfit_samples block =
        tsn_polyfit_part(s, first, tsn_smaller(s->n - first, BLOCK));
    pass->run(pass, &block, lanes, fit->slots + i * (size_t)pass->width);
  }
}

/* The poll of one wave reports the progress of all passes. */
static int32_t poll_wave(void *user, uint64_t done, uint64_t total) {
  const fit_state *fit = user;
  const tsanom_exec *exec = fit->passes.exec;
  (void)total;
  uint64_t samples = fit->done + done * BLOCK;
  samples = samples < fit->total ? samples : fit->total;
  return exec->poll(exec->poll_user, samples, fit->total);
}

/* Whether all samples are one block; their pass then begins here, or is stopped. */
static int only_block(fit_state *fit, tsanom_status *status) {
  if (fit->passes.samples.n > BLOCK) return 0;
  int stop = tsn_exec_stop(fit->passes.exec, fit->done, fit->total);
  fit->done += fit->passes.samples.n;
  *status = stop ? TSANOM_STOPPED : TSANOM_OK;
  return 1;
}

/* One block needs no slot: its result is the total. More blocks run in waves, whose slots
 * the calling thread joins in order of the blocks. The poll may stop the pass; the total
 * is then incomplete. */
static tsanom_status run_pass(block_pass *pass, void *total) {
  fit_state *fit = pass->fit;
  tsanom_status status;
  if (only_block(fit, &status)) {
    if (status == TSANOM_OK) pass->run(pass, &fit->passes.samples, fit->lanes, total);
    return status;
  }
  size_t n = fit->passes.samples.n, blocks = n / BLOCK + (n % BLOCK != 0);
  tsanom_exec exec = *fit->passes.exec;
  if (exec.poll) {
    exec.poll = poll_wave;
    exec.poll_user = fit;
  }
  for (pass->first = 0; pass->first < blocks; pass->first += WAVE) {
    size_t count = tsn_smaller(blocks - pass->first, WAVE);
    status = tsn_parallel_for(&exec, count, 1, run_blocks, pass, NULL);
    if (status != TSANOM_OK) return status;
    for (size_t i = 0; i < count; i++) {
      pass->join(total, fit->slots + i * (size_t)pass->width, pass->width);
    }
    fit->done += count * BLOCK;
  }
  return TSANOM_OK;
}

static void add_sums(void *total, const void *result, int width) {
  tsn_dd *sums = total;
  const tsn_dd *added = result;
  for (int k = 0; k < width; k++) sums[k] = tsn_dd_add(sums[k], added[k]);
}

static tsanom_status run_sums(block_pass *pass, tsn_dd *sums) {
  pass->join = add_sums;
  for (int k = 0; k < pass->width; k++) sums[k] = tsn_dd_from(0);
  return run_pass(pass, sums);
}

static void run_ranges(const block_pass *pass, const tsn_polyfit_samples *block,
                       double *lanes, void *result) {
  (void)lanes;
  *(tsn_polyfit_ranges *)result = tsn_polyfit_ranges_of(pass->fit->passes.kernels, block);
}

static void join_ranges(void *total, const void *result, int width) {
  (void)width;
  tsn_polyfit_join_ranges(total, result);
}

/* Sums of a kernel in double become double-double with a low part of 0; a kernel in
 * double-double writes to the result. */
static void run_moments(const block_pass *pass, const tsn_polyfit_samples *block,
                        double *lanes, void *result) {
  double *sums = tsn_polyfit_plain_sums(lanes, pass->terms);
  const tsn_polyfit_passes *passes = &pass->fit->passes;
  tsn_dd *slot = result;
  passes->kernels->moments(&passes->map, block, pass->terms, lanes, sums);
  for (int k = 0; k < pass->width; k++) slot[k] = tsn_dd_from(sums[k]);
}

static void run_residual(const block_pass *pass, const tsn_polyfit_samples *block,
                         double *lanes, void *result) {
  (void)lanes;
  double sums[TSN_POLYFIT_RESIDUAL_SUMS], c[TSN_POLYFIT_MAX_TERMS];
  const fit_state *fit = pass->fit;
  tsn_dd *slot = result;
  for (int k = 0; k < pass->terms; k++) c[k] = fit->c[k].high;
  fit->passes.kernels->residual(&fit->passes.map, block, pass->terms, c, fit->mean, sums);
  for (int k = 0; k < pass->width; k++) slot[k] = tsn_dd_from(sums[k]);
}

static void run_refine(const block_pass *pass, const tsn_polyfit_samples *block,
                       double *lanes, void *result) {
  const fit_state *fit = pass->fit;
  fit->passes.dd_kernels->refine(&fit->passes.map, block, pass->terms, fit->c, fit->mean,
                                 lanes, result);
}

/* Pass 1. A sample that is not finite, or a weight that is not positive, shows in the
 * ranges. Until measure() or refine() computes it, factor.tss only states whether y
 * varies. */
static tsanom_status find_ranges(fit_state *fit) {
  tsn_polyfit_ranges ranges = tsn_polyfit_no_ranges();
  block_pass pass = {
      .fit = fit, .run = run_ranges, .join = join_ranges, .width = RANGES_WIDTH};
  tsanom_status status = run_pass(&pass, &ranges);
  if (status != TSANOM_OK) return status;
  if (!tsn_polyfit_valid(&ranges)) {
    return tsn_polyfit_reject(&fit->passes.samples, fit->passes.exec);
  }
  tsn_polyfit_map *map = &fit->passes.map;
  tsn_polyfit_map_x(map, ranges.x.low, ranges.x.high);
  tsn_polyfit_map_y(map, tsn_polyfit_y_exponent(ranges.y),
                    tsn_polyfit_weight_exponent(ranges.weights.high));
  fit->factor.map = map;
  fit->factor.tss = tsn_dd_from(ranges.y.low < ranges.y.high);
  fit->constant = ranges.y.low * map->y_unit;
  return TSANOM_OK;
}

/* The rank is the number of leading columns that the data determine. Columns after it
 * stay out of all results. */
static tsanom_status factor_by_qr(fit_state *fit, int terms, double tolerance) {
  tsn_polyfit_factor *factor = &fit->factor;
  double *r = fit->r;
  tsanom_status status =
      tsn_polyfit_qr(&fit->passes, fit->done, fit->total, terms, fit->qr, r, factor->z);
  if (status != TSANOM_OK) return status;
  factor->method = TSANOM_POLYFIT_QR;
  factor->ld = terms;
  factor->rank = count_determined(r, terms, tolerance);
  if (factor->rank < 1) factor->rank = 1; /* the column of ones */
  tsn_polyfit_invert(r, terms, factor->rank, factor->inverse, factor->norms);
  return TSANOM_OK;
}

/* The smallest fits spend most of their time outside of kernels: one block goes to the
 * kernel at once. */
static tsanom_status sum_moments(fit_state *fit, int terms) {
  const tsn_polyfit_passes *passes = &fit->passes;
  double *sums = fit->moments;
  tsanom_status status;
  if (only_block(fit, &status)) {
    if (status == TSANOM_OK) {
      passes->kernels->moments(&passes->map, &passes->samples, terms, fit->lanes, sums);
    }
    return status;
  }
  block_pass pass = {.fit = fit, .run = run_moments, .terms = terms, .width = 3 * terms};
  status = run_sums(&pass, fit->sums);
  for (int k = 0; k < pass.width; k++) sums[k] = fit->sums[k].high;
  return status;
}

/* Pass 2. The Gram matrix is tried first, in the O(n terms) of the moments. If a pivot of
 * its Cholesky factorization or the condition number shows that it lost too many digits,
 * QR reads the samples again. No reason to predict this: the moments are needed for mean
 * and weight anyway. */
static tsanom_status factorize(fit_state *fit, int terms, double tolerance) {
  tsn_polyfit_factor *factor = &fit->factor;
  double *sums = fit->moments;
  int powers = 2 * terms - 1;
  tsanom_status status = sum_moments(fit, terms);
  if (status != TSANOM_OK) return status;
  fit->total_weight = sums[0];
  fit->mean = sums[powers] / sums[0];
  factor->z = fit->z;
  factor->ld = (int)tsn_round_up((size_t)terms, TSN_POLYFIT_ROW);
  factor->rank = terms;
  factor->method = TSANOM_POLYFIT_GRAM;
  for (int k = 0; k < terms; k++) factor->norms[k] = (sums[0] + sums[2 * k]) / 2;
  int few = terms <= TSN_POLYFIT_FEW_TERMS;
  if ((few ? tsn_polyfit_factor_few : fit->passes.kernels->factor)(
          sums, terms, GRAM_PIVOT, factor->ld, fit->r, factor->inverse, factor->z)) {
    factor->condition = tsn_polyfit_condition(factor, terms);
    if (factor->condition <= GRAM_CONDITION) return TSANOM_OK;
  }
  status = factor_by_qr(fit, terms, tolerance);
  factor->condition = tsn_polyfit_condition(factor, factor->rank);
  return status;
}

static void solve_triangle(fit_state *fit, int terms) {
  double c[TSN_POLYFIT_MAX_TERMS];
  apply(fit->factor.inverse, fit->factor.ld, terms, fit->z, c);
  for (int k = 0; k < terms; k++) fit->c[k] = tsn_dd_from(c[k]);
}

/* sum w (y - mean)^2 about the exact mean. `mean` is rounded; by Steiner's theorem the
 * sum about it is too large by (sum w (y - mean))^2 / sum w. */
static tsn_dd total_sum(const fit_state *fit, const tsn_dd *sums) {
  double deviation = sums[TSN_POLYFIT_DEVIATION].high;
  return tsn_dd_subtract(sums[TSN_POLYFIT_SQUARE],
                         tsn_dd_from(deviation * (deviation / fit->total_weight)));
}

/* Compute rss[k] for every degree k below `last` from rss[last]. */
static void degree_rss(const tsn_polyfit_factor *factor, int last, tsn_dd *rss) {
  for (int k = last; k > 0; k--) {
    rss[k - 1] = tsn_dd_add(rss[k], tsn_two_product(factor->z[k], factor->z[k]));
  }
}

/* RSS of all degrees from the residuals of the highest degree. */
static tsanom_status measure(fit_state *fit) {
  int terms = fit->factor.rank;
  tsn_dd sums[TSN_POLYFIT_RESIDUAL_SUMS];
  solve_triangle(fit, terms);
  block_pass pass = {.fit = fit,
                     .run = run_residual,
                     .terms = terms,
                     .width = TSN_POLYFIT_RESIDUAL_SUMS};
  tsanom_status status = run_sums(&pass, sums);
  if (status != TSANOM_OK) return status;
  fit->rss[terms - 1] = sums[TSN_POLYFIT_RSS];
  fit->factor.tss = total_sum(fit, sums);
  degree_rss(&fit->factor, terms - 1, fit->rss);
  return TSANOM_OK;
}

/* A step multiplies the error by about eps·condition (QR) or eps·condition^2 (Gram
 * matrix): the bits that it gains, at least. */
static double bits_gained(const tsn_polyfit_factor *factor) {
  double power = factor->method == TSANOM_POLYFIT_GRAM ? 2 : 1;
  return 51 - power * log2(factor->condition);
}

/* The coefficients before the first step have as many correct bits as a step gains. So one
 * step is enough up to a condition number of 2^9 (QR) or 2^4.5 (Gram), two for every Gram
 * matrix below GRAM_CONDITION. */
static int most_steps(const tsn_polyfit_factor *factor) {
  double gained = bits_gained(factor);
  for (int steps = 1; steps < MOST_STEPS; steps++) {
    if ((steps + 1) * gained >= -REFINED_EXPONENT) return steps;
  }
  return MOST_STEPS;
}

/* Mostly the error before a step is smaller, and the change by the step shows it: what is
 * left of it after the step may be enough. At degree 16, 1000 samples then take one step
 * instead of two. */
static bool is_refined(const fit_state *fit, int terms, const double *change) {
  double size = 0, moved = 0;
  for (int k = 0; k < terms; k++) {
    size = fmax(size, fabs(fit->c[k].high));
    moved = fmax(moved, fabs(change[k]));
  }
  return moved <= ldexp(size, REFINED_EXPONENT) * exp2(bits_gained(&fit->factor));
}

/* Pass 4. Refinement by semi-normal equations (Bjorck, section 2.9): c += (R^T R)^-1 A^T
 * W r. The residuals r are those of the coefficients before the step. RSS after it
 * follows without another pass, because the change is the projection of r: RSS(c +
 * change) = RSS(c) - ||q||^2, with q = R^-T A^T W r. */
static tsanom_status refine(fit_state *fit, int terms) {
  tsn_dd *sums = fit->sums;
  const tsn_polyfit_factor *factor = &fit->factor;
  double change[TSN_POLYFIT_MAX_TERMS];
  block_pass pass = {.fit = fit,
                     .run = run_refine,
                     .terms = terms,
                     .width = terms + TSN_POLYFIT_RESIDUAL_SUMS};
  int steps = most_steps(factor);
  do {
    double gradient[TSN_POLYFIT_MAX_TERMS], q[TSN_POLYFIT_MAX_TERMS];
    tsanom_status status = run_sums(&pass, sums);
    if (status != TSANOM_OK) return status;
    for (int k = 0; k < terms; k++) gradient[k] = sums[k].high;
    apply_transposed(factor->inverse, factor->ld, terms, gradient, q);
    apply(factor->inverse, factor->ld, terms, q, change);
    tsn_dd rss = sums[terms + TSN_POLYFIT_RSS];
    for (int k = 0; k < terms; k++) {
      fit->c[k] = tsn_dd_add(fit->c[k], tsn_dd_from(change[k]));
      /* z of a QR is exact to the rounding of y. */
      if (factor->method == TSANOM_POLYFIT_GRAM) fit->z[k] += q[k];
      rss = tsn_dd_subtract(rss, tsn_two_product(q[k], q[k]));
    }
    fit->rss[terms - 1] = rss.high > 0 ? rss : tsn_dd_from(0);
  } while (--steps > 0 && !is_refined(fit, terms, change));
  fit->factor.tss = total_sum(fit, sums + terms);
  degree_rss(factor, terms - 1, fit->rss);
  return TSANOM_OK;
}

/* All y equal: that constant, exactly. */
static void fit_constant(fit_state *fit) {
  for (int k = 0; k < fit->factor.rank; k++) {
    fit->rss[k] = fit->c[k] = tsn_dd_from(0);
  }
  fit->c[0] = tsn_dd_from(fit->constant);
}

/* Pass 3 is for the RSS. A selection needs it, and refines only the degree that it
 * selects; otherwise a refinement computes the RSS itself. */
static int needs_measure(const tsanom_polyfit_options *options) {
  if (options->selection != TSANOM_POLYFIT_FIXED) return 1;
  return !options->refine && !options->coefficients_only;
}

tsanom_status tsn_polyfit_solve(const tsn_polyfit_samples *samples,
                                const tsanom_polyfit_options *options,
                                const tsanom_exec *exec, double *scratch,
                                tsanom_polyfit_model *model) {
  fit_state *fit = (fit_state *)scratch;
  int asked = options->degree + 1;
  int terms = (size_t)asked < samples->n ? asked : (int)samples->n;
  int measured = needs_measure(options);
  int passes = 2 + measured + options->refine;
  fit->passes = (tsn_polyfit_passes){.exec = exec,
                                     .kernels = tsn_polyfit_kernels_at(exec->isa),
                                     .dd_kernels = tsn_polyfit_dd_kernels_at(exec->isa),
                                     .samples = *samples};
  place_buffers(fit, samples->n, (size_t)asked);
  fit->done = 0;
  fit->total = samples->n * (uint64_t)passes;
  fit->factor.samples = samples->n;
  fit->factor.asked = terms;
  fit->factor.rss_floor = (double)samples->n * 0x1p-100;
  tsanom_status status = find_ranges(fit);
  if (status == TSANOM_OK) status = factorize(fit, terms, options->tolerance);
  if (status != TSANOM_OK) return status;
  int constant = fit->factor.tss.high == 0, chosen;
  if (constant) {
    fit_constant(fit);
  } else if (measured && (status = measure(fit)) != TSANOM_OK) {
    return status;
  }
  tsanom_status selected = tsn_polyfit_select(&fit->factor, fit->rss, options, &chosen);
  if (!constant) {
    if (!measured || chosen < fit->factor.rank) solve_triangle(fit, chosen);
    if (options->refine && (status = refine(fit, chosen)) != TSANOM_OK) return status;
  }
  tsn_polyfit_write(&fit->factor, options, fit->passes.dd_kernels, fit->rss, chosen,
                    fit->c, fit->matrix, fit->lanes, model);
  return selected;
}
