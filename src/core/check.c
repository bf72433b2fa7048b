/* SPDX-License-Identifier: BSD-3-Clause */
/* The exponent of infinities and NaN is all ones: adding one to it reaches the sign. The
 * samples are looked at as integers, because a caller may trap invalid operations, of
 * which the difference of two infinities is one. Results are collected in lanes that the
 * compiler can keep in vectors. A test and a branch for each sample would prevent that;
 * since nearly all calls find no bad sample, an early end gains nothing. The samples that
 * are left over are the last of the array together with some that have been seen
 * before. */
#include "core/check.h"

#include <stdint.h>
#include <string.h>

enum { LANES = 16 };

#define CHECKS(suffix, type, bits, exponent)                                \
  static bits reach##suffix(const type *sample) {                           \
    const bits ones = exponent;                                             \
    bits value;                                                             \
    memcpy(&value, sample, sizeof value);                                   \
    return (value & ones) + (ones & (~ones + 1));                           \
  }                                                                         \
                                                                            \
  static bool is_finite##suffix(bits reached) {                             \
    return reached >> (8 * sizeof reached - 1) == 0;                        \
  }                                                                         \
                                                                            \
  bool tsn_all_finite##suffix(const type *samples, size_t count) {          \
    if (count < 4 * LANES) {                                                \
      bits any = 0;                                                         \
      for (size_t i = 0; i < count; i++) any |= reach##suffix(samples + i); \
      return is_finite##suffix(any);                                        \
    }                                                                       \
    bits lane[LANES] = {0};                                                 \
    for (size_t i = 0; i < count; i += LANES) {                             \
      const type *row = samples + (i + LANES <= count ? i : count - LANES); \
      for (size_t k = 0; k < LANES; k++) lane[k] |= reach##suffix(row + k); \
    }                                                                       \
    for (size_t half = LANES / 2; half > 0; half /= 2) {                    \
      for (size_t k = 0; k < half; k++) lane[k] |= lane[k + half];          \
    }                                                                       \
    return is_finite##suffix(lane[0]);                                      \
  }                                                                         \
                                                                            \
  size_t tsn_first_nonfinite##suffix(const type *samples, size_t count) {   \
    size_t i = 0;                                                           \
    while (i < count && is_finite##suffix(reach##suffix(samples + i))) i++; \
    return i;                                                               \
  }

CHECKS(, double, uint64_t, UINT64_C(0x7FF0000000000000))
CHECKS(_f32, float, uint32_t, UINT32_C(0x7F800000))
