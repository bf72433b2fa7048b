/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom summary: what happened in a run, on one page. The runs are read in
 * input/summary.c; the sentences are those of the library. */
#include <stdio.h>

#include "command.h"
#include "rows.h"
#include "run_open.h"
#include "summary.h"

typedef struct {
  shared_options shared;
  const char *model_path;
  int check;
} request;

static const option_row options[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "MODEL",
     TEXT(model_path),
     .help = "Judge the runs by a model of normal runs, by \"tsanom learn\""},
    SALVAGE_ROW,
    CHECK_ROW(check,
              "something is wrong: a run failed or hangs, is not normal by the model, or "
              "has slow iterations, different threads or ranks, or growing memory"),
};

static int take(const request *r, size_t index, const owned_model *m, json_t *runs,
                int *found, failure *why) {
  const char *path = r->shared.argument[index];
  int32_t answer, alarm;
  run_summary s = {0};
  int failed = summary_read(path, m, &r->shared.exec, r->shared.salvage, &s, why) ||
               (r->shared.plot && summary_draw(&s, r->shared.plot, why));
  if (!failed) {
    (void)tsanom_diagnosis_summary_answer(&s.about, &answer, &alarm);
    *found |= alarm;
  }
  if (!failed && runs) json_array_append_new(runs, summary_to_json(&s, path));
  if (!failed && !runs) {
    if (r->shared.arguments > 1) printf("%s%s\n", index ? "\n" : "", file_title(path));
    summary_print(&s);
  }
  summary_free(&s);
  return failed;
}

static int take_all(const request *r, const owned_model *m) {
  json_t *runs = r->shared.json ? json_array() : NULL;
  int found = 0;
  failure why;
  run_open_quietly(1);
  for (size_t i = 0; i < r->shared.arguments; i++) {
    if (!take(r, i, m, runs, &found, &why)) continue;
    json_decref(runs);
    return report_failure(&why);
  }
  int ended = runs ? print_json(json_pack("{so}", "runs", runs)) : EXIT_DONE;
  return ended == EXIT_DONE && r->check && found ? EXIT_FOUND : ended;
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "RUN...",
    .help =
        "What happened in a run, on one page that begins with the answer.\v"
        "RUN is a run directory by tsanom record, of a program that ended, was killed or "
        "still runs, or of all ranks of an MPI program; or a CSV file with the columns "
        "thread and time (in seconds).",
    .expected = "at least one run is",
    .least = 1,
    .most = 0,
    .one_plot = 1,
};

int command_summary(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  if (!r.model_path) return take_all(&r, NULL);
  owned_model m;
  failure why;
  if (model_read(r.model_path, &m, &why)) return report_failure(&why);
  int status;
  if (m.normal.thread_count) {
    status = take_all(&r, &m);
  } else {
    fail(&why, "%s: the model has no normal ranges of signs; learn it again",
         r.model_path);
    status = report_failure(&why);
  }
  model_free(&m);
  return status;
}
