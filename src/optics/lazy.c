/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS with a kd-tree. The order is that of Prim's algorithm on the graph whose edges
 * p -> o, d(p,o) <= eps, have the key
 *
 *     key(p, o) = max{core(p), d(p, o)}:
 *
 * the next point is the target of the smallest edge from a processed to an unprocessed
 * point. A textbook heap would hold up to n (n - 1) edges. Here a processed point takes
 * part with one edge only, its candidate, and edges are found when they are needed:
 *
 *     kd-tree --extend--> list of 12 --candidate--> buckets --drain--> heap --> order
 *                                    (best usable   (far above         (exact)
 *                                     edge)          the heap)
 *
 * - An edge is usable if its target is unprocessed and no edge with a smaller key to it
 *   has been published. A candidate is published, that is, pushed to the heap, if it is
 *   not above the bucket of the smallest edge there; otherwise its source is deferred in
 *   a bucket.
 * - When a list is used up, its source is deferred by the radius that the list covers.
 *   When the order comes to that reachability, the tree is searched again.
 * - Subtrees without unprocessed points are skipped, so that an infinite eps costs about
 *   as much as a small one.
 *
 * Why the order is that of the definition. Let e be the best usable edge of all. Its
 * source's candidate is e, or it was published before; so e is in the heap, or its source
 * is in a bucket with a key <= key(e). take_next() is called only after every bucket with
 * a bound <= the smallest key of the heap has been drained. Then e comes out, or an edge
 * whose target was processed or has got a better edge meanwhile; its key differs from
 * `reach` of the target, and it is dropped.
 *
 * Deferred points are drained in batches, whose searches run in parallel. What a search
 * has found stays true while other points are processed, so the result does not depend on
 * the size of batches or on the threads.
 *
 * The time is about n log n in few dimensions: from 12,500 to 400,000 points in 2
 * dimensions it fits 2.5 us · n with residuals of 3 % (2-core Xeon, AVX-512).
 * The order follows density, not memory: hence lists of one cache line. */
#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "core/size.h"
#include "optics/optics_internal.h"

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
static void heap_layout(tsn_arena *arena, size_t n, tsn_optics_heap *heap) {
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

/* push, replace_first and drop_first: O(log n), without allocation. replace_first drops
 * the smallest edge and adds another in one pass from the root, where a drop and a push
 * would be two. It and drop_first require a heap that is not empty. */
static void heap_push(tsn_optics_heap *heap, tsn_optics_edge added) {
  tsn_optics_edge *entry = heap->edge;
  size_t hole = heap->count++;
  for (size_t parent; hole > 0; hole = parent) {
    parent = (hole - 1) / WAYS;
    if (!precedes(&added, &entry[parent])) break;
    entry[hole] = entry[parent];
  }
  entry[hole] = added;
}

static void heap_replace_first(tsn_optics_heap *heap, tsn_optics_edge added) {
  tsn_optics_edge *entry = heap->edge;
  size_t hole = 0, count = heap->count;
  for (size_t child; (child = WAYS * hole + 1) < count; hole = child) {
    child += first_child(&entry[child], count - child);
    if (!precedes(&entry[child], &added)) break;
    entry[hole] = entry[child];
  }
  entry[hole] = added;
}

static void heap_drop_first(tsn_optics_heap *heap) {
  tsn_optics_edge last = heap->edge[--heap->count];
  heap_replace_first(heap, last);
}

static void buckets_layout(tsn_arena *arena, size_t n, tsn_optics_buckets *buckets) {
  buckets->head = tsn_arena_take(arena, BUCKETS, sizeof *buckets->head);
  buckets->least = tsn_arena_take(arena, BUCKETS, sizeof *buckets->least);
  buckets->used = tsn_arena_take(arena, BUCKETS / 64, sizeof *buckets->used);
  buckets->next = tsn_arena_take(arena, n, sizeof *buckets->next);
}

static void buckets_clear(tsn_optics_buckets *buckets) {
  memset(buckets->used, 0, BUCKETS / 64 * sizeof *buckets->used);
  buckets->lowest = BUCKETS;
}

static size_t bucket_of(double key) {
  return bits_of(key) >> (52 - FRACTION_BITS);
}

/* Whether a key belongs to a bucket above that of another key. Edges in the bucket of the
 * smallest edge will be needed soon, so only those above it are deferred. */
static bool buckets_above(double key, double other) {
  return bucket_of(key) > bucket_of(other);
}

/* A lower bound of all keys; INFINITY if there are no items. */
static double buckets_least(const tsn_optics_buckets *buckets) {
  return buckets->lowest < BUCKETS ? buckets->least[buckets->lowest] : INFINITY;
}

/* Add an item that is in no bucket; key >= 0, not infinite. O(1). */
static void buckets_add(tsn_optics_buckets *buckets, uint32_t item, double key) {
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

/* Remove up to `capacity` items from the buckets with a bound <= key; returns their
 * number. If it is `capacity`, there may be more. */
static size_t buckets_drain(tsn_optics_buckets *buckets, double key, uint32_t *items,
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

static void neighbors_layout(tsn_arena *arena, size_t n, size_t dimensions,
                             size_t min_points, int threads,
                             tsn_optics_neighbors *neighbors) {
  size_t found = tsn_product(search_stride(min_points), (size_t)threads);
  tsn_optics_tree_layout(arena, n, dimensions, &neighbors->tree);
  neighbors->core = tsn_arena_take(arena, n, sizeof *neighbors->core);
  neighbors->list = tsn_arena_take(arena, n, sizeof *neighbors->list);
  neighbors->key =
      tsn_arena_take(arena, tsn_product(n, TSN_OPTICS_KEPT), sizeof *neighbors->key);
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

/* Find the core distances and first lists of the places [begin, end): a body of
 * tsn_parallel_for. The tree must be complete: no point may have been removed. */
static void neighbors_find(void *neighbors, size_t begin, size_t end, int thread) {
  const tsn_optics_neighbors *s = neighbors;
  size_t k = s->min_points, capacity = search_capacity(k);
  size_t own = (size_t)thread * search_stride(k);
  found f = {s->found_key + own, s->found_number + own, s->found_place + own};
  for (size_t i = begin; i < end; i++) {
    uint32_t place = (uint32_t)i;
    double beyond;
    size_t held = s->nearest(&s->tree, row(&s->tree, place), 0, s->eps, NULL, capacity,
                             f.key, f.number, f.place, &beyond);
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

/* Refill the used-up list of a processed point: afterwards it has unprocessed neighbors,
 * with usable edges if `reach` is given, or `known` is larger than before, or it is
 * complete. */
static void neighbors_extend(const tsn_optics_neighbors *s, uint32_t place,
                             const double *reach) {
  tsn_optics_list *list = &s->list[place];
  double within = radius_growth(s->tree.dimensions) * list->known;
  if (!(within > 0 && within < s->eps)) within = s->eps;
  double *key = s->key + (size_t)place * TSN_OPTICS_KEPT;
  uint32_t number[TSN_OPTICS_KEPT];
  list->next = 0;
  double beyond;
  list->count =
      (uint8_t)s->nearest(&s->tree, row(&s->tree, place), s->core[place], within, reach,
                          TSN_OPTICS_KEPT, key, number, list->neighbor, &beyond);
  bool full = list->count == TSN_OPTICS_KEPT;
  list->known = full ? key[TSN_OPTICS_KEPT - 1] : fmax(within, beyond);
  list->complete = !full && (within == s->eps || beyond > s->eps);
}

/* Deferred points that are drained at a time. Two threads need batches long enough to
 * share; a longer batch also searches for points that a smaller edge, found by an earlier
 * search of the same batch, would have made superfluous. */
enum { BATCH = 1024 };

/* `reach` of a processed point: less than any key. */
static const double processed = -1;

/* The best usable edge of a processed point. It repeats what is in the point's list, so
 * that the calling thread does not touch lists that other threads wrote. */
typedef struct tsn_optics_candidate {
  double key;      /* without an edge: radius that the list covers; INFINITY: no more
                      edges */
  uint64_t tie;    /* as of tsn_optics_edge */
  uint32_t target; /* place; TSN_OPTICS_NONE: no edge in the list */
} candidate;

/* The state of the order. The heap and the buckets are the scratch's, with the counts of
 * this call. */
typedef struct {
  const tsanom_exec *exec; /* of batches */
  const tsn_optics_lazy *scratch;
  tsn_optics_neighbors *neighbors;
  tsn_optics_heap heap;
  tsn_optics_buckets deferred; /* places of processed points */
} job;

void tsn_optics_lazy_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads, tsn_optics_lazy *scratch) {
  neighbors_layout(arena, n, dimensions, min_points, threads, &scratch->neighbors);
  heap_layout(arena, n, &scratch->heap);
  buckets_layout(arena, n, &scratch->deferred);
  scratch->reach = tsn_arena_take(arena, n, sizeof *scratch->reach);
  scratch->place = tsn_arena_take(arena, n, sizeof *scratch->place);
  scratch->batch = tsn_arena_take(arena, n < BATCH ? n : BATCH, sizeof *scratch->batch);
  scratch->found = tsn_arena_take(arena, n < BATCH ? n : BATCH, sizeof *scratch->found);
}

/* The usable edges of a list, as bits. All are tested, since a branch for each would be
 * unpredictable. An edge with the same key as the best one published stays usable: it may
 * win the tie by its source's position. A processed target has a reach of -1. */
static unsigned usable_edges(const job *j, const tsn_optics_list *list,
                             const double *keys) {
  const double *reach = j->scratch->reach;
  unsigned usable = 0;
  for (unsigned k = list->next; k < list->count; k++) {
    /* k < 32, which a compiler that checks shifts cannot derive. */
    usable |= (unsigned)(reach[list->neighbor[k]] >= keys[k]) << k % 32;
  }
  return usable;
}

/* Advance the list of a processed point to its candidate. Entries before it are dropped
 * for good: a target that is processed, or has a better edge, stays so. A list that is
 * used up yields the bound at which the point must search again. */
static candidate find_candidate(const job *j, uint32_t source) {
  const tsn_optics_neighbors *neighbors = j->neighbors;
  tsn_optics_list *list = &neighbors->list[source];
  const double *keys = neighbors->key + (size_t)source * TSN_OPTICS_KEPT;
  unsigned usable = usable_edges(j, list, keys);
  if (usable == 0) {
    list->next = list->count;
    return (candidate){list->complete ? INFINITY : list->known, 0, TSN_OPTICS_NONE};
  }
  list->next = (uint8_t)__builtin_ctz(usable);
  uint32_t target = list->neighbor[list->next];
  uint64_t number = neighbors->tree.number[target];
  return (candidate){keys[list->next], number << 32 | list->time, target};
}

/* Whether the candidate is an edge that is not above the bucket of the smallest edge. */
static bool is_due(const job *j, const candidate *c) {
  return c->target != TSN_OPTICS_NONE &&
         !(j->heap.count && buckets_above(c->key, j->heap.edge[0].key));
}

/* Defer a point until the order comes to the key of its candidate. A point whose list is
 * complete and used up never takes part again. */
static void defer(job *j, uint32_t source, const candidate *c) {
  if (c->target == TSN_OPTICS_NONE && c->key == INFINITY) return;
  buckets_add(&j->deferred, source, c->key);
}

/* Use a candidate: its target is neighbor[next - 1] of the list while it is in the heap.
 * So the heap needs no field for the place of the target, and an edge has 16 bytes. */
static tsn_optics_edge publish(job *j, uint32_t source, const candidate *c) {
  double *reach = &j->scratch->reach[c->target];
  j->neighbors->list[source].next++;
  if (c->key < *reach) *reach = c->key;
  return (tsn_optics_edge){c->key, c->tie};
}

static void publish_or_defer(job *j, uint32_t source, const candidate *c) {
  if (is_due(j, c)) {
    heap_push(&j->heap, publish(j, source, c));
  } else {
    defer(j, source, c);
  }
}

/* The candidate of a point whose list is used up. If the new list reaches no farther, and
 * better edges reach all of its points, later searches would find the same points until
 * these are processed, and a full batch of such points would be drained without end, as of
 * 100,000 points in the plane with a min_points of 158. So only usable edges are sought then.
 * To seek them at once takes 1.12 to 1.25 times as long in 8 dimensions (Zen 5). */
static candidate search_candidate(const job *j, uint32_t source) {
  const tsn_optics_list *list = &j->neighbors->list[source];
  double known = list->known;
  neighbors_extend(j->neighbors, source, NULL);
  candidate c = find_candidate(j, source);
  if (c.target != TSN_OPTICS_NONE || list->complete || list->known > known) return c;
  neighbors_extend(j->neighbors, source, j->scratch->reach);
  return find_candidate(j, source);
}

/* Find the candidates of points [begin, end) of a batch; extend the lists that are used
 * up. Runs on several threads: it reads `reach` and the tree, which do not change during
 * a batch, and writes only the lists of its own points. Since the candidates are found
 * here, only the heap is left to the calling thread: with this change two threads took
 * 1.51 s in place of 1.76 s for 1,000,000 points in 2 dimensions. */
static void find_candidates(void *context, size_t begin, size_t end, int thread) {
  job *j = context;
  const tsn_optics_neighbors *neighbors = j->neighbors;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    uint32_t source = j->scratch->batch[i];
    const tsn_optics_list *list = &neighbors->list[source];
    j->scratch->found[i] = list->next == list->count ? search_candidate(j, source)
                                                     : find_candidate(j, source);
  }
}

/* Points of a chunk of a parallel search: fewer if each costs more, for balance and for
 * frequent polls. In 8 dimensions without clusters one later search takes up to 1 ms. In
 * 14 dimensions at a finite eps, half of the order's time was in batches of at most 64
 * points; chunks of one point there reduced it on two threads from 2.66 to 2.22 s. */
static size_t first_grain(size_t dimensions) {
  return dimensions <= 4 ? 128 : 16;
}

static size_t batch_grain(size_t dimensions) {
  return dimensions <= 4 ? 64 : tsn_optics_few_dimensions(dimensions) ? 8 : 1;
}

/* Take up all deferred points whose candidate may precede the smallest edge: afterwards
 * every bucket's bound is above the smallest key of the heap, or both are empty. A loop,
 * because a batch can return to the buckets at the radius of its search, and because a
 * published edge can be the new smallest. It ends: each extension increases `known`. */
static tsanom_status drain_buckets(job *j) {
  size_t grain = batch_grain(j->neighbors->tree.dimensions);
  for (;;) {
    double key = j->heap.count ? j->heap.edge[0].key : buckets_least(&j->deferred);
    size_t count = buckets_drain(&j->deferred, key, j->scratch->batch, BATCH);
    if (count == 0) return TSANOM_OK;
    tsanom_status status =
        tsn_parallel_for(j->exec, count, grain, find_candidates, j, NULL);
    if (status != TSANOM_OK) return status;
    for (size_t i = 0; i < count; i++) {
      publish_or_defer(j, j->scratch->batch[i], &j->scratch->found[i]);
    }
  }
}

/* The point to process next. */
typedef struct {
  double key;
  uint32_t place;
  uint32_t from; /* predecessor; TSN_OPTICS_NONE: none */
} next_point;

/* The target of the smallest edge, whose source publishes or defers its next candidate;
 * if there are no edges, the unprocessed point with the smallest index. */
static next_point take_next(job *j, const uint32_t *order) {
  const tsn_optics_tree *tree = &j->neighbors->tree;
  if (j->heap.count == 0) {
    return (next_point){INFINITY, tree->place[tree->first[0]], TSN_OPTICS_NONE};
  }
  tsn_optics_edge best = j->heap.edge[0];
  uint32_t time = (uint32_t)best.tie, source = j->scratch->place[time];
  const tsn_optics_list *list = &j->neighbors->list[source];
  next_point next = {best.key, list->neighbor[list->next - 1], order[time]};
  candidate c = find_candidate(j, source);
  if (is_due(j, &c)) {
    heap_replace_first(&j->heap, publish(j, source, &c));
  } else {
    heap_drop_first(&j->heap);
    defer(j, source, &c);
  }
  return next;
}

/* The order, once core distances and first lists are known. The poll is called at every
 * 64th point, besides those within batches. */
static tsanom_status order_all(job *j, tsn_optics_progress *progress,
                               const tsn_optics_result *r, size_t n) {
  tsn_optics_tree *tree = &j->neighbors->tree;
  double *reach = j->scratch->reach;
  for (size_t i = 0; i < n; i++) reach[i] = INFINITY;
  for (size_t k = 0; k < n;) {
    progress->before = n + k;
    if (drain_buckets(j) != TSANOM_OK) return TSANOM_STOPPED;
    next_point next = take_next(j, r->order);
    if (reach[next.place] != next.key) continue; /* a smaller edge was published */
    if (k % 64 == 0 && tsn_exec_stop(j->exec, 0, 0)) return TSANOM_STOPPED;
    r->order[k] = tree->number[next.place];
    r->reachability[k] = next.key;
    r->predecessor[k] = next.from;
    reach[next.place] = processed;
    j->scratch->place[k] = next.place;
    j->neighbors->list[next.place].time = (uint32_t)k;
    tsn_optics_tree_remove(tree, next.place);
    candidate c = find_candidate(j, next.place);
    publish_or_defer(j, next.place, &c);
    k++;
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_lazy_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress,
                                    tsn_optics_lazy *scratch,
                                    const tsn_optics_result *result) {
  tsn_optics_neighbors *neighbors = &scratch->neighbors;
  size_t n = input->n;
  neighbors->min_points = options->min_points;
  neighbors->eps = options->eps;
  neighbors->nearest =
      tsn_optics_kernels_at(progress->caller->isa)->nearest[options->metric];
  job j = {.exec = &progress->standing,
           .scratch = scratch,
           .neighbors = neighbors,
           .heap = scratch->heap,
           .deferred = scratch->deferred};
  tsanom_status status =
      tsn_optics_tree_build(&neighbors->tree, input, &progress->standing);
  if (status != TSANOM_OK) return status;
  status = tsn_parallel_for(&progress->counting, n, first_grain(input->dimensions),
                            neighbors_find, neighbors, NULL);
  if (status != TSANOM_OK) return status;
  for (size_t p = 0; p < n; p++) {
    result->core[p] = neighbors->core[neighbors->tree.place[p]];
  }
  buckets_clear(&j.deferred);
  return order_all(&j, progress, result, n);
}
