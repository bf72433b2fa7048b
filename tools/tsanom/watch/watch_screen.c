/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of runs on a terminal. A screen that is higher than the terminal cannot be
 * written over, because its first lines have left it. So there are two forms:
 *
 *   all      each run and each anomaly; lines that are too long continue on the next
 *   most     what fits, a line each, the rest as a number:
 *
 *                 12.345 s: rank.40: running, ...      with alarms, in the order of ranks
 *                     thread 0: hang since ...         the first of each run
 *                 12.345 s: rank.7: running, ...       with other anomalies
 *                 12.345 s: rank.9: running, ...       the slowest ones
 *             44 more runs (0 with anomalies), 3 more anomalies */
#include "watch_screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "watch_lines.h"

enum { ROWS = 24, COLUMNS = 80, FEWEST_ROWS = 5, FEWEST_COLUMNS = 40 };

static const char continued[] = "            ";

typedef struct {
  size_t rows, columns; /* the last row is that of the cursor */
  size_t lines;
  int prints, cuts; /* else: counts, continues */
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

/* Bytes of a line that fit, if possible up to a blank. Bytes that continue a character of
 * UTF-8 take no column. */
static size_t fitting(const char *text, size_t columns, int cuts) {
  size_t at = 0, width = 0, blank = 0;
  for (; text[at] && text[at] != '\n'; at++) {
    if (((unsigned char)text[at] & 0xC0) != 0x80 && width++ == columns) {
      return cuts || !blank ? at : blank;
    }
    if (text[at] == ' ' && at + 1 > sizeof continued) blank = at + 1;
  }
  return at;
}

static void put(page *p, const char *text) {
  const char *indent = "";
  do {
    size_t length = fitting(text, p->columns - strlen(indent), p->cuts);
    if (p->prints) (void)printf("%s%.*s\n", indent, (int)length, text);
    p->lines++;
    text += length;
    indent = continued;
  } while (!p->cuts && *text && *text != '\n');
}

static int lasts(const tsanom_diagnosis_anomaly *a) {
  return a->phase != TSANOM_DIAGNOSIS_ANOMALY_RECOVERED;
}

/* A line of a run, or of an anomaly of it. -1: out of memory. */
static int put_run(page *p, const watch_list *list, const watched *w,
                   const tsanom_diagnosis_anomaly *a) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) return -1;
  if (a) {
    (void)fprintf(out, "    ");
    print_anomaly(out, w, a);
  } else {
    print_head(out, list, w);
    print_state(out, w);
  }
  int failed = fclose(out) != 0;
  if (!failed) put(p, text);
  free(text);
  return failed ? -1 : 0;
}

/* Stops when the page is full. */
static int put_all(page *p, const watch_list *list) {
  int failed = 0;
  for (size_t i = 0; i < list->count && !failed && p->lines <= p->rows; i++) {
    const watched *w = &list->run[i];
    if (!w->source) continue;
    failed = put_run(p, list, w, NULL);
    for (size_t k = 0; k < w->anomalies && !failed && p->lines <= p->rows; k++) {
      if (lasts(&w->anomaly[k])) failed = put_run(p, list, w, &w->anomaly[k]);
    }
  }
  return failed;
}

/* ---- most of the runs */

enum { ALARM, ANOMALY, RUNNING, OVER };

typedef struct {
  const watched *run;
  int order; /* ALARM, ... */
  size_t anomalies;
  double rate;
} entry;

static entry entry_of(const watched *w) {
  size_t slowest = watched_next_slowest(w, w->threads);
  entry e = {.run = w,
             .order = w->state == TSANOM_RUN_RUNNING ? RUNNING : OVER,
             .rate = slowest < w->threads ? w->pulse[slowest].rate : INFINITY};
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

/* A run with its first anomaly; if it is the only run, with those that fit. Returns how
 * many anomalies; -1: out of memory. */
static ptrdiff_t put_entry(page *p, const watch_list *list, const entry *e, size_t rows) {
  size_t most = list->count > 1 ? 1 : rows, put = 0;
  if (put_run(p, list, e->run, NULL)) return -1;
  for (size_t k = 0; k < e->run->anomalies && put < most && p->lines < rows; k++) {
    if (!lasts(&e->run->anomaly[k])) continue;
    if (put_run(p, list, e->run, &e->run->anomaly[k])) return -1;
    put++;
  }
  return (ptrdiff_t)put;
}

static void put_rest(page *p, const entry *left, size_t runs, size_t anomalies) {
  char text[COLUMNS + 1];
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

static int put_most(page *p, const watch_list *list) {
  size_t count = 0, shown = 0, anomalies = 0, rows = p->rows - 1;
  entry *e = calloc(list->count + 1, sizeof *e);
  int failed = !e;
  for (size_t i = 0; i < list->count && !failed; i++) {
    if (!list->run[i].source) continue;
    e[count] = entry_of(&list->run[i]);
    anomalies += e[count++].anomalies;
  }
  if (count > 1) qsort(e, count, sizeof *e, compare);
  for (; shown < count && p->lines < rows && !failed; shown++) {
    ptrdiff_t put = put_entry(p, list, &e[shown], rows);
    failed = put < 0;
    if (!failed) anomalies -= (size_t)put;
  }
  if (!failed) put_rest(p, e + shown, count - shown, anomalies);
  free(e);
  return failed;
}

int watch_screen_draw(size_t *lines, const watch_list *list, failure *why) {
  page p = terminal_page(), all = p;
  size_t below = list->slowest != TSANOM_NONE;
  p.rows = all.rows -= below;
  p.prints = 1;
  int failed = put_all(&all, list);
  p.cuts = all.lines > all.rows;
  if (!failed) failed = p.cuts ? put_most(&p, list) : put_all(&p, list);
  print_slowest(stdout, list);
  *lines = p.lines + below;
  return failed ? fail(why, "out of memory") : 0;
}
