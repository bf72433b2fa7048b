/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of the last max_period N-grams, by hash: a hash table whose buckets are cache
 * lines, so that an event of a long window costs one cache miss and one prefetch.
 *
 *     bucket   | entry[0]   entry[1]   ...   entry[14] | crowded |
 *                newest                      oldest
 *     entry    | low bits of the number of the last event | tag: part of the hash |
 *
 * An N-gram is inserted as the newest of its bucket, and the oldest is dropped. An end
 * counts as long as it is at most max_period events old. If the oldest still counts, the
 * N-gram goes to the next bucket, and its number to `crowded`: a look-up continues to the
 * next bucket while that number counts. There are more entries than ends that count, so
 * both loops end.
 *
 * Numbers have so few bits that they would wrap around while an entry waits in its
 * bucket. Therefore one bucket in turn is cleaned every 8 events, all within about
 * max_period events: what is too old becomes 2 max_period events old, and no age reaches
 * the first that wraps around (tag_bits()).
 *
 * 8 bytes per event of the window suffice; lists (dpd_lists.h) take 24 or more. Entries
 * of 5 bytes with whole numbers, 12 in a bucket, left many buckets crowded, and an event
 * took more than twice as long. */
#ifndef TSN_DPD_ENDS_H
#define TSN_DPD_ENDS_H

#include "core/arena.h"
#include "core/isa.h"

/* Entries of a bucket; their mean number that count, and events per bucket cleaned. */
enum { TSN_ENDS_ENTRIES = 15, TSN_ENDS_MEAN = 8, TSN_ENDS_WORDS = TSN_ENDS_ENTRIES + 1 };

/* N-grams inserted by one call at most, before which buckets are cleaned. */
enum { TSN_ENDS_AT_ONCE = 64 };

typedef struct {
  uint32_t word[TSN_ENDS_WORDS]; /* the entries; the last is `crowded`, of any tag */
} tsn_ends_bucket;

typedef struct {
  tsn_ends_bucket *bucket;
  uint32_t buckets;
  uint32_t next; /* the bucket to be cleaned next */
  uint32_t max_period;
  uint32_t tag_bits;
  uint64_t cleaned; /* the number up to which buckets have been cleaned */
  uint64_t newest;  /* the number inserted last */
} tsn_ends;

void tsn_ends_layout(tsn_arena *arena, size_t max_period, tsn_ends *ends);

/* Forget all ends. The next N-gram ends at event `number` or later. */
void tsn_ends_clear(tsn_ends *ends, uint64_t number, size_t max_period);

/* The smallest distance above `least` from `now` back to the end of an N-gram that has
 * the bucket and the tag of `hash`; 0: none. */
uint32_t tsn_ends_distance(const tsn_ends *ends, uint64_t hash, uint64_t now,
                           uint32_t least);

/* Hashes are below 2^61: the bucket comes from the upper half, the tag from the lower. */
static inline tsn_ends_bucket *tsn_ends_bucket_of(const tsn_ends *ends, uint64_t hash) {
  return &ends->bucket[((hash >> 29) * ends->buckets) >> 32];
}

static inline tsn_ends_bucket *tsn_ends_next(const tsn_ends *ends,
                                             tsn_ends_bucket *bucket) {
  return bucket + 1 < ends->bucket + ends->buckets ? bucket + 1 : ends->bucket;
}

static inline uint32_t tsn_ends_entry(const tsn_ends *ends, uint64_t hash, uint64_t now) {
  uint32_t tags = (UINT32_C(1) << ends->tag_bits) - 1;
  return (uint32_t)now << ends->tag_bits | ((uint32_t)hash & tags);
}

/* Distance from `now` back to the number in an entry: its tag is at most the tag of the
 * minuend, which borrows nothing. */
static inline uint32_t tsn_ends_age(const tsn_ends *ends, uint32_t entry, uint64_t now) {
  return (tsn_ends_entry(ends, UINT32_MAX, now) - entry) >> ends->tag_bits;
}

static inline bool tsn_ends_counts(const tsn_ends *ends, uint32_t entry, uint64_t now) {
  return tsn_ends_age(ends, entry, now) <= ends->max_period;
}

/* Clean the buckets that are due at `now`. After more than max_period events, in which
 * nothing was inserted, no end counts. */
void tsn_ends_clean(tsn_ends *ends, uint64_t now);

/* Insert the N-gram that ends at `now`; the second function cleans before. */
void tsn_ends_place(tsn_ends *ends, uint64_t hash, uint64_t now);
void tsn_ends_insert(tsn_ends *ends, uint64_t hash, uint64_t now);

/* Compiled for each instruction set. */
typedef struct {
  /* Insert the N-grams that end at `now`, `now` + 1, ... until one may be in the table,
   * so that tsn_ends_distance() might find it. Returns the number inserted. */
  size_t (*insert_new)(tsn_ends *ends, const uint64_t *hash, size_t count, uint64_t now);
} tsn_ends_kernels;

TSN_KERNEL_TABLE(tsn_ends_kernels);

#endif
