/* SPDX-License-Identifier: BSD-3-Clause */
/* Decision trees: Algorithm 1 of the paper, and its variants that ask for completion and
 * for pace (docs/hsa.md explains why). Each question is recorded as a step of the path.
 *
 *   pace rule                                  paper's rule
 *   complete? - no: shutdown                   similar? - yes: on time? - yes: normal
 *   pace slow? - yes: leak                                  early? - yes: shutdown
 *   similar? - yes: on time? - yes: normal                  late and rates off: leak
 *                   late and rates off: leak            - no: early? shutdown, else leak
 *            - no: slower? leak, else normal
 *
 * What the variants change, and why:
 *
 * - Shutdown is detected by beats, not by time: a run that was killed at 95 % takes as
 *   long as one on a quiet machine, but how many beats a thread makes does not depend on
 *   how busy the machine is.
 * - Only slower is a leak: late by the times and slow by the rates. Algorithm 1 calls a
 *   faster run a leak, too.
 * - A leak slows every beat, and so raises the lower quartile of the intervals, which a
 *   thread that waits now and then leaves unchanged.
 *
 * A tree is a function of features and ranges; it has no state but the path.
 *
 * Source: W. Wang and W. Luo, section 3, Algorithm 1. */
#include <string.h>

#include "core/size.h"
#include "core/versioned.h"
#include "hsa/hsa.h"

static const tsanom_hsa_verdict empty_verdict = {.struct_size = sizeof empty_verdict};

static const tsn_versioned verdict_type = {.size = sizeof(tsanom_hsa_verdict),
                                           .first_size = sizeof(tsanom_hsa_verdict),
                                           .defaults = &empty_verdict};

/* The size is also the distance of elements in arrays: it must keep them aligned. */
tsanom_status tsn_hsa_verdict_check(const tsanom_hsa_verdict *caller,
                                    const tsanom_exec *exec) {
  const size_t alignment = _Alignof(tsanom_hsa_verdict);
  tsanom_status status = tsn_struct_check(exec, &verdict_type, caller, "verdicts");
  if (status < 0) return status;
  if (caller->struct_size % alignment == 0) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_VERSION, "verdicts.struct_size", TSANOM_NONE,
                       "%zu; a multiple of %zu is expected", caller->struct_size,
                       alignment);
}

void tsn_hsa_verdict_write(tsanom_hsa_verdict *caller, const tsanom_hsa_verdict *own) {
  tsn_versioned_write(&verdict_type, caller, own);
}

/* One decision about a thread. */
typedef struct {
  const tsanom_hsa_features *features;
  const tsanom_hsa_range *range;
  tsanom_hsa_verdict *verdict;
} decision;

/* An undefined feature lies in no range, and is neither below nor above one. */
static bool is_within(const decision *d, int32_t feature) {
  double value = d->features->value[feature];
  return tsn_hsa_is_defined(d->features, feature) && value >= d->range[feature].low &&
         value <= d->range[feature].high;
}

static bool is_below(const decision *d, int32_t feature) {
  return tsn_hsa_is_defined(d->features, feature) &&
         d->features->value[feature] < d->range[feature].low;
}

static bool is_above(const decision *d, int32_t feature) {
  return tsn_hsa_is_defined(d->features, feature) &&
         d->features->value[feature] > d->range[feature].high;
}

/* A path is shorter than verdict->step: no tree asks more questions. */
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

/* Record a question about `count` features; the result is its answer. */
static bool ask(const decision *d, int32_t question, bool answer, int32_t count,
                const int32_t *feature) {
  tsanom_hsa_step *step = append_step(d->verdict, question, answer);
  step->count = count;
  for (int32_t k = 0; k < count; k++) {
    step->feature[k] = feature[k];
    step->defined[k] = tsn_hsa_is_defined(d->features, feature[k]);
    step->value[k] = d->features->value[feature[k]];
    step->range[k] = d->range[feature[k]];
  }
  return answer;
}

/* Questions whether a condition holds for each of one or two features. */
static bool ask_all(const decision *d, int32_t question) {
  static const struct {
    bool (*holds)(const decision *d, int32_t feature);
    int32_t count, feature[2];
  } about[] = {
      [TSANOM_HSA_ASK_SIMILAR] = {is_within, 2, {TSANOM_HSA_DTW, TSANOM_HSA_LB_KEOGH}},
      [TSANOM_HSA_ASK_ON_TIME] = {is_within, 2, {TSANOM_HSA_GTR, TSANOM_HSA_LTR}},
      [TSANOM_HSA_ASK_EARLY] = {is_below, 1, {TSANOM_HSA_GTR}},
      [TSANOM_HSA_ASK_LATE] = {is_above, 1, {TSANOM_HSA_GTR}},
      [TSANOM_HSA_ASK_RATE] = {is_within, 2, {TSANOM_HSA_GHR, TSANOM_HSA_LHR}},
      [TSANOM_HSA_ASK_PACE] = {is_above, 1, {TSANOM_HSA_INTERVAL_RATIO}}};
  bool answer = true;
  for (int32_t k = 0; k < about[question].count; k++) {
    answer = answer && about[question].holds(d, about[question].feature[k]);
  }
  return ask(d, question, answer, about[question].count, about[question].feature);
}

static bool ask_complete(const decision *d) {
  static const int32_t feature[] = {TSANOM_HSA_BEAT_RATIO};
  return ask(d, TSANOM_HSA_ASK_COMPLETE, !is_below(d, feature[0]), 1, feature);
}

static bool ask_slower(const decision *d) {
  static const int32_t feature[] = {TSANOM_HSA_GTR, TSANOM_HSA_LTR, TSANOM_HSA_GHR,
                                    TSANOM_HSA_LHR};
  bool answer = (is_above(d, feature[0]) || is_above(d, feature[1])) &&
                (is_below(d, feature[2]) || is_below(d, feature[3]));
  return ask(d, TSANOM_HSA_ASK_SLOWER, answer, 4, feature);
}

/* Lines 7-8 of Algorithm 1. */
static int32_t leak_if_late_and_out_of_rate(const decision *d) {
  return ask_all(d, TSANOM_HSA_ASK_LATE) && !ask_all(d, TSANOM_HSA_ASK_RATE)
             ? TSANOM_HSA_MEMORY_LEAK
             : TSANOM_HSA_NORMAL;
}

/* Algorithm 1 to the letter, each feature against its own range. */
static int32_t decide_paper(const decision *d) {
  if (ask_all(d, TSANOM_HSA_ASK_SIMILAR)) {
    if (ask_all(d, TSANOM_HSA_ASK_ON_TIME)) return TSANOM_HSA_NORMAL;
    if (ask_all(d, TSANOM_HSA_ASK_EARLY)) return TSANOM_HSA_SHUTDOWN;
    return leak_if_late_and_out_of_rate(d);
  }
  return ask_all(d, TSANOM_HSA_ASK_EARLY) ? TSANOM_HSA_SHUTDOWN : TSANOM_HSA_MEMORY_LEAK;
}

/* Algorithm 1 for a thread with as many beats as normal. */
static int32_t decide_slowing(const decision *d) {
  if (ask_all(d, TSANOM_HSA_ASK_SIMILAR)) {
    if (ask_all(d, TSANOM_HSA_ASK_ON_TIME)) return TSANOM_HSA_NORMAL;
    return leak_if_late_and_out_of_rate(d);
  }
  return ask_slower(d) ? TSANOM_HSA_MEMORY_LEAK : TSANOM_HSA_NORMAL;
}

static int32_t decide_completion(const decision *d) {
  return ask_complete(d) ? decide_slowing(d) : TSANOM_HSA_SHUTDOWN;
}

/* The default. The interval ratio is asked before the rates: on a loaded machine these
 * scatter so much that a leak is within their ranges. */
static int32_t decide_pace(const decision *d) {
  if (!ask_complete(d)) return TSANOM_HSA_SHUTDOWN;
  return ask_all(d, TSANOM_HSA_ASK_PACE) ? TSANOM_HSA_MEMORY_LEAK : decide_slowing(d);
}

void tsn_hsa_decide(const tsanom_hsa_features *features, const tsanom_hsa_range *range,
                    int32_t rule, tsanom_hsa_verdict *verdict) {
  static int32_t (*const trees[])(const decision *) = {
      [TSANOM_HSA_RULE_PAPER] = decide_paper,
      [TSANOM_HSA_RULE_COMPLETION] = decide_completion,
      [TSANOM_HSA_RULE_PACE] = decide_pace};
  memset(verdict, 0, sizeof *verdict);
  verdict->features = *features;
  decision d = {.features = &verdict->features, .range = range, .verdict = verdict};
  verdict->status = trees[rule](&d);
}

/* The worst status of any thread; statuses are numbered by severity. */
tsanom_status tsanom_hsa_run_status(const tsanom_hsa_verdict *verdicts,
                                    size_t verdict_count, int32_t *status) {
  if (!status) return TSANOM_E_NULL;
  tsanom_status good = tsn_hsa_verdict_check(verdicts, NULL);
  if (good < 0) return good;
  if (verdict_count == 0) return TSANOM_E_COUNT;
  if (!tsn_array_fits(verdict_count, verdicts->struct_size)) return TSANOM_E_OVERFLOW;
  int32_t worst = TSANOM_HSA_NORMAL;
  const unsigned char *place = (const unsigned char *)verdicts;
  for (size_t i = 0; i < verdict_count; i++, place += verdicts->struct_size) {
    int32_t one = ((const tsanom_hsa_verdict *)(const void *)place)->status;
    if (one > worst) worst = one;
  }
  *status = worst;
  return TSANOM_OK;
}
