/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of signs, and their normal ranges. There are three kinds:
 *
 *   ratio   scatters about a value: prediction interval of the logarithms by Student's t,
 *           and at least a factor to each side of their mean
 *   level   is small when nothing is wrong, and rises without a bound: from 0 to the
 *           greatest normal level and an amount, and `spread` times the difference of the
 *           extremes
 *   fact    has no range: it is known, or the ledger has its limit (limit.c) */
#include <math.h>

#include "core/chance.h"
#include "core/names.h"
#include "core/sort.h"
#include "diagnosis/causes.h"

enum { FACT, RATIO, LEVEL };

static const struct {
  int rule;
  double factor; /* of a ratio: least width to each side */
  double amount; /* of a level */
  double spread;
} table[TSANOM_DIAGNOSIS_SIGNS] = {
    [TSANOM_DIAGNOSIS_SIGN_TAIL] = {LEVEL, 0, 0.05, 0},
    [TSANOM_DIAGNOSIS_SIGN_SHARE] = {RATIO, 1.02, 0, 0},
    [TSANOM_DIAGNOSIS_SIGN_FAULTS] = {LEVEL, 0, 1e-4, 2},
    [TSANOM_DIAGNOSIS_SIGN_GROWTH] = {LEVEL, 0, 3 << 20, 1},
    [TSANOM_DIAGNOSIS_SIGN_EXIT] = {LEVEL, 0, 0, 0},
    [TSANOM_DIAGNOSIS_SIGN_EARLY] = {LEVEL, 0, 3 << 20, 1}};

const char *tsanom_diagnosis_sign_name(int32_t sign) {
  static const char *const names[] = {TSN_DIAGNOSIS_SIGN_NAMES};
  _Static_assert(sizeof names / sizeof *names == TSANOM_DIAGNOSIS_SIGNS, "names");
  return sign >= 0 && sign < TSANOM_DIAGNOSIS_SIGNS ? names[sign] : "?";
}

static size_t keep_known(double *samples, size_t count, bool positive) {
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    if (positive ? samples[i] > 0 : samples[i] >= 0) samples[known++] = samples[i];
  }
  return known;
}

/* Two samples say too little about the scatter for Student's t: they have the least
 * width. */
static tsanom_hsa_range ratio_range(double *samples, size_t count, double coverage,
                                    double factor) {
  double n = (double)count, sum = 0, squares = 0, reach = 0;
  for (size_t i = 0; i < count; i++) sum += log(samples[i]);
  double mean = sum / n, low = log(samples[0]), high = log(samples[count - 1]);
  for (size_t i = 0; i < count; i++) {
    squares += (log(samples[i]) - mean) * (log(samples[i]) - mean);
  }
  if (count > 2) {
    reach = tsn_student_quantile((1 - coverage) / 2, n - 1) *
            sqrt(squares / (n - 1) * (1 + 1 / n));
    low = high = mean;
  }
  reach = fmax(reach, log(factor));
  return (tsanom_hsa_range){exp(low - reach), exp(high + reach)};
}

tsanom_hsa_range tsn_diagnosis_sign_range(int32_t sign, double *samples, size_t count,
                                          double coverage) {
  count = keep_known(samples, count, table[sign].rule == RATIO);
  if (!count || table[sign].rule == FACT) {
    return (tsanom_hsa_range){-INFINITY, INFINITY};
  }
  tsn_sort(samples, count);
  if (table[sign].rule == RATIO) {
    return ratio_range(samples, count, coverage, table[sign].factor);
  }
  double most = samples[count - 1];
  return (tsanom_hsa_range){
      0, most + table[sign].amount + table[sign].spread * (most - samples[0])};
}
