/* SPDX-License-Identifier: BSD-3-Clause */
/* The history and the rolling hash; dpd_ngram.h describes the idea.
 *
 * Hash collisions cost time and never an answer: the events of every candidate are
 * compared.
 *
 * Source: R. M. Karp and M. O. Rabin, IBM J. Res. Dev. 31 (1987) 249-260. */
#include "dpd/dpd_ngram.h"

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

/* The newest N-grams of a table, in lists by hash, newest first. They have consecutive
 * numbers:
 *
 *     head[hash bits]   number of the newest N-gram of a list
 *     place[number]     {number of the next older one, hash}, for the last ones
 *
 * The ring needs no free list: a new entry overwrites one that is too old to matter, and
 * links to it are recognized by their age. An entry takes 24 to 48 bytes, and a look-up
 * two dependent loads, so that the table should fit the second-level cache. */

static inline uint32_t *lists_head(const tsn_lists *lists, uint64_t hash) {
  return &lists->head[(hash >> 32) & lists->head_mask];
}

/* Whether lists_distance() might find something. Whether a list is empty is
 * unpredictable. The common cases, that the newest entry is too old or is another N-gram
 * without a valid successor, share one predictable branch: by the newest entry alone, an
 * event without a period takes 1.4 to 1.5 times as long (AMD EPYC Zen 4). */
static inline bool lists_may_contain(const tsn_lists *lists, uint64_t hash,
                                     uint64_t now) {
  uint32_t newest = *lists_head(lists, hash);
  tsn_lists_place place = lists->place[newest & lists->place_mask];
  uint32_t first = (uint32_t)now - newest;
  uint32_t second = place.hash == (uint32_t)hash ? 0 : (uint32_t)now - place.older;
  return (first > second ? first : second) <= lists->most;
}

/* Insert the N-gram `now`. */
static inline void lists_insert(tsn_lists *lists, uint64_t hash, uint64_t now) {
  uint32_t *head = lists_head(lists, hash);
  lists->place[now & lists->place_mask] = (tsn_lists_place){*head, (uint32_t)hash};
  *head = (uint32_t)now;
}

/* Lists per valid entry: about one list in five contains an N-gram. */
enum { LISTS = 4 };

/* Capacity for the last `most` entries. */
static void lists_layout(tsn_arena *arena, size_t most, tsn_lists *lists) {
  size_t places = 1;
  while (places < most) places *= 2;
  lists->head_mask = LISTS * places - 1;
  lists->head = tsn_arena_take(arena, LISTS * places, sizeof *lists->head);
  lists->place_mask = places - 1;
  lists->place = tsn_arena_take(arena, places, sizeof *lists->place);
}

/* Lists are empty if their heads are too old. */
static void lists_clear(tsn_lists *lists, uint64_t number, size_t most) {
  lists->most = (uint32_t)most;
  for (uint64_t k = 0; k <= lists->head_mask; k++) {
    lists->head[k] = (uint32_t)(number - most - 1);
  }
  memset(lists->place, 0, (lists->place_mask + 1) * sizeof *lists->place);
}

/* The search ends at the first entry that is too old, whose successors may have been
 * overwritten. */
static uint32_t lists_distance(const tsn_lists *lists, uint64_t hash, uint64_t now,
                               uint32_t least) {
  uint32_t number = *lists_head(lists, hash);
  for (;;) {
    uint32_t back = (uint32_t)now - number;
    if (back > lists->most) return 0;
    tsn_lists_place place = lists->place[number & lists->place_mask];
    if (place.hash == (uint32_t)hash && back > least) return back;
    number = place.older;
  }
}

/* Delays that will be periods if they continue: the last `length` events equal those m
 * before, but not yet the last N. Every candidate is verified by a comparison of events.
 * length = N - stride + 1, so that a candidate becomes a period or ends within stride - 1
 * events.
 *
 * Of the delays m <= length only the smallest is kept. All of them are multiples of one
 * candidate g, by Fine and Wilf (Proc. AMS 16 (1965) 109-114): if m < n both hold for the
 * last `length` events, the last length + m events have the periods m and n, and so
 * gcd(m, n). The multiple kg then holds for (k - 1) g events less than g, back from the
 * newest one, and ends with the same event as g. So the smallest becomes a period first.
 * Of the larger delays m <= N there are at most stride - 1, and all are kept. */

/* Capacity for strides up to `stride`. */
void tsn_candidates_layout(tsn_arena *arena, size_t stride, tsn_candidates *candidates) {
  candidates->far = tsn_arena_take(arena, stride, sizeof *candidates->far);
}

/* Start without a candidate. */
void tsn_candidates_clear(tsn_candidates *candidates, size_t window, size_t length) {
  candidates->window = window;
  candidates->length = length;
  candidates->near.delay = 0;
  candidates->far_count = 0;
}

/* Whether the last `length` events have the delay. */
static bool verify(const tsn_candidates *candidates, const tsn_history *history,
                   uint64_t delay, tsn_candidate *verified) {
  uint64_t newest = history->count - 1, known = history->count - delay, run = 0;
  uint64_t most = candidates->window < known ? candidates->window : known;
  while (run < most && tsn_history_at(history, newest - run) ==
                           tsn_history_at(history, newest - run - delay)) {
    run++;
  }
  if (run < candidates->length) return false;
  *verified = (tsn_candidate){delay, history->count + candidates->window - run};
  return true;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The divisor first: the table may contain the multiples of a period in descending order,
 * and each comparison costs O(N). */
static void add_near(tsn_candidates *candidates, const tsn_history *history,
                     uint64_t delay) {
  tsn_candidate *near = &candidates->near;
  if (near->delay) {
    if (delay >= near->delay) return;
    uint64_t divisor = greatest_common_divisor(near->delay, delay);
    if (verify(candidates, history, divisor, near)) return;
  }
  verify(candidates, history, delay, near);
}

/* Add a delay of at most N, unless it is a candidate, a smaller one makes it superfluous,
 * or the last `length` events do not have it. */
void tsn_candidates_add(tsn_candidates *candidates, const tsn_history *history,
                        uint64_t delay) {
  if (delay <= candidates->length) {
    add_near(candidates, history, delay);
    return;
  }
  size_t count = candidates->far_count;
  for (size_t k = 0; k < count; k++) {
    if (candidates->far[k].delay == delay) return;
  }
  candidates->far_count += verify(candidates, history, delay, &candidates->far[count]);
}

static bool continues(const tsn_candidate *candidate, const tsn_history *history) {
  uint64_t newest = history->count - 1;
  return tsn_history_at(history, newest) ==
         tsn_history_at(history, newest - candidate->delay);
}

/* Remove the candidates that the newest event ends. It may be repeated. */
static void candidates_follow(tsn_candidates *candidates, const tsn_history *history) {
  size_t kept = 0;
  if (!continues(&candidates->near, history)) candidates->near.delay = 0;
  for (size_t k = 0; k < candidates->far_count; k++) {
    tsn_candidate far = candidates->far[k];
    if (continues(&far, history)) candidates->far[kept++] = far;
  }
  candidates->far_count = kept;
}

/* Verify all candidates anew, after events that they were not compared with. */
static void candidates_verify(tsn_candidates *candidates, const tsn_history *history) {
  size_t count = candidates->far_count;
  tsn_candidate near = candidates->near;
  candidates->near.delay = 0;
  candidates->far_count = 0;
  if (near.delay) tsn_candidates_add(candidates, history, near.delay);
  for (size_t k = 0; k < count; k++) {
    tsn_candidates_add(candidates, history, candidates->far[k].delay);
  }
}

/* The smallest m with d(m) = 0; 0: none. */
static uint64_t candidates_period(const tsn_candidates *candidates, uint64_t count) {
  uint64_t period = 0;
  if (candidates->near.delay && candidates->near.due <= count) {
    return candidates->near.delay;
  }
  for (size_t k = 0; k < candidates->far_count; k++) {
    const tsn_candidate *far = &candidates->far[k];
    if (far->due <= count && (!period || far->delay < period)) period = far->delay;
  }
  return period;
}

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
  lists_layout(arena, max_period < entries ? max_period : entries, &ngram->lists);
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
  if (entry << shift == number) lists_insert(&ngram->lists, hash, entry);
}

/* Add the delays from event `number` back to equal L-grams, from the smallest on. */
static void add_candidates(tsn_ngram *ngram, const tsn_history *history, uint64_t hash,
                           uint64_t number) {
  tsn_candidates *candidates = &ngram->candidates;
  uint64_t entry = entry_from(number, ngram->shift);
  uint64_t ahead = (entry << ngram->shift) - number;
  uint32_t back = 0;
  while ((back = lists_distance(&ngram->lists, hash, entry, back))) {
    uint64_t delay = ((uint64_t)back << ngram->shift) - ahead;
    if (delay > ngram->max_period) return;
    tsn_candidates_add(candidates, history, delay);
    if (candidates->near.delay && ngram->max_period <= ngram->length) return;
  }
}

/* The smallest period of the newest events is the period. */
static void choose(tsn_ngram *ngram, const tsn_history *history) {
  ngram->period = candidates_period(&ngram->candidates, history->count);
  if (!ngram->period) return;
  ngram->locked = history->count;
  ngram->examined = ngram->window;
}

/* There are candidates, or the L-gram may have been seen before. */
NOT_INLINE void decide(tsn_ngram *ngram, const tsn_history *history, uint64_t hash) {
  candidates_follow(&ngram->candidates, history);
  add_candidates(ngram, history, hash, history->count - 1);
  choose(ngram, history);
}

/* Insert the newest L-gram and check whether it was seen before. Where `shift` is the
 * constant 0, an event takes 0.5 ns less; a candidate then was a period at once. */
static inline void look_for_period(tsn_ngram *ngram, const tsn_history *history,
                                   uint64_t hash, uint32_t shift) {
  uint64_t newest = history->count - 1;
  if (lists_may_contain(&ngram->lists, hash, entry_from(newest, shift)) ||
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
  lists_clear(&ngram->lists, first >> ngram->shift, entry_from(max_period, ngram->shift));
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
  candidates_verify(&ngram->candidates, history);
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
