/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of a stream and its periods: the paper's figures 4 and 7. Two panels:
 *
 *   upper   d(m) at the end of the stream, with the period where it is smallest
 *   lower   the last few periods of the stream, with their starts marked
 *
 * The limits below keep pictures of long streams small and their computation short: d(m)
 * of m delays over n samples takes m n differences. */
#include "period_plot.h"

#include <math.h>
#include <stdlib.h>

#include "plot.h"

/* What of a stream is drawn. */
enum {
  PERIODS_SHOWN = 4,
  LEAST_SHOWN = 400,
  MARKS_MOST = 2000,      /* of one segment */
  DISTANCES_MOST = 10000, /* delays, and events compared at each */
  WHOLE_MOST = 1 << 16,   /* values compared at each of */
  WHOLE_DELAYS_MOST = 2000
};

static double *numbers(size_t count) {
  return calloc(count ? count : 1, sizeof(double));
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* The period whose segments end the picture; 0: none. */
static size_t last_period(const periods *p) {
  size_t period = periods_current(p);
  return !period && p->segments ? p->segment[p->segments - 1].period : period;
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
static int put_stream(const period_stream *s, const plot *p, failure *why) {
  uint64_t first = first_shown(s);
  size_t count = (size_t)(s->p.count - first);
  double *x = numbers(count), *y = numbers(count);
  if (x && y) {
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
  }
  int failed = x && y ? 0 : fail(why, "out of memory");
  free(x);
  free(y);
  return failed;
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
  size_t period = periods_current(&s->p);
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
static int put_distances(const period_stream *s, const plot *p, failure *why) {
  size_t capacity = s->events    ? DISTANCES_MOST
                    : s->p.whole ? WHOLE_DELAYS_MOST
                                 : s->p.window;
  double *m = numbers(capacity), *distance = numbers(capacity);
  if (m && distance) {
    size_t count = distances(s, distance, capacity);
    for (size_t k = 0; k < count; k++) m[k] = (double)(k + 1);
    if (count) put_curve(s, p, m, distance, count);
  }
  int failed = m && distance ? 0 : fail(why, "out of memory");
  free(m);
  free(distance);
  return failed;
}

int period_plot(const period_stream *s, const char *path, failure *why) {
  plot p;
  if (plot_open(&p, path, "", why)) return -1;
  fprintf(p.script,
          "set multiplot layout 2,1\nset lmargin 9\n"
          "set key outside top center horizontal\n");
  if (put_distances(s, &p, why) || put_stream(s, &p, why)) {
    plot_abandon(&p);
    return -1;
  }
  return plot_close(&p, why);
}
