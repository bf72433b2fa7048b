/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbors of each point, in the order in which its edges would be used. For a point p
 * with core distance c, the edge to o has the key max(c, d(p,o)), so that all neighbors
 * within c tie and the index decides:
 *
 *     distance      0 ------- c ------- known ---------- eps
 *     order         by index  | by d    | not listed     | no neighbors
 *                   \_______ list _____/
 *
 * The first search of a point is by distance and returns max(min_points, 12) + 1 points:
 * it yields the core distance, and the list after sorting the ties by index. Later
 * searches know the core distance, are by key directly, and see only unprocessed points:
 * these are the edges that can still be used, whichever points were processed meanwhile.
 *
 * Invariant: an unprocessed neighbor within eps that is not in [next, count) of the list
 * was used before, or comes after (known, last index of the list). So the first usable
 * entry of the list is the best edge of the point, and an empty list with the bound
 * `known` says when the point must search again. */
#include "optics/neighbors.h"

#include <math.h>

#include "optics/optics_internal.h"

/* One more than is asked for: the point finds itself. */
static size_t search_capacity(size_t min_points) {
  return (min_points > TSN_OPTICS_KEPT ? min_points : TSN_OPTICS_KEPT) + 1;
}

/* Elements between the results of two threads, far enough apart that a processor's own
 * prefetching does not touch those of another. */
static size_t search_stride(size_t min_points) {
  enum { APART = 64 };
  return search_capacity(min_points) + APART;
}

void tsn_optics_neighbors_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                 size_t min_points, int threads,
                                 tsn_optics_neighbors *neighbors) {
  size_t found = 0, keys = 0;
  if (__builtin_mul_overflow(search_stride(min_points), (size_t)threads, &found) ||
      __builtin_mul_overflow(n, (size_t)TSN_OPTICS_KEPT, &keys)) {
    arena->overflow = true;
  }
  tsn_optics_tree_layout(arena, n, dimensions, &neighbors->tree);
  neighbors->core = tsn_arena_take(arena, n, sizeof *neighbors->core);
  neighbors->list = tsn_arena_take(arena, n, sizeof *neighbors->list);
  neighbors->key = tsn_arena_take(arena, keys, sizeof *neighbors->key);
  neighbors->found_key = tsn_arena_take(arena, found, sizeof(double));
  neighbors->found_number = tsn_arena_take(arena, found, sizeof(uint32_t));
  neighbors->found_place = tsn_arena_take(arena, found, sizeof(uint32_t));
}

/* Result of a search: keys, indices and places, sorted. */
typedef struct {
  double *key;
  uint32_t *number, *place;
} found;

static const double *row(const tsn_optics_tree *tree, uint32_t place) {
  return tree->rows + place * tree->dimensions;
}

/* Whether two points have equal coordinates. A distance of 0 does not suffice: squares of
 * small differences underflow. */
static bool same_place(const tsn_optics_tree *tree, uint32_t a, uint32_t b) {
  const double *x = row(tree, a), *y = row(tree, b);
  for (size_t c = 0; c < tree->dimensions; c++) {
    if (x[c] != y[c]) return false;
  }
  return true;
}

/* Sort the points found by distance into the order by key: distances up to the core
 * distance become equal to it, and indices decide among them. Returns how many are the
 * first ones by key: a full search that ends at the core distance may have omitted points
 * at that distance, all with a larger index than the last point found. */
static size_t by_reachability(double core, size_t held, bool full, const found *f) {
  double last_key = f->key[held - 1];
  uint32_t last = f->number[held - 1];
  for (size_t i = 0; i < held && f->key[i] <= core; i++) {
    uint32_t number = f->number[i], place = f->place[i];
    size_t k = i;
    for (; k > 0 && f->number[k - 1] > number; k--) {
      f->number[k] = f->number[k - 1];
      f->place[k] = f->place[k - 1];
    }
    f->number[k] = number;
    f->place[k] = place;
    f->key[i] = core;
  }
  if (!full || last_key > core) return held;
  while (held > 0 && f->number[held - 1] > last) held--;
  return held;
}

/* Fill the list of a point. A duplicate of a point with a smaller index needs no list: it
 * is processed later, and its edges have the same keys as those of that point, which win
 * the ties because they were there first. Without this rule k duplicates would keep k
 * lists of each other, and each would search past all the others. The first point found
 * is at distance 0 and has the smallest index there, so one comparison decides. */
static void keep(const tsn_optics_neighbors *s, uint32_t place, size_t held, bool full,
                 const found *f) {
  double core = s->core[place];
  tsn_optics_list *list = &s->list[place];
  list->next = list->count = 0;
  list->known = core;
  list->complete = true;
  if (core == INFINITY ||
      (f->place[0] != place && same_place(&s->tree, place, f->place[0]))) {
    return;
  }
  held = by_reachability(core, held, full, f);
  list->complete = !full;
  double *kept = s->key + (size_t)place * TSN_OPTICS_KEPT;
  for (size_t i = 0; i < held; i++) {
    if (f->place[i] == place) continue;
    if (list->count == TSN_OPTICS_KEPT) {
      list->complete = false;
      break;
    }
    kept[list->count] = list->known = f->key[i];
    list->neighbor[list->count++] = f->place[i];
  }
}

void tsn_optics_neighbors_find(void *neighbors, size_t begin, size_t end, int thread) {
  const tsn_optics_neighbors *s = neighbors;
  size_t k = s->min_points, capacity = search_capacity(k);
  size_t own = (size_t)thread * search_stride(k);
  found f = {s->found_key + own, s->found_number + own, s->found_place + own};
  for (size_t i = begin; i < end; i++) {
    uint32_t place = (uint32_t)i;
    double beyond;
    size_t held = s->nearest(&s->tree, row(&s->tree, place), 0, s->eps, capacity, f.key,
                             f.number, f.place, &beyond);
    s->core[place] = held >= k ? f.key[k - 1] : INFINITY;
    keep(s, place, held, held == capacity, &f);
  }
}

/* Factor from the radius that a list covers to that of the next search. In few dimensions
 * a small radius is searched faster, and points found far away are mostly processed
 * through other points first; in many dimensions all searches cost about the same. When
 * the factor 2 replaced an unlimited radius, 100,000 points in the plane with an infinite
 * eps took 0.35 s in place of 0.59 s. */
static double radius_growth(size_t dimensions) {
  return tsn_optics_few_dimensions(dimensions) ? 2 : INFINITY;
}

void tsn_optics_neighbors_extend(const tsn_optics_neighbors *s, uint32_t place) {
  tsn_optics_list *list = &s->list[place];
  double within = radius_growth(s->tree.dimensions) * list->known;
  if (!(within > 0 && within < s->eps)) within = s->eps;
  double *key = s->key + (size_t)place * TSN_OPTICS_KEPT;
  uint32_t number[TSN_OPTICS_KEPT];
  list->next = 0;
  double beyond;
  list->count =
      (uint8_t)s->nearest(&s->tree, row(&s->tree, place), s->core[place], within,
                          TSN_OPTICS_KEPT, key, number, list->neighbor, &beyond);
  bool full = list->count == TSN_OPTICS_KEPT;
  list->known = full ? key[TSN_OPTICS_KEPT - 1] : fmax(within, beyond);
  list->complete = !full && (within == s->eps || beyond > s->eps);
}
