/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom diagnose: which thread of a run leaks memory or was shut down. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "diagnosis.h"
#include "labels.h"
#include "model.h"

enum { KEY_MODEL = 'm', KEY_LABELS = KEY_OWN, KEY_EXPLAIN, KEY_CHECK };

typedef struct {
  shared_options shared;
  const char *model_path, *labels_path;
  int explain, check;
  char **path;
  size_t runs;
} request;

static const struct argp_option options[] = {
    {"model", KEY_MODEL, "MODEL", 0, "The model, by \"tsanom learn\"", 0},
    {"labels", KEY_LABELS, "FILE.csv", 0,
     "Compare with the true status of each run: columns run and status (normal, "
     "memory_leak, shutdown)",
     0},
    {"explain", KEY_EXPLAIN, NULL, 0, "Print the path of normal threads too", 0},
    {"check", KEY_CHECK, NULL, 0, "Exit with 1 if a run is not normal", 0},
    {0}};

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      return 0;
    case KEY_MODEL:
      r->model_path = text;
      return 0;
    case KEY_LABELS:
      r->labels_path = text;
      return 0;
    case KEY_EXPLAIN:
      r->explain = 1;
      return 0;
    case KEY_CHECK:
      r->check = 1;
      return 0;
    case ARGP_KEY_ARGS:
      r->path = state->argv + state->next;
      r->runs = (size_t)(state->argc - state->next);
      return 0;
    case ARGP_KEY_END:
      if (!r->model_path) argp_error(state, "-m MODEL is missing");
      if (!r->runs) argp_error(state, "at least one run is expected");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static confusion count_confusion(const diagnosis *d, const int32_t *truth, size_t runs) {
  confusion c = {0};
  for (size_t i = 0; i < runs; i++) c.runs[truth[i]][d[i].status]++;
  return c;
}

static void print_confusion(const confusion *c) {
  printf("\nruns by true status (rows) and status found (columns)\n%-12s", "");
  for (int32_t k = 0; k < STATUSES; k++) printf("  %11s", tsanom_hsa_status_name(k));
  printf("      F-score\n");
  for (int32_t i = 0; i < STATUSES; i++) {
    printf("%-12s", tsanom_hsa_status_name(i));
    for (int32_t k = 0; k < STATUSES; k++) printf("  %11zu", c->runs[i][k]);
    double score = f_score(c, i);
    if (score < 0) {
      printf("  %11s\n", "-");
    } else {
      printf("  %11.4f\n", score);
    }
  }
  printf("macro F-score %.4f\n", macro_f_score(c));
}

static json_t *confusion_to_json(const confusion *c) {
  json_t *labels = json_array(), *rows = json_array(), *scores = json_array();
  for (int32_t i = 0; i < STATUSES; i++) {
    json_t *row = json_array();
    for (int32_t k = 0; k < STATUSES; k++) {
      json_array_append_new(row, json_integer((json_int_t)c->runs[i][k]));
    }
    double score = f_score(c, i);
    json_array_append_new(labels, json_string(tsanom_hsa_status_name(i)));
    json_array_append_new(rows, row);
    json_array_append_new(scores, score < 0 ? json_null() : json_real(score));
  }
  return json_pack("{so so so sf}", "labels", labels, "runs", rows, "f_score", scores,
                   "macro_f_score", macro_f_score(c));
}

static int print(const request *r, const diagnosis *d, const int32_t *truth) {
  confusion c = r->labels_path ? count_confusion(d, truth, r->runs) : (confusion){0};
  if (r->shared.json) {
    json_t *runs = json_array(), *result = json_pack("{so}", "runs", runs);
    for (size_t i = 0; i < r->runs; i++) {
      json_t *run = diagnosis_to_json(&d[i]);
      if (r->labels_path) {
        json_object_set_new(run, "expected",
                            json_string(tsanom_hsa_status_name(truth[i])));
      }
      json_array_append_new(runs, run);
    }
    if (r->labels_path) json_object_set_new(result, "confusion", confusion_to_json(&c));
    return print_json(result);
  }
  diagnoses_print(d, r->runs, r->explain);
  if (r->labels_path) print_confusion(&c);
  return EXIT_DONE;
}

static int diagnose_all(const request *r, const owned_model *m, diagnosis *d,
                        int32_t *truth, failure *why) {
  if (r->labels_path && labels_read(r->labels_path, r->path, r->runs, truth, why)) {
    return -1;
  }
  for (size_t i = 0; i < r->runs; i++) {
    if (diagnose(r->path[i], m, &r->shared.exec, r->shared.plot != NULL, &d[i], why)) {
      return -1;
    }
  }
  return r->shared.plot ? diagnoses_draw(d, r->runs, m->model, r->shared.plot, why) : 0;
}

static int report(const request *r, const owned_model *m) {
  failure why;
  diagnosis *d = calloc(r->runs, sizeof *d);
  int32_t *truth = calloc(r->runs, sizeof *truth);
  int status;
  if (!d || !truth) {
    fail(&why, "out of memory");
    status = refuse(&why);
  } else if (diagnose_all(r, m, d, truth, &why)) {
    status = refuse(&why);
  } else {
    status = print(r, d, truth);
  }
  for (size_t i = 0; d && i < r->runs; i++) {
    if (r->check && status == EXIT_DONE && d[i].status != TSANOM_HSA_NORMAL) {
      status = EXIT_FOUND;
    }
    diagnosis_free(&d[i]);
  }
  free(truth);
  free(d);
  return status;
}

int command_diagnose(int argc, char **argv) {
  static const struct argp_child children[] = {{&shared_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      options,
      parse,
      "-m MODEL RUN...",
      "Tell which threads of runs leak memory or were shut down, and why.\v"
      "A RUN is a run folder, or a CSV file with the columns thread and time (in "
      "seconds).",
      children,
      NULL,
      NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &r);
  owned_model m;
  failure why;
  if (model_read(r.model_path, &m, &why)) return refuse(&why);
  int status = report(&r, &m);
  model_free(&m);
  return status;
}
