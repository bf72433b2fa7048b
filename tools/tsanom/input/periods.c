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
#include "main_loop.h"
#include "series.h"

/* As the default significance of tsanom_dpd_find(). */
static const double cycle_chance = 0.01;

enum { KEPT_LEAST = 2000, LOOPS_MOST = 64, LEAST_WHOLE = 8, FIRST_WINDOW = 1024 };

static int out_of_memory(failure *why) {
  return fail(why, "out of memory");
}

/* Where the sample of that index is kept. */
static size_t slot_of(const periods *p, uint64_t index) {
  return p->kept ? (size_t)(index % p->kept) : 0;
}

/* The ring, of the window or KEPT_LEAST samples if that is more, and the list of what
 * goes on now. */
static int keep_recent(periods *p, size_t window, size_t size, failure *why) {
  p->window = window;
  p->kept = window > KEPT_LEAST ? window : KEPT_LEAST;
  void *block = calloc(p->kept, size);
  if (!block) return out_of_memory(why);
  if (p->nest) {
    p->recent.event = block;
  } else {
    p->recent.value = block;
  }
  p->active = calloc(LOOPS_MOST, sizeof *p->active);
  return p->active ? 0 : out_of_memory(why);
}

/* A loop needs three periods, so a longer window would find nothing yet. The short one
 * keeps the cost of an event down: it grows with the logarithm of the window. */
static int grow_window(periods *p, failure *why) {
  tsanom_status status = tsanom_dpd_nest_resize(p->nest, p->window);
  return status < 0 ? fail_status(why, "the detector", status) : 0;
}

/* Ready for events, or for values with the options. A window of 0 grows with the stream:
 * at any time it is a third of the events so far or more, or PERIODS_MOST. */
static int periods_open_events(periods *p, size_t window, const tsanom_exec *exec,
                               failure *why) {
  tsanom_dpd_nest_options options;
  tsanom_dpd_nest_options_init(&options, sizeof options);
  p->window_most = window ? 0 : PERIODS_MOST;
  options.max_period = window ? window : PERIODS_MOST;
  options.capacity = TSANOM_DPD_PERIODS_MAX;
  tsanom_status status = tsanom_dpd_nest_create(&options, exec, &p->nest);
  if (status < 0) return fail_status(why, "the detector", status);
  if (keep_recent(p, options.max_period, sizeof *p->recent.event, why)) return -1;
  if (window) return 0;
  p->window = FIRST_WINDOW;
  return grow_window(p, why);
}

static int periods_open_values(periods *p, const tsanom_dpd_value_options *options,
                               const tsanom_exec *exec, failure *why) {
  tsanom_status status = tsanom_dpd_value_create(options, exec, &p->value);
  if (status < 0) return fail_status(why, "the detector", status);
  p->tested = options->max_period;
  return keep_recent(p, options->window, sizeof *p->recent.value, why);
}

/* Ready for a series of values that periods_finish() analyzes as a whole, for periods up
 * to max_period; 0: the default. */
static int periods_open_series(periods *p, size_t max_period, const tsanom_exec *exec,
                               failure *why) {
  p->whole = exec;
  p->max_period = max_period;
  return keep_recent(p, 0, sizeof *p->recent.value, why);
}

/* A segment has ended. It counts unless it lies in one of a longer period that still
 * goes on; it replaces those of shorter periods that lie in it. */
static int add_segment(periods *p, stretch ended, failure *why) {
  for (size_t i = 0; i < p->actives; i++) {
    if (p->active[i].period > ended.period && p->active[i].first <= ended.first) return 0;
  }
  while (p->segments && p->segment[p->segments - 1].first >= ended.first &&
         p->segment[p->segments - 1].period < ended.period) {
    p->segments--;
  }
  if (reserve(&p->segment, &p->capacity, p->segments + 1, sizeof *p->segment))
    return out_of_memory(why);
  p->segment[p->segments++] = ended;
  return 0;
}

static int is_among(const stretch *some, size_t count, const stretch *one) {
  for (size_t i = 0; i < count; i++) {
    if (some[i].period == one->period && some[i].first == one->first) return 1;
  }
  return 0;
}

/* The stretches that go on now; those that did before and are not among them
 * ended with the sample before the last one. */
static int follow(periods *p, const stretch *now, size_t count, failure *why) {
  stretch before[LOOPS_MOST];
  size_t befores = p->actives;
  memcpy(before, p->active, befores * sizeof *before);
  memcpy(p->active, now, count * sizeof *now);
  p->actives = count;
  for (size_t i = 0; i < befores; i++) {
    if (is_among(now, count, &before[i])) continue;
    before[i].last = p->count - 2;
    if (add_segment(p, before[i], why)) return -1;
  }
  return 0;
}

/* Loops are asked for only when the detector reports a change. */
static int periods_push_event(periods *p, uint64_t event, failure *why) {
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
  return follow(p, now, count, why);
}

/* Keep the record of a value's period: one more stretch of it begins at `first`. */
static int note_period(periods *p, size_t period, uint64_t first, failure *why) {
  size_t at = 0;
  while (at < p->founds && p->found[at].period < period) at++;
  if (at < p->founds && p->found[at].period == period) {
    p->found[at].loops++;
    return 0;
  }
  if (reserve(&p->found, &p->found_capacity, p->founds + 1, sizeof *p->found))
    return out_of_memory(why);
  memmove(p->found + at + 1, p->found + at, (p->founds++ - at) * sizeof *p->found);
  p->found[at] =
      (tsanom_dpd_period){.period = period, .level = 1, .first = first, .loops = 1};
  return 0;
}

/* Its stretch goes on for some samples, to `last`. */
static void extend_period(periods *p, size_t period, uint64_t last, uint64_t samples) {
  for (size_t i = 0; i < p->founds; i++) {
    if (p->found[i].period != period) continue;
    p->found[i].last = last;
    p->found[i].events += samples;
  }
}

static int keep_value(periods *p, double sample, failure *why) {
  if (reserve(&p->recent.value, &p->kept, p->count + 1, sizeof *p->recent.value))
    return out_of_memory(why);
  p->recent.value[p->count++] = sample;
  return 0;
}

int periods_push_value(periods *p, double sample, failure *why) {
  tsanom_dpd_report report;
  if (p->whole) return keep_value(p, sample, why);
  (void)tsanom_dpd_value_push(p->value, sample, &report); /* finite, as all numbers */
  p->recent.value[slot_of(p, p->count++)] = sample;
  if (report.change != TSANOM_DPD_STEADY) {
    stretch now = {.period = report.period, .first = p->count - 1};
    if (follow(p, &now, report.period != 0, why)) return -1;
    if (report.period && note_period(p, report.period, p->count - 1, why)) return -1;
  }
  extend_period(p, report.period, p->count - 1, 1);
  return 0;
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
  if (p->actives && add_segment(p, *last, why)) return -1;
  *last = (stretch){found.period, first, first + count - 1};
  p->actives = 1;
  return 0;
}

/* Values without a window: once the file has ended. The segment that reaches the end of
 * the series is the one from which samples are predicted. */
static int finish_series(periods *p, failure *why) {
  if (search_part(p, 0, (size_t)p->count, 0, why)) return -1;
  if (p->actives && add_segment(p, p->active[0], why)) return -1;
  if (p->actives && p->active[0].last + 1 != p->count) p->actives = 0;
  for (size_t i = 0; i < p->segments; i++) {
    const stretch *t = &p->segment[i];
    if (note_period(p, t->period, t->first, why)) return -1;
    extend_period(p, t->period, t->last, t->last - t->first + 1);
  }
  return 0;
}

int periods_finish(periods *p, failure *why) {
  if (p->whole) return finish_series(p, why);
  stretch going_on[LOOPS_MOST];
  size_t count = p->actives;
  memcpy(going_on, p->active, count * sizeof *going_on);
  for (size_t i = 0; i < count; i++) {
    going_on[i].last = p->count - 1;
    if (add_segment(p, going_on[i], why)) return -1;
  }
  return 0;
}

int periods_list(const periods *p, tsanom_dpd_period **list, size_t *count,
                 failure *why) {
  *count = p->founds;
  if (p->nest) tsanom_dpd_nest_periods(p->nest, NULL, 0, count);
  *list = calloc(*count ? *count : 1, sizeof **list);
  if (!*list) return out_of_memory(why);
  if (p->nest) {
    tsanom_dpd_nest_periods(p->nest, *list, *count, count);
  } else if (*count) {
    memcpy(*list, p->found, *count * sizeof **list);
  }
  return 0;
}

size_t periods_current(const periods *p) {
  return p->actives ? p->active[p->actives - 1].period : 0;
}

size_t periods_next(const periods *p, size_t ahead) {
  size_t period = periods_current(p);
  return period ? slot_of(p, p->count - period + ahead % period) : 0;
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

/* ---- From a file or a run to its periods. */

/* A stream of samples for the detectors (periods.c), from a file or a run. Options
 * that only a sliding window has select it; without any, values are analyzed as a whole.
 * Words of events become numbers in the order of first occurrence; the
 * events of a run are the numbers of its places, because several places can have one
 * name. */

int period_stream_open(period_stream *s, const period_request *request, failure *why) {
  s->events = request->events;
  s->exec = request->exec;
  if (request->events) {
    return periods_open_events(&s->p, request->window, request->exec, why);
  }
  bool windowed = request->window || request->depth > 0 || request->adapt;
  if (!windowed) {
    return periods_open_series(&s->p, request->max_period, request->exec, why);
  }
  tsanom_dpd_value_options values;
  tsanom_dpd_value_options_init(&values, sizeof values);
  if (request->window) values.window = request->window;
  values.max_period = request->max_period ? request->max_period : (values.window + 3) / 4;
  if (request->depth > 0) {
    values.depth = request->depth;
    values.significance = 0;
  }
  values.adapt = request->adapt;
  return periods_open_values(&s->p, &values, request->exec, why);
}

static int take_word(period_stream *s, const row *line, size_t column, failure *why) {
  size_t event = 0;
  if (words_number(&s->words, line->field[column], &event)) {
    return fail(why, "%s: out of memory", line->file);
  }
  return periods_push_event(&s->p, event, why);
}

static int take_value(period_stream *s, const row *line, size_t column, failure *why) {
  double sample = 0;
  return row_number(line, column, &sample, why) || periods_push_value(&s->p, sample, why);
}

static int is_stopped(const period_stream *s, uint64_t bytes, uint64_t total) {
  return s->exec->poll && s->exec->poll(s->exec->poll_user, bytes, total);
}

static int take_field(void *user, const row *line, const size_t *at, failure *why) {
  enum { SAMPLES_BETWEEN_POLLS = 1 << 14 };
  period_stream *s = user;
  s->bytes = line->bytes;
  if (s->p.count % SAMPLES_BETWEEN_POLLS == 0 &&
      is_stopped(s, line->bytes, line->total)) {
    return fail(why, "%s:%zu: stopped", line->file, line->line);
  }
  return s->events ? take_word(s, line, at[0], why) : take_value(s, line, at[0], why);
}

int period_stream_read(period_stream *s, const char *path, const char *column,
                       failure *why) {
  if (fields_read(path, column, s->events ? "event" : "number", take_field, s, why))
    return -1;
  /* The file has been read to its end, wherever that was. */
  (void)is_stopped(s, s->bytes, s->bytes);
  return 0;
}

int period_stream_read_run(period_stream *s, const char *path, int salvage,
                           main_loop *loop, failure *why) {
  const tsanom_speedup_event *event;
  size_t count;
  if (region_stream_open(path, s->exec, salvage, TSANOM_RUNS_LEVEL_REGIONS, &s->run,
                         why) ||
      main_loop_choose_level(&s->run, s->exec, loop, why)) {
    return -1;
  }
  do {
    if (region_stream_next(&s->run, &event, &count, why)) return -1;
    for (size_t i = 0; i < count; i++) {
      if (periods_push_event(&s->p, event[i].region, why)) return -1;
    }
  } while (count);
  return 0;
}

void period_stream_free(period_stream *s) {
  periods_free(&s->p);
  words_free(&s->words);
  region_stream_free(&s->run);
}
