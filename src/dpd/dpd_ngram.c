/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_ngram.h"

#include <string.h>

/* Hashes are polynomials in a fixed base, modulo the prime 2^61 - 1. */
static const uint64_t prime = (UINT64_C(1) << 61) - 1;
static const uint64_t base = UINT64_C(0x1A2F3C5D7E9B0D61);

__extension__ typedef unsigned __int128 wide;

static inline uint64_t reduced(uint64_t value) {
  value = (value & prime) + (value >> 61);
  return value >= prime ? value - prime : value;
}

static inline uint64_t product(uint64_t a, uint64_t b) {
  wide both = (wide)a * b;
  return reduced(((uint64_t)both & prime) + (uint64_t)(both >> 61));
}

/* Spread the identifiers first: small integers differ in few bits. */
static inline uint64_t residue(uint64_t event) {
  event ^= event >> 32;
  event *= UINT64_C(0x9E3779B97F4A7C15);
  event ^= event >> 29;
  return reduced(event);
}

static uint64_t power(uint64_t exponent) {
  uint64_t result = 1, square = base;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = product(result, square);
    square = product(square, square);
  }
  return result;
}

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

/* At most half of a table is in use: a generation has max_period N-grams. */
void tsn_ngram_layout(tsn_arena *arena, size_t max_period, tsn_ngram *ngram) {
  size_t size = 2 * power_of_two(max_period);
  ngram->table_mask = size - 1;
  for (int i = 0; i < 2; i++) {
    ngram->table[i] = tsn_arena_take(arena, size, sizeof *ngram->table[i]);
  }
}

/* Move the window on to the event `number`; once it is full an event leaves. */
static inline void roll(tsn_ngram *ngram, const tsn_history *history, uint64_t number,
                        bool full) {
  uint64_t hash = product(ngram->hash, base) + residue(tsn_history_at(history, number));
  if (full) {
    uint64_t old = residue(tsn_history_at(history, number - ngram->window));
    hash += prime - product(old, ngram->leaving);
  }
  ngram->hash = reduced(hash);
  ngram->hashed = number + 1;
}

/* A generation ends after max_period events; its table then is the previous
 * one's, and the table of the one before, all stale by now, is filled anew. */
static inline void turn_generation(tsn_ngram *ngram, uint64_t number) {
  if (number - ngram->from < ngram->max_period) return;
  if (number - ngram->from < 2 * ngram->max_period) {
    tsn_ngram_place *stale = ngram->table[1];
    ngram->table[1] = ngram->table[0];
    ngram->table[0] = stale;
    ngram->from += ngram->max_period;
  } else {
    ngram->from = number; /* all places are stale */
  }
}

/* The first place from the hash's own on that holds its N-gram, or that is
 * stale: its number is none of the `length` ones from `from` on. */
static inline tsn_ngram_place *find_place(const tsn_ngram *ngram, int table,
                                          uint32_t from, uint32_t length) {
  uint64_t slot = ngram->hash >> 29;
  for (;; slot++) {
    tsn_ngram_place *place = &ngram->table[table][slot & ngram->table_mask];
    if (place->number - from >= length || place->hash == (uint32_t)ngram->hash) {
      return place;
    }
  }
}

/* Note that the N-gram ends at `number`; how far back it did before, if that is
 * at most max_period, else 0. */
static inline uint64_t note(tsn_ngram *ngram, uint64_t number) {
  turn_generation(ngram, number);
  uint32_t from = (uint32_t)ngram->from, now = (uint32_t)number;
  uint32_t length = (uint32_t)ngram->max_period;
  tsn_ngram_place *place = find_place(ngram, 0, from, length);
  uint32_t back = now - place->number;
  if (place->number - from >= length) {
    const tsn_ngram_place *before = find_place(ngram, 1, from - length, length);
    back = before->number - (from - length) < length ? now - before->number : 0;
  }
  *place = (tsn_ngram_place){now, (uint32_t)ngram->hash};
  return back <= length ? back : 0;
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

static void look_for_period(tsn_ngram *ngram, const tsn_history *history) {
  uint64_t back = note(ngram, history->count - 1);
  if (back && is_repeated(ngram, history, back)) {
    ngram->period = back;
    ngram->locked = history->count;
  }
}

/* The last numbers are kept as 32-bit words: before they come round again the
 * tables are wiped. */
static const uint64_t events_between_wipes = UINT64_C(1) << 31;

void tsn_ngram_start(tsn_ngram *ngram, const tsn_history *history, size_t window,
                     size_t max_period) {
  uint64_t known = (uint64_t)window + max_period;
  uint64_t first = history->count > known ? history->count - known : 0;
  ngram->window = window;
  ngram->max_period = max_period;
  ngram->leaving = power(window);
  ngram->hash = 0;
  ngram->period = 0;
  ngram->hashed = ngram->from = ngram->wiped = first;
  for (int i = 0; i < 2; i++) {
    for (uint64_t k = 0; k <= ngram->table_mask; k++) {
      ngram->table[i][k].number = (uint32_t)(first - max_period - 1);
    }
  }
  for (uint64_t number = first; number < history->count; number++) {
    roll(ngram, history, number, number - first >= window);
    if (number - first + 1 < window) continue;
    if (number + 1 < history->count) {
      note(ngram, number);
    } else {
      look_for_period(ngram, history);
    }
  }
}

/* The lock is lost: bring hash and tables up to the event before the newest.
 * While it held the windows repeated with the period, so that the hash of the
 * last one that was taken is also that of a window less than 2 periods back, and
 * only the last period's places can still be asked for. */
static void catch_up(tsn_ngram *ngram, const tsn_history *history) {
  uint64_t newest = history->count - 1, period = ngram->period;
  uint64_t skipped = newest - ngram->hashed;
  uint64_t noted = skipped < period ? skipped : period;
  uint64_t number = newest - noted - (skipped - noted) % period;
  for (; number < newest; number++) {
    roll(ngram, history, number, true);
    if (number >= newest - noted) note(ngram, number);
  }
}

void tsn_ngram_push(tsn_ngram *ngram, const tsn_history *history) {
  uint64_t newest = history->count - 1;
  if (ngram->period) {
    if (tsn_history_at(history, newest) ==
        tsn_history_at(history, newest - ngram->period)) {
      return;
    }
    if (newest - ngram->wiped < events_between_wipes) catch_up(ngram, history);
    ngram->period = 0;
  }
  if (newest - ngram->wiped >= events_between_wipes) {
    tsn_ngram_start(ngram, history, ngram->window, ngram->max_period);
    return;
  }
  roll(ngram, history, newest, newest >= ngram->window);
  if (history->count >= ngram->window) look_for_period(ngram, history);
}
