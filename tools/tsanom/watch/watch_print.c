/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of runs that are watched, as text or JSON. */
#include "watch_print.h"

#include <math.h>
#include <stdio.h>

#include "diagnosis.h"
#include "json_value.h"
#include "report.h"
#include "rows.h"
#include "vitals.h"
#include "watch_lines.h"
#include "watch_screen.h"

static json_t *index_to_json(int32_t index) {
  return index < 0 ? json_null() : json_integer(index);
}

static json_t *anomaly_to_json(const tsanom_diagnosis_anomaly *a) {
  json_t *one = finding_to_json(&a->cause);
  json_object_update_new(
      one,
      json_pack("{sb sb so sI so}", "new", a->phase == TSANOM_DIAGNOSIS_ANOMALY_BEGAN,
                "alarm", (int)tsanom_diagnosis_cause_is_alarm(&a->cause), "onset",
                json_finite(a->onset), "iteration", (json_int_t)a->iteration,
                "confidence", json_finite(a->confidence)));
  return one;
}

static json_t *anomalies_to_json(const watched *w, int recovered) {
  json_t *array = json_array();
  for (size_t i = 0; i < w->anomalies; i++) {
    const tsanom_diagnosis_anomaly *a = &w->anomaly[i];
    if ((a->phase == TSANOM_DIAGNOSIS_ANOMALY_RECOVERED) != recovered) continue;
    json_array_append_new(array, anomaly_to_json(a));
  }
  return array;
}

static json_t *vitals_to_json(const watched *w) {
  vital_signs v = vitals_now(w);
  return json_pack("{so so so so}", "resident", json_finite(v.resident), "growth_per_s",
                   json_finite(v.growth), "cpu", json_finite(v.cpu), "wait",
                   json_finite(v.wait));
}

static json_t *run_to_json(const watch_list *list, size_t i) {
  const watched *w = &list->run[i];
  json_t *counts = json_array(), *rates = json_array();
  size_t slowest = list->slowest;
  tsanom_diagnosis_remaining r = watched_remaining(w);
  for (size_t t = 0; t < w->threads; t++) {
    json_array_append_new(counts, json_integer((json_int_t)w->pulse[t].beats));
    json_array_append_new(rates, json_finite(w->pulse[t].rate));
  }
  return json_pack(
      "{so so so ss sI so so so so sb so so so so so so so so}", "run",
      json_name(file_title(w->path)), "rank", index_to_json(w->rank), "time",
      json_finite(w->now), "state", state_name(w->state), "iteration",
      (json_int_t)watched_iteration(w), "remaining", json_finite(r.iterations),
      "remaining_s", json_finite(r.seconds), "remaining_low_s", json_finite(r.low),
      "remaining_high_s", json_finite(r.high), "drifts", r.drifts, "beats", counts,
      "rate", rates, "age", json_finite(watched_age(w)), "slowest",
      index_to_json(watched_slowest(w)), "slowest_run",
      slowest == TSANOM_NONE ? json_null()
                             : json_name(file_title(list->run[slowest].path)),
      "vital", vitals_to_json(w), "causes", anomalies_to_json(w, 0), "recovered",
      anomalies_to_json(w, 1));
}

/* Print run `i` as an object in one line. */
static int print_json(const watch_list *list, size_t i, failure *why) {
  json_t *line = run_to_json(list, i);
  int failed = !line || json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(line);
  return failed && !ferror(stdout)
             ? fail(why, "the line cannot be written as JSON: out of memory")
             : 0;
}

/* What began or recovered. Returns whether there was anything. */
static int print_news(const watch_list *list, const watched *w, int printed) {
  int news = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    if (w->anomaly[i].phase == TSANOM_DIAGNOSIS_ANOMALY_LASTS) continue;
    news = 1;
    if (!printed) continue;
    print_head(stdout, list, w);
    print_anomaly(stdout, w, &w->anomaly[i]);
  }
  return news;
}

/* The news stay above the screen, and scroll. */
static int print_screen(watch_screen *screen, const watch_list *list, failure *why) {
  if (screen->lines) {
    char up[32];
    (void)snprintf(up, sizeof up, "\033[%zuA", screen->lines);
    print_terminal_code(up);
  }
  print_terminal_code("\r\033[J");
  for (size_t i = 0; i < list->count; i++) {
    if (!list->run[i].ended) (void)print_news(list, &list->run[i], 1);
  }
  print_terminal_code("\033[?7l");
  int failed = watch_screen_draw(&screen->lines, list, why);
  print_terminal_code("\033[?7h");
  return failed;
}

static size_t all_beats(const watched *w) {
  size_t sum = 0;
  for (size_t t = 0; t < w->threads; t++) sum += (size_t)w->pulse[t].beats;
  return sum;
}

static int has_changed(watched *w) {
  watched_print now = {1, all_beats(w), w->state}, last = w->print;
  w->print = now;
  return !last.shown || now.beats != last.beats || now.state != last.state;
}

int watch_print(watch_screen *screen, watch_list *list, failure *why) {
  int failed = 0, changed = 0;
  if (screen->terminal && !screen->json) {
    failed = print_screen(screen, list, why);
    (void)fflush(stdout);
    return failed;
  }
  for (size_t i = 0; i < list->count && !failed; i++) {
    watched *w = &list->run[i];
    if (!w->source || w->ended) continue;
    int news = print_news(list, w, !screen->json);
    if (!has_changed(w) && !news) continue;
    changed = 1;
    if (screen->json) {
      failed = print_json(list, i, why);
    } else {
      print_head(stdout, list, w);
      print_state(stdout, w);
    }
  }
  if (changed && !screen->json) print_slowest(stdout, list);
  (void)fflush(stdout);
  return failed;
}
