/* SPDX-License-Identifier: BSD-3-Clause */
/* Folding: a series minus its moving mean over p samples is cut into stretches of p
 * samples, and the mean stretch is the estimate of what repeats.
 *
 *     R^2(p) = sum_j count_j mean_j^2 / sum_t x[t]^2
 *
 * is the share of the variance that it explains. p means also explain p/N of the variance
 * of noise, which the adjusted R^2 = 1 - (1 - R^2) (N - 1) / (N - p) leaves out. All
 * samples count, so that the maximum is sharper than that of a dip of d(m), which
 * compares samples in pairs. */
#include "dpd/dpd_fold.h"

/* Adjusted R^2 of the fold by p; sums[i] = x[0] + ... + x[i-1]. */
static double explained(const double *x, size_t n, size_t p, const double *sums,
                        double *bins) {
  size_t half = p / 2, count = n - 2 * half;
  double total = 0, fold = 0;
  for (size_t j = 0; j < p; j++) bins[j] = 0;
  for (size_t begin = half; begin + half < n; begin += p) {
    for (size_t j = 0; j < p && begin + j + half < n; j++) {
      size_t t = begin + j;
      double around = sums[t + half + 1] - sums[t - half];
      if (p % 2 == 0) around -= (x[t - half] + x[t + half]) / 2;
      double own = x[t] - around / (double)p;
      bins[j] += own;
      total += own * own;
    }
  }
  for (size_t j = 0; j < p; j++) {
    size_t number = count / p + (j < count % p);
    fold += bins[j] * bins[j] / (double)number;
  }
  if (!(total > 0)) return 0;
  return 1 - (1 - fold / total) * (double)(count - 1) / (double)(count - p);
}

size_t tsn_dpd_fold(const double *x, size_t n, size_t low, size_t high, double *sums,
                    double *bins) {
  size_t best = low;
  double most = 0;
  sums[0] = 0;
  for (size_t i = 0; i < n; i++) sums[i + 1] = sums[i] + x[i];
  for (size_t p = low; p <= high; p++) {
    double own = explained(x, n, p, sums, bins);
    if (own <= most && p > low) continue;
    most = own;
    best = p;
  }
  return best;
}
