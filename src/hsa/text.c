/* SPDX-License-Identifier: BSD-3-Clause */
/* The path through the tree in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hsa/hsa.h"

/* A sentence under construction. */
typedef struct {
  char *text;
  size_t size, length;
} sentence;

__attribute__((format(printf, 2, 3))) static void say(sentence *s, const char *format,
                                                      ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t left = s->length < s->size ? s->size - s->length : 0;
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
  int written = vsnprintf(left ? s->text + s->length : NULL, left, format, arguments);
  va_end(arguments);
  if (written > 0) s->length += (size_t)written;
}

static const char *spelled(int32_t feature) {
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
static void say_features(sentence *s, const tsanom_hsa_step *step) {
  int32_t count = step->count < 4 ? step->count : 4;
  for (int32_t k = 0; k < count; k++) {
    const tsanom_hsa_range *range = &step->range[k];
    say(s, "%s%s ",
        k == 0           ? ""
        : k == count - 1 ? " and "
                         : ", ",
        spelled(step->feature[k]));
    if (step->defined[k]) {
      say(s, "%.4g", step->value[k]);
    } else {
      say(s, "(undefined)");
    }
    say(s, " [%.4g, %.4g]", range->low, range->high);
  }
}

/* What is said after the features, if the answer is no and if it is yes. */
static const char *const remarks[][2] = {
    [TSANOM_HSA_ASK_ALIKE] = {"do not both lie in their normal ranges: the heart rate "
                              "runs unlike the reference",
                              "lie in their normal ranges: the heart rate runs like the "
                              "reference"},
    [TSANOM_HSA_ASK_TIMELY] = {"do not both lie in their normal ranges: the time taken "
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
    [TSANOM_HSA_ASK_PACE] = {"is not above its normal range: while it runs, it beats as "
                             "fast as ever",
                             "is above its normal range: each beat takes longer"},
};

static void say_count(sentence *s, const tsanom_hsa_step *step) {
  switch (step->question) {
    case TSANOM_HSA_ASK_KNOWN:
      say(s, "the model has no reference for this thread: nothing to judge by");
      break;
    case TSANOM_HSA_ASK_BEATS:
      say(s, "the thread never beat");
      break;
    case TSANOM_HSA_ASK_WINDOW:
      say(s, "the thread beat %.0f times only, too few for one window of %.0f beats",
          step->value[0], step->value[1]);
      break;
    default:
      say(s,
          step->answer ? "so it was in %.0f of the normal runs"
                       : "in every normal run it beat on",
          step->value[0]);
  }
}

static bool is_about_features(int32_t question) {
  return question == TSANOM_HSA_ASK_PACE ||
         (question >= TSANOM_HSA_ASK_ALIKE && question <= TSANOM_HSA_ASK_SLOWER);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the sentence */
tsanom_status tsanom_hsa_step_text(const tsanom_hsa_step *step, char *text, size_t size,
                                   size_t *length) {
  if (!step || (!text && size > 0)) return TSANOM_E_NULL;
  if (step->question < 0 || step->question > TSANOM_HSA_ASK_PACE) {
    return TSANOM_E_OPTION;
  }
  sentence s = {.text = text, .size = size, .length = 0};
  if (is_about_features(step->question)) {
    say_features(&s, step);
    say(&s, " %s", remarks[step->question][step->answer != 0]);
  } else {
    say_count(&s, step);
  }
  if (length) *length = s.length;
  return s.length < size ? TSANOM_OK : TSANOM_PARTIAL;
}
