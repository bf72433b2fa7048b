/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians over the threads of a run, without memory: a rank is selected bit by bit, since
 * the bit patterns of numbers >= 0 have the order of the numbers.
 *
 * The median of all values but one is that of rank m or m + 1 of all, whichever the one
 * leaves in the middle:
 *
 *   all      x0 ... xm xm+1 ... xn       without a value <= xm:  xm+1
 *                                        without another:        xm                   */
#include <math.h>
#include <string.h>

#include "diagnosis/causes.h"

double tsn_hsa_team_value(const tsanom_hsa_signs *signs, int32_t sign) {
  return sign == TSN_HSA_BEATS ? (double)signs->beats : signs->value[sign];
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* 64 passes over the threads. */
static double select_rank(const tsanom_hsa_signs *signs, size_t threads, int32_t sign,
                          size_t rank) {
  uint64_t found = 0;
  for (unsigned shift = 64; shift-- > 0;) {
    size_t zeros = 0;
    for (size_t t = 0; t < threads; t++) {
      double value = tsn_hsa_team_value(&signs[t], sign);
      if (!isnan(value) && bits_of(value) >> shift == found >> shift) zeros++;
    }
    if (rank < zeros) continue;
    rank -= zeros;
    found |= UINT64_C(1) << shift;
  }
  double value;
  memcpy(&value, &found, sizeof value);
  return value;
}

tsn_hsa_medians tsn_hsa_team_medians(const tsanom_hsa_signs *signs, size_t threads,
                                     int32_t sign) {
  size_t known = 0;
  for (size_t t = 0; t < threads; t++) {
    if (!isnan(tsn_hsa_team_value(&signs[t], sign))) known++;
  }
  if (known < 2) return (tsn_hsa_medians){NAN, NAN};
  size_t middle = (known - 2) / 2;
  return (tsn_hsa_medians){select_rank(signs, threads, sign, middle),
                           select_rank(signs, threads, sign, middle + 1)};
}

double tsn_hsa_median_of_others(const tsn_hsa_medians *medians, double own) {
  return own <= medians->low ? medians->high : medians->low;
}
