/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariant: ids in the set differ by more than `gap` from each other. The set is kept
 * greedily and need not be the best one; any such set gives a valid threshold.
 *
 * It is a binary heap, the farthest first, so that many neighbors take O(log count) each.
 * Blocks of gap + 1 ids contain at most one id of the set each, so that those near an id
 * are in its block or in those beside it. The table finds the place in the heap of the id
 * of a block; it has at least twice as many elements as the heap (open addressing, linear
 * probing). */
#include "search/separated.h"

#include <math.h>
#include <string.h>

static bool is_nearer(double distance, size_t id, double other, size_t other_id) {
  return distance < other || (distance == other && id < other_id);
}

static size_t block_of(const tsn_separated *set, size_t id) {
  return set->gap == SIZE_MAX ? 0 : id / (set->gap + 1);
}

/* Where the search for a block begins: the upper bits of a product (D. Knuth). */
static size_t home_of(const tsn_separated *set, size_t block) {
  uint64_t product = (uint64_t)block * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(product >> 32) & (set->places - 1);
}

/* The element of the table that has a block, or the free one that may have it. Elements
 * are places in the heap, from 1; 0: free. */
static size_t find(const tsn_separated *set, size_t block) {
  size_t at = home_of(set, block);
  while (set->table[at] && block_of(set, set->id[set->table[at] - 1]) != block) {
    at = (at + 1) & (set->places - 1);
  }
  return at;
}

/* Remove a block; those that were moved on by it move back. */
static void forget(tsn_separated *set, size_t block) {
  size_t mask = set->places - 1, hole = find(set, block);
  set->table[hole] = 0;
  for (size_t at = (hole + 1) & mask; set->table[at]; at = (at + 1) & mask) {
    size_t home = home_of(set, block_of(set, set->id[set->table[at] - 1]));
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    set->table[hole] = set->table[at];
    set->table[at] = 0;
    hole = at;
  }
}

static void put(tsn_separated *set, size_t at, size_t id, double distance) {
  if (set->table) set->table[find(set, block_of(set, id))] = at + 1;
  set->id[at] = id;
  set->distance[at] = distance;
}

static void sift_up(tsn_separated *set, size_t at, size_t id, double distance) {
  for (; at > 0; at = (at - 1) / 2) {
    size_t up = (at - 1) / 2;
    if (!is_nearer(set->distance[up], set->id[up], distance, id)) break;
    put(set, at, set->id[up], set->distance[up]);
  }
  put(set, at, id, distance);
}

static void sift_down(tsn_separated *set, size_t count, size_t at, size_t id,
                      double distance) {
  for (size_t down; (down = 2 * at + 1) < count; at = down) {
    size_t other = down + 1;
    if (other < count && is_nearer(set->distance[down], set->id[down],
                                   set->distance[other], set->id[other])) {
      down = other;
    }
    if (!is_nearer(distance, id, set->distance[down], set->id[down])) break;
    put(set, at, set->id[down], set->distance[down]);
  }
  put(set, at, id, distance);
}

/* An exclusion beyond half the range of size_t admits one window only. */
void tsn_separated_layout(tsn_arena *arena, size_t wanted, size_t exclusion,
                          tsn_separated *set) {
  *set = (tsn_separated){.id = tsn_arena_take(arena, wanted, sizeof *set->id),
                         .distance = tsn_arena_take(arena, wanted, sizeof *set->distance),
                         .wanted = wanted,
                         .gap = exclusion > SIZE_MAX / 2 ? SIZE_MAX : 2 * exclusion};
  if (exclusion == 0) return;
  set->places = 2;
  while (set->places / 2 < wanted) set->places *= 2;
  set->table = tsn_arena_take(arena, set->places, sizeof *set->table);
}

/* Ids of the set that are at most `gap` from this one; the place of one of them. */
static size_t count_near(const tsn_separated *set, size_t id, size_t *place) {
  size_t near = 0, block = block_of(set, id);
  for (size_t b = block > 0 ? block - 1 : 0; b <= block + 1; b++) {
    size_t found = set->table[find(set, b)];
    if (!found) continue;
    size_t other = set->id[found - 1];
    if ((id > other ? id - other : other - id) <= set->gap) near++, *place = found - 1;
  }
  return near;
}

/* An id near one of the set replaces it if nearer to the query; near none it is added, or
 * replaces the farthest. So the threshold never rises. */
void tsn_separated_insert(tsn_separated *set, size_t id, double distance) {
  size_t at = set->count, near = set->table ? count_near(set, id, &at) : 0;
  /* Replacing two by one could raise the threshold. */
  if (near > 1) return;
  if (near == 0 && set->count == set->wanted) at = 0;
  if (at == set->count) {
    sift_up(set, set->count++, id, distance);
  } else if (is_nearer(distance, id, set->distance[at], set->id[at])) {
    if (set->table) forget(set, block_of(set, set->id[at]));
    sift_down(set, set->count, at, id, distance);
  }
}

double tsn_separated_threshold(const tsn_separated *set) {
  return set->count < set->wanted ? INFINITY : set->distance[0];
}

void tsn_separated_sort(tsn_separated *set) {
  for (size_t n = set->count; n > 1; n--) {
    size_t id = set->id[n - 1];
    double distance = set->distance[n - 1];
    put(set, n - 1, set->id[0], set->distance[0]);
    sift_down(set, n - 1, 0, id, distance);
  }
}

void tsn_separated_copy(tsn_separated *to, const tsn_separated *from) {
  to->count = from->count;
  memcpy(to->id, from->id, from->count * sizeof *to->id);
  memcpy(to->distance, from->distance, from->count * sizeof *to->distance);
  if (to->table) memcpy(to->table, from->table, from->places * sizeof *to->table);
}
