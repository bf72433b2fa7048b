/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops in a stream of events.
 *
 * A loop of period p is found when c = max((repeats-1) p, least_events - p)
 * events in a row have equalled the one p before. Periods up to SHORT are
 * counted directly, a vector of run lengths. Longer ones come in octaves: the
 * N-gram detector of window N answers for N/2 < p <= N, and sees a loop of such
 * a period before it is long enough to count, as c >= 2 p > N. Two such periods
 * cannot hide each other then: stretches that long with both would by Fine and
 * Wilf have a common divisor of them as their period. */
#include <tsanom/dpd.h>

#include <string.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "dpd/dpd_kernel.h"
#include "dpd/dpd_ngram.h"
#include "dpd/dpd_object.h"

enum { SHORT = 16, OCTAVES_MAX = 24, FOLLOWED_MAX = SHORT + OCTAVES_MAX };

/* A repetition that goes on; a loop once `found` says so. */
typedef struct {
  uint64_t period;  /* 0: none */
  uint64_t matches; /* events in a row that equal the one a period before */
  uint64_t number;  /* of the event that made it a loop */
  bool found;
} follower;

struct tsanom_dpd_nest {
  tsn_object owner;
  tsanom_dpd_nest_options options;
  const tsn_dpd_kernels *kernels;
  tsn_history history;
  uint64_t recent[2 * SHORT]; /* newest first from `head` on */
  size_t head;
  uint32_t run[SHORT];
  uint32_t needed[SHORT];
  size_t octaves;
  tsn_ngram octave[OCTAVES_MAX];   /* windows 2 SHORT, 4 SHORT, ... */
  follower followed[FOLLOWED_MAX]; /* SHORT periods, then the octaves' */
  size_t active;                   /* how many of these are loops */
  tsanom_dpd_period *known;        /* by period */
  size_t known_count;
  bool overflowed; /* there were more periods than the capacity */
};

static const tsanom_dpd_nest_options defaults = {.struct_size = sizeof defaults,
                                                 .max_period = 1024,
                                                 .repeats = 3,
                                                 .least_events = 8,
                                                 .capacity = 64};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dpd_nest_options),
                                           .first_size = sizeof(tsanom_dpd_nest_options),
                                           .defaults = &defaults};

tsanom_status tsanom_dpd_nest_options_init(tsanom_dpd_nest_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_dpd_nest_options *own,
                                  const tsanom_dpd_nest_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool in_range = own->max_period >= 1 && own->max_period <= TSANOM_DPD_WINDOW_MAX / 4 &&
                  own->repeats >= 3 && own->repeats <= 16 && own->least_events <= 64 &&
                  own->capacity >= 1 && own->capacity <= TSANOM_DPD_PERIODS_MAX;
  return in_range ? TSANOM_OK : TSANOM_E_OPTION;
}

static size_t octaves_of(size_t max_period) {
  size_t octaves = 0;
  for (size_t window = SHORT; window < max_period; window *= 2) octaves++;
  return octaves;
}

/* The pieces of the block, gathered so that measuring and carving agree. */
static tsanom_dpd_nest *layout(tsn_arena *arena, const tsanom_dpd_nest_options *options,
                               tsanom_dpd_nest *parts) {
  tsanom_dpd_nest *nest = tsn_arena_take(arena, 1, sizeof *nest);
  parts->octaves = octaves_of(options->max_period);
  size_t window = SHORT;
  for (size_t i = 0; i < parts->octaves; i++) {
    window *= 2;
    tsn_ngram_layout(arena, window, &parts->octave[i]);
  }
  tsn_history_layout(arena, 3 * window + 1, &parts->history);
  parts->known = tsn_arena_take(arena, options->capacity, sizeof *parts->known);
  return nest;
}

static tsanom_status measure(const tsanom_dpd_nest_options *options,
                             tsanom_dpd_nest_options *own, tsn_arena *measured) {
  tsanom_status status = read_options(own, options);
  if (status < 0) return status;
  *measured = tsn_arena_measure();
  tsanom_dpd_nest parts;
  layout(measured, own, &parts);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_size(const tsanom_dpd_nest_options *options,
                                   size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_dpd_nest_options own;
  tsn_arena measured;
  tsanom_status status = measure(options, &own, &measured);
  return status < 0 ? status : tsn_arena_bytes(&measured, bytes);
}

/* Matches in a row that make a loop of a repetition. */
static uint64_t needed_matches(const tsanom_dpd_nest *nest, uint64_t period) {
  uint64_t least = nest->options.least_events;
  uint64_t repeats = (nest->options.repeats - 1) * period;
  return least > period && least - period > repeats ? least - period : repeats;
}

tsanom_status tsanom_dpd_nest_init(const tsanom_dpd_nest_options *options,
                                   const tsanom_exec *exec, void *memory, size_t bytes,
                                   tsanom_dpd_nest **nest) {
  if (!nest) return TSANOM_E_NULL;
  tsanom_dpd_nest_options own;
  tsanom_exec own_exec;
  tsn_arena measured, arena;
  tsanom_status status = measure(options, &own, &measured);
  if (status < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if ((status = tsn_object_arena(&measured, memory, bytes, &arena)) < 0) return status;
  tsanom_dpd_nest parts = {.options = own, .kernels = tsn_dpd_kernels_at(own_exec.isa)};
  tsanom_dpd_nest *made = layout(&arena, &own, &parts);
  *made = parts;
  for (size_t m = 1; m <= SHORT; m++) {
    made->needed[m - 1] = (uint32_t)needed_matches(made, m);
    made->followed[m - 1].period = m <= own.max_period ? m : 0;
  }
  size_t window = SHORT;
  for (size_t i = 0; i < made->octaves; i++) {
    window *= 2;
    tsn_ngram_start(&made->octave[i], &made->history, window, window);
  }
  *nest = made;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                     const tsanom_exec *exec, tsanom_dpd_nest **nest) {
  if (!nest) return TSANOM_E_NULL;
  size_t bytes;
  tsn_object owner;
  tsanom_dpd_nest *made;
  tsanom_status status = tsanom_dpd_nest_size(options, &bytes);
  if (status < 0) return status;
  if ((status = tsn_object_allocate(exec, bytes, &owner)) < 0) return status;
  status = tsanom_dpd_nest_init(options, exec, owner.block, bytes, &made);
  if (status < 0) {
    tsn_object_release(&owner);
    return status;
  }
  made->owner = owner;
  *nest = made;
  return TSANOM_OK;
}

void tsanom_dpd_nest_destroy(tsanom_dpd_nest *nest) {
  if (nest) tsn_object_release(&nest->owner);
}

/* The record of a period, made if need be; NULL where there is no room. */
static tsanom_dpd_period *record_of(tsanom_dpd_nest *nest, uint64_t period) {
  size_t at = 0;
  while (at < nest->known_count && nest->known[at].period < period) at++;
  tsanom_dpd_period *place = &nest->known[at];
  if (at < nest->known_count && place->period == period) return place;
  if (nest->known_count == nest->options.capacity) {
    nest->overflowed = true;
    return NULL;
  }
  memmove(place + 1, place, (nest->known_count++ - at) * sizeof *place);
  *place = (tsanom_dpd_period){.period = (size_t)period, .level = 1, .first = UINT64_MAX};
  return place;
}

static uint64_t first_event(const tsanom_dpd_nest *nest, const follower *f) {
  return nest->history.count - f->matches - f->period;
}

/* What was found inside a longer loop puts that one a level higher. */
static void raise_levels(tsanom_dpd_nest *nest, uint64_t period, size_t level) {
  for (size_t i = 0; i < SHORT + nest->octaves; i++) {
    const follower *outer = &nest->followed[i];
    if (!outer->found || outer->period <= period) continue;
    tsanom_dpd_period *record = record_of(nest, outer->period);
    if (record && record->level <= level) record->level = level + 1;
  }
}

static void begin_loop(tsanom_dpd_nest *nest, follower *f) {
  f->found = true;
  f->number = nest->history.count - 1;
  nest->active++;
  tsanom_dpd_period *record = record_of(nest, f->period);
  if (!record) return;
  uint64_t first = first_event(nest, f);
  if (first < record->first) record->first = first;
  record->loops++;
  raise_levels(nest, f->period, record->level);
}

/* The newest event is the first that is not of the loop. */
static void end_loop(tsanom_dpd_nest *nest, follower *f) {
  f->found = false;
  nest->active--;
  tsanom_dpd_period *record = record_of(nest, f->period);
  if (!record) return;
  record->last = nest->history.count - 2;
  record->events += f->matches + f->period;
}

/* A multiple of a shorter period is none: its run is that of the divisor. */
static bool is_multiple(const tsanom_dpd_nest *nest, size_t period) {
  for (size_t d = 1; d <= period / 2; d++) {
    if (period % d == 0 && nest->run[d - 1] + d >= nest->run[period - 1] + period) {
      return true;
    }
  }
  return false;
}

static int follow_short(tsanom_dpd_nest *nest, uint64_t event) {
  uint64_t before = nest->history.count - 1;
  nest->kernels->advance_runs(nest->recent + nest->head, event, nest->run,
                              before < SHORT ? (size_t)before : SHORT);
  if (nest->head == 0) {
    memcpy(nest->recent + SHORT + 1, nest->recent, (SHORT - 1) * sizeof *nest->recent);
    nest->head = SHORT + 1;
  }
  nest->recent[--nest->head] = event;
  int changed = 0, reached = 0;
  for (size_t m = 0; m < SHORT; m++) reached |= nest->run[m] == nest->needed[m];
  if (!reached && nest->active == 0) return 0;
  for (size_t m = 0; m < SHORT; m++) {
    follower *f = &nest->followed[m];
    if (f->found && nest->run[m] == 0) {
      end_loop(nest, f);
      changed = 1;
    }
    f->matches = f->found ? f->matches + 1 : nest->run[m];
    if (f->period && nest->run[m] == nest->needed[m] && !is_multiple(nest, m + 1)) {
      begin_loop(nest, f);
      changed = 1;
    }
  }
  return changed;
}

/* Events in a row that equal the one `period` before; at least the window. Those
 * further back than the history reaches are not counted. */
static uint64_t count_matches(const tsn_history *history, uint64_t period,
                              uint64_t matches) {
  uint64_t newest = history->count - 1;
  while (matches + period < history->count && matches + period <= history->mask &&
         tsn_history_at(history, newest - matches) ==
             tsn_history_at(history, newest - matches - period)) {
    matches++;
  }
  return matches;
}

static int follow_octave(tsanom_dpd_nest *nest, size_t i) {
  tsn_ngram *ngram = &nest->octave[i];
  follower *f = &nest->followed[SHORT + i];
  int changed = 0;
  tsn_ngram_push(ngram, &nest->history);
  if (!ngram->period && !f->period) return 0;
  bool mine =
      ngram->period > ngram->window / 2 && ngram->period <= nest->options.max_period;
  if (f->period && mine && f->period == ngram->period) {
    f->matches++;
  } else {
    if (f->found) {
      end_loop(nest, f);
      changed = 1;
    }
    *f = (follower){0};
    if (!mine) return changed;
    f->period = ngram->period;
    f->matches = count_matches(&nest->history, ngram->period, ngram->window);
  }
  if (!f->found && f->matches >= needed_matches(nest, f->period)) {
    begin_loop(nest, f);
    changed = 1;
  }
  return changed;
}

tsanom_status tsanom_dpd_nest_push(tsanom_dpd_nest *nest, uint64_t event,
                                   int32_t *changed) {
  if (!nest) return TSANOM_E_NULL;
  tsn_history_push(&nest->history, event);
  int any = follow_short(nest, event);
  for (size_t i = 0; i < nest->octaves; i++) any |= follow_octave(nest, i);
  if (changed) *changed = any;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_loops(const tsanom_dpd_nest *nest, tsanom_dpd_loop *loops,
                                    size_t capacity, size_t *count) {
  if (!nest || !count || (!loops && capacity)) return TSANOM_E_NULL;
  size_t given = 0;
  for (size_t i = 0; i < SHORT + nest->octaves; i++) {
    const follower *f = &nest->followed[i];
    if (!f->found) continue;
    if (given < capacity) {
      loops[given] = (tsanom_dpd_loop){
          .period = (size_t)f->period, .first = first_event(nest, f), .found = f->number};
    }
    given++;
  }
  *count = given;
  return given > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_periods(const tsanom_dpd_nest *nest,
                                      tsanom_dpd_period *periods, size_t capacity,
                                      size_t *count) {
  if (!nest || !count || (!periods && capacity)) return TSANOM_E_NULL;
  size_t given = nest->known_count < capacity ? nest->known_count : capacity;
  for (size_t k = 0; k < given; k++) {
    periods[k] = nest->known[k];
    for (size_t i = 0; i < SHORT + nest->octaves; i++) {
      const follower *f = &nest->followed[i];
      if (!f->found || f->period != periods[k].period) continue;
      periods[k].last = nest->history.count - 1;
      periods[k].events += f->matches + f->period;
    }
  }
  *count = nest->known_count;
  return nest->known_count > capacity || nest->overflowed ? TSANOM_PARTIAL : TSANOM_OK;
}
