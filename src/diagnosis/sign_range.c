/* SPDX-License-Identifier: BSD-3-Clause */
/* Normal ranges of signs. There are two kinds:
 *
 *   ratio   scatters about a value: prediction interval of the logarithms by Student's t,
 *           and at least a factor to each side of their mean
 *   level   is small when nothing is wrong, and rises without a bound: from 0 to the
 *           greatest normal level times a factor plus an amount, and at least a floor
 *
 * The factors and floors are those of docs/hsa.md. The floors are what a disturbance of a
 * normal run reaches now and then, however few disturbances the normal runs had. */
#include <math.h>

#include "core/chance.h"
#include "core/sort.h"
#include "diagnosis/causes.h"

typedef struct {
  bool is_ratio;
  double factor; /* of a ratio: least width to each side */
  double amount; /* of a level: added */
  double spread; /* of a level: times the difference of the extremes, added */
  double floor;
} kind;

static const kind kinds[TSANOM_HSA_SIGNS] = {
    [TSANOM_HSA_SIGN_INTERVAL] = {true, 1.4, 0, 0, 0},
    [TSANOM_HSA_SIGN_GAP] = {false, 5, 0, 0, 0.25},
    [TSANOM_HSA_SIGN_SILENCE] = {false, 5, 0, 0, 0.25},
    [TSANOM_HSA_SIGN_TAIL] = {false, 1, 0.05, 0, 0},
    [TSANOM_HSA_SIGN_SHARE] = {true, 1.02, 0, 0, 0},
    [TSANOM_HSA_SIGN_TEAM_INTERVAL] = {true, 1.25, 0, 0, 0},
    [TSANOM_HSA_SIGN_CPU] = {true, 1.4, 0, 0, 0},
    [TSANOM_HSA_SIGN_CPU_QUARTILE] = {true, 1.4, 0, 0, 0},
    [TSANOM_HSA_SIGN_TEAM_CPU] = {true, 1.25, 0, 0, 0},
    [TSANOM_HSA_SIGN_WAIT] = {false, 2, 0, 0, 0.15},
    [TSANOM_HSA_SIGN_BLOCKED] = {false, 1, 0.2, 0, 0},
    [TSANOM_HSA_SIGN_FAULTS] = {false, 1, 1e-4, 2, 0},
    [TSANOM_HSA_SIGN_GROWTH] = {false, 1, 3 << 20, 1, 0},
    [TSANOM_HSA_SIGN_GROWTH_PER_BEAT] = {false, 2, 0, 1, 0},
    [TSANOM_HSA_SIGN_BLOCKED_GAP] = {false, 2, 0, 0, 0.4},
    [TSANOM_HSA_SIGN_EXIT] = {false, 1, 0, 0, 0}};

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

tsanom_hsa_range tsn_hsa_sign_range(int32_t sign, double *samples, size_t count,
                                    double coverage) {
  const kind *k = &kinds[sign];
  count = keep_known(samples, count, k->is_ratio);
  if (!count) return (tsanom_hsa_range){-INFINITY, INFINITY};
  tsn_sort(samples, count);
  if (k->is_ratio) return ratio_range(samples, count, coverage, k->factor);
  double most = samples[count - 1];
  double high = k->factor * most + k->amount + k->spread * (most - samples[0]);
  return (tsanom_hsa_range){0, fmax(high, k->floor)};
}
