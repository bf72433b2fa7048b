/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved state of an analyzer: its events, loops and active runs, then that of the
 * nest. Pointers to loops are saved as their indices; the sorted times follow from the
 * times. */
#include "core/state.h"

#include <math.h>
#include <string.h>

#include "speedup/speedup.h"

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

static void exchange(tsn_state *state, void *object) {
  tsanom_speedup *a = object;
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
    if (i < a->events) {
      exchange_event(state, &a->past[i]);
    } else if (state->from) {
      a->past[i] = (tsn_past_event){0};
    }
  }
  for (size_t i = 0; i < a->loop_count && !state->damaged; i++) {
    exchange_loop(state, &a->loops[i]);
  }
  for (size_t i = 0; i < a->live_count && !state->damaged; i++) {
    exchange_live(state, a, &a->live[i]);
  }
  tsn_state_exchange(state, a->nest);
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
static bool resume(void *object) {
  tsanom_speedup *a = object;
  if (a->events > INT64_MAX) return false;
  for (size_t i = 0; i < a->loop_count; i++) {
    if (!start_loop(&a->loops[i])) return false;
  }
  for (size_t i = 0; i < a->live_count; i++) {
    const tsn_live *live = &a->live[i];
    if (live->period < 1 || live->period > a->options.max_period) return false;
    if (live->begun > a->events || a->events - live->begun > live->period) return false;
  }
  return tsn_state_resume(a->nest);
}

/* The visitor and its argument, the last options, belong to the object. */
const tsn_saved tsn_speedup_saved = {
    .kind = UINT64_C(0x50554445455053), /* "SPEEDUP" */
    .options = offsetof(tsanom_speedup, options),
    .options_bytes = offsetof(tsanom_speedup_options, visit),
    .exchange = exchange,
    .resume = resume,
};
