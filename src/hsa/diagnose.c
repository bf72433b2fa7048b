/* SPDX-License-Identifier: BSD-3-Clause */
/* Diagnosing the threads of a run by a model. */
#include <string.h>

#include "core/exec.h"
#include "hsa/hsa.h"

tsanom_status tsanom_hsa_diagnose_workspace(const tsanom_hsa_model *model,
                                            const tsanom_exec *exec, size_t *bytes) {
  tsn_hsa_context context;
  tsanom_hsa_options options = {.struct_size = sizeof options};
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = tsanom_hsa_model_options(model, &options)) < 0) return status;
  if ((status = tsn_hsa_context_read(&context, &options, exec)) < 0) return status;
  tsn_arena arena = tsn_arena_measure();
  tsn_hsa_comparer comparer;
  status = tsn_hsa_comparer_layout(&arena, &context, &comparer);
  return status < 0 ? status : tsn_arena_bytes(&arena, bytes);
}

/* What the model and the run know of one thread number. */
typedef struct {
  tsanom_hsa_reference reference; /* beats == 0: nothing */
  tsanom_hsa_series series;       /* beats == 0: nothing */
} patient;

static patient find_patient(const tsanom_hsa_model *model, const tsanom_hsa_run *run,
                            size_t thread) {
  patient p = {.reference = {0}, .series = {0}};
  tsanom_hsa_model_get(model, thread, &p.reference);
  if (thread < run->thread_count) p.series = run->threads[thread];
  return p;
}

static tsanom_status check_run(const tsanom_hsa_model *model, const tsanom_hsa_run *run,
                               size_t thread_count) {
  for (size_t t = 0; t < thread_count; t++) {
    patient p = find_patient(model, run, t);
    /* Without a reference no heart rate is asked for. */
    size_t window = p.reference.beats ? p.reference.window : SIZE_MAX;
    tsanom_status status = tsn_hsa_check_series(&p.series, run->start, window);
    if (status < 0) return status;
  }
  return TSANOM_OK;
}

/* Shut down, unless a normal run did the same. */
static void judge_missing(const tsanom_hsa_reference *reference,
                          tsanom_hsa_verdict *verdict) {
  bool usual = reference->silent_runs > 0;
  tsn_hsa_ask_count(verdict, TSANOM_HSA_ASK_SILENT, usual, reference->silent_runs, 0);
  verdict->status = usual ? TSANOM_HSA_NORMAL : TSANOM_HSA_SHUTDOWN;
}

static tsanom_status judge(const tsn_hsa_context *context, const patient *p, double start,
                           tsn_hsa_comparer *comparer, tsanom_hsa_verdict *verdict) {
  const tsanom_hsa_reference *reference = &p->reference;
  size_t beats = p->series.beats;
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
  tsn_hsa_windows windows = {reference->window, reference->local_window};
  tsn_hsa_digest digest = tsn_hsa_digest_of(reference);
  tsanom_hsa_features features;
  tsanom_status status = tsn_hsa_compare_series(context, &p->series, start, &windows,
                                                &digest, comparer, &features);
  if (status < 0) return status;
  if (beats <= windows.window) {
    verdict->features = features;
    tsn_hsa_ask_count(verdict, TSANOM_HSA_ASK_WINDOW, false, beats, windows.window);
    judge_missing(reference, verdict);
    return TSANOM_OK;
  }
  return tsanom_hsa_classify(&features, reference->range, context->options.rule, verdict);
}

static tsanom_status judge_all(const tsn_hsa_context *context,
                               const tsanom_hsa_model *model, const tsanom_hsa_run *run,
                               tsn_hsa_comparer *comparer, tsanom_hsa_verdict *verdict,
                               size_t count) {
  for (size_t t = 0; t < count; t++) {
    if (tsn_exec_stop(&context->exec, t, count)) return TSANOM_STOPPED;
    patient p = find_patient(model, run, t);
    tsanom_hsa_verdict one;
    tsanom_status status = judge(context, &p, run->start, comparer, &one);
    if (status < 0) return status;
    verdict[t] = one;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_hsa_diagnose(const tsanom_hsa_model *model, size_t model_bytes,
                                  const tsanom_hsa_run *run, const tsanom_exec *exec,
                                  void *work, size_t work_bytes,
                                  tsanom_hsa_verdict *verdict, size_t verdict_count) {
  tsn_hsa_context context;
  tsanom_hsa_options options = {.struct_size = sizeof options};
  tsanom_status status;
  if (!model || !run || !run->threads || !verdict) return TSANOM_E_NULL;
  if ((status = tsanom_hsa_model_check(model, model_bytes)) < 0) return status;
  tsanom_hsa_model_options(model, &options);
  if ((status = tsn_hsa_context_read(&context, &options, exec)) < 0) return status;
  size_t threads = tsanom_hsa_model_threads(model);
  size_t count = threads > run->thread_count ? threads : run->thread_count;
  if (run->thread_count == 0 || verdict_count != count) return TSANOM_E_COUNT;
  if ((status = check_run(model, run, count)) < 0) return status;

  tsn_arena measured = tsn_arena_measure();
  tsn_hsa_comparer comparer;
  if ((status = tsn_hsa_comparer_layout(&measured, &context, &comparer)) < 0) {
    return status;
  }
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &context.exec, work, work_bytes);
  if (status < 0) return status;
  status = tsn_hsa_comparer_layout(&workspace.arena, &context, &comparer);
  if (status >= 0) {
    status = judge_all(&context, model, run, &comparer, verdict, count);
  }
  tsn_workspace_close(&workspace);
  return status;
}
