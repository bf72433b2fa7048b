/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of a value detector. The sums are saved with their rounding errors, so
 * that a restored detector computes the same bits. */
#include <math.h>

#include "core/size.h"
#include "core/state.h"
#include "dpd/dpd_value.h"

static const uint64_t kind = UINT64_C(0x554C41564544504E); /* "NPDEVALU" */

/* The samples, and the sums of the delays in use. */
static void exchange_arrays(tsn_state *state, tsn_sums *s) {
  tsn_state_field(state, s->value + s->head, s->history * sizeof *s->value);
  tsn_state_field(state, s->sum, s->max_period * sizeof *s->sum);
}

/* After the window, which determines the delays in use. */
static void exchange_fields(tsn_state *state, tsanom_dpd_value *d) {
  tsn_sums *s = &d->sums;
  tsn_state_field(state, &s->head, sizeof s->head);
  if (s->head > s->slack) {
    state->damaged = true;
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

static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_value *d = object;
  tsn_state_field(state, &d->options, sizeof d->options);
  tsn_state_field(state, &d->sums.window, sizeof d->sums.window);
  exchange_fields(state, d);
}

tsanom_status tsanom_dpd_value_save(const tsanom_dpd_value *detector, void *state,
                                    size_t capacity, size_t *bytes) {
  if (!detector || !bytes || (!state && capacity)) return TSANOM_E_NULL;
  tsanom_dpd_value copy = *detector;
  return tsn_state_save(kind, exchange, &copy, state, capacity, bytes);
}

static bool are_samples(const tsn_sums *s) {
  for (size_t i = 0; i < s->history; i++) {
    if (!isfinite(s->value[s->head + i])) return false;
  }
  return true;
}

/* Every delay must be one that the arrays contain. A period that was found before the
 * window shrank may be longer than those in use, until the next sample. */
static bool is_valid(const tsanom_dpd_value *d) {
  const tsn_sums *s = &d->sums;
  const tsn_judge *judge = &d->judge;
  if (s->count > INT64_MAX || s->behind >= TSN_DPD_BLOCK) return false;
  if (s->followed > s->max_period || s->refreshed > s->max_period) return false;
  if (judge->period > s->max_period && judge->due > s->count + 1) return false;
  return d->period <= d->options.max_period && are_samples(s);
}

tsanom_status tsanom_dpd_value_restore(void *memory, size_t bytes, const void *state,
                                       size_t state_bytes, const tsanom_exec *exec,
                                       tsanom_dpd_value **detector) {
  tsanom_exec copy;
  tsn_state from;
  tsanom_dpd_value_options options;
  size_t window;
  tsanom_dpd_value *made = NULL;
  tsanom_status status =
      tsn_state_open(kind, state, state_bytes, exec, detector, "detector", &copy, &from);
  if (status < 0) return status;
  tsn_state_field(&from, &options, sizeof options);
  tsn_state_field(&from, &window, sizeof window);
  bool known =
      options.struct_size == sizeof options && window >= 1 && window <= options.window;
  status = known ? tsn_dpd_value_make(!memory, memory, bytes, &options, &copy, &made)
                 : TSANOM_E_OPTION;
  if (status < 0) return tsn_state_not_made(&copy, status);
  tsn_dpd_value_start_sums(made, made->sums.kernels, window);
  exchange_fields(&from, made);
  status =
      tsn_state_close(tsn_state_complete(&from) && is_valid(made), &copy, &made->owner);
  if (status >= 0) *detector = made;
  return status;
}
