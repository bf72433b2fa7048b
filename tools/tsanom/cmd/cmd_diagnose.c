/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom diagnose: what is not normal in a run, in which thread, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "diagnosis.h"
#include "model.h"
#include "rows.h"

/* Known statuses of runs, from a table with the columns run and status: what verdicts
 * are compared with. A run is named by its path or by the end of it after a slash, so
 * that the table can be used from any directory. */

enum { STATUSES = TSANOM_HSA_STATUSES };

/* Runs by their true status (row) and the status found (column). */
typedef struct {
  size_t runs[STATUSES][STATUSES];
} confusion;

enum { STATUS_BYTES = 32 }; /* of a name and a comma */

typedef struct {
  char *const *run;
  size_t count;
  int32_t *status;          /* of each run; -1: not found yet */
  size_t run_at, status_at; /* columns */
  size_t fields;            /* of the header; 0 before it was met */
} labelling;

/* Tell whether the path is the name, or ends with it after a slash. */
static int is_called(const char *path, const char *name) {
  size_t length = strlen(path), tail = strlen(name);
  while (length > 1 && path[length - 1] == '/') length--;
  if (tail > length || memcmp(path + length - tail, name, tail) != 0) return 0;
  return tail == length || path[length - tail - 1] == '/';
}

static int take_header(labelling *l, const row *r, failure *why) {
  l->run_at = l->status_at = r->count;
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->field[i], "run") == 0) l->run_at = i;
    if (strcmp(r->field[i], "status") == 0) l->status_at = i;
  }
  if (l->run_at == r->count || l->status_at == r->count) {
    return fail(why, "%s:%zu: a header with the columns run and status is expected",
                r->file, r->line);
  }
  l->fields = r->count;
  return 0;
}

/* "normal, memory_leak, ..." */
static const char *list_statuses(char text[STATUSES * STATUS_BYTES]) {
  size_t used = 0;
  for (int32_t s = 0; s < STATUSES; s++) {
    used += (size_t)snprintf(text + used, STATUS_BYTES, "%s%s", s ? ", " : "",
                             tsanom_hsa_status_name(s));
  }
  return text;
}

static int take_label(void *user, const row *r, failure *why) {
  labelling *l = user;
  if (!l->fields) return take_header(l, r, why);
  if (r->count != l->fields) {
    return fail(why, "%s:%zu: %zu fields where the header has %zu", r->file, r->line,
                r->count, l->fields);
  }
  int32_t status = 0;
  while (status < STATUSES &&
         strcmp(r->field[l->status_at], tsanom_hsa_status_name(status)) != 0) {
    status++;
  }
  if (status == STATUSES) {
    char shown[QUOTED_BYTES], known[STATUSES * STATUS_BYTES];
    return fail(why, "%s:%zu: column %zu (status): %s: one of %s is expected", r->file,
                r->line, l->status_at + 1, quoted(shown, r->field[l->status_at]),
                list_statuses(known));
  }
  for (size_t i = 0; i < l->count; i++) {
    if (!is_called(l->run[i], r->field[l->run_at])) continue;
    if (l->status[i] >= 0 && l->status[i] != status) {
      return fail(why, "%s:%zu: the run %s has two statuses", r->file, r->line,
                  l->run[i]);
    }
    l->status[i] = status;
  }
  return 0;
}

/* Read the true status of each of `count` runs from a CSV file with the columns
 * run and status. A run is found by its path, or by the end of it after a slash.
 * Each run must be there. */
static int labels_read(const char *path, char *const *run, size_t count, int32_t *status,
                       failure *why) {
  labelling l = {.run = run, .count = count, .status = status};
  for (size_t i = 0; i < count; i++) status[i] = -1;
  if (rows_read_file(path, take_label, &l, why)) return -1;
  for (size_t i = 0; i < count; i++) {
    if (status[i] < 0) {
      return fail(why, "%s: the run %s is not in it: a row for each run is expected",
                  file_title(path), run[i]);
    }
  }
  return 0;
}

/* Whether a run has the status, or one was found; or it is one of the three statuses of
 * the decision trees, which tables always have. */
static int is_shown(const confusion *c, int32_t status) {
  size_t runs = 0;
  for (int32_t other = 0; other < STATUSES; other++) {
    runs += c->runs[status][other] + c->runs[other][status];
  }
  return runs || status <= TSANOM_HSA_SHUTDOWN;
}

/* F-score of a status: 2 TP / (2 TP + FP + FN); -1 if there is no such run and none
 * was found. */
static double f_score(const confusion *c, int32_t status) {
  size_t hits = c->runs[status][status], misses = 0, alarms = 0;
  for (int32_t other = 0; other < STATUSES; other++) {
    if (other == status) continue;
    misses += c->runs[status][other];
    alarms += c->runs[other][status];
  }
  size_t all = 2 * hits + misses + alarms;
  return all ? 2 * (double)hits / (double)all : -1;
}

/* Mean F-score of the statuses that have one. */
static double macro_f_score(const confusion *c) {
  double sum = 0;
  int scores = 0;
  for (int32_t status = 0; status < STATUSES; status++) {
    double score = f_score(c, status);
    if (score < 0) continue;
    sum += score;
    scores++;
  }
  return scores ? sum / scores : 0;
}

typedef struct {
  shared_options shared;
  const char *model_path, *labels_path;
  int explain, check, alignment;
} request;

static const option_row options[] = {
    {"model", 'm', "MODEL", "The model, by \"tsanom learn\"", TEXT(model_path)},
    {"labels", 0, "FILE.csv",
     "Compare with the true status of each run: columns run and status (normal, "
     "memory_leak, shutdown, contention, slowdown, imbalance, hang)",
     TEXT(labels_path)},
    {"explain", 0, NULL, "Print the numbers of normal threads too", FLAG(explain)},
    {"alignment", 0, NULL,
     "--plot draws how the heart rates of a thread are aligned with the model: of the "
     "first run, the first thread that is not normal, or thread 0",
     FLAG(alignment)},
    SALVAGE_ROW,
    CHECK_ROW(check, "a run is not normal"),
};

static confusion count_confusion(const diagnosis *d, const int32_t *truth, size_t runs) {
  confusion c = {0};
  for (size_t i = 0; i < runs; i++) c.runs[truth[i]][d[i].status]++;
  return c;
}

static void print_confusion(const confusion *c) {
  printf("\nruns by true status (rows) and status found (columns)\n%-14s", "");
  for (int32_t k = 0; k < STATUSES; k++) {
    if (is_shown(c, k)) printf("  %11s", tsanom_hsa_status_name(k));
  }
  printf("      F-score\n");
  for (int32_t i = 0; i < STATUSES; i++) {
    if (!is_shown(c, i)) continue;
    printf("%-14s", tsanom_hsa_status_name(i));
    for (int32_t k = 0; k < STATUSES; k++) {
      if (is_shown(c, k)) printf("  %11zu", c->runs[i][k]);
    }
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
    if (!is_shown(c, i)) continue;
    json_t *line = json_array();
    for (int32_t k = 0; k < STATUSES; k++) {
      if (!is_shown(c, k)) continue;
      json_array_append_new(line, json_integer((json_int_t)c->runs[i][k]));
    }
    double score = f_score(c, i);
    json_array_append_new(labels, json_string(tsanom_hsa_status_name(i)));
    json_array_append_new(rows, line);
    json_array_append_new(scores, score < 0 ? json_null() : json_real(score));
  }
  return json_pack("{so so so sf}", "labels", labels, "runs", rows, "f_score", scores,
                   "macro_f_score", macro_f_score(c));
}

static int print(const request *r, const diagnosis *d, const int32_t *truth) {
  confusion c =
      r->labels_path ? count_confusion(d, truth, r->shared.arguments) : (confusion){0};
  if (r->shared.json) {
    json_t *runs = json_array(), *result = json_pack("{so}", "runs", runs);
    for (size_t i = 0; i < r->shared.arguments; i++) {
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
  diagnoses_print(d, r->shared.arguments, r->explain);
  if (r->labels_path) print_confusion(&c);
  return EXIT_DONE;
}

static int diagnose_all(const request *r, const owned_model *m, diagnosis *d,
                        int32_t *truth, failure *why) {
  if (r->labels_path &&
      labels_read(r->labels_path, r->shared.argument, r->shared.arguments, truth, why)) {
    return -1;
  }
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (diagnose(r->shared.argument[i], m, &r->shared.exec, r->shared.salvage,
                 r->shared.plot != NULL, &d[i], why)) {
      return -1;
    }
  }
  if (r->alignment) return alignment_draw(d, &m->data, r->shared.plot, why);
  return r->shared.plot
             ? diagnoses_draw(d, r->shared.arguments, &m->data, r->shared.plot, why)
             : 0;
}

static int report(const request *r, const owned_model *m) {
  failure why;
  diagnosis *d = calloc(r->shared.arguments, sizeof *d);
  int32_t *truth = calloc(r->shared.arguments, sizeof *truth);
  int status;
  if (!d || !truth) {
    fail(&why, "out of memory");
    status = report_failure(&why);
  } else if (diagnose_all(r, m, d, truth, &why)) {
    status = report_failure(&why);
  } else {
    status = print(r, d, truth);
  }
  for (size_t i = 0; d && i < r->shared.arguments; i++) {
    if (r->check && status == EXIT_DONE && d[i].status != TSANOM_HSA_NORMAL) {
      status = EXIT_FOUND;
    }
    diagnosis_free(&d[i]);
  }
  free(truth);
  free(d);
  return status;
}

static void check_line(struct argp_state *state, void *request_) {
  const request *r = request_;
  if (!r->model_path) argp_error(state, "-m MODEL is missing");
  if (r->alignment && !r->shared.plot) argp_error(state, "--alignment needs --plot");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "-m MODEL RUN...",
    .help =
        "Report what is not normal in runs, in which thread, and why.\v"
        "A RUN is a run directory, or a CSV file with the columns thread and time "
        "(in seconds).",
    .expected = "at least one run is",
    .least = 1,
    .check = check_line,
};

int command_diagnose(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  owned_model m;
  failure why;
  if (expand_ranks(&r.shared, &why) || model_read(r.model_path, &m, &why)) {
    return report_failure(&why);
  }
  int status = report(&r, &m);
  model_free(&m);
  return status;
}
