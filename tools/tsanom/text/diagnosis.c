/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts of a run by a model. Threads of the model that the run lacks have a verdict,
 * too: that they are missing may be the anomaly. */
#include "diagnosis.h"

#include <stdlib.h>

#include "rows.h"

/* By the tree; of a model with ranges of signs only the features are of interest. */
static int judge(const owned_model *m, const tsanom_exec *exec, diagnosis *d,
                 failure *why) {
  size_t known = m->data.thread_count, found = d->b.run.thread_count;
  d->threads = known > found ? known : found;
  d->state = d->b.run.state;
  d->verdict = calloc(d->threads, sizeof *d->verdict);
  if (!d->verdict) return fail(why, "%s: out of memory", file_title(d->path));
  *d->verdict = (tsanom_hsa_verdict){.struct_size = sizeof *d->verdict};
  tsanom_status status =
      tsanom_hsa_diagnose(m->model, &d->b.run, exec, d->verdict, d->threads, NULL);
  if (status == TSANOM_E_VALUE) {
    return fail(why,
                "%s: a window of beats took no time: a finer clock, or a model with a "
                "larger --window, is needed",
                file_title(d->path));
  }
  if (status < 0) return fail_status(why, file_title(d->path), status);
  d->status = TSANOM_HSA_NORMAL; /* the worst of any thread: they are in this order */
  for (size_t t = 0; t < d->threads; t++) {
    if (d->verdict[t].status > d->status) d->status = d->verdict[t].status;
  }
  return 0;
}

int diagnosis_causes(const owned_model *m, const tsanom_hsa_run *run,
                     const tsanom_exec *exec, diagnosis *d, failure *why) {
  size_t threads = run->thread_count, capacity = 4 * threads + 8;
  d->signs = calloc(threads, sizeof *d->signs);
  d->signs_count = threads;
  d->cause = calloc(capacity, sizeof *d->cause);
  if (!d->signs || !d->cause) {
    return fail(why, "%s: out of memory", file_title(d->path));
  }
  tsanom_status status = tsanom_diagnosis_find_causes(&m->normal, run, exec, d->signs,
                                                      d->cause, capacity, &d->causes);
  return status < 0 ? fail_status(why, file_title(d->path), status) : 0;
}

/* By the causes. The path through the tree is none then. */
static int judge_causes(const owned_model *m, const tsanom_exec *exec, diagnosis *d,
                        failure *why) {
  if (!m->normal.thread_count) return 0;
  if (diagnosis_causes(m, &d->b.run, exec, d, why)) return -1;
  const tsanom_diagnosis_normal *n = &m->normal;
  int is_constant = n->run_count > 1 && n->fewest == n->beats;
  d->run_beats = beats_most(&d->b);
  if (is_constant && d->state == TSANOM_RUN_FINISHED && d->run_beats != n->beats)
    d->normal_beats = n->beats;
  tsanom_diagnosis_cause_status(d->cause, d->causes, TSANOM_HSA_PROCESS, &d->status);
  for (size_t t = 0; t < d->threads; t++) {
    d->verdict[t].step_count = 0;
    tsanom_diagnosis_cause_status(d->cause, d->causes, (int32_t)t, &d->verdict[t].status);
  }
  return 0;
}

static int account(const tsanom_exec *exec, diagnosis *d, failure *why) {
  size_t capacity = TSANOM_DIAGNOSIS_WINDOWS * d->b.run.thread_count;
  d->share = calloc(capacity, sizeof *d->share);
  d->share_threads = d->b.run.thread_count;
  if (!d->share) return fail(why, "%s: out of memory", file_title(d->path));
  tsanom_status status =
      tsanom_diagnosis_account(&d->b.run, exec, &d->ledger, d->share, capacity);
  return status < 0 ? fail_status(why, file_title(d->path), status) : 0;
}

int diagnose(const char *path, const owned_model *m, const tsanom_exec *exec, int salvage,
             int keep_beats, diagnosis *d, failure *why) {
  *d = (diagnosis){.path = path};
  int failed = beats_read(path, exec, salvage, &d->b, why) ||
               beats_check_numbers(&d->b, path, why) || judge(m, exec, d, why) ||
               judge_causes(m, exec, d, why) || account(exec, d, why);
  if (failed || !keep_beats) beats_free(&d->b);
  return failed ? -1 : 0;
}

void diagnosis_free(diagnosis *d) {
  free(d->verdict);
  free(d->signs);
  free(d->cause);
  free(d->share);
  beats_free(&d->b);
  *d = (diagnosis){0};
}
