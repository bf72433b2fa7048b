/* SPDX-License-Identifier: BSD-3-Clause */
/* The detectors of periods behind one interface, and the segments that they find:
 *
 *   events             tsanom_dpd_nest    nested loops; segments end where they change
 *   values, --window   tsanom_dpd_value   a sliding window that follows changes
 *   values             tsanom_dpd_find    the whole series at its end, or parts of it
 *
 * A segment is a stretch of the stream with one period. Where segments are nested, as
 * loops are, only the outermost is kept, so that the list covers each sample once.
 *
 * `recent` holds the last samples in a ring, from which predictions are read: the sample
 * `ahead` of the end is the one a whole number of periods before it. */
#include "periods.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"
#include "run_open.h"
#include "series.h"

/* As the default significance of tsanom_dpd_find(). */
static const double cycle_chance = 0.01;

enum { KEPT_LEAST = 2000, LOOPS_MOST = 64, LEAST_WHOLE = 8, FIRST_WINDOW = 1024 };

/* The longest period of events that is looked for unless the user gives another. */
enum { PERIODS_MOST = 1 << 20 };

/* Where the sample of that index is kept. */
static size_t slot_of(const periods *p, uint64_t index) {
  return p->kept ? (size_t)(index % p->kept) : 0;
}

/* The ring, of the window or KEPT_LEAST samples if that is more, and the list of what
 * goes on now. */
static void keep_recent(periods *p, size_t window) {
  p->window = window;
  p->kept = window > KEPT_LEAST ? window : KEPT_LEAST;
  if (p->nest) {
    p->recent.event = allocate(p->kept, sizeof *p->recent.event);
  } else {
    p->recent.value = allocate(p->kept, sizeof *p->recent.value);
  }
  p->active = allocate(LOOPS_MOST, sizeof *p->active);
}

/* A loop needs three periods, so a longer window would find nothing yet. The short one
 * keeps the cost of an event down: it grows with the logarithm of the window. */
static int grow_window(periods *p, failure *why) {
  tsanom_status status = tsanom_dpd_nest_resize(p->nest, p->window);
  return status < 0 ? fail_status(why, "the detector", status) : 0;
}

/* A window of 0 grows with the stream: at any time it is a third of the events so far or
 * more, or PERIODS_MOST. */
static int open_events(periods *p, size_t window, const tsanom_exec *exec, failure *why) {
  tsanom_dpd_nest_options options;
  tsanom_dpd_nest_options_init(&options, sizeof options);
  p->window_most = window ? 0 : PERIODS_MOST;
  options.max_period = window ? window : PERIODS_MOST;
  options.capacity = TSANOM_DPD_PERIODS_MAX;
  tsanom_status status = tsanom_dpd_nest_create(&options, exec, &p->nest);
  if (status < 0) return fail_status(why, "the detector", status);
  keep_recent(p, options.max_period);
  if (window) return 0;
  p->window = FIRST_WINDOW;
  return grow_window(p, why);
}

/* Options that only a sliding window has select it; without any, values are analyzed as a
 * whole. */
static int open_values(periods *p, const period_request *r, failure *why) {
  tsanom_dpd_value_options options;
  bool windowed = r->window || r->depth > 0 || r->adapt;
  p->max_period = r->max_period;
  if (!windowed) {
    p->whole = r->exec;
    keep_recent(p, 0);
    return 0;
  }
  tsanom_dpd_value_options_init(&options, sizeof options);
  if (r->window) options.window = r->window;
  if (r->max_period > options.window) {
    return fail(why, "--max-period: at most the --window, by default %zu samples",
                options.window);
  }
  options.max_period = r->max_period ? r->max_period : (options.window + 3) / 4;
  if (r->depth > 0) {
    options.depth = r->depth;
    options.significance = 0;
  }
  options.adapt = r->adapt;
  tsanom_status status = tsanom_dpd_value_create(&options, r->exec, &p->value);
  if (status < 0) return fail_status(why, "the detector", status);
  p->tested = options.max_period;
  keep_recent(p, options.window);
  return 0;
}

/* A segment has ended. It counts unless it lies in one of a longer period that still
 * goes on; it replaces those of shorter periods that lie in it. */
static void add_segment(periods *p, stretch ended) {
  for (size_t i = 0; i < p->actives; i++) {
    if (p->active[i].period > ended.period && p->active[i].first <= ended.first) return;
  }
  while (p->segments && p->segment[p->segments - 1].first >= ended.first &&
         p->segment[p->segments - 1].period < ended.period) {
    p->segments--;
  }
  reserve(&p->segment, &p->capacity, p->segments + 1, sizeof *p->segment);
  p->segment[p->segments++] = ended;
}

static int is_among(const stretch *some, size_t count, const stretch *one) {
  for (size_t i = 0; i < count; i++) {
    if (some[i].period == one->period && some[i].first == one->first) return 1;
  }
  return 0;
}

/* The stretches that go on now; those that did before and are not among them
 * ended with the sample before the last one. */
static void follow(periods *p, const stretch *now, size_t count) {
  stretch before[LOOPS_MOST];
  size_t befores = p->actives;
  memcpy(before, p->active, befores * sizeof *before);
  memcpy(p->active, now, count * sizeof *now);
  p->actives = count;
  for (size_t i = 0; i < befores; i++) {
    if (is_among(now, count, &before[i])) continue;
    before[i].last = p->count - 2;
    add_segment(p, before[i]);
  }
}

/* Loops are asked for only when the detector reports a change. */
static int push_event(periods *p, uint64_t event, failure *why) {
  int32_t changed = 0;
  if (p->window < p->window_most && p->count == 3 * (uint64_t)p->window) {
    p->window *= 2;
    if (grow_window(p, why)) return -1;
  }
  tsanom_dpd_nest_push(p->nest, event, &changed);
  p->recent.event[slot_of(p, p->count++)] = event;
  if (!changed) return 0;
  tsanom_dpd_loop loop[LOOPS_MOST];
  stretch now[LOOPS_MOST];
  size_t count = 0;
  tsanom_dpd_nest_loops(p->nest, loop, LOOPS_MOST, &count);
  for (size_t i = 0; i < count; i++) {
    now[i] = (stretch){.period = loop[i].period, .first = loop[i].first};
  }
  follow(p, now, count);
  return 0;
}

/* Keep the record of a value's period: one more stretch of it begins at `first`. */
static void note_period(periods *p, size_t period, uint64_t first) {
  size_t at = 0;
  while (at < p->founds && p->found[at].period < period) at++;
  if (at < p->founds && p->found[at].period == period) {
    p->found[at].loops++;
    return;
  }
  reserve(&p->found, &p->found_capacity, p->founds + 1, sizeof *p->found);
  memmove(p->found + at + 1, p->found + at, (p->founds++ - at) * sizeof *p->found);
  p->found[at] =
      (tsanom_dpd_period){.period = period, .level = 1, .first = first, .loops = 1};
}

/* Its stretch goes on for some samples, to `last`. */
static void extend_period(periods *p, size_t period, uint64_t last, uint64_t samples) {
  for (size_t i = 0; i < p->founds; i++) {
    if (p->found[i].period != period) continue;
    p->found[i].last = last;
    p->found[i].events += samples;
  }
}

/* The sample is finite. */
static void push_value(periods *p, double sample) {
  tsanom_dpd_report report;
  if (p->whole) {
    reserve(&p->recent.value, &p->kept, p->count + 1, sizeof *p->recent.value);
    p->recent.value[p->count++] = sample;
    return;
  }
  (void)tsanom_dpd_value_push(p->value, sample, &report);
  p->recent.value[slot_of(p, p->count++)] = sample;
  if (report.change != TSANOM_DPD_STEADY) {
    stretch now = {.period = report.period, .first = p->count - 1};
    follow(p, &now, report.period != 0);
    if (report.period) note_period(p, report.period, p->count - 1);
  }
  extend_period(p, report.period, p->count - 1, 1);
}

/* The period of samples [first, first + count); 0: none. */
static int find_period(const periods *p, uint64_t first, size_t count, int depth,
                       tsanom_dpd_found *found, failure *why) {
  tsanom_dpd_find_options options;
  *found = (tsanom_dpd_found){.struct_size = sizeof *found};
  if (count < LEAST_WHOLE) return 0;
  tsanom_dpd_find_options_init(&options, sizeof options);
  options.max_period = p->max_period;
  /* 2^depth parts, which together have half of the chance of the depth before. */
  options.significance /= 2 * ldexp(1, 2 * depth);
  tsanom_exec exec = *p->whole;
  exec.poll = NULL; /* it reports the progress of reading */
  tsanom_status status =
      tsanom_dpd_find(p->recent.value + first, count, &options, &exec, found);
  return status == TSANOM_OK ? 0 : fail_status(why, "the series", status);
}

/* Search a part of the series; where it has no period, search its halves, so that a
 * period that changes is found too. */
static int search_part(periods *p, uint64_t first, size_t count, int depth,
                       failure *why) {
  enum { LEAST_PART = 128, MOST_HALVINGS = 6 };
  tsanom_dpd_found found;
  if (find_period(p, first, count, depth, &found, why)) return -1;
  if (depth == 0) {
    p->tested = found.max_period;
    int varies = found.probability <= cycle_chance && found.lines > cycle_chance;
    p->cycle = varies ? found.candidate : 0;
    p->variation = found.variation;
  }
  if (!found.period) {
    size_t half = count / 2;
    if (depth == MOST_HALVINGS || half < LEAST_PART) return 0;
    return search_part(p, first, half, depth + 1, why) ||
           search_part(p, first + half, count - half, depth + 1, why);
  }
  stretch *last = p->active;
  if (p->actives && last->period == found.period && last->last + 1 == first) {
    last->last = first + count - 1;
    return 0;
  }
  if (p->actives) add_segment(p, *last);
  *last = (stretch){found.period, first, first + count - 1};
  p->actives = 1;
  return 0;
}

/* Values without a window: once the file has ended. The segment that reaches the end of
 * the series is the one from which samples are predicted. */
static int finish_series(periods *p, failure *why) {
  if (search_part(p, 0, (size_t)p->count, 0, why)) return -1;
  if (p->actives) add_segment(p, p->active[0]);
  if (p->actives && p->active[0].last + 1 != p->count) p->actives = 0;
  for (size_t i = 0; i < p->segments; i++) {
    const stretch *t = &p->segment[i];
    note_period(p, t->period, t->first);
    extend_period(p, t->period, t->last, t->last - t->first + 1);
  }
  return 0;
}

/* Loops that are active end with the last sample. */
static void finish_loops(periods *p) {
  stretch going_on[LOOPS_MOST];
  size_t count = p->actives;
  memcpy(going_on, p->active, count * sizeof *going_on);
  for (size_t i = 0; i < count; i++) {
    going_on[i].last = p->count - 1;
    add_segment(p, going_on[i]);
  }
  if (!p->nest) return;
  tsanom_dpd_nest_periods(p->nest, NULL, 0, &count);
  reserve(&p->found, &p->found_capacity, count, sizeof *p->found);
  tsanom_dpd_nest_periods(p->nest, p->found, count, &p->founds);
}

static int finish(periods *p, failure *why) {
  if (!p->whole) {
    finish_loops(p);
  } else if (finish_series(p, why)) {
    return -1;
  }
  p->current = p->actives ? p->active[p->actives - 1].period : 0;
  return 0;
}

static void periods_free(periods *p) {
  if (p->nest) {
    free(p->recent.event);
  } else {
    free(p->recent.value);
  }
  tsanom_dpd_nest_destroy(p->nest);
  tsanom_dpd_value_destroy(p->value);
  free(p->segment);
  free(p->active);
  free(p->found);
}

/* ---- from a file or a run
 *
 * Words of events become numbers in the order of first occurrence; the events of a run are
 * the numbers of its places, because several places can have one name. */

static int is_stopped(const period_stream *s, uint64_t bytes, uint64_t total) {
  return s->exec->poll && s->exec->poll(s->exec->poll_user, bytes, total);
}

static int take_field(void *user, const row *line, const size_t *at, failure *why) {
  enum { SAMPLES_BETWEEN_POLLS = 1 << 14 };
  period_stream *s = user;
  double sample;
  s->bytes = line->bytes;
  if (s->p.count % SAMPLES_BETWEEN_POLLS == 0 &&
      is_stopped(s, line->bytes, line->total)) {
    return fail(why, "%s:%zu: stopped", line->file, line->line);
  }
  if (s->events) {
    return push_event(&s->p, words_number(&s->words, line->field[at[0]]), why);
  }
  if (row_number(line, at[0], &sample, why)) return -1;
  push_value(&s->p, sample);
  return 0;
}

static int read_file(period_stream *s, const period_request *r, failure *why) {
  if (fields_read(r->path, r->column, s->events ? "event" : "number", take_field, s, why))
    return -1;
  /* The file has been read to its end, wherever that was. */
  (void)is_stopped(s, s->bytes, s->bytes);
  return 0;
}

/* The places of a run, at the level that its main loop or --loop chooses; and that loop. */
static int read_run(period_stream *s, const period_request *r, failure *why) {
  const tsanom_speedup_event *event;
  size_t count, anchor = TSANOM_NONE;
  if (region_stream_open(r->path, r->exec, r->salvage, TSANOM_RUNS_LEVEL_REGIONS, &s->run,
                         why) ||
      main_loop_choose_level(&s->run, INFINITY, r->exec, &s->main, why) ||
      (r->loop && region_stream_find(&s->run, r->loop, 1, &anchor, why))) {
    return -1;
  }
  do {
    if (region_stream_next(&s->run, &event, &count, why)) return -1;
    for (size_t i = 0; i < count; i++) {
      if (push_event(&s->p, event[i].region, why)) return -1;
    }
  } while (count);
  return main_loop_find(&s->run, s->run.count, anchor, r->exec, &s->main, why);
}

/* The number of active threads at equal distances in time. */
static int read_active(period_stream *s, const period_request *r, failure *why) {
  tsanom_runs *run = NULL;
  size_t count = 0;
  if (run_open(r->path, TSANOM_RUNS_REGIONS, r->exec, r->salvage, &run, why)) return -1;
  tsanom_status status = tsanom_runs_active(run, r->interval, NULL, NULL, 0, &count);
  double *active = status < 0 ? NULL : calloc(count ? count : 1, sizeof *active);
  int failed = 0;
  if (status < 0) {
    failed = fail_status(why, r->path, status);
  } else if (!active) {
    failed = fail(why, "%s: out of memory; use a longer --interval", r->path);
  } else {
    tsanom_runs_active(run, r->interval, NULL, active, count, &count);
    for (size_t i = 0; i < count; i++) push_value(&s->p, active[i]);
  }
  free(active);
  tsanom_runs_destroy(run);
  return failed;
}

int period_stream_read(period_stream *s, const period_request *r, failure *why) {
  s->events = r->events;
  s->exec = r->exec;
  if (r->events ? open_events(&s->p, r->window, r->exec, why)
                : open_values(&s->p, r, why)) {
    return -1;
  }
  int failed = r->interval > 0         ? read_active(s, r, why)
               : is_directory(r->path) ? read_run(s, r, why)
                                       : read_file(s, r, why);
  return failed || finish(&s->p, why);
}

void period_stream_free(period_stream *s) {
  periods_free(&s->p);
  main_loop_free(&s->main);
  words_free(&s->words);
  region_stream_free(&s->run);
}
