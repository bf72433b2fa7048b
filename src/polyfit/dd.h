/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double arithmetic: a value is the unevaluated sum high + low of two doubles, the
 * second at most half a unit in the last place of the first: about 106 bits of precision
 * in the exponent range of a double. Each operation consists of error-free
 * transformations,
 *
 *     a + b = s + e  exactly (Knuth; Dekker if |a| >= |b|)
 *     a · b = p + e  exactly (FMA, or Dekker's splitting into halves of 26 bits)
 *
 * and a final normalization. The rounding errors of sums and products are exact, so that
 * it makes no difference to a result whether the machine has an FMA. This fails where e
 * is subnormal, so that callers keep products above 2^-900 (NEGLIGIBLE in
 * polyfit_kernel_dd.c, NEGLIGIBLE_COEFFICIENT in polyfit_model.c), and where splitting
 * overflows, above 2^970.
 *
 * Source: T. J. Dekker, Numer. Math. 18 (1971) 224-242; Y. Hida, X. S. Li and D. H.
 * Bailey, ARITH-15 (2001) 155-162. */
#ifndef TSN_POLYFIT_DD_H
#define TSN_POLYFIT_DD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  double high, low;
} tsn_dd;

static inline tsn_dd tsn_dd_from(double a) {
  return (tsn_dd){a, 0};
}

/* a + b exactly, for |a| >= |b|. */
static inline tsn_dd tsn_fast_two_sum(double a, double b) {
  double sum = a + b;
  return (tsn_dd){sum, b - (sum - a)};
}

/* a + b exactly. */
static inline tsn_dd tsn_two_sum(double a, double b) {
  double sum = a + b;
  double b_part = sum - a;
  return (tsn_dd){sum, (a - (sum - b_part)) + (b - b_part)};
}

/* a * b exactly, for |a|, |b| < 2^970 and a product above 2^-900. */
static inline tsn_dd tsn_two_product(double a, double b) {
  double product = a * b;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return (tsn_dd){product, __builtin_fma(a, b, -product)};
#else
  const double splitter = 0x1p27 + 1;
  double a_scaled = splitter * a, b_scaled = splitter * b;
  double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
  double a_low = a - a_high, b_low = b - b_high;
  double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high);
  return (tsn_dd){product, error + a_low * b_low};
#endif
}

static inline tsn_dd tsn_dd_negate(tsn_dd a) {
  return (tsn_dd){-a.high, -a.low};
}

static inline tsn_dd tsn_dd_add(tsn_dd a, tsn_dd b) {
  tsn_dd high = tsn_two_sum(a.high, b.high);
  tsn_dd low = tsn_two_sum(a.low, b.low);
  high = tsn_fast_two_sum(high.high, high.low + low.high);
  return tsn_fast_two_sum(high.high, high.low + low.low);
}

static inline tsn_dd tsn_dd_subtract(tsn_dd a, tsn_dd b) {
  return tsn_dd_add(a, tsn_dd_negate(b));
}

/* The product of the low parts, below 2^-106 of the result, is left out. */
static inline tsn_dd tsn_dd_multiply(tsn_dd a, tsn_dd b) {
  tsn_dd product = tsn_two_product(a.high, b.high);
  return tsn_fast_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

/* One step of long division: the rest of the quotient of the high parts gives the low
 * part. */
static inline tsn_dd tsn_dd_divide(tsn_dd a, tsn_dd b) {
  double quotient = a.high / b.high;
  tsn_dd rest = tsn_dd_subtract(a, tsn_dd_multiply(b, tsn_dd_from(quotient)));
  return tsn_fast_two_sum(quotient, rest.high / b.high);
}

/* One Newton step from the square root of the high part; 0 for a negative rounding error
 * of 0. */
static inline tsn_dd tsn_dd_sqrt(tsn_dd a) {
  double root = sqrt(a.high);
  tsn_dd rest = tsn_dd_subtract(a, tsn_two_product(root, root));
  return root > 0 ? tsn_fast_two_sum(root, rest.high / (2 * root)) : tsn_dd_from(0);
}

/* a 2^exponent, rounded once if it is subnormal. ldexp() is a function call; in the
 * common case a product with a power of two, built from its bits, gives the same. */
static inline double tsn_scale(double a, int exponent) {
  double size = fabs(a);
  int moderate = size == 0 || (size > 0x1p-400 && size < 0x1p400);
  if (exponent < -600 || exponent > 600 || !moderate) return ldexp(a, exponent);
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return a * power;
}

#endif
