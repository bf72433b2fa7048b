/* SPDX-License-Identifier: BSD-3-Clause */
/* The last events of a stream, in a ring: event i is at index i modulo the size. */
#include "dpd/dpd_history.h"

#include <string.h>

void tsn_history_layout(tsn_arena *arena, size_t size, tsn_history *history) {
  history->event = tsn_arena_take(arena, size, sizeof *history->event);
  history->size = size;
  history->count = history->origin = 0;
}

void tsn_history_continue(const tsn_history *history, uint64_t period, uint64_t *events,
                          size_t count) {
  uint64_t from = history->count - period;
  for (size_t i = 0; i < count; i++) {
    events[i] = tsn_history_at(history, from + i % period);
  }
}

void tsn_history_exchange(tsn_state *state, tsn_history *history) {
  tsn_state_field(state, &history->count, sizeof history->count);
  size_t size = (size_t)history->size;
  size_t events = history->count < size ? (size_t)history->count : size;
  history->origin = history->count - history->count % size;
  tsn_state_field(state, history->event, events * sizeof *history->event);
  if (state->from) {
    memset(history->event + events, 0, (size - events) * sizeof *history->event);
  }
}
