/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes, states and ledgers of runs, for the commands that judge runs. */
#include "diagnosis.h"

#include <math.h>
#include <stdlib.h>

#include "json_value.h"
#include "reserve.h"
#include "rows.h"

int diagnosis_causes(const owned_model *m, const tsanom_hsa_run *run,
                     const tsanom_exec *exec, diagnosis *d, failure *why) {
  size_t threads = run->thread_count, capacity = 4 * threads + 8;
  d->signs = allocate(threads, sizeof *d->signs);
  d->signs_count = threads;
  d->cause = allocate(capacity, sizeof *d->cause);
  tsanom_status status = tsanom_diagnosis_find_causes(&m->normal, run, exec, d->signs,
                                                      d->cause, capacity, &d->causes);
  return status < 0 ? fail_status(why, file_title(d->path), status) : 0;
}

int digits_of(double number) {
  int is_large = fabs(number) >= 999.5 && isfinite(number);
  return is_large ? 1 + (int)log10(fabs(number) + 0.5) : 3;
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
      "{ss so so so so so so so so so sI so so}", "cause",
      tsanom_hsa_status_name(f->cause), "thread",
      f->thread < 0 ? json_null() : json_integer(f->thread), "name",
      *f->name ? json_name(f->name) : json_null(), "sign",
      f->sign < 0 ? json_null() : json_string(tsanom_diagnosis_sign_name(f->sign)),
      "value", json_finite(f->value), "most", json_finite(f->most), "limit",
      json_finite(f->limit), "lost_s", json_finite(f->lost_s), "begin",
      json_finite(f->begin), "end", json_finite(f->end), "iteration",
      (json_int_t)f->iteration, "evidence", json_name(evidence), "next", json_name(next));
}

static json_t *window_to_json(const tsanom_diagnosis_window *w) {
  return json_pack("{so so so so so so}", "begin_s", json_finite(w->begin), "end_s",
                   json_finite(w->end), "wall_s", json_finite(w->wall_s), "cpu_s",
                   json_finite(w->cpu_s), "ready_s", json_finite(w->ready_s), "nobody_s",
                   json_finite(w->nobody_s));
}

static json_t *share_to_json(size_t thread, const tsanom_diagnosis_share *s) {
  return json_pack("{sI so so so}", "thread", (json_int_t)thread, "cpu_s",
                   json_finite(s->cpu_s), "ready_s", json_finite(s->ready_s), "off_s",
                   json_finite(s->off_s));
}

json_t *ledger_to_json(const diagnosis *d) {
  if (!d->ledger.sampled) return json_null();
  json_t *parts = json_array(), *threads = json_array();
  json_t *ledger = window_to_json(&d->ledger.window[0]);
  for (size_t w = 1; w < TSANOM_DIAGNOSIS_WINDOWS; w++) {
    json_array_append_new(parts, window_to_json(&d->ledger.window[w]));
  }
  for (size_t t = 0; t < d->share_threads; t++) {
    json_array_append_new(threads, share_to_json(t, &d->share[t]));
  }
  json_object_set_new(ledger, "processors",
                      json_integer((json_int_t)d->ledger.processors));
  json_object_set_new(ledger, "parts", parts);
  json_object_set_new(ledger, "threads", threads);
  return ledger;
}
