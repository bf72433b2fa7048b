/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS by a kd-tree and a lazy form of Prim's algorithm: each processed point keeps a
 * few of its nearest points not yet processed, makes an offer to the first of them when
 * the order comes near its reachability, and asks the tree for more only when these are
 * used up and the order has come to their reachability. Subtrees without unprocessed
 * points are passed over, so that an infinite eps costs about what a small one does.
 *
 * Points that ask do so many at a time, in parallel. What a point has found stays
 * true while others are processed, so that the result does not depend on when it
 * asked. */
#include <math.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "optics/optics_internal.h"

enum {
  GRAIN = 128, /* points that a chunk of the first search has */
  BATCH = 1024 /* points that look farther at a time */
};

/* The reachability of a processed point: better than any offer. */
static const double processed = -1;

/* What a point that looked farther knows: of its list, so that the calling thread
 * need not fetch those that another one wrote and that remained empty. */
typedef struct {
  double known;
  bool found, complete;
} outcome;

typedef struct {
  tsanom_exec quiet; /* exec without its poll */
  const tsn_optics_lazy *scratch;
  tsn_optics_neighbours *neighbours;
  tsn_optics_offers offers;
  tsn_optics_buckets waiting; /* places of points that offer nothing now */
  uint32_t place[BATCH];
  outcome outcome[BATCH];
} job;

void tsn_optics_lazy_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads, tsn_optics_lazy *scratch) {
  tsn_optics_neighbours_layout(arena, n, dimensions, min_points, threads,
                               &scratch->neighbours);
  tsn_optics_offers_layout(arena, n, &scratch->offers);
  tsn_optics_buckets_layout(arena, n, &scratch->waiting);
  scratch->reach = tsn_arena_take(arena, n, sizeof *scratch->reach);
  scratch->place = tsn_arena_take(arena, n, sizeof *scratch->place);
}

/* Which neighbours kept from the next on can be offered their keys: those not processed
 * that have no better offer, as bits. All are looked at, since a branch at each would go
 * either way as often. */
static unsigned open_to_offers(const job *j, const tsn_optics_list *list,
                               const double *keys) {
  const double *reach = j->scratch->reach;
  unsigned open = 0;
  for (unsigned k = list->next; k < list->count; k++) {
    /* The remainder is k, which a compiler that checks shifts cannot know. */
    open |= (unsigned)(reach[list->neighbour[k]] >= keys[k]) << k % 32;
  }
  return open;
}

/* Let the point at a place make the best offer that it still has: now, or, if the order
 * will not come to that soon, later. If it keeps none, it waits until it must look
 * farther. */
static void make_offer(job *j, uint32_t place) {
  tsn_optics_list *list = &j->neighbours->list[place];
  const double *keys = j->neighbours->key + (size_t)place * TSN_OPTICS_KEPT;
  unsigned open = open_to_offers(j, list, keys);
  if (open == 0) {
    list->next = list->count;
    if (!list->complete) tsn_optics_buckets_add(&j->waiting, place, list->known);
    return;
  }
  list->next = (uint8_t)__builtin_ctz(open);
  double key = keys[list->next];
  if (j->offers.count && tsn_optics_buckets_above(key, j->offers.entry[0].key)) {
    tsn_optics_buckets_add(&j->waiting, place, key);
    return;
  }
  uint32_t to = list->neighbour[list->next++];
  uint64_t number = j->neighbours->tree.number[to];
  __builtin_prefetch(&j->neighbours->tree.place[number]); /* once the offer is taken */
  if (key < j->scratch->reach[to]) j->scratch->reach[to] = key;
  tsn_optics_offers_push(&j->offers, (tsn_optics_offer){key, number << 32 | list->time});
}

/* Let those make an offer that waited to do so; returns how many of the `count` are left,
 * which must look farther. */
static size_t make_offers(job *j, size_t count) {
  enum { AHEAD = 8 };
  const tsn_optics_list *lists = j->neighbours->list;
  size_t left = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t place = j->place[i];
    if (i + AHEAD < count) __builtin_prefetch(&lists[j->place[i + AHEAD]], 1);
    if (lists[place].next < lists[place].count) {
      make_offer(j, place);
    } else {
      j->place[left++] = place;
    }
  }
  return left;
}

static void look_farther(void *context, size_t begin, size_t end, int thread) {
  job *j = context;
  tsn_optics_list *lists = j->neighbours->list;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    if (i + 1 < end) __builtin_prefetch(&lists[j->place[i + 1]], 1);
    const tsn_optics_list *list = &lists[j->place[i]];
    tsn_optics_neighbours_renew(j->neighbours, j->place[i]);
    j->outcome[i] = (outcome){list->known, list->count > 0, list->complete};
  }
}

/* Points that a chunk of a later search has: fewer where each costs more. */
static size_t grain_again(size_t dimensions) {
  return tsn_optics_few_dimensions(dimensions) ? 64 : 1;
}

/* Turn to those that wait and may have something better than the first offer. */
static void settle(job *j) {
  size_t grain = grain_again(j->neighbours->tree.dimensions);
  for (;;) {
    double key =
        j->offers.count ? j->offers.entry[0].key : tsn_optics_buckets_least(&j->waiting);
    size_t count = tsn_optics_buckets_take(&j->waiting, key, j->place, BATCH);
    if (count == 0) return;
    count = make_offers(j, count);
    tsn_parallel_for(&j->quiet, count, grain, look_farther, j, NULL);
    for (size_t i = 0; i < count; i++) {
      if (j->outcome[i].found) {
        make_offer(j, j->place[i]);
      } else if (!j->outcome[i].complete) {
        tsn_optics_buckets_add(&j->waiting, j->place[i], j->outcome[i].known);
      }
    }
  }
}

/* Fetch what processing the point at a place needs. */
static void fetch(const job *j, uint32_t place) {
  const double *keys = j->neighbours->key + (size_t)place * TSN_OPTICS_KEPT;
  __builtin_prefetch(&j->neighbours->list[place], 1);
  __builtin_prefetch(keys);
  __builtin_prefetch(keys + TSN_OPTICS_KEPT - 1);
}

static tsanom_status order_all(job *j, const tsn_optics_progress *progress,
                               const tsn_optics_result *r, size_t n) {
  tsn_optics_tree *tree = &j->neighbours->tree;
  double *reach = j->scratch->reach;
  for (size_t i = 0; i < n; i++) reach[i] = INFINITY;
  for (size_t k = 0; k < n;) {
    settle(j);
    tsn_optics_offer best = {INFINITY, (uint64_t)tree->first[0] << 32};
    uint32_t from = TSN_OPTICS_NONE;
    if (j->offers.count) {
      best = j->offers.entry[0];
      uint32_t time = (uint32_t)best.tie;
      from = r->order[time];
      uint32_t next = tree->place[best.tie >> 32];
      fetch(j, next);
      tsn_optics_tree_fetch(tree, next);
      tsn_optics_offers_drop_first(&j->offers);
      make_offer(j, j->scratch->place[time]);
    }
    uint32_t p = (uint32_t)(best.tie >> 32), place = tree->place[p];
    if (reach[place] != best.key) continue;
    if (k % 64 == 0 && tsn_exec_stop(&progress->exec, k, n)) return TSANOM_STOPPED;
    r->order[k] = p;
    r->reachability[k] = best.key;
    r->predecessor[k] = from;
    reach[place] = processed;
    j->scratch->place[k] = place;
    j->neighbours->list[place].time = (uint32_t)k;
    tsn_optics_tree_remove(tree, p);
    make_offer(j, place);
    k++;
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_lazy_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress,
                                    tsn_optics_lazy *scratch,
                                    const tsn_optics_result *result) {
  tsn_optics_neighbours *neighbours = &scratch->neighbours;
  size_t n = input->n;
  neighbours->min_points = options->min_points;
  neighbours->eps = options->eps;
  neighbours->nearest =
      tsn_optics_kernels_at(progress->exec.isa)->nearest[options->metric];
  tsanom_exec quiet = progress->exec;
  quiet.poll = NULL;
  tsn_optics_tree_build(&neighbours->tree, input, &quiet);
  tsanom_status status = tsn_parallel_for(&progress->exec, n, GRAIN,
                                          tsn_optics_neighbours_find, neighbours, NULL);
  if (status != TSANOM_OK) return status;
  for (size_t p = 0; p < n; p++) {
    result->core[p] = neighbours->core[neighbours->tree.place[p]];
  }
  progress->before = n;
  job j = {.quiet = quiet,
           .scratch = scratch,
           .neighbours = neighbours,
           .offers = scratch->offers,
           .waiting = scratch->waiting};
  tsn_optics_buckets_clear(&j.waiting);
  return order_all(&j, progress, result, n);
}
