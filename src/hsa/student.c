/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles of Student's t, by bisection of the distribution function. For integer
 * degrees of freedom that is a finite series (M. Abramowitz and I. A. Stegun, Handbook of
 * Mathematical Functions, 26.7.3-26.7.4), in the angle a with t = sqrt(freedom) tan a.
 * The angle is bounded, so that bisection needs no starting value; it ends when the
 * doubles are neighbors. A step costs O(freedom), which is about the number of normal
 * runs. */
#include <math.h>

#include "hsa/hsa.h"

static const double pi = 3.14159265358979323846;

/* P(|T| <= t) for t = sqrt(freedom) tan(angle). */
static double central_probability(double angle, size_t freedom) {
  double sine = sin(angle), cosine = cos(angle), square = cosine * cosine;
  double sum = 0, term = freedom % 2 ? cosine : 1;
  for (size_t k = freedom % 2 ? 3 : 2; k <= freedom; k += 2) {
    sum += term;
    term *= square * (double)(k - 1) / (double)k;
  }
  return freedom % 2 ? 2 / pi * (angle + sine * sum) : sine * sum;
}

double tsn_hsa_student_quantile(double p, size_t freedom) {
  double central = 2 * p - 1, low = 0, high = pi / 2;
  for (;;) {
    double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    if (central_probability(middle, freedom) < central) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return sqrt((double)freedom) * tan(low);
}
