/* SPDX-License-Identifier: BSD-3-Clause */
/* The rolling hash and its lists; dpd_ngram.h describes the idea.
 *
 *     head[hash bits]   number of the newest N-gram of a list
 *     place[number]     {number of the next older one, hash}, for the last max_period
 *
 * An N-gram is named by the number of its last event, so that the ring needs no free
 * list: a new entry overwrites the one of max_period events ago, which is too old to
 * matter, and links to it are recognized by their age. A table with open addressing,
 * which deletes and probes, took three times as long per event.
 *
 * Hash collisions cost time and never an answer: every candidate is compared with the
 * window (is_repeated()) before it becomes the period.
 *
 * Source: R. M. Karp and M. O. Rabin, IBM J. Res. Dev. 31 (1987) 249-260. */
#include "dpd/dpd_ngram.h"

#include <string.h>

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

/* Congruent to value, and less than 2^61 + value / 2^61. */
static inline uint64_t folded(wide value) {
  return ((uint64_t)value & prime) + (uint64_t)(value >> 61);
}

static inline uint64_t canonical(uint64_t value) {
  uint64_t once = folded(value);
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
    if (exponent & 1) result = canonical(folded((wide)result * square));
    square = canonical(folded((wide)square * square));
  }
  return result;
}

/* The least power of two >= least: an index into a ring is then one AND. */
static size_t power_of_two(size_t least) {
  size_t size = 1;
  while (size < least) size *= 2;
  return size;
}

void tsn_history_layout(tsn_arena *arena, size_t events, tsn_history *history) {
  size_t size = power_of_two(events);
  history->event = tsn_arena_take(arena, size, sizeof *history->event);
  history->mask = size - 1;
  history->count = 0;
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
  size_t size = (size_t)history->mask + 1;
  size_t events = history->count < size ? (size_t)history->count : size;
  tsn_state_field(state, history->event, events * sizeof *history->event);
  if (state->from) {
    memset(history->event + events, 0, (size - events) * sizeof *history->event);
  }
}

/* Lists per valid entry: about one list in five contains an N-gram. */
enum { LISTS = 4 };

void tsn_ngram_layout(tsn_arena *arena, size_t max_period, tsn_ngram *ngram) {
  size_t places = power_of_two(max_period);
  ngram->head_mask = LISTS * places - 1;
  ngram->head = tsn_arena_take(arena, LISTS * places, sizeof *ngram->head);
  ngram->place_mask = places - 1;
  ngram->place = tsn_arena_take(arena, places, sizeof *ngram->place);
}

/* The hash after an event with residue `entering`; if the window is full, the event
 * `leaving` leaves it. */
static inline uint64_t rolled(const tsn_ngram *ngram, uint64_t hash, uint64_t entering,
                              uint64_t leaving, bool full) {
  uint64_t change = entering;
  if (full) change += folded((wide)residue(leaving) * ngram->leaving);
  return folded((wide)hash * base) + change;
}

/* Move the window to the event `number`. */
static inline void roll(tsn_ngram *ngram, const tsn_history *history, uint64_t number,
                        uint64_t entering, bool full) {
  ngram->hash = rolled(ngram, ngram->hash, entering,
                       tsn_history_at(history, number - ngram->window), full);
  ngram->hashed = number + 1;
}

static inline uint32_t *list_of(const tsn_ngram *ngram, uint64_t hash) {
  return &ngram->head[(hash >> 32) & ngram->head_mask];
}

/* Distance from `now` to the previous end of the same N-gram, if at most max_period, else
 * 0. Lists are sorted newest first: the search ends at the first entry that is too old,
 * whose successors may have been overwritten. */
NOT_INLINE uint32_t distance_back(const tsn_ngram *ngram, uint32_t number, uint32_t now,
                                  uint32_t mark) {
  for (;;) {
    uint32_t back = now - number;
    if (back > ngram->max_period) return 0;
    tsn_ngram_place place = ngram->place[number & ngram->place_mask];
    if (place.hash == mark) return back;
    number = place.older;
  }
}

/* Insert the N-gram that ends at `number`. Returns the distance to its previous end, or
 * 0. Whether a list is empty is unpredictable. The common cases, that the newest entry is
 * too old or is another N-gram without a valid successor, share one predictable branch.
 */
static inline uint32_t note(tsn_ngram *ngram, uint64_t hash, uint64_t number) {
  uint32_t now = (uint32_t)number, mark = (uint32_t)hash;
  uint32_t *head = list_of(ngram, hash), newest = *head;
  tsn_ngram_place place = ngram->place[newest & ngram->place_mask];
  uint32_t first = now - newest;
  uint32_t second = place.hash == mark ? 0 : now - place.older;
  uint32_t nearest = first > second ? first : second;
  uint32_t back = 0;
  if (nearest <= ngram->max_period) back = distance_back(ngram, newest, now, mark);
  ngram->place[now & ngram->place_mask] = (tsn_ngram_place){newest, mark};
  *head = now;
  return back;
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

/* Distance to the next older window with this hash, before the one `back` events ago. The
 * entry of a window max_period ago may have been overwritten by the newest one. */
static uint32_t further_back(const tsn_ngram *ngram, uint32_t now, uint32_t back,
                             uint32_t mark) {
  if (back == ngram->max_period) return 0;
  uint32_t older = ngram->place[(now - back) & ngram->place_mask].older;
  return distance_back(ngram, older, now, mark);
}

/* The most recent window with the same hash ended `back` events ago. Find the first such
 * window that is equal; the others are hash collisions. */
NOT_INLINE void confirm(tsn_ngram *ngram, const tsn_history *history, uint64_t hash,
                        uint32_t back) {
  uint32_t newest = (uint32_t)(history->count - 1);
  while (back && !is_repeated(ngram, history, back)) {
    back = further_back(ngram, newest, back, (uint32_t)hash);
  }
  if (!back) return;
  ngram->period = back;
  ngram->locked = history->count;
}

/* Insert the newest window and check whether it was seen before. */
static inline void look_for_period(tsn_ngram *ngram, const tsn_history *history,
                                   uint64_t hash) {
  uint32_t back = note(ngram, hash, history->count - 1);
  if (back) confirm(ngram, history, hash, back);
}

/* Numbers are stored in 32 bits: the lists are cleared before these wrap around. */
static const uint64_t events_between_wipes = UINT64_C(1) << 31;

/* Lists are empty if their heads are too old: one more than max_period before the first
 * event. The windows of the history are then inserted as if they had just arrived; only
 * the newest can report a period, because the older ones are past. */
void tsn_ngram_start(tsn_ngram *ngram, const tsn_history *history, size_t window,
                     size_t max_period) {
  uint64_t known = (uint64_t)window + max_period;
  uint64_t first = history->count > known ? history->count - known : 0;
  ngram->window = window;
  ngram->max_period = (uint32_t)max_period;
  ngram->leaving = prime - power(window);
  ngram->hash = 0;
  ngram->period = 0;
  ngram->hashed = ngram->wiped = first;
  for (uint64_t k = 0; k <= ngram->head_mask; k++) {
    ngram->head[k] = (uint32_t)(first - max_period - 1);
  }
  memset(ngram->place, 0, (ngram->place_mask + 1) * sizeof *ngram->place);
  for (uint64_t number = first; number < history->count; number++) {
    roll(ngram, history, number, residue_at(history, number), number - first >= window);
    if (number - first + 1 < window) continue;
    if (number + 1 < history->count) {
      note(ngram, canonical(ngram->hash), number);
    } else {
      look_for_period(ngram, history, canonical(ngram->hash));
    }
  }
}

/* The period is lost: bring hash and lists up to the event before the newest. While the
 * period held, the windows repeated with it. So the last computed hash is also that of a
 * window less than two periods ago, and only the entries of the last period can still be
 * searched. */
static void catch_up(tsn_ngram *ngram, const tsn_history *history) {
  uint64_t newest = history->count - 1, period = ngram->period;
  uint64_t skipped = newest - ngram->hashed;
  uint64_t noted = skipped < period ? skipped : period;
  uint64_t number = newest - noted - (skipped - noted) % period;
  for (; number < newest; number++) {
    roll(ngram, history, number, residue_at(history, number), true);
    if (number >= newest - noted) note(ngram, canonical(ngram->hash), number);
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
  roll(ngram, history, newest, entering, newest >= ngram->window);
  if (newest + 1 >= ngram->window) {
    look_for_period(ngram, history, canonical(ngram->hash));
  }
}

void tsn_ngram_push(tsn_ngram *ngram, const tsn_history *history) {
  push(ngram, history, residue_at(history, history->count - 1));
}

void tsn_ngram_push_bank(tsn_ngram *bank, size_t count, const tsn_history *history) {
  uint64_t entering = residue_at(history, history->count - 1);
  for (size_t i = 0; i < count; i++) push(&bank[i], history, entering);
}

/* Hashes computed ahead: enough to hide the latency of the last-level cache. */
enum { AHEAD = 32 };

/* Compute the hashes of the windows that end at the next events and prefetch their
 * lists. */
static void look_ahead(const tsn_ngram *ngram, const tsn_history *history,
                       const uint64_t *next, size_t count, uint64_t *ahead) {
  uint64_t hash = ngram->hash;
  for (size_t i = 0; i < count; i++) {
    uint64_t leaving = tsn_history_at(history, history->count + i - ngram->window);
    hash = rolled(ngram, hash, residue(next[i]), leaving, true);
    ahead[i] = canonical(hash);
    __builtin_prefetch(list_of(ngram, ahead[i]), 1);
  }
}

/* At most `window` events at a time: the event that leaves the window with the i-th of
 * them must be in the history already. With the lists prefetched, an event of a stream
 * without a period takes 5.4 to 6.9 ns at windows from 100 to 65536 (docs/dpd.md,
 * "Cost"). */
size_t tsn_ngram_seek(tsn_ngram *ngram, tsn_history *history, const uint64_t *next,
                      size_t count) {
  uint64_t first = history->count;
  if (ngram->period || first < ngram->window ||
      first - ngram->wiped > events_between_wipes - AHEAD) {
    return 0;
  }
  if (count > AHEAD) count = AHEAD;
  if (count > ngram->window) count = ngram->window;
  uint64_t ahead[AHEAD];
  look_ahead(ngram, history, next, count, ahead);
  size_t taken = 0;
  while (taken < count && !ngram->period) {
    tsn_history_push(history, next[taken]);
    look_for_period(ngram, history, ahead[taken++]);
  }
  if (taken) ngram->hash = ahead[taken - 1];
  ngram->hashed = history->count;
  return taken;
}
