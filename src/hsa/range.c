/* SPDX-License-Identifier: BSD-3-Clause */
/* Normal ranges from samples of normal features.
 *
 * A range must contain the feature of the next normal run. So it is a prediction
 * interval, mean -+ t s sqrt(1 + 1/n), and not the confidence interval of the mean, whose
 * width tends to 0 as runs are added, so that at last every normal run lies outside:
 *
 *     samples        .   . : .  .
 *     confidence           |-|             of the mean
 *     prediction    |--------------|       of the next sample
 *
 * Ratios enter by their logarithms; distances, which are >= 0, have a one-sided range
 * from 0.
 *
 * Source: G. J. Hahn and W. Q. Meeker, Statistical Intervals (1991). */
#include <math.h>

#include "core/chance.h"
#include "core/sort.h"
#include "hsa/hsa.h"

/* Margin for the rounding of a feature that is the same in all runs. */
static const double rounding = 1e-12;

static bool is_distance(int32_t feature) {
  return feature == TSANOM_HSA_DTW || feature == TSANOM_HSA_LB_KEOGH;
}

/* Ratios of positive numbers are compared by their logarithms: 2 and 1/2 are equally far
 * from 1. */
static bool is_logarithmic(int32_t feature, const tsanom_hsa_options *options) {
  if (feature == TSANOM_HSA_LHR) {
    return options->local_rate == TSANOM_HSA_LOCAL_RATE_RATIO;
  }
  return !is_distance(feature);
}

/* For samples that are about normal: G. J. Hahn and W. Q. Meeker, Statistical Intervals
 * (1991), 4.7.1. It needs few samples, but with n = 2 or 3 the quantile of t is large and
 * the range wide. */
static tsanom_hsa_range student_range(const double *samples, size_t count,
                                      double coverage, bool one_sided, double *middle) {
  double n = (double)count, sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += samples[i];
  double mean = sum / n;
  for (size_t i = 0; i < count; i++) {
    squares += (samples[i] - mean) * (samples[i] - mean);
  }
  double t = tsn_student_quantile((1 - coverage) / (one_sided ? 1 : 2), n - 1);
  double reach = t * sqrt(squares / (n - 1)) * sqrt(1 + 1 / n);
  *middle = mean;
  return (tsanom_hsa_range){mean - reach, mean + reach};
}

/* A new sample falls between order statistics r and n + 1 - r with probability
 * (n + 1 - 2r) / (n + 1), whatever the distribution (ibid., 5.4). */
static tsanom_hsa_range order_range(const double *samples, size_t count, double coverage,
                                    bool one_sided, double *middle, bool *partial) {
  double tail = (1 - coverage) / (one_sided ? 1 : 2);
  /* The sum 1 - coverage + coverage may miss 1 by a rounding. */
  size_t r = (size_t)((double)(count + 1) * tail * (1 + rounding));
  if (r < 1) *partial = true;
  if (r > (count + 1) / 2) r = (count + 1) / 2;
  if (r < 1) r = 1;
  *middle = samples[count / 2];
  return (tsanom_hsa_range){samples[r - 1], samples[count - r]};
}

/* Widen a range to the least margin of options: a few similar runs scatter less than
 * later ones. The margin of LB_Keogh, a squared distance, is squared. Ratios extend by
 * the factor 1 + margin to both sides. */
static void widen(tsanom_hsa_range *range, int32_t feature, double middle, double margin,
                  double unit, bool logarithmic) {
  double reach = unit * (feature == TSANOM_HSA_LB_KEOGH ? margin * margin : margin);
  if (logarithmic) {
    reach = log1p(margin);
  } else if (!is_distance(feature)) {
    reach *= fmax(1, fabs(middle));
  }
  reach = fmax(reach, rounding);
  range->low = fmin(range->low, middle - reach);
  range->high = fmax(range->high, middle + reach);
}

/* Without a spread (fewer than two samples), the range is single_run_margin around "the
 * same": 1 for a ratio, 0 for its logarithm or a distance. The beat ratio has no margin
 * otherwise: many programs beat equally often in every run, and then one missing beat is
 * significant. */
tsanom_hsa_range tsn_hsa_learn_range(int32_t feature, double *samples, size_t count,
                                     double unit, const tsanom_hsa_options *options,
                                     bool *partial) {
  bool distance = is_distance(feature), logarithmic = is_logarithmic(feature, options);
  double margin = feature == TSANOM_HSA_BEAT_RATIO ? 0 : options->margin;
  double middle = distance || logarithmic ? 0 : 1;
  tsanom_hsa_range range = {middle, middle};
  tsn_sort(samples, count);
  if (logarithmic) {
    for (size_t i = 0; i < count; i++) samples[i] = log(samples[i]);
  }
  if (count < 2) {
    margin = options->single_run_margin;
    *partial = true;
  } else if (options->range == TSANOM_HSA_RANGE_STUDENT) {
    range = student_range(samples, count, options->coverage, distance, &middle);
  } else {
    range = order_range(samples, count, options->coverage, distance, &middle, partial);
  }
  widen(&range, feature, middle, margin, unit, logarithmic);
  if (logarithmic) {
    range.low = exp(range.low);
    range.high = exp(range.high);
  }
  if (distance) range.low = 0;
  return range;
}
