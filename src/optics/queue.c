/* SPDX-License-Identifier: BSD-3-Clause */
#include "optics/queue.h"

#include <math.h>
#include <string.h>

/* Children of a heap entry: as many as share a cache line. */
enum { WAYS = 4 };

/* Bits of the fraction of a key that tell buckets apart, below those of the
 * exponent. */
enum { FRACTION_BITS = 2, BUCKETS = 1 << (11 + FRACTION_BITS) };

__extension__ typedef unsigned __int128 wide;

/* No item. */
#define NONE UINT32_MAX

/* Larger numbers that are not negative have larger bits. */
static inline uint64_t bits_of(double key) {
  uint64_t bits;
  memcpy(&bits, &key, sizeof bits);
  return bits;
}

void tsn_optics_offers_layout(tsn_arena *arena, size_t n, tsn_optics_offers *offers) {
  size_t room;
  if (__builtin_add_overflow(n, (size_t)WAYS - 1, &room)) arena->overflow = true;
  tsn_optics_offer *line = tsn_arena_take(arena, room, sizeof *line);
  /* Children start at entry 1: let that be the start of a line. */
  *offers = (tsn_optics_offers){.entry = line ? line + WAYS - 1 : NULL};
}

/* Whether a comes out before b: key and tie compared as one integer, without a branch,
 * which would go either way as often. */
static inline bool sooner(const tsn_optics_offer *a, const tsn_optics_offer *b) {
  uint64_t bits_a = bits_of(a->key), bits_b = bits_of(b->key);
  return ((wide)bits_a << 64 | a->tie) < ((wide)bits_b << 64 | b->tie);
}

/* Which of `count` <= WAYS children comes out first. */
static inline size_t first_child(const tsn_optics_offer *child, size_t count) {
  size_t first = 0;
  if (count >= WAYS) {
    size_t low = sooner(&child[1], &child[0]), high = 2 + sooner(&child[3], &child[2]);
    return low + (high - low) * sooner(&child[high], &child[low]);
  }
  for (size_t k = 1; k < count; k++) {
    if (sooner(&child[k], &child[first])) first = k;
  }
  return first;
}

void tsn_optics_offers_push(tsn_optics_offers *offers, tsn_optics_offer added) {
  tsn_optics_offer *heap = offers->entry;
  size_t hole = offers->count++;
  for (size_t parent; hole > 0; hole = parent) {
    parent = (hole - 1) / WAYS;
    if (!sooner(&added, &heap[parent])) break;
    heap[hole] = heap[parent];
  }
  heap[hole] = added;
}

void tsn_optics_offers_replace_first(tsn_optics_offers *offers, tsn_optics_offer added) {
  tsn_optics_offer *heap = offers->entry;
  size_t hole = 0, count = offers->count;
  for (size_t child; (child = WAYS * hole + 1) < count; hole = child) {
    child += first_child(&heap[child], count - child);
    if (!sooner(&heap[child], &added)) break;
    heap[hole] = heap[child];
  }
  heap[hole] = added;
}

void tsn_optics_offers_drop_first(tsn_optics_offers *offers) {
  tsn_optics_offer last = offers->entry[--offers->count];
  tsn_optics_offers_replace_first(offers, last);
}

void tsn_optics_buckets_layout(tsn_arena *arena, size_t n, tsn_optics_buckets *buckets) {
  buckets->head = tsn_arena_take(arena, BUCKETS, sizeof *buckets->head);
  buckets->least = tsn_arena_take(arena, BUCKETS, sizeof *buckets->least);
  buckets->used = tsn_arena_take(arena, BUCKETS / 64, sizeof *buckets->used);
  buckets->next = tsn_arena_take(arena, n, sizeof *buckets->next);
}

void tsn_optics_buckets_clear(tsn_optics_buckets *buckets) {
  memset(buckets->used, 0, BUCKETS / 64 * sizeof *buckets->used);
  buckets->lowest = BUCKETS;
}

static size_t bucket_of(double key) {
  return bits_of(key) >> (52 - FRACTION_BITS);
}

bool tsn_optics_buckets_above(double key, double other) {
  return bucket_of(key) > bucket_of(other);
}

double tsn_optics_buckets_least(const tsn_optics_buckets *buckets) {
  return buckets->lowest < BUCKETS ? buckets->least[buckets->lowest] : INFINITY;
}

void tsn_optics_buckets_add(tsn_optics_buckets *buckets, uint32_t item, double key) {
  size_t bucket = bucket_of(key);
  uint64_t bit = (uint64_t)1 << bucket % 64, *word = &buckets->used[bucket / 64];
  bool empty = !(*word & bit);
  buckets->next[item] = empty ? NONE : buckets->head[bucket];
  buckets->head[bucket] = item;
  if (empty || key < buckets->least[bucket]) buckets->least[bucket] = key;
  *word |= bit;
  if (bucket < buckets->lowest) buckets->lowest = bucket;
}

/* The first bucket that has items, from the bucket given on. */
static size_t next_used(const tsn_optics_buckets *buckets, size_t bucket) {
  size_t word = bucket / 64;
  if (word == BUCKETS / 64) return BUCKETS;
  uint64_t bits = buckets->used[word] >> bucket % 64 << bucket % 64;
  while (!bits && ++word < BUCKETS / 64) bits = buckets->used[word];
  return bits ? 64 * word + (size_t)__builtin_ctzll(bits) : BUCKETS;
}

size_t tsn_optics_buckets_take(tsn_optics_buckets *buckets, double key, uint32_t *items,
                               size_t room) {
  size_t taken = 0;
  while (buckets->lowest < BUCKETS && buckets->least[buckets->lowest] <= key) {
    uint32_t *head = &buckets->head[buckets->lowest];
    for (; *head != NONE && taken < room; *head = buckets->next[*head]) {
      items[taken++] = *head;
    }
    if (*head != NONE) break;
    buckets->used[buckets->lowest / 64] &= ~((uint64_t)1 << buckets->lowest % 64);
    buckets->lowest = next_used(buckets, buckets->lowest);
  }
  return taken;
}
