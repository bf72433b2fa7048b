/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom summary: what happened in a run, on one page. The runs are read in
 * input/summary.c; the sentences are those of the library. */
#include "command.h"
#include "rows.h"
#include "run_open.h"
#include "summary.h"

typedef struct {
  shared_options shared;
  const char *model_path;
  const owned_model *model; /* NULL: none is given */
  int check;
} request;

static const option_row options[] = {
    {"model", 'm', "MODEL",
     "Judge the runs by a model of normal runs, by \"tsanom learn\"", TEXT(model_path)},
    SALVAGE_ROW,
    CHECK_ROW(check,
              "something is wrong: a run failed or hangs, is not normal by the model, or "
              "has slow iterations, different threads or ranks, or growing memory"),
};

static int take(const void *request_, size_t index, json_t *runs, int *found,
                failure *why) {
  const request *r = request_;
  const char *path = r->shared.argument[index];
  int32_t answer, alarm;
  run_summary s = {.draws = r->shared.plot != NULL};
  int failed =
      summary_read(path, r->model, &r->shared.exec, r->shared.salvage, &s, why) ||
      (r->shared.plot && summary_draw(&s, r->shared.plot, why));
  if (!failed) {
    (void)tsanom_diagnosis_summary_answer(&s.about, &answer, &alarm);
    *found |= alarm;
  }
  if (!failed && runs) {
    json_array_append_new(runs, summary_to_json(&s, path));
  } else if (!failed) {
    print_heading(&r->shared, index, "\n");
    summary_print(&s);
  }
  summary_free(&s);
  return failed;
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
    .one_plot = 1,
};

int command_summary(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  run_open_quietly(1);
  if (!r.model_path) return for_each_run(&r.shared, r.check, take, &r);
  owned_model m;
  failure why;
  if (model_read(r.model_path, &m, &why)) return report_failure(&why);
  int status;
  r.model = &m;
  if (m.normal.thread_count) {
    status = for_each_run(&r.shared, r.check, take, &r);
  } else {
    fail(&why, "%s: the model has no normal ranges of signs; learn it again",
         r.model_path);
    status = report_failure(&why);
  }
  model_free(&m);
  return status;
}
