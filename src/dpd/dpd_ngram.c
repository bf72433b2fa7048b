/* SPDX-License-Identifier: BSD-3-Clause */
/* The rolling hash; dpd_ngram.h describes the idea.
 *
 * Hash collisions cost time and never an answer: the events of every candidate are
 * compared.
 *
 * Source: R. M. Karp and M. O. Rabin, IBM J. Res. Dev. 31 (1987) 249-260. */
#include "dpd/dpd_ngram.h"

/* Hashes are polynomials in a fixed base modulo the prime 2^61 - 1. They are reduced to
 * canonical form only for comparison. With a base below 2^58, the dependency from event
 * to event is one product, folded once: a hash h contributes at most h / 8 to the next
 * one, and the events add less than 2^63, so that hashes stay below 8/7·2^63. */
static const uint64_t prime = TSN_NGRAM_PRIME;
static const uint64_t base = TSN_NGRAM_BASE;

__extension__ typedef unsigned __int128 wide;

/* Rare paths are not inlined, so that they take no registers from the loop over events:
 * 5.4 ns instead of 6.3 for an event without a period at N = 100, and 50 ns instead of 60
 * for a nest of 8 windows (2-core Xeon). */
#define NOT_INLINE static __attribute__((noinline))

/* Congruent to a·b, and less than 2^61 + a·b / 2^61, for b < 2^61. A product with 8·b has
 * the bits from 61 on in its upper half: a shift of both halves would take longer. */
static inline uint64_t product(uint64_t a, uint64_t b) {
  wide shifted = (wide)a * (8 * b);
  return ((uint64_t)shifted >> 3) + (uint64_t)(shifted >> 64);
}

static inline uint64_t canonical(uint64_t value) {
  uint64_t once = (value & prime) + (value >> 61);
  return once >= prime ? once - prime : once;
}

/* Spread the identifiers over 61 bits: small integers differ in few bits. */
static inline uint64_t residue(uint64_t event) {
  return (event * TSN_NGRAM_SPREAD) >> 3;
}

static inline uint64_t residue_at(const tsn_history *history, uint64_t number) {
  return residue(tsn_history_at(history, number));
}

/* base^exponent by repeated squaring. */
static uint64_t power(uint64_t exponent) {
  uint64_t result = 1, square = base;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = canonical(product(result, square));
    square = canonical(product(square, square));
  }
  return result;
}

/* The hash of the next L-gram. The sum `change` of what enters and leaves comes first:
 * from hash to hash there is one product and one addition. */
static inline uint64_t rolled(uint64_t hash, uint64_t change) {
  return product(hash, base) + change;
}

/* The change of the hash by an event that leaves the L-gram. */
static inline uint64_t left(const tsn_ngram *ngram, uint64_t event) {
  return product(residue(event), ngram->leaving);
}

/* Move the L-gram to the event `number`; `leaving`: of the event that leaves it, or 0. */
static inline void roll(tsn_ngram *ngram, uint64_t number, uint64_t entering,
                        uint64_t leaving) {
  ngram->hash = rolled(ngram->hash, entering + leaving);
  ngram->hashed = number + 1;
}

static inline uint64_t stride(const tsn_ngram *ngram) {
  return UINT64_C(1) << ngram->shift;
}

/* The smallest stride at which the table has capacity for a period. */
static uint32_t shift_of(size_t max_period, size_t entries) {
  uint32_t shift = 0;
  while ((max_period - 1) >> shift >= entries) shift++;
  return shift;
}

void tsn_ngram_layout(tsn_arena *arena, size_t max_period, size_t entries,
                      tsn_ngram *ngram) {
  ngram->entries = entries;
  tsn_lists_layout(arena, max_period < entries ? max_period : entries, &ngram->lists);
  size_t most_far = (size_t)1 << shift_of(max_period, entries);
  tsn_candidates_layout(arena, most_far, &ngram->candidates);
}

/* The number in the table of the first event from this one on that has one. */
static inline uint64_t entry_from(uint64_t number, uint32_t shift) {
  return (number + (UINT64_C(1) << shift) - 1) >> shift;
}

static inline void insert(tsn_ngram *ngram, uint64_t hash, uint64_t number,
                          uint32_t shift) {
  uint64_t entry = entry_from(number, shift);
  if (entry << shift == number) tsn_lists_insert(&ngram->lists, hash, entry);
}

/* Add the delays from event `number` back to equal L-grams, from the smallest on. */
static void add_candidates(tsn_ngram *ngram, const tsn_history *history, uint64_t hash,
                           uint64_t number) {
  tsn_candidates *candidates = &ngram->candidates;
  uint64_t entry = entry_from(number, ngram->shift);
  uint64_t ahead = (entry << ngram->shift) - number;
  uint32_t back = 0;
  while ((back = tsn_lists_distance(&ngram->lists, hash, entry, back))) {
    uint64_t delay = ((uint64_t)back << ngram->shift) - ahead;
    if (delay > ngram->max_period) return;
    tsn_candidates_add(candidates, history, delay);
    if (candidates->near.delay && ngram->max_period <= ngram->length) return;
  }
}

/* The smallest period of the newest events is the period. */
static void choose(tsn_ngram *ngram, const tsn_history *history) {
  ngram->period = tsn_candidates_period(&ngram->candidates, history->count);
  if (!ngram->period) return;
  ngram->locked = history->count;
  ngram->examined = ngram->window;
}

/* There are candidates, or the L-gram may have been seen before. */
NOT_INLINE void decide(tsn_ngram *ngram, const tsn_history *history, uint64_t hash) {
  tsn_candidates_follow(&ngram->candidates, history);
  add_candidates(ngram, history, hash, history->count - 1);
  choose(ngram, history);
}

/* Insert the newest L-gram and check whether it was seen before. Where `shift` is the
 * constant 0, an event takes 0.5 ns less; a candidate then was a period at once. */
static inline void look_for_period(tsn_ngram *ngram, const tsn_history *history,
                                   uint64_t hash, uint32_t shift) {
  uint64_t newest = history->count - 1;
  if (tsn_lists_may_contain(&ngram->lists, hash, entry_from(newest, shift)) ||
      (shift && tsn_candidates_any(&ngram->candidates))) {
    decide(ngram, history, hash);
  }
  insert(ngram, hash, newest, shift);
}

NOT_INLINE void look_in_sample(tsn_ngram *ngram, const tsn_history *history,
                               uint64_t hash) {
  look_for_period(ngram, history, hash, ngram->shift);
}

/* Insert a past L-gram. A candidate found at the last events may still be one. */
static void insert_past(tsn_ngram *ngram, const tsn_history *history, uint64_t number) {
  uint64_t hash = canonical(ngram->hash);
  if (number + stride(ngram) >= history->count) {
    add_candidates(ngram, history, hash, number);
  }
  insert(ngram, hash, number, ngram->shift);
}

/* Lists store numbers in 32 bits: they are cleared before these wrap around. */
static const uint64_t events_between_wipes = UINT64_C(1) << 31;

/* The L-grams of the history are inserted as if they had just arrived; only the newest
 * events can report a period, because the older ones are past. */
void tsn_ngram_start(tsn_ngram *ngram, const tsn_history *history, size_t window,
                     size_t max_period) {
  uint64_t known = (uint64_t)window + max_period;
  uint64_t first = history->count > known ? history->count - known : 0;
  ngram->shift = shift_of(max_period, ngram->entries);
  ngram->length = window - (size_t)stride(ngram) + 1;
  ngram->window = window;
  ngram->max_period = max_period;
  ngram->leaving = prime - power(ngram->length);
  ngram->hash = 0;
  ngram->period = 0;
  ngram->hashed = ngram->wiped = first;
  tsn_lists_clear(&ngram->lists, first >> ngram->shift,
                  entry_from(max_period, ngram->shift));
  tsn_candidates_clear(&ngram->candidates, window, ngram->length);
  for (uint64_t number = first; number < history->count; number++) {
    bool full = number - first >= ngram->length;
    roll(ngram, number, residue_at(history, number),
         full ? left(ngram, tsn_history_at(history, number - ngram->length)) : 0);
    if (number - first + 1 >= ngram->length) insert_past(ngram, history, number);
  }
  choose(ngram, history);
}

/* An event of the period; it equals the one a period later if the history no longer
 * contains it. */
static uint64_t repeated_at(const tsn_history *history, uint64_t number,
                            uint64_t period) {
  bool kept = number + history->size >= history->count;
  return tsn_history_at(history, kept ? number : number + period);
}

/* The period is lost: bring hash and table up to the event before the newest. While the
 * period held, the L-grams repeated with it. So the last computed hash is also that of an
 * L-gram less than two periods ago, and only the entries of the last period, and of s - 1
 * events before, can still be searched. */
static void catch_up(tsn_ngram *ngram, const tsn_history *history) {
  uint64_t newest = history->count - 1, period = ngram->period;
  uint64_t skipped = newest - ngram->hashed, most = period + stride(ngram) - 1;
  uint64_t noted = skipped < most ? skipped : most;
  uint64_t number = newest - noted - (skipped - noted) % period;
  tsn_candidates_verify(&ngram->candidates, history);
  for (; number < newest; number++) {
    uint64_t leaving = repeated_at(history, number - ngram->length, period);
    uint64_t entering = repeated_at(history, number, period);
    roll(ngram, number, residue(entering), left(ngram, leaving));
    if (number >= newest - noted) insert_past(ngram, history, number);
  }
}

/* The period no longer holds. */
NOT_INLINE void unlock(tsn_ngram *ngram, const tsn_history *history) {
  if (history->count - 1 - ngram->wiped < events_between_wipes) {
    catch_up(ngram, history);
  }
  ngram->period = 0;
}

/* The common case first: while a period holds, a comparison and no hash. */
static inline void push(tsn_ngram *ngram, const tsn_history *history, uint64_t entering) {
  uint64_t newest = history->count - 1;
  if (ngram->period) {
    uint64_t before = tsn_history_at(history, newest - ngram->period);
    if (tsn_history_at(history, newest) == before) return;
    unlock(ngram, history);
  }
  if (newest - ngram->wiped >= events_between_wipes) {
    tsn_ngram_start(ngram, history, ngram->window, ngram->max_period);
    return;
  }
  size_t length = ngram->length;
  bool full = newest >= length;
  roll(ngram, newest, entering,
       full ? left(ngram, tsn_history_at(history, newest - length)) : 0);
  if (newest + 1 >= length) {
    uint64_t hash = canonical(ngram->hash);
    if (ngram->shift) {
      look_in_sample(ngram, history, hash);
    } else {
      look_for_period(ngram, history, hash, 0);
    }
  }
}

void tsn_ngram_push_bank(tsn_ngram *bank, size_t count, const tsn_history *history) {
  uint64_t entering = residue_at(history, history->count - 1);
  for (size_t i = 0; i < count; i++) push(&bank[i], history, entering);
}

/* Hashes computed ahead, in a loop whose only chain is one product an event. Without it an
 * event without a period takes 1.8 to 1.9 times as long (AMD EPYC Zen 4). */
enum { AHEAD = 64 };

/* Compute the hashes of the L-grams that end at the next events. */
static void look_ahead(const tsn_ngram *ngram, const tsn_history *history,
                       const uint64_t *next, size_t count, uint64_t *ahead) {
  uint64_t hash = ngram->hash, first = history->count - ngram->length;
  for (size_t i = 0; i < count; i++) {
    uint64_t leaving = tsn_history_at(history, first + i);
    hash = rolled(hash, residue(next[i]) + left(ngram, leaving));
    ahead[i] = canonical(hash);
  }
}

static inline size_t seek(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                          size_t count, const uint64_t *ahead, uint32_t shift) {
  size_t taken = 0;
  while (taken < count && !ngram->period) {
    tsn_history_push(history, next[taken]);
    look_for_period(ngram, history, ahead[taken++], shift);
  }
  return taken;
}

/* At most `length` events at a time: the event that leaves the L-gram with the i-th of
 * them must be in the history already. */
size_t tsn_ngram_seek(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                      size_t count) {
  size_t length = ngram->length;
  if (ngram->period || history->count < length ||
      history->count - ngram->wiped > events_between_wipes - AHEAD) {
    return 0;
  }
  if (count > AHEAD) count = AHEAD;
  if (count > length) count = length;
  if (count == 0) return 0;
  uint64_t ahead[AHEAD];
  look_ahead(ngram, history, next, count, ahead);
  size_t taken = ngram->shift ? seek(ngram, history, next, count, ahead, ngram->shift)
                              : seek(ngram, history, next, count, ahead, 0);
  ngram->hash = ahead[taken - 1];
  ngram->hashed = history->count;
  return taken;
}
