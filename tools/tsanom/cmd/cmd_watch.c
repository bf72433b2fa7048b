/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch: what a running program does, and what is not normal about it. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"
#include "watched.h"

typedef struct {
  shared_options shared;
  const char *model_path, *on_anomaly, *openmetrics;
  double every, hang;
  int wait, check, until_anomaly;
} request;

static const option_row options[] = {
    {"model", 'm', "MODEL",
     "Judge the run by this model, by \"tsanom learn\"; without it, only hangs and the "
     "end of the run are reported",
     TEXT(model_path)},
    {"every", 0, "S", "Look at the run every S seconds (default: 1)",
     NUMBER(every, 0.01, 86400, 0)},
    {"wait", 0, NULL, "Wait until the run appears", FLAG(wait)},
    {"hang", 0, "SECONDS",
     "A thread hangs if it does not beat for SECONDS (default: three of its longest "
     "usual intervals, at least 1)",
     NUMBER(hang, 0, INFINITY, LOW_OPEN | HIGH_OPEN)},
    {"on-anomaly", 0, "COMMAND",
     "Run COMMAND by sh once at each onset, with TSANOM_RUN, TSANOM_CAUSE, "
     "TSANOM_THREAD, TSANOM_ONSET, TSANOM_ITERATION and TSANOM_EVIDENCE",
     TEXT(on_anomaly)},
    {"openmetrics", 0, "FILE",
     "Replace FILE at each look by metrics in OpenMetrics text, for the node exporter of "
     "Prometheus",
     TEXT(openmetrics)},
    {"until-anomaly", 0, NULL, "End at the first anomaly", FLAG(until_anomaly)},
    CHECK_ROW(check, "an anomaly was reported"),
};

/* ---- the runs of one watch */

/* A table of 60 bytes can state any number of ranks. */
enum { MOST_ABSENT = 1 << 16 };

/* Takes over the path. */
static void append(watch_list *list, char *path, int32_t rank, const owned_model *model,
                   double hang) {
  reserve(&list->run, &list->capacity, list->count + 1, sizeof *list->run);
  list->run[list->count++] =
      (watched){.path = path, .rank = rank, .model = model, .hang = hang};
}

/* If run `i` is that of several ranks, put the runs of these in its place; ranks that
 * have not begun are among them if the size of the job is known. */
static int split_ranks(watch_list *list, size_t i, failure *why) {
  watched whole = list->run[i];
  int32_t *rank = NULL;
  size_t count = 0, size = 0;
  if (whole.source || whole.rank >= 0 || !is_directory(whole.path) ||
      tsanom_runs_ranks(whole.path, NULL, NULL, 0, &count, &size) != TSANOM_OK ||
      (!count && !size)) {
    return 0;
  }
  size_t ranks = count > size ? count : size;
  if (ranks - count > MOST_ABSENT) {
    return fail(why,
                "%s: the run has %zu ranks, but directories of %zu; at most %d ranks "
                "without a directory are expected",
                file_title(whole.path), ranks, count, MOST_ABSENT);
  }
  if (!size) {
    rank = allocate(count, sizeof *rank);
    tsanom_runs_ranks(whole.path, NULL, rank, count, &ranks, &size);
    if (ranks > count) ranks = count;
  }
  memmove(list->run + i, list->run + i + 1, (--list->count - i) * sizeof *list->run);
  for (size_t k = 0; k < ranks; k++) {
    int32_t own = rank ? rank[k] : (int32_t)k;
    append(list, run_rank_path(whole.path, own), own, whole.model, whole.hang);
  }
  free(rank);
  watched_close(&whole);
  return 0;
}

/* The ranks of a job follow each other. */
static int same_job(const watched *a, const watched *b) {
  const char *end_a = strrchr(a->path, '/'), *end_b = strrchr(b->path, '/');
  return a->rank >= 0 && b->rank >= 0 && end_a - a->path == end_b - b->path &&
         strncmp(a->path, b->path, (size_t)(end_a - a->path)) == 0;
}

/* Judge the ranks of each job together, after all were looked at. */
static void judge_ranks(watch_list *list) {
  size_t first = 0;
  reserve(&list->rank, &list->rank_capacity, list->count, sizeof *list->rank);
  for (size_t i = 0; i < list->count; i++) {
    watched *w = &list->run[i];
    if (!same_job(&list->run[first], w)) first = i;
    list->rank[i] = w->judged;
    list->rank[i].watch = w->watch;
    list->rank[i].job = w->rank < 0 ? -1 : (int32_t)first;
    list->rank[i].start = w->start;
    list->rank[i].ended = w->ended;
  }
  tsanom_diagnosis_judge_job(list->rank, list->count, NULL, &list->slowest);
  for (size_t i = 0; i < list->count; i++) {
    list->run[i].judged = list->rank[i];
  }
}

static void free_runs(watch_list *list) {
  for (size_t i = 0; i < list->count; i++) watched_close(&list->run[i]);
  free(list->run);
  free(list->rank);
  *list = (watch_list){0};
}

/* ---- metrics
 *
 * Metrics of a watched run as OpenMetrics text, for the textfile directory of the node
 * exporter of Prometheus. All are gauges: these are written in the same way in
 * OpenMetrics and in the older text format, which the node exporter reads. */

/* The label of the run; quotes, backslashes and newlines are escaped. */
static void put_name(FILE *out, const watched *w) {
  json_t *name = json_name(file_title(w->path));
  (void)fputs("run=\"", out);
  for (const char *c = json_string_value(name); *c; c++) {
    if (*c == '"' || *c == '\\') (void)fputc('\\', out);
    if (*c == '\n') {
      (void)fputs("\\n", out);
    } else {
      (void)fputc(*c, out);
    }
  }
  (void)fputc('"', out);
  json_decref(name);
}

/* A name and its help. */
typedef const char *const family[2];

static void put_family(FILE *out, family of) {
  (void)fprintf(out, "# HELP tsanom_%s %s\n# TYPE tsanom_%s gauge\n", of[0], of[1],
                of[0]);
}

/* The beginning of a sample of a run; its other labels and the number follow. */
static void put_head(FILE *out, family of, const watched *w) {
  (void)fprintf(out, "tsanom_%s{", of[0]);
  put_name(out, w);
}

static void put_runs(FILE *out, const watch_list *list) {
  static family of[] = {
      {"running", "1 if the program runs, 0 if it finished or was killed."},
      {"run_time_seconds", "Seconds since the beginning of the run."},
      {"last_beat_age_seconds", "Seconds since the last beat of any thread."},
      {"resident_bytes", "Memory of the process."},
      {"remaining_iterations", "Iterations left, as in the normal runs."},
      {"remaining_seconds", "Predicted time until the end."}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    put_family(out, of[k]);
    for (size_t i = 0; i < list->count; i++) {
      const watched *w = &list->run[i];
      if (!w->source) continue;
      tsanom_diagnosis_remaining left = watched_remaining(w);
      const double number[] = {
          w->state == TSANOM_RUN_RUNNING, w->now,          watched_age(w),
          vitals_now(w).resident,         left.iterations, left.seconds};
      if (isnan(number[k])) continue;
      put_head(out, of[k], w);
      (void)fprintf(out, "} %.17g\n", number[k]);
    }
  }
}

static void put_threads(FILE *out, const watch_list *list) {
  static family of[] = {{"beats", "Heartbeats of a thread."},
                        {"beats_per_second", "Heart rate of a thread; 0 if it hangs."}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    put_family(out, of[k]);
    for (size_t i = 0; i < list->count; i++) {
      for (size_t t = 0; t < list->run[i].threads; t++) {
        tsanom_diagnosis_pulse p = watched_pulse(&list->run[i], t);
        double number = k ? p.rate : (double)p.beats;
        if (isnan(number)) continue;
        put_head(out, of[k], &list->run[i]);
        (void)fprintf(out, ",thread=\"%zu\"} %.17g\n", t, number);
      }
    }
  }
}

/* Those that last. */
static void put_anomalies(FILE *out, const watch_list *list) {
  static family of[] = {
      {"anomaly_onset_seconds",
       "Onset of an anomaly that lasts, in seconds since the beginning of the run."},
      {"anomaly_confidence", "Confidence of an anomaly that lasts."}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    put_family(out, of[k]);
    for (size_t i = 0; i < list->count; i++) {
      const watched *w = &list->run[i];
      for (size_t n = 0; n < w->anomalies; n++) {
        const tsanom_diagnosis_anomaly *a = &w->anomaly[n];
        if (a->phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) continue;
        put_head(out, of[k], w);
        int32_t sign = a->cause.sign; /* -1: none */
        (void)fprintf(out, ",cause=\"%s\",sign=\"%s\",thread=\"",
                      tsanom_hsa_status_name(a->cause.cause),
                      sign < 0 ? "" : tsanom_diagnosis_sign_name(sign));
        if (a->cause.thread >= 0) (void)fprintf(out, "%d", a->cause.thread);
        (void)fprintf(out, "\"} %.17g\n", k ? a->confidence : a->onset);
      }
    }
  }
}

/* Replace the file by the metrics of this look at all runs, as a whole. */
static int openmetrics_write(const char *path, const watch_list *list, failure *why) {
  char *text;
  size_t bytes;
  FILE *out = open_text(&text, &bytes);
  put_runs(out, list);
  put_threads(out, list);
  put_anomalies(out, list);
  (void)fputs("# EOF\n", out);
  close_text(out);
  int failed = file_write(path, text, bytes, why);
  free(text);
  return failed;
}

/* ---- the loop */

static void set_number(const char *name, const char *format, double value) {
  char text[64];
  (void)snprintf(text, sizeof text, format, value);
  (void)setenv(name, text, 1);
}

/* The watch goes on when the command has ended. */
static void run_command(const char *command, const watched *w,
                        const tsanom_diagnosis_anomaly *a) {
  char shell[] = "sh", option[] = "-c";
  char *arguments[] = {shell, option, (char *)command, NULL};
  char evidence[EVIDENCE_BYTES];
  pid_t child = 0;
  int ended = 0;
  tsanom_diagnosis_cause_text(&a->cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, evidence,
                              sizeof evidence, NULL);
  (void)setenv("TSANOM_RUN", w->path, 1);
  (void)setenv("TSANOM_CAUSE", tsanom_hsa_status_name(a->cause.cause), 1);
  (void)setenv("TSANOM_EVIDENCE", evidence, 1);
  set_number("TSANOM_ONSET", "%.9f", a->onset);
  set_number("TSANOM_ITERATION", "%.0f", (double)a->iteration);
  set_number("TSANOM_CONFIDENCE", "%.9g", a->confidence);
  set_number("TSANOM_THREAD", "%.0f", a->cause.thread);
  if (a->cause.thread < 0) (void)setenv("TSANOM_THREAD", "", 1);
  int error = posix_spawnp(&child, shell, NULL, NULL, arguments, environ);
  while (!error && waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (!error && ended == 0) return;
  warn("--on-anomaly: the command failed");
}

/* The alarms that began at this look; returns their number. */
static size_t act(const request *r, const watched *w) {
  size_t alarms = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    const tsanom_diagnosis_anomaly *a = &w->anomaly[i];
    if (a->phase != TSANOM_DIAGNOSIS_ANOMALY_BEGAN ||
        !tsanom_diagnosis_cause_is_alarm(&a->cause)) {
      continue;
    }
    alarms++;
    if (r->on_anomaly) run_command(r->on_anomaly, w, a);
  }
  return alarms;
}

static void pause_for(double seconds) {
  struct timespec rest = {.tv_sec = (time_t)seconds};
  rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) continue;
}

/* What a look found. */
typedef struct {
  size_t running; /* runs that go on, or are waited for */
  size_t alarms;
  int status;    /* of the worst run */
  int unwritten; /* status of the metrics at this look */
} look;

/* Ranks that did not begin are waited for while others run; the first one, with --wait.
 */
static int wait_for_ranks(const request *r, const watch_list *list, look *found,
                          failure *why) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->run[i].source || list->run[i].ended) return 0;
  }
  if (r->wait) found->running++;
  return r->wait ? 0 : fail(why, "%s: no rank recorded a run", r->shared.argument[0]);
}

/* A run that cannot be read any more does not end the watch of the others. */
static int look_at_all(const request *r, watch_list *list, look *found, failure *why) {
  for (size_t i = 0; i < list->count; i++) {
    if (split_ranks(list, i, why)) return -1;
    watched *w = &list->run[i];
    if (w->ended) continue;
    int status = watched_look(w, r->wait || w->rank >= 0, why);
    if (status < 0) {
      found->status = report_failure(why);
      w->ended = 1;
    }
    if (status > 0) found->running += w->rank < 0;
    if (status == 0) found->running += w->state == TSANOM_RUN_RUNNING;
  }
  judge_ranks(list);
  return found->running ? 0 : wait_for_ranks(r, list, found, why);
}

/* Runs that are over were printed, and are not looked at again. */
static void act_on_all(const request *r, watch_list *list, look *found) {
  for (size_t i = 0; i < list->count; i++) {
    watched *w = &list->run[i];
    if (!w->source || w->ended) continue;
    found->alarms += act(r, w);
    w->ended = w->state != TSANOM_RUN_RUNNING;
  }
}

/* A disk that is full may not be later: reported once, and again after a success. */
static void write_metrics(const request *r, const watch_list *list, look *found) {
  failure why;
  if (!r->openmetrics || !openmetrics_write(r->openmetrics, list, &why)) {
    found->unwritten = EXIT_DONE;
  } else if (!found->unwritten) {
    found->unwritten = report_failure(&why);
  }
}

static int watch(const request *r, watch_list *list, failure *why) {
  watch_screen screen = {.json = r->shared.json, .terminal = isatty(STDOUT_FILENO)};
  look found = {.status = EXIT_DONE};
  for (;; pause_for(r->every)) {
    found.running = 0;
    if (look_at_all(r, list, &found, why)) return report_failure(why);
    watch_print(&screen, list);
    write_metrics(r, list, &found);
    act_on_all(r, list, &found);
    if (!found.running || (found.alarms && r->until_anomaly)) break;
    if (ferror(stdout)) break; /* reported at exit */
  }
  if (found.status != EXIT_DONE) return found.status;
  if (found.unwritten != EXIT_DONE) return found.unwritten;
  return r->check && found.alarms ? EXIT_FOUND : EXIT_DONE;
}

static int watch_all(const request *r, const owned_model *m, failure *why) {
  watch_list list = {0};
  for (size_t i = 0; i < r->shared.arguments; i++) { /* their ranks replace them */
    append(&list, make_text("%s", r->shared.argument[i]), -1, m, r->hang);
  }
  int status = watch(r, &list, why);
  free_runs(&list);
  return status;
}

static int load_model(const request *r, owned_model *m, failure *why) {
  if (!r->model_path) return 0;
  if (model_read(r->model_path, m, why)) return -1;
  if (m->normal.thread_count) return 0;
  return fail(why,
              "%s: the model judges complete runs only; learn one with --rule causes",
              file_title(r->model_path));
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "RUN...",
    .help =
        "Watch a running program: its rates, hangs, and what else is not normal.\v"
        "RUN is the run directory of a program that is being recorded, also one of "
        "several ranks. A line is printed whenever something changed, on a terminal over "
        "the last ones; with --json, an object per line. The watch ends with the runs.",
    .expected = "at least one run is",
    .least = 1,
    .no_plot = 1,
};

int command_watch(int argc, char **argv) {
  request r = {.every = 1};
  parse_command(&command_line, argc, argv, &r);
  owned_model m = {0};
  failure why;
  int status = load_model(&r, &m, &why) ? report_failure(&why)
                                        : watch_all(&r, r.model_path ? &m : NULL, &why);
  model_free(&m);
  return status;
}
