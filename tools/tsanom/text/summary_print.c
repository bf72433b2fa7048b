/* SPDX-License-Identifier: BSD-3-Clause */
/* A summary as a page and as JSON. The sentences are those of the library. */
#include <stdio.h>
#include <stdlib.h>

#include "diagnosis.h"
#include "json_value.h"
#include "rows.h"
#include "summary.h"

/* A part, TSANOM_DIAGNOSIS_SUMMARY_*, to be freed; NULL: out of memory. */
static char *text_of(const run_summary *s, int32_t part) {
  size_t length = 0;
  (void)tsanom_diagnosis_summary_text(&s->about, part, NULL, 0, &length);
  char *text = malloc(length + 1);
  if (text) {
    (void)tsanom_diagnosis_summary_text(&s->about, part, text, length + 1, NULL);
  }
  return text;
}

void summary_print(const run_summary *s) {
  char *text = text_of(s, TSANOM_DIAGNOSIS_SUMMARY_PAGE);
  if (text) printf("%s", text);
  free(text);
}

static json_t *text_to_json(const run_summary *s, int32_t part) {
  char *text = text_of(s, part);
  json_t *value = text ? json_name(text) : json_null();
  free(text);
  return value;
}

static json_t *end_to_json(const tsanom_diagnosis_summary *s) {
  int32_t code = s->exit_code;
  int is_inside = code >= TSANOM_EXIT_INSIDE;
  return json_pack("{ss so so sb so so}", "state", state_name(s->state), "status",
                   code < 0 || s->state != TSANOM_RUN_FINISHED
                       ? json_null()
                       : json_integer(code - (is_inside ? TSANOM_EXIT_INSIDE : 0)),
                   "signal", code < 0 ? json_integer(-code) : json_null(), "inside",
                   is_inside, "rank", s->rank < 0 ? json_null() : json_integer(s->rank),
                   "seconds", json_finite(s->seconds));
}

static json_t *team_to_json(const tsanom_diagnosis_summary *s) {
  const tsanom_diagnosis_team *t = &s->team;
  if (!t->processes) return json_null();
  return json_pack("{sI sI so so so so so so sb}", "processes", (json_int_t)t->processes,
                   "members", (json_int_t)t->members, "first",
                   t->members ? json_integer((json_int_t)t->first) : json_null(),
                   "region", s->team_region ? json_name(s->team_region) : json_null(),
                   "ratio", t->members ? json_finite(t->ratio) : json_null(),
                   "half_width",
                   t->half_width > 0 ? json_finite(t->half_width) : json_null(),
                   "saved_s", json_finite(t->saved_s), "processor_s",
                   json_finite(t->processor_s), "other_work", t->other_work);
}

static json_t *findings_to_json(const tsanom_diagnosis_summary *s) {
  json_t *all = json_array();
  if (s->finding.cause == TSANOM_HSA_NORMAL) return all;
  json_t *one = finding_to_json(&s->finding);
  json_object_set_new(one, "rank",
                      s->rank < 0 ? json_null() : json_integer(s->finding_rank));
  json_array_append_new(all, one);
  return all;
}

json_t *summary_to_json(const run_summary *s, const char *path) {
  const tsanom_diagnosis_summary *a = &s->about;
  static const char *const answers[] = {"quiet", "finding", "ended",  "team",
                                        "slow",  "grows",   "nobody", "ready"};
  int32_t answer, alarm;
  (void)tsanom_diagnosis_summary_answer(a, &answer, &alarm);
  const diagnosis of = {.ledger = a->ledger};
  json_t *missing = json_array();
  for (size_t i = 0; i < s->missing_count; i++) {
    json_array_append_new(missing, json_name(s->missing[i]));
  }
  json_t *slow = a->searched ? slow_to_json(a) : json_null();
  return json_pack(
      "{so so ss sb so sI sI s{sI so so} so so so s{so so so sb} s{sI sI} so so}", "run",
      json_name(file_title(path)), "verdict",
      text_to_json(s, TSANOM_DIAGNOSIS_SUMMARY_VERDICT), "answer", answers[answer],
      "alarm", alarm, "end", end_to_json(a), "runs", (json_int_t)a->runs, "threads",
      (json_int_t)a->threads, "loop", "iterations", (json_int_t)a->iterations,
      "iteration_s", json_finite(a->iteration_s), "slow", slow, "ledger",
      ledger_to_json(&of), "findings", findings_to_json(a), "team", team_to_json(a),
      "memory", "peak", json_finite(a->peak), "growth", json_finite(a->growth), "rank",
      a->rank < 0 ? json_null() : json_integer(a->peak_rank), "grows", a->grows,
      "recorded", "records", (json_int_t)a->records, "bytes", (json_int_t)a->bytes,
      "not_recorded", missing, "next", text_to_json(s, TSANOM_DIAGNOSIS_SUMMARY_NEXT));
}
