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

/* What a point has to offer next: all that the calling thread has to know of a list, so
 * that it need not fetch those that another one wrote. */
typedef struct {
  double key;   /* of the offer; without one, how far the point has looked, INFINITY if
                   nothing is left to it */
  uint64_t tie; /* see tsn_optics_offer */
  uint32_t to;  /* place of the point that it is made to; TSN_OPTICS_NONE: no offer */
} prospect;

typedef struct {
  tsanom_exec quiet; /* exec without its poll */
  const tsn_optics_lazy *scratch;
  tsn_optics_neighbours *neighbours;
  tsn_optics_offers offers;
  tsn_optics_buckets waiting; /* places of points that offer nothing now */
  uint32_t place[BATCH];
  prospect next[BATCH]; /* of the points at these places */
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

/* The best offer of the point at a place among the neighbours that it keeps. */
static prospect next_offer(const job *j, uint32_t place) {
  const tsn_optics_neighbours *neighbours = j->neighbours;
  tsn_optics_list *list = &neighbours->list[place];
  const double *keys = neighbours->key + (size_t)place * TSN_OPTICS_KEPT;
  unsigned open = open_to_offers(j, list, keys);
  if (open == 0) {
    list->next = list->count;
    return (prospect){list->complete ? INFINITY : list->known, 0, TSN_OPTICS_NONE};
  }
  list->next = (uint8_t)__builtin_ctz(open);
  uint32_t to = list->neighbour[list->next];
  uint64_t number = neighbours->tree.number[to];
  return (prospect){keys[list->next], number << 32 | list->time, to};
}

/* Whether there is an offer, and the order comes near its key soon. */
static bool is_due(const job *j, const prospect *p) {
  return p->to != TSN_OPTICS_NONE &&
         !(j->offers.count && tsn_optics_buckets_above(p->key, j->offers.entry[0].key));
}

/* Let the point at a place wait until the order comes to its offer or, if it has none, to
 * where it must look farther. */
static void wait(job *j, uint32_t place, const prospect *p) {
  if (p->to == TSN_OPTICS_NONE && p->key == INFINITY) return;
  tsn_optics_buckets_add(&j->waiting, place, p->key);
}

/* The offer of the point at a place, which is made now: the neighbour before the list's
 * next one is whom it is made to. */
static tsn_optics_offer offer_of(job *j, uint32_t place, const prospect *p) {
  double *reach = &j->scratch->reach[p->to];
  j->neighbours->list[place].next++;
  if (p->key < *reach) *reach = p->key;
  return (tsn_optics_offer){p->key, p->tie};
}

static void offer_or_wait(job *j, uint32_t place, const prospect *p) {
  if (is_due(j, p)) {
    tsn_optics_offers_push(&j->offers, offer_of(j, place, p));
  } else {
    wait(j, place, p);
  }
}

/* Find out what points that waited have to offer; those that have used up what they kept
 * look farther. */
static void find_offers(void *context, size_t begin, size_t end, int thread) {
  enum { AHEAD = 8 };
  job *j = context;
  const tsn_optics_neighbours *neighbours = j->neighbours;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    if (i + AHEAD < end) tsn_optics_neighbours_fetch(neighbours, j->place[i + AHEAD]);
    const tsn_optics_list *list = &neighbours->list[j->place[i]];
    if (list->next == list->count) {
      tsn_optics_neighbours_renew(neighbours, j->place[i]);
    }
    j->next[i] = next_offer(j, j->place[i]);
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
    tsn_parallel_for(&j->quiet, count, grain, find_offers, j, NULL);
    for (size_t i = 0; i < count; i++) offer_or_wait(j, j->place[i], &j->next[i]);
  }
}

/* Fetch what processing the point at a place needs. */
static void fetch(const job *j, uint32_t place) {
  const double *keys = j->neighbours->key + (size_t)place * TSN_OPTICS_KEPT;
  __builtin_prefetch(&j->neighbours->list[place], 1);
  __builtin_prefetch(keys);
  __builtin_prefetch(keys + TSN_OPTICS_KEPT - 1);
  tsn_optics_tree_fetch(&j->neighbours->tree, place);
}

/* A point that may be the next of the order. */
typedef struct {
  double key;
  uint32_t place;
  uint32_t from; /* predecessor, TSN_OPTICS_NONE: none */
} candidate;

/* That of the best offer, whose maker makes another one; without offers, the first point
 * that is left. */
static candidate next_candidate(job *j, const uint32_t *order) {
  const tsn_optics_tree *tree = &j->neighbours->tree;
  if (j->offers.count == 0) {
    return (candidate){INFINITY, tree->place[tree->first[0]], TSN_OPTICS_NONE};
  }
  tsn_optics_offer best = j->offers.entry[0];
  uint32_t time = (uint32_t)best.tie, maker = j->scratch->place[time];
  const tsn_optics_list *list = &j->neighbours->list[maker];
  candidate c = {best.key, list->neighbour[list->next - 1], order[time]};
  fetch(j, c.place);
  prospect next = next_offer(j, maker);
  if (is_due(j, &next)) {
    tsn_optics_offers_replace_first(&j->offers, offer_of(j, maker, &next));
  } else {
    tsn_optics_offers_drop_first(&j->offers);
    wait(j, maker, &next);
  }
  return c;
}

static tsanom_status order_all(job *j, const tsn_optics_progress *progress,
                               const tsn_optics_result *r, size_t n) {
  tsn_optics_tree *tree = &j->neighbours->tree;
  double *reach = j->scratch->reach;
  for (size_t i = 0; i < n; i++) reach[i] = INFINITY;
  for (size_t k = 0; k < n;) {
    settle(j);
    candidate c = next_candidate(j, r->order);
    if (reach[c.place] != c.key) continue; /* it had a better offer */
    if (k % 64 == 0 && tsn_exec_stop(&progress->exec, k, n)) return TSANOM_STOPPED;
    r->order[k] = tree->number[c.place];
    r->reachability[k] = c.key;
    r->predecessor[k] = c.from;
    reach[c.place] = processed;
    j->scratch->place[k] = c.place;
    j->neighbours->list[c.place].time = (uint32_t)k;
    tsn_optics_tree_remove(tree, c.place);
    prospect next = next_offer(j, c.place);
    offer_or_wait(j, c.place, &next);
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
