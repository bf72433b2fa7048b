/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of a nest: history, run lengths, followers and known periods. The
 * detectors of the octaves follow from the history, and the periods of the followers from
 * them. */
#include "core/state.h"
#include "dpd/dpd_nest.h"

static void exchange_follower(tsn_state *state, tsn_follower *f) {
  uint64_t found = f->found;
  tsn_state_field(state, &f->period, sizeof f->period);
  tsn_state_field(state, &f->matches, sizeof f->matches);
  tsn_state_field(state, &f->number, sizeof f->number);
  tsn_state_field(state, &found, sizeof found);
  f->found = found != 0;
}

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_nest *nest = object;
  uint64_t overflowed = nest->overflowed;
  tsn_history_exchange(state, &nest->history);
  tsn_state_field(state, nest->run, sizeof nest->run);
  tsn_state_field(state, &nest->max_period, sizeof nest->max_period);
  for (size_t i = 0; i < TSN_NEST_FOLLOWED_MAX; i++) {
    exchange_follower(state, &nest->followed[i]);
  }
  tsn_state_field(state, &overflowed, sizeof overflowed);
  nest->overflowed = overflowed != 0;
  tsn_state_field(state, &nest->known_count, sizeof nest->known_count);
  if (nest->known_count > nest->options.capacity) {
    state->damaged = true;
    return;
  }
  tsn_state_field(state, nest->known, nest->known_count * sizeof *nest->known);
}

/* The newest events, as dpd_nest_follow.c has them after a copy. */
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
  return tsn_nest_is_its_own(nest, ngram) ? ngram->period : 0;
}

/* A loop is not longer than the stream; that of an octave is found when it is long
 * enough. A short one begins when its run is, so that a loop whose run is shorter would
 * begin a second time. */
static bool is_follower(const tsanom_dpd_nest *nest, size_t i) {
  const tsn_follower *f = &nest->followed[i];
  if (f->period != period_of(nest, i)) return false;
  if (!f->period) return !f->found;
  uint64_t count = nest->history.count, most = count > f->period ? count - f->period : 0;
  if (f->matches > most) return false;
  bool enough = f->matches >= tsn_nest_needed(nest, f->period);
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
  nest->idle_from = nest->idle_to = 0;
  nest->octaves = tsn_nest_octaves(nest->max_period);
  for (size_t i = 0; i < nest->octaves; i++) {
    size_t window = tsn_nest_window(i);
    tsn_ngram_start(&nest->octave[i], &nest->history, window, window);
  }
  nest->active = 0;
  for (size_t i = 0; i < TSN_NEST_FOLLOWED_MAX; i++) {
    if (!is_follower(nest, i)) return false;
    nest->active += nest->followed[i].found;
  }
  return are_known(nest);
}

const tsn_saved tsn_dpd_nest_saved = {
    .kind = UINT64_C(0x5453454E4544504E), /* "NPDENEST" */
    .options = offsetof(tsanom_dpd_nest, options),
    .options_bytes = sizeof(tsanom_dpd_nest_options),
    .exchange = exchange,
    .resume = resume,
};
