/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of a watched run as OpenMetrics text, for the textfile directory of the node
 * exporter of Prometheus. All are gauges: these are written in the same way in
 * OpenMetrics and in the older text format, which the node exporter reads. */
#include "watched.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beats.h"
#include "json_value.h"
#include "rows.h"

/* The label of the run; quotes, backslashes and newlines are escaped. */
static void put_run(FILE *out, const watched *w) {
  json_t *name = json_name(file_title(w->path));
  (void)fputs("run=\"", out);
  for (const char *c = name ? json_string_value(name) : "?"; *c; c++) {
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

static void put_family(FILE *out, const char *name, const char *help) {
  (void)fprintf(out, "# HELP tsanom_%s %s\n# TYPE tsanom_%s gauge\n", name, help, name);
}

/* A sample; `thread` -1: without that label; NaN: none. */
static void put(FILE *out, const watched *w, const char *name, int32_t thread,
                double value) {
  if (isnan(value)) return;
  (void)fprintf(out, "tsanom_%s{", name);
  put_run(out, w);
  if (thread >= 0) (void)fprintf(out, ",thread=\"%d\"", thread);
  (void)fprintf(out, "} %.17g\n", value);
}

/* A gauge of each run. */
static void put_runs(FILE *out, const watch_list *list, const char *name,
                     const char *help, double (*value)(const watched *w)) {
  put_family(out, name, help);
  for (size_t i = 0; i < list->count; i++) {
    if (list->run[i].source) put(out, &list->run[i], name, -1, value(&list->run[i]));
  }
}

/* A gauge of each thread. */
static void put_threads(FILE *out, const watch_list *list, const char *name,
                        const char *help,
                        double (*value)(const tsanom_diagnosis_pulse *p)) {
  put_family(out, name, help);
  for (size_t i = 0; i < list->count; i++) {
    const watched *w = &list->run[i];
    for (size_t t = 0; t < w->threads; t++) {
      put(out, w, name, (int32_t)t, value(&w->pulse[t]));
    }
  }
}

static double beats_of(const tsanom_diagnosis_pulse *p) {
  return (double)p->beats;
}

static double rate_of(const tsanom_diagnosis_pulse *p) {
  return p->rate;
}

static double is_running(const watched *w) {
  return w->state == TSANOM_RUN_RUNNING;
}

static double time_of(const watched *w) {
  return w->now;
}

static double resident_of(const watched *w) {
  return vitals_now(w).resident;
}

static double left_of(const watched *w) {
  return watched_remaining(w).iterations;
}

static double left_s_of(const watched *w) {
  return watched_remaining(w).seconds;
}

/* One of the numbers of each anomaly that lasts. */
static void put_anomalies(FILE *out, const watch_list *list, const char *name,
                          const char *help,
                          double (*value)(const tsanom_diagnosis_anomaly *a)) {
  put_family(out, name, help);
  for (size_t i = 0; i < list->count; i++) {
    const watched *w = &list->run[i];
    for (size_t k = 0; k < w->anomalies; k++) {
      const tsanom_diagnosis_anomaly *a = &w->anomaly[k];
      if (a->phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) continue;
      (void)fprintf(out, "tsanom_%s{", name);
      put_run(out, w);
      (void)fprintf(out, ",cause=\"%s\",thread=\"",
                    tsanom_hsa_status_name(a->cause.cause));
      if (a->cause.thread >= 0) (void)fprintf(out, "%d", a->cause.thread);
      (void)fprintf(out, "\"} %.17g\n", value(a));
    }
  }
}

static double onset_of(const tsanom_diagnosis_anomaly *a) {
  return a->onset;
}

static double confidence_of(const tsanom_diagnosis_anomaly *a) {
  return a->confidence;
}

int openmetrics_write(const char *path, const watch_list *list, failure *why) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) return fail(why, "%s: out of memory", file_title(path));
  put_runs(out, list, "running", "1 if the program runs, 0 if it finished or was killed.",
           is_running);
  put_runs(out, list, "run_time_seconds", "Seconds since the beginning of the run.",
           time_of);
  put_runs(out, list, "last_beat_age_seconds",
           "Seconds since the last beat of any thread.", watched_age);
  put_runs(out, list, "resident_bytes", "Memory of the process.", resident_of);
  put_runs(out, list, "remaining_iterations", "Iterations left, as in the normal runs.",
           left_of);
  put_runs(out, list, "remaining_seconds", "Predicted time until the end.", left_s_of);
  put_threads(out, list, "beats", "Heartbeats of a thread.", beats_of);
  put_threads(out, list, "beats_per_second", "Heart rate of a thread; 0 if it hangs.",
              rate_of);
  put_anomalies(
      out, list, "anomaly_onset_seconds",
      "Onset of an anomaly that lasts, in seconds since the beginning of the run.",
      onset_of);
  put_anomalies(out, list, "anomaly_confidence", "Confidence of an anomaly that lasts.",
                confidence_of);
  (void)fputs("# EOF\n", out);
  int failed = fclose(out) != 0 ? fail(why, "%s: out of memory", file_title(path))
                                : file_write(path, text, bytes, why);
  free(text);
  return failed;
}
