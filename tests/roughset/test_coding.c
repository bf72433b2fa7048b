/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts and codes of numeric columns. */
#include <math.h>
#include <string.h>
#include <tsanom/roughset.h>

#include "support/check.h"
#include "support/polls.h"
#include "support/random.h"

enum { LONGEST = 60 };

static void fill(double *x, size_t n, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 4;
  for (size_t i = 0; i < n; i++) {
    double u = random_unit(seed);
    x[i] = kind == 0   ? u * 1e308 - 5e307
           : kind == 1 ? floor(u * 4) - 2
           : kind == 2 ? -0.0
                       : u;
  }
}

static size_t cut(const double *x, const int32_t *decision, size_t n, int32_t method,
                  size_t bins, double *cuts) {
  size_t found;
  CHECK_STATUS(
      tsanom_roughset_cuts(x, decision, n, method, bins, NULL, cuts, LONGEST, &found),
      TSANOM_OK);
  return found;
}

/* More intervals than samples are as many. A call that is stopped has found what it counted. */
Test(roughset_coding, frequencies_of_more_intervals_than_samples, .timeout = 60) {
  uint64_t seed = 43;
  for (int trial = 0; trial < CASES(500); trial++) {
    double x[LONGEST], cuts[2][LONGEST];
    size_t n = random_between(&seed, 1, LONGEST), found;
    fill(x, n, &seed);
    size_t count = cut(x, NULL, n, TSANOM_ROUGHSET_EQUAL_FREQUENCY, n, cuts[0]);
    size_t bins = trial % 2 ? INT32_MAX : random_between(&seed, n, 3 * n);
    cr_assert(cut(x, NULL, n, TSANOM_ROUGHSET_EQUAL_FREQUENCY, bins, cuts[1]) == count);
    cr_assert(memcmp(cuts[0], cuts[1], count * sizeof *cuts[0]) == 0);
    test_polls p = {.stop_at = 1};
    tsanom_exec exec = exec_polled(test_poll, &p);
    found = LONGEST;
    CHECK_STATUS(tsanom_roughset_cuts(x, NULL, n, TSANOM_ROUGHSET_EQUAL_FREQUENCY, bins,
                                      &exec, cuts[1], LONGEST, &found),
                 TSANOM_STOPPED);
    cr_assert(found == 0);
  }
}

Test(roughset_coding, cuts_separate_samples_and_codes_count_them) {
  uint64_t seed = 41;
  for (int trial = 0; trial < CASES(5000); trial++) {
    double x[LONGEST], cuts[LONGEST];
    int32_t decision[LONGEST], codes[2 * LONGEST];
    size_t n = random_between(&seed, 1, LONGEST), bins = random_between(&seed, 1, 12);
    fill(x, n, &seed);
    for (size_t i = 0; i < n; i++) decision[i] = (int32_t)(random_bits(&seed) % 3);
    int32_t method = trial % 3;
    size_t found = cut(x, decision, n, method, bins, cuts);
    cr_assert(found < bins);
    CHECK_STATUS(tsanom_roughset_code(x, n, cuts, found, codes, 2), TSANOM_OK);
    size_t low = 0, high = 0;
    for (size_t i = 0; i < n; i++) {
      int32_t expected = 0;
      for (size_t k = 0; k < found; k++) expected += cuts[k] <= x[i];
      cr_assert(codes[2 * i] == expected);
      low += codes[2 * i] == 0;
      high += codes[2 * i] == (int32_t)found;
    }
    cr_assert(low > 0 && high > 0, "trial %d: an outer interval is empty", trial);
  }
}

Test(roughset_coding, equal_widths_and_frequencies) {
  double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10}, cuts[9];
  cr_assert(cut(x, NULL, 10, TSANOM_ROUGHSET_EQUAL_WIDTH, 4, cuts) == 3);
  cr_assert(cuts[0] == 2.5 && cuts[1] == 5 && cuts[2] == 7.5);
  cr_assert(cut(x, NULL, 10, TSANOM_ROUGHSET_EQUAL_FREQUENCY, 2, cuts) == 1);
  cr_assert(cuts[0] == 4.5);
  cr_assert(cut(x, NULL, 10, TSANOM_ROUGHSET_EQUAL_FREQUENCY, 1000, cuts) == 9);
  double tied[] = {1, 1, 1, 1, 1, 1, 2, 3};
  cr_assert(cut(tied, NULL, 8, TSANOM_ROUGHSET_EQUAL_FREQUENCY, 2, cuts) == 1);
  cr_assert(cuts[0] == 1.5);
  double constant[] = {4, 4, 4};
  cr_assert(cut(constant, NULL, 3, TSANOM_ROUGHSET_EQUAL_WIDTH, 5, cuts) == 0);
  cr_assert(cut(constant, NULL, 3, TSANOM_ROUGHSET_EQUAL_FREQUENCY, 5, cuts) == 0);
}

Test(roughset_coding, entropy_cuts_where_decisions_change_and_not_in_noise) {
  double x[LONGEST], cuts[LONGEST];
  int32_t decision[LONGEST];
  for (int i = 0; i < LONGEST; i++) {
    x[i] = (double)(i * 37 % LONGEST);
    decision[i] = x[i] < 20 ? 7 : x[i] < 45 ? 8 : 7;
  }
  cr_assert(cut(x, decision, LONGEST, TSANOM_ROUGHSET_ENTROPY, 0, cuts) == 2);
  cr_assert(cuts[0] == 19.5 && cuts[1] == 44.5);
  cr_assert(cut(x, decision, LONGEST, TSANOM_ROUGHSET_ENTROPY, 2, cuts) == 1);
  for (int i = 0; i < LONGEST; i++) decision[i] = (int)x[i] % 2;
  cr_assert(cut(x, decision, LONGEST, TSANOM_ROUGHSET_ENTROPY, 0, cuts) == 0);
}

static double entropy(double ones, double all) {
  double p = ones / all, q = 1 - p;
  return (p > 0 ? -p * log2(p) : 0) + (q > 0 ? -q * log2(q) : 0);
}

/* Gain less the least one of Fayyad and Irani, of n different samples whose decisions are
 * bits, cut before sample `at`; *gain is the former. */
static double surplus_of(unsigned bits, int n, int at, double *gain) {
  double ones[2] = {0}, size[2] = {at, n - at}, h[2], kinds[2];
  for (int i = 0; i < n; i++) ones[i >= at] += bits >> i & 1;
  double all = entropy(ones[0] + ones[1], n), delta = log2(7) - 2 * all;
  *gain = all;
  for (int side = 0; side < 2; side++) {
    h[side] = entropy(ones[side], size[side]);
    kinds[side] = h[side] > 0 ? 2 : 1;
    delta += kinds[side] * h[side];
    *gain -= size[side] / n * h[side];
  }
  return *gain - (log2(n - 1) + delta) / n;
}

Test(roughset_coding, entropy_cuts_if_the_gain_exceeds_the_least_one) {
  enum { MOST = 11 };
  double x[MOST], cuts[MOST];
  for (int i = 0; i < MOST; i++) x[i] = i;
  for (int n = 3; n <= MOST; n++) {
    for (unsigned bits = 1; bits + 1 < 1u << n; bits++) {
      int32_t decision[MOST];
      for (int i = 0; i < n; i++) decision[i] = (int32_t)(bits >> i & 1);
      double best = -1, gain, surplus = 0;
      int ties = 0;
      for (int at = 1; at < n; at++) {
        double own = surplus_of(bits, n, at, &gain);
        if (gain > best - 1e-9 && gain < best + 1e-9) ties++;
        if (gain >= best + 1e-9) best = gain, surplus = own, ties = 0;
      }
      if (ties > 0 || fabs(surplus) < 1e-9) continue;
      size_t found = cut(x, decision, (size_t)n, TSANOM_ROUGHSET_ENTROPY, 0, cuts);
      cr_assert((found > 0) == (surplus > 0), "%d samples, decisions %x: %zu", n, bits,
                found);
    }
  }
}

Test(roughset_coding, codes_of_missing_and_infinite_samples) {
  double x[] = {NAN, -INFINITY, 1, INFINITY}, cuts[] = {0, 1};
  int32_t codes[4];
  CHECK_STATUS(tsanom_roughset_code(x, 4, cuts, 2, codes, 1), TSANOM_OK);
  cr_assert(codes[0] == TSANOM_ROUGHSET_MISSING && codes[1] == 0 && codes[2] == 2 &&
            codes[3] == 2);
  double falling[] = {1, 1};
  CHECK_STATUS(tsanom_roughset_code(x, 4, falling, 2, codes, 1), TSANOM_E_ORDER);
  CHECK_STATUS(tsanom_roughset_code(x, 4, x, 1, codes, 1), TSANOM_E_NONFINITE);
}
