/* SPDX-License-Identifier: BSD-3-Clause */
/* From Chebyshev polynomials of the mapped x to powers of the raw x. The
 * powers cancel by many digits when the samples lie far from 0, hence the
 * double-double arithmetic. */
#include "polyfit/polyfit_monomial.h"

#include <tsanom/polyfit.h>

/* next = 2 (shift + slope x) current - previous, as polynomials in x. */
static void three_terms(tsn_dd shift, double slope, int terms, const tsn_dd *current,
                        const tsn_dd *previous, tsn_dd *next) {
  for (int j = 0; j < terms; j++) {
    tsn_dd sum = tsn_dd_multiply(shift, current[j]);
    if (j > 0) {
      tsn_dd raised = tsn_dd_multiply(tsn_dd_from(slope), current[j - 1]);
      sum = tsn_dd_add(sum, raised);
    }
    sum = (tsn_dd){2 * sum.high, 2 * sum.low};
    next[j] = tsn_dd_subtract(sum, previous[j]);
  }
}

void tsn_polyfit_to_monomials(double center, double scale, int terms,
                              const tsn_dd *coefficient, tsn_dd *monomial,
                              double *matrix) {
  tsn_dd polynomial[3][TSANOM_POLYFIT_TERMS] = {0};
  tsn_dd shift = tsn_two_product(-center, scale);
  for (int j = 0; j < terms; j++) monomial[j] = tsn_dd_from(0);
  for (int k = 0; k < terms; k++) {
    tsn_dd *current = polynomial[k % 3];
    if (k == 0) {
      current[0] = tsn_dd_from(1);
    } else if (k == 1) {
      current[0] = shift;
      current[1] = tsn_dd_from(scale);
    } else {
      three_terms(shift, scale, k + 1, polynomial[(k + 2) % 3], polynomial[(k + 1) % 3],
                  current);
    }
    for (int j = 0; j < terms; j++) {
      matrix[k * terms + j] = j <= k ? current[j].high : 0;
      if (j > k) continue;
      tsn_dd part = tsn_dd_multiply(coefficient[k], current[j]);
      monomial[j] = tsn_dd_add(monomial[j], part);
    }
  }
}
