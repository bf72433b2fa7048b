/* SPDX-License-Identifier: BSD-3-Clause */
/* Positive region, dependency, significance and rules against the definitions. */
#include "roughset/naive.h"
#include "roughset/random_table.h"
#include "support/check.h"

Test(roughset_regions, dependency_and_significance_are_the_definition) {
  uint64_t seed = 31;
  for (int trial = 0; trial < CASES(3000); trial++) {
    random_table r = make_random_table(&seed);
    bool wild = r.options.missing == TSANOM_ROUGHSET_WILDCARD;
    uint64_t all = ALL_ATTRIBUTES(&r.table);
    uint64_t set = trial % 4 == 0 ? all : random_bits(&seed) & all;
    const uint64_t *subset = trial % 4 == 0 ? NULL : &set;
    int32_t positive[ROWS];
    size_t size, rows = r.table.rows, expected = naive_positive(&r.table, wild, set);
    double gamma, significance[ATTRIBUTES];
    CHECK_STATUS(tsanom_roughset_dependency(&r.table, subset, use_missing(&r.options),
                                            NULL, positive, &size, &gamma),
                 TSANOM_OK);
    cr_assert(size == expected && gamma == (double)expected / (double)rows);
    for (size_t x = 0; x < rows; x++) {
      cr_assert(positive[x] == naive_certain(&r.table, set, wild, x));
    }
    CHECK_STATUS(tsanom_roughset_significance(&r.table, subset, use_missing(&r.options),
                                              NULL, significance),
                 TSANOM_OK);
    for (size_t a = 0; a < r.table.attributes; a++) {
      size_t other = naive_positive(&r.table, wild, set ^ (uint64_t)1 << a);
      size_t change = other > expected ? other - expected : expected - other;
      cr_assert(significance[a] == (double)change / (double)rows, "trial %d", trial);
    }
  }
}

Test(roughset_regions, rules_are_the_combinations_that_there_are) {
  uint64_t seed = 32;
  for (int trial = 0; trial < CASES(3000); trial++) {
    random_table r = make_random_table(&seed);
    const tsanom_roughset_table *t = &r.table;
    uint64_t set = random_bits(&seed) & ALL_ATTRIBUTES(t);
    tsanom_roughset_rule rules[ROWS];
    size_t count, next = 0;
    CHECK_STATUS(tsanom_roughset_rules(t, &set, NULL, rules, ROWS, &count), TSANOM_OK);
    for (size_t x = 0; x < t->rows; x++) {
      size_t matching = 0, support = 0, first = t->rows;
      for (size_t y = t->rows; y-- > 0;) {
        if (!naive_alike(t, set, false, x, y)) continue;
        matching++;
        if (t->decision[y] != t->decision[x]) continue;
        support++;
        first = y;
      }
      if (first != x) continue;
      cr_assert(next < count && rules[next].row == x);
      cr_assert(rules[next].matching == matching && rules[next].support == support);
      cr_assert(rules[next].decision == t->decision[x]);
      next++;
    }
    cr_assert(next == count);
    CHECK_STATUS(tsanom_roughset_rules(t, &set, NULL, rules, 0, &next), TSANOM_PARTIAL);
    cr_assert(next == count);
  }
}
