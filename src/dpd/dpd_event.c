/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a stream of events (eq. 2 of the paper): options, memory, adaptive
 * window, reports. The detection is in dpd_ngram.c. A stream alternates between two
 * states, and tsanom_dpd_event_push_many() has a loop for each:
 *
 *     no period   seek():    hash the last N events, look the N-gram up in its list
 *     period p    follow():  compare the event with the one p before; no hash at all
 *
 * Both are expected O(1) per event; a change of state costs O(N). The plain search for
 * the smallest m with d(m) = 0 costs O(M) per event.
 *
 *     event    a b c a b c a b c a b x      N = 3
 *     period   0 0 0 0 0 3 3 3 3 3 3 0      from N matches on, until one comparison fails
 *     start              ^     ^            when it is found, then every 3 events
 *
 * Source: F. Freitag, J. Corbalan and J. Labarta, eq. 2. */
#include <tsanom/dpd.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/state.h"
#include "core/versioned.h"
#include "dpd/dpd_ngram.h"

struct tsanom_dpd_event {
  tsn_object owner;
  tsanom_dpd_event_options options; /* with the largest window */
  tsn_history history;              /* also of events that left the window */
  tsn_ngram ngram;                  /* has the window in use */
  /* From here on, fields are saved as they are. */
  uint64_t reported; /* the period after the last push */
  uint64_t start;    /* number at which the next segment of that period begins */
  uint64_t unlocked; /* events since there was a period */
};

/* The saved state of an event detector: its history, and when its period was found. Hash
 * and table follow from the history, as after a change of the window, so that no state
 * can contain wrong ones. */

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_event *d = object;
  tsn_history_exchange(state, &d->history);
  tsn_state_field(state, &d->ngram.window, sizeof d->ngram.window);
  tsn_state_field(state, &d->ngram.period, sizeof d->ngram.period);
  tsn_state_field(state, &d->ngram.locked, sizeof d->ngram.locked);
  tsn_state_field(state, &d->ngram.examined, sizeof d->ngram.examined);
  tsn_state_field(state, &d->reported, sizeof *d - offsetof(tsanom_dpd_event, reported));
}

/* Build hash and table for the restored window. Returns whether they confirm the period.
 */
static bool resume(void *object) {
  tsanom_dpd_event *d = object;
  tsn_ngram *ngram = &d->ngram;
  size_t window = ngram->window, max_period = d->options.max_period;
  uint64_t period = ngram->period, locked = ngram->locked, examined = ngram->examined;
  if (window < 1 || window > d->options.window || d->history.count > INT64_MAX) {
    return false;
  }
  tsn_ngram_start(ngram, &d->history, window, max_period < window ? max_period : window);
  ngram->locked = locked;
  ngram->examined = examined;
  return ngram->period == period;
}

static const tsn_saved saved_type = {
    .kind = UINT64_C(0x544E45564544504E), /* "NPDEVENT" */
    .options = offsetof(tsanom_dpd_event, options),
    .options_bytes = sizeof(tsanom_dpd_event_options),
    .exchange = exchange,
    .resume = resume,
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
                                  const tsanom_dpd_event_options *caller,
                                  const tsanom_exec *exec) {
  enum { BAD = TSANOM_E_OPTION };
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = tsn_require_size(exec, BAD, "options.window", own->window, 1,
                                 TSANOM_DPD_WINDOW_MAX)) < 0 ||
      (status = tsn_require_size(exec, BAD, "options.max_period", own->max_period, 0,
                                 own->window)) < 0 ||
      (status = tsn_require_int(exec, BAD, "options.adapt", own->adapt, 0, 1)) < 0 ||
      (status = tsn_require_int(exec, BAD, "options.reserved0", own->reserved0, 0, 0)) <
          0) {
    return status;
  }
  if (own->max_period == 0) own->max_period = own->window;
  return TSANOM_OK;
}

/* The block of a detector: the struct, then the buffers of its parts. */
typedef struct {
  tsanom_dpd_event parts, *placed;
  tsanom_exec exec;
  tsanom_dpd_event **detector;
} event_block;

/* The history must contain a window and the one max_period before. */
static void layout(tsn_arena *arena, void *context) {
  event_block *block = context;
  tsanom_dpd_event *parts = &block->parts;
  const tsanom_dpd_event_options *options = &parts->options;
  block->placed = tsn_arena_take(arena, 1, sizeof *block->placed);
  tsn_history_layout(arena, options->window + options->max_period, &parts->history);
  tsn_ngram_layout(arena, options->max_period, TSN_NGRAM_ENTRIES, &parts->ngram);
}

static tsanom_status check(void *context) {
  const event_block *block = context;
  return tsn_require(&block->exec, block->detector, "detector");
}

tsanom_status tsanom_dpd_event_create(const tsanom_dpd_event_options *options,
                                      const tsanom_exec *exec,
                                      tsanom_dpd_event **detector) {
  event_block block = {.detector = detector};
  tsanom_dpd_event *parts = &block.parts;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  if ((status = read_options(&parts->options, options, &block.exec)) < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &parts->owner);
  if (status < 0) return status;
  parts->owner.saved = &saved_type;
  *block.placed = *parts;
  tsn_ngram_start(&block.placed->ngram, &block.placed->history, parts->options.window,
                  parts->options.max_period);
  *detector = block.placed;
  return TSANOM_OK;
}

void tsanom_dpd_event_destroy(tsanom_dpd_event *detector) {
  if (detector) tsn_object_release(&detector->owner);
}

/* Events without a period after which the window grows back: two periods of the largest
 * length. */
static uint64_t growth_delay(const tsanom_dpd_event *d) {
  return 2 * (uint64_t)d->options.window;
}

/* Remaining events until then, at least 1. */
static uint64_t until_growth(const tsanom_dpd_event *d) {
  uint64_t delay = growth_delay(d);
  return d->unlocked < delay ? delay - d->unlocked : 1;
}

/* The window of `adapt`. When a period has held for the full window, two periods are
 * enough to recognize it, and a shorter window finds the next one sooner: a window of N
 * events reports after N + p events without a fault. After twice the full window without
 * a period the window grows back, since a longer period may be the reason. */
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

/* The confidence is 1 because d(p) = 0 exactly; the horizon is the number of latest
 * events that the period predicted: the window at that time, and all since it was found. */
static void fill_report(tsanom_dpd_event *d, tsanom_dpd_report *report) {
  uint64_t period = d->ngram.period, newest = d->history.count - 1;
  *report = (tsanom_dpd_report){.period = (size_t)period};
  if (period != d->reported) {
    report->change = period ? TSANOM_DPD_LOCKED : TSANOM_DPD_LOST;
    d->start = newest;
  }
  if (!period) return;
  report->confidence = 1;
  report->horizon = d->ngram.examined + d->history.count - d->ngram.locked;
  if (newest == d->start) {
    report->start = 1;
    d->start += period;
  }
}

/* Report the newest event, after hash and lists have been updated. The window is adapted
 * last: it may lose the period that is reported. */
static void conclude(tsanom_dpd_event *d, tsanom_dpd_report *report) {
  d->unlocked = d->ngram.period ? 0 : d->unlocked + 1;
  fill_report(d, report);
  d->reported = d->ngram.period;
  if (d->options.adapt) adapt_window(d);
}

static void push(tsanom_dpd_event *d, uint64_t event, tsanom_dpd_report *report) {
  tsn_history_push(&d->history, event);
  tsn_ngram_push_bank(&d->ngram, 1, &d->history);
  conclude(d, report);
}

tsanom_status tsanom_dpd_event_push(tsanom_dpd_event *detector, uint64_t event,
                                    tsanom_dpd_report *report) {
  if (!detector) return TSANOM_E_NULL;
  tsanom_dpd_report unwanted;
  push(detector, event, report ? report : &unwanted);
  return TSANOM_OK;
}

/* Outputs of the next pushes; either may be NULL. */
typedef struct {
  size_t *periods;
  int32_t *starts;
} outputs;

static inline void write(const outputs *to, size_t i, size_t period, int32_t start) {
  if (to->periods) to->periods[i] = period;
  if (to->starts) to->starts[i] = start;
}

static inline void advance(outputs *to, size_t taken) {
  if (to->periods) to->periods += taken;
  if (to->starts) to->starts += taken;
}

/* Push events while the period continues, the window need not adapt to it, and the ring
 * wraps around in neither place, where events are written or read. Returns their number. 0
 * if the period was found by the last event: push() must report the change first. Outputs
 * are local copies, so that their fields stay in registers; the next start is found by an
 * addition, without a division by the period.
 * Not inlined: in push_many() the compiler keeps some of the copies in memory, which took
 * 1.5 ns per event instead of 0.75 (Zen 5). */
static __attribute__((noinline)) size_t follow(tsanom_dpd_event *d,
                                               const uint64_t *events, size_t count,
                                               const outputs *to) {
  const outputs own = *to;
  const uint64_t period = d->ngram.period, number = d->history.count;
  if (period != d->reported || (d->options.adapt && d->ngram.window > 2 * period)) {
    return 0;
  }
  uint64_t *newest = tsn_history_place(&d->history, number);
  const uint64_t *before = tsn_history_place(&d->history, number - period);
  const uint64_t *end = d->history.event + d->history.size;
  uint64_t start = d->start - number;
  if (count > (size_t)(end - newest)) count = (size_t)(end - newest);
  if (count > (size_t)(end - before)) count = (size_t)(end - before);
  size_t i = 0;
  for (; i < count && events[i] == before[i]; i++) {
    newest[i] = events[i];
    write(&own, i, (size_t)period, i == start);
    if (i == start) start += period;
  }
  tsn_history_advance(&d->history, i);
  d->start = number + start;
  return i;
}

/* Push events while there is no period. Returns their number; the last of them may have
 * found one. */
static size_t seek(tsanom_dpd_event *d, const uint64_t *events, size_t count,
                   const outputs *to) {
  uint64_t most = d->options.adapt ? until_growth(d) : count;
  size_t taken =
      tsn_ngram_seek(&d->ngram, &d->history, events, count < most ? count : (size_t)most);
  if (taken == 0) return 0;
  for (size_t i = 0; i + 1 < taken; i++) write(to, i, 0, 0);
  if (taken > 1) d->reported = 0;
  d->unlocked += taken - 1;
  tsanom_dpd_report last;
  conclude(d, &last);
  write(to, taken - 1, last.period, last.start);
  return taken;
}

tsanom_status tsanom_dpd_event_push_many(tsanom_dpd_event *detector,
                                         const uint64_t *events, size_t count,
                                         size_t *periods, int32_t *starts) {
  if (!detector || (!events && count)) return TSANOM_E_NULL;
  if (!tsn_array_fits(count, sizeof *events)) return TSANOM_E_OVERFLOW;
  outputs to;
  to.periods = periods;
  to.starts = starts;
  for (size_t i = 0, taken; i < count; i += taken) {
    taken = detector->ngram.period ? follow(detector, events + i, count - i, &to)
                                   : seek(detector, events + i, count - i, &to);
    if (taken == 0) {
      tsanom_dpd_report report;
      push(detector, events[i], &report);
      write(&to, 0, report.period, report.start);
      taken = 1;
    }
    advance(&to, taken);
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_event_resize(tsanom_dpd_event *detector, size_t window) {
  if (!detector) return TSANOM_E_NULL;
  if (window < 1 || window > detector->options.window) return TSANOM_E_OPTION;
  tsn_ngram *ngram = &detector->ngram;
  uint64_t period = ngram->period, locked = ngram->locked, examined = ngram->examined;
  size_t max_period = detector->options.max_period;
  tsn_ngram_start(ngram, &detector->history, window,
                  max_period < window ? max_period : window);
  if (!period || ngram->period != period) return TSANOM_OK;
  /* It has held since it was found, and in the new window. */
  uint64_t since = detector->history.count - locked;
  ngram->locked = locked;
  ngram->examined = examined + since < window ? window - since : examined;
  return TSANOM_OK;
}

size_t tsanom_dpd_event_window(const tsanom_dpd_event *detector) {
  return detector ? detector->ngram.window : 0;
}

tsanom_status tsanom_dpd_event_predict(const tsanom_dpd_event *detector, uint64_t *events,
                                       size_t count) {
  if (!detector || !events) return TSANOM_E_NULL;
  if (!tsn_array_fits(count, sizeof *events)) return TSANOM_E_OVERFLOW;
  uint64_t period = detector->ngram.period;
  if (!period) return TSANOM_INFEASIBLE;
  tsn_history_continue(&detector->history, period, events, count);
  return TSANOM_OK;
}
