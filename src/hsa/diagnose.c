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
#include <string.h>

#include "core/size.h"
#include "hsa/hsa.h"

/* One call. */
typedef struct {
  tsn_hsa_context context;
  const tsanom_hsa_model *model;
  const tsanom_hsa_run *run;
  tsanom_hsa_verdict *verdicts;
  size_t count, *done;
  tsn_hsa_scratch scratch;
  tsn_hsa_digest digest; /* of one thread after the other */
  double *numbers;
} diagnosis;

static void layout(tsn_arena *arena, void *context) {
  diagnosis *d = context;
  d->numbers =
      tsn_arena_take(arena, tsn_hsa_digest_numbers(&d->context.options), sizeof(double));
  tsn_hsa_scratch_layout(arena, &d->context, &d->scratch);
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
  tsn_hsa_ask_count(verdict, TSANOM_HSA_ASK_SILENT, usual, reference->silent_runs, 0);
  verdict->status = usual ? TSANOM_HSA_NORMAL : TSANOM_HSA_SHUTDOWN;
}

/* The verdict of one thread. Which question ends the path before the tree is recorded as
 * a step, so that the path explains every verdict. */
static tsanom_status judge(diagnosis *d, const subject *s, tsanom_hsa_verdict *verdict) {
  const tsanom_hsa_reference *reference = s->reference;
  size_t beats = s->series->beats;
  memset(verdict, 0, sizeof *verdict);
  if (reference->beats == 0) {
    tsn_hsa_ask_count(verdict, TSANOM_HSA_ASK_KNOWN, false, 0, beats);
    return TSANOM_OK;
  }
  if (beats == 0) {
    tsn_hsa_define(&verdict->features, TSANOM_HSA_BEAT_RATIO, 0);
    tsn_hsa_ask_count(verdict, TSANOM_HSA_ASK_BEATS, false, 0, reference->window);
    judge_missing(reference, verdict);
    return TSANOM_OK;
  }
  tsanom_hsa_features features;
  tsanom_status status =
      tsn_hsa_compare_series(&d->context, s->series, d->run->start, reference,
                             &d->scratch, &d->digest, &features);
  if (status < 0) return status;
  if (beats <= reference->window) {
    verdict->features = features;
    tsn_hsa_ask_count(verdict, TSANOM_HSA_ASK_WINDOW, false, beats, reference->window);
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
  tsn_hsa_digest_place(&d->digest, &d->context.options, d->numbers);
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
    tsn_hsa_verdict_write((tsanom_hsa_verdict *)(void *)place, &one);
  }
  if (d->done) *d->done = t;
  return status;
}

static tsanom_status check(void *context) {
  const diagnosis *d = context;
  return tsn_hsa_verdict_check(d->verdicts, &d->context.exec);
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
