/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of a watched run as OpenMetrics text, for the textfile directory of the node
 * exporter of Prometheus. All are gauges: these are written in the same way in
 * OpenMetrics and in the older text format, which the node exporter reads. */
#include "openmetrics.h"

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

static void put_threads(FILE *out, const watched *w) {
  put_family(out, "beats", "Heartbeats of a thread.");
  for (size_t t = 0; t < w->threads; t++) {
    put(out, w, "beats", (int32_t)t, (double)w->thread[t].beats);
  }
  put_family(out, "beats_per_second", "Heart rate of a thread; 0 if it hangs.");
  for (size_t t = 0; t < w->threads; t++) {
    put(out, w, "beats_per_second", (int32_t)t, w->thread[t].rate);
  }
}

static void put_anomalies(FILE *out, const watched *w, const onsets *o) {
  put_family(
      out, "anomaly_onset_seconds",
      "Onset of an anomaly that lasts, in seconds since the beginning of the run.");
  for (size_t i = 0; i < o->count; i++) {
    const anomaly *a = &o->found[i];
    if (a->phase == ANOMALY_ENDED) continue;
    (void)fputs("tsanom_anomaly_onset_seconds{", out);
    put_run(out, w);
    (void)fprintf(out, ",cause=\"%s\",thread=\"", tsanom_hsa_status_name(a->cause));
    if (a->thread >= 0) (void)fprintf(out, "%d", a->thread);
    (void)fprintf(out, "\"} %.17g\n", a->onset);
  }
}

int openmetrics_write(const char *path, const watched *w, const onsets *o, failure *why) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) return fail(why, "%s: out of memory", file_title(path));
  put_family(out, "running", "1 if the program runs, 0 if it finished or was killed.");
  put(out, w, "running", -1, w->state == TSANOM_HSA_STATE_RUNNING);
  put_family(out, "run_time_seconds", "Seconds since the beginning of the run.");
  put(out, w, "run_time_seconds", -1, w->now);
  put_family(out, "last_beat_age_seconds", "Seconds since the last beat of any thread.");
  put(out, w, "last_beat_age_seconds", -1, watched_age(w));
  put_threads(out, w);
  put_anomalies(out, w, o);
  (void)fputs("# EOF\n", out);
  int failed = fclose(out) != 0 ? fail(why, "%s: out of memory", file_title(path))
                                : file_write(path, text, bytes, why);
  free(text);
  return failed;
}
