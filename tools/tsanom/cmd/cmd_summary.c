/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom summary: what happened in a run, on one page. Each method of the library and of the
 * other commands is asked, and tsanom_diagnosis_summarize() collects what they say. A method that
 * cannot be used, as the run lacks what it needs, is a sentence about what was not recorded.
 * The sentences are those of the library. */
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "diagnosis.h"
#include "json_value.h"
#include "rows.h"
#include "run_open.h"
#include "summary.h"

/* ---- what was not recorded */

static void add_missing(run_summary *s, const char *text) {
  (void)words_number(&s->missing, text);
}

/* Texts of warnings and messages from the element `first` on. Where there are iterations, it is ranks
 * that have none. */
static void add_texts(const json_t *list, size_t first, run_summary *s) {
  for (size_t i = first; i < json_array_size(list); i++) {
    const char *text =
        json_string_value(json_object_get(json_array_get(list, i), "text"));
    int is_of_part = s->about.iterations > 1 && !strcmp(text, RUN_WITHOUT_ITERATIONS);
    if (!is_of_part) add_missing(s, text);
    if (is_of_part && s->about.rank >= 0) add_missing(s, "no iterations of some ranks");
  }
}

/* The reason why a method could not be used, without the path of the run, or of a part of it, in
 * front. */
static void add_reason(const char *what, const failure *reason, const char *path,
                       run_summary *s) {
  char text[sizeof reason->text + 64];
  const char *said = reason->text, *after = NULL;
  size_t length = strlen(file_title(path));
  if (!strncmp(said, file_title(path), length)) after = strstr(said + length, ": ");
  (void)snprintf(text, sizeof text, "%s: %s", what, after ? after + 2 : said);
  add_missing(s, text);
}

/* ---- a process, or a job, and its team */

static tsanom_spmd_options team_options(void) {
  tsanom_spmd_options options;
  tsanom_spmd_options_init(&options, sizeof options);
  options.cut = TSANOM_SPMD_CUT_NOISE;
  return options;
}

static int read_process(const char *path, const owned_model *m, const tsanom_exec *exec,
                        int salvage, run_summary *s, failure *why) {
  tsanom_runs_info info;
  failure reason;
  if (summary_add_process(path, -1, m, exec, salvage, &info, s, why)) return -1;
  if (s->about.threads < 2) return 0;
  tsanom_spmd_options options = team_options();
  if (similarity_make_open(s->b.source, path, &options, exec, &s->team, &reason)) {
    add_reason("threads were not compared", &reason, path, s);
    return 0;
  }
  return similarity_summarize(&s->team, &s->about, &s->team_text);
}

static int read_job(char *path, const int32_t *ranks, size_t count, const owned_model *m,
                    const tsanom_exec *exec, int salvage, run_summary *s, failure *why) {
  tsanom_runs_info info;
  failure reason;
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = summary_add_process(own, ranks[i], m, exec, salvage, &info, s, why);
    free(own);
  }
  beats_free(&s->b);
  if (failed) return -1;
  tsanom_spmd_options options = team_options();
  if (similarity_make(&path, 1, &options, exec, salvage, &s->team, &reason)) {
    add_reason("ranks were not compared", &reason, path, s);
    return 0;
  }
  return similarity_summarize(&s->team, &s->about, &s->team_text);
}

/* ---- all of it */

static uint64_t bytes_found;

static int add_bytes(const char *path, const struct stat *about, int kind,
                     struct FTW *where) {
  enum { BLOCK = 512 };
  (void)path;
  (void)where;
  (void)kind;
  bytes_found += (uint64_t)about->st_blocks * BLOCK;
  return 0;
}

/* A directory that only has what recorders report: no run began. What they report is why: the
 * messages behind the `before` of other runs. */
static int explain(const char *path, size_t before, failure *why) {
  char page[PATH_MAX];
  size_t count = json_array_size(run_messages());
  const json_t *latest =
      count > before ? json_array_get(run_messages(), count - 1) : NULL;
  (void)snprintf(page, sizeof page, "%s/messages", path);
  if (!access(page, F_OK) && strstr(why->text, "not a run")) {
    (void)fail(why, "%s: nothing was recorded%s", file_title(path),
               latest ? ""
                      : ": the program opened no parallel region and called no function "
                        "of MPI, or ended before");
  }
  if (latest) {
    size_t used = strlen(why->text);
    (void)snprintf(why->text + used, sizeof why->text - used,
                   "; the recorder reports: %s",
                   json_string_value(json_object_get(latest, "text")));
  }
  return -1;
}

/* Read a run, or all ranks of a job; `m` may be NULL. */
static int summary_read(char *path, const owned_model *m, const tsanom_exec *exec,
                        int salvage, run_summary *s, failure *why) {
  enum { OPEN_MOST = 16 };
  size_t warnings = json_array_size(run_warnings()),
         messages = json_array_size(run_messages()), count;
  int32_t *ranks;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  int failed = count ? read_job(path, ranks, count, m, exec, salvage, s, why)
                     : read_process(path, m, exec, salvage, s, why);
  free(ranks);
  if (failed) return explain(path, messages, why);
  if (!s->about.accounted) {
    add_missing(s, isnan(s->about.peak)
                       ? "no vital signs: processor time and memory are not known"
                       : "too few vital signs: where its time went is not known");
  }
  bytes_found = 0;
  char *target = realpath(path, NULL); /* nftw() does not follow a link */
  if (target) (void)nftw(target, add_bytes, OPEN_MOST, FTW_PHYS);
  free(target);
  add_texts(run_messages(), messages, s);
  add_texts(run_warnings(), warnings, s);
  s->about.bytes = bytes_found;
  s->about.path = path;
  s->about.missing = (const char *const *)s->missing.text;
  s->about.missing_count = s->missing.count;
  return 0;
}

/* The times of iterations of a process; of a job the regions of its ranks. */
static int summary_draw(const run_summary *s, const char *path, failure *why) {
  if (s->about.searched && s->b.source) return slow_draw(s, path, why);
  if (s->team.file.data) return similarity_draw(&s->team, path, why);
  return fail(why, "%s: there are neither iterations nor regions to draw",
              file_title(s->about.path));
}

/* ---- as a page and as JSON */

/* A part, TSANOM_DIAGNOSIS_SUMMARY_*, to be freed. */
static char *text_of(const run_summary *s, int32_t part) {
  size_t length = 0;
  (void)tsanom_diagnosis_summary_text(&s->about, part, NULL, 0, &length);
  char *text = allocate(length + 1, 1);
  (void)tsanom_diagnosis_summary_text(&s->about, part, text, length + 1, NULL);
  return text;
}

static void summary_print(const run_summary *s) {
  char *text = text_of(s, TSANOM_DIAGNOSIS_SUMMARY_PAGE);
  printf("%s", text);
  free(text);
}

static json_t *text_to_json(const run_summary *s, int32_t part) {
  char *text = text_of(s, part);
  json_t *value = json_name(text);
  free(text);
  return value;
}

static json_t *end_to_json(const tsanom_diagnosis_summary *s) {
  int32_t code = s->exit_code;
  int is_inside = code >= TSANOM_EXIT_INSIDE;
  return json_pack("{ss so so sb so so so so}", "state", state_name(s->state), "status",
                   code < 0 || s->state != TSANOM_RUN_FINISHED
                       ? json_null()
                       : json_integer(code - (is_inside ? TSANOM_EXIT_INSIDE : 0)),
                   "signal", code < 0 ? json_integer(-code) : json_null(), "inside",
                   is_inside, "rank", s->rank < 0 ? json_null() : json_integer(s->rank),
                   "seconds", json_finite(s->seconds), "before_s",
                   json_finite(s->before_s), "children_s", json_finite(s->children_s));
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

static json_t *summary_to_json(const run_summary *s, const char *path) {
  const tsanom_diagnosis_summary *a = &s->about;
  static const char *const answers[] = {"quiet", "finding", "ended",  "team",
                                        "slow",  "grows",   "nobody", "ready"};
  int32_t answer, alarm;
  (void)tsanom_diagnosis_summary_answer(a, &answer, &alarm);
  const diagnosis of = {.ledger = a->ledger};
  json_t *missing = json_array();
  for (size_t i = 0; i < s->missing.count; i++) {
    json_array_append_new(missing, json_name(s->missing.text[i]));
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

/* ---- the command */

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
  char *path = r->shared.argument[index];
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
  run_open_quietly();
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
