/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of an event detector: its history, and when its period was found. Hash
 * and table follow from the history, as after a change of the window, so that no state
 * can contain wrong ones. */
#include "core/state.h"
#include "dpd/dpd_event.h"

static const uint64_t kind = UINT64_C(0x544E45564544504E); /* "NPDEVENT" */

static void exchange_fields(tsn_state *state, tsanom_dpd_event *d) {
  tsn_history_exchange(state, &d->history);
  tsn_state_field(state, &d->ngram.window, sizeof d->ngram.window);
  tsn_state_field(state, &d->ngram.period, sizeof d->ngram.period);
  tsn_state_field(state, &d->ngram.locked, sizeof d->ngram.locked);
  tsn_state_field(state, &d->ngram.examined, sizeof d->ngram.examined);
  tsn_state_field(state, &d->reported, sizeof d->reported);
  tsn_state_field(state, &d->start, sizeof d->start);
  tsn_state_field(state, &d->unlocked, sizeof d->unlocked);
}

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_event *d = object;
  tsn_state_field(state, &d->options, sizeof d->options);
  exchange_fields(state, d);
}

tsanom_status tsanom_dpd_event_save(const tsanom_dpd_event *detector, void *state,
                                    size_t capacity, size_t *bytes) {
  if (!detector || !bytes || (!state && capacity)) return TSANOM_E_NULL;
  tsanom_dpd_event copy = *detector;
  return tsn_state_save(kind, exchange, &copy, state, capacity, bytes);
}

/* Build hash and table for the restored window. Returns whether they confirm the period.
 */
static bool start(tsanom_dpd_event *d) {
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

tsanom_status tsanom_dpd_event_restore(void *memory, size_t bytes, const void *state,
                                       size_t state_bytes, const tsanom_exec *exec,
                                       tsanom_dpd_event **detector) {
  tsanom_exec copy;
  tsn_state from;
  tsanom_dpd_event_options options;
  tsanom_dpd_event *made = NULL;
  tsanom_status status =
      tsn_state_open(kind, state, state_bytes, exec, detector, "detector", &copy, &from);
  if (status < 0) return status;
  tsn_state_field(&from, &options, sizeof options);
  status = options.struct_size == sizeof options
               ? tsn_dpd_event_make(!memory, memory, bytes, &options, &copy, &made)
               : TSANOM_E_OPTION;
  if (status < 0) return tsn_state_not_made(&copy, status);
  exchange_fields(&from, made);
  status = tsn_state_close(tsn_state_complete(&from) && start(made), &copy, &made->owner);
  if (status >= 0) *detector = made;
  return status;
}
