/* SPDX-License-Identifier: BSD-3-Clause */
/* Degenerate tables, whose answer is defined: equal rows, one decision, and far more
 * attributes than rows. */
#include <stdlib.h>
#include <tsanom/roughset.h>

#include "roughset/tables.h"
#include "support/check.h"

static int32_t go_on(void *user, const uint64_t *reduct, size_t size) {
  (void)user, (void)reduct, (void)size;
  return 0;
}

static void check_empty_reduct(const tsanom_roughset_table *t) {
  size_t count, found;
  uint64_t set = 7, core = 7;
  tsanom_roughset_bounds bounds;
  CHECK_STATUS(tsanom_roughset_elements(t, NULL, NULL, NULL, 0, &count), TSANOM_OK);
  cr_assert(count == 0);
  CHECK_STATUS(
      tsanom_roughset_minimum(t, NULL, NULL, &(tsanom_roughset_visitor){go_on, NULL},
                              &bounds, &set, &found),
      TSANOM_OK);
  cr_assert(set == 0 && bounds.lower == 0 && bounds.upper == 0 && found == 1);
  CHECK_STATUS(tsanom_roughset_greedy(t, NULL, NULL, &set, &found), TSANOM_OK);
  cr_assert(set == 0 && found == 0);
  CHECK_STATUS(tsanom_roughset_core(t, NULL, NULL, &core), TSANOM_OK);
  cr_assert(core == 0);
  CHECK_STATUS(tsanom_roughset_paper_choice(NULL, 0, 2, NULL, NULL, &found), TSANOM_OK);
  cr_assert(found == 1);
}

Test(roughset_degenerate, the_papers_choice_of_a_pair_that_nothing_discerns) {
  uint64_t sets[] = {3, 0, 5};
  size_t found = 7;
  CHECK_STATUS(tsanom_roughset_paper_choice(sets, 3, 3, NULL, NULL, &found),
               TSANOM_INFEASIBLE);
  cr_assert(found == 0);
}

Test(roughset_degenerate, one_row_one_decision_and_equal_rows_give_the_empty_reduct) {
  int32_t codes[] = {1, 2, 3, 4, 5, 6}, same[] = {1, 2, 1, 2, 1, 2};
  int32_t one[] = {5, 5, 5}, many[] = {1, 2, 3};
  tsanom_roughset_table t = table_of(codes, one, 1, 2);
  check_empty_reduct(&t);
  t = table_of(codes, one, 3, 2);
  check_empty_reduct(&t);
  t = table_of(same, many, 3, 2);
  check_empty_reduct(&t);
  size_t count;
  double gamma;
  CHECK_STATUS(tsanom_roughset_inconsistent(&t, NULL, NULL, NULL, 0, &count),
               TSANOM_PARTIAL);
  cr_assert(count == 3);
  CHECK_STATUS(tsanom_roughset_dependency(&t, NULL, NULL, NULL, NULL, NULL, &gamma),
               TSANOM_OK);
  cr_assert(gamma == 0);
}

Test(roughset_degenerate, ten_thousand_attributes) {
  enum { MANY = 10000, FEW = 30, SET_WORDS = (MANY + 63) / 64 };
  int32_t *codes = calloc((size_t)MANY * FEW, sizeof *codes), d[FEW];
  static uint64_t sets[FEW * FEW * SET_WORDS], core[SET_WORDS], set[SET_WORDS];
  /* Row i differs from row 0 in attributes 300 i and 300 i + 1 alone. */
  for (int i = 0; i < FEW; i++) {
    d[i] = i > 0;
    codes[(size_t)i * MANY + (size_t)(300 * i)] = i > 0;
    codes[(size_t)i * MANY + (size_t)(300 * i) + 1] = i > 0;
  }
  tsanom_roughset_table t = table_of(codes, d, FEW, MANY);
  size_t count, found;
  CHECK_STATUS(tsanom_roughset_elements(&t, NULL, NULL, sets, FEW * FEW, &count),
               TSANOM_OK);
  cr_assert(count == FEW - 1);
  tsanom_roughset_options limited;
  tsanom_roughset_options_init(&limited, sizeof limited);
  limited.reduct_limit = 1000;
  CHECK_STATUS(tsanom_roughset_reducts(sets, count, MANY, &limited, NULL,
                                       &(tsanom_roughset_visitor){go_on, NULL}, &found),
               TSANOM_PARTIAL);
  cr_assert(found == 1000);
  tsanom_roughset_bounds bounds;
  CHECK_STATUS(tsanom_roughset_minimum(&t, NULL, NULL, NULL, &bounds, set, NULL),
               TSANOM_OK);
  cr_assert(bounds.lower == FEW - 1 && bounds.upper == FEW - 1);
  CHECK_STATUS(tsanom_roughset_core(&t, NULL, NULL, core), TSANOM_OK);
  for (size_t w = 0; w < SET_WORDS; w++) cr_assert(core[w] == 0);
  free(codes);
}
