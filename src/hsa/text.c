/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a path as English sentences: the features with their values and ranges,
 * then what the answer means, for example
 *
 *     GTR 1.31 [0.94, 1.06] is above its normal range: it ended late */
#include "hsa/hsa.h"
#include "hsa/sentence.h"

static const char *title_of(int32_t feature) {
  static const char *const names[TSANOM_HSA_FEATURES] = {"GTR",
                                                         "LTR",
                                                         "GHR",
                                                         "LHR",
                                                         "DTW",
                                                         "LB_Keogh",
                                                         "the beat ratio",
                                                         "the interval ratio"};
  return feature >= 0 && feature < TSANOM_HSA_FEATURES ? names[feature] : "?";
}

/* "DTW 0.31 [0, 0.08] and LB_Keogh 0.12 [0, 0.01]" */
static void put_features(tsn_sentence *s, const tsanom_hsa_step *step) {
  int32_t count = step->count < 4 ? step->count : 4;
  for (int32_t k = 0; k < count; k++) {
    const tsanom_hsa_range *range = &step->range[k];
    tsn_put(s, "%s%s ",
            k == 0           ? ""
            : k == count - 1 ? " and "
                             : ", ",
            title_of(step->feature[k]));
    if (step->defined[k]) {
      tsn_put(s, "%.4g", step->value[k]);
    } else {
      tsn_put(s, "(undefined)");
    }
    tsn_put(s, " [%.4g, %.4g]", range->low, range->high);
  }
}

/* The conclusion if the answer is no, and if it is yes. */
static const char *const remarks[][2] = {
    [TSANOM_HSA_ASK_SIMILAR] = {"do not both lie in their normal ranges: the heart rate "
                                "differs from the reference",
                                "lie in their normal ranges: the heart rate follows the "
                                "reference"},
    [TSANOM_HSA_ASK_ON_TIME] = {"do not both lie in their normal ranges: the time taken "
                                "is not normal",
                                "lie in their normal ranges: the time taken is normal"},
    [TSANOM_HSA_ASK_EARLY] = {"is not below its normal range: it did not end early",
                              "is below its normal range: it ended early"},
    [TSANOM_HSA_ASK_LATE] = {"is not above its normal range: it did not end late",
                             "is above its normal range: it ended late"},
    [TSANOM_HSA_ASK_RATE] = {"do not both lie in their normal ranges: the level of the "
                             "heart rate is not normal",
                             "lie in their normal ranges: the level of the heart rate is "
                             "normal"},
    [TSANOM_HSA_ASK_COMPLETE] = {"is below its normal range: beats are missing",
                                 "is not below its normal range: no beats are missing"},
    [TSANOM_HSA_ASK_SLOWER] = {"show no slowing: no time ratio is above, or no rate "
                               "ratio below, its normal range",
                               "show slowing: a time ratio is above and a rate ratio "
                               "below its normal range"},
    [TSANOM_HSA_ASK_PACE] = {"is not above its normal range: while the thread runs, it "
                             "is as fast as normal",
                             "is above its normal range: each beat takes longer"},
};

/* Steps before the tree: their values are counts of beats, windows or runs. */
static void put_count(tsn_sentence *s, const tsanom_hsa_step *step) {
  switch (step->question) {
    case TSANOM_HSA_ASK_KNOWN:
      tsn_put(s, "the model has no reference for this thread: nothing to compare with");
      break;
    case TSANOM_HSA_ASK_BEATS:
      tsn_put(s, "the thread never beat");
      break;
    case TSANOM_HSA_ASK_WINDOW:
      tsn_put(s, "the thread beat %.0f times only, too few for one window of %.0f beats",
              step->value[0], step->value[1]);
      break;
    default:
      tsn_put(s,
              step->answer ? "the same happened in %.0f of the normal runs"
                           : "it kept beating in every normal run",
              step->value[0]);
  }
}

/* The numbers of these questions are consecutive but for ASK_PACE, which was added later.
 */
static bool is_about_features(int32_t question) {
  return question == TSANOM_HSA_ASK_PACE ||
         (question >= TSANOM_HSA_ASK_SIMILAR && question <= TSANOM_HSA_ASK_SLOWER);
}

/* The number of the question comes from a struct that the caller may have read from a
 * file: it indexes a table. */
tsanom_status tsanom_hsa_step_text(const tsanom_hsa_step *step, char *text, size_t size,
                                   size_t *length) {
  if (!step || (!text && size > 0)) return TSANOM_E_NULL;
  if (step->question < 0 || step->question > TSANOM_HSA_ASK_PACE) {
    return TSANOM_E_OPTION;
  }
  tsn_sentence s = {.text = text, .size = size, .length = 0};
  if (is_about_features(step->question)) {
    put_features(&s, step);
    tsn_put(&s, " %s", remarks[step->question][step->answer != 0]);
  } else {
    put_count(&s, step);
  }
  return tsn_sentence_end(&s, length);
}
