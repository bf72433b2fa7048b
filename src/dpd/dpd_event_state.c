/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of an event detector: its history, and when its period was found. Hash
 * and table follow from the history, as after a change of the window, so that no state
 * can contain wrong ones. */
#include "core/state.h"
#include "dpd/dpd_event.h"

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_event *d = object;
  tsn_history_exchange(state, &d->history);
  tsn_state_field(state, &d->ngram.window, sizeof d->ngram.window);
  tsn_state_field(state, &d->ngram.period, sizeof d->ngram.period);
  tsn_state_field(state, &d->ngram.locked, sizeof d->ngram.locked);
  tsn_state_field(state, &d->ngram.examined, sizeof d->ngram.examined);
  tsn_state_field(state, &d->reported, sizeof d->reported);
  tsn_state_field(state, &d->start, sizeof d->start);
  tsn_state_field(state, &d->unlocked, sizeof d->unlocked);
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

const tsn_saved tsn_dpd_event_saved = {
    .kind = UINT64_C(0x544E45564544504E), /* "NPDEVENT" */
    .options = offsetof(tsanom_dpd_event, options),
    .options_bytes = sizeof(tsanom_dpd_event_options),
    .exchange = exchange,
    .resume = resume,
};
