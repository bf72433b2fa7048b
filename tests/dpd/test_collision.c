/* SPDX-License-Identifier: BSD-3-Clause */
/* Events made so that different windows have the same hash, and numbers of events that
 * wrap around in the lists of windows. */
#include <string.h>
#include <tsanom/dpd.h>

#include "dpd/dpd_ngram.h"
#include "support/check.h"
#include "support/random.h"

enum { EVENTS = 300, WINDOW = 3 };

__extension__ typedef unsigned __int128 wide;

static uint64_t product(uint64_t a, uint64_t b) {
  return (uint64_t)((wide)a * b % TSN_NGRAM_PRIME);
}

/* r(x) of dpd_ngram.h, and an x of that residue. */
static uint64_t residue_of(uint64_t event) {
  return (event * TSN_NGRAM_SPREAD) >> 3;
}

static uint64_t event_of(uint64_t residue) {
  uint64_t inverse = TSN_NGRAM_SPREAD; /* by Newton's method, modulo 2^64 */
  for (int k = 0; k < 5; k++) inverse *= 2 - TSN_NGRAM_SPREAD * inverse;
  return inverse * (residue << 3);
}

static uint64_t hash_of(uint64_t x, uint64_t y, uint64_t z) {
  uint64_t hash = (residue_of(x) % TSN_NGRAM_PRIME);
  hash = (product(hash, TSN_NGRAM_BASE) + residue_of(y)) % TSN_NGRAM_PRIME;
  return (product(hash, TSN_NGRAM_BASE) + residue_of(z)) % TSN_NGRAM_PRIME;
}

/* a, b, c have the hash of b, c, a where r(c) = r(a) (BASE + 1) - r(b) BASE. */
static void make_triple(uint64_t *event, uint64_t *seed) {
  uint64_t a = random_bits(seed) >> 4, b = random_bits(seed) >> 4;
  uint64_t c =
      (product(a, TSN_NGRAM_BASE + 1) + TSN_NGRAM_PRIME - product(b, TSN_NGRAM_BASE)) %
      TSN_NGRAM_PRIME;
  event[0] = event_of(a);
  event[1] = event_of(b);
  event[2] = event_of(c);
  cr_assert(hash_of(event[0], event[1], event[2]) ==
            hash_of(event[1], event[2], event[0]));
}

static size_t naive_period(const uint64_t *event, size_t newest, size_t max_period) {
  for (size_t m = 1; m <= max_period && m + WINDOW <= newest + 1; m++) {
    size_t equal = 0;
    while (equal < WINDOW && event[newest - equal] == event[newest - equal - m]) equal++;
    if (equal == WINDOW) return m;
  }
  return 0;
}

Test(dpd_collision, equal_hashes_neither_make_nor_hide_a_period) {
  uint64_t seed = 1;
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = WINDOW;
  for (int trial = 0; trial < CASES(200); trial++) {
    uint64_t triple[3], event[EVENTS];
    size_t periods[EVENTS], place = 0;
    options.max_period = 1 + (size_t)trial % WINDOW;
    make_triple(triple, &seed);
    for (size_t i = 0; i < EVENTS; i++) {
      event[i] = triple[place];
      place =
          random_bits(&seed) % 10 == 0 ? random_between(&seed, 0, 2) : (place + 1) % 3;
    }
    tsanom_dpd_event *detector = NULL;
    CHECK_STATUS(tsanom_dpd_event_create(&options, NULL, &detector), TSANOM_OK);
    tsanom_dpd_event_push_many(detector, event, EVENTS, periods, NULL);
    for (size_t i = 0; i < EVENTS; i++) {
      size_t expected = naive_period(event, i, options.max_period);
      cr_assert(periods[i] == expected, "trial %d event %zu: %zu, not %zu", trial, i,
                periods[i], expected);
    }
    tsanom_dpd_event_destroy(detector);
  }
}

static void push_and_check(tsn_ngram *ngram, tsn_history *history, uint64_t event) {
  size_t expected = 0;
  tsn_history_push(history, event);
  tsn_ngram_push_bank(ngram, 1, history);
  for (size_t m = ngram->max_period; m >= 1; m--) {
    size_t equal = 0;
    while (equal < ngram->window &&
           tsn_history_at(history, history->count - 1 - equal) ==
               tsn_history_at(history, history->count - 1 - equal - m)) {
      equal++;
    }
    if (equal == ngram->window) expected = m;
  }
  cr_assert(ngram->period == expected, "%zu, not %zu", (size_t)ngram->period, expected);
}

/* The table contains one in two of the windows of 3 events: a candidate of the same hash
 * is compared before it replaces another. */
Test(dpd_collision, equal_hashes_of_shorter_windows_make_no_candidate) {
  enum { N = 4, ENTRIES = 2, BYTES = 2048 };
  static _Alignas(64) unsigned char memory[BYTES];
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(1000); trial++) {
    uint64_t triple[3];
    tsn_arena arena = {.base = memory, .capacity = BYTES};
    tsn_history history;
    tsn_ngram ngram;
    memset(memory, 0, sizeof memory);
    tsn_history_layout(&arena, 2 * N, &history);
    tsn_ngram_layout(&arena, N, ENTRIES, &ngram);
    tsn_ngram_start(&ngram, &history, N, 3 + (size_t)trial % 2);
    cr_assert(ngram.length == 3);
    make_triple(triple, &seed);
    for (size_t i = 0, place = 0; i < EVENTS; i++, place++) {
      if (random_bits(&seed) % 10 == 0) place += random_bits(&seed) % 3;
      push_and_check(&ngram, &history, triple[place % 3]);
    }
  }
}

/* After 2^31 events of one period, whose effect on the history is none, the next window
 * without it starts hash and table anew. */
Test(dpd_collision, a_period_of_very_many_events_is_lost_and_another_found) {
  enum { EVENTS_KEPT = 64, BYTES = 1024, N = 8, MOST = 8 };
  static uint64_t event[EVENTS_KEPT];
  static _Alignas(64) unsigned char memory[BYTES];
  tsn_arena arena = {.base = memory, .capacity = BYTES};
  tsn_history history = {.event = event, .size = EVENTS_KEPT};
  tsn_ngram ngram;
  tsn_ngram_layout(&arena, MOST, TSN_NGRAM_ENTRIES, &ngram);
  tsn_ngram_start(&ngram, &history, N, MOST);
  for (uint64_t i = 0; i < EVENTS_KEPT; i++) {
    tsn_history_push(&history, i % 4);
    tsn_ngram_push_bank(&ngram, 1, &history);
  }
  for (int round = 1; round <= 4; round++) {
    cr_assert(ngram.period == 4);
    history.count += UINT64_C(1) << 31;
    history.origin += UINT64_C(1) << 31;
    for (uint64_t i = 0; i < 30; i++) push_and_check(&ngram, &history, 1000 + i);
    for (uint64_t i = 0; i < 30; i++) push_and_check(&ngram, &history, i % 3);
    for (uint64_t i = 0; i < EVENTS_KEPT; i++) push_and_check(&ngram, &history, i % 4);
  }
}
