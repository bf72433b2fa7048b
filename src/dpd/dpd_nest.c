/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops. One block contains everything:
 *
 *     | nest | ends of octave 0 | of octave 1 | ... | history | known periods |
 *
 * An N-gram detector per octave costs an event O(log M) together, 29 to 50 ns with
 * windows up to 1024 or 4096 (docs/benchmarks.md), where d(m) of every m would cost
 * O(M). */
#include <string.h>
#include <tsanom/dpd.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/state.h"
#include "core/vector.h"
#include "core/versioned.h"
#include "dpd/dpd_ngram.h"

/* A loop of period p is found when c = max((repeats-1)·p, least_events - p) consecutive
 * events have equaled the event p before:
 *
 *   events   a b a b c | a b a b c | a b a b c        period 5, containing period 2
 *                        ^ matches of period 5 start here, found after c = 10 of them
 *
 * Periods up to 16 are counted directly, in a vector of run lengths. Longer periods are
 * divided into octaves: the N-gram detector of window N (32, 64, ...) covers N/2 < p <= N.
 * It sees a loop of such a period before the loop is
 * long enough to count, because c >= 2p > N. Two periods of one octave cannot hide each
 * other: a sequence that long with both periods would, by Fine and Wilf (Proc. AMS 16
 * (1965) 109-114), also have their greatest common divisor as a period. */

enum {
  TSN_NEST_SHORT = 16,
  TSN_NEST_OCTAVES_MAX = 24,
  TSN_NEST_FOLLOWED_MAX = TSN_NEST_SHORT + TSN_NEST_OCTAVES_MAX
};

/* An ongoing repetition; a loop if `found`. */
typedef struct {
  uint64_t period;  /* 0: none */
  uint64_t matches; /* consecutive events that equal the event a period before */
  uint64_t number;  /* index of the event that made it a loop */
  uint64_t found;   /* 0 or 1; of this width, so that a saved state has no gaps */
} tsn_follower;

struct tsanom_dpd_nest {
  tsn_object owner;
  tsanom_dpd_nest_options options; /* with the largest max_period */
  tsn_history history;
  uint32_t recent[2]
                 [2 * TSN_NEST_SHORT]; /* halves of events, newest first from `head` on */
  size_t head;
  uint32_t run[TSN_NEST_SHORT];
  uint32_t needed[TSN_NEST_SHORT];
  size_t max_period; /* in use */
  size_t octaves;    /* in use */
  /* Octaves [idle_from, idle_to) have locked one period, of a shorter octave: while it
   * lasts, no event changes them. */
  size_t idle_from, idle_to;
  tsn_ngram octave[TSN_NEST_OCTAVES_MAX];       /* windows 32, 64, ... */
  tsn_follower followed[TSN_NEST_FOLLOWED_MAX]; /* short periods, then one per octave */
  size_t active;                                /* number of followers that are loops */
  tsanom_dpd_period *known;                     /* sorted by period */
  size_t known_count;
  bool overflowed; /* more periods were found than the capacity */
};

/* Index of the first event of a loop. */
static inline uint64_t follower_first(const tsanom_dpd_nest *nest,
                                      const tsn_follower *f) {
  return nest->history.count - f->matches - f->period;
}

/* The effect of an event on the followers and on the known periods.
 *
 *     followed[0..15]    period m = 1..16, matches = run[m-1]: every short delay, always
 *     followed[16 + i]   the period that octave i found, if N/2 < p <= N; else none
 *
 * Short periods have run lengths of their own, a few vector operations per event for all
 * 16. A longer period is followed from the moment that the N-gram detector of its octave
 * finds it: the matches up to then are counted back in the history once, and then go on
 * by one per event.
 *
 * A follower becomes a loop when its matches reach needed_matches(), and ends with the
 * first event that differs. A period that is a multiple of a shorter one with the same
 * run is not primitive and never becomes a loop. */

/* Number of octaves for periods up to max_period. */
static size_t octaves_of(size_t max_period) {
  size_t octaves = 0;
  for (size_t window = TSN_NEST_SHORT; window < max_period; window *= 2) octaves++;
  return octaves;
}

static size_t window_of(size_t i) {
  return (size_t)2 * TSN_NEST_SHORT << i;
}

/* A loop of r iterations has r·p events, of which the last (r-1)·p equal those a period
 * before; a loop of at least least_events events has least_events - p such matches. The
 * greater counts. */
static uint64_t needed_matches(const tsanom_dpd_nest *nest, uint64_t period) {
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
  f->found = 1;
  f->number = nest->history.count - 1;
  nest->active++;
  tsanom_dpd_period *record = record_of(nest, f->period);
  if (!record) return;
  uint64_t first = follower_first(nest, f);
  if (first < record->first) record->first = first;
  record->loops++;
  raise_levels(nest, f->period, record->level);
}

/* The events of a loop until `last` that are not in the one before of this period p: a loop may begin
 * p - 1 events before the one that ended another. */
static uint64_t new_events(const tsanom_dpd_period *record, const tsn_follower *f,
                           uint64_t last) {
  uint64_t events = f->matches + f->period, since = last - record->last;
  return record->events && since < events ? since : events;
}

/* `last` is the last event of the loop, the one before the newest unless the nest was
 * resized. */
static void end_loop(tsanom_dpd_nest *nest, tsn_follower *f, uint64_t last) {
  f->found = 0;
  nest->active--;
  tsanom_dpd_period *record = record_of(nest, f->period);
  if (!record) return;
  record->events += new_events(record, f, last);
  record->last = last;
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

/* Whether the octave covers the period that it found. Its detector finds all periods up
 * to its window; the shorter ones belong to smaller octaves. */
static bool is_its_own(const tsanom_dpd_nest *nest, const tsn_ngram *ngram) {
  return ngram->period > ngram->window / 2 && ngram->period <= nest->max_period;
}

static bool begin_if_due(tsanom_dpd_nest *nest, tsn_follower *f) {
  bool due = !f->found && f->matches >= needed_matches(nest, f->period);
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
 * each other. */
static int follow_octave(tsanom_dpd_nest *nest, size_t i) {
  const tsn_ngram *ngram = &nest->octave[i];
  tsn_follower *f = &nest->followed[TSN_NEST_SHORT + i];
  if (!ngram->period && !f->period) return 0;
  bool is_own = is_its_own(nest, ngram);
  if (is_own && f->period == ngram->period) {
    f->matches++;
    return begin_if_due(nest, f);
  }
  bool was_found = f->found != 0;
  if (was_found) end_loop(nest, f, nest->history.count - 2);
  *f = (tsn_follower){0};
  return (is_own && start_following(nest, f, ngram)) || was_found;
}

static bool is_idle(const tsanom_dpd_nest *nest, size_t i, uint64_t period) {
  const tsn_ngram *ngram = &nest->octave[i];
  return ngram->period && ngram->period == period && !is_its_own(nest, ngram) &&
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
static int follow_event(tsanom_dpd_nest *nest, uint64_t event) {
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
    if (!f->period && is_its_own(nest, ngram)) start_following(nest, f, ngram);
  }
}

/* Octaves that come into use, from the first `built` on, are built from the history, which
 * all octaves share; those that go out of use keep their memory. */
static void set_octaves(tsanom_dpd_nest *nest, size_t built) {
  nest->octaves = octaves_of(nest->max_period);
  for (size_t i = built; i < nest->octaves; i++) {
    size_t window = window_of(i);
    tsn_ngram_start(&nest->octave[i], &nest->history, window, window);
  }
  nest->idle_from = nest->idle_to = 0;
}

/* Loops that are already long enough are found at once. */
static void set_max_period(tsanom_dpd_nest *nest, size_t max_period) {
  drop_longer(nest, max_period);
  nest->max_period = max_period;
  set_octaves(nest, nest->octaves);
  find_active(nest);
}

/* The saved state of a nest: history, run lengths, followers and known periods. The
 * detectors of the octaves follow from the history, and the periods of the followers from
 * them. */

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_nest *nest = object;
  uint64_t overflowed = nest->overflowed;
  tsn_history_exchange(state, &nest->history);
  tsn_state_field(state, nest->run, sizeof nest->run);
  tsn_state_field(state, &nest->max_period, sizeof nest->max_period);
  tsn_state_field(state, nest->followed, sizeof nest->followed);
  tsn_state_field(state, &overflowed, sizeof overflowed);
  nest->overflowed = overflowed != 0;
  tsn_state_field(state, &nest->known_count, sizeof nest->known_count);
  if (nest->known_count > nest->options.capacity) {
    state->damaged = true;
    return;
  }
  tsn_state_field(state, nest->known, nest->known_count * sizeof *nest->known);
}

/* The newest events, as the detection has them after a copy. */
static void fill_recent(tsanom_dpd_nest *nest) {
  nest->head = TSN_NEST_SHORT;
  for (size_t i = 0; i < TSN_NEST_SHORT; i++) {
    uint64_t event = i < nest->history.count
                         ? tsn_history_at(&nest->history, nest->history.count - 1 - i)
                         : 0;
    nest->recent[0][nest->head + i] = (uint32_t)event;
    nest->recent[1][nest->head + i] = (uint32_t)(event >> 32);
  }
}

/* The period that a follower must have; 0: none. */
static uint64_t period_of(const tsanom_dpd_nest *nest, size_t i) {
  if (i < TSN_NEST_SHORT) return i + 1 <= nest->max_period ? i + 1 : 0;
  if (i >= TSN_NEST_SHORT + nest->octaves) return 0;
  const tsn_ngram *ngram = &nest->octave[i - TSN_NEST_SHORT];
  return is_its_own(nest, ngram) ? ngram->period : 0;
}

/* A loop is not longer than the stream; that of an octave is found when it is long
 * enough. A short one begins when its run is, so that a loop whose run is shorter would
 * begin a second time. */
static bool is_follower(const tsanom_dpd_nest *nest, size_t i) {
  const tsn_follower *f = &nest->followed[i];
  if (f->period != period_of(nest, i) || f->found > 1) return false;
  if (!f->period) return !f->found;
  uint64_t count = nest->history.count, most = count > f->period ? count - f->period : 0;
  if (f->matches > most) return false;
  bool enough = f->matches >= needed_matches(nest, f->period);
  if (i < TSN_NEST_SHORT) {
    return !f->found || (enough && nest->run[i] >= nest->needed[i]);
  }
  return enough == f->found;
}

static bool are_known(const tsanom_dpd_nest *nest) {
  for (size_t k = 0; k < nest->known_count; k++) {
    size_t period = nest->known[k].period;
    if (period < 1 || (k > 0 && period <= nest->known[k - 1].period)) return false;
  }
  return true;
}

/* Build what follows from the history. Returns whether it confirms the rest. */
static bool resume(void *object) {
  tsanom_dpd_nest *nest = object;
  uint64_t count = nest->history.count;
  if (count > INT64_MAX || nest->max_period < 1 ||
      nest->max_period > nest->options.max_period) {
    return false;
  }
  for (size_t m = 1; m <= TSN_NEST_SHORT; m++) {
    if (nest->run[m - 1] && nest->run[m - 1] + m > count) return false;
  }
  fill_recent(nest);
  set_octaves(nest, 0);
  nest->active = 0;
  for (size_t i = 0; i < TSN_NEST_FOLLOWED_MAX; i++) {
    if (!is_follower(nest, i)) return false;
    nest->active += nest->followed[i].found;
  }
  return are_known(nest);
}

static const tsn_saved saved_type = {
    .kind = UINT64_C(0x5453454E4544504E), /* "NPDENEST" */
    .options = offsetof(tsanom_dpd_nest, options),
    .options_bytes = sizeof(tsanom_dpd_nest_options),
    .exchange = exchange,
    .resume = resume,
};

/* Nested loops: the functions that read a nest. None of them changes it.
 *
 * A loop is reported from its first event, which lies p + matches before the newest,
 * although it was found only when it was long enough. Totals of known periods contain
 * ended loops; those of active ones are added when they are read, so that following an
 * event need not update them. */

/* Whether the newest event begins an iteration: it lies a multiple of the period after
 * the first event of the loop. */
static bool starts_now(const tsanom_dpd_nest *nest, const tsn_follower *f) {
  return (nest->history.count - 1 - follower_first(nest, f)) % f->period == 0;
}

/* The active loops, or those of them that start an iteration now, by ascending period:
 * followers are in this order. Counts all of them, and writes at most `capacity`. */
static tsanom_status list_loops(const tsanom_dpd_nest *nest, bool only_starts,
                                tsanom_dpd_loop *loops, size_t capacity, size_t *count) {
  if (!nest || !count || (!loops && capacity)) return TSANOM_E_NULL;
  size_t listed = 0, left = nest->active;
  for (size_t i = 0; left > 0; i++) {
    const tsn_follower *f = &nest->followed[i];
    if (!f->found) continue;
    left--;
    if (only_starts && !starts_now(nest, f)) continue;
    if (listed < capacity) {
      loops[listed] = (tsanom_dpd_loop){.period = (size_t)f->period,
                                        .first = follower_first(nest, f),
                                        .found = f->number};
    }
    listed++;
  }
  *count = listed;
  return listed > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_loops(const tsanom_dpd_nest *nest, tsanom_dpd_loop *loops,
                                    size_t capacity, size_t *count) {
  return list_loops(nest, false, loops, capacity, count);
}

tsanom_status tsanom_dpd_nest_starts(const tsanom_dpd_nest *nest, tsanom_dpd_loop *loops,
                                     size_t capacity, size_t *count) {
  return list_loops(nest, true, loops, capacity, count);
}

/* By the longest active loop, the last of the followers: it contains the shorter ones,
 * and so knows when they end. */
tsanom_status tsanom_dpd_nest_predict(const tsanom_dpd_nest *nest, uint64_t *events,
                                      size_t count) {
  if (!nest || !events) return TSANOM_E_NULL;
  if (!tsn_array_fits(count, sizeof *events)) return TSANOM_E_OVERFLOW;
  uint64_t period = 0;
  for (size_t i = 0; i < TSN_NEST_SHORT + nest->octaves; i++) {
    const tsn_follower *f = &nest->followed[i];
    if (f->found) period = f->period;
  }
  if (!period) return TSANOM_INFEASIBLE;
  tsn_history_continue(&nest->history, period, events, count);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_periods(const tsanom_dpd_nest *nest,
                                      tsanom_dpd_period *periods, size_t capacity,
                                      size_t *count) {
  if (!nest || !count || (!periods && capacity)) return TSANOM_E_NULL;
  size_t listed = nest->known_count < capacity ? nest->known_count : capacity;
  for (size_t k = 0; k < listed; k++) {
    periods[k] = nest->known[k];
    for (size_t i = 0; i < TSN_NEST_SHORT + nest->octaves; i++) {
      const tsn_follower *f = &nest->followed[i];
      if (!f->found || f->period != periods[k].period) continue;
      periods[k].last = nest->history.count - 1;
      periods[k].events += new_events(&nest->known[k], f, periods[k].last);
    }
  }
  *count = nest->known_count;
  return nest->known_count > capacity || nest->overflowed ? TSANOM_PARTIAL : TSANOM_OK;
}

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

/* Fewer than three repeats are not a loop: two equal sequences occur in streams that do not
 * iterate. */
static tsanom_status read_options(tsanom_dpd_nest_options *own,
                                  const tsanom_dpd_nest_options *caller,
                                  const tsanom_exec *exec) {
  enum { BAD = TSANOM_E_OPTION };
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = tsn_require_size(exec, BAD, "options.max_period", own->max_period, 1,
                                 TSANOM_DPD_WINDOW_MAX / 4)) < 0 ||
      (status = tsn_require_size(exec, BAD, "options.repeats", own->repeats, 3, 16)) <
          0 ||
      (status = tsn_require_size(exec, BAD, "options.least_events", own->least_events, 0,
                                 64)) < 0) {
    return status;
  }
  return tsn_require_size(exec, BAD, "options.capacity", own->capacity, 1,
                          TSANOM_DPD_PERIODS_MAX);
}

/* The block of a nest: the struct, then the buffers of its parts. */
typedef struct {
  tsanom_dpd_nest parts, *placed;
  tsanom_exec exec;
  tsanom_dpd_nest **nest;
} nest_block;

/* All octaves share one history. It must contain the window and a period of the longest
 * octave; the records of loops begin up to twice as early. */
static void layout(tsn_arena *arena, void *context) {
  nest_block *block = context;
  tsanom_dpd_nest *parts = &block->parts;
  const tsanom_dpd_nest_options *options = &parts->options;
  block->placed = tsn_arena_take(arena, 1, sizeof *block->placed);
  size_t octaves = octaves_of(options->max_period);
  for (size_t i = 0; i < octaves; i++) {
    tsn_ngram_layout(arena, window_of(i), TSN_NGRAM_ENTRIES, &parts->octave[i]);
  }
  size_t longest = octaves ? window_of(octaves - 1) : TSN_NEST_SHORT;
  tsn_history_layout(arena, 4 * longest, &parts->history);
  parts->known = tsn_arena_take(arena, options->capacity, sizeof *parts->known);
}

static tsanom_status check(void *context) {
  const nest_block *block = context;
  return tsn_require(&block->exec, block->nest, "nest");
}

/* The struct is prepared in a local copy, whose pointers the layout sets, and copied into
 * the block. */
tsanom_status tsanom_dpd_nest_create(const tsanom_dpd_nest_options *options,
                                     const tsanom_exec *exec, tsanom_dpd_nest **nest) {
  nest_block block = {.nest = nest};
  tsanom_dpd_nest *parts = &block.parts;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  if ((status = read_options(&parts->options, options, &block.exec)) < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &parts->owner);
  if (status < 0) return status;
  parts->owner.saved = &saved_type;
  for (size_t m = 1; m <= TSN_NEST_SHORT; m++) {
    parts->needed[m - 1] = (uint32_t)needed_matches(parts, m);
  }
  *block.placed = *parts;
  set_max_period(block.placed, parts->options.max_period);
  *nest = block.placed;
  return TSANOM_OK;
}

void tsanom_dpd_nest_destroy(tsanom_dpd_nest *nest) {
  if (nest) tsn_object_release(&nest->owner);
}

tsanom_status tsanom_dpd_nest_push(tsanom_dpd_nest *nest, uint64_t event,
                                   int32_t *changed) {
  if (!nest) return TSANOM_E_NULL;
  int any = follow_event(nest, event);
  if (changed) *changed = any;
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_push_many(tsanom_dpd_nest *nest, const uint64_t *events,
                                        size_t count, int32_t *changed) {
  if (!nest || (!events && count)) return TSANOM_E_NULL;
  if (!tsn_array_fits(count, sizeof *events)) return TSANOM_E_OVERFLOW;
  for (size_t i = 0; i < count; i++) {
    int any = follow_event(nest, events[i]);
    if (changed) changed[i] = any;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_nest_resize(tsanom_dpd_nest *nest, size_t max_period) {
  if (!nest) return TSANOM_E_NULL;
  if (max_period < 1 || max_period > nest->options.max_period) return TSANOM_E_OPTION;
  set_max_period(nest, max_period);
  return TSANOM_OK;
}

size_t tsanom_dpd_nest_max_period(const tsanom_dpd_nest *nest) {
  return nest ? nest->max_period : 0;
}
