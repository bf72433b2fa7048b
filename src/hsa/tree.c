/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithm 1, and its variants that ask for completion and for pace. */
#include <string.h>

#include "hsa/hsa.h"

/* A walk down the tree. */
typedef struct {
  const tsanom_hsa_features *features;
  const tsanom_hsa_range *range;
  tsanom_hsa_verdict *verdict;
} walk;

static bool is_within(const walk *w, int32_t feature) {
  double value = w->features->value[feature];
  return tsn_hsa_is_defined(w->features, feature) && value >= w->range[feature].low &&
         value <= w->range[feature].high;
}

static bool is_below(const walk *w, int32_t feature) {
  return tsn_hsa_is_defined(w->features, feature) &&
         w->features->value[feature] < w->range[feature].low;
}

static bool is_above(const walk *w, int32_t feature) {
  return tsn_hsa_is_defined(w->features, feature) &&
         w->features->value[feature] > w->range[feature].high;
}

static tsanom_hsa_step *append_step(tsanom_hsa_verdict *verdict, int32_t question,
                                    bool answer) {
  tsanom_hsa_step *step = &verdict->step[verdict->step_count++];
  memset(step, 0, sizeof *step);
  step->question = question;
  step->answer = answer;
  for (int32_t k = 0; k < 4; k++) step->feature[k] = -1;
  return step;
}

void tsn_hsa_ask_count(tsanom_hsa_verdict *verdict, int32_t question, bool answer,
                       size_t first, size_t second) {
  tsanom_hsa_step *step = append_step(verdict, question, answer);
  step->value[0] = (double)first;
  step->value[1] = (double)second;
}

/* Record a question about `count` features, and hand its answer through. */
static bool ask(const walk *w, int32_t question, bool answer, int32_t count,
                const int32_t *feature) {
  tsanom_hsa_step *step = append_step(w->verdict, question, answer);
  step->count = count;
  for (int32_t k = 0; k < count; k++) {
    step->feature[k] = feature[k];
    step->defined[k] = tsn_hsa_is_defined(w->features, feature[k]);
    step->value[k] = w->features->value[feature[k]];
    step->range[k] = w->range[feature[k]];
  }
  return answer;
}

static bool ask_alike(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_DTW, TSANOM_HSA_LB_KEOGH};
  bool answer = is_within(w, feature[0]) && is_within(w, feature[1]);
  return ask(w, TSANOM_HSA_ASK_ALIKE, answer, 2, feature);
}

static bool ask_timely(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_GTR, TSANOM_HSA_LTR};
  bool answer = is_within(w, feature[0]) && is_within(w, feature[1]);
  return ask(w, TSANOM_HSA_ASK_TIMELY, answer, 2, feature);
}

static bool ask_early(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_GTR};
  return ask(w, TSANOM_HSA_ASK_EARLY, is_below(w, feature[0]), 1, feature);
}

static bool ask_late(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_GTR};
  return ask(w, TSANOM_HSA_ASK_LATE, is_above(w, feature[0]), 1, feature);
}

static bool ask_rate(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_GHR, TSANOM_HSA_LHR};
  bool answer = is_within(w, feature[0]) && is_within(w, feature[1]);
  return ask(w, TSANOM_HSA_ASK_RATE, answer, 2, feature);
}

static bool ask_complete(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_BEAT_RATIO};
  return ask(w, TSANOM_HSA_ASK_COMPLETE, !is_below(w, feature[0]), 1, feature);
}

static bool ask_slower(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_GTR, TSANOM_HSA_LTR, TSANOM_HSA_GHR,
                                    TSANOM_HSA_LHR};
  bool answer = (is_above(w, feature[0]) || is_above(w, feature[1])) &&
                (is_below(w, feature[2]) || is_below(w, feature[3]));
  return ask(w, TSANOM_HSA_ASK_SLOWER, answer, 4, feature);
}

static bool ask_pace(const walk *w) {
  static const int32_t feature[] = {TSANOM_HSA_INTERVAL_RATIO};
  return ask(w, TSANOM_HSA_ASK_PACE, is_above(w, feature[0]), 1, feature);
}

/* Lines 7-8 of Algorithm 1. */
static int32_t leak_if_late_and_out_of_rate(const walk *w) {
  return ask_late(w) && !ask_rate(w) ? TSANOM_HSA_MEMORY_LEAK : TSANOM_HSA_NORMAL;
}

static int32_t walk_paper(const walk *w) {
  if (ask_alike(w)) {
    if (ask_timely(w)) return TSANOM_HSA_NORMAL;
    if (ask_early(w)) return TSANOM_HSA_SHUTDOWN;
    return leak_if_late_and_out_of_rate(w);
  }
  return ask_early(w) ? TSANOM_HSA_SHUTDOWN : TSANOM_HSA_MEMORY_LEAK;
}

/* Algorithm 1 for a thread that is known to have beaten often enough. */
static int32_t walk_slowing(const walk *w) {
  if (ask_alike(w)) {
    if (ask_timely(w)) return TSANOM_HSA_NORMAL;
    return leak_if_late_and_out_of_rate(w);
  }
  return ask_slower(w) ? TSANOM_HSA_MEMORY_LEAK : TSANOM_HSA_NORMAL;
}

static int32_t walk_completion(const walk *w) {
  return ask_complete(w) ? walk_slowing(w) : TSANOM_HSA_SHUTDOWN;
}

static int32_t walk_pace(const walk *w) {
  if (!ask_complete(w)) return TSANOM_HSA_SHUTDOWN;
  return ask_pace(w) ? TSANOM_HSA_MEMORY_LEAK : walk_slowing(w);
}

tsanom_status tsanom_hsa_classify(const tsanom_hsa_features *features,
                                  const tsanom_hsa_range *range, int32_t rule,
                                  tsanom_hsa_verdict *verdict) {
  if (!features || !range || !verdict) return TSANOM_E_NULL;
  static int32_t (*const walks[])(const walk *) = {
      [TSANOM_HSA_RULE_PAPER] = walk_paper,
      [TSANOM_HSA_RULE_COMPLETION] = walk_completion,
      [TSANOM_HSA_RULE_PACE] = walk_pace};
  if (rule < TSANOM_HSA_RULE_PAPER || rule > TSANOM_HSA_RULE_PACE) {
    return TSANOM_E_OPTION;
  }
  memset(verdict, 0, sizeof *verdict);
  verdict->features = *features;
  walk w = {.features = &verdict->features, .range = range, .verdict = verdict};
  verdict->status = walks[rule](&w);
  return TSANOM_OK;
}

tsanom_status tsanom_hsa_run_status(const tsanom_hsa_verdict *verdict,
                                    size_t verdict_count, int32_t *status) {
  if (!verdict || !status) return TSANOM_E_NULL;
  if (verdict_count == 0) return TSANOM_E_COUNT;
  int32_t worst = TSANOM_HSA_NORMAL;
  for (size_t i = 0; i < verdict_count; i++) {
    if (verdict[i].status > worst) worst = verdict[i].status;
  }
  *status = worst;
  return TSANOM_OK;
}
