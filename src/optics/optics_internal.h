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
 * key max{core(p), d(p,o)}. optics.c computes all keys; tree.c finds the edges that matter
 * by a tree. Both return the same bits, which tests require; optics.c chooses. */
#ifndef TSN_OPTICS_INTERNAL_H
#define TSN_OPTICS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <tsanom/optics.h>

#include "core/arena.h"
#include "core/isa.h"

/* Points in blocks of 8, one vector lane each: coordinate c of point j is
 * blocks[(j / 8 * dimensions + c) * 8 + j % 8]. Sums run over coordinates within a lane,
 * so that every instruction set rounds alike: a sum within a point's row would be split
 * into one partial sum for each lane of a register.
 *
 *     block 0:  x0 x1 ... x7 | y0 y1 ... y7 | z0 ... z7     block 1:  x8 ... x15 | ... */

/* Points of a block. */
enum { TSN_OPTICS_LANES = 8 };

/* Coordinate 0 of a point; its others are TSN_OPTICS_LANES apart. */
static inline double *tsn_optics_lane(double *blocks, size_t dimensions, size_t point) {
  size_t block = point / TSN_OPTICS_LANES, lane = point % TSN_OPTICS_LANES;
  return blocks + block * dimensions * TSN_OPTICS_LANES + lane;
}

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

/* Neighbors that the tree's search keeps for each point: with 12 places of 4 bytes and the
 * 16 bytes before them a list is one cache line. The default of 5 min_points fits with a
 * margin for later edges. */
enum { TSN_OPTICS_KEPT = 12 };

/* Take the memory of an order by a kd-tree: O(n · dimensions + threads · min_points). */
void tsn_optics_tree_layout(tsn_arena *arena, size_t n, size_t dimensions,
                            size_t min_points, int threads);

/* Order by a kd-tree, in such memory; input->points is not NULL. Writes `result` only, of
 * which a call that is stopped leaves a part; returns TSANOM_OK or TSANOM_STOPPED. */
tsanom_status tsn_optics_tree_order(const tsn_optics_input *input,
                                    const tsanom_optics_options *options,
                                    tsn_optics_progress *progress, tsn_arena memory,
                                    const tsn_optics_result *result);

/* Read an ordering that is an input, without its arrays, and reject its count. */
tsanom_status tsn_optics_plot_read(tsanom_optics_ordering *own,
                                   const tsanom_optics_ordering *caller,
                                   const tsanom_exec *exec);

/* Reject one without arrays, with an index that is not a point, or with a reachability or,
 * if it must have them, a core distance that is NaN or negative; infinity means undefined.
 * Whether `order` is a permutation is not checked: a repeated point gives wrong labels but
 * no access out of bounds. tsanom_optics_xi(), which inverts it, checks it. */
tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        bool with_core, const tsanom_exec *exec);

#define TSN_OPTICS_A_DISTANCE "a finite distance of at least 0 is expected"

#endif
