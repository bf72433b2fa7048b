/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this module; README.md lists them in calling order.
 *
 * OPTICS (M. Ankerst, M. M. Breunig, H.-P. Kriegel, J. Sander, SIGMOD 1999) processes the
 * points one by one. With N(p) the points within eps of p, p among them:
 *
 *     core(p) = distance from p to the min_points-th nearest of N(p); infinite: fewer
 *     reach(o) = min of max{core(p), d(p,o)} over processed p with d(p,o) <= eps
 *
 * Next is the unprocessed point of smallest reach, of equal ones that of smallest index;
 * the paper leaves the ties open. This is Prim's algorithm on the edges p -> o with the
 * key max{core(p), d(p,o)}. exhaustive.c computes all keys; lazy.c finds the edges that
 * matter by a tree. Both return the same bits, which tests require; optics.c chooses. */
#ifndef TSN_OPTICS_INTERNAL_H
#define TSN_OPTICS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <tsanom/optics.h>

#include "core/arena.h"
#include "core/isa.h"

/* The two priority queues of lazy.c. An edge leads from a processed point to one that is
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
} tsn_optics_edge;

/* A 4-ary heap of at most n edges: each processed point has one at most. */
typedef struct {
  tsn_optics_edge *edge; /* edge[0] is the smallest */
  size_t count;
} tsn_optics_heap;

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
} tsn_optics_buckets;

/* Points in blocks of 8, one vector lane each: coordinate c of point j is
 * blocks[(j / 8 * dimensions + c) * 8 + j % 8]. Sums run over coordinates within a lane,
 * so that every instruction set rounds alike: a sum within a point's row would be split
 * into one partial sum for each lane of a register.
 *
 *     block 0:  x0 x1 ... x7 | y0 y1 ... y7 | z0 ... z7     block 1:  x8 ... x15 | ... */

/* A kd-tree from which points are removed. A leaf is a block of 8 points, one vector lane
 * each. A node halves its leaves [begin, end) along its widest coordinate; nodes are in
 * preorder, so that no child pointers are stored:
 *
 *     node i over [begin, end), middle = tsn_optics_middle(begin, end)
 *       left child   i + 1                        over [begin, middle)
 *       right child  i + 2 (middle - begin)       over [middle, end)
 *
 * For 5 leaves, node: [begin, end), a single number being a leaf:
 *
 *                    0: [0, 5)
 *              /                  \
 *         1: [0, 3)            6: [3, 5)
 *         /       \             /     \
 *     2: [0, 2)   5: 2        7: 3    8: 4
 *      /    \
 *    3: 0   4: 1
 *
 * Every leaf but the last is full, because splits are between leaves; the free lanes of
 * the last one have infinite coordinates, as those of removed points have. Their distance
 * exceeds every finite limit, so that a search tests for them only while it has none.
 *
 * Each node knows the smallest index of its remaining points, so that searches skip empty
 * subtrees and resolve ties by index without visiting them. The place of a point is its
 * lane in the sequence of leaves.
 *
 * Blocks of 8 serve the vectors, and make the tree small: 2 n / 8 nodes. */

/* Points of a leaf. */
enum { TSN_OPTICS_LANES = 8 };

typedef struct {
  size_t leaves, dimensions;
  double *blocks;   /* by leaf, as above; INFINITY: no point */
  uint32_t *number; /* by place: index of the point; UINT32_MAX: none */
  double *box;      /* of each node: low corner, high corner */
  uint32_t *first;  /* of each node: smallest index; UINT32_MAX: empty */
  uint32_t *place;  /* by index of the point */
  double *rows; /* by place: coordinates, also of removed points, which still search */
} tsn_optics_tree;

/* First leaf of the second half of [begin, end). The left half is the larger one, so that
 * a node of 2 or more leaves has no empty child. */
static inline size_t tsn_optics_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

/* The right child of a node whose left child has leaves [begin, middle): the left
 * subtree, of 2 (middle - begin) - 1 nodes, lies between. */
static inline size_t tsn_optics_right(size_t node, size_t begin, size_t middle) {
  return node + 2 * (middle - begin);
}

/* Points whose distances are computed together: with two registers of other points, 8 sums
 * in registers at every level. */
enum { TSN_OPTICS_QUERIES = 4 };

/* Raw distances, before the root of the Euclidean, from a query to all lanes of
 * `count` blocks. */
typedef void tsn_optics_row(const double *blocks, size_t count, size_t dimensions,
                            const double *query, double *distance);

/* The same for TSN_OPTICS_QUERIES queries at once: coordinate c of query q is
 * queries[c * TSN_OPTICS_QUERIES + q], its distances start at q * stride. */
typedef void tsn_optics_rows(const double *blocks, size_t count, size_t dimensions,
                             const double *queries, double *distance, size_t stride);

/* The first `capacity` points of a tree within eps of a query by the key
 * max(core, distance), then the index, sorted, and their places; returns their number.
 * Points whose `reach`, by place, is below their key are left out, unless it is NULL. If
 * the number is less than the capacity, no point of the tree has a distance from eps to
 * `beyond`, which is INFINITY if there are no others. */
typedef size_t tsn_optics_nearest(const tsn_optics_tree *tree, const double *query,
                                  double core, double eps, const double *reach,
                                  size_t capacity, double *key, uint32_t *number,
                                  uint32_t *place, double *beyond);

/* A raw distance such that larger ones belong to distances above `distance`, with a
 * margin for rounding and for squares too small to be normal. Squares are compared with
 * it before a root is taken; the margin only lets some roots through that were not
 * needed, and the distance itself decides. */
static inline double tsn_optics_raw_limit(double distance, int is_squared) {
  return is_squared ? distance * distance * (1 + 0x1p-50) + 1e-300 : distance;
}

/* The kernels of one instruction set. All levels return the same bits. */
typedef struct {
  tsn_optics_row *row[3];   /* by metric */
  tsn_optics_rows *rows[3]; /* by metric */
  /* The k-th smallest of count >= k values; `nearest` holds k elements. */
  double (*kth_smallest)(const double *values, size_t count, size_t k, double *nearest);
  tsn_optics_nearest *nearest[3]; /* by metric */
} tsn_optics_kernels;

TSN_KERNEL_TABLE(tsn_optics_kernels);

/* No point. Indices are 32 bits wide to halve what the searches read;
 * check_count() rejects 2^31 points and more, so this value is free. */
#define TSN_OPTICS_NONE UINT32_MAX

/* The input of a call: exactly one of points, matrix and function; a matrix of one point
 * may be NULL. */
typedef struct {
  size_t n;
  const double *points;
  size_t dimensions; /* 0: no points, but distances */
  size_t ld;         /* of points or matrix; 0: a condensed matrix */
  const double *matrix;
  tsanom_optics_distance *function;
  void *user;
} tsn_optics_input;

/* The result by position in the order; core by point. It is copied to the caller's
 * arrays at the end, because a call that is stopped must not modify them. */
typedef struct {
  uint32_t *order, *predecessor;
  double *reachability, *core;
} tsn_optics_result;

/* The caller's poll during a call: 2 n units of work, n for core distances and n for the
 * order. Loops of known length report their own progress through `counting`. Building the
 * tree and draining batches are not counted in these units: they call the poll through
 * `standing`, so that it can stop them without a progress that moves backwards. */
typedef struct {
  tsanom_exec counting; /* polls with done = before + the units of the current loop */
  tsanom_exec standing; /* polls with done = before */
  const tsanom_exec *caller;
  uint64_t before, total;
} tsn_optics_progress;

/* A point that may be processed next. The index decides among equal reaches: places
 * change when points are removed, so that they cannot. */
typedef struct {
  double reach;
  uint32_t number;
  size_t place; /* in the blocks of unprocessed points */
} tsn_optics_candidate;

/* The list of nearest neighbors that each point keeps; see lazy.c. A point is named
 * by its place in the tree, not by its index: points that are near each other in space
 * are near each other in memory, and threads that search for different points write to
 * different cache lines. This and the deferred edges together reduced the time
 * of 100,000 points in 2 dimensions from 233 to 214 ms. */

/* Neighbors in a list: with 12 places of 4 bytes and the 16 bytes before them a list is
 * one cache line. The default of 5 min_points fits with a margin for later edges. */
enum { TSN_OPTICS_KEPT = 12 };

/* The first neighbors of a point by (key, index), key = max(core distance, distance),
 * among those that were unprocessed when the list was filled. Their keys are separate. */
typedef struct {
  double known;        /* each neighbor not listed has a larger key, or this key and a
                          larger index: a bound below which no search is needed */
  uint32_t time;       /* position of the point in the order, once processed */
  uint8_t next, count; /* [next, count) are not yet used */
  bool complete;       /* no neighbor within eps is missing */
  uint32_t neighbor[TSN_OPTICS_KEPT]; /* places */
} tsn_optics_list;

/* What a search needs, and the lists of all points. Threads share it: each writes to the
 * lists of the places that it was given and to its own result of a search. */
typedef struct {
  size_t min_points;
  double eps;
  tsn_optics_nearest *nearest; /* of the metric and the instruction set */
  tsn_optics_tree tree;
  double *core;          /* by place */
  tsn_optics_list *list; /* by place */
  double *key;           /* TSN_OPTICS_KEPT for each place */
  double *found_key;     /* result of a search, for each thread */
  uint32_t *found_number, *found_place;
} tsn_optics_neighbors;

/* Whether searches in a small radius are much faster than in a large one. In more
 * dimensions nearly all boxes of the tree meet even a small ball. */
static inline bool tsn_optics_few_dimensions(size_t dimensions) {
  return dimensions <= 8;
}

/* Buffers of the exhaustive search. The arrays indexed by place hold the unprocessed
 * points without gaps; drop() of exhaustive.c keeps them parallel:
 *
 *     place     0   1   2  ...  count - 1 | processed: free
 *     number    7   0   4  ...      2     |
 *     reach     .   .   .  ...      .     | */
typedef struct {
  double *blocks;   /* unprocessed points, laid out as those of a tree */
  uint32_t *number; /* their indices */
  double *reach;    /* their reachability */
  uint32_t *from;   /* their predecessor */
  double *limit;    /* larger raw distances do not improve their reachability */
  double *distance; /* TSN_OPTICS_QUERIES rows of raw distances for each thread */
  double *query;    /* TSN_OPTICS_QUERIES points for each thread */
  double *nearest;  /* the smallest of each row, min_points for each thread */
  tsn_optics_candidate *candidate; /* one for each thread */
  size_t row_length;               /* elements of a row of distances */
} tsn_optics_exhaustive;

/* O(n · (dimensions + threads)) memory: distances are never stored beyond the rows in
 * use. */
void tsn_optics_exhaustive_layout(tsn_arena *arena, size_t n, size_t dimensions,
                                  size_t min_points, int threads,
                                  tsn_optics_exhaustive *scratch);

/* Order by computing all distances, O(n^2 · dimensions) time. Writes `result` only, of
 * which a call that is stopped or rejected leaves a part. Returns TSANOM_OK,
 * TSANOM_STOPPED, or the status of a distance of the caller's function that is
 * invalid. */
tsanom_status tsn_optics_exhaustive_order(const tsn_optics_input *input,
                                          const tsanom_optics_options *options,
                                          tsn_optics_progress *progress,
                                          const tsn_optics_exhaustive *scratch,
                                          const tsn_optics_result *result);

void tsn_optics_tree_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            tsn_optics_tree *tree);

/* Build the tree of all points; the poll of `standing` may stop it. */
tsanom_status tsn_optics_tree_build(tsn_optics_tree *tree, const tsn_optics_input *input,
                                    const tsanom_exec *standing);

/* Remove the point at a place: its lane becomes infinitely far. If its leaf is empty now,
 * the boxes above it shrink. O(log n), but only the leaf is touched unless the point had
 * its smallest index. */
void tsn_optics_tree_remove(tsn_optics_tree *tree, uint32_t place);

/* Buffers of the search by a tree. */
typedef struct {
  tsn_optics_neighbors neighbors;
  tsn_optics_heap heap;
  tsn_optics_buckets deferred;
  double *reach;   /* by place: smallest key of the published edges to the point */
  uint32_t *place; /* by position in the order: place in the tree */
  uint32_t *batch; /* places of a batch of points without an edge */
  struct tsn_optics_candidate *found; /* of these points */
} tsn_optics_lazy;

/* O(n · dimensions + threads · min_points) memory: the lists have a fixed length. */
void tsn_optics_lazy_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads, tsn_optics_lazy *scratch);

/* Order by a kd-tree; input->points is not NULL. As tsn_optics_exhaustive_order() in
 * results and statuses. */
tsanom_status tsn_optics_lazy_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress,
                                    tsn_optics_lazy *scratch,
                                    const tsn_optics_result *result);

/* A part of the reachability plot whose steps are joined already. */
typedef struct {
  uint32_t first; /* position; the part ends where the next one begins */
  uint32_t wall;  /* the outermost one inside; TSN_OPTICS_NONE */
  double logs;    /* sum of the logarithms of its steps */
} tsn_optics_part;

/* The step between two valleys. */
typedef struct {
  uint32_t first[3];  /* positions: left valley, right valley, their end */
  uint32_t inside[2]; /* outermost wall in each; TSN_OPTICS_NONE */
  uint32_t classes;   /* in both; 0: fewer than two */
  bool real, wanted;  /* both are classes; the answer is inside */
  double chance[2];   /* that one class has such a valley */
} tsn_optics_wall;

/* Buffers of the search for valleys. */
typedef struct {
  tsn_optics_part *open;
  tsn_optics_wall *wall;
  uint32_t *end; /* by position: end of the class that begins there; 0: none */
} tsn_optics_valleys;

/* Reject a distance: NaN, infinite or negative. An infinite distance would be a core
 * distance that cannot be distinguished from an undefined one. */
tsanom_status tsn_optics_check_distance(double distance);
#define TSN_OPTICS_A_DISTANCE "a finite distance of at least 0 is expected"

/* The same of an ordering that is an input, and its count. */
tsanom_status tsn_optics_plot_read(tsanom_optics_ordering *own,
                                   const tsanom_optics_ordering *caller,
                                   const tsanom_exec *exec);

/* The same, and one with an index that is not a point, or a reachability that is NaN or
 * negative. Whether `order` is a permutation is not checked: a repeated point gives wrong
 * labels but no access out of bounds. tsanom_optics_xi(), which inverts it, checks it. */
tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        const tsanom_exec *exec);

/* Reject values that are NaN or negative; infinity means undefined. */
tsanom_status tsn_optics_check_heights(const double *values, size_t n, const char *name,
                                       const tsanom_exec *exec);

#endif
