/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom period: the periods of a stream of events or values. A file is read sample by
 * sample, so that events and windowed values need memory for the window only; values
 * without --window are kept and analyzed as a whole. A run directory is a stream of the
 * places of its regions or, with --active, of numbers of active threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "main_loop.h"
#include "periods.h"
#include "plot.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"

/* The name of an event that is kept in that slot. */
static const char *period_stream_name(period_stream *s, size_t slot) {
  uint64_t event = s->p.recent.event[slot];
  return s->run.run ? region_stream_name(&s->run, event) : s->words.text[event];
}

/* The samples that are kept are the last ones: number `index` as a number to be drawn. */
static uint64_t period_stream_oldest(const period_stream *s) {
  return s->p.count > s->p.kept ? s->p.count - s->p.kept : 0;
}

static double period_stream_at(const period_stream *s, uint64_t index) {
  size_t slot = (size_t)(index % s->p.kept);
  return s->events ? (double)s->p.recent.event[slot] : s->p.recent.value[slot];
}

/* Pictures of a stream and its periods: the paper's figures 4 and 7. Two panels:
 *
 *   upper   d(m) at the end of the stream, with the period where it is smallest
 *   lower   the last few periods of the stream, with their starts marked
 *
 * The limits below keep pictures of long streams small and their computation short: d(m)
 * of m delays over n samples takes m n differences. */

/* What of a stream is drawn. */
enum {
  PERIODS_SHOWN = 4,
  LEAST_SHOWN = 400,
  MARKS_MOST = 2000,      /* of one segment */
  DISTANCES_MOST = 10000, /* delays, and events compared at each */
  WHOLE_MOST = 1 << 16,   /* values compared at each of */
  WHOLE_DELAYS_MOST = 2000
};

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* The period whose segments end the picture; 0: none. */
static size_t last_period(const periods *p) {
  return !p->current && p->segments ? p->segment[p->segments - 1].period : p->current;
}

/* Where the part that is shown begins: some of the longest periods before the end. */
static uint64_t first_shown(const period_stream *s) {
  uint64_t wanted = larger(PERIODS_SHOWN * (uint64_t)last_period(&s->p), LEAST_SHOWN);
  uint64_t oldest = period_stream_oldest(s);
  return s->p.count > wanted ? larger(s->p.count - wanted, oldest) : oldest;
}

/* Commands that make an axis hold the numbers, and are no empty range. */
static void put_range(const plot *p, char axis, double low, double high, double margin) {
  double wider = high > low ? margin * (high - low) : 1;
  fprintf(p->script, "set %crange [%.17g:%.17g]\n", axis, low - wider, high + wider);
}

static void put_range_of(const plot *p, const double *y, size_t count, double least) {
  double low = least, high = least;
  for (size_t i = 0; i < count; i++) {
    low = y[i] < low ? y[i] : low;
    high = y[i] > high ? y[i] : high;
  }
  put_range(p, 'y', low, high, 0.1);
}

/* Mark each period of a segment, or each second one, third one, ... of very many. */
static int mark_segment(const period_stream *s, const plot *p, const stretch *t,
                        uint64_t shown) {
  uint64_t marks = (t->last - t->first) / t->period + 1;
  uint64_t step = t->period * ((marks + MARKS_MOST - 1) / MARKS_MOST);
  uint64_t skipped = shown > t->first ? (shown - t->first + step - 1) / step : 0;
  uint64_t first = t->first + skipped * step;
  for (uint64_t i = first; i <= t->last; i += step) {
    fprintf(p->script, "%llu %.17g\n", (unsigned long long)i, period_stream_at(s, i));
  }
  return first <= t->last;
}

/* Whether there are any. */
static int put_starts(const period_stream *s, const plot *p) {
  uint64_t shown = first_shown(s);
  int any = 0;
  fprintf(p->script, "$starts << END\n");
  for (size_t k = 0; k < s->p.segments; k++) {
    if (s->p.segment[k].last < shown) continue;
    any |= mark_segment(s, p, &s->p.segment[k], shown);
  }
  fprintf(p->script, "END\n");
  return any;
}

/* The lower panel: the stream before its end. */
static void put_stream(const period_stream *s, const plot *p) {
  uint64_t first = first_shown(s);
  size_t count = (size_t)(s->p.count - first);
  double *x = allocate(count, sizeof *x), *y = allocate(count, sizeof *y);
  for (size_t i = 0; i < count; i++) {
    x[i] = (double)(first + i);
    y[i] = period_stream_at(s, first + i);
  }
  plot_series(p, "stream", x, y, count);
  put_range(p, 'x', x[0], x[count - 1], 0);
  put_range_of(p, y, count, y[0]);
  int any = put_starts(s, p);
  fprintf(p->script,
          "set xlabel 'sample'\nset ylabel '%s'\nplot $stream with lines notitle%s\n",
          s->events ? "event, by first occurrence" : "value",
          any ? ", $starts with points pointtype 3 title 'start of a period'" : "");
  free(x);
  free(y);
}

/* Of events, the share of the last ones that are unlike the one m before: where it is
 * 0, so is the paper's d(m). */
static size_t event_distances(const period_stream *s, double *distance, size_t capacity) {
  const periods *p = &s->p;
  size_t kept = p->count < p->kept ? (size_t)p->count : p->kept;
  size_t count = kept / 2 < capacity ? kept / 2 : capacity;
  for (size_t m = 1; m <= count; m++) {
    size_t unlike = 0;
    for (uint64_t i = p->count - count; i < p->count; i++) {
      unlike += p->recent.event[i % p->kept] != p->recent.event[(i - m) % p->kept];
    }
    distance[m - 1] = (double)unlike / (double)count;
  }
  return count;
}

/* Mean |x[t] - x[t-m]| over the last samples of a series that was analyzed as a whole. */
static size_t series_distances(const periods *p, double *distance, size_t capacity) {
  size_t kept = p->count < WHOLE_MOST ? (size_t)p->count : WHOLE_MOST;
  const double *x = p->recent.value + (p->count - kept);
  size_t count = kept / 2 < capacity ? kept / 2 : capacity;
  for (size_t m = 1; m <= count; m++) {
    double sum = 0;
    for (size_t t = m; t < kept; t++) sum += fabs(x[t] - x[t - m]);
    distance[m - 1] = sum / (double)(kept - m);
  }
  return count;
}

static size_t distances(const period_stream *s, double *distance, size_t capacity) {
  if (s->events) return event_distances(s, distance, capacity);
  if (s->p.whole) return series_distances(&s->p, distance, capacity);
  size_t count = 0;
  tsanom_dpd_value_distances(s->p.value, distance, capacity, &count);
  return count;
}

static void put_curve(const period_stream *s, const plot *p, const double *m,
                      const double *distance, size_t count) {
  size_t period = s->p.current;
  plot_series(p, "distances", m, distance, count);
  put_range(p, 'x', 1, (double)count, 0);
  put_range_of(p, distance, count, 0);
  fprintf(p->script,
          "set xlabel 'delay m, samples'\nset ylabel '%s'\n"
          "$period << END\n%zu %.17g\nEND\nplot $distances with lines notitle",
          s->events ? "share of different events" : "d(m), unit of the values", period,
          period && period <= count ? distance[period - 1] : 0);
  if (period && period <= count) {
    fprintf(p->script, ", $period with points pointtype 7 title 'period %zu'", period);
  }
  fprintf(p->script, "\n");
}

/* The upper panel: d(m) at the end, where the stream is long enough for it. */
static void put_distances(const period_stream *s, const plot *p) {
  size_t capacity = s->events    ? DISTANCES_MOST
                    : s->p.whole ? WHOLE_DELAYS_MOST
                                 : s->p.window;
  double *m = allocate(capacity, sizeof *m);
  double *distance = allocate(capacity, sizeof *distance);
  size_t count = distances(s, distance, capacity);
  for (size_t k = 0; k < count; k++) m[k] = (double)(k + 1);
  if (count) put_curve(s, p, m, distance, count);
  free(m);
  free(distance);
}

/* Draw d(m) at the end of a stream, and the stream before its end with a mark where
 * each period of a segment starts. */
static int period_plot(const period_stream *s, const char *path, failure *why) {
  plot p;
  if (plot_open(&p, path, "", why)) return -1;
  fprintf(p.script,
          "set multiplot layout 2,1\nset lmargin 9\n"
          "set key outside top center horizontal\n");
  put_distances(s, &p);
  put_stream(s, &p);
  return plot_close(&p, why);
}

typedef struct {
  shared_options shared;
  period_request stream;
  size_t next;
  int next_given;
  int active;
} request;

static const option_row options[] = {
    {"events", 0, NULL, "The stream consists of identifiers, not of values",
     FLAG(stream.events)},
    {"window", 'w', "N",
     "Samples in a sliding window (default: events: a third of the stream, at most "
     "1048576, the longest period; values are analyzed as a whole)",
     COUNT(stream.window, 1, 0)},
    {"max-period", 0, "M",
     "Values: longest period to test (default: a quarter of the samples, at most 16384, "
     "or of the window)",
     COUNT(stream.max_period, 2, 1 << 20)},
    {"active", 0, NULL, "RUN: values are the numbers of active threads over time",
     FLAG(active)},
    {"interval", 0, "SECONDS", "Time between two of these values (default: 0.001)",
     NUMBER(stream.interval, 0, INFINITY, LOW_OPEN)},
    {"next", 'n', "K", "Predict K samples (default: one period)", COUNT(next, 0, 0),
     GIVEN(next_given)},
    {"depth", 0, "D",
     "Values: decide by the depth of a minimum of d(m) alone, 0 to 1, as in the paper "
     "(default: 0.5, and by significance)",
     NUMBER(stream.depth, 0, 1, LOW_OPEN | HIGH_OPEN)},
    {"adapt", 0, NULL,
     "Values: shrink the window to 4 periods once one has held for N samples, so that a "
     "break ends sooner, and grow it again when none has been found for 2 N",
     FLAG(stream.adapt)},
    COLUMN_ROW(stream.column),
    {"loop", 0, "L",
     "Of a run, the main loop: an iteration begins with each region L, which is a name "
     "or MODULE+0xADDRESS (default: found)",
     TEXT(stream.loop)},
    SALVAGE_ROW,
};

/* The limits of a window depend on whether the stream has events, which a directory
 * decides. */
static void check_end(struct argp_state *state, void *request_) {
  request *r = request_;
  int is_run = is_directory(r->shared.argument[0]);
  if (r->active && !is_run) argp_error(state, "--active is for a run directory");
  if (r->active && r->stream.events) argp_error(state, "--active or --events, not both");
  if (r->stream.interval > 0 && !r->active) {
    argp_error(state, "--interval needs --active");
  }
  if (r->active && !(r->stream.interval > 0)) r->stream.interval = 0.001;
  if (is_run && !r->active) r->stream.events = 1;
  size_t most = r->stream.events ? (size_t)TSANOM_DPD_WINDOW_MAX / 4 : (size_t)1 << 20;
  if (r->stream.window > most) argp_error(state, "--window: at most %zu samples", most);
  const period_request *s = &r->stream;
  if (s->loop && (!is_run || r->active)) {
    argp_error(state, "--loop is for a run, without --active");
  }
  if (s->column && is_run) argp_error(state, "--column is for a file");
  if (s->events && (s->depth > 0 || s->adapt)) {
    argp_error(state, "--depth and --adapt are for values, not for --events");
  }
  if (s->max_period && (s->events || (s->window && s->max_period > s->window))) {
    argp_error(state, "--max-period is for values; at most the --window");
  }
}

/* How many samples are predicted: what was asked for, else one period. */
static size_t predicted(const request *r, const period_stream *s) {
  return s->p.current && r->next_given ? r->next : s->p.current;
}

/* Where the sample is kept that comes `ahead` samples behind the last one: the one a whole
 * number of periods before it. */
static size_t next_slot(const periods *p, size_t ahead) {
  return (size_t)((p->count - p->current + ahead % p->current) % p->kept);
}

/* The prediction repeats the latest period. */
static json_t *next_json(const request *r, period_stream *s) {
  json_t *next = json_array();
  for (size_t i = 0; i < predicted(r, s); i++) {
    size_t at = next_slot(&s->p, i);
    json_array_append_new(next, s->events ? json_name(period_stream_name(s, at))
                                          : json_finite(s->p.recent.value[at]));
  }
  return next;
}

static int print_as_json(const request *r, period_stream *s) {
  const tsanom_dpd_period *list = s->p.found;
  json_t *found = json_array(), *segments = json_array();
  for (size_t i = 0; i < s->p.founds; i++) {
    json_array_append_new(
        found,
        json_pack("{sI sI sI sI sI sI}", "period", (json_int_t)list[i].period, "level",
                  (json_int_t)list[i].level, "first", (json_int_t)list[i].first, "last",
                  (json_int_t)list[i].last, "loops", (json_int_t)list[i].loops, "samples",
                  (json_int_t)list[i].events));
  }
  for (size_t i = 0; i < s->p.segments; i++) {
    const stretch *t = &s->p.segment[i];
    json_array_append_new(
        segments, json_pack("{sI sI sI}", "first", (json_int_t)t->first, "last",
                            (json_int_t)t->last, "period", (json_int_t)t->period));
  }
  json_t *result =
      json_pack("{sI so so so}", "samples", (json_int_t)s->p.count, "periods", found,
                "segments", segments, "next", next_json(r, s));
  if (s->run.run) {
    json_object_set_new(result, "main_loop", main_loop_json(&s->main, &s->run));
    json_object_set_new(result, "candidates", main_loop_candidates(&s->main, &s->run));
  }
  if (s->p.whole) {
    json_object_set_new(result, "max_period", json_integer((json_int_t)s->p.tested));
  }
  if (s->p.cycle) {
    json_object_set_new(result, "cycle",
                        json_pack("{sI sf}", "samples", (json_int_t)s->p.cycle,
                                  "variation", s->p.variation > 0 ? s->p.variation : 0.));
  }
  if (r->active) json_object_set_new(result, "interval_s", json_real(r->stream.interval));
  return print_json(result);
}

/* What was searched, and how many samples a period needs to be found. */
static void print_no_period(const period_stream *s) {
  if (s->p.cycle) {
    printf("no period, but a cycle of about %zu samples whose length varies", s->p.cycle);
    if (s->p.variation > 0) printf(" by about %.0f %%", 100 * s->p.variation);
    printf("\n");
  } else if (s->p.whole) {
    printf(
        "no period of up to %zu samples; a period of p samples needs at least 4p "
        "samples\n",
        s->p.tested);
  } else if (s->events) {
    printf(
        "no period of up to %zu events; a period needs at least 3 repetitions and 8 "
        "events\n",
        s->p.window);
  } else {
    printf(
        "no period of up to %zu samples; a period of p samples needs more than %zu + p "
        "samples, or 160 and 4p in noise\n",
        s->p.tested, s->p.window);
  }
}

/* "Period 2: 400 times in 800 events.": of the outermost level. */
static void print_answer(const period_stream *s) {
  const tsanom_dpd_period *best = NULL, *list = s->p.found;
  for (size_t i = 0; i < s->p.founds; i++) {
    if (!best || list[i].events > best->events ||
        (list[i].events == best->events && list[i].period > best->period)) {
      best = &list[i];
    }
  }
  if (!best) {
    print_no_period(s);
    return;
  }
  printf("Period %zu: %llu times in %llu %s.\n", best->period,
         (unsigned long long)(best->events / best->period),
         (unsigned long long)s->p.count, s->events ? "events" : "samples");
}

static void print_table(const request *r, period_stream *s) {
  const tsanom_dpd_period *list = s->p.found;
  size_t count = s->p.founds;
  unsigned long long samples = s->p.count;
  print_answer(s);
  if (r->shared.brief) return;
  if (r->active) printf("number of active threads every %g s: ", r->stream.interval);
  if (s->p.whole) {
    printf("%llu samples, periods up to %zu%s\n\n", samples, s->p.tested,
           samples / 4 > s->p.tested ? ", the limit of --max-period" : "");
  } else {
    printf("%llu samples, window %zu\n\n", samples, s->p.window);
  }
  main_loop_print(&s->main, &s->run);
  if (!count) return;
  printf("  period  level       first        last    loops     samples\n");
  for (size_t i = 0; i < count; i++) {
    printf("%8zu  %5zu  %10llu  %10llu %8llu  %10llu\n", list[i].period, list[i].level,
           (unsigned long long)list[i].first, (unsigned long long)list[i].last,
           (unsigned long long)list[i].loops, (unsigned long long)list[i].events);
  }
  printf("\nsegments: ");
  for (size_t i = 0; i < s->p.segments && i < 20; i++) {
    const stretch *t = &s->p.segment[i];
    printf("%s%llu-%llu by %zu", i ? ", " : "", (unsigned long long)t->first,
           (unsigned long long)t->last, t->period);
  }
  printf(s->p.segments > 20 ? ", and %zu more\n" : "\n", s->p.segments - 20);
  if (!predicted(r, s)) return;
  printf("next:");
  for (size_t i = 0; i < predicted(r, s) && i < 50; i++) {
    size_t at = next_slot(&s->p, i);
    if (s->events) {
      printf(" %s", period_stream_name(s, at));
    } else {
      printf(" %.6g", s->p.recent.value[at]);
    }
  }
  printf(predicted(r, s) > 50 ? " ...\n" : "\n");
}

static const syntax command_line = {
    ROWS(options),
    .arguments = "FILE|RUN",
    .help =
        "Periods of a stream of values or, with --events, of identifiers.\v"
        "FILE contains one sample per line, or is a CSV file with a header and "
        "--column; \"-\" is standard input. Of events, the loops of all periods up to "
        "the window are found, also nested ones: a loop repeats its pattern at least "
        "three times. Of values, a period is reported if it is significant in the whole "
        "series or in a half, quarter, ... of it; with --window, a sliding window "
        "follows periods that change. RUN is a run directory by tsanom record: its "
        "parallel regions are the events; with --active, its numbers of active threads "
        "are the values.",
    .expected = "one file is",
    .least = 1,
    .most = 1,
    .check = check_end,
};

static int draw(const request *r, const period_stream *s, failure *why) {
  if (s->p.count) return period_plot(s, r->shared.plot, why);
  return fail(why, "%s: there are no samples to draw", file_title(r->shared.argument[0]));
}

/* One stream. */
static int period(const void *request_) {
  request r = *(const request *)request_;
  r.stream.path = r.shared.argument[0];
  r.stream.salvage = r.shared.salvage;
  r.stream.exec = &r.shared.exec;
  period_stream s = {0};
  failure why;
  int status = EXIT_DONE;
  if (period_stream_read(&s, &r.stream, &why) || (r.shared.plot && draw(&r, &s, &why))) {
    status = report_failure(&why);
  } else if (r.shared.json) {
    status = print_as_json(&r, &s);
  } else {
    print_table(&r, &s);
  }
  period_stream_free(&s);
  return status;
}

int command_period(int argc, char **argv) {
  request r = {0};
  parse_command(&command_line, argc, argv, &r);
  return for_each_rank(&r.shared, 1, period, &r);
}
