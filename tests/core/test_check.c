/* SPDX-License-Identifier: BSD-3-Clause */
/* NaN and infinities are found at each place of series of each length up to 100, in both
 * precisions. No finite number is taken for one of them, not even the largest or a
 * subnormal one. */
#include <float.h>
#include <math.h>

#include "core/check.h"
#include "support/check.h"
#include "support/random.h"

enum { LONGEST = 100 };

Test(check, finds_one_bad_sample_wherever_it_is) {
  const double bad[] = {NAN, INFINITY, -INFINITY};
  const double good[] = {0, -0.0, 1, DBL_MAX, -DBL_MAX, DBL_MIN, 4e-320};
  uint64_t seed = 1;
  for (size_t n = 0; n <= LONGEST; n++) {
    double x[LONGEST];
    float f[LONGEST];
    for (size_t i = 0; i < n; i++) {
      x[i] = good[random_between(&seed, 0, 6)];
      f[i] = (float)random_unit(&seed) * FLT_MAX;
    }
    cr_assert(tsn_all_finite(x, n) && tsn_all_finite_f32(f, n));
    for (size_t at = 0; at < n; at++) {
      double value = bad[at % 3];
      double kept = x[at];
      float kept_f32 = f[at];
      x[at] = value;
      f[at] = (float)value;
      cr_assert(!tsn_all_finite(x, n) && !tsn_all_finite_f32(f, n));
      x[at] = kept;
      f[at] = kept_f32;
    }
  }
}
