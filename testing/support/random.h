/* SPDX-License-Identifier: BSD-3-Clause */
/* A seeded generator for tests and benchmarks: SplitMix64 (G. L. Steele,
 * D. Lea and C. H. Flood, OOPSLA 2014). */
#ifndef TSANOM_TEST_RANDOM_H
#define TSANOM_TEST_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* How many of n random cases a test tries: all, or fewer under sanitizers (the preset asan) and where a
 * machine is emulated (scripts/aarch64). */
#ifndef ONE_CASE_IN
#define ONE_CASE_IN 1
#endif
#define CASES(n) (((n) + ONE_CASE_IN - 1) / ONE_CASE_IN)

static inline uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double random_unit(uint64_t *state) {
  return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/* About normal, with mean 0 and standard deviation 1. */
static inline double random_normal(uint64_t *state) {
  double sum = -6;
  for (int k = 0; k < 12; k++) sum += random_unit(state);
  return sum;
}

/* Uniform in [low, high], both included. */
static inline size_t random_between(uint64_t *state, size_t low, size_t high) {
  return low + (size_t)(random_bits(state) % (high - low + 1));
}

#endif
