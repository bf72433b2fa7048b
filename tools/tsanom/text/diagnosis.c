/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes and states of runs, for the commands that judge runs. */
#include "diagnosis.h"

#include <stdlib.h>

#include "json_value.h"
#include "rows.h"

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

void diagnosis_free(diagnosis *d) {
  free(d->verdict);
  free(d->signs);
  free(d->cause);
  free(d->share);
  beats_free(&d->b);
  *d = (diagnosis){0};
}

const char *state_name(int32_t state) {
  static const char *const names[] = {"unknown", "finished", "killed", "running"};
  return names[state];
}

json_t *finding_to_json(const tsanom_diagnosis_finding *f) {
  char evidence[SENTENCE_BYTES], next[SENTENCE_BYTES];
  tsanom_diagnosis_cause_text(f, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, evidence,
                              sizeof evidence, NULL);
  tsanom_diagnosis_cause_text(f, TSANOM_DIAGNOSIS_CAUSE_NEXT, next, sizeof next, NULL);
  return json_pack(
      "{ss so so so so so so so so so sI ss ss}", "cause",
      tsanom_hsa_status_name(f->cause), "thread",
      f->thread < 0 ? json_null() : json_integer(f->thread), "name",
      *f->name ? json_string(f->name) : json_null(), "sign",
      f->sign < 0 ? json_null() : json_string(tsanom_diagnosis_sign_name(f->sign)),
      "value", json_finite(f->value), "most", json_finite(f->most), "limit",
      json_finite(f->limit), "lost_s", json_finite(f->lost_s), "begin",
      json_finite(f->begin), "end", json_finite(f->end), "iteration",
      (json_int_t)f->iteration, "evidence", evidence, "next", next);
}
