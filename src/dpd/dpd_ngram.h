/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest m with d(m) = 0 in events (eq. 2), in O(1) expected.
 *
 * d(m) = 0 says that the last N events equal the N events m before: the smallest
 * such m is the distance to the previous occurrence of the current N-gram. A
 * Karp-Rabin hash of the N-gram rolls along; a table of lists, newest first,
 * remembers where the last max_period N-grams were. Nothing is ever deleted: a
 * list ends at the first place that is too old.
 *
 * Once a period p is known, d(p) stays 0 as long as x[t] = x[t-p], and no
 * smaller m can join it: by Fine and Wilf (Proc. AMS 16 (1965) 109-114) its
 * stretch would have had the period gcd(m, p) already, since N >= p. So a locked
 * stream costs one comparison an event; what hash and tables missed is made up
 * when the lock is lost, in at most 2 p steps. */
#ifndef TSN_DPD_NGRAM_H
#define TSN_DPD_NGRAM_H

#include "core/arena.h"

/* The hash of the window x[0], ..., x[N-1] is the sum of r(x[i]) BASE^(N-1-i) modulo
 * PRIME, where r(x) = (x SPREAD mod 2^64) / 8, rounded down. */
#define TSN_NGRAM_PRIME ((UINT64_C(1) << 61) - 1)
#define TSN_NGRAM_BASE UINT64_C(0x02F3C5D7E9B0D615)
#define TSN_NGRAM_SPREAD UINT64_C(0x9E3779B97F4A7C15)

/* The last events of a stream; `mask` + 1 of them, a power of two. */
typedef struct {
  uint64_t *event;
  uint64_t mask;
  uint64_t count; /* events pushed so far: the newest is number count - 1 */
} tsn_history;

static inline uint64_t tsn_history_at(const tsn_history *history, uint64_t number) {
  return history->event[number & history->mask];
}

static inline void tsn_history_push(tsn_history *history, uint64_t event) {
  history->event[history->count++ & history->mask] = event;
}

/* The next `count` events, if those go on by the period. */
void tsn_history_continue(const tsn_history *history, uint64_t period, uint64_t *events,
                          size_t count);

/* Room for at least `events`. */
void tsn_history_layout(tsn_arena *arena, size_t events, tsn_history *history);

/* An N-gram that has been: the number of the one before it in its list, and the low
 * word of its hash. Numbers are low words too. */
typedef struct {
  uint32_t older;
  uint32_t hash;
} tsn_ngram_place;

typedef struct {
  size_t window;       /* N */
  uint32_t max_period; /* <= window */
  uint64_t period;     /* the smallest m <= max_period with d(m) = 0; 0: none */
  uint64_t locked;     /* count at the event that found it */
  uint64_t hashed;     /* count up to which hash and lists are right */
  uint64_t hash;       /* of the window that ends at `hashed`, not canonical */
  uint64_t leaving;    /* minus the weight of the event that leaves the window */
  uint64_t wiped;      /* number before which nothing is in the lists */
  uint64_t head_mask;
  uint32_t *head; /* the number of the newest N-gram of each list */
  uint64_t place_mask;
  tsn_ngram_place *place; /* by number */
} tsn_ngram;

/* Room for periods up to max_period; tsn_ngram_start() makes it ready. */
void tsn_ngram_layout(tsn_arena *arena, size_t max_period, tsn_ngram *ngram);

/* Begin, or begin again with another window, on what the history holds: at least
 * the last window + max_period events, or all there were. */
void tsn_ngram_start(tsn_ngram *ngram, const tsn_history *history, size_t window,
                     size_t max_period);

/* Take note of the newest event of the history; updates ngram->period. */
void tsn_ngram_push(tsn_ngram *ngram, const tsn_history *history);

/* The same for a bank of them. */
void tsn_ngram_push_bank(tsn_ngram *bank, size_t count, const tsn_history *history);

/* Push the next events on the history and take note of them, as long as there is no
 * period; how many it were, the last of which may have found one. Some are left to
 * tsn_ngram_push(): 0 is an answer. */
size_t tsn_ngram_seek(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                      size_t count);

#endif
