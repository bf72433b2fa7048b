/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_valley.h"

/* Monotone in both arguments, rounding included. */
double tsn_valley_threshold(double least, double mean) {
  return least * 0.75 + mean * 0.25;
}

/* A valley that reaches the last complete delay may go on. The threshold
 * between min and mean, which selects the first of equally deep minima, follows that of
 * the YIN pitch detector (A. de Cheveigne and H. Kawahara, J. Acoust. Soc. Am. 111 (2002)
 * 1917-1930). */
size_t tsn_valley_first(const tsn_sums *sums, double threshold) {
  size_t m = 1, lags = tsn_sums_complete(sums);
  while (m <= lags && tsn_sums_slid(sums, m) <= threshold) m++;
  while (m <= lags && tsn_sums_slid(sums, m) > threshold) m++;
  size_t lowest = m <= lags ? m : 0;
  for (; m <= lags && tsn_sums_slid(sums, m) <= threshold; m++) {
    if (tsn_sums_slid(sums, m) < tsn_sums_slid(sums, lowest)) lowest = m;
  }
  return m <= lags || lags == sums->max_period ? lowest : 0;
}
