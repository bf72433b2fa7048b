/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of an analyzer: its events, loops and active runs, then that of the
 * nest. Pointers to loops are saved as their indices; the sorted times follow from the
 * times. */
#include "core/state.h"

#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "speedup/speedup.h"

static const uint64_t kind = UINT64_C(0x50554445455053); /* "SPEEDUP" */

static void exchange_event(tsn_state *state, tsn_past_event *event) {
  tsn_state_field(state, &event->region, sizeof event->region);
  tsn_state_field(state, &event->begin, sizeof event->begin);
  tsn_state_field(state, &event->end, sizeof event->end);
  tsn_state_field(state, &event->parallel, sizeof event->parallel);
  tsn_state_field(state, &event->threads, sizeof event->threads);
}

static void exchange_times(tsn_state *state, tsn_times *times) {
  tsn_state_field(state, &times->threads, sizeof times->threads);
  tsn_state_field(state, &times->count, sizeof times->count);
  tsn_state_field(state, &times->sum, sizeof times->sum);
  tsn_state_field(state, &times->limited, sizeof times->limited);
  tsn_state_field(state, times->limited_at, sizeof times->limited_at);
  tsn_state_field(state, times->seconds, sizeof times->seconds);
}

static void exchange_loop(tsn_state *state, tsn_loop *loop) {
  tsn_state_field(state, &loop->start, sizeof loop->start);
  tsn_state_field(state, &loop->period, sizeof loop->period);
  tsn_state_field(state, &loop->iterations, sizeof loop->iterations);
  tsn_state_field(state, &loop->runs, sizeof loop->runs);
  tsn_state_field(state, &loop->last_run, sizeof loop->last_run);
  tsn_state_field(state, &loop->first, sizeof loop->first);
  tsn_state_field(state, &loop->last, sizeof loop->last);
  tsn_state_field(state, &loop->total, sizeof loop->total);
  tsn_state_field(state, &loop->parallel, sizeof loop->parallel);
  tsn_state_field(state, &loop->between, sizeof loop->between);
  tsn_state_field(state, &loop->current_threads, sizeof loop->current_threads);
  tsn_state_field(state, &loop->thread_counts, sizeof loop->thread_counts);
  if (loop->thread_counts > TSANOM_SPEEDUP_THREAD_COUNTS) {
    state->damaged = true;
    return;
  }
  for (uint32_t i = 0; i < loop->thread_counts; i++) {
    exchange_times(state, &loop->times[i]);
  }
}

static void exchange_live(tsn_state *state, tsanom_speedup *a, tsn_live *live) {
  uint64_t index = live->loop ? (uint64_t)(live->loop - a->loops) : 0;
  tsn_state_field(state, &live->period, sizeof live->period);
  tsn_state_field(state, &live->first, sizeof live->first);
  tsn_state_field(state, &live->begun, sizeof live->begun);
  tsn_state_field(state, &live->iterations, sizeof live->iterations);
  tsn_state_field(state, &index, sizeof index);
  if (index >= a->loop_count) {
    state->damaged = true;
    return;
  }
  live->loop = &a->loops[index];
}

static void exchange_fields(tsn_state *state, tsanom_speedup *a) {
  uint64_t flags[2] = {a->lost, a->finished};
  tsn_state_field(state, &a->events, sizeof a->events);
  tsn_state_field(state, &a->parallel, sizeof a->parallel);
  tsn_state_field(state, flags, sizeof flags);
  tsn_state_field(state, &a->loop_count, sizeof a->loop_count);
  tsn_state_field(state, &a->live_count, sizeof a->live_count);
  a->lost = flags[0] != 0;
  a->finished = flags[1] != 0;
  if (a->loop_count > a->options.capacity || a->live_count > TSN_LIVE_MAX) {
    state->damaged = true;
    return;
  }
  for (uint64_t i = 0; i <= a->past_mask && !state->damaged; i++) {
    if (i < a->events) exchange_event(state, &a->past[i]);
  }
  for (size_t i = 0; i < a->loop_count && !state->damaged; i++) {
    exchange_loop(state, &a->loops[i]);
  }
  for (size_t i = 0; i < a->live_count && !state->damaged; i++) {
    exchange_live(state, a, &a->live[i]);
  }
}

/* A pointer is not part of a state. */
static void exchange_options(tsn_state *state, tsanom_speedup_options *options) {
  options->visit = NULL;
  options->visit_user = NULL;
  tsn_state_field(state, options, sizeof *options);
}

/* The state of the nest is the last part. */
static void save(tsn_state *state, void *object) {
  tsanom_speedup *a = object;
  size_t bytes = 0;
  exchange_options(state, &a->options);
  exchange_fields(state, a);
  (void)tsanom_dpd_nest_save(a->nest, state->to, state->to ? SIZE_MAX : 0, &bytes);
  state->used += bytes;
  if (state->to) state->to += bytes;
}

tsanom_status tsanom_speedup_save(const tsanom_speedup *analyzer, void *state,
                                  size_t capacity, size_t *bytes) {
  if (!analyzer || !bytes || (!state && capacity)) return TSANOM_E_NULL;
  tsanom_speedup copy = *analyzer;
  return tsn_state_save(kind, save, &copy, state, capacity, bytes);
}

/* A median needs a time, and an insertion finds the oldest time among the sorted. */
static bool start_times(tsn_times *times) {
  uint64_t count = times->count;
  if (count < 1) return false;
  times->next = (uint32_t)(count % TSANOM_SPEEDUP_RECENT);
  uint64_t kept = count < TSANOM_SPEEDUP_RECENT ? count : TSANOM_SPEEDUP_RECENT;
  for (uint64_t i = 0; i < kept; i++) {
    if (!isfinite(times->seconds[i])) return false;
    times->count = i;
    tsn_times_insert(times, times->seconds[i]);
  }
  times->count = count;
  return true;
}

/* A loop with iterations has times with its current number of threads. */
static bool start_loop(tsn_loop *loop) {
  for (uint32_t i = 0; i < loop->thread_counts; i++) {
    if (!start_times(&loop->times[i])) return false;
  }
  return loop->iterations == 0 || tsn_loop_current(loop);
}

/* The current iteration of an active run is not longer than its period. */
static bool start(tsanom_speedup *a) {
  if (a->events > INT64_MAX) return false;
  for (size_t i = 0; i < a->loop_count; i++) {
    if (!start_loop(&a->loops[i])) return false;
  }
  for (size_t i = 0; i < a->live_count; i++) {
    const tsn_live *live = &a->live[i];
    if (live->period < 1 || live->period > a->options.max_period) return false;
    if (live->begun > a->events || a->events - live->begun > live->period) return false;
  }
  return true;
}

/* Restore the fields, then the nest in its place. */
static tsanom_status restore_fields(tsn_state *from, tsanom_speedup *a,
                                    const tsanom_exec *exec) {
  tsanom_exec isa_only;
  tsanom_exec_init(&isa_only, sizeof isa_only);
  isa_only.isa = exec->isa;
  memset(a->past, 0, (size_t)(a->past_mask + 1) * sizeof *a->past);
  exchange_fields(from, a);
  if (from->damaged || !start(a)) return TSANOM_E_FORMAT;
  return tsanom_dpd_nest_restore(a->nest_memory, a->nest_bytes, from->from, from->left,
                                 &isa_only, &a->nest);
}

/* Only the visitor is read. */
static tsanom_status read_options(const tsanom_speedup_options *caller,
                                  const tsanom_exec *exec, tsanom_speedup_options *own) {
  tsanom_speedup_options usual;
  tsanom_status status = tsn_speedup_options_read(own, caller, exec);
  if (status < 0) return status;
  (void)tsn_speedup_options_read(&usual, NULL, exec);
  const char *unused = own->max_period != usual.max_period ? "options.max_period"
                       : own->capacity != usual.capacity   ? "options.capacity"
                       : own->baseline != usual.baseline   ? "options.baseline"
                                                           : NULL;
  return unused ? tsn_reject(exec, TSANOM_E_OPTION, unused) : TSANOM_OK;
}

tsanom_status tsanom_speedup_restore(void *memory, size_t bytes, const void *state,
                                     size_t state_bytes,
                                     const tsanom_speedup_options *options,
                                     const tsanom_exec *exec, tsanom_speedup **analyzer) {
  tsanom_exec copy;
  tsn_state from;
  tsanom_speedup_options visitor, saved;
  tsanom_speedup *made = NULL;
  tsanom_status status =
      tsn_state_open(kind, state, state_bytes, exec, analyzer, "analyzer", &copy, &from);
  if (status < 0) return status;
  status = read_options(options, &copy, &visitor);
  if (status < 0) return status;
  exchange_options(&from, &saved);
  saved.visit = visitor.visit;
  saved.visit_user = visitor.visit_user;
  status = saved.struct_size == sizeof saved
               ? tsn_speedup_make(!memory, memory, bytes, &saved, &copy, &made)
               : TSANOM_E_OPTION;
  if (status < 0) return tsn_state_not_made(&copy, status);
  status = tsn_state_close(restore_fields(&from, made, &copy) >= 0, &copy, &made->owner);
  if (status >= 0) *analyzer = made;
  return status;
}
