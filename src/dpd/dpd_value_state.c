/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of a value detector. The sums are saved with their rounding errors, so
 * that a restored detector computes the same bits. */
#include <math.h>

#include "core/size.h"
#include "core/state.h"
#include "dpd/dpd_value.h"

/* The samples, and the sums of the delays in use. */
static void exchange_arrays(tsn_state *state, tsn_sums *s) {
  tsn_state_field(state, s->value + s->head, s->history * sizeof *s->value);
  tsn_state_field(state, s->sum, s->max_period * sizeof *s->sum);
}

/* A restored window determines the delays in use; the sums start anew, so that nothing of
 * other samples remains. */
static void exchange_window(tsn_state *state, tsanom_dpd_value *d) {
  size_t window = d->sums.window;
  tsn_state_field(state, &window, sizeof window);
  if (!state->from) return;
  if (window < 1 || window > d->options.window) {
    state->damaged = true;
    return;
  }
  d->sums.count = 0;
  tsn_dpd_value_start_sums(d, d->sums.kernels, window);
}

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_value *d = object;
  tsn_sums *s = &d->sums;
  exchange_window(state, d);
  tsn_state_field(state, &s->head, sizeof s->head);
  if (state->damaged || s->head > s->slack) {
    state->damaged = true;
    s->head = 0;
    return;
  }
  exchange_arrays(state, s);
  tsn_state_field(state, &s->count, sizeof s->count);
  tsn_state_field(state, &s->behind, sizeof s->behind);
  tsn_state_field(state, &s->least, sizeof s->least);
  tsn_state_field(state, &s->followed, sizeof s->followed);
  tsn_state_field(state, &s->followed_sum, sizeof s->followed_sum);
  tsn_state_field(state, &s->mean, sizeof s->mean);
  tsn_state_field(state, &s->refreshed, sizeof s->refreshed);
  tsn_state_field(state, s->segment, sizeof s->segment);
  tsn_state_field(state, &s->range, sizeof s->range);
  tsn_state_field(state, &d->judge.due, sizeof d->judge.due);
  tsn_state_field(state, &d->judge.before, sizeof d->judge.before);
  tsn_state_field(state, &d->judge.period, sizeof d->judge.period);
  tsn_state_field(state, &d->judge.dip, sizeof d->judge.dip);
  tsn_state_field(state, &d->period, sizeof d->period);
  tsn_state_field(state, &d->phase, sizeof d->phase);
  tsn_state_field(state, &d->held, sizeof d->held);
  tsn_state_field(state, &d->locked, sizeof d->locked);
  tsn_state_field(state, &d->unlocked, sizeof d->unlocked);
  tsn_state_field(state, &d->constant, sizeof d->constant);
}

static bool are_samples(const tsn_sums *s) {
  for (size_t i = 0; i < s->history; i++) {
    if (!isfinite(s->value[s->head + i])) return false;
  }
  return true;
}

/* Every delay must be one that the arrays contain. A period that was found before the
 * window shrank may be longer than those in use, until the next sample. */
static bool resume(void *object) {
  const tsanom_dpd_value *d = object;
  const tsn_sums *s = &d->sums;
  const tsn_judge *judge = &d->judge;
  if (s->count > INT64_MAX || s->behind >= TSN_DPD_BLOCK) return false;
  if (s->followed > s->max_period || s->refreshed > s->max_period) return false;
  if (judge->period > s->max_period && judge->due > s->count + 1) return false;
  return d->period <= d->options.max_period && are_samples(s);
}

const tsn_saved tsn_dpd_value_saved = {
    .kind = UINT64_C(0x554C41564544504E), /* "NPDEVALU" */
    .options = offsetof(tsanom_dpd_value, options),
    .options_bytes = sizeof(tsanom_dpd_value_options),
    .exchange = exchange,
    .resume = resume,
};
