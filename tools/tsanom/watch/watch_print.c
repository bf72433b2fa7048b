/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines and JSON of a run that is watched. */
#include "watch_print.h"

#include <math.h>
#include <stdio.h>

#include "diagnosis.h"
#include "json_value.h"
#include "rows.h"

enum { RATES_SHOWN = 8 };

static size_t all_beats(const watched *w) {
  size_t sum = 0;
  for (size_t t = 0; t < w->threads; t++) sum += w->thread[t].beats;
  return sum;
}

static int has_news(const onsets *o) {
  for (size_t i = 0; i < o->count; i++) {
    if (o->found[i].phase != ANOMALY_GOES_ON) return 1;
  }
  return 0;
}

/* ---- JSON */

static json_t *thread_to_json(int32_t thread) {
  return thread < 0 ? json_null() : json_integer(thread);
}

static json_t *anomalies_to_json(const onsets *o, int ended) {
  json_t *array = json_array();
  for (size_t i = 0; i < o->count; i++) {
    const anomaly *a = &o->found[i];
    if ((a->phase == ANOMALY_ENDED) != ended) continue;
    json_array_append_new(
        array,
        json_pack("{ss so sb so sI so ss}", "cause", tsanom_hsa_status_name(a->cause),
                  "thread", thread_to_json(a->thread), "new", a->phase == ANOMALY_NEW,
                  "onset", json_finite(a->onset), "iteration", (json_int_t)a->iteration,
                  "strength", json_finite(a->strength), "evidence", a->evidence));
  }
  return array;
}

static int print_json_line(const watched *w, const onsets *o, failure *why) {
  json_t *counts = json_array(), *rates = json_array();
  for (size_t t = 0; t < w->threads; t++) {
    json_array_append_new(counts, json_integer((json_int_t)w->thread[t].beats));
    json_array_append_new(rates, json_finite(w->thread[t].rate));
  }
  json_t *line = json_pack(
      "{so so ss sI so so so so so so}", "run", json_name(file_title(w->path)), "time",
      json_finite(w->now), "state", state_name(w->state), "iteration",
      (json_int_t)watched_iteration(w), "beats", counts, "rate", rates, "age",
      json_finite(watched_age(w)), "slowest", thread_to_json(watched_slowest(w)),
      "causes", anomalies_to_json(o, 0), "recovered", anomalies_to_json(o, 1));
  int failed = !line || json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(line);
  return failed && !ferror(stdout)
             ? fail(why, "the line cannot be written as JSON: out of memory")
             : 0;
}

/* ---- text */

static void print_anomaly(const watched *w, const anomaly *a) {
  printf("%10.3f s: ", w->now);
  if (a->thread >= 0) printf("thread %d: ", a->thread);
  printf("%s", tsanom_hsa_status_name(a->cause));
  if (a->phase == ANOMALY_ENDED) {
    printf(" ended\n");
  } else {
    printf(" since %.3f s, iteration %zu: %s\n", a->onset, a->iteration, a->evidence);
  }
}

static void print_state(const watched *w) {
  int32_t slowest = watched_slowest(w);
  double age = watched_age(w);
  printf("%10.3f s: %s, ", w->now, state_name(w->state));
  if (!watched_iteration(w)) {
    printf("no beats yet");
    return;
  }
  printf("iteration %zu, beats/s", watched_iteration(w));
  for (size_t t = 0; t < w->threads && t < RATES_SHOWN; t++) {
    if (isnan(w->thread[t].rate)) {
      printf(" -");
    } else {
      printf(" %.4g", w->thread[t].rate);
    }
  }
  if (w->threads > RATES_SHOWN) printf(" ...");
  if (slowest >= 0) {
    printf(", slowest thread %d (%.4g)", slowest, w->thread[slowest].rate);
  }
  if (!isnan(age)) printf(", last beat %.3g s ago", age);
}

static void print_text(const watch_screen *screen, const watched *w, const onsets *o) {
  if (screen->terminal) printf("\r\033[K");
  for (size_t i = 0; i < o->count; i++) {
    if (o->found[i].phase != ANOMALY_GOES_ON) print_anomaly(w, &o->found[i]);
  }
  print_state(w);
  if (!screen->terminal) printf("\n");
}

int watch_print(watch_screen *screen, const watched *w, const onsets *o, failure *why) {
  size_t sum = all_beats(w);
  int changed = !screen->shown || sum != screen->beats || w->state != screen->state;
  int failed = 0;
  screen->shown = 1;
  screen->beats = sum;
  screen->state = w->state;
  if (!changed && !has_news(o) && !(screen->terminal && !screen->json)) return 0;
  if (screen->json) {
    failed = print_json_line(w, o, why);
  } else {
    print_text(screen, w, o);
  }
  (void)fflush(stdout);
  return failed;
}

void watch_print_end(const watch_screen *screen) {
  if (screen->shown && screen->terminal && !screen->json) printf("\n");
}
