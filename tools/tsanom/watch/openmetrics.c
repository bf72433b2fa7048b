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

/* A name and its help. */
typedef const char *const family[2];

static void put_family(FILE *out, family of) {
  (void)fprintf(out, "# HELP tsanom_%s %s\n# TYPE tsanom_%s gauge\n", of[0], of[1],
                of[0]);
}

/* The beginning of a sample of a run; its other labels and the number follow. */
static void put_head(FILE *out, family of, const watched *w) {
  (void)fprintf(out, "tsanom_%s{", of[0]);
  put_run(out, w);
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
        (void)fprintf(out, ",cause=\"%s\",thread=\"",
                      tsanom_hsa_status_name(a->cause.cause));
        if (a->cause.thread >= 0) (void)fprintf(out, "%d", a->cause.thread);
        (void)fprintf(out, "\"} %.17g\n", k ? a->confidence : a->onset);
      }
    }
  }
}

int openmetrics_write(const char *path, const watch_list *list, failure *why) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) return fail(why, "%s: out of memory", file_title(path));
  put_runs(out, list);
  put_threads(out, list);
  put_anomalies(out, list);
  (void)fputs("# EOF\n", out);
  int failed = fclose(out) != 0 ? fail(why, "%s: out of memory", file_title(path))
                                : file_write(path, text, bytes, why);
  free(text);
  return failed;
}
