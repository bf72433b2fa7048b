/* SPDX-License-Identifier: BSD-3-Clause */
/* The normal equations of a stream in double-double arithmetic: Cholesky factorization
 * R^T R of the Gram matrix of the sums, R^T z = A^T W y, R c = z. Its condition number,
 * the square of that of the data, costs as many of the 32 digits as it has: half of them
 * for data of condition 1e8. The samples are gone, so that neither QR nor refinement by
 * residuals is possible.
 *
 * RSS is a difference of sums, sum w y^2 - ||z||^2, known to about 1e-30 of sum w y^2. A
 * pivot that is smaller than rounding can make it ends the factorization: the column is
 * not determined.
 *
 * O(terms^3) operations in double-double, whatever the number of samples. */
#include <stddef.h>

#include "polyfit/polyfit_algebra.h"
#include "polyfit/polyfit_model.h"
#include "polyfit/polyfit_sums.h"

/* Cholesky pivots below this share of their diagonal are rounding if the sums were
 * computed in double: the 2^-52 of a sum, with a margin. */
#define DOUBLE_PIVOT 0x1p-44

/* Precision of an RSS that is a difference of sums, in units of sum w y^2. */
#define EXACT_FLOOR 0x1p-98
#define DOUBLE_FLOOR 0x1p-48

static tsn_dd *entry(tsn_dd *triangle, int terms, int row, int column) {
  return triangle + row + (ptrdiff_t)column * terms;
}

/* The Cholesky factorization. Returns the number of columns with pivots
 * above `least` of their diagonal: a pivot is the squared norm of the orthogonal part,
 * hence `least` is the square of the tolerance. */
static int factor_sums(const tsn_dd *sums, int terms, double least, tsn_dd *triangle) {
  for (int j = 0; j < terms; j++) {
    for (int i = 0; i <= j; i++) {
      tsn_dd rest = tsn_dd_add(sums[i + j], sums[j - i]);
      rest = (tsn_dd){rest.high / 2, rest.low / 2};
      double gram = rest.high;
      for (int k = 0; k < i; k++) {
        tsn_dd part =
            tsn_dd_multiply(*entry(triangle, terms, k, i), *entry(triangle, terms, k, j));
        rest = tsn_dd_subtract(rest, part);
      }
      if (i == j && !(rest.high > least * gram)) return j;
      *entry(triangle, terms, i, j) =
          i == j ? tsn_dd_sqrt(rest) : tsn_dd_divide(rest, *entry(triangle, terms, i, i));
    }
  }
  return terms;
}

/* R^T z = moments. */
static void solve_lower(tsn_dd *triangle, int terms, int rank, const tsn_dd *moments,
                        tsn_dd *z) {
  for (int k = 0; k < rank; k++) {
    tsn_dd rest = moments[k];
    for (int i = 0; i < k; i++) {
      tsn_dd part = tsn_dd_multiply(*entry(triangle, terms, i, k), z[i]);
      rest = tsn_dd_subtract(rest, part);
    }
    z[k] = tsn_dd_divide(rest, *entry(triangle, terms, k, k));
  }
}

/* R c = z for the first `count` coefficients. */
static void solve_upper(tsn_dd *triangle, int terms, int count, const tsn_dd *z,
                        tsn_dd *c) {
  for (int k = count - 1; k >= 0; k--) {
    tsn_dd rest = z[k];
    for (int j = k + 1; j < count; j++) {
      tsn_dd part = tsn_dd_multiply(*entry(triangle, terms, k, j), c[j]);
      rest = tsn_dd_subtract(rest, part);
    }
    c[k] = tsn_dd_divide(rest, *entry(triangle, terms, k, k));
  }
}

/* The triangle in double, for the statistics: condition and standard errors need few
 * digits. */
static void round_triangle(tsn_dd *triangle, int terms, int rank,
                           const tsn_polyfit_sums_scratch *scratch,
                           tsn_polyfit_factor *factor) {
  for (int j = 0; j < rank; j++) {
    for (int i = 0; i < rank; i++) {
      scratch->r[i + (ptrdiff_t)j * rank] =
          i <= j ? entry(triangle, terms, i, j)->high : 0;
    }
  }
  tsn_polyfit_invert(scratch->r, rank, scratch->inverse, factor->norms);
  factor->inverse = scratch->inverse;
  factor->ld = rank;
  factor->condition = tsn_polyfit_condition(factor->norms, scratch->inverse, rank, rank);
}

/* RSS by degree: sum w y^2 - z_0^2 - ... - z_k^2. */
static void sums_left(tsn_dd squares, const tsn_dd *z, int rank, tsn_dd *rss) {
  for (int k = 0; k < rank; k++) {
    squares = tsn_dd_subtract(squares, tsn_dd_multiply(z[k], z[k]));
    if (!(squares.high > 0)) squares = tsn_dd_from(0);
    rss[k] = squares;
  }
}

tsanom_status tsn_polyfit_sums_solve(const tsn_polyfit_sums *sums, int stream_terms,
                                     int exactly, const tsanom_polyfit_options *options,
                                     int32_t isa, const tsn_polyfit_sums_scratch *scratch,
                                     tsanom_polyfit_model *model) {
  int asked = options->degree + 1;
  int terms = (uint64_t)asked < sums->samples ? asked : (int)sums->samples;
  int constant = sums->y_low == sums->y_high, chosen;
  double least = options->tolerance * options->tolerance;
  if (!exactly && least < DOUBLE_PIVOT) least = DOUBLE_PIVOT;
  const tsn_dd *moments = sums->sums + 2 * (ptrdiff_t)stream_terms - 1;
  tsn_dd squares = moments[stream_terms];
  tsn_dd z[TSN_POLYFIT_MAX_TERMS], rss[TSN_POLYFIT_MAX_TERMS];
  tsn_dd c[TSN_POLYFIT_MAX_TERMS] = {{0}};
  tsn_polyfit_factor factor = {.map = &sums->frame.map,
                               .samples = sums->samples,
                               .asked = terms,
                               .method = TSANOM_POLYFIT_GRAM};
  factor.rank = factor_sums(sums->sums, terms, least, scratch->triangle);
  round_triangle(scratch->triangle, terms, factor.rank, scratch, &factor);
  solve_lower(scratch->triangle, terms, factor.rank, moments, z);
  sums_left(squares, z, factor.rank, rss);
  factor.tss = rss[0]; /* the fit of degree 0 is the mean */
  factor.rss_floor = squares.high * (exactly ? EXACT_FLOOR : DOUBLE_FLOOR);
  if (constant) {
    factor.tss = tsn_dd_from(0);
    for (int k = 0; k < factor.rank; k++) rss[k] = tsn_dd_from(0);
  }
  tsanom_status status = tsn_polyfit_select(&factor, rss, options, &chosen);
  if (constant) {
    c[0] = tsn_dd_from(sums->y_low * sums->frame.map.y_unit);
  } else {
    solve_upper(scratch->triangle, terms, chosen, z, c);
  }
  tsn_polyfit_write(&factor, options, tsn_polyfit_dd_kernels_at(isa), rss, chosen, c,
                    scratch->matrix, scratch->lanes, model);
  return status;
}
