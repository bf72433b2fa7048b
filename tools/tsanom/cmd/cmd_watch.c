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
#include "openmetrics.h"
#include "rows.h"
#include "watch_print.h"

typedef struct {
  shared_options shared;
  const char *model_path, *on_anomaly, *openmetrics;
  double every, hang;
  int wait, check, until_anomaly;
} request;

static const option_row options[] = {
    {.name = "model",
     .letter = 'm',
     .argument = "MODEL",
     TEXT(model_path),
     .help =
         "Judge the run by this model, by \"tsanom learn\"; without it, only hangs and "
         "the end of the run are reported"},
    {.name = "every",
     .argument = "S",
     NUMBER(every, 0.01, 86400, 0),
     .help = "Look at the run every S seconds (default: 1)"},
    {.name = "wait", FLAG(wait), .help = "Wait until the run appears"},
    {.name = "hang",
     .argument = "SECONDS",
     NUMBER(hang, 0, INFINITY, LOW_OPEN | HIGH_OPEN),
     .help =
         "A thread hangs if it does not beat for SECONDS (default: three of its longest "
         "usual intervals, at least 1)"},
    {.name = "on-anomaly",
     .argument = "COMMAND",
     TEXT(on_anomaly),
     .help = "Run COMMAND by sh once at each onset, with TSANOM_RUN, TSANOM_CAUSE, "
             "TSANOM_THREAD, TSANOM_ONSET, TSANOM_ITERATION and TSANOM_EVIDENCE"},
    {.name = "openmetrics",
     .argument = "FILE",
     TEXT(openmetrics),
     .help = "Replace FILE at each look by metrics in OpenMetrics text, for the node "
             "exporter of Prometheus"},
    {.name = "until-anomaly", FLAG(until_anomaly), .help = "End at the first anomaly"},
    CHECK_ROW(check, "an anomaly was reported"),
};

static void set_number(const char *name, const char *format, double value) {
  char text[64];
  (void)snprintf(text, sizeof text, format, value);
  (void)setenv(name, text, 1);
}

/* The watch goes on when the command has ended. */
static void run_command(const char *command, const watched *w, const anomaly *a) {
  char shell[] = "sh", option[] = "-c";
  char *arguments[] = {shell, option, (char *)command, NULL};
  failure why;
  pid_t child = 0;
  int ended = 0;
  (void)setenv("TSANOM_RUN", w->path, 1);
  (void)setenv("TSANOM_CAUSE", tsanom_hsa_status_name(a->cause), 1);
  (void)setenv("TSANOM_EVIDENCE", a->evidence, 1);
  set_number("TSANOM_ONSET", "%.9f", a->onset);
  set_number("TSANOM_ITERATION", "%.0f", (double)a->iteration);
  set_number("TSANOM_THREAD", "%.0f", a->thread);
  if (a->thread < 0) (void)setenv("TSANOM_THREAD", "", 1);
  int error = posix_spawnp(&child, shell, NULL, NULL, arguments, environ);
  while (!error && waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (!error && ended == 0) return;
  fail(&why, "--on-anomaly: the command failed");
  warn(&why);
}

/* The onsets of this look; returns their number. */
static size_t act(const request *r, const watched *w, const onsets *o) {
  size_t alarms = 0;
  for (size_t i = 0; i < o->count; i++) {
    const anomaly *a = &o->found[i];
    if (a->phase != ANOMALY_NEW || !is_alarm(a)) continue;
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

static int watch(const request *r, watched *w, onsets *o) {
  watch_screen screen = {.json = r->shared.json, .terminal = isatty(STDOUT_FILENO)};
  failure why;
  size_t alarms = 0;
  for (;; pause_for(r->every)) {
    int status = watched_look(w, r->wait, &why);
    if (status > 0) continue;
    if (status < 0 || onsets_update(o, w, &why) || watch_print(&screen, w, o, &why) ||
        (r->openmetrics && openmetrics_write(r->openmetrics, w, o, &why))) {
      watch_print_end(&screen);
      return report_failure(&why);
    }
    alarms += act(r, w, o);
    if (w->state != TSANOM_HSA_STATE_RUNNING || (alarms && r->until_anomaly)) break;
    if (ferror(stdout)) break; /* reported at exit */
  }
  watch_print_end(&screen);
  return r->check && alarms ? EXIT_FOUND : EXIT_DONE;
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
    .arguments = "RUN",
    .help =
        "Watch a running program: its rates, hangs, and what else is not normal.\v"
        "RUN is the run directory of a program that is being recorded. A line is printed "
        "whenever something changed, on a terminal over the last one; with --json, an "
        "object per line. The watch ends with the run.",
    .expected = "one run is",
    .least = 1,
    .most = 1,
    .no_plot = 1,
};

int command_watch(int argc, char **argv) {
  request r = {.every = 1};
  parse_command(&command_line, argc, argv, &r);
  watched w = {.path = r.shared.argument[0], .hang = r.hang};
  owned_model m = {0};
  onsets o = {.model = r.model_path ? &m : NULL};
  failure why;
  int status = load_model(&r, &m, &why) ? report_failure(&why) : watch(&r, &w, &o);
  onsets_free(&o);
  watched_close(&w);
  model_free(&m);
  return status;
}
