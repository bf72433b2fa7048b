/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnosis of the threads of a run by a model. A thread with enough beats is reduced to
 * a digest, compared with its reference, and judged by the tree of the model's options:
 *
 *     series -> digest -> features -> tree -> verdict: status and path
 *               window of the reference, so that rates are comparable
 *
 * Before the tree come threads that cannot be compared:
 *
 *     no reference in the model                normal, nothing to compare with
 *     no beat, or not more than one window     shutdown, unless a normal run had the same
 *
 * Threads are independent of each other and judged in turn, in the memory of one
 * comparison: O(beats) per thread. All times are checked before the first verdict is
 * written. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/size.h"
#include "core/versioned.h"
#include "hsa/hsa.h"
#include "hsa/sentence.h"

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

static const tsanom_hsa_verdict empty_verdict = {.struct_size = sizeof empty_verdict};

static const tsn_versioned verdict_type = {.size = sizeof(tsanom_hsa_verdict),
                                           .first_size = sizeof(tsanom_hsa_verdict),
                                           .defaults = &empty_verdict};

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

static bool is_not_below(const decision *d, int32_t feature) {
  return !is_below(d, feature);
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

/* Append a step about numbers rather than features. */
static void ask_count(tsanom_hsa_verdict *verdict, int32_t question, bool answer,
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
      [TSANOM_HSA_ASK_COMPLETE] = {is_not_below, 1, {TSANOM_HSA_BEAT_RATIO}},
      [TSANOM_HSA_ASK_PACE] = {is_above, 1, {TSANOM_HSA_INTERVAL_RATIO}}};
  bool answer = true;
  for (int32_t k = 0; k < about[question].count; k++) {
    answer = answer && about[question].holds(d, about[question].feature[k]);
  }
  return ask(d, question, answer, about[question].count, about[question].feature);
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
  return ask_all(d, TSANOM_HSA_ASK_COMPLETE) ? decide_slowing(d) : TSANOM_HSA_SHUTDOWN;
}

/* The default. The interval ratio is asked before the rates: on a loaded machine these
 * scatter so much that a leak is within their ranges. */
static int32_t decide_pace(const decision *d) {
  if (!ask_all(d, TSANOM_HSA_ASK_COMPLETE)) return TSANOM_HSA_SHUTDOWN;
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

void tsn_put(tsn_sentence *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t left = s->length < s->size ? s->size - s->length : 0;
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
  int written = tsn_format(left ? s->text + s->length : NULL, left, format, arguments);
  va_end(arguments);
  if (written > 0) s->length += (size_t)written;
}

void tsn_put_number(tsn_sentence *s, double number) {
  bool is_large = fabs(number) >= 999.5 && isfinite(number);
  tsn_put(s, "%.*g", is_large ? 1 + (int)log10(fabs(number) + 0.5) : 3, number);
}

tsanom_status tsn_sentence_end(const tsn_sentence *s, size_t *length) {
  if (length) *length = s->length;
  return s->length < s->size ? TSANOM_OK : TSANOM_PARTIAL;
}

/* The steps of a path as English sentences: the features with their values and ranges,
 * then what the answer means, for example
 *
 *     GTR 1.31 [0.94, 1.06] is above its normal range: it ended late */

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

/* One call. */
typedef struct {
  tsn_hsa_context context;
  const tsanom_hsa_model *model;
  const tsanom_hsa_run *run;
  tsanom_hsa_verdict *verdicts;
  size_t count, *done;
  tsn_hsa_digest digest; /* of one thread after the other */
} diagnosis;

static void layout(tsn_arena *arena, void *context) {
  diagnosis *d = context;
  tsn_hsa_digest_layout(arena, &d->context.options, &d->digest);
  tsn_hsa_context_layout(arena, &d->context);
}

/* What the model and the run contain about one thread number; beats == 0: nothing. */
typedef struct {
  const tsanom_hsa_reference *reference;
  const tsanom_hsa_series *series;
} subject;

/* Model and run may have different numbers of threads. A thread that the run lacks counts
 * as one that never beats; static structs of zeros stand for what is missing. */
static subject find_subject(const diagnosis *d, size_t thread) {
  static const tsanom_hsa_reference no_reference;
  static const tsanom_hsa_series no_series;
  bool is_known = thread < d->model->thread_count;
  bool is_present = thread < d->run->thread_count;
  return (subject){is_known ? &d->model->references[thread] : &no_reference,
                   is_present ? &d->run->threads[thread] : &no_series};
}

static tsanom_status check_times(const diagnosis *d) {
  for (size_t t = 0; t < d->run->thread_count; t++) {
    subject s = find_subject(d, t);
    /* Without a reference no heart rate is computed. */
    size_t window = s.reference->beats ? s.reference->window : SIZE_MAX;
    tsn_hsa_place place = {&d->context.exec, "run.threads", TSANOM_NONE, t};
    tsanom_status status = tsn_hsa_check_series(&place, s.series, d->run->start, window);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Shut down, unless a normal run did the same: some programs leave threads idle. */
static void judge_missing(const tsanom_hsa_reference *reference,
                          tsanom_hsa_verdict *verdict) {
  bool usual = reference->silent_runs > 0;
  ask_count(verdict, TSANOM_HSA_ASK_SILENT, usual, reference->silent_runs, 0);
  verdict->status = usual ? TSANOM_HSA_NORMAL : TSANOM_HSA_SHUTDOWN;
}

/* The verdict of one thread. Which question ends the path before the tree is recorded as
 * a step, so that the path explains every verdict. */
static tsanom_status judge(diagnosis *d, const subject *s, tsanom_hsa_verdict *verdict) {
  const tsanom_hsa_reference *reference = s->reference;
  size_t beats = s->series->beats;
  memset(verdict, 0, sizeof *verdict);
  if (reference->beats == 0) {
    ask_count(verdict, TSANOM_HSA_ASK_KNOWN, false, 0, beats);
    return TSANOM_OK;
  }
  if (beats == 0) {
    tsn_hsa_define(&verdict->features, TSANOM_HSA_BEAT_RATIO, 0);
    ask_count(verdict, TSANOM_HSA_ASK_BEATS, false, 0, reference->window);
    judge_missing(reference, verdict);
    return TSANOM_OK;
  }
  tsanom_hsa_features features;
  tsn_hsa_windows windows = {reference->window, reference->local_window};
  tsanom_status status =
      tsn_hsa_digest_series(&d->context, s->series, d->run->start, &windows, &d->digest);
  if (status < 0 || (status = tsn_hsa_compare(&d->context, &d->digest.content, reference,
                                              &features)) < 0) {
    return status;
  }
  if (beats <= reference->window) {
    verdict->features = features;
    ask_count(verdict, TSANOM_HSA_ASK_WINDOW, false, beats, reference->window);
    judge_missing(reference, verdict);
    return TSANOM_OK;
  }
  tsn_hsa_decide(&features, reference->range, d->context.options.rule, verdict);
  return TSANOM_OK;
}

/* The verdicts of a newer caller are larger than the library's: the stride is the
 * caller's size, and each element gets it back as its struct_size. */
static tsanom_status body(void *context) {
  diagnosis *d = context;
  size_t stride = d->verdicts->struct_size, t = 0;
  tsanom_status status = check_times(d);
  if (status < 0) return status;
  for (; t < d->count; t++) {
    if (tsn_exec_stop(&d->context.exec, t, d->count)) {
      status = TSANOM_STOPPED;
      break;
    }
    subject s = find_subject(d, t);
    tsanom_hsa_verdict one;
    status = judge(d, &s, &one);
    if (status < 0) {
      return tsn_reject_text(&d->context.exec, status, "run.threads", t, "%s",
                             tsanom_status_text(status));
    }
    unsigned char *place = (unsigned char *)d->verdicts + t * stride;
    memcpy(place, &stride, sizeof stride);
    tsn_versioned_write(&verdict_type, place, &one);
  }
  if (d->done) *d->done = t;
  return status;
}

/* The size of a verdict is also the distance of elements: it must keep them aligned. */
static tsanom_status check(void *context) {
  const diagnosis *d = context;
  const tsanom_exec *exec = &d->context.exec;
  const size_t alignment = _Alignof(tsanom_hsa_verdict);
  tsanom_status status = tsn_struct_check(exec, &verdict_type, d->verdicts, "verdicts");
  if (status < 0 || d->verdicts->struct_size % alignment == 0) return status;
  return tsn_reject_is(exec, TSANOM_E_VERSION, "verdicts.struct_size", TSANOM_NONE,
                       "%zu; a multiple of %zu is expected", d->verdicts->struct_size,
                       alignment);
}

tsanom_status tsanom_hsa_diagnose(const tsanom_hsa_model *model,
                                  const tsanom_hsa_run *run, const tsanom_exec *exec,
                                  tsanom_hsa_verdict *verdicts, size_t verdict_count,
                                  size_t *done) {
  diagnosis d = {.model = model, .run = run, .verdicts = verdicts, .done = done};
  tsanom_status status =
      tsn_hsa_context_read(&d.context, model ? &model->options : NULL, "model", exec);
  if (status < 0) return status;
  exec = &d.context.exec;
  if (!model) return tsn_reject_null(exec, "model", TSANOM_NONE);
  if (!run) return tsn_reject_null(exec, "run", TSANOM_NONE);
  if ((status = tsn_hsa_check_run(run, "run", TSANOM_NONE, exec)) < 0) return status;
  d.count = tsn_larger(model->thread_count, run->thread_count);
  if (verdict_count != d.count) {
    return tsn_reject_is(exec, TSANOM_E_COUNT, "verdict_count", TSANOM_NONE,
                         "%zu; %zu is expected, the threads of model or run",
                         verdict_count, d.count);
  }
  return tsn_workspace_run(exec, layout, check, body, &d);
}
