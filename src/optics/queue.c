/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap has 4 children per entry (A. LaMarca, R. Ladner, The influence of caches on
 * the performance of heaps, ACM JEA 1 (1996)): the children of entry i are 4 i + 1 to 4 i
 * + 4, which share one cache line of 64 bytes because entry 1 starts a line:
 *
 *     line 0: - - - 0    line 1: 1 2 3 4    line 2: 5 6 7 8    ...
 *
 * A path from the root has half as many levels as with two children, at one line each.
 *
 * The bucket of a key >= 0 is the leading bits of its representation, which increase with
 * the value: 11 bits of exponent, 2 bits of fraction. Every double has a bucket, without
 * a bound on the keys and without a rule to resize: 8192 buckets of 12 bytes and a
 * bit. */
#include "optics/optics_internal.h"

#include <math.h>
#include <string.h>

#include "core/size.h"

/* Children of a heap entry: those of one cache line. */
enum { WAYS = 4 };

/* Bits of the fraction of a key that select a bucket, below those of the exponent. */
enum { FRACTION_BITS = 2, BUCKETS = 1 << (11 + FRACTION_BITS) };

__extension__ typedef unsigned __int128 wide;

/* No item. */
#define NONE UINT32_MAX

/* Numbers >= 0 compare like their bits. */
static inline uint64_t bits_of(double key) {
  uint64_t bits;
  memcpy(&bits, &key, sizeof bits);
  return bits;
}

/* The arena starts arrays at cache lines; entry 0 is the last of the first line. */
void tsn_optics_heap_layout(tsn_arena *arena, size_t n, tsn_optics_heap *heap) {
  tsn_optics_edge *line = tsn_arena_take(arena, tsn_sum(n, WAYS - 1), sizeof *line);
  *heap = (tsn_optics_heap){.edge = line ? line + WAYS - 1 : NULL};
}

/* Whether a comes before b: key and tie are compared as one integer, because a branch on
 * the key would be unpredictable. */
static inline bool precedes(const tsn_optics_edge *a, const tsn_optics_edge *b) {
  uint64_t bits_a = bits_of(a->key), bits_b = bits_of(b->key);
  return ((wide)bits_a << 64 | a->tie) < ((wide)bits_b << 64 | b->tie);
}

/* The smallest of the first WAYS children of `count`. */
static inline size_t first_child(const tsn_optics_edge *child, size_t count) {
  size_t first = 0;
  for (size_t k = 1; k < count && k < WAYS; k++) {
    if (precedes(&child[k], &child[first])) first = k;
  }
  return first;
}

void tsn_optics_heap_push(tsn_optics_heap *heap, tsn_optics_edge added) {
  tsn_optics_edge *entry = heap->edge;
  size_t hole = heap->count++;
  for (size_t parent; hole > 0; hole = parent) {
    parent = (hole - 1) / WAYS;
    if (!precedes(&added, &entry[parent])) break;
    entry[hole] = entry[parent];
  }
  entry[hole] = added;
}

void tsn_optics_heap_replace_first(tsn_optics_heap *heap, tsn_optics_edge added) {
  tsn_optics_edge *entry = heap->edge;
  size_t hole = 0, count = heap->count;
  for (size_t child; (child = WAYS * hole + 1) < count; hole = child) {
    child += first_child(&entry[child], count - child);
    if (!precedes(&entry[child], &added)) break;
    entry[hole] = entry[child];
  }
  entry[hole] = added;
}

void tsn_optics_heap_drop_first(tsn_optics_heap *heap) {
  tsn_optics_edge last = heap->edge[--heap->count];
  tsn_optics_heap_replace_first(heap, last);
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

/* The first used bucket that is not below `bucket`. */
static size_t next_used(const tsn_optics_buckets *buckets, size_t bucket) {
  size_t word = bucket / 64;
  if (word == BUCKETS / 64) return BUCKETS;
  uint64_t bits = buckets->used[word] >> bucket % 64 << bucket % 64;
  while (!bits && ++word < BUCKETS / 64) bits = buckets->used[word];
  return bits ? 64 * word + (size_t)__builtin_ctzll(bits) : BUCKETS;
}

size_t tsn_optics_buckets_drain(tsn_optics_buckets *buckets, double key, uint32_t *items,
                                size_t capacity) {
  size_t taken = 0;
  /* Buckets are taken whole: their other items are above `key` by a quarter of an octave
   * at most, and would follow soon. If `items` is full, `least` of the rest stays valid
   * as a lower bound. */
  while (buckets->lowest < BUCKETS && buckets->least[buckets->lowest] <= key) {
    uint32_t *head = &buckets->head[buckets->lowest];
    for (; *head != NONE && taken < capacity; *head = buckets->next[*head]) {
      items[taken++] = *head;
    }
    if (*head != NONE) break;
    buckets->used[buckets->lowest / 64] &= ~((uint64_t)1 << buckets->lowest % 64);
    buckets->lowest = next_used(buckets, buckets->lowest);
  }
  return taken;
}
