/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector of the period of a stream of events. */
#include <tsanom/dpd.h>

#include "core/versioned.h"
#include "dpd/dpd_ngram.h"
#include "dpd/dpd_object.h"

struct tsanom_dpd_event {
  tsn_object owner;
  tsanom_dpd_event_options options; /* as made: the largest window */
  tsn_history history;
  tsn_ngram ngram;
  uint64_t reported; /* the period after the last push */
  uint64_t start;    /* number at which the next segment of that period begins */
  uint64_t unlocked; /* events since there was a period */
};

static const tsanom_dpd_event_options defaults = {.struct_size = sizeof defaults,
                                                  .window = 1024};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dpd_event_options),
                                           .first_size = sizeof(tsanom_dpd_event_options),
                                           .defaults = &defaults};

tsanom_status tsanom_dpd_event_options_init(tsanom_dpd_event_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_dpd_event_options *own,
                                  const tsanom_dpd_event_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  if (own->window < 1 || own->window > TSANOM_DPD_WINDOW_MAX ||
      own->max_period > own->window || own->reserved0 != 0 ||
      (own->adapt != 0 && own->adapt != 1)) {
    return TSANOM_E_OPTION;
  }
  if (own->max_period == 0) own->max_period = own->window;
  return TSANOM_OK;
}

static tsanom_dpd_event *layout(tsn_arena *arena, const tsanom_dpd_event_options *options,
                                tsn_history *history, tsn_ngram *ngram) {
  tsanom_dpd_event *detector = tsn_arena_take(arena, 1, sizeof *detector);
  tsn_history_layout(arena, options->window + 2 * options->max_period + 1, history);
  tsn_ngram_layout(arena, options->max_period, ngram);
  return detector;
}

static tsanom_status measure(const tsanom_dpd_event_options *options,
                             tsanom_dpd_event_options *own, tsn_arena *measured) {
  tsanom_status status = read_options(own, options);
  if (status < 0) return status;
  *measured = tsn_arena_measure();
  tsn_history history;
  tsn_ngram ngram;
  layout(measured, own, &history, &ngram);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_event_size(const tsanom_dpd_event_options *options,
                                    size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_dpd_event_options own;
  tsn_arena measured;
  tsanom_status status = measure(options, &own, &measured);
  return status < 0 ? status : tsn_arena_bytes(&measured, bytes);
}

tsanom_status tsanom_dpd_event_init(const tsanom_dpd_event_options *options, void *memory,
                                    size_t bytes, tsanom_dpd_event **detector) {
  if (!detector) return TSANOM_E_NULL;
  tsanom_dpd_event_options own;
  tsn_arena measured, arena;
  tsanom_status status = measure(options, &own, &measured);
  if (status < 0) return status;
  if ((status = tsn_object_arena(&measured, memory, bytes, &arena)) < 0) return status;
  tsn_history history;
  tsn_ngram ngram;
  tsanom_dpd_event *made = layout(&arena, &own, &history, &ngram);
  *made = (tsanom_dpd_event){.options = own, .history = history, .ngram = ngram};
  tsn_ngram_start(&made->ngram, &made->history, own.window, own.max_period);
  *detector = made;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_event_create(const tsanom_dpd_event_options *options,
                                      const tsanom_exec *exec,
                                      tsanom_dpd_event **detector) {
  if (!detector) return TSANOM_E_NULL;
  size_t bytes;
  tsn_object owner;
  tsanom_dpd_event *made;
  tsanom_status status = tsanom_dpd_event_size(options, &bytes);
  if (status < 0) return status;
  if ((status = tsn_object_allocate(exec, bytes, &owner)) < 0) return status;
  status = tsanom_dpd_event_init(options, owner.block, bytes, &made);
  if (status < 0) {
    tsn_object_release(&owner);
    return status;
  }
  made->owner = owner;
  *detector = made;
  return TSANOM_OK;
}

void tsanom_dpd_event_destroy(tsanom_dpd_event *detector) {
  if (detector) tsn_object_release(&detector->owner);
}

/* Events without a period after which a window grows back. */
static uint64_t growth_delay(const tsanom_dpd_event *d) {
  return 2 * (uint64_t)d->options.window;
}

/* How many more such events that takes, at least 1. */
static uint64_t until_growth(const tsanom_dpd_event *d) {
  uint64_t delay = growth_delay(d);
  return d->unlocked < delay ? delay - d->unlocked : 1;
}

/* The window of `adapt`: two periods once one has held for the full window, the
 * full one again when nothing has been found for twice as long. */
static void adapt_window(tsanom_dpd_event *d) {
  size_t full = d->options.window, window = d->ngram.window;
  if (d->ngram.period) {
    size_t wanted = 2 * (size_t)d->ngram.period;
    if (wanted >= window || d->history.count - d->ngram.locked < full) return;
    tsanom_dpd_event_resize(d, wanted);
  } else if (window < full && d->unlocked >= growth_delay(d)) {
    d->unlocked = 0;
    tsanom_dpd_event_resize(d, full);
  }
}

static void fill_report(tsanom_dpd_event *d, tsanom_dpd_report *report) {
  uint64_t period = d->ngram.period, newest = d->history.count - 1;
  *report = (tsanom_dpd_report){.period = (size_t)period};
  if (period != d->reported) {
    report->change = period ? TSANOM_DPD_LOCKED : TSANOM_DPD_LOST;
    d->start = newest;
  }
  if (!period) return;
  report->confidence = 1;
  report->horizon = d->ngram.window + d->history.count - d->ngram.locked;
  if (newest == d->start) {
    report->start = 1;
    d->start += period;
  }
}

/* What the newest event did, once hash and lists know it. */
static void conclude(tsanom_dpd_event *d, tsanom_dpd_report *report) {
  d->unlocked = d->ngram.period ? 0 : d->unlocked + 1;
  fill_report(d, report);
  d->reported = d->ngram.period;
  if (d->options.adapt) adapt_window(d);
}

static void push(tsanom_dpd_event *d, uint64_t event, tsanom_dpd_report *report) {
  tsn_history_push(&d->history, event);
  tsn_ngram_push(&d->ngram, &d->history);
  conclude(d, report);
}

tsanom_status tsanom_dpd_event_push(tsanom_dpd_event *detector, uint64_t event,
                                    tsanom_dpd_report *report) {
  if (!detector) return TSANOM_E_NULL;
  tsanom_dpd_report unwanted;
  push(detector, event, report ? report : &unwanted);
  return TSANOM_OK;
}

/* Where the answers of the next pushes go; either may be NULL. */
typedef struct {
  size_t *periods;
  int32_t *starts;
} answers;

static inline void answer(const answers *to, size_t i, size_t period, int32_t start) {
  if (to->periods) to->periods[i] = period;
  if (to->starts) to->starts[i] = start;
}

static inline void advance(answers *to, size_t taken) {
  if (to->periods) to->periods += taken;
  if (to->starts) to->starts += taken;
}

/* Push events as long as the period goes on and the window need not adapt to it; how
 * many it were. */
static size_t follow(tsanom_dpd_event *d, const uint64_t *events, size_t count,
                     const answers *to) {
  size_t period = (size_t)d->ngram.period, i = 0;
  if (period != d->reported || (d->options.adapt && d->ngram.window > 2 * period)) {
    return 0;
  }
  tsn_history history = d->history;
  uint64_t start = d->start;
  for (; i < count; i++) {
    if (events[i] != tsn_history_at(&history, history.count - period)) break;
    answer(to, i, period, history.count == start);
    if (history.count == start) start += period;
    tsn_history_push(&history, events[i]);
  }
  d->history.count = history.count;
  d->start = start;
  return i;
}

/* Push events as long as there is no period; how many it were, the last of which may
 * have found one. */
static size_t seek(tsanom_dpd_event *d, const uint64_t *events, size_t count,
                   const answers *to) {
  uint64_t most = d->options.adapt ? until_growth(d) : count;
  size_t taken =
      tsn_ngram_seek(&d->ngram, &d->history, events, count < most ? count : (size_t)most);
  if (taken == 0) return 0;
  for (size_t i = 0; i + 1 < taken; i++) answer(to, i, 0, 0);
  if (taken > 1) d->reported = 0;
  d->unlocked += taken - 1;
  tsanom_dpd_report last;
  conclude(d, &last);
  answer(to, taken - 1, last.period, last.start);
  return taken;
}

tsanom_status tsanom_dpd_event_push_many(tsanom_dpd_event *detector,
                                         const uint64_t *events, size_t count,
                                         size_t *periods, int32_t *starts) {
  if (!detector || (!events && count)) return TSANOM_E_NULL;
  answers to;
  to.periods = periods;
  to.starts = starts;
  for (size_t i = 0, taken; i < count; i += taken) {
    taken = detector->ngram.period ? follow(detector, events + i, count - i, &to)
                                   : seek(detector, events + i, count - i, &to);
    if (taken == 0) {
      tsanom_dpd_report report;
      push(detector, events[i], &report);
      answer(&to, 0, report.period, report.start);
      taken = 1;
    }
    advance(&to, taken);
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_event_resize(tsanom_dpd_event *detector, size_t window) {
  if (!detector) return TSANOM_E_NULL;
  if (window < 1 || window > detector->options.window) return TSANOM_E_OPTION;
  uint64_t period = detector->ngram.period, locked = detector->ngram.locked;
  size_t max_period = detector->options.max_period;
  tsn_ngram_start(&detector->ngram, &detector->history, window,
                  max_period < window ? max_period : window);
  if (detector->ngram.period == period) detector->ngram.locked = locked;
  return TSANOM_OK;
}

size_t tsanom_dpd_event_window(const tsanom_dpd_event *detector) {
  return detector ? detector->ngram.window : 0;
}

tsanom_status tsanom_dpd_event_predict(const tsanom_dpd_event *detector, uint64_t *events,
                                       size_t count) {
  if (!detector || !events) return TSANOM_E_NULL;
  uint64_t period = detector->ngram.period;
  if (!period) return TSANOM_INFEASIBLE;
  tsn_history_continue(&detector->history, period, events, count);
  return TSANOM_OK;
}
