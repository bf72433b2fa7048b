/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over samples in double-double arithmetic, and the conversion to monomials, per
 * ISA level.
 *
 * Refinement needs residuals and their products with the basis to more digits than the
 * result: a residual in double has the rounding errors that it should correct. A tile has
 * 16 lanes, as in polyfit_kernel.c, each a pair of doubles:
 *
 *     high   v v v ... v      accumulate(): sum of the high parts; its rounding error and
 *     low    e e e ... e      the low part of the term are added to low
 *
 * A lane accumulates high parts, with their rounding errors, and low parts separately:
 * two additions more than plain summation. The pair is normalized once, at the end, and
 * not after every addition. A refined fit takes 1.7 to 3.5 times as long as a plain one
 * (docs/benchmarks.md).
 *
 * Equal bits at every level: an FMA and Dekker's splitting give the same rounding error,
 * unless it is subnormal. So whatever is negligible is replaced by 0 before it is
 * multiplied.
 *
 * Source: A. Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, section
 * 2.9. */
#include <math.h>

#include "polyfit/polyfit_kernel.h"
#include "polyfit/polyfit_tile.h"

/* A double-double per lane, high and low parts apart, so that loops over lanes are
 * vectorized. */
typedef struct {
  ALIGNED double high[LANES];
  ALIGNED double low[LANES];
} lanes_dd;

/* A smaller mapped value, residual or deviation, and a smaller weight, are replaced by 0,
 * so that no product comes near the subnormal numbers, where its rounding error would not
 * be representable. The largest sample and the largest weight are about 1. */
#define NEGLIGIBLE 0x1p-200
#define NEGLIGIBLE_WEIGHT 0x1p-300

static inline double clear_negligible(double a) {
  return fabs(a) < NEGLIGIBLE ? 0 : a;
}

static inline void load_without_negligible(const tsn_polyfit_map *map,
                                           const tsn_polyfit_samples *samples,
                                           size_t first, sample_tile *tile) {
  load_new(map, samples, first, tile);
  FOR_LANES(l) {
    tile->y.lane[l] = clear_negligible(tile->y.lane[l]);
    tile->w.lane[l] = tile->w.lane[l] < NEGLIGIBLE_WEIGHT ? 0 : tile->w.lane[l];
  }
}

static inline tsn_dd get(const lanes_dd *lanes, int l) {
  return (tsn_dd){lanes->high[l], lanes->low[l]};
}

static inline void set(lanes_dd *lanes, int l, tsn_dd value) {
  lanes->high[l] = value.high;
  lanes->low[l] = value.low;
}

static inline void accumulate(lanes_dd *sum, int l, tsn_dd value) {
  tsn_dd high = tsn_two_sum(sum->high[l], value.high);
  sum->high[l] = high.high;
  sum->low[l] += high.low + value.low;
}

/* A product without normalization: accumulate() or two_sum() normalizes its result
 * anyway. */
static inline tsn_dd product(tsn_dd a, tsn_dd b) {
  tsn_dd p = tsn_two_product(a.high, b.high);
  return (tsn_dd){p.high, p.low + (a.high * b.low + a.low * b.high)};
}

static inline tsn_dd product_double(tsn_dd a, double b) {
  tsn_dd p = tsn_two_product(a.high, b);
  return (tsn_dd){p.high, p.low + a.low * b};
}

/* Halves are added in the same order as in polyfit_kernel.c. */
static tsn_dd add_lanes(const lanes_dd *lanes) {
  lanes_dd sum = *lanes;
  for (int width = LANES / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; l++) accumulate(&sum, l, get(&sum, l + width));
  }
  return tsn_two_sum(sum.high[0], sum.low[0]);
}

/* t in double-double: exact in the subtraction, rounded to 106 bits in the product. In
 * double it would have an error of 2^-53 that the residuals inherit. */
static inline tsn_dd mapped(const tsn_polyfit_map *map, double u) {
  tsn_dd t = product_double(tsn_two_sum(u, -map->center), map->scale);
  t = tsn_fast_two_sum(t.high, t.low);
  return (tsn_dd){clear_negligible(t.high), clear_negligible(t.low)};
}

/* 2 t current - before. */
static inline tsn_dd three_terms(tsn_dd twice, tsn_dd current, tsn_dd before) {
  tsn_dd p = product(twice, current);
  tsn_dd high = tsn_two_sum(p.high, -before.high);
  return tsn_fast_two_sum(high.high, high.low + (p.low - before.low));
}

/* w (y - mean) and w (y - mean)^2, for R^2. */
static inline void add_deviation(const sample_tile *tile, int l, double mean,
                                 lanes_dd *sums) {
  tsn_dd deviation = tsn_two_sum(tile->y.lane[l], -mean);
  deviation = (tsn_dd){clear_negligible(deviation.high), clear_negligible(deviation.low)};
  tsn_dd weighted = product_double(deviation, tile->w.lane[l]);
  accumulate(&sums[TSN_POLYFIT_DEVIATION], l, weighted);
  accumulate(&sums[TSN_POLYFIT_SQUARE], l, product(deviation, weighted));
}

/* The sums of one refinement step: A^T W r and the sums of the residual, in one pass. The
 * basis of a tile is kept, because r is complete only after the last degree, and the
 * gradient multiplies every T_k by it. r starts as y, from which the terms are
 * subtracted. */
static void refine(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                   int terms, const tsn_dd *c, double mean, double *restrict scratch,
                   tsn_dd *sums) {
  int count = terms + TSN_POLYFIT_RESIDUAL_SUMS;
  lanes_dd *gradient = (lanes_dd *)scratch, *residual_sums = gradient + terms;
  lanes_dd *basis = gradient + count; /* at least two of them */
  for (int k = 0; k < count; k++) {
    FOR_LANES(l) set(&gradient[k], l, tsn_dd_from(0));
  }
  for (size_t i = 0; i < samples->n; i += LANES) {
    sample_tile tile;
    lanes_dd twice, r;
    load_without_negligible(map, samples, i, &tile);
    FOR_LANES(l) {
      tsn_dd t = mapped(map, tile.u.lane[l]);
      set(&twice, l, (tsn_dd){2 * t.high, 2 * t.low});
      set(&basis[0], l, tsn_dd_from(1));
      set(&basis[1], l, t);
      set(&r, l, tsn_dd_from(tile.y.lane[l]));
    }
    for (int k = 0; k < terms; k++) {
      tsn_dd minus = tsn_dd_negate(c[k]);
      if (k >= 2) {
        FOR_LANES(l) {
          tsn_dd next =
              three_terms(get(&twice, l), get(&basis[k - 1], l), get(&basis[k - 2], l));
          set(&basis[k], l, next);
        }
      }
      FOR_LANES(l) accumulate(&r, l, product(get(&basis[k], l), minus));
    }
    FOR_LANES(l) {
      tsn_dd own = tsn_two_sum(r.high[l], r.low[l]);
      own = (tsn_dd){clear_negligible(own.high), clear_negligible(own.low)};
      tsn_dd weighted = product_double(own, tile.w.lane[l]);
      accumulate(&residual_sums[TSN_POLYFIT_RSS], l, product(own, weighted));
      set(&r, l, weighted);
      add_deviation(&tile, l, mean, residual_sums);
    }
    for (int k = 0; k < terms; k++) {
      FOR_LANES(l) accumulate(&gradient[k], l, product(get(&basis[k], l), get(&r, l)));
    }
  }
  for (int k = 0; k < count; k++) sums[k] = add_lanes(&gradient[k]);
}

/* As moments() of polyfit_kernel.c, for streams: the normal equations lose as many of
 * the 32 digits as the square of the condition number has. */
static void moments(const tsn_polyfit_map *map, const tsn_polyfit_samples *samples,
                    int terms, double *restrict scratch, tsn_dd *sums) {
  lanes_dd *lanes = (lanes_dd *)scratch;
  int powers = 2 * terms - 1, count = powers + terms + 1;
  for (int k = 0; k < count; k++) {
    FOR_LANES(l) set(&lanes[k], l, tsn_dd_from(0));
  }
  for (size_t i = 0; i < samples->n; i += LANES) {
    sample_tile tile;
    lanes_dd twice, current, before;
    load_without_negligible(map, samples, i, &tile);
    FOR_LANES(l) {
      tsn_dd t = mapped(map, tile.u.lane[l]);
      set(&twice, l, (tsn_dd){2 * t.high, 2 * t.low});
      set(&current, l, tsn_dd_from(tile.w.lane[l]));
      tsn_dd first = product_double(t, tile.w.lane[l]);
      set(&before, l, tsn_fast_two_sum(first.high, first.low));
      tsn_dd weighted = tsn_two_product(tile.y.lane[l], tile.w.lane[l]);
      accumulate(&lanes[count - 1], l, product_double(weighted, tile.y.lane[l]));
    }
    for (int k = 0; k < powers; k++) {
      FOR_LANES(l) accumulate(&lanes[k], l, get(&current, l));
      if (k < terms) {
        lanes_dd *y_sum = &lanes[powers + k];
        FOR_LANES(l) {
          accumulate(y_sum, l, product_double(get(&current, l), tile.y.lane[l]));
        }
      }
      FOR_LANES(l) {
        tsn_dd next = three_terms(get(&twice, l), get(&current, l), get(&before, l));
        set(&before, l, get(&current, l));
        set(&current, l, next);
      }
    }
  }
  for (int k = 0; k < count; k++) sums[k] = add_lanes(&lanes[k]);
}

/* The conversion p = sum c_k T_k(shift + scale u) to powers of u. The rows of the matrix
 * that has the coefficients of T_k in row k follow from each other by the same recurrence
 * as T_k:
 *
 *     row_{k+1}[j] = 2 shift row_k[j] + 2 scale row_k[j-1] - row_{k-1}[j]
 *
 * Its entries grow like (2 (|shift| + scale))^k with alternating signs, so that in double
 * the sums would lose that many digits. Three rows are kept. MARGIN entries before u^0
 * are 0 and aligned: row[j-1] needs no special case. */
enum { MARGIN = TSN_POLYFIT_ROW };

/* A polynomial in u: entry MARGIN + j belongs to u^j, and the one before them
 * all is 0. */
typedef struct {
  double *high, *low;
} row_dd;

/* Row `index` in the scratch, cleared. */
static inline row_dd clear_row(double *scratch, int index, int width) {
  double *high = scratch + (ptrdiff_t)index * 2 * (MARGIN + width);
  for (int j = 0; j < 2 * (MARGIN + width); j += WIDTH)
    *(tsn_f64 *)&high[j] = broadcast(0);
  return (row_dd){high, high + MARGIN + width};
}

static inline void set_power(row_dd row, int j, tsn_dd value) {
  row.high[MARGIN + j] = value.high;
  row.low[MARGIN + j] = value.low;
}

/* next = 2 (shift + scale u) current - before. The three rows are different ones. */
static inline void raise_degree(tsn_dd shift, double scale, int width, row_dd current,
                                row_dd before, row_dd next) {
#pragma omp simd
  for (int j = MARGIN; j < MARGIN + width; j++) {
    tsn_dd own = {current.high[j], current.low[j]};
    tsn_dd lower = {current.high[j - 1], current.low[j - 1]};
    tsn_dd minus = {-before.high[j], -before.low[j]};
    tsn_dd sum = tsn_dd_multiply(own, (tsn_dd){2 * shift.high, 2 * shift.low});
    sum = tsn_dd_add(sum, tsn_dd_multiply(lower, tsn_dd_from(2 * scale)));
    sum = tsn_dd_add(sum, minus);
    next.high[j] = sum.high;
    next.low[j] = sum.low;
  }
}

/* sum += factor · row. */
static inline void add_row(tsn_dd factor, int width, row_dd row, row_dd sum) {
#pragma omp simd
  for (int j = MARGIN; j < MARGIN + width; j++) {
    tsn_dd part = tsn_dd_multiply((tsn_dd){row.high[j], row.low[j]}, factor);
    tsn_dd total = tsn_dd_add((tsn_dd){sum.high[j], sum.low[j]}, part);
    sum.high[j] = total.high;
    sum.low[j] = total.low;
  }
}

/* O(terms^2) operations in double-double. Vectors along a row, because the recurrence
 * over k is sequential. `matrix` receives the high parts, for the standard errors; the
 * zeros past the end of a row are overwritten by the next one. */
static void to_monomials(const tsn_polyfit_map *map, int terms, const tsn_dd *c,
                         double *restrict scratch, tsn_dd *monomial, double *matrix) {
  tsn_dd shift = tsn_two_product(-map->center, map->scale);
  int width = (terms + 7) / 8 * 8; /* whole vectors; what is past the end is 0 */
  row_dd rows[3], sum = clear_row(scratch, 3, width);
  for (int k = 0; k < 3; k++) rows[k] = clear_row(scratch, k, width);
  set_power(rows[0], 0, tsn_dd_from(1));
  set_power(rows[1], 0, shift);
  set_power(rows[1], 1, tsn_dd_from(map->scale));
  set_power(sum, 0, c[0]);
  for (int k = 0; k < terms; k++) {
    row_dd current = rows[k % 3];
    if (k >= 2) {
      raise_degree(shift, map->scale, width, rows[(k + 2) % 3], rows[(k + 1) % 3],
                   current);
    }
    if (k >= 1) add_row(c[k], width, current, sum);
    for (int j = 0; j < width; j += WIDTH) {
      *(tsn_f64_at *)&matrix[k * terms + j] = *(tsn_f64 *)&current.high[MARGIN + j];
    }
  }
  for (int j = 0; j < terms; j++) {
    monomial[j] = (tsn_dd){sum.high[MARGIN + j], sum.low[MARGIN + j]};
  }
}

/* The covariance of c is sigma^2 (R^T R)^-1, and monomials are M^T c, with M the matrix of
 * the conversion: their variances are the squared norms of the rows of M^T R^-1, summed by
 * columns of R^-1. O(terms^3), a vector of powers at a time: M is a lower triangle, so that
 * rows and columns before the first power of a vector add 0. Lanes past the last power are
 * of no use. */
static void monomial_variances(const double *inverse, int ld, const double *matrix,
                               int terms, double *variances) {
  for (int j = 0; j < terms; j += WIDTH) {
    tsn_f64 sum = broadcast(0);
    for (int k = j; k < terms; k++) {
      const double *column = inverse + (ptrdiff_t)k * ld;
      tsn_f64 entry = broadcast(0);
      for (int i = j; i <= k; i++) {
        entry += load_part(matrix + (ptrdiff_t)i * terms + j, 0) * column[i];
      }
      sum += entry * entry;
    }
    *(tsn_f64 *)(variances + j) = sum;
  }
}

const tsn_polyfit_dd_kernels TSN_LEVEL(tsn_polyfit_dd_kernels) = {
    .refine = refine,
    .moments = moments,
    .to_monomials = to_monomials,
    .monomial_variances = monomial_variances,
};
