/* SPDX-License-Identifier: BSD-3-Clause */
/* Logarithms with the same bits on every machine, which those of C libraries
 * need not have: sums of a fixed number of terms, in a fixed order. */
#include "core/logarithm.h"

#include <stdint.h>
#include <string.h>

static const double ln2 = 0.69314718055994530942;
static const double pi = 3.14159265358979323846;

/* The exponent apart, log2 m = 2 / ln 2 atanh((m - 1) / (m + 1)) for sqrt(1/2) < m <
 * sqrt(2). */
double tsn_log2(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  bits = (bits & 0xfffffffffffff) | UINT64_C(0x3ff0000000000000);
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m /= 2;
    exponent++;
  }
  double s = (m - 1) / (m + 1), square = s * s, sum = 0;
  for (int k = 21; k > 0; k -= 2) sum = sum * square + 1. / k;
  return exponent + 2 / ln2 * s * sum;
}

/* Stirling's series from 16 on. */
double tsn_log2_gamma(double x) {
  double below = 1;
  while (x < 16) {
    below *= x;
    x += 1;
  }
  double square = x * x;
  double series =
      (1 / 12. - (1 / 360. - (1 / 1260. - 1 / 1680. / square) / square) / square) / x;
  return (x - .5) * tsn_log2(x) + (series - x) / ln2 + .5 * tsn_log2(2 * pi) -
         tsn_log2(below);
}
