/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts of runs as text and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnosis.h"
#include "json_value.h"
#include "rows.h"

enum { SENTENCE_BYTES = 512 };

const char *state_name(int32_t state) {
  static const char *const names[] = {"unknown", "finished", "killed", "running"};
  return names[state];
}

static int is_defined(const tsanom_hsa_features *features, int32_t feature) {
  return (int)(features->defined >> feature & 1);
}

static json_t *features_to_json(const diagnosis *d, size_t thread) {
  const tsanom_hsa_features *f = &d->verdict[thread].features;
  json_t *features = json_object();
  for (int32_t i = 0; i < TSANOM_HSA_FEATURES; i++) {
    json_object_set_new(features, tsanom_hsa_feature_name(i),
                        is_defined(f, i) ? json_finite(f->value[i]) : json_null());
  }
  for (int32_t i = 0; thread < d->signs_count && i < TSANOM_DIAGNOSIS_SIGNS; i++) {
    json_object_set_new(features, tsanom_diagnosis_sign_name(i),
                        json_finite(d->signs[thread].value[i]));
  }
  return features;
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

/* Those of a thread, or of the run and all its threads (TSANOM_HSA_PROCESS). */
static json_t *causes_to_json(const diagnosis *d, int32_t thread) {
  json_t *causes = json_array();
  for (size_t i = 0; i < d->causes; i++) {
    if (thread >= 0 && d->cause[i].thread != thread) continue;
    json_array_append_new(causes, finding_to_json(&d->cause[i]));
  }
  return causes;
}

static json_t *thread_to_json(const diagnosis *d, size_t thread) {
  const tsanom_hsa_verdict *v = &d->verdict[thread];
  json_t *path = json_array();
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    json_array_append_new(path, json_string(sentence));
  }
  return json_pack("{sI ss so so so}", "thread", (json_int_t)thread, "status",
                   tsanom_hsa_status_name(v->status), "causes",
                   causes_to_json(d, (int32_t)thread), "features",
                   features_to_json(d, thread), "path", path);
}

json_t *diagnosis_to_json(const diagnosis *d) {
  json_t *threads = json_array();
  for (size_t i = 0; i < d->threads; i++) {
    json_array_append_new(threads, thread_to_json(d, i));
  }
  return json_pack("{so ss ss so so so}", "run", json_name(file_title(d->path)), "state",
                   state_name(d->state), "status", tsanom_hsa_status_name(d->status),
                   "ledger", ledger_to_json(d), "causes",
                   causes_to_json(d, TSANOM_HSA_PROCESS), "threads", threads);
}

static void print_features(const tsanom_hsa_features *features) {
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    if (is_defined(features, f)) {
      printf("  %10.4g", features->value[f]);
    } else {
      printf("  %10s", "-");
    }
  }
}

/* The causes of a thread, or those of the run alone. */
static void print_causes(const diagnosis *d, int32_t thread, int width) {
  for (size_t i = 0; i < d->causes; i++) {
    char evidence[SENTENCE_BYTES], next[SENTENCE_BYTES];
    if (d->cause[i].thread != thread) continue;
    tsanom_diagnosis_cause_text(&d->cause[i], TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, evidence,
                                sizeof evidence, NULL);
    tsanom_diagnosis_cause_text(&d->cause[i], TSANOM_DIAGNOSIS_CAUSE_NEXT, next,
                                sizeof next, NULL);
    printf("%-*s          %s: %s\n%-*s          Next: %s\n", width, "",
           tsanom_hsa_status_name(d->cause[i].cause), evidence, width, "", next);
  }
}

static void print_signs(const tsanom_diagnosis_signs *signs, int width) {
  for (int32_t i = 0; i < TSANOM_DIAGNOSIS_SIGNS; i++) {
    if (isnan(signs->value[i])) continue;
    printf("%-*s          %s %.4g\n", width, "", tsanom_diagnosis_sign_name(i),
           signs->value[i]);
  }
}

static void print_path(const tsanom_hsa_verdict *v, int width) {
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    printf("%-*s          %d. %s\n", width, "", i + 1, sentence);
  }
}

static void print_thread(const diagnosis *d, size_t thread, int width, int explain) {
  const tsanom_hsa_verdict *v = &d->verdict[thread];
  printf("%-*s  %6zu  %-14s", width, file_title(d->path), thread,
         tsanom_hsa_status_name(v->status));
  if (d->signs) {
    printf("\n");
    print_causes(d, (int32_t)thread, width);
    if (explain && thread < d->signs_count) print_signs(&d->signs[thread], width);
    return;
  }
  print_features(&v->features);
  printf("\n");
  if (v->status != TSANOM_HSA_NORMAL || explain) print_path(v, width);
}

static void print_run(const diagnosis *d, int width) {
  if (d->threads == 1 && !d->signs) return;
  printf("%-*s  %6s  %s", width, file_title(d->path), "all",
         tsanom_hsa_status_name(d->status));
  if (d->signs && d->state != TSANOM_RUN_UNKNOWN) {
    printf(" (%s", state_name(d->state));
    if (d->normal_beats) {
      printf("; %llu beats, each normal run has %llu", (unsigned long long)d->run_beats,
             (unsigned long long)d->normal_beats);
    }
    printf(")");
  }
  printf("\n");
  print_causes(d, TSANOM_HSA_PROCESS, width);
}

void diagnoses_print(const diagnosis *d, size_t count, int explain) {
  int width = 3;
  for (size_t i = 0; i < count; i++) {
    int length = (int)strnlen(file_title(d[i].path), 60);
    if (length > width) width = length;
  }
  printf("%-*s  thread  status        ", width, "run");
  for (int32_t f = 0; !d->signs && f < TSANOM_HSA_FEATURES; f++) {
    printf("  %10s", tsanom_hsa_feature_name(f));
  }
  printf("\n");
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].threads; k++) print_thread(&d[i], k, width, explain);
    print_run(&d[i], width);
    ledger_print(&d[i], width, explain);
  }
}
