/* SPDX-License-Identifier: BSD-3-Clause */
/* The newest N-grams of a table, in lists by hash, newest first. They have consecutive
 * numbers:
 *
 *     head[hash bits]   number of the newest N-gram of a list
 *     place[number]     {number of the next older one, hash}, for the last ones
 *
 * The ring needs no free list: a new entry overwrites one that is too old to matter, and
 * links to it are recognized by their age. An entry takes 24 to 48 bytes, and a look-up
 * two dependent loads, so that the table should fit the second-level cache. */
#ifndef TSN_DPD_LISTS_H
#define TSN_DPD_LISTS_H

#include "core/arena.h"

/* An earlier N-gram: the number of the next older one in its list, and the low 32 bits of
 * its hash. Numbers are stored as their low 32 bits too. */
typedef struct {
  uint32_t older;
  uint32_t hash;
} tsn_lists_place;

typedef struct {
  uint32_t most; /* entries that are further back than this are too old */
  uint64_t head_mask;
  uint32_t *head;
  uint64_t place_mask;
  tsn_lists_place *place; /* by number */
} tsn_lists;

/* Capacity for the last `most` entries. */
void tsn_lists_layout(tsn_arena *arena, size_t most, tsn_lists *lists);

/* Forget all entries, before the number `number`. */
void tsn_lists_clear(tsn_lists *lists, uint64_t number, size_t most);

/* The smallest distance above `least` from `now` back to the number of an N-gram that has
 * the list and the low bits of `hash`; 0: none. */
uint32_t tsn_lists_distance(const tsn_lists *lists, uint64_t hash, uint64_t now,
                            uint32_t least);

static inline uint32_t *tsn_lists_head(const tsn_lists *lists, uint64_t hash) {
  return &lists->head[(hash >> 32) & lists->head_mask];
}

/* Whether tsn_lists_distance() might find something. Whether a list is empty is
 * unpredictable. The common cases, that the newest entry is too old or is another N-gram
 * without a valid successor, share one predictable branch: by the newest entry alone, an
 * event without a period takes 1.4 to 1.5 times as long (AMD EPYC Zen 4). */
static inline bool tsn_lists_may_contain(const tsn_lists *lists, uint64_t hash,
                                         uint64_t now) {
  uint32_t newest = *tsn_lists_head(lists, hash);
  tsn_lists_place place = lists->place[newest & lists->place_mask];
  uint32_t first = (uint32_t)now - newest;
  uint32_t second = place.hash == (uint32_t)hash ? 0 : (uint32_t)now - place.older;
  return (first > second ? first : second) <= lists->most;
}

/* Insert the N-gram `now`. */
static inline void tsn_lists_insert(tsn_lists *lists, uint64_t hash, uint64_t now) {
  uint32_t *head = tsn_lists_head(lists, hash);
  lists->place[now & lists->place_mask] = (tsn_lists_place){*head, (uint32_t)hash};
  *head = (uint32_t)now;
}

#endif
