/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processed points have to offer to the others: offers, of which the best
 * is wanted, and points of which only the key is known that their next offer has at
 * least. */
#ifndef TSN_OPTICS_QUEUE_H
#define TSN_OPTICS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"

/* An offer of reachability `key`: `tie` holds the number of the point it is made to
 * above that of the place in the order that makes it. */
typedef struct {
  double key;
  uint64_t tie;
} tsn_optics_offer;

/* A heap of offers. */
typedef struct {
  tsn_optics_offer *entry; /* entry[0] comes out first */
  size_t count;
} tsn_optics_offers;

void tsn_optics_offers_layout(tsn_arena *arena, size_t n, tsn_optics_offers *offers);
void tsn_optics_offers_push(tsn_optics_offers *offers, tsn_optics_offer added);
void tsn_optics_offers_replace_first(tsn_optics_offers *offers, tsn_optics_offer added);
void tsn_optics_offers_drop_first(tsn_optics_offers *offers);

/* Items with keys >= 0, in buckets of a quarter of a power of two. */
typedef struct {
  uint32_t *head; /* of each bucket */
  double *least;  /* no item of the bucket has a smaller key */
  uint64_t *used; /* a bit of each bucket: whether it has items */
  uint32_t *next; /* of each item */
  size_t lowest;  /* no item is in a bucket below */
} tsn_optics_buckets;

void tsn_optics_buckets_layout(tsn_arena *arena, size_t n, tsn_optics_buckets *buckets);
void tsn_optics_buckets_clear(tsn_optics_buckets *buckets);

/* Whether a key belongs into a bucket above that of another. */
bool tsn_optics_buckets_above(double key, double other);
/* No item has a smaller key, INFINITY if there are none. */
double tsn_optics_buckets_least(const tsn_optics_buckets *buckets);
void tsn_optics_buckets_add(tsn_optics_buckets *buckets, uint32_t item, double key);

/* Take at most `room` items out of the buckets that have keys up to `key`; returns how
 * many. There may be more if it returns `room`. */
size_t tsn_optics_buckets_take(tsn_optics_buckets *buckets, double key, uint32_t *items,
                               size_t room);

#endif
