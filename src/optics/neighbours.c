/* SPDX-License-Identifier: BSD-3-Clause */
#include "optics/neighbours.h"

#include <math.h>

#include "optics/optics_internal.h"

static size_t search_room(size_t min_points) {
  return (min_points > TSN_OPTICS_KEPT ? min_points : TSN_OPTICS_KEPT) + 1;
}

/* Elements from what one thread finds to what the next finds: so far apart that no
 * processor fetches the one together with the other. */
static size_t search_stride(size_t min_points) {
  enum { APART = 64 };
  return search_room(min_points) + APART;
}

void tsn_optics_neighbours_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                  size_t min_points, int threads,
                                  tsn_optics_neighbours *neighbours) {
  size_t found = 0, keys = 0;
  if (__builtin_mul_overflow(search_stride(min_points), (size_t)threads, &found) ||
      __builtin_mul_overflow(n, (size_t)TSN_OPTICS_KEPT, &keys)) {
    arena->overflow = true;
  }
  tsn_optics_tree_layout(arena, n, dimensions, &neighbours->tree);
  neighbours->core = tsn_arena_take(arena, n, sizeof *neighbours->core);
  neighbours->list = tsn_arena_take(arena, n, sizeof *neighbours->list);
  neighbours->key = tsn_arena_take(arena, keys, sizeof *neighbours->key);
  neighbours->found_key = tsn_arena_take(arena, found, sizeof(double));
  neighbours->found_number = tsn_arena_take(arena, found, sizeof(uint32_t));
  neighbours->found_place = tsn_arena_take(arena, found, sizeof(uint32_t));
}

/* What a search finds: keys, numbers and places. */
typedef struct {
  double *key;
  uint32_t *number, *place;
} found;

static const double *row(const tsn_optics_tree *tree, uint32_t place) {
  return tree->rows + place * tree->dimensions;
}

static bool same_place(const tsn_optics_tree *tree, uint32_t a, uint32_t b) {
  const double *x = row(tree, a), *y = row(tree, b);
  for (size_t c = 0; c < tree->dimensions; c++) {
    if (x[c] != y[c]) return false;
  }
  return true;
}

/* Turn the nearest points found into neighbours by reachability: distances up to
 * the core distance count as that, and the numbers decide among them. Returns how
 * many are surely the first ones: if the search was full, what it left out may
 * come before those beyond. */
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

/* Keep the first neighbours of a point other than itself. A point at the same place as
 * one of a smaller number is processed later than that and reaches nothing sooner: it
 * needs none. */
static void keep(const tsn_optics_neighbours *s, uint32_t place, size_t held, bool full,
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
    list->neighbour[list->count++] = f->place[i];
  }
}

void tsn_optics_neighbours_find(void *neighbours, size_t begin, size_t end, int thread) {
  const tsn_optics_neighbours *s = neighbours;
  size_t k = s->min_points, room = search_room(k);
  size_t own = (size_t)thread * search_stride(k);
  found f = {s->found_key + own, s->found_number + own, s->found_place + own};
  for (size_t i = begin; i < end; i++) {
    uint32_t place = (uint32_t)i;
    size_t held = s->nearest(&s->tree, row(&s->tree, place), 0, s->eps, room, f.key,
                             f.number, f.place);
    s->core[place] = held >= k ? f.key[k - 1] : INFINITY;
    keep(s, place, held, held == room, &f);
  }
}

/* How many times as far as it has looked a point looks next. In few dimensions a
 * look at what is near costs little, and what is found far away is used up by others
 * first; in many dimensions every look costs about the same. */
static double farther(size_t dimensions) {
  return tsn_optics_few_dimensions(dimensions) ? 2 : INFINITY;
}

void tsn_optics_neighbours_renew(const tsn_optics_neighbours *s, uint32_t place) {
  tsn_optics_list *list = &s->list[place];
  double within = farther(s->tree.dimensions) * list->known;
  if (!(within > 0 && within < s->eps)) within = s->eps;
  double *key = s->key + (size_t)place * TSN_OPTICS_KEPT;
  uint32_t number[TSN_OPTICS_KEPT];
  list->next = 0;
  list->count =
      (uint8_t)s->nearest(&s->tree, row(&s->tree, place), s->core[place], within,
                          TSN_OPTICS_KEPT, key, number, list->neighbour);
  list->known = list->count == TSN_OPTICS_KEPT ? key[TSN_OPTICS_KEPT - 1] : within;
  list->complete = list->count < TSN_OPTICS_KEPT && within == s->eps;
}
