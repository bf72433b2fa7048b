/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_ngram.h"

/* Hashes are polynomials in a fixed base, modulo the prime 2^61 - 1. They are
 * kept below 2^61 + 4, which shortens the chain from event to event, and made
 * canonical only to be compared. */
static const uint64_t prime = (UINT64_C(1) << 61) - 1;
static const uint64_t base = UINT64_C(0x1A2F3C5D7E9B0D61);

__extension__ typedef unsigned __int128 wide;

/* For values below 2^124. */
static inline uint64_t folded(wide value) {
  uint64_t once = ((uint64_t)value & prime) + (uint64_t)(value >> 61);
  return (once & prime) + (once >> 61);
}

static inline uint64_t canonical(uint64_t hash) {
  return hash >= prime ? hash - prime : hash;
}

/* Spread the identifiers over 61 bits: small integers differ in few. */
static inline uint64_t residue(uint64_t event) {
  return (event * UINT64_C(0x9E3779B97F4A7C15)) >> 3;
}

static uint64_t power(uint64_t exponent) {
  uint64_t result = 1, square = base;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = folded((wide)result * square);
    square = folded((wide)square * square);
  }
  return canonical(result);
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

/* Eight lists for each place that can count, so that most are found empty and
 * the branch that asks is foreseen. */
void tsn_ngram_layout(tsn_arena *arena, size_t max_period, tsn_ngram *ngram) {
  size_t places = power_of_two(max_period);
  ngram->head_mask = 8 * places - 1;
  ngram->head = tsn_arena_take(arena, 8 * places, sizeof *ngram->head);
  ngram->older_mask = places - 1;
  ngram->older = tsn_arena_take(arena, places, sizeof *ngram->older);
}

/* Move the window on to the event `number`; once it is full an event leaves. */
static inline void roll(tsn_ngram *ngram, const tsn_history *history, uint64_t number,
                        bool full) {
  wide sum = residue(tsn_history_at(history, number));
  if (full) {
    sum +=
        (wide)residue(tsn_history_at(history, number - ngram->window)) * ngram->leaving;
  }
  ngram->hash = folded((wide)ngram->hash * base + sum);
  ngram->hashed = number + 1;
}

/* Note that the N-gram ends at `number`; how far back it did before, if that is
 * at most max_period, else 0. */
static inline uint32_t note(tsn_ngram *ngram, uint64_t number) {
  uint64_t hash = canonical(ngram->hash);
  uint32_t now = (uint32_t)number, mark = (uint32_t)hash;
  tsn_ngram_place *head = &ngram->head[(hash >> 32) & ngram->head_mask];
  tsn_ngram_place place = *head;
  ngram->older[now & ngram->older_mask] = place;
  *head = (tsn_ngram_place){now, mark};
  for (;;) {
    uint32_t back = now - place.number;
    if (back > ngram->max_period) return 0;
    if (place.hash == mark) return back;
    if (back == ngram->max_period) return 0; /* its next place is ours now */
    place = ngram->older[place.number & ngram->older_mask];
  }
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
  uint32_t back = note(ngram, history->count - 1);
  if (back && is_repeated(ngram, history, back)) {
    ngram->period = back;
    ngram->locked = history->count;
  }
}

/* The last numbers are kept as 32-bit words: before they come round again the
 * lists are wiped. */
static const uint64_t events_between_wipes = UINT64_C(1) << 31;

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
    ngram->head[k].number = (uint32_t)(first - max_period - 1);
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

/* The lock is lost: bring hash and lists up to the event before the newest.
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
