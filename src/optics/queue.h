/* SPDX-License-Identifier: BSD-3-Clause */
/* The two priority queues of lazy.c. An edge leads from a processed point to one that is
 * not; its key is the reachability that it gives to its target.
 *
 *     heap      edges that may be the next of the order, sorted exactly
 *     buckets   processed points whose best edge is far above the smallest of the heap,
 *               sorted only by the exponent and 2 bits of its key
 *
 * A heap of all edges would be large and most of its edges would be outdated before they
 * come out. Deferring a point costs one list insertion, and keeps the heap in cache: with
 * it and lists by place, 1,000,000 points in 2 dimensions took 2.33 s, before 2.69 s.
 * Deferred points also come in batches, whose searches threads can share; a heap hands
 * out one edge at a time. */
#ifndef TSN_OPTICS_QUEUE_H
#define TSN_OPTICS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"

/* Ties of the key go to the smaller target, then to the source that was processed
 * earlier: tie = target's index << 32 | source's position in the order. The first is the
 * definition's next point, the second its predecessor. Keys are >= 0, never NaN. */
typedef struct {
  double key;
  uint64_t tie;
} tsn_optics_edge;

/* A 4-ary heap of at most n edges: each processed point has one at most. */
typedef struct {
  tsn_optics_edge *edge; /* edge[0] is the smallest */
  size_t count;
} tsn_optics_heap;

void tsn_optics_heap_layout(tsn_arena *arena, size_t n, tsn_optics_heap *heap);

/* push, replace_first and drop_first: O(log n), without allocation. replace_first drops
 * the smallest edge and adds another in one pass from the root, where a drop and a push
 * would be two. It and drop_first require a heap that is not empty. */
void tsn_optics_heap_push(tsn_optics_heap *heap, tsn_optics_edge added);
void tsn_optics_heap_replace_first(tsn_optics_heap *heap, tsn_optics_edge added);
void tsn_optics_heap_drop_first(tsn_optics_heap *heap);

/* Items with keys >= 0, in buckets of a quarter of an octave; an item is in one bucket at
 * most. A bucket is a list linked through `next`, and keeps the smallest key that was
 * added, so that its bound is exact, not only a quarter of an octave below:
 *
 *     bucket   [1, 1.25)   [1.25, 1.5)   [1.5, 1.75)   [1.75, 2)   [2, 2.5)  ...
 *     least      1.07          -             1.61          -          2.2
 *     items     4 -> 9                        7                      3 -> 1 */
typedef struct {
  uint32_t *head; /* first item of each bucket */
  double *least;  /* smallest key that was added to each bucket */
  uint64_t *used; /* one bit for each bucket: whether it has items */
  uint32_t *next; /* of each item, in the list of its bucket */
  size_t lowest;  /* the first bucket with items */
} tsn_optics_buckets;

void tsn_optics_buckets_layout(tsn_arena *arena, size_t n, tsn_optics_buckets *buckets);
void tsn_optics_buckets_clear(tsn_optics_buckets *buckets);

/* Whether a key belongs to a bucket above that of another key. Edges in the bucket of the
 * smallest edge will be needed soon, so only those above it are deferred. */
bool tsn_optics_buckets_above(double key, double other);

/* A lower bound of all keys; INFINITY if there are no items. */
double tsn_optics_buckets_least(const tsn_optics_buckets *buckets);

/* Add an item that is in no bucket; key >= 0, not infinite. O(1). */
void tsn_optics_buckets_add(tsn_optics_buckets *buckets, uint32_t item, double key);

/* Remove up to `capacity` items from the buckets with a bound <= key; returns their
 * number. If it is `capacity`, there may be more. */
size_t tsn_optics_buckets_drain(tsn_optics_buckets *buckets, double key, uint32_t *items,
                                size_t capacity);

#endif
