/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the kd-tree of optics_internal.h, and removing points from it (J. H. Friedman,
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

#include <math.h>

#include "core/parallel.h"
#include "core/size.h"
#include "optics/optics_internal.h"

/* Subtrees that threads share, and the number of leaves from which they share them: below
 * that a subtree has fewer than 8 leaves, too little work for a team. The parts are also
 * the steps between polls, which bounds the time until a call is stopped. The first split is
 * done by one thread. Building is 8 to 10 % of an order of 100,000 points in 2 dimensions
 * (AMD EPYC Zen 4). */
enum { PARTS = 32, PARALLEL_LEAVES = 8 * PARTS };

/* Points of a chunk whose rows are copied. */
enum { GATHER_GRAIN = 4096 };

void tsn_optics_tree_layout(tsn_arena *arena, size_t n, size_t dimensions,
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

tsanom_status tsn_optics_tree_build(tsn_optics_tree *tree, const tsn_optics_input *input,
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

void tsn_optics_tree_remove(tsn_optics_tree *tree, uint32_t place) {
  size_t leaf = place / TSN_OPTICS_LANES;
  uint32_t gone = tree->number[place];
  double *lane = tree->blocks + leaf * tree->dimensions * TSN_OPTICS_LANES +
                 place % TSN_OPTICS_LANES;
  for (size_t c = 0; c < tree->dimensions; c++) lane[c * TSN_OPTICS_LANES] = INFINITY;
  tree->number[place] = TSN_OPTICS_NONE;
  uint32_t first = smallest_in_leaf(tree, leaf);
  if (first > gone) update(tree, leaf, gone, first);
}
