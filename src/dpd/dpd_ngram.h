/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest m with d(m) = 0 of a stream of events (eq. 2), in expected O(1) per event.
 *
 * d(m) = 0 means that the last N events equal the N events m before. The smallest such m
 * is the distance to the previous occurrence of the current N-gram:
 *
 *   ... a b c d | a b c d | a b c d        N = 4: the N-gram "a b c d" ended 4 events ago
 *                 \_____/   \_____/
 *
 * A Karp-Rabin hash of the N-gram is updated per event, and looked up in a table of the
 * last M of them (tsn_lists).
 *
 * For M above 4096 this table would take up to 48 bytes per event, and a cache miss. So
 * only one N-gram in s is inserted, so that the table has at most 4096 entries, and those
 * hashed are shorter, L = N - s + 1 events. Of the s L-grams in two equal N-grams, one
 * was inserted for the earlier:
 *
 *     inserted, s = 4   |       |       |       |       |       |       |       |
 *     earlier N-gram                [===================]
 *                                      ^ the first L-gram in it that ends at a |
 *     now                                                   [===================]
 *
 * So every m with d(m) = 0 was found at the last event or one of the s - 1 before. Until
 * d(m) = 0 it is a candidate (tsn_candidates). For s = 1, every candidate is a period.
 *
 * While a period p is known, d(p) = 0 as long as x[t] = x[t-p], and no smaller m can
 * become a zero: by Fine and Wilf (Proc. AMS 16 (1965) 109-114) the window would have had
 * the period gcd(m, p) already, because N >= p. So a locked stream costs one comparison
 * per event. Hash and table are brought up to date when the period is lost, in at most
 * 2p steps. */
#ifndef TSN_DPD_NGRAM_H
#define TSN_DPD_NGRAM_H

#include "core/arena.h"
#include "core/state.h"

/* The last events of a stream, in a ring of any size: a power of two would take up to
 * twice the memory.
 *
 *     event[]   | origin | origin + 1 | ... | count - 1 | count - size | ... | origin - 1 |
 *               |               this lap                |         the lap before         | */
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

/* The hash of the window x[0], ..., x[N-1] is the sum of r(x[i]) BASE^(N-1-i) modulo
 * PRIME, where r(x) = (x SPREAD mod 2^64) / 8, rounded down. */
#define TSN_NGRAM_PRIME ((UINT64_C(1) << 61) - 1)
#define TSN_NGRAM_BASE UINT64_C(0x02F3C5D7E9B0D615)
#define TSN_NGRAM_SPREAD UINT64_C(0x9E3779B97F4A7C15)

/* Entries of a table at most: it takes 0.1 MB. With s = 1 always, it takes 24 to 48 bytes
 * per event, and an event of the row `event_large` (N = 1,000,000) 4.7 times as long (AMD
 * EPYC Zen 4). */
enum { TSN_NGRAM_ENTRIES = 1 << 12 };

/* An earlier N-gram: the number of the next older one in its list, and the low 32 bits of
 * its hash. Numbers are stored as their low 32 bits too. */
typedef struct {
  uint32_t older;
  uint32_t hash;
} tsn_lists_place;

typedef struct {
  uint32_t most; /* entries that are further back than this are too old */
  uint64_t head_mask;
  uint32_t *head;
  uint64_t place_mask;
  tsn_lists_place *place; /* by number */
} tsn_lists;

typedef struct {
  uint64_t delay; /* 0: none */
  uint64_t due;   /* count of events at which d(delay) becomes 0 */
} tsn_candidate;

typedef struct {
  size_t window; /* N */
  size_t length;
  tsn_candidate near; /* the smallest delay, if it is at most `length` */
  tsn_candidate *far; /* the larger ones, in any order */
  size_t far_count;
} tsn_candidates;

/* The fields that every event reads come first, in two cache lines. */
typedef struct {
  uint64_t period;   /* the smallest m <= max_period with d(m) = 0; 0: none */
  uint64_t hash;     /* of the L-gram that ends at `hashed`, not canonical */
  uint64_t leaving;  /* minus the weight of the event that leaves the L-gram */
  uint64_t hashed;   /* count up to which hash and table are valid */
  uint64_t wiped;    /* the table contains no event before this number */
  size_t length;     /* L */
  uint32_t shift;    /* the stride s is 2^shift */
  tsn_lists lists;   /* the number of an L-gram is that of its last event, over s */
  size_t window;     /* N */
  size_t max_period; /* M, at most window */
  size_t entries;    /* of the table, at most */
  uint64_t locked;   /* count at the event that found the period */
  uint64_t examined; /* events until then that were known to repeat: the window */
  tsn_candidates candidates;
} tsn_ngram;

/* The candidates of an N-gram detector, for tests of them alone: dpd_ngram.c. */
void tsn_candidates_layout(tsn_arena *arena, size_t stride, tsn_candidates *candidates);
void tsn_candidates_clear(tsn_candidates *candidates, size_t window, size_t length);
void tsn_candidates_add(tsn_candidates *candidates, const tsn_history *history,
                        uint64_t delay);
static inline bool tsn_candidates_any(const tsn_candidates *candidates) {
  return (candidates->near.delay | candidates->far_count) != 0;
}

/* Capacity for periods up to max_period; tsn_ngram_start() initializes it. `entries` is
 * TSN_NGRAM_ENTRIES, or another power of two from 2 on. */
void tsn_ngram_layout(tsn_arena *arena, size_t max_period, size_t entries,
                      tsn_ngram *ngram);

/* Start, or restart with another window, on the history, which must contain at least the
 * last window + max_period events, or all events; also later. */
void tsn_ngram_start(tsn_ngram *ngram, const tsn_history *history, size_t window,
                     size_t max_period);

/* Process the newest event of the history in each of `count` detectors; updates
 * ngram->period. */
void tsn_ngram_push_bank(tsn_ngram *bank, size_t count, const tsn_history *history);

/* Push the next events to the history and process them while there is no period. Returns
 * their number; the last of them may have found a period. It may return 0, if the next
 * event needs tsn_ngram_push_bank(). */
size_t tsn_ngram_seek(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                      size_t count);

#endif
