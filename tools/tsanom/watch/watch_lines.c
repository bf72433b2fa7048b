/* SPDX-License-Identifier: BSD-3-Clause */
/* What a line begins with is read first, and stays when a terminal cuts it: the state,
 * the age of the last beat and the slowest threads are in front of the other numbers. */
#include "watch_lines.h"

#include <math.h>

#include "diagnosis.h"
#include "rows.h"
#include "vitals.h"

enum { RATES_SHOWN = 8 };

static const double mebibyte = 1048576;

void print_head(FILE *out, const watch_list *list, const watched *w) {
  (void)fprintf(out, "%10.3f s: ", w->now);
  if (list->count > 1) (void)fprintf(out, "%s: ", file_title(w->path));
}

void print_anomaly(FILE *out, const watched *w, const tsanom_diagnosis_anomaly *a) {
  char evidence[EVIDENCE_BYTES];
  if (a->cause.thread >= 0) (void)fprintf(out, "thread %d: ", a->cause.thread);
  (void)fprintf(out, "%s", tsanom_hsa_status_name(a->cause.cause));
  if (a->phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) {
    (void)fprintf(out, " recovered at %.3f s\n", w->now);
    return;
  }
  tsanom_diagnosis_cause_text(&a->cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, evidence,
                              sizeof evidence, NULL);
  (void)fprintf(out, " since iteration %zu, %.3f s (confidence %.3g): %s\n",
                (size_t)a->iteration, a->onset, a->confidence, evidence);
}

/* Of many threads. */
static void print_slowest_threads(FILE *out, const watched *w) {
  size_t t = w->threads, shown = 0;
  (void)fprintf(out, ", slowest threads");
  while (shown < RATES_SHOWN && (t = watched_next_slowest(w, t)) < w->threads) {
    (void)fprintf(out, "%s %zu (%.4g)", shown ? "," : "", t, w->pulse[t].rate);
    shown++;
  }
  (void)fprintf(out, " beats/s, %zu more threads", w->threads - shown);
}

static void print_rates(FILE *out, const watched *w) {
  int32_t slowest = watched_slowest(w);
  if (slowest >= 0 && w->threads > RATES_SHOWN) {
    print_slowest_threads(out, w);
    return;
  }
  if (slowest >= 0) {
    (void)fprintf(out, ", slowest thread %d (%.4g)", slowest, w->pulse[slowest].rate);
  }
  (void)fprintf(out, ", beats/s");
  for (size_t t = 0; t < w->threads && t < RATES_SHOWN; t++) {
    if (isnan(w->pulse[t].rate)) {
      (void)fprintf(out, " -");
    } else {
      (void)fprintf(out, " %.4g", w->pulse[t].rate);
    }
  }
}

static void print_vitals(FILE *out, const watched *w) {
  vital_signs v = vitals_now(w);
  if (!isnan(v.resident)) (void)fprintf(out, ", memory %.4g MiB", v.resident / mebibyte);
  if (!isnan(v.growth)) (void)fprintf(out, " (%+.2g MiB/s)", v.growth / mebibyte);
  if (!isnan(v.cpu)) (void)fprintf(out, ", CPU %.3g %%", 100 * v.cpu);
  if (!isnan(v.wait)) {
    (void)fprintf(out, ", waits for a processor %.2g %%", 100 * v.wait);
  }
}

static void print_remaining(FILE *out, const watched *w) {
  tsanom_diagnosis_remaining r = watched_remaining(w);
  if (isnan(r.iterations)) return;
  (void)fprintf(out, ", %.0f left", r.iterations);
  if (r.drifts) {
    (void)fprintf(out, " (time not known: iterations become longer or shorter)");
  } else if (!isnan(r.low)) {
    (void)fprintf(out, " (%.3g s, %.3g to %.3g)", r.seconds, r.low, r.high);
  } else if (!isnan(r.seconds)) {
    (void)fprintf(out, " (%.3g s)", r.seconds);
  }
}

void print_state(FILE *out, const watched *w) {
  double age = watched_age(w);
  (void)fprintf(out, "%s, ", state_name(w->state));
  if (!watched_iteration(w)) {
    (void)fprintf(out, "no beats yet\n");
    return;
  }
  (void)fprintf(out, "iteration %zu", watched_iteration(w));
  if (!isnan(age)) (void)fprintf(out, ", last beat %.3g s ago", age);
  print_remaining(out, w);
  print_rates(out, w);
  print_vitals(out, w);
  (void)fprintf(out, "\n");
}

void print_slowest(FILE *out, const watch_list *list) {
  if (list->slowest == TSANOM_NONE) return;
  const watched *w = &list->run[list->slowest];
  if (w->rank >= 0) {
    (void)fprintf(out, "slowest: rank %d\n", w->rank);
  } else {
    (void)fprintf(out, "slowest: %s\n", file_title(w->path));
  }
}
