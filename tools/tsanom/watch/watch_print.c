/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of runs that are watched. */
#include "watch_print.h"

#include <math.h>
#include <stdio.h>

#include "diagnosis.h"
#include "rows.h"
#include "vitals.h"
#include "watch_json.h"

enum { RATES_SHOWN = 8 };

static const double mebibyte = 1048576;

static size_t all_beats(const watched *w) {
  size_t sum = 0;
  for (size_t t = 0; t < w->threads; t++) sum += (size_t)w->pulse[t].beats;
  return sum;
}

static void print_anomaly(const watched *w, const tsanom_hsa_anomaly *a) {
  char evidence[EVIDENCE_BYTES];
  if (a->cause.thread >= 0) printf("thread %d: ", a->cause.thread);
  printf("%s", tsanom_hsa_status_name(a->cause.cause));
  if (a->phase == TSANOM_HSA_ANOMALY_RECOVERED) {
    printf(" recovered at %.3f s\n", w->now);
    return;
  }
  tsanom_hsa_cause_text(&a->cause, evidence, sizeof evidence, NULL);
  printf(" since iteration %zu, %.3f s (confidence %.3g): %s\n", (size_t)a->iteration,
         a->onset, a->confidence, evidence);
}

static void print_rates(const watched *w) {
  int32_t slowest = watched_slowest(w);
  printf(", beats/s");
  for (size_t t = 0; t < w->threads && t < RATES_SHOWN; t++) {
    if (isnan(w->pulse[t].rate)) {
      printf(" -");
    } else {
      printf(" %.4g", w->pulse[t].rate);
    }
  }
  if (w->threads > RATES_SHOWN) printf(" ...");
  if (slowest >= 0) {
    printf(", slowest thread %d (%.4g)", slowest, w->pulse[slowest].rate);
  }
}

static void print_vitals(const watched *w) {
  vital_signs v = vitals_now(w);
  if (!isnan(v.resident)) printf(", memory %.4g MiB", v.resident / mebibyte);
  if (!isnan(v.growth)) printf(" (%+.2g MiB/s)", v.growth / mebibyte);
  if (!isnan(v.cpu)) printf(", CPU %.3g %%", 100 * v.cpu);
  if (!isnan(v.wait)) printf(", waits for a processor %.2g %%", 100 * v.wait);
}

static void print_remaining(const watched *w) {
  remaining r = watched_remaining(w);
  if (isnan(r.iterations)) return;
  printf(", %.0f left", r.iterations);
  if (r.drifts) {
    printf(" (time not known: iterations become longer or shorter)");
  } else if (!isnan(r.low)) {
    printf(" (%.3g s, %.3g to %.3g)", r.seconds, r.low, r.high);
  } else if (!isnan(r.seconds)) {
    printf(" (%.3g s)", r.seconds);
  }
}

static void print_state(const watched *w) {
  double age = watched_age(w);
  printf("%s, ", state_name(w->state));
  if (!watched_iteration(w)) {
    printf("no beats yet\n");
    return;
  }
  printf("iteration %zu", watched_iteration(w));
  print_remaining(w);
  print_rates(w);
  if (!isnan(age)) printf(", last beat %.3g s ago", age);
  print_vitals(w);
  printf("\n");
}

/* The time, and which of several runs. */
static void print_head(const watch_list *list, const watched *w) {
  printf("%10.3f s: ", w->now);
  if (list->count > 1) printf("%s: ", file_title(w->path));
}

/* What began or recovered. Returns whether there was anything. */
static int print_news(const watch_list *list, const watched *w, int printed) {
  int news = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    if (w->anomaly[i].phase == TSANOM_HSA_ANOMALY_LASTS) continue;
    news = 1;
    if (!printed) continue;
    print_head(list, w);
    print_anomaly(w, &w->anomaly[i]);
  }
  return news;
}

static void print_slowest(const watch_list *list) {
  ptrdiff_t slowest = watch_list_slowest(list);
  if (slowest < 0) return;
  const watched *w = &list->run[slowest];
  if (w->rank >= 0) {
    printf("slowest: rank %d\n", w->rank);
  } else {
    printf("slowest: %s\n", file_title(w->path));
  }
}

/* A line of each run and of each anomaly that lasts. Lines are cut at the edge of the
 * terminal, so that their number is known. */
static void print_screen(watch_screen *screen, const watch_list *list) {
  if (screen->lines) printf("\033[%zuA", screen->lines);
  printf("\r\033[J");
  for (size_t i = 0; i < list->count; i++) {
    if (!list->run[i].ended) (void)print_news(list, &list->run[i], 1);
  }
  printf("\033[?7l");
  screen->lines = 0;
  for (size_t i = 0; i < list->count; i++) {
    const watched *w = &list->run[i];
    if (!w->source) continue;
    print_head(list, w);
    print_state(w);
    screen->lines++;
    for (size_t k = 0; k < w->anomalies; k++) {
      if (w->anomaly[k].phase == TSANOM_HSA_ANOMALY_RECOVERED) continue;
      printf("    ");
      print_anomaly(w, &w->anomaly[k]);
      screen->lines++;
    }
  }
  if (watch_list_slowest(list) >= 0) screen->lines++;
  print_slowest(list);
  printf("\033[?7h");
}

static int has_changed(watched *w) {
  watched_print now = {1, all_beats(w), w->state}, last = w->print;
  w->print = now;
  return !last.shown || now.beats != last.beats || now.state != last.state;
}

int watch_print(watch_screen *screen, watch_list *list, failure *why) {
  int failed = 0, changed = 0;
  if (screen->terminal && !screen->json) {
    print_screen(screen, list);
    (void)fflush(stdout);
    return 0;
  }
  for (size_t i = 0; i < list->count && !failed; i++) {
    watched *w = &list->run[i];
    if (!w->source || w->ended) continue;
    int news = print_news(list, w, !screen->json);
    if (!has_changed(w) && !news) continue;
    changed = 1;
    if (screen->json) {
      failed = watch_print_json(list, i, why);
    } else {
      print_head(list, w);
      print_state(w);
    }
  }
  if (changed && !screen->json) print_slowest(list);
  (void)fflush(stdout);
  return failed;
}
