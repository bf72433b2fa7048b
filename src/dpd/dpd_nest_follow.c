/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops: the effect of an event on the followers and on the known periods.
 *
 *     followed[0..15]    period m = 1..16, matches = run[m-1]: every short delay, always
 *     followed[16 + i]   the period that octave i found, if N/2 < p <= N; else none
 *
 * Short periods have run lengths of their own, a few vector operations per event for all
 * 16. A longer period is followed from the moment that the N-gram detector of its octave
 * finds it: the matches up to then are counted back in the history once, and then go on
 * by one per event.
 *
 * A follower becomes a loop when its matches reach tsn_nest_needed(), and ends with the
 * first event that differs. A period that is a multiple of a shorter one with the same
 * run is not primitive and never becomes a loop. */
#include "dpd/dpd_nest.h"

#include <string.h>

#include "core/vector.h"

size_t tsn_nest_octaves(size_t max_period) {
  size_t octaves = 0;
  for (size_t window = TSN_NEST_SHORT; window < max_period; window *= 2) octaves++;
  return octaves;
}

size_t tsn_nest_window(size_t i) {
  size_t window = 2 * TSN_NEST_SHORT;
  for (; i > 0; i--) window *= 2;
  return window;
}

/* A loop of r iterations has r·p events, of which the last (r-1)·p equal those a period
 * before; a loop of at least least_events events has least_events - p such matches. The
 * greater counts. */
uint64_t tsn_nest_needed(const tsanom_dpd_nest *nest, uint64_t period) {
  uint64_t least = nest->options.least_events;
  uint64_t repeats = (nest->options.repeats - 1) * period;
  return least > period && least - period > repeats ? least - period : repeats;
}

/* The record of a period, created if necessary; NULL if the capacity is exhausted. A
 * linear search in a sorted array, where a loop begins or ends. */
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

/* A loop found inside a longer one raises the level of that: 1 + the highest level
 * inside. */
static void raise_levels(tsanom_dpd_nest *nest, uint64_t period, size_t level) {
  for (size_t i = 0; i < TSN_NEST_SHORT + nest->octaves; i++) {
    const tsn_follower *outer = &nest->followed[i];
    if (!outer->found || outer->period <= period) continue;
    tsanom_dpd_period *record = record_of(nest, outer->period);
    if (record && record->level <= level) record->level = level + 1;
  }
}

/* Found now, the loop has lasted for matches + p events: its record begins with the first
 * of them. */
static void begin_loop(tsanom_dpd_nest *nest, tsn_follower *f) {
  f->found = true;
  f->number = nest->history.count - 1;
  nest->active++;
  tsanom_dpd_period *record = record_of(nest, f->period);
  if (!record) return;
  uint64_t first = tsn_follower_first(nest, f);
  if (first < record->first) record->first = first;
  record->loops++;
  raise_levels(nest, f->period, record->level);
}

/* `last` is the last event of the loop, the one before the newest unless the nest was
 * resized. */
static void end_loop(tsanom_dpd_nest *nest, tsn_follower *f, uint64_t last) {
  f->found = false;
  nest->active--;
  tsanom_dpd_period *record = record_of(nest, f->period);
  if (!record) return;
  record->last = last;
  record->events += f->matches + f->period;
}

/* Whether the period is only a multiple of a shorter one, whose run is as long. */
static bool is_multiple(const tsanom_dpd_nest *nest, size_t period) {
  for (size_t d = 1; d <= period / 2; d++) {
    if (period % d == 0 && nest->run[d - 1] + d >= nest->run[period - 1] + period) {
      return true;
    }
  }
  return false;
}

/* Whether a run of one of the short periods has just become long enough. Run lengths
 * saturate instead of wrapping: one that wrapped to `needed` would be found a second time.
 * Halves of events fill the same lanes as run lengths; one event after another with a
 * branch each takes 1.3 times as long (random events, AMD EPYC Zen 4). */
static bool advance_runs(tsanom_dpd_nest *nest, uint64_t event) {
  enum { LANES = TSN_VECTOR_BYTES / sizeof(uint32_t) };
  uint64_t before = nest->history.count - 1;
  uint32_t low = (uint32_t)event, high = (uint32_t)(event >> 32);
  tsn_u32 reached = {0};
  TSN_UNROLL
  for (size_t m = 0; m < TSN_NEST_SHORT; m += LANES) {
    tsn_u32 halves[2], run, needed;
    memcpy(&halves[0], &nest->recent[0][nest->head + m], sizeof run);
    memcpy(&halves[1], &nest->recent[1][nest->head + m], sizeof run);
    memcpy(&run, &nest->run[m], sizeof run);
    memcpy(&needed, &nest->needed[m], sizeof run);
    run += 1 + (tsn_u32)(run == UINT32_MAX);
    run &= (tsn_u32)(halves[0] == low) & (tsn_u32)(halves[1] == high);
    memcpy(&nest->run[m], &run, sizeof run);
    reached |= (tsn_u32)(run == needed);
  }
  for (size_t m = (size_t)before; m < TSN_NEST_SHORT; m++) nest->run[m] = 0;
  uint64_t halves[sizeof reached / sizeof(uint64_t)], any = 0;
  memcpy(halves, &reached, sizeof reached);
  for (size_t k = 0; k < sizeof halves / sizeof *halves; k++) any |= halves[k];
  return any != 0;
}

/* The newest events are stored twice as long as needed, newest first, so that the 16
 * delays are contiguous for vectors: `head` moves down, and the 15 newest are copied
 * up when it reaches 0, once in 17 events. The followers are looked at only if a run has
 * just become long enough or a loop is active; in a stream without loops an event costs
 * one short loop alone. */
static int follow_short(tsanom_dpd_nest *nest, uint64_t event) {
  bool reached = advance_runs(nest, event);
  if (nest->head == 0) {
    for (size_t half = 0; half < 2; half++) {
      memcpy(nest->recent[half] + TSN_NEST_SHORT + 1, nest->recent[half],
             (TSN_NEST_SHORT - 1) * sizeof *nest->recent[half]);
    }
    nest->head = TSN_NEST_SHORT + 1;
  }
  nest->head--;
  nest->recent[0][nest->head] = (uint32_t)event;
  nest->recent[1][nest->head] = (uint32_t)(event >> 32);
  int changed = 0;
  if (!reached && nest->active == 0) return 0;
  for (size_t m = 0; m < TSN_NEST_SHORT; m++) {
    tsn_follower *f = &nest->followed[m];
    if (f->found && nest->run[m] == 0) {
      end_loop(nest, f, nest->history.count - 2);
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

/* Consecutive events that equal the event `period` before, at least the window, as far as
 * the history reaches. */
static uint64_t count_matches(const tsn_history *history, uint64_t period,
                              uint64_t matches) {
  uint64_t newest = history->count - 1;
  while (matches + period < history->count && matches + period < history->size &&
         tsn_history_at(history, newest - matches) ==
             tsn_history_at(history, newest - matches - period)) {
    matches++;
  }
  return matches;
}

bool tsn_nest_is_its_own(const tsanom_dpd_nest *nest, const tsn_ngram *ngram) {
  return ngram->period > ngram->window / 2 && ngram->period <= nest->max_period;
}

static bool begin_if_due(tsanom_dpd_nest *nest, tsn_follower *f) {
  bool due = !f->found && f->matches >= tsn_nest_needed(nest, f->period);
  if (due) begin_loop(nest, f);
  return due;
}

/* Follow the period that the octave found. */
static bool start_following(tsanom_dpd_nest *nest, tsn_follower *f,
                            const tsn_ngram *ngram) {
  f->period = ngram->period;
  f->matches = count_matches(&nest->history, ngram->period, ngram->window);
  return begin_if_due(nest, f);
}

/* A detector may change from one period to another within an event: then the old loop
 * ends and the new one is followed, in this order. Two periods of one octave cannot hide
 * each other (dpd_nest.h). */
static int follow_octave(tsanom_dpd_nest *nest, size_t i) {
  const tsn_ngram *ngram = &nest->octave[i];
  tsn_follower *f = &nest->followed[TSN_NEST_SHORT + i];
  if (!ngram->period && !f->period) return 0;
  bool is_own = tsn_nest_is_its_own(nest, ngram);
  if (is_own && f->period == ngram->period) {
    f->matches++;
    return begin_if_due(nest, f);
  }
  bool was_found = f->found;
  if (was_found) end_loop(nest, f, nest->history.count - 2);
  *f = (tsn_follower){0};
  return (is_own && start_following(nest, f, ngram)) || was_found;
}

static bool is_idle(const tsanom_dpd_nest *nest, size_t i, uint64_t period) {
  const tsn_ngram *ngram = &nest->octave[i];
  return ngram->period && ngram->period == period && !tsn_nest_is_its_own(nest, ngram) &&
         !nest->followed[TSN_NEST_SHORT + i].period;
}

/* The first octaves in a row that are idle. */
static void find_idle(tsanom_dpd_nest *nest) {
  size_t from = 0;
  while (from < nest->octaves && !is_idle(nest, from, nest->octave[from].period)) from++;
  size_t to = from;
  while (to < nest->octaves && is_idle(nest, to, nest->octave[from].period)) to++;
  nest->idle_from = from;
  nest->idle_to = to;
}

static int follow_octaves(tsanom_dpd_nest *nest, size_t from, size_t to) {
  if (from == to) return 0;
  int changed = 0;
  tsn_ngram_push_bank(nest->octave + from, to - from, &nest->history);
  for (size_t i = from; i < to; i++) changed |= follow_octave(nest, i);
  return changed;
}

/* Whether the newest event continues the period of the idle octaves. */
static bool stays_idle(const tsanom_dpd_nest *nest) {
  uint64_t newest = nest->history.count - 1;
  if (nest->idle_from == nest->idle_to) return false;
  return tsn_history_at(&nest->history, newest) ==
         tsn_history_at(&nest->history, newest - nest->octave[nest->idle_from].period);
}

/* A stream of short iterations locks all octaves up to the longest period: one comparison
 * serves them all. They are looked for now and then. One comparison each takes 1.3 to 1.4
 * times as long (row `nest` of a period, AMD EPYC Zen 4). */
int tsn_nest_follow(tsanom_dpd_nest *nest, uint64_t event) {
  enum { EVENTS_BETWEEN = 32 };
  tsn_history_push(&nest->history, event);
  int changed = follow_short(nest, event);
  if (!stays_idle(nest)) nest->idle_from = nest->idle_to = 0;
  changed |= follow_octaves(nest, 0, nest->idle_from);
  changed |= follow_octaves(nest, nest->idle_to, nest->octaves);
  if (nest->history.count % EVENTS_BETWEEN == 0) find_idle(nest);
  return changed;
}

static void drop_longer(tsanom_dpd_nest *nest, size_t max_period) {
  for (size_t i = 0; i < TSN_NEST_SHORT + nest->octaves; i++) {
    tsn_follower *f = &nest->followed[i];
    if (f->period <= max_period) continue;
    if (f->found) end_loop(nest, f, nest->history.count - 1);
    *f = (tsn_follower){0};
  }
}

/* Detect the active loops that are not followed yet. */
static void find_active(tsanom_dpd_nest *nest) {
  for (size_t m = 1; m <= TSN_NEST_SHORT && m <= nest->max_period; m++) {
    tsn_follower *f = &nest->followed[m - 1];
    if (f->period) continue;
    f->period = m;
    f->matches = nest->run[m - 1];
    if (!is_multiple(nest, m)) begin_if_due(nest, f);
  }
  for (size_t i = 0; i < nest->octaves; i++) {
    tsn_follower *f = &nest->followed[TSN_NEST_SHORT + i];
    const tsn_ngram *ngram = &nest->octave[i];
    if (!f->period && tsn_nest_is_its_own(nest, ngram)) start_following(nest, f, ngram);
  }
}

/* Octaves that come into use are built from the history, which all octaves share; those
 * that go out of use keep their memory. Loops that are already long enough are found at
 * once. */
void tsn_nest_set_max_period(tsanom_dpd_nest *nest, size_t max_period) {
  drop_longer(nest, max_period);
  size_t octaves = tsn_nest_octaves(max_period);
  for (size_t i = nest->octaves; i < octaves; i++) {
    size_t window = tsn_nest_window(i);
    tsn_ngram_start(&nest->octave[i], &nest->history, window, window);
  }
  nest->octaves = octaves;
  nest->idle_from = nest->idle_to = 0;
  nest->max_period = max_period;
  find_active(nest);
}
