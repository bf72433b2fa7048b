/* SPDX-License-Identifier: BSD-3-Clause */
/* What changed in watched runs: as lines of text, on a terminal over the last ones, or as JSON. */
#include "watched.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "diagnosis.h"
#include "json_value.h"
#include "report.h"
#include "reserve.h"
#include "rows.h"

/* The thread that follows another one from the slowest on; w->threads: there is none.
 * `after`: w->threads asks for the first. */
static size_t next_slowest(const watched *w, size_t after) {
  size_t found = w->threads;
  double rate_after = watched_pulse(w, after).rate, least = INFINITY;
  for (size_t t = 0; t < w->threads; t++) {
    double rate = watched_pulse(w, t).rate;
    if (isnan(rate) || t == after || (found < w->threads && !(rate < least))) continue;
    if (after < w->threads && (rate < rate_after || (rate == rate_after && t < after))) {
      continue;
    }
    found = t;
    least = rate;
  }
  return found;
}

/* The first one; -1: fewer than two threads have rates. */
static int32_t slowest_thread(const watched *w) {
  size_t first = next_slowest(w, w->threads);
  int alone = first == w->threads || next_slowest(w, first) == w->threads;
  return alone ? -1 : (int32_t)first;
}

/* ---- lines */

/* What a line begins with is read first, and stays when a terminal cuts it: the state,
 * the age of the last beat and the slowest threads are in front of the other numbers. */

enum { RATES_SHOWN = 8 };

static const double mebibyte = 1048576;

/* The time, and which of several runs. */
static void print_head(FILE *out, const watch_list *list, const watched *w) {
  (void)fprintf(out, "%10.3f s: ", w->now);
  if (list->count > 1) (void)fprintf(out, "%s: ", file_title(w->path));
}

static void print_anomaly(FILE *out, const watched *w,
                          const tsanom_diagnosis_anomaly *a) {
  char evidence[EVIDENCE_BYTES];
  if (a->cause.thread >= 0) {
    int has_name = *a->cause.name != 0;
    (void)fprintf(out, has_name ? "thread %d (%s): " : "thread %d: ", a->cause.thread,
                  a->cause.name);
  }
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
  while (shown < RATES_SHOWN && (t = next_slowest(w, t)) < w->threads) {
    (void)fprintf(out, "%s %zu (%.4g)", shown ? "," : "", t, watched_pulse(w, t).rate);
    shown++;
  }
  (void)fprintf(out, " beats/s, %zu more threads", w->threads - shown);
}

static void print_rates(FILE *out, const watched *w) {
  int32_t slowest = slowest_thread(w);
  if (slowest >= 0 && w->threads > RATES_SHOWN) {
    print_slowest_threads(out, w);
    return;
  }
  if (slowest >= 0) {
    (void)fprintf(out, ", slowest thread %d (%.4g)", slowest,
                  watched_pulse(w, (size_t)slowest).rate);
  }
  (void)fprintf(out, ", beats/s");
  for (size_t t = 0; t < w->threads && t < RATES_SHOWN; t++) {
    double rate = watched_pulse(w, t).rate;
    (void)(isnan(rate) ? fprintf(out, " -") : fprintf(out, " %.4g", rate));
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
    (void)fprintf(out, " (%.*g s, %.*g to %.*g)", digits_of(r.seconds), r.seconds,
                  digits_of(r.low), r.low, digits_of(r.high), r.high);
  } else if (!isnan(r.seconds)) {
    (void)fprintf(out, " (%.*g s)", digits_of(r.seconds), r.seconds);
  }
}

/* The rest of a line: the state of the run. */
static void print_state(FILE *out, const watched *w) {
  double age = watched_age(w);
  (void)fprintf(out, "%s, ", state_name(w->state));
  if (!watched_iteration(w)) {
    (void)fprintf(out, "no beats yet\n");
    return;
  }
  (void)fprintf(out, "%s %zu", w->no_iterations ? "beat" : "iteration",
                watched_iteration(w));
  if (!isnan(age)) (void)fprintf(out, ", last beat %.*g s ago", digits_of(age), age);
  print_remaining(out, w);
  print_rates(out, w);
  print_vitals(out, w);
  (void)fprintf(out, "\n");
}

/* The slowest of several runs, on a line of its own. */
static void print_slowest(FILE *out, const watch_list *list) {
  if (list->slowest == TSANOM_NONE) return;
  const watched *w = &list->run[list->slowest];
  if (w->rank >= 0) {
    (void)fprintf(out, "slowest: rank %d\n", w->rank);
  } else {
    (void)fprintf(out, "slowest: %s\n", file_title(w->path));
  }
}

/* ---- the terminal */

/* The states of runs on a terminal, a line each, so that the next look can write over them.
 * If not all fit, the rest is a number:
 *
 *             12.345 s: rank.40: running, ...      with alarms, in the order of ranks
 *                 thread 0: hang since ...         the first of each run
 *             12.345 s: rank.7: running, ...       with other anomalies
 *             12.345 s: rank.9: running, ...       the slowest ones
 *         44 more runs (0 with anomalies), 3 more anomalies */

enum { ROWS = 24, COLUMNS = 80, FEWEST_ROWS = 5, FEWEST_COLUMNS = 40 };

typedef struct {
  size_t rows, columns; /* the last row is that of the cursor */
  size_t lines;
} page;

static page terminal_page(void) {
  struct winsize size = {.ws_row = 0};
  page p = {.rows = ROWS, .columns = COLUMNS};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
    p.rows = size.ws_row;
    p.columns = size.ws_col;
  }
  if (p.rows < FEWEST_ROWS) p.rows = FEWEST_ROWS;
  if (p.columns < FEWEST_COLUMNS) p.columns = FEWEST_COLUMNS;
  p.rows--;
  return p;
}

/* Cut to the page. Bytes that continue a character of UTF-8 take no column. */
static void put(page *p, const char *text) {
  size_t at = 0, width = 0;
  for (; text[at] && text[at] != '\n'; at++) {
    if (((unsigned char)text[at] & 0xC0) != 0x80 && width++ == p->columns) break;
  }
  (void)printf("%.*s\n", (int)at, text);
  p->lines++;
}

static int lasts(const tsanom_diagnosis_anomaly *a) {
  return a->phase != TSANOM_DIAGNOSIS_ANOMALY_RECOVERED;
}

/* A line of a run, or of an anomaly of it. */
static void put_run(page *p, const watch_list *list, const watched *w,
                    const tsanom_diagnosis_anomaly *a) {
  char *text;
  size_t bytes;
  FILE *out = open_text(&text, &bytes);
  if (a) {
    (void)fprintf(out, "    ");
    print_anomaly(out, w, a);
  } else {
    print_head(out, list, w);
    print_state(out, w);
  }
  close_text(out);
  put(p, text);
  free(text);
}

enum { ALARM, ANOMALY, RUNNING, OVER };

typedef struct {
  const watched *run;
  int order; /* ALARM, ... */
  size_t anomalies;
  double rate;
} entry;

static entry entry_of(const watched *w) {
  size_t slowest = next_slowest(w, w->threads);
  entry e = {.run = w,
             .order = w->state == TSANOM_RUN_RUNNING ? RUNNING : OVER,
             .rate = slowest < w->threads ? watched_pulse(w, slowest).rate : INFINITY};
  for (size_t k = 0; k < w->anomalies; k++) {
    if (!lasts(&w->anomaly[k])) continue;
    e.anomalies++;
    if (e.order > ANOMALY) e.order = ANOMALY;
    if (tsanom_diagnosis_cause_is_alarm(&w->anomaly[k].cause)) e.order = ALARM;
  }
  return e;
}

static int compare(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->order != y->order) return x->order - y->order;
  if (x->rate != y->rate) return x->rate < y->rate ? -1 : 1;
  return x->run < y->run ? -1 : 1;
}

static void put_rest(page *p, const entry *left, size_t runs, size_t anomalies) {
  char text[COLUMNS + 1] = "";
  size_t abnormal = 0;
  for (size_t i = 0; i < runs; i++) abnormal += left[i].anomalies > 0;
  int used = runs ? snprintf(text, sizeof text, "%zu more runs (%zu with anomalies)",
                             runs, abnormal)
                  : 0;
  if (anomalies && used >= 0) {
    (void)snprintf(text + used, sizeof text - (size_t)used, "%s%zu more anomalies",
                   runs ? ", " : "", anomalies);
  }
  put(p, text);
}

/* If not all fit, of several runs the first anomaly of each. */
static void put_runs(page *p, const watch_list *list) {
  size_t count = 0, anomalies = 0, shown = 0;
  entry *e = allocate(list->count, sizeof *e);
  for (size_t i = 0; i < list->count; i++) {
    if (!list->run[i].source) continue;
    e[count] = entry_of(&list->run[i]);
    anomalies += e[count++].anomalies;
  }
  if (count > 1) qsort(e, count, sizeof *e, compare);
  int fits = count + anomalies <= p->rows;
  size_t rows = fits ? p->rows : p->rows - 1, most = fits || count == 1 ? SIZE_MAX : 1;
  for (; shown < count && p->lines < rows; shown++) {
    const watched *w = e[shown].run;
    size_t of_run = 0;
    put_run(p, list, w, NULL);
    for (size_t k = 0; k < w->anomalies; k++) {
      if (!lasts(&w->anomaly[k]) || of_run == most || p->lines == rows) continue;
      put_run(p, list, w, &w->anomaly[k]);
      of_run++;
    }
    anomalies -= of_run;
  }
  if (!fits) put_rest(p, e + shown, count - shown, anomalies);
  free(e);
}

/* Over the `lines` that the last call printed, which is updated. */
static void draw_screen(size_t *lines, const watch_list *list) {
  page p = terminal_page();
  size_t below = list->slowest != TSANOM_NONE;
  p.rows -= below;
  put_runs(&p, list);
  print_slowest(stdout, list);
  *lines = p.lines + below;
}

/* ---- news, and JSON */

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
    json_array_append_new(counts, json_integer((json_int_t)watched_pulse(w, t).beats));
    json_array_append_new(rates, json_finite(watched_pulse(w, t).rate));
  }
  return json_pack(
      "{so so so ss sI so so so so sb so so so so so so so so}", "run",
      json_name(file_title(w->path)), "rank", index_to_json(w->rank), "time",
      json_finite(w->now), "state", state_name(w->state), "iteration",
      (json_int_t)watched_iteration(w), "remaining", json_finite(r.iterations),
      "remaining_s", json_finite(r.seconds), "remaining_low_s", json_finite(r.low),
      "remaining_high_s", json_finite(r.high), "drifts", r.drifts, "beats", counts,
      "rate", rates, "age", json_finite(watched_age(w)), "slowest",
      index_to_json(slowest_thread(w)), "slowest_run",
      slowest == TSANOM_NONE ? json_null()
                             : json_name(file_title(list->run[slowest].path)),
      "vital", vitals_to_json(w), "causes", anomalies_to_json(w, 0), "recovered",
      anomalies_to_json(w, 1));
}

/* Print run `i` as an object in one line. */
static void print_json_line(const watch_list *list, size_t i) {
  json_t *line = run_to_json(list, i);
  int failed = !line || json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
  putchar('\n');
  json_decref(line);
  if (failed && !ferror(stdout)) end_without_memory();
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
static void print_screen(watch_screen *screen, const watch_list *list) {
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
  draw_screen(&screen->lines, list);
  print_terminal_code("\033[?7h");
}

static size_t all_beats(const watched *w) {
  size_t sum = 0;
  for (size_t t = 0; t < w->threads; t++) sum += (size_t)watched_pulse(w, t).beats;
  return sum;
}

static int has_changed(watched *w) {
  watched_print now = {1, all_beats(w), w->state}, last = w->print;
  w->print = now;
  return !last.shown || now.beats != last.beats || now.state != last.state;
}

static void print_changes(const watch_screen *screen, watch_list *list) {
  int changed = 0;
  for (size_t i = 0; i < list->count; i++) {
    watched *w = &list->run[i];
    if (!w->source || w->ended) continue;
    int news = print_news(list, w, !screen->json);
    if (!has_changed(w) && !news) continue;
    changed = 1;
    if (screen->json) {
      print_json_line(list, i);
    } else {
      print_head(stdout, list, w);
      print_state(stdout, w);
    }
  }
  if (changed && !screen->json) print_slowest(stdout, list);
}

void watch_print(watch_screen *screen, watch_list *list) {
  if (screen->terminal && !screen->json) {
    print_screen(screen, list);
  } else {
    print_changes(screen, list);
  }
  (void)fflush(stdout);
}
