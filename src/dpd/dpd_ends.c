/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_ends.h"

#include <string.h>

_Static_assert(sizeof(tsn_ends_bucket) == TSN_ARENA_ALIGN, "a bucket is a cache line");

void tsn_ends_layout(tsn_arena *arena, size_t max_period, tsn_ends *ends) {
  ends->buckets = (uint32_t)(max_period / TSN_ENDS_MEAN + 1);
  ends->bucket = tsn_arena_take(arena, ends->buckets, sizeof *ends->bucket);
}

/* Every age is below 4 max_period + 4 TSN_ENDS_AT_ONCE: an entry that is too old, or was
 * made so, is cleaned when another max_period events have passed, or twice as many if a
 * period held meanwhile. A tag has 3 bits or more: periods are at most 2^26. */
static uint32_t tag_bits(size_t max_period) {
  uint64_t least = 4 * (uint64_t)max_period + 4 * TSN_ENDS_AT_ONCE;
  uint32_t bits = 31;
  while ((UINT64_C(1) << (32 - bits)) < least) bits--;
  return bits;
}

static uint32_t too_old(const tsn_ends *ends, uint64_t now) {
  return tsn_ends_entry(ends, 0, now - 2 * (uint64_t)ends->max_period);
}

void tsn_ends_clear(tsn_ends *ends, uint64_t number, size_t max_period) {
  ends->max_period = (uint32_t)max_period;
  ends->tag_bits = tag_bits(max_period);
  ends->next = 0;
  ends->cleaned = ends->newest = number;
  uint32_t *word = ends->bucket->word, old = too_old(ends, number);
  size_t words = (size_t)ends->buckets * TSN_ENDS_WORDS;
  for (size_t k = 0; k < words; k++) word[k] = old;
}

uint32_t tsn_ends_distance(const tsn_ends *ends, uint64_t hash, uint64_t now,
                           uint32_t least) {
  tsn_ends_bucket *bucket = tsn_ends_bucket_of(ends, hash);
  uint32_t nearest = 0, entry = tsn_ends_entry(ends, hash, now);
  uint32_t tags = (UINT32_C(1) << ends->tag_bits) - 1;
  for (;;) {
    for (size_t k = 0; k < TSN_ENDS_ENTRIES; k++) {
      uint32_t difference = entry - bucket->word[k], age = difference >> ends->tag_bits;
      if ((difference & tags) || age <= least || age > ends->max_period) continue;
      if (nearest == 0 || age < nearest) nearest = age;
    }
    if (!tsn_ends_counts(ends, bucket->word[TSN_ENDS_ENTRIES], now)) return nearest;
    bucket = tsn_ends_next(ends, bucket);
  }
}

/* What counts at `now` stays; the rest becomes too old in any case. */
static void clean_bucket(const tsn_ends *ends, uint64_t now) {
  typedef uint32_t four __attribute__((vector_size(16), may_alias));
  four *word = (four *)&ends->bucket[ends->next];
  const uint32_t minuend = tsn_ends_entry(ends, UINT32_MAX, now);
  const uint32_t old = too_old(ends, now);
  for (size_t k = 0; k < TSN_ENDS_WORDS / 4; k++) {
    four counts = (four)((minuend - word[k]) >> ends->tag_bits <= ends->max_period);
    word[k] = (word[k] & counts) | (old & ~counts);
  }
}

void tsn_ends_clean(tsn_ends *ends, uint64_t now) {
  if (now - ends->newest > ends->max_period) {
    tsn_ends_clear(ends, now, ends->max_period);
    return;
  }
  uint64_t behind = now - ends->cleaned;
  for (; behind >= TSN_ENDS_MEAN; behind -= TSN_ENDS_MEAN) {
    clean_bucket(ends, now);
    ends->next = ends->next + 1 < ends->buckets ? ends->next + 1 : 0;
  }
  ends->cleaned = now - behind;
}

void tsn_ends_place(tsn_ends *ends, uint64_t hash, uint64_t now) {
  tsn_ends_bucket *bucket = tsn_ends_bucket_of(ends, hash);
  uint32_t entry = tsn_ends_entry(ends, hash, now);
  while (tsn_ends_counts(ends, bucket->word[TSN_ENDS_ENTRIES - 1], now)) {
    bucket->word[TSN_ENDS_ENTRIES] = entry;
    bucket = tsn_ends_next(ends, bucket);
  }
  memmove(bucket->word + 1, bucket->word, (TSN_ENDS_ENTRIES - 1) * sizeof *bucket->word);
  bucket->word[0] = entry;
  ends->newest = now;
}

void tsn_ends_insert(tsn_ends *ends, uint64_t hash, uint64_t now) {
  tsn_ends_clean(ends, now);
  tsn_ends_place(ends, hash, now);
}
