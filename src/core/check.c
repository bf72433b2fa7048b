/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/check.h"

#include <math.h>

/* x - x is 0 for every finite x and NaN otherwise; the differences are added up in lanes
 * that the compiler can keep in vectors. A test and a branch for each sample would
 * prevent that; since nearly all calls find no bad sample, an early end gains nothing.
 * The samples that are left over are the last of the array together with some that have
 * been added before: a second addition of 0 changes nothing, and no scalar loop is
 * needed. */
enum { LANES = 16 };

#define CHECKS(suffix, type)                                                \
  bool tsn_all_finite##suffix(const type *samples, size_t count) {          \
    if (count < LANES) {                                                    \
      type sum = 0;                                                         \
      for (size_t i = 0; i < count; i++) sum += samples[i] - samples[i];    \
      return sum == 0;                                                      \
    }                                                                       \
    type lane[LANES] = {0};                                                 \
    for (size_t i = 0; i < count; i += LANES) {                             \
      const type *row = samples + (i + LANES <= count ? i : count - LANES); \
      for (size_t k = 0; k < LANES; k++) lane[k] += row[k] - row[k];        \
    }                                                                       \
    for (size_t half = LANES / 2; half > 0; half /= 2) {                    \
      for (size_t k = 0; k < half; k++) lane[k] += lane[k + half];          \
    }                                                                       \
    return lane[0] == 0;                                                    \
  }                                                                         \
                                                                            \
  size_t tsn_first_nonfinite##suffix(const type *samples, size_t count) {   \
    size_t i = 0;                                                           \
    while (i < count && isfinite(samples[i])) i++;                          \
    return i;                                                               \
  }

CHECKS(, double)
CHECKS(_f32, float)
