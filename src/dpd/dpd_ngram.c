/* SPDX-License-Identifier: BSD-3-Clause */
/* The rolling hash; dpd_ngram.h describes the idea.
 *
 * Hash collisions cost time and never an answer: every candidate is compared with the
 * window (is_repeated()) before it becomes the period.
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
 * for a nest of 8 windows (same machine as the tables of docs/dpd.md). */
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

/* The hash of the next window. The sum `change` of what enters and leaves comes first:
 * from hash to hash there is one product and one addition. */
static inline uint64_t rolled(uint64_t hash, uint64_t change) {
  return product(hash, base) + change;
}

/* The change of the hash by an event that leaves the window. */
static inline uint64_t left(const tsn_ngram *ngram, uint64_t event) {
  return product(residue(event), ngram->leaving);
}

/* Move the window to the event `number`; `leaving`: of the event that leaves it, or 0. */
static inline void roll(tsn_ngram *ngram, uint64_t number, uint64_t entering,
                        uint64_t leaving) {
  ngram->hash = rolled(ngram->hash, entering + leaving);
  ngram->hashed = number + 1;
}

/* Whether the window equals the one `delay` events before: d(delay) = 0. */
static bool is_repeated(const tsn_ngram *ngram, const tsn_history *history,
                        uint64_t delay) {
  uint64_t newest = history->count - 1;
  for (uint64_t i = 0; i < ngram->window; i++) {
    if (tsn_history_at(history, newest - i) !=
        tsn_history_at(history, newest - i - delay)) {
      return false;
    }
  }
  return true;
}

/* The longest period in lists: they take 0.4 MB. An event without a period takes 5.8 ns
 * in lists and 7.5 in buckets at 2^10, 8.3 and 8.1 at 2^16, 11.1 and 8.6 at 2^17 (Zen 5,
 * 1 MB of second-level cache). */
enum { LISTS_MOST = 1 << 14 };

void tsn_ngram_layout(tsn_arena *arena, size_t max_period, tsn_ngram *ngram) {
  ngram->in_lists = max_period <= LISTS_MOST;
  if (ngram->in_lists) {
    tsn_lists_layout(arena, max_period, &ngram->lists);
  } else {
    tsn_ends_layout(arena, max_period, &ngram->ends);
  }
}

static void clear(tsn_ngram *ngram, uint64_t number) {
  if (ngram->in_lists) {
    tsn_lists_clear(&ngram->lists, number, ngram->max_period);
  } else {
    tsn_ends_clear(&ngram->ends, number, ngram->max_period);
  }
}

static void insert(tsn_ngram *ngram, uint64_t hash, uint64_t number) {
  if (ngram->in_lists) {
    tsn_lists_insert(&ngram->lists, hash, number);
  } else {
    tsn_ends_insert(&ngram->ends, hash, number);
  }
}

/* The window may have been seen before. Find the most recent equal one; others are
 * collisions. */
NOT_INLINE void confirm(tsn_ngram *ngram, const tsn_history *history, uint64_t hash) {
  uint64_t newest = history->count - 1;
  uint32_t back = 0;
  do {
    back = ngram->in_lists ? tsn_lists_distance(&ngram->lists, hash, newest, back)
                           : tsn_ends_distance(&ngram->ends, hash, newest, back);
    if (!back) return;
  } while (!is_repeated(ngram, history, back));
  ngram->period = back;
  ngram->locked = history->count;
}

static inline void look_in_lists(tsn_ngram *ngram, const tsn_history *history,
                                 uint64_t hash) {
  uint64_t newest = history->count - 1;
  if (tsn_lists_may_contain(&ngram->lists, hash, newest)) confirm(ngram, history, hash);
  tsn_lists_insert(&ngram->lists, hash, newest);
}

/* Insert the newest window and check whether it was seen before. */
static inline void look_for_period(tsn_ngram *ngram, const tsn_history *history,
                                   uint64_t hash) {
  uint64_t newest = history->count - 1;
  if (ngram->in_lists) {
    look_in_lists(ngram, history, hash);
  } else if (!ngram->kernels->insert_new(&ngram->ends, &hash, 1, newest)) {
    confirm(ngram, history, hash);
    tsn_ends_insert(&ngram->ends, hash, newest);
  }
}

/* Lists store numbers in 32 bits: they are cleared before these wrap around. */
static const uint64_t events_between_wipes = UINT64_C(1) << 31;

/* The windows of the history are inserted as if they had just arrived; only the newest
 * can report a period, because the older ones are past. */
void tsn_ngram_start(tsn_ngram *ngram, const tsn_history *history, size_t window,
                     size_t max_period) {
  uint64_t known = (uint64_t)window + max_period;
  uint64_t first = history->count > known ? history->count - known : 0;
  ngram->window = window;
  ngram->max_period = max_period;
  ngram->leaving = prime - power(window);
  ngram->hash = 0;
  ngram->period = 0;
  ngram->hashed = ngram->wiped = first;
  clear(ngram, first + window - 1);
  for (uint64_t number = first; number < history->count; number++) {
    bool full = number - first >= window;
    roll(ngram, number, residue_at(history, number),
         full ? left(ngram, tsn_history_at(history, number - window)) : 0);
    if (number - first + 1 < window) continue;
    if (number + 1 < history->count) {
      insert(ngram, canonical(ngram->hash), number);
    } else {
      look_for_period(ngram, history, canonical(ngram->hash));
    }
  }
}

/* The period is lost: bring hash and table up to the event before the newest. While the
 * period held, the windows repeated with it. So the last computed hash is also that of a
 * window less than two periods ago, and only the entries of the last period can still be
 * searched. The event that leaves such a window equals the one a period later, which the
 * history still contains. */
static void catch_up(tsn_ngram *ngram, const tsn_history *history) {
  uint64_t newest = history->count - 1, period = ngram->period;
  uint64_t skipped = newest - ngram->hashed;
  uint64_t noted = skipped < period ? skipped : period;
  uint64_t number = newest - noted - (skipped - noted) % period;
  for (; number < newest; number++) {
    uint64_t leaving = tsn_history_at(history, number - ngram->window + period);
    roll(ngram, number, residue_at(history, number), left(ngram, leaving));
    if (number >= newest - noted) {
      insert(ngram, canonical(ngram->hash), number);
    }
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
  bool full = newest >= ngram->window;
  roll(ngram, newest, entering,
       full ? left(ngram, tsn_history_at(history, newest - ngram->window)) : 0);
  if (newest + 1 >= ngram->window) {
    look_for_period(ngram, history, canonical(ngram->hash));
  }
}

void tsn_ngram_push_bank(tsn_ngram *bank, size_t count, const tsn_history *history) {
  uint64_t entering = residue_at(history, history->count - 1);
  for (size_t i = 0; i < count; i++) push(&bank[i], history, entering);
}

/* Hashes computed ahead: enough to hide the latency of the last-level cache. */
enum { AHEAD = TSN_ENDS_AT_ONCE };

/* Compute the hashes of the windows that end at the next events and prefetch their
 * lists or buckets. */
static void look_ahead(const tsn_ngram *ngram, const tsn_history *history,
                       const uint64_t *next, size_t count, uint64_t *ahead) {
  uint64_t hash = ngram->hash;
  for (size_t i = 0; i < count; i++) {
    uint64_t leaving = tsn_history_at(history, history->count + i - ngram->window);
    hash = rolled(hash, residue(next[i]) + left(ngram, leaving));
    ahead[i] = canonical(hash);
    if (ngram->in_lists) {
      __builtin_prefetch(tsn_lists_head(&ngram->lists, ahead[i]), 1);
    } else {
      __builtin_prefetch(tsn_ends_bucket_of(&ngram->ends, ahead[i]), 1);
    }
  }
}

static size_t seek_in_lists(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                            size_t count, const uint64_t *ahead) {
  size_t taken = 0;
  while (taken < count && !ngram->period) {
    tsn_history_push(history, next[taken]);
    look_in_lists(ngram, history, ahead[taken++]);
  }
  return taken;
}

/* All windows are new but the last, which need not be. */
static size_t seek_in_buckets(tsn_ngram *ngram, tsn_history *history,
                              const uint64_t *next, size_t count, const uint64_t *ahead) {
  size_t taken = ngram->kernels->insert_new(&ngram->ends, ahead, count, history->count);
  tsn_history_append(history, next, taken < count ? taken + 1 : taken);
  if (taken < count) {
    confirm(ngram, history, ahead[taken]);
    tsn_ends_insert(&ngram->ends, ahead[taken++], history->count - 1);
  }
  return taken;
}

/* At most `window` events at a time: the event that leaves the window with the i-th of
 * them must be in the history already. */
size_t tsn_ngram_seek(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                      size_t count) {
  if (ngram->period || history->count < ngram->window ||
      history->count - ngram->wiped > events_between_wipes - AHEAD) {
    return 0;
  }
  if (count > AHEAD) count = AHEAD;
  if (count > ngram->window) count = ngram->window;
  if (count == 0) return 0;
  uint64_t ahead[AHEAD];
  look_ahead(ngram, history, next, count, ahead);
  size_t taken = ngram->in_lists ? seek_in_lists(ngram, history, next, count, ahead)
                                 : seek_in_buckets(ngram, history, next, count, ahead);
  ngram->hash = ahead[taken - 1];
  ngram->hashed = history->count;
  return taken;
}
