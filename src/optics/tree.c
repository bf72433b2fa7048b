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

/* The two priority queues. An edge leads from a processed point to one that is
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

/* Ties of the key go to the smaller target, then to the source that was processed
 * earlier: tie = target's index << 32 | source's position in the order. The first is the
 * definition's next point, the second its predecessor. Keys are >= 0, never NaN. */
typedef struct {
  double key;
  uint64_t tie;
} edge;

/* A 4-ary heap of at most n edges: each processed point has one at most. */
typedef struct {
  edge *edge; /* edge[0] is the smallest */
  size_t count;
} edge_heap;

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
} bucket_queue;

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

enum { WAYS = 4, FRACTION_BITS = 2, BUCKETS = 1 << (11 + FRACTION_BITS) };

__extension__ typedef unsigned __int128 wide;

/* Numbers >= 0 compare like their bits. */
static inline uint64_t bits_of(double key) {
  uint64_t bits;
  memcpy(&bits, &key, sizeof bits);
  return bits;
}

/* Whether a comes before b: key and tie are compared as one integer, because a branch on
 * the key would be unpredictable. */
static inline bool precedes(const edge *a, const edge *b) {
  uint64_t bits_a = bits_of(a->key), bits_b = bits_of(b->key);
  return ((wide)bits_a << 64 | a->tie) < ((wide)bits_b << 64 | b->tie);
}

/* The smallest of the first WAYS children of `count`. */
static inline size_t first_child(const edge *child, size_t count) {
  size_t first = 0;
  for (size_t k = 1; k < count && k < WAYS; k++) {
    if (precedes(&child[k], &child[first])) first = k;
  }
  return first;
}

/* push, replace_first and drop_first: O(log n), without allocation. replace_first drops
 * the smallest edge and adds another in one pass from the root, where a drop and a push
 * would be two. It and drop_first require a heap that is not empty. */
static void heap_push(edge_heap *heap, edge added) {
  edge *entry = heap->edge;
  size_t hole = heap->count++;
  for (size_t parent; hole > 0; hole = parent) {
    parent = (hole - 1) / WAYS;
    if (!precedes(&added, &entry[parent])) break;
    entry[hole] = entry[parent];
  }
  entry[hole] = added;
}

static void heap_replace_first(edge_heap *heap, edge added) {
  edge *entry = heap->edge;
  size_t hole = 0, count = heap->count;
  for (size_t child; (child = WAYS * hole + 1) < count; hole = child) {
    child += first_child(&entry[child], count - child);
    if (!precedes(&entry[child], &added)) break;
    entry[hole] = entry[child];
  }
  entry[hole] = added;
}

static void heap_drop_first(edge_heap *heap) {
  edge last = heap->edge[--heap->count];
  heap_replace_first(heap, last);
}

static void buckets_clear(bucket_queue *buckets) {
  memset(buckets->used, 0, BUCKETS / 64 * sizeof *buckets->used);
  buckets->lowest = BUCKETS;
}

static size_t bucket_of(double key) {
  return bits_of(key) >> (52 - FRACTION_BITS);
}

/* A lower bound of all keys; INFINITY if there are no items. */
static double buckets_least(const bucket_queue *buckets) {
  return buckets->lowest < BUCKETS ? buckets->least[buckets->lowest] : INFINITY;
}

/* Add an item that is in no bucket; key >= 0, not infinite. O(1). */
static void buckets_add(bucket_queue *buckets, uint32_t item, double key) {
  size_t bucket = bucket_of(key);
  uint64_t bit = (uint64_t)1 << bucket % 64, *word = &buckets->used[bucket / 64];
  bool empty = !(*word & bit);
  buckets->next[item] = empty ? TSN_OPTICS_NONE : buckets->head[bucket];
  buckets->head[bucket] = item;
  if (empty || key < buckets->least[bucket]) buckets->least[bucket] = key;
  *word |= bit;
  if (bucket < buckets->lowest) buckets->lowest = bucket;
}

/* The first used bucket that is not below `bucket`. */
static size_t next_used(const bucket_queue *buckets, size_t bucket) {
  size_t word = bucket / 64;
  if (word == BUCKETS / 64) return BUCKETS;
  uint64_t bits = buckets->used[word] >> bucket % 64 << bucket % 64;
  while (!bits && ++word < BUCKETS / 64) bits = buckets->used[word];
  return bits ? 64 * word + (size_t)__builtin_ctzll(bits) : BUCKETS;
}

/* Remove up to `capacity` items from the buckets with a bound <= key; returns their
 * number. If it is `capacity`, there may be more. */
static size_t buckets_drain(bucket_queue *buckets, double key, uint32_t *items,
                            size_t capacity) {
  size_t taken = 0;
  /* Buckets are taken whole: their other items are above `key` by a quarter of an octave
   * at most, and would follow soon. If `items` is full, `least` of the rest stays valid
   * as a lower bound. */
  while (buckets->lowest < BUCKETS && buckets->least[buckets->lowest] <= key) {
    uint32_t *head = &buckets->head[buckets->lowest];
    for (; *head != TSN_OPTICS_NONE && taken < capacity; *head = buckets->next[*head]) {
      items[taken++] = *head;
    }
    if (*head != TSN_OPTICS_NONE) break;
    buckets->used[buckets->lowest / 64] &= ~((uint64_t)1 << buckets->lowest % 64);
    buckets->lowest = next_used(buckets, buckets->lowest);
  }
  return taken;
}

/* The kd-tree of optics_internal.h: building it, and removing points from it (J. H. Friedman,
 * J. L. Bentley, R. A. Finkel, ACM TOMS 3 (1977) 209-226: splitting the widest coordinate
 * at its median). Rows of coordinates are partitioned in place, with the indices of their
 * points; the leaves are then transposed into blocks:
 *
 *     rows     x y  x y  x y  ...  of points 3, 9, 0, ...   partitioned in place
 *     blocks   x x x x x x x x  y y y y y y y y  ...        read by the kernels
 *
 * O(n · log n · dimensions) time. The median, not the mean, so that the depth is known in
 * advance: searches and removals use arrays of fixed length, and cannot degenerate. The
 * widest coordinate, not one after the other, keeps boxes compact for data that vary in
 * few coordinates. Which of several equal rows comes first does not matter: searches
 * return points by (key, index). */

/* Subtrees that threads share, and the number of leaves from which they share them: below
 * that a subtree has fewer than 8 leaves, too little work for a team. The parts are also
 * the steps between polls, which bounds the time until a call is stopped. The first split is
 * done by one thread. Building is 8 to 10 % of an order of 100,000 points in 2 dimensions
 * (AMD EPYC Zen 4). */
enum { PARTS = 32, PARALLEL_LEAVES = 8 * PARTS };

/* Points of a chunk whose rows are copied. */
enum { GATHER_GRAIN = 4096 };

/* Rows of points with their indices, while they are sorted into leaves. */
typedef struct {
  double *row;
  uint32_t *number;
  size_t width;
} rows;

static void swap_rows(const rows *r, size_t a, size_t b) {
  uint32_t number = r->number[a];
  r->number[a] = r->number[b];
  r->number[b] = number;
  for (size_t c = 0; c < r->width; c++) {
    double x = r->row[a * r->width + c];
    r->row[a * r->width + c] = r->row[b * r->width + c];
    r->row[b * r->width + c] = x;
  }
}

/* The median of three as a pivot: sorted rows, a frequent input, then split in halves. */
static double middle_of(double a, double b, double c) {
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Hoare's quickselect: afterwards rows [begin, middle) are at most, and rows [middle,
 * end) at least, row `middle` in the coordinate. Scans stop at rows equal to the pivot,
 * so that many equal coordinates are split evenly too. */
static void split_rows(const rows *r, size_t begin, size_t middle, size_t end,
                       size_t coordinate) {
  const double *x = r->row + coordinate;
  ptrdiff_t w = (ptrdiff_t)r->width, low = (ptrdiff_t)begin, high = (ptrdiff_t)end - 1;
  ptrdiff_t target = (ptrdiff_t)middle;
  while (low < high) {
    ptrdiff_t i = low, j = high;
    double pivot = middle_of(x[low * w], x[(low + (high - low) / 2) * w], x[high * w]);
    while (i <= j) {
      while (x[i * w] < pivot) i++;
      while (x[j * w] > pivot) j--;
      if (i <= j) swap_rows(r, (size_t)i++, (size_t)j--);
    }
    if (target > j && target < i) return;
    if (target <= j) {
      high = j;
    } else {
      low = i;
    }
  }
}

/* The coordinate with the largest range of values in these rows; of equal ones the
 * first. */
static size_t widest(const rows *r, size_t begin, size_t end) {
  size_t best = 0;
  double spread = -1;
  for (size_t c = 0; c < r->width; c++) {
    double low = INFINITY, high = -INFINITY;
    for (size_t i = begin; i < end; i++) {
      double x = r->row[i * r->width + c];
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    if (high - low > spread) {
      spread = high - low;
      best = c;
    }
  }
  return best;
}

/* Transpose the rows of a leaf into its block, and set its box and smallest index. This
 * is where a point gets its place. */
static void fill_leaf(tsn_optics_tree *tree, const rows *r, size_t leaf, size_t node,
                      size_t n) {
  size_t d = tree->dimensions, begin = leaf * TSN_OPTICS_LANES;
  double *low = tree->box + 2 * node * d, *high = low + d;
  double *block = tree->blocks + begin * d;
  for (size_t c = 0; c < d; c++) {
    low[c] = INFINITY;
    high[c] = -INFINITY;
  }
  tree->first[node] = TSN_OPTICS_NONE;
  for (size_t k = 0; k < TSN_OPTICS_LANES; k++) {
    bool held = begin + k < n;
    if (!held) tree->number[begin + k] = TSN_OPTICS_NONE;
    for (size_t c = 0; c < d; c++) {
      double x = held ? r->row[(begin + k) * d + c] : INFINITY;
      block[c * TSN_OPTICS_LANES + k] = x;
      if (!held) continue;
      low[c] = x < low[c] ? x : low[c];
      high[c] = x > high[c] ? x : high[c];
    }
    if (!held) continue;
    uint32_t number = tree->number[begin + k];
    tree->place[number] = (uint32_t)(begin + k);
    if (number < tree->first[node]) tree->first[node] = number;
  }
}

/* A node to build, over leaves [begin, end): one unit of work of the threads. */
typedef struct {
  size_t node, begin, end;
} part;

/* A tree under construction. Threads work on disjoint ranges of rows and on disjoint
 * nodes, as both are known from the number of leaves alone. */
typedef struct {
  const tsn_optics_input *input;
  tsn_optics_tree *tree;
  rows rows;
  size_t n;
  size_t first;         /* of the current parts */
  part part[2 * PARTS]; /* the children of part i are parts 2 i + 1 and 2 i + 2 */
} building;

/* Partition the rows of a node. */
static void split(const building *b, const part *p, part *left, part *right) {
  size_t middle = tsn_optics_middle(p->begin, p->end);
  size_t first = p->begin * TSN_OPTICS_LANES, last = p->end * TSN_OPTICS_LANES;
  if (last > b->n) last = b->n;
  split_rows(&b->rows, first, middle * TSN_OPTICS_LANES, last,
             widest(&b->rows, first, last));
  *left = (part){p->node + 1, p->begin, middle};
  *right = (part){tsn_optics_right(p->node, p->begin, middle), middle, p->end};
}

/* Complete a node whose children are complete. */
static void join(const tsn_optics_tree *tree, size_t node, size_t left, size_t right) {
  size_t d = tree->dimensions;
  for (size_t c = 0; c < d; c++) {
    const double *a = tree->box + 2 * left * d + c, *b = tree->box + 2 * right * d + c;
    tree->box[2 * node * d + c] = fmin(a[0], b[0]);
    tree->box[(2 * node + 1) * d + c] = fmax(a[d], b[d]);
  }
  uint32_t a = tree->first[left], b = tree->first[right];
  tree->first[node] = a < b ? a : b;
}

/* The subtree of a node: the node, then the left child's subtree, then the right
 * child's. Depth is log2 of the leaves. */
static void build(const building *b, const part *p) {
  if (p->end - p->begin == 1) {
    fill_leaf(b->tree, &b->rows, p->begin, p->node, b->n);
    return;
  }
  part left, right;
  split(b, p, &left, &right);
  build(b, &left);
  build(b, &right);
  join(b->tree, p->node, left.node, right.node);
}

static void split_parts(void *context, size_t begin, size_t end, int thread) {
  building *b = context;
  (void)thread;
  for (size_t i = b->first + begin; i < b->first + end; i++) {
    split(b, &b->part[i], &b->part[2 * i + 1], &b->part[2 * i + 2]);
  }
}

static void build_parts(void *context, size_t begin, size_t end, int thread) {
  const building *b = context;
  (void)thread;
  for (size_t i = begin; i < end; i++) build(b, &b->part[b->first + i]);
}

/* The same tree as build() of the root: the upper levels one after the other, the nodes
 * of each in parallel, then the subtrees below them. */
static tsanom_status build_in_parts(building *b, const tsanom_exec *exec) {
  for (size_t count = 1; count < PARTS; count *= 2) {
    b->first = count - 1;
    if (tsn_parallel_for(exec, count, 1, split_parts, b, NULL) != TSANOM_OK) {
      return TSANOM_STOPPED;
    }
  }
  b->first = PARTS - 1;
  if (tsn_parallel_for(exec, PARTS, 1, build_parts, b, NULL) != TSANOM_OK) {
    return TSANOM_STOPPED;
  }
  for (size_t i = b->first; i-- > 0;) {
    join(b->tree, b->part[i].node, b->part[2 * i + 1].node, b->part[2 * i + 2].node);
  }
  return TSANOM_OK;
}

/* Copy the rows of points [begin, end). */
static void gather(void *context, size_t begin, size_t end, int thread) {
  const building *b = context;
  const tsn_optics_input *input = b->input;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    b->rows.number[i] = (uint32_t)i;
    for (size_t c = 0; c < input->dimensions; c++) {
      b->rows.row[i * input->dimensions + c] = input->points[i * input->ld + c];
    }
  }
}

static tsanom_status build_tree(tsn_optics_tree *tree, const tsn_optics_input *input,
                                const tsanom_exec *standing) {
  building b = {.input = input,
                .tree = tree,
                .rows = {tree->rows, tree->number, input->dimensions},
                .n = input->n};
  tsanom_status status =
      tsn_parallel_for(standing, input->n, GATHER_GRAIN, gather, &b, NULL);
  if (status != TSANOM_OK) return status;
  b.part[0] = (part){0, 0, tree->leaves};
  if (tree->leaves >= PARALLEL_LEAVES) return build_in_parts(&b, standing);
  build(&b, &b.part[0]);
  return TSANOM_OK;
}

/* TSN_OPTICS_NONE is the largest number, so that empty lanes need no test. */
static uint32_t smallest_in_leaf(const tsn_optics_tree *tree, size_t leaf) {
  uint32_t first = TSN_OPTICS_NONE;
  for (size_t k = 0; k < TSN_OPTICS_LANES; k++) {
    uint32_t number = tree->number[leaf * TSN_OPTICS_LANES + k];
    first = number < first ? number : first;
  }
  return first;
}

/* Update the smallest index of a leaf, which is now `first`, and of the nodes above it
 * whose smallest index was `gone`: for most removals none. If the leaf is empty, all
 * boxes above it shrink. Otherwise the boxes of the few points that are left would
 * contain most others, and nearly every search would descend to them: 100,000 points in
 * 2 dimensions took 1.11 times as long (Zen 4). Nodes have no pointer to their parent, so
 * the path is noted on the way down; it has at most 28 nodes, as n < 2^31. */
static void update(const tsn_optics_tree *tree, size_t leaf, uint32_t gone,
                   uint32_t first) {
  size_t path[64], sibling[64], depth = 0, node = 0, begin = 0, end = tree->leaves;
  while (end - begin > 1) {
    size_t middle = tsn_optics_middle(begin, end), left = node + 1;
    size_t right = tsn_optics_right(node, begin, middle);
    bool is_left = leaf < middle;
    path[depth] = node;
    sibling[depth++] = is_left ? right : left;
    node = is_left ? left : right;
    begin = is_left ? begin : middle;
    end = is_left ? middle : end;
  }
  bool is_empty = first == TSN_OPTICS_NONE;
  for (size_t c = 0; is_empty && c < tree->dimensions; c++) {
    tree->box[2 * node * tree->dimensions + c] = INFINITY;
    tree->box[(2 * node + 1) * tree->dimensions + c] = -INFINITY;
  }
  tree->first[node] = first;
  while (depth-- > 0 && (is_empty || tree->first[path[depth]] == gone)) {
    join(tree, path[depth], node, sibling[depth]);
    node = path[depth];
  }
}

static void remove_point(tsn_optics_tree *tree, uint32_t place) {
  size_t leaf = place / TSN_OPTICS_LANES;
  uint32_t gone = tree->number[place];
  double *lane = tsn_optics_lane(tree->blocks, tree->dimensions, place);
  for (size_t c = 0; c < tree->dimensions; c++) lane[c * TSN_OPTICS_LANES] = INFINITY;
  tree->number[place] = TSN_OPTICS_NONE;
  uint32_t first = smallest_in_leaf(tree, leaf);
  if (first > gone) update(tree, leaf, gone, first);
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

/* A point is named by its place in the tree, not by its index: points that are near each
 * other in space are near each other in memory, and threads that search for different
 * points write to different cache lines. This and the deferred edges together reduced the
 * time of 100,000 points in 2 dimensions from 233 to 214 ms. */

/* The first neighbors of a point by (key, index), key = max(core distance, distance),
 * among those that were unprocessed when the list was filled. Their keys are separate. */
typedef struct {
  double known;        /* each neighbor not listed has a larger key, or this key and a
                          larger index: a bound below which no search is needed */
  uint32_t time;       /* position of the point in the order, once processed */
  uint8_t next, count; /* [next, count) are not yet used */
  bool complete;       /* no neighbor within eps is missing */
  uint32_t neighbor[TSN_OPTICS_KEPT]; /* places */
} neighbor_list;

/* The best usable edge of a processed point. It repeats what is in the point's list, so
 * that the calling thread does not touch lists that other threads wrote. */
typedef struct {
  double key;      /* without an edge: radius that the list covers; INFINITY: no more
                      edges */
  uint64_t tie;    /* as of an edge */
  uint32_t target; /* place; TSN_OPTICS_NONE: no edge in the list */
} candidate;

/* The state of the order. Threads share it: each writes to the lists of the places that it
 * was given, to the candidates of these, and to its own result of a search. */
typedef struct {
  size_t min_points;
  double eps;
  tsn_optics_nearest *nearest; /* of the metric and the instruction set */
  const tsanom_exec *exec;     /* of batches */
  tsn_optics_tree tree;
  double *core;        /* by place */
  neighbor_list *list; /* by place */
  double *key;         /* TSN_OPTICS_KEPT for each place */
  double *found_key;   /* result of a search, for each thread */
  uint32_t *found_number, *found_place;
  edge_heap heap;
  bucket_queue deferred; /* places of processed points */
  double *reach;         /* by place: smallest key of the published edges to the point */
  uint32_t *placed;      /* by position in the order: place in the tree */
  uint32_t *batch;       /* places of a batch of points without an edge */
  candidate *found;      /* of these points */
} state;

/* Deferred points that are drained at a time. Two threads need batches long enough to
 * share; a longer batch also searches for points that a smaller edge, found by an earlier
 * search of the same batch, would have made superfluous. */
enum { BATCH = 1024 };

/* One more than is asked for: the point finds itself. */
static size_t search_capacity(size_t min_points) {
  return tsn_larger(min_points, TSN_OPTICS_KEPT) + 1;
}

/* Elements between the results of two threads, far enough apart that a processor's own
 * prefetching does not touch those of another. */
static size_t search_stride(size_t min_points) {
  enum { APART = 64 };
  return search_capacity(min_points) + APART;
}

static void layout_tree(tsn_arena *arena, size_t n, size_t dimensions,
                        tsn_optics_tree *tree) {
  size_t leaves = (n + TSN_OPTICS_LANES - 1) / TSN_OPTICS_LANES;
  size_t lanes = leaves * TSN_OPTICS_LANES, nodes = 2 * leaves - 1;
  size_t coordinates = tsn_product(lanes, dimensions);
  *tree = (tsn_optics_tree){.leaves = leaves, .dimensions = dimensions};
  tree->blocks = tsn_arena_take(arena, coordinates, sizeof(double));
  tree->number = tsn_arena_take(arena, lanes, sizeof(uint32_t));
  tree->box = tsn_arena_take(arena, tsn_product(2 * nodes, dimensions), sizeof(double));
  tree->first = tsn_arena_take(arena, nodes, sizeof(uint32_t));
  tree->place = tsn_arena_take(arena, n, sizeof(uint32_t));
  tree->rows = tsn_arena_take(arena, coordinates, sizeof(double));
}

/* The arena starts arrays at cache lines; entry 0 of the heap is the last of the first. */
static void layout(tsn_arena *arena, size_t n, size_t dimensions, size_t min_points,
                   int threads, state *s) {
  size_t found = tsn_product(search_stride(min_points), (size_t)threads);
  size_t batch = tsn_smaller(n, BATCH);
  layout_tree(arena, n, dimensions, &s->tree);
  s->core = tsn_arena_take(arena, n, sizeof *s->core);
  s->list = tsn_arena_take(arena, n, sizeof *s->list);
  s->key = tsn_arena_take(arena, tsn_product(n, TSN_OPTICS_KEPT), sizeof *s->key);
  s->found_key = tsn_arena_take(arena, found, sizeof *s->found_key);
  s->found_number = tsn_arena_take(arena, found, sizeof *s->found_number);
  s->found_place = tsn_arena_take(arena, found, sizeof *s->found_place);
  edge *line = tsn_arena_take(arena, tsn_sum(n, WAYS - 1), sizeof *line);
  s->heap = (edge_heap){.edge = line ? line + WAYS - 1 : NULL};
  s->deferred.head = tsn_arena_take(arena, BUCKETS, sizeof *s->deferred.head);
  s->deferred.least = tsn_arena_take(arena, BUCKETS, sizeof *s->deferred.least);
  s->deferred.used = tsn_arena_take(arena, BUCKETS / 64, sizeof *s->deferred.used);
  s->deferred.next = tsn_arena_take(arena, n, sizeof *s->deferred.next);
  s->reach = tsn_arena_take(arena, n, sizeof *s->reach);
  s->placed = tsn_arena_take(arena, n, sizeof *s->placed);
  s->batch = tsn_arena_take(arena, batch, sizeof *s->batch);
  s->found = tsn_arena_take(arena, batch, sizeof *s->found);
}

void tsn_optics_tree_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads) {
  state s;
  layout(arena, n, dimensions, min_points, threads, &s);
}

/* Whether searches in a small radius are much faster than in a large one. In more
 * dimensions nearly all boxes of the tree meet even a small ball. */
static inline bool few_dimensions(size_t dimensions) {
  return dimensions <= 8;
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
static void keep(const state *s, uint32_t place, size_t held, bool full, const found *f) {
  double core = s->core[place];
  neighbor_list *list = &s->list[place];
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
static void find_lists(void *context, size_t begin, size_t end, int thread) {
  const state *s = context;
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

/* Refill the used-up list of a processed point: afterwards it has unprocessed neighbors,
 * with usable edges if `reach` is given, or `known` is larger than before, or it is
 * complete.
 *
 * In few dimensions a small radius is searched faster, and points found far away are mostly
 * processed through other points first; in many dimensions all searches cost about the
 * same. When twice the radius replaced an unlimited one, 100,000 points in the plane with an
 * infinite eps took 0.35 s in place of 0.59 s. */
static void extend_list(const state *s, uint32_t place, const double *reach) {
  neighbor_list *list = &s->list[place];
  double within = few_dimensions(s->tree.dimensions) ? 2 * list->known : s->eps;
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

/* `reach` of a processed point: less than any key. */
static const double processed = -1;

/* The usable edges of a list, as bits. All are tested, since a branch for each would be
 * unpredictable. An edge with the same key as the best one published stays usable: it may
 * win the tie by its source's position. A processed target has a reach of -1. */
static unsigned usable_edges(const state *s, const neighbor_list *list,
                             const double *keys) {
  const double *reach = s->reach;
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
static candidate find_candidate(const state *s, uint32_t source) {
  neighbor_list *list = &s->list[source];
  const double *keys = s->key + (size_t)source * TSN_OPTICS_KEPT;
  unsigned usable = usable_edges(s, list, keys);
  if (usable == 0) {
    list->next = list->count;
    return (candidate){list->complete ? INFINITY : list->known, 0, TSN_OPTICS_NONE};
  }
  list->next = (uint8_t)__builtin_ctz(usable);
  uint32_t target = list->neighbor[list->next];
  uint64_t number = s->tree.number[target];
  return (candidate){keys[list->next], number << 32 | list->time, target};
}

/* Whether the candidate is an edge that is not above the bucket of the smallest edge: such
 * edges will be needed soon. */
static bool is_due(const state *s, const candidate *c) {
  return c->target != TSN_OPTICS_NONE &&
         (!s->heap.count || bucket_of(c->key) <= bucket_of(s->heap.edge[0].key));
}

/* Defer a point until the order comes to the key of its candidate. A point whose list is
 * complete and used up never takes part again. */
static void defer(state *s, uint32_t source, const candidate *c) {
  if (c->target == TSN_OPTICS_NONE && c->key == INFINITY) return;
  buckets_add(&s->deferred, source, c->key);
}

/* Use a candidate: its target is neighbor[next - 1] of the list while it is in the heap.
 * So the heap needs no field for the place of the target, and an edge has 16 bytes. */
static edge publish(state *s, uint32_t source, const candidate *c) {
  double *reach = &s->reach[c->target];
  s->list[source].next++;
  if (c->key < *reach) *reach = c->key;
  return (edge){c->key, c->tie};
}

static void publish_or_defer(state *s, uint32_t source, const candidate *c) {
  if (is_due(s, c)) {
    heap_push(&s->heap, publish(s, source, c));
  } else {
    defer(s, source, c);
  }
}

/* The candidate of a point whose list is used up. If the new list reaches no farther, and
 * better edges reach all of its points, later searches would find the same points until
 * these are processed, and a full batch of such points would be drained without end, as of
 * 100,000 points in the plane with a min_points of 158. So only usable edges are sought then.
 * To seek them at once takes 1.12 to 1.25 times as long in 8 dimensions (Zen 5). */
static candidate search_candidate(const state *s, uint32_t source) {
  const neighbor_list *list = &s->list[source];
  double known = list->known;
  extend_list(s, source, NULL);
  candidate c = find_candidate(s, source);
  if (c.target != TSN_OPTICS_NONE || list->complete || list->known > known) return c;
  extend_list(s, source, s->reach);
  return find_candidate(s, source);
}

/* Find the candidates of points [begin, end) of a batch; extend the lists that are used
 * up. Runs on several threads: it reads `reach` and the tree, which do not change during
 * a batch, and writes only the lists of its own points. Since the candidates are found
 * here, only the heap is left to the calling thread: with this change two threads took
 * 1.51 s in place of 1.76 s for 1,000,000 points in 2 dimensions. */
static void find_candidates(void *context, size_t begin, size_t end, int thread) {
  state *s = context;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    uint32_t source = s->batch[i];
    const neighbor_list *list = &s->list[source];
    s->found[i] = list->next == list->count ? search_candidate(s, source)
                                            : find_candidate(s, source);
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
  return dimensions <= 4 ? 64 : few_dimensions(dimensions) ? 8 : 1;
}

/* Take up all deferred points whose candidate may precede the smallest edge: afterwards
 * every bucket's bound is above the smallest key of the heap, or both are empty. A loop,
 * because a batch can return to the buckets at the radius of its search, and because a
 * published edge can be the new smallest. It ends: each extension increases `known`. */
static tsanom_status drain_buckets(state *s) {
  size_t grain = batch_grain(s->tree.dimensions);
  for (;;) {
    double key = s->heap.count ? s->heap.edge[0].key : buckets_least(&s->deferred);
    size_t count = buckets_drain(&s->deferred, key, s->batch, BATCH);
    if (count == 0) return TSANOM_OK;
    tsanom_status status =
        tsn_parallel_for(s->exec, count, grain, find_candidates, s, NULL);
    if (status != TSANOM_OK) return status;
    for (size_t i = 0; i < count; i++) {
      publish_or_defer(s, s->batch[i], &s->found[i]);
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
static next_point take_next(state *s, const uint32_t *order) {
  const tsn_optics_tree *tree = &s->tree;
  if (s->heap.count == 0) {
    return (next_point){INFINITY, tree->place[tree->first[0]], TSN_OPTICS_NONE};
  }
  edge best = s->heap.edge[0];
  uint32_t time = (uint32_t)best.tie, source = s->placed[time];
  const neighbor_list *list = &s->list[source];
  next_point next = {best.key, list->neighbor[list->next - 1], order[time]};
  candidate c = find_candidate(s, source);
  if (is_due(s, &c)) {
    heap_replace_first(&s->heap, publish(s, source, &c));
  } else {
    heap_drop_first(&s->heap);
    defer(s, source, &c);
  }
  return next;
}

/* The order, once core distances and first lists are known. The poll is called at every
 * 64th point, besides those within batches. */
static tsanom_status order_all(state *s, tsn_optics_progress *progress,
                               const tsn_optics_result *r, size_t n) {
  for (size_t i = 0; i < n; i++) s->reach[i] = INFINITY;
  for (size_t k = 0; k < n;) {
    progress->before = n + k;
    if (drain_buckets(s) != TSANOM_OK) return TSANOM_STOPPED;
    next_point next = take_next(s, r->order);
    if (s->reach[next.place] != next.key) continue; /* a smaller edge was published */
    if (k % 64 == 0 && tsn_exec_stop(s->exec, 0, 0)) return TSANOM_STOPPED;
    r->order[k] = s->tree.number[next.place];
    r->reachability[k] = next.key;
    r->predecessor[k] = next.from;
    s->reach[next.place] = processed;
    s->placed[k] = next.place;
    s->list[next.place].time = (uint32_t)k;
    remove_point(&s->tree, next.place);
    candidate c = find_candidate(s, next.place);
    publish_or_defer(s, next.place, &c);
    k++;
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_tree_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress, tsn_arena memory,
                                    const tsn_optics_result *result) {
  const tsanom_exec *exec = &progress->counting;
  size_t n = input->n;
  state s;
  layout(&memory, n, input->dimensions, options->min_points, exec->threads, &s);
  s.min_points = options->min_points;
  s.eps = options->eps;
  s.nearest = tsn_optics_kernels_at(exec->isa)->nearest[options->metric];
  s.exec = &progress->standing;
  tsanom_status status = build_tree(&s.tree, input, s.exec);
  if (status != TSANOM_OK) return status;
  status =
      tsn_parallel_for(exec, n, first_grain(input->dimensions), find_lists, &s, NULL);
  if (status != TSANOM_OK) return status;
  for (size_t p = 0; p < n; p++) result->core[p] = s.core[s.tree.place[p]];
  buckets_clear(&s.deferred);
  return order_all(&s, progress, result, n);
}
