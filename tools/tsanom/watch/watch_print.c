/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of runs that are watched. */
#include "watch_print.h"

#include <stdio.h>

#include "report.h"
#include "watch_json.h"
#include "watch_lines.h"
#include "watch_screen.h"

/* What began or recovered. Returns whether there was anything. */
static int print_news(const watch_list *list, const watched *w, int printed) {
  int news = 0;
  for (size_t i = 0; i < w->anomalies; i++) {
    if (w->anomaly[i].phase == TSANOM_HSA_ANOMALY_LASTS) continue;
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
      failed = watch_print_json(list, i, why);
    } else {
      print_head(stdout, list, w);
      print_state(stdout, w);
    }
  }
  if (changed && !screen->json) print_slowest(stdout, list);
  (void)fflush(stdout);
  return failed;
}
