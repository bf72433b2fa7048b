/* SPDX-License-Identifier: BSD-3-Clause */
/* Insertion into the table of dpd_ends.h: one comparison of a bucket with an entry. */
#include <string.h>

#include "dpd/dpd_ends.h"

/* Whether an end with the tag of `entry`, which would be inserted now, counts. The
 * difference of two entries, rotated by the tag's bits, is the age if the tags are equal,
 * else at least 2^(32 - tag_bits). `crowded` is compared as if it were an entry. */
static inline bool has(const uint32_t *word, uint32_t entry, uint32_t tag_bits,
                       uint32_t max_period) {
  const uint32_t left = 32 - tag_bits;
  uint32_t any = 0;
#pragma omp simd reduction(| : any)
  for (size_t k = 0; k < TSN_ENDS_WORDS; k++) {
    uint32_t difference = entry - word[k];
    any |= (difference >> tag_bits | difference << left) <= max_period;
  }
  return any;
}

/* Drop the oldest entry. All loads come before the stores, in registers: memmove() would
 * be a call, and a copy of the bucket a detour through the stack. */
static inline void shift(uint32_t *word) {
  typedef uint32_t eight __attribute__((vector_size(32)));
  eight newer, older;
  memcpy(&newer, word, sizeof newer);
  memcpy(&older, word + 6, sizeof older);
  memcpy(word + 1, &newer, sizeof newer);
  memcpy(word + 7, &older, sizeof older);
}

/* The same for the buckets after a crowded one. */
static bool next_have(const tsn_ends *ends, tsn_ends_bucket *bucket, uint32_t entry,
                      uint64_t now) {
  while (tsn_ends_counts(ends, bucket->word[TSN_ENDS_ENTRIES], now)) {
    bucket = tsn_ends_next(ends, bucket);
    if (has(bucket->word, entry, ends->tag_bits, ends->max_period)) return true;
  }
  return false;
}

/* A loop of its own, with copies of the fields in registers: the first bucket decides for
 * all but one N-gram in 20. */
static size_t insert_new(tsn_ends *ends, const uint64_t *hash, size_t count,
                         uint64_t now) {
  const uint32_t tag_bits = ends->tag_bits, max_period = ends->max_period;
  const uint32_t tags = (UINT32_C(1) << tag_bits) - 1;
  size_t i = 0;
  if (now - ends->cleaned >= TSN_ENDS_MEAN) tsn_ends_clean(ends, now);
  for (; i < count; i++, now++) {
    tsn_ends_bucket *bucket = tsn_ends_bucket_of(ends, hash[i]);
    uint32_t *word = bucket->word;
    uint32_t number = (uint32_t)now << tag_bits;
    uint32_t entry = number | ((uint32_t)hash[i] & tags), minuend = number | tags;
    if (has(word, entry, tag_bits, max_period)) break;
    uint32_t oldest = (minuend - word[TSN_ENDS_ENTRIES - 1]) >> tag_bits;
    uint32_t crowded = (minuend - word[TSN_ENDS_ENTRIES]) >> tag_bits;
    if ((oldest < crowded ? oldest : crowded) <= max_period) {
      if (next_have(ends, bucket, entry, now)) break;
      tsn_ends_place(ends, hash[i], now);
      continue;
    }
    shift(word);
    word[0] = entry;
  }
  if (i > 0) ends->newest = now - 1;
  return i;
}

const tsn_ends_kernels TSN_LEVEL(tsn_ends_kernels) = {.insert_new = insert_new};
