/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts of a run by a model, as text and as JSON. Threads of the model that the run
 * lacks have a verdict, too: that they are missing may be the anomaly. */
#include "diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_value.h"
#include "rows.h"

enum { SENTENCE_BYTES = 512 };

static int judge(const owned_model *m, const tsanom_exec *exec, diagnosis *d,
                 failure *why) {
  size_t known = m->data.thread_count, found = d->b.run.thread_count;
  d->threads = known > found ? known : found;
  d->verdict = calloc(d->threads, sizeof *d->verdict);
  if (!d->verdict) return fail(why, "%s: out of memory", file_title(d->path));
  tsanom_hsa_verdict_init(d->verdict, sizeof *d->verdict);
  tsanom_status status =
      tsanom_hsa_diagnose(m->model, &d->b.run, exec, d->verdict, d->threads, NULL);
  if (status == TSANOM_E_VALUE) {
    return fail(why,
                "%s: a window of beats took no time: a finer clock, or a model with a "
                "larger --window, is needed",
                file_title(d->path));
  }
  if (status < 0) return fail_status(why, file_title(d->path), status);
  tsanom_hsa_run_status(d->verdict, d->threads, &d->status);
  return 0;
}

int diagnose(const char *path, const owned_model *m, const tsanom_exec *exec, int salvage,
             int keep_beats, diagnosis *d, failure *why) {
  *d = (diagnosis){.path = path};
  int failed = beats_read(path, exec, salvage, &d->b, why) || judge(m, exec, d, why);
  if (failed || !keep_beats) beats_free(&d->b);
  return failed ? -1 : 0;
}

void diagnosis_free(diagnosis *d) {
  free(d->verdict);
  beats_free(&d->b);
  *d = (diagnosis){0};
}

static int is_defined(const tsanom_hsa_features *features, int32_t feature) {
  return (int)(features->defined >> feature & 1);
}

static json_t *verdict_to_json(const tsanom_hsa_verdict *v, size_t thread) {
  json_t *features = json_object(), *path = json_array();
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    json_object_set_new(
        features, tsanom_hsa_feature_name(f),
        is_defined(&v->features, f) ? json_finite(v->features.value[f]) : json_null());
  }
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    json_array_append_new(path, json_string(sentence));
  }
  return json_pack("{sI ss so so}", "thread", (json_int_t)thread, "status",
                   tsanom_hsa_status_name(v->status), "features", features, "path", path);
}

json_t *diagnosis_to_json(const diagnosis *d) {
  json_t *threads = json_array();
  for (size_t i = 0; i < d->threads; i++) {
    json_array_append_new(threads, verdict_to_json(&d->verdict[i], i));
  }
  return json_pack("{so ss so}", "run", json_name(file_title(d->path)), "status",
                   tsanom_hsa_status_name(d->status), "threads", threads);
}

static void print_thread(const diagnosis *d, size_t thread, int width, int explain) {
  const tsanom_hsa_verdict *v = &d->verdict[thread];
  printf("%-*s  %6zu  %-11s", width, file_title(d->path), thread,
         tsanom_hsa_status_name(v->status));
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    if (is_defined(&v->features, f)) {
      printf("  %10.4g", v->features.value[f]);
    } else {
      printf("  %10s", "-");
    }
  }
  printf("\n");
  if (v->status == TSANOM_HSA_NORMAL && !explain) return;
  for (int32_t i = 0; i < v->step_count; i++) {
    char sentence[SENTENCE_BYTES];
    tsanom_hsa_step_text(&v->step[i], sentence, sizeof sentence, NULL);
    printf("%-*s          %d. %s\n", width, "", i + 1, sentence);
  }
}

void diagnoses_print(const diagnosis *d, size_t count, int explain) {
  int width = 3;
  for (size_t i = 0; i < count; i++) {
    int length = (int)strnlen(file_title(d[i].path), 60);
    if (length > width) width = length;
  }
  printf("%-*s  thread  status     ", width, "run");
  for (int32_t f = 0; f < TSANOM_HSA_FEATURES; f++) {
    printf("  %10s", tsanom_hsa_feature_name(f));
  }
  printf("\n");
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < d[i].threads; k++) print_thread(&d[i], k, width, explain);
    if (d[i].threads > 1) {
      printf("%-*s  %6s  %s\n", width, file_title(d[i].path), "all",
             tsanom_hsa_status_name(d[i].status));
    }
  }
}
