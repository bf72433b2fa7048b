/* SPDX-License-Identifier: BSD-3-Clause */
/* The three rules, for all combinations of features below, in or above their ranges, or
 * undefined: beside Algorithm 1 as it is printed, and the documentation of its variants.
 * The steps that lead to a verdict must be true of the features that they name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hsa/hsa.h"
#include "support/check.h"

/* Where a feature lies: below, in or above its normal range, or undefined. */
enum { BELOW, INSIDE, ABOVE, UNDEFINED, PLACES };

/* Every range is [1, 2], so that the place of a feature is plain. */
static tsanom_hsa_features features_at(const int place[TSANOM_HSA_FEATURES]) {
  static const double value[] = {0.5, 1.5, 2.5, 0};
  tsanom_hsa_features features = {.defined = 0};
  for (int f = 0; f < TSANOM_HSA_FEATURES; f++) {
    features.value[f] = value[place[f]];
    if (place[f] != UNDEFINED) features.defined |= UINT64_C(1) << f;
  }
  return features;
}

static const tsanom_hsa_range *unit_ranges(void) {
  static tsanom_hsa_range range[TSANOM_HSA_SLOTS];
  for (int f = 0; f < TSANOM_HSA_SLOTS; f++) range[f] = (tsanom_hsa_range){1, 2};
  return range;
}

/* Algorithm 1 as it is printed, line by line. */
static int32_t algorithm_1(const int *at) {
  int32_t status = TSANOM_HSA_NORMAL;
  if (at[TSANOM_HSA_DTW] == INSIDE && at[TSANOM_HSA_LB_KEOGH] == INSIDE) {
    if (!(at[TSANOM_HSA_GTR] == INSIDE && at[TSANOM_HSA_LTR] == INSIDE)) {
      if (at[TSANOM_HSA_GTR] == BELOW) status = TSANOM_HSA_SHUTDOWN;
      if (at[TSANOM_HSA_GTR] == ABOVE &&
          !(at[TSANOM_HSA_GHR] == INSIDE && at[TSANOM_HSA_LHR] == INSIDE)) {
        status = TSANOM_HSA_MEMORY_LEAK;
      }
    }
  } else {
    status = TSANOM_HSA_MEMORY_LEAK;
    if (at[TSANOM_HSA_GTR] == BELOW) status = TSANOM_HSA_SHUTDOWN;
  }
  return status;
}

/* The variant as its documentation states it. */
static int32_t completion(const int *at) {
  if (at[TSANOM_HSA_BEAT_RATIO] == BELOW) return TSANOM_HSA_SHUTDOWN;
  int alike = at[TSANOM_HSA_DTW] == INSIDE && at[TSANOM_HSA_LB_KEOGH] == INSIDE;
  if (alike) {
    int normal_rate = at[TSANOM_HSA_GHR] == INSIDE && at[TSANOM_HSA_LHR] == INSIDE;
    return at[TSANOM_HSA_GTR] == ABOVE && !normal_rate ? TSANOM_HSA_MEMORY_LEAK
                                                       : TSANOM_HSA_NORMAL;
  }
  int late = at[TSANOM_HSA_GTR] == ABOVE || at[TSANOM_HSA_LTR] == ABOVE;
  int slow = at[TSANOM_HSA_GHR] == BELOW || at[TSANOM_HSA_LHR] == BELOW;
  return late && slow ? TSANOM_HSA_MEMORY_LEAK : TSANOM_HSA_NORMAL;
}

static int32_t pace(const int *at) {
  if (at[TSANOM_HSA_BEAT_RATIO] == BELOW) return TSANOM_HSA_SHUTDOWN;
  return at[TSANOM_HSA_INTERVAL_RATIO] == ABOVE ? TSANOM_HSA_MEMORY_LEAK : completion(at);
}

/* Steps must tell where their features lie, and each answer must follow. */
static void check_path(const tsanom_hsa_verdict *verdict, const int *at) {
  cr_assert(verdict->step_count >= 1 && verdict->step_count <= TSANOM_HSA_STEPS);
  for (int s = 0; s < verdict->step_count; s++) {
    const tsanom_hsa_step *step = &verdict->step[s];
    cr_assert(step->count >= 1 && step->count <= 4);
    int inside = 1;
    for (int k = 0; k < 4; k++) {
      if (k >= step->count) {
        cr_assert(step->feature[k] == -1);
        continue;
      }
      int place = at[step->feature[k]];
      inside &= place == INSIDE;
      cr_assert(step->defined[k] == (place != UNDEFINED));
      cr_assert(step->range[k].low == 1 && step->range[k].high == 2);
    }
    int first = at[step->feature[0]];
    switch (step->question) {
      case TSANOM_HSA_ASK_SIMILAR:
      case TSANOM_HSA_ASK_ON_TIME:
      case TSANOM_HSA_ASK_RATE:
        cr_assert(step->answer == inside);
        break;
      case TSANOM_HSA_ASK_EARLY:
        cr_assert(step->answer == (first == BELOW));
        break;
      case TSANOM_HSA_ASK_COMPLETE:
        cr_assert(step->answer == (first != BELOW));
        break;
      case TSANOM_HSA_ASK_LATE:
      case TSANOM_HSA_ASK_PACE:
        cr_assert(step->answer == (first == ABOVE));
        break;
      default:
        cr_assert(step->question == TSANOM_HSA_ASK_SLOWER);
    }
  }
}

Test(hsa_tree, decides_as_documented_for_every_combination) {
  static int32_t (*const rules[])(const int *) = {algorithm_1, completion, pace};
  int at[TSANOM_HSA_FEATURES], combinations = 1;
  for (int f = 0; f < TSANOM_HSA_FEATURES; f++) combinations *= PLACES;
  for (int c = 0; c < combinations; c++) {
    for (int f = 0, rest = c; f < TSANOM_HSA_FEATURES; f++, rest /= PLACES) {
      at[f] = rest % PLACES;
    }
    tsanom_hsa_features features = features_at(at);
    tsanom_hsa_verdict verdict = {.struct_size = sizeof verdict};
    verdict = (tsanom_hsa_verdict){.struct_size = sizeof verdict};
    for (int32_t rule = TSANOM_HSA_RULE_PAPER; rule <= TSANOM_HSA_RULE_PACE; rule++) {
      tsn_hsa_decide(&features, unit_ranges(), rule, &verdict);
      cr_assert(verdict.status == rules[rule](at), "combination %d", c);
      check_path(&verdict, at);
      /* NOLINTNEXTLINE: bits are what is asked */
      cr_assert(memcmp(&verdict.features, &features, sizeof features) == 0);
    }
  }
}

Test(hsa_tree, the_ends_of_a_range_belong_to_it) {
  int at[TSANOM_HSA_FEATURES] = {INSIDE, INSIDE, INSIDE, INSIDE,
                                 INSIDE, INSIDE, INSIDE, INSIDE};
  tsanom_hsa_features features = features_at(at);
  tsanom_hsa_verdict verdict = {.struct_size = sizeof verdict};
  for (int end = 1; end <= 2; end++) {
    for (int f = 0; f < TSANOM_HSA_FEATURES; f++) features.value[f] = end;
    for (int32_t rule = TSANOM_HSA_RULE_PAPER; rule <= TSANOM_HSA_RULE_PACE; rule++) {
      tsn_hsa_decide(&features, unit_ranges(), rule, &verdict);
      cr_assert(verdict.status == TSANOM_HSA_NORMAL);
    }
  }
  features.value[TSANOM_HSA_DTW] = nextafter(2, 3);
  tsn_hsa_decide(&features, unit_ranges(), TSANOM_HSA_RULE_PAPER, &verdict);
  cr_assert(verdict.status == TSANOM_HSA_MEMORY_LEAK);
}

/* Every sentence names each of its features with value and range, fits the
 * promised size, and is cut cleanly if the caller's buffer is short. */
Test(hsa_tree, every_step_has_words) {
  for (int32_t question = 0; question <= TSANOM_HSA_ASK_PACE; question++) {
    for (int32_t answer = 0; answer < 2; answer++) {
      tsanom_hsa_step step = {.question = question,
                              .answer = answer,
                              .count = 4,
                              .feature = {0, 2, 4, 6},
                              .defined = {1, 1, 0, 1},
                              .value = {-1.2345e-200, -1.2345e-200, 0, 2},
                              .range = {{-INFINITY, 1e-300}, {-1.5e-300, 2}, {0, 1}}};
      char text[512], cut[16];
      size_t length = 0, again = 0;
      CHECK_STATUS(tsanom_hsa_step_text(&step, text, sizeof text, &length), TSANOM_OK);
      cr_assert(length == strlen(text) && length > 10);
      int about_features =
          question == TSANOM_HSA_ASK_PACE ||
          (question >= TSANOM_HSA_ASK_SIMILAR && question <= TSANOM_HSA_ASK_SLOWER);
      cr_assert(!about_features || strstr(text, "-1.234e-200") != NULL);
      cr_assert(!about_features || strstr(text, "DTW (undefined) [0, 1]") != NULL);
      CHECK_STATUS(tsanom_hsa_step_text(&step, cut, sizeof cut, &again), TSANOM_PARTIAL);
      cr_assert(again == length && strlen(cut) == sizeof cut - 1);
      cr_assert(strncmp(cut, text, sizeof cut - 1) == 0);
      CHECK_STATUS(tsanom_hsa_step_text(&step, NULL, 0, &again), TSANOM_PARTIAL);
    }
  }
  tsanom_hsa_step step = {.question = TSANOM_HSA_ASK_PACE + 1};
  char text[8] = "before";
  CHECK_STATUS(tsanom_hsa_step_text(&step, text, sizeof text, NULL), TSANOM_E_OPTION);
  cr_assert_str_eq(text, "before");
}

Test(hsa_tree, names_are_those_of_the_documentation) {
  cr_assert_str_eq(tsanom_hsa_status_name(TSANOM_HSA_NORMAL), "normal");
  cr_assert_str_eq(tsanom_hsa_status_name(TSANOM_HSA_MEMORY_LEAK), "memory_leak");
  cr_assert_str_eq(tsanom_hsa_status_name(TSANOM_HSA_SHUTDOWN), "shutdown");
  cr_assert_str_eq(tsanom_hsa_status_name(TSANOM_HSA_STATUSES), "?");
  cr_assert_str_eq(tsanom_hsa_status_name(-1), "?");
  cr_assert_str_eq(tsanom_hsa_feature_name(TSANOM_HSA_LB_KEOGH), "lb_keogh");
  cr_assert_str_eq(tsanom_hsa_feature_name(TSANOM_HSA_FEATURES), "?");
}
