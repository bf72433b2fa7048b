/* SPDX-License-Identifier: BSD-3-Clause */
/* The last events of a stream, in a ring of any size: a power of two would take up to
 * twice the memory.
 *
 *     event[]   | origin | origin + 1 | ... | count - 1 | count - size | ... | origin - 1
 * | |               this lap                |         the lap before         | */
#ifndef TSN_DPD_HISTORY_H
#define TSN_DPD_HISTORY_H

#include "core/arena.h"
#include "core/state.h"

typedef struct {
  uint64_t *event;
  uint64_t size;
  uint64_t count;  /* events pushed so far: the newest has number count - 1 */
  uint64_t origin; /* number of event[0], a multiple of size; at most count */
} tsn_history;

/* The place of event `number`, count - size <= number <= count. Numbers below 0, modulo
 * 2^64, have places too, of events that were never pushed. */
static inline uint64_t *tsn_history_place(const tsn_history *history, uint64_t number) {
  uint64_t place = number - history->origin;
  return &history->event[place < history->size ? place : place + history->size];
}

static inline uint64_t tsn_history_at(const tsn_history *history, uint64_t number) {
  return *tsn_history_place(history, number);
}

/* `added` more events have been written after the newest one, in this lap. */
static inline void tsn_history_advance(tsn_history *history, uint64_t added) {
  history->count += added;
  if (history->count - history->origin == history->size) history->origin = history->count;
}

static inline void tsn_history_push(tsn_history *history, uint64_t event) {
  history->event[history->count - history->origin] = event;
  tsn_history_advance(history, 1);
}

/* The next `count` events if the period continues. */
void tsn_history_continue(const tsn_history *history, uint64_t period, uint64_t *events,
                          size_t count);

/* Capacity for `size` events. */
void tsn_history_layout(tsn_arena *arena, size_t size, tsn_history *history);

/* Save or restore the events. */
void tsn_history_exchange(tsn_state *state, tsn_history *history);

#endif
