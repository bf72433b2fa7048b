/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch: what a running program does, and what is not normal about it. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "rows.h"
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
    if (watch_list_expand(list, i, why)) return -1;
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
  if (watch_list_judge(list, why)) return -1;
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
    if (look_at_all(r, list, &found, why) || watch_print(&screen, list, why)) {
      return report_failure(why);
    }
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
  int failed = 0;
  for (size_t i = 0; i < r->shared.arguments && !failed; i++) {
    failed = watch_list_add(&list, r->shared.argument[i], m, r->hang, why);
  }
  int status = failed ? report_failure(why) : watch(r, &list, why);
  watch_list_free(&list);
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
