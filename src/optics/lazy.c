/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS by a kd-tree and a lazy form of Prim's algorithm: each processed point
 * keeps a few of its nearest points not yet processed and asks the tree for more
 * only when these are used up. Subtrees without unprocessed points are passed
 * over, so that an infinite eps costs about what a small one does. */
#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "optics/optics_internal.h"

/* Neighbours that a point keeps. */
enum { KEPT = 12 };

/* Points a chunk of the parallel search has. */
enum { GRAIN = 128 };

typedef struct {
  const tsn_optics_input *input;
  const tsanom_optics_options *options;
  const tsn_optics_kernels *kernels;
  const tsn_optics_lazy *scratch;
  const tsn_optics_result *result;
} job;

static size_t search_room(size_t min_points) {
  return (min_points > KEPT ? min_points : KEPT) + 1;
}

void tsn_optics_lazy_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads, tsn_optics_lazy *scratch) {
  size_t found = 0, kept = 0;
  if (__builtin_mul_overflow(search_room(min_points), (size_t)threads, &found) ||
      __builtin_mul_overflow(n, (size_t)KEPT, &kept)) {
    arena->overflow = true;
  }
  tsn_optics_tree_layout(arena, n, dimensions, &scratch->tree);
  scratch->found_key = tsn_arena_take(arena, found, sizeof(double));
  scratch->found_number = tsn_arena_take(arena, found, sizeof(uint32_t));
  scratch->key = tsn_arena_take(arena, kept, sizeof(double));
  scratch->number = tsn_arena_take(arena, kept, sizeof(uint32_t));
  scratch->list = tsn_arena_take(arena, n, sizeof *scratch->list);
  scratch->heap = tsn_arena_take(arena, n, sizeof *scratch->heap);
  scratch->processed = tsn_arena_take(arena, n, sizeof *scratch->processed);
}

static const double *row(const job *j, uint32_t p) {
  return j->input->points + p * j->input->leading;
}

static bool same_place(const job *j, uint32_t p, uint32_t q) {
  const double *x = row(j, p), *y = row(j, q);
  for (size_t c = 0; c < j->input->dimensions; c++) {
    if (x[c] != y[c]) return false;
  }
  return true;
}

/* Turn the nearest points found into neighbours by reachability: distances up to
 * the core distance count as that, and the numbers decide among them. Returns how
 * many are surely the first ones: if the search was full, what it left out may
 * come before those beyond. */
static size_t by_reachability(double core, size_t held, bool full, double *key,
                              uint32_t *number) {
  double last_key = key[held - 1];
  uint32_t last = number[held - 1];
  for (size_t i = 0; i < held && key[i] <= core; i++) {
    uint32_t moved = number[i];
    size_t k = i;
    for (; k > 0 && number[k - 1] > moved; k--) number[k] = number[k - 1];
    number[k] = moved;
    key[i] = core;
  }
  if (!full || last_key > core) return held;
  while (held > 0 && number[held - 1] > last) held--;
  return held;
}

/* Keep the first neighbours of p other than p. A point at the same place as one of
 * a smaller number is processed later than that and reaches nothing sooner: it
 * needs none. */
static void keep(const job *j, uint32_t p, size_t held, bool full, double *key,
                 uint32_t *number) {
  const tsn_optics_lazy *s = j->scratch;
  tsn_optics_list *list = &s->list[p];
  *list = (tsn_optics_list){.complete = true};
  double core = j->result->core[p];
  if (core == INFINITY || (number[0] != p && same_place(j, p, number[0]))) return;
  held = by_reachability(core, held, full, key, number);
  size_t base = (size_t)s->tree.place[p] * KEPT;
  list->complete = !full;
  for (size_t i = 0; i < held; i++) {
    if (number[i] == p) continue;
    if (list->count == KEPT) {
      list->complete = false;
      break;
    }
    s->key[base + list->count] = key[i];
    s->number[base + list->count++] = number[i];
  }
}

/* Core distances and first neighbours of the points in lanes [begin, end). */
static void search_neighbours(void *context, size_t begin, size_t end, int thread) {
  const job *j = context;
  const tsn_optics_lazy *s = j->scratch;
  size_t k = j->options->min_points, room = search_room(k);
  double *key = s->found_key + (size_t)thread * room;
  uint32_t *number = s->found_number + (size_t)thread * room;
  for (size_t place = begin; place < end; place++) {
    uint32_t p = s->tree.number[place];
    size_t held = j->kernels->nearest[j->options->metric](
        &s->tree, row(j, p), 0, j->options->eps, room, key, number);
    j->result->core[p] = held >= k ? key[k - 1] : INFINITY;
    keep(j, p, held, held == room, key, number);
  }
}

/* Whether heap entry a comes out before b. */
static inline bool sooner(tsn_optics_offer a, tsn_optics_offer b) {
  return a.key < b.key || (a.key == b.key && a.tie < b.tie);
}

enum { WAYS = 4 };

static void sift_down(tsn_optics_offer *heap, size_t count, tsn_optics_offer moved) {
  size_t hole = 0;
  for (size_t child; (child = WAYS * hole + 1) < count; hole = child) {
    size_t end = child + WAYS < count ? child + WAYS : count;
    for (size_t other = child + 1; other < end; other++) {
      if (sooner(heap[other], heap[child])) child = other;
    }
    if (!sooner(heap[child], moved)) break;
    heap[hole] = heap[child];
  }
  heap[hole] = moved;
}

static void sift_up(tsn_optics_offer *heap, size_t hole, tsn_optics_offer moved) {
  for (size_t parent; hole > 0; hole = parent) {
    parent = (hole - 1) / WAYS;
    if (!sooner(moved, heap[parent])) break;
    heap[hole] = heap[parent];
  }
  heap[hole] = moved;
}

/* How many times as far as it has looked a point looks next. In few dimensions a
 * look at what is near costs little, and what is found far away is used up by others
 * first; in many dimensions every look costs about the same. */
static double farther(size_t dimensions) {
  return dimensions <= 8 ? 2 : INFINITY;
}

/* The best point that p, processed as number `time`, still has to offer; false if
 * there is none any more. What p has is used up to the distance `known`: it asks for
 * more up to a multiple of that, and if there is nothing, offers that distance with
 * a point that is processed, to be asked again when it is the nearest. */
static bool next_of(const job *j, uint32_t p, uint32_t time, double known,
                    tsn_optics_offer *entry) {
  const tsn_optics_lazy *s = j->scratch;
  tsn_optics_list *list = &s->list[p];
  size_t base = (size_t)s->tree.place[p] * KEPT;
  for (;;) {
    for (; list->next < list->count; list->next++) {
      uint32_t o = s->number[base + list->next];
      known = s->key[base + list->next];
      if (s->processed[o]) continue;
      *entry = (tsn_optics_offer){known, (uint64_t)o << 32 | time};
      return true;
    }
    if (list->complete) return false;
    double eps = j->options->eps, within = farther(j->input->dimensions) * known;
    if (!(within > 0 && within < eps)) within = eps;
    list->next = 0;
    list->count = (uint8_t)j->kernels->nearest[j->options->metric](
        &s->tree, row(j, p), j->result->core[p], within, KEPT, s->key + base,
        s->number + base);
    list->complete = list->count < KEPT && within == eps;
    if (list->count == 0 && !list->complete) {
      *entry = (tsn_optics_offer){within, (uint64_t)p << 32 | time};
      return true;
    }
  }
}

static tsanom_status order_all(const job *j, const tsn_optics_progress *progress) {
  const tsn_optics_lazy *s = j->scratch;
  const tsn_optics_result *r = j->result;
  tsn_optics_tree tree = s->tree;
  size_t n = j->input->n, waiting = 0;
  memset(s->processed, 0, n * sizeof *s->processed);
  for (size_t k = 0; k < n;) {
    tsn_optics_offer top = {INFINITY, (uint64_t)tree.first[0] << 32};
    uint32_t from = TSN_OPTICS_NONE, p;
    if (waiting) {
      top = s->heap[0];
      uint32_t time = (uint32_t)top.tie;
      from = r->order[time];
      if (s->processed[top.tie >> 32]) {
        bool more = next_of(j, from, time, top.key, &top);
        if (!more) top = s->heap[--waiting];
        if (waiting) sift_down(s->heap, waiting, top);
        continue;
      }
    }
    if (k % 64 == 0 && tsn_exec_stop(&progress->exec, k, n)) return TSANOM_STOPPED;
    p = (uint32_t)(top.tie >> 32);
    r->order[k] = p;
    r->reachability[k] = top.key;
    r->predecessor[k] = from;
    s->processed[p] = 1;
    tsn_optics_tree_remove(&tree, p);
    if (next_of(j, p, (uint32_t)k, r->core[p], &top)) sift_up(s->heap, waiting++, top);
    k++;
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_lazy_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress,
                                    tsn_optics_lazy *scratch,
                                    const tsn_optics_result *result) {
  job j = {input, options, tsn_optics_kernels_at(progress->exec.isa), scratch, result};
  tsn_optics_tree_build(&scratch->tree, input);
  tsanom_status status =
      tsn_parallel_for(&progress->exec, input->n, GRAIN, search_neighbours, &j, NULL);
  if (status != TSANOM_OK) return status;
  progress->before = input->n;
  return order_all(&j, progress);
}
