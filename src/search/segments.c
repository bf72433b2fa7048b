/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of a query, widened to intervals that hold the exact sums in spite of rounding, of
 * the candidate's sums too: bounds by segments then need no margin of their own. */
#include "search/segments.h"

#include <float.h>

static void sum_to(const tsn_search_kernels *kernels, const double *x, tsn_search_cut cut,
                   double margin, double *work, double *to) {
  kernels->segment_sums(x + cut.first, cut.count, cut.length, work);
  for (size_t s = 0; s < cut.count; s++) to[s] = work[s] + margin;
}

/* The error of a pairwise sum of m samples is at most m log2(m) u M, where M is the
 * largest sample and u the unit roundoff; the sum of the candidate has the same error. */
void tsn_search_sum_query(const tsn_search_kernels *kernels, const double *query,
                          const double *lower, const double *upper, size_t n,
                          double largest, double *work, tsn_search_query_sums *sums) {
  tsn_search_cut cut = tsn_search_cut_of(n);
  sums->count = cut.count;
  if (largest > DBL_MAX / 4 / (double)n) {
    sums->count = 0;
    return;
  }
  double levels = 4;
  for (size_t length = cut.length; length > 1; length /= 2) levels++;
  double margin = 2 * levels * DBL_EPSILON * (double)cut.length * largest;
  sum_to(kernels, query, cut, -margin, work, sums->low);
  sum_to(kernels, query, cut, margin, work, sums->high);
  sum_to(kernels, lower, cut, -margin, work, sums->lowest);
  sum_to(kernels, upper, cut, margin, work, sums->highest);
}
