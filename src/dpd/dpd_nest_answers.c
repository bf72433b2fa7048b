/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops: the functions that read a nest. None of them changes it.
 *
 * A loop is reported from its first event, which lies p + matches before the newest,
 * although it was found only when it was long enough. Totals of known periods contain
 * ended loops; those of active ones are added when they are read, so that following an
 * event need not update them. */
#include "core/size.h"
#include "dpd/dpd_nest.h"

/* Whether the newest event begins an iteration: it lies a multiple of the period after
 * the first event of the loop. */
static bool starts_now(const tsanom_dpd_nest *nest, const tsn_follower *f) {
  return (nest->history.count - 1 - tsn_follower_first(nest, f)) % f->period == 0;
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
                                        .first = tsn_follower_first(nest, f),
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
      periods[k].events += f->matches + f->period;
    }
  }
  *count = nest->known_count;
  return nest->known_count > capacity || nest->overflowed ? TSANOM_PARTIAL : TSANOM_OK;
}
