/* SPDX-License-Identifier: BSD-3-Clause */
/* The N-gram detector with tables of every size beside the definition: the smallest m
 * with d(m) = 0, event by event. */
#include "dpd/dpd_ngram.h"

#include <string.h>
#include <tsanom/dpd.h>

#include "support/check.h"
#include "support/random.h"

enum { EVENTS = 700, LONGEST = 40, BYTES = 1 << 15 };

typedef struct {
  size_t window, max_period, entries;
} shape;

static size_t naive_period(const uint64_t *event, size_t count, const shape *s) {
  for (size_t m = 1; m <= s->max_period && m + s->window <= count; m++) {
    size_t equal = 0;
    while (equal < s->window &&
           event[count - 1 - equal] == event[count - 1 - equal - m]) {
      equal++;
    }
    if (equal == s->window) return m;
  }
  return 0;
}

/* Repetitions of random period and length, with few identifiers: many end just before or
 * just after they fill a window, and their parts occur in each other. */
static void make_stream(uint64_t *event, size_t count, const shape *s, uint64_t *seed) {
  size_t kinds = 2 + random_bits(seed) % 2, rare = 1 + random_bits(seed) % 8;
  for (size_t i = 0; i < count;) {
    size_t period = 1 + random_bits(seed) % (s->window + 2);
    if (random_bits(seed) % 2) period = 1 + period % 4;
    size_t length = period + random_bits(seed) % (2 * s->window + 2);
    for (size_t k = 0; k < length && i < count; k++, i++) {
      bool is_new = k < period && random_bits(seed) % rare == 0;
      bool known = i >= period && !is_new;
      event[i] = known ? event[i - period] : random_bits(seed) % kinds;
    }
  }
}

/* Arenas for detector and history; `single`: events are pushed one by one. */
static void follow_stream(const shape *s, bool single, uint64_t seed, size_t *late) {
  static _Alignas(64) unsigned char memory[BYTES];
  uint64_t event[EVENTS];
  tsn_arena arena = {.base = memory, .capacity = BYTES};
  tsn_history history;
  tsn_ngram ngram;
  memset(memory, 0, sizeof memory);
  tsn_history_layout(&arena, s->window + s->max_period, &history);
  tsn_ngram_layout(&arena, s->max_period, s->entries, &ngram);
  tsn_ngram_start(&ngram, &history, s->window, s->max_period);
  make_stream(event, EVENTS, s, &seed);
  for (size_t count = 0; count < EVENTS;) {
    size_t taken = 0, most = 1 + random_bits(&seed) % (EVENTS - count);
    if (random_bits(&seed) % 32 == 0) {
      tsn_ngram_start(&ngram, &history, s->window, s->max_period);
    }
    if (!single) taken = tsn_ngram_seek(&ngram, &history, event + count, most);
    if (taken == 0) {
      taken = 1;
      tsn_history_push(&history, event[count]);
      tsn_ngram_push_bank(&ngram, 1, &history);
    }
    for (size_t i = 1; i < taken; i++) {
      cr_assert(naive_period(event, count + i, s) == 0, "a period is not found");
    }
    count += taken;
    size_t expected = naive_period(event, count, s);
    cr_assert(ngram.period == expected,
              "window %zu, M %zu, entries %zu, event %zu: %zu, not %zu", s->window,
              s->max_period, s->entries, count - 1, (size_t)ngram.period, expected);
    *late += ngram.candidates.far_count > 0;
  }
}

Test(dpd_ngram, finds_the_smallest_period_with_a_table_of_any_size) {
  size_t late = 0;
  uint64_t seed = 1;
  for (size_t window = 1; window <= LONGEST; window++) {
    for (int trial = 0; trial < CASES(100); trial++) {
      shape s = {.window = window, .entries = (size_t)2 << trial % 5};
      s.max_period = trial % 3 ? window : 1 + random_bits(&seed) % window;
      follow_stream(&s, trial % 2, random_bits(&seed), &late);
    }
  }
  cr_assert(late > 1000, "%zu events with a candidate above `length`", late);
}

/* 40 events of period 2; a period holds for 20 events, a candidate for 17. */
Test(dpd_ngram, candidates_are_the_smallest_delay_and_those_above_length) {
  enum { KNOWN = 40, N = 20, LENGTH = 17 };
  static _Alignas(64) unsigned char memory[BYTES];
  tsn_arena arena = {.base = memory, .capacity = BYTES};
  tsn_history history;
  tsn_candidates candidates;
  tsn_history_layout(&arena, KNOWN, &history);
  tsn_candidates_layout(&arena, N - LENGTH + 1, &candidates);
  for (uint64_t i = 0; i < KNOWN; i++) tsn_history_push(&history, i % 2);
  tsn_candidates_clear(&candidates, N, LENGTH);
  tsn_candidates_add(&candidates, &history, 3);
  cr_assert(!tsn_candidates_any(&candidates));
  tsn_candidates_add(&candidates, &history, 6);
  cr_assert(candidates.near.delay == 6);
  tsn_candidates_add(&candidates, &history, 4);
  cr_assert(candidates.near.delay == 2, "the greatest common divisor");
  tsn_candidates_add(&candidates, &history, 8);
  cr_assert(candidates.near.delay == 2);
  for (int k = 0; k < 2; k++) tsn_candidates_add(&candidates, &history, 18);
  tsn_candidates_add(&candidates, &history, 20);
  cr_assert(candidates.far_count == 2);
}

/* Iterations of random length, with breaks, between random events. */
static void make_long_stream(uint64_t *event, size_t count, uint64_t *seed) {
  for (size_t i = 0; i < count;) {
    size_t period = 1 + random_bits(seed) % (random_bits(seed) % 2 ? 16000 : 100);
    size_t length = random_bits(seed) % 60000, from = i;
    for (size_t k = 0; k < length && i < count; k++, i++) {
      bool is_new = k < period || random_bits(seed) % 50000 == 0;
      event[i] = is_new ? random_bits(seed) % 1000 : event[i - period];
    }
    if (i == from) event[i++] = 0;
  }
}

/* One N-gram in four is in the table for periods up to 16384, one in eight for longer
 * ones. */
Test(dpd_ngram, long_windows_report_the_same_with_one_ngram_in_four_and_in_eight) {
  enum { LONG = 1000000, WINDOW = 17000, SHORT = 16000 };
  static uint64_t event[LONG];
  static size_t periods[2][LONG];
  uint64_t seed = 1;
  make_long_stream(event, LONG, &seed);
  for (int k = 0; k < 2; k++) {
    tsanom_dpd_event_options options;
    tsanom_dpd_event *detector = NULL;
    tsanom_dpd_event_options_init(&options, sizeof options);
    options.window = WINDOW;
    options.max_period = k ? WINDOW : SHORT;
    CHECK_STATUS(tsanom_dpd_event_create(&options, NULL, &detector), TSANOM_OK);
    size_t half = LONG / 2;
    tsanom_dpd_event_push_many(detector, event, half, periods[k], NULL);
    tsanom_dpd_event_resize(detector, SHORT);
    tsanom_dpd_event_push_many(detector, event + half, half, periods[k] + half, NULL);
    tsanom_dpd_event_destroy(detector);
  }
  size_t found = 0;
  for (size_t i = 0; i < LONG; i++) {
    size_t expected = periods[1][i] <= SHORT ? periods[1][i] : 0;
    cr_assert(periods[0][i] == expected, "event %zu: %zu, not %zu", i, periods[0][i],
              expected);
    found += expected > 100;
  }
  cr_assert(found > LONG / 20, "%zu", found);
}
