/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of points by density.
 *
 * OPTICS with MinPts = 1 (M. Ankerst et al., SIGMOD 1999) reaches a point by its distance
 * to the nearest point already in order, so that cutting at eps' leaves the connected
 * components of the graph of distances up to eps'. The search needs only the classes,
 * hundreds of times; walking the components needs no order and, while classes are
 * compact, far fewer than n^2 / 2 distances.
 *
 * A class is grown from its first point f: its neighbors are queued, then theirs. The
 * distances from f, which are known by then, exclude most of the others: for a point p of
 * the class and an open point q,
 *
 *     f -------- p ----- eps' -----|
 *     f ------------------------------------- q      |fq| > |fp| + eps'  =>  |pq| > eps'
 *
 * So a later point of the class looks only at open points within reach, and at none if
 * the nearest open one is beyond it. With compact classes far apart that is O(processes *
 * classes * regions). A wide class sorts the open points by their distance from f, so
 * that those within reach are the last ones: a chain of n processes takes O(n log n)
 * steps; one of 5,000 took 1.2 ms instead of 24 (Zen 5). */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "core/size.h"
#include "core/sort.h"
#include "spmd/spmd_internal.h"
#include "spmd/spmd_kernel.h"

int tsn_spmd_exponent(const double *matrix, size_t rows, size_t stride,
                      const uint32_t *column, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < rows; i++) {
    for (size_t d = 0; d < count; d++) {
      double value = fabs(matrix[i * stride + column[d]]);
      largest = value > largest ? value : largest;
    }
  }
  int exponent = 0;
  frexp(largest, &exponent);
  return -exponent;
}

/* Values times 2^exponent. A product is the same as ldexp(), and faster, where the power
 * is a normal number. */
typedef struct {
  double power; /* 0: use ldexp() */
  int exponent;
} scale;

static scale scale_of(int exponent) {
  double power = ldexp(1, exponent);
  return (scale){isnormal(power) ? power : 0, exponent};
}

static inline double scaled(double value, scale by) {
  return by.power > 0 ? value * by.power : ldexp(value, by.exponent);
}

void tsn_spmd_gather(tsn_spmd_points *points, const double *matrix, size_t stride,
                     const uint32_t *column, size_t count, int exponent) {
  points->stride = tsn_round_up(count + 1, TSN_SPMD_LANES);
  scale by = scale_of(exponent);
  memset(points->at, 0, points->count * points->stride * sizeof *points->at);
  for (size_t i = 0; i < points->count; i++) {
    double *row = points->at + i * points->stride;
    for (size_t d = 0; d < count; d++) {
      row[d + 1] = scaled(matrix[i * stride + column[d]], by);
    }
  }
  for (size_t d = 0; d < points->stride; d++) points->weight[d] = d > 0 && d <= count;
  tsn_spmd_poll(points->watch, points->count * points->stride);
}

void tsn_spmd_set_free(tsn_spmd_points *points, const double *matrix, size_t stride,
                       const uint32_t *column, size_t count, int exponent) {
  scale by = scale_of(exponent);
  for (size_t i = 0; i < points->count; i++) {
    double sum = 0;
    for (size_t m = 0; m < count; m++) sum += scaled(matrix[i * stride + column[m]], by);
    points->at[i * points->stride] = sum;
  }
}

void tsn_spmd_norms(const tsn_spmd_points *p, double *norm) {
  for (size_t i = 0; i < p->count; i++) {
    const double *row = p->at + i * p->stride;
    double sum = 0;
    for (size_t d = 0; d < p->stride; d++) sum += p->weight[d] * (row[d] * row[d]);
    norm[i] = sqrt(sum);
  }
  tsn_spmd_poll(p->watch, p->count * p->stride);
}

void tsn_spmd_sort(const double *key, uint32_t *order, size_t count) {
  for (size_t start = count / 2, end = count; end > 1;) {
    if (start > 0) {
      start--;
    } else {
      end--;
      uint32_t last = order[end];
      order[end] = order[0];
      order[0] = last;
    }
    for (size_t root = start, child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && key[order[child + 1]] < key[order[child]]) child++;
      if (key[order[root]] <= key[order[child]]) break;
      uint32_t down = order[root];
      order[root] = order[child];
      order[child] = down;
    }
  }
}

static void count_distances(tsn_spmd_watch *watch, size_t distances) {
  if (watch) watch->compared += distances;
}

/* The growth of a class. */
typedef struct {
  const tsn_spmd_points *points;
  size_t open, queued;
  double nearest; /* of the open points to the first point of the class, at least */
  bool sorted;    /* open points by falling distance from the first, exact */
} growth;

/* Move the neighbors of the first point of a class from the open points to the
 * queue, and note how far the others are from it, at least: beyond three times eps'
 * the exact distance is of no use at first. */
static void seek_from_first(growth *g, size_t first) {
  const tsn_spmd_points *p = g->points;
  const double *at = p->at + first * p->stride;
  size_t left = 0;
  count_distances(p->watch, g->open);
  p->away[first] = 0;
  for (size_t u = 0; u < g->open; u++) {
    uint32_t other = p->open[u];
    if (tsn_spmd_poll(p->watch, p->stride)) return;
    double square = tsn_spmd_square_distance(at, p->at + other * p->stride, p->weight,
                                             p->stride, 9 * p->limit);
    p->away[other] = sqrt(square);
    if (square <= p->limit) {
      p->queued[g->queued++] = other;
    } else {
      p->open[left++] = other;
      g->nearest = fmin(g->nearest, p->away[other]);
    }
  }
  g->open = left;
}

/* The same from a later point of the class, at an exact distance from the first. By the
 * triangle inequality a point that is nearer to the first or farther from it by more than
 * eps' is no neighbor. */
static void seek_from(growth *g, size_t point, double eps) {
  const double slack = 1 + 1e-9; /* for the rounding of distances */
  const tsn_spmd_points *p = g->points;
  const double *at = p->at + point * p->stride;
  double away = p->away[point], reach = (away + eps) * slack;
  if (g->nearest > reach) return;
  size_t left = g->sorted ? g->open : 0;
  while (left > 0 && p->away[p->open[left - 1]] <= reach) left--;
  double nearest = left > 0 ? p->away[p->open[left - 1]] : INFINITY;
  count_distances(p->watch, g->open - left);
  if (tsn_spmd_poll(p->watch, (g->open - left) * p->stride)) return;
  for (size_t u = left; u < g->open; u++) {
    uint32_t other = p->open[u];
    if (fabs(p->away[other] - away) <= reach - away &&
        tsn_spmd_square_distance(at, p->at + other * p->stride, p->weight, p->stride,
                                 p->limit) <= p->limit) {
      p->queued[g->queued++] = other;
    } else {
      p->open[left++] = other;
      nearest = fmin(nearest, p->away[other]);
    }
  }
  g->open = left;
  g->nearest = nearest;
}

/* A point with a NaN is infinitely far, so that it has a place in the sorted list. */
static void measure_exactly(const tsn_spmd_points *p, size_t first, const uint32_t *list,
                            size_t count) {
  const double *at = p->at + first * p->stride;
  for (size_t i = 0; i < count; i++) {
    double square = tsn_spmd_square_distance(at, p->at + list[i] * p->stride, p->weight,
                                             p->stride, INFINITY);
    p->away[list[i]] = isnan(square) ? INFINITY : sqrt(square);
  }
}

/* Grow the class of the first open point. A class that is wide, or from which the open
 * points were walked as often as sorting them costs, sorts them: a chain of n points then
 * takes O(n log n) instead of O(n^2) steps. */
static void grow(growth *g, int32_t class, int32_t *class_of) {
  enum { WALKS = 16 };
  const tsn_spmd_points *p = g->points;
  double eps = sqrt(p->limit);
  size_t first = p->open[0];
  p->queued[0] = p->open[0];
  g->queued = 1;
  memmove(p->open, p->open + 1, --g->open * sizeof *p->open);
  class_of[first] = class;
  seek_from_first(g, first);
  for (size_t q = 1, walks = 0; q < g->queued && g->open > 0; q++) {
    uint32_t point = p->queued[q];
    if (tsn_spmd_poll(p->watch, 1)) return;
    if (!g->sorted && (p->away[point] > 2 * eps || walks == WALKS)) {
      measure_exactly(p, first, p->queued + q, g->queued - q);
      measure_exactly(p, first, p->open, g->open);
      tsn_spmd_sort(p->away, p->open, g->open);
      g->nearest = p->away[p->open[g->open - 1]];
      g->sorted = true;
    }
    walks += g->nearest <= p->away[point] + eps;
    seek_from(g, point, eps);
  }
  for (size_t q = 1; q < g->queued; q++) class_of[p->queued[q]] = class;
}

/* The neighbors of points if there are many classes: a kd-tree of the points without a
 * class (J. L. Bentley, Comm. ACM 18 (1975) 509-517). A node halves its points along the
 * coordinate that varies most in a sample of them:
 *
 *     open:    [ . . . . . . . | . . . . . . . ]      node 0, split at the bar
 *              [ . . . | . . . . ] [ . . . | . . . .] nodes 1 and 2: 2 i + 1, 2 i + 2
 *
 * A search adds up the squares of the distances to the splits that it crossed, one for
 * each coordinate (S. Arya, D. Mount, DCC 1993), and leaves out what is farther than
 * eps', and nodes without points. Without the tree, n classes take
 * n^2 / 2 distances. All re-clusterings of 5,000 processes that differ in 8 regions took
 * 0.05 s in place of 0.74 s, of 3,000 in 50 regions 0.43 s in place of 3.2 s (Zen 5).
 * Points with independent noise in many regions, whose nearest neighbors are about as far
 * as eps', gain least. With the tree of the module optics in its place, by
 * tsanom_optics_order(), the row `bench_growth_distinct` takes 6 times as long: OPTICS
 * orders points that need only be connected.
 *
 * Trees also find which classes can merge when coordinates are left out. Let d_k be the
 * differences of two points of different classes. Without any m of the coordinates they
 * are neighbors at most if
 *
 *     sum d_k^2 - (the m largest d_k^2) <= eps'^2
 *
 * As no distance becomes larger, the classes without m regions are the first ones, of which
 * those of pairs that are near then are joined: one search replaces as many classifications
 * as there are combinations. The coordinates are dealt into m + 1 groups. In one of these
 * none is left out, so that the points are neighbors in it: there is a search of neighbors
 * in a tree of each group.
 *
 *     m = 2    | d_0 d_3 d_6 | d_1 d_4 d_7 | d_2 d_5 d_8 |    without d_1, d_8:
 *                                                          group 0
 *
 * One search in all coordinates, with m times the largest square less in the bounds, is
 * quadratic: all re-clusterings of 20,000 points that differ in 50 regions took 8 times as
 * long. */

/* Points of a leaf, and of the sample that chooses a coordinate. */
enum { LEAF = TSN_SPMD_LEAF, SAMPLE = 32 };

/* The tree over the first points of `open`. Node i is split at split[i] of coordinate
 * node[2 i], and has at most node[2 i + 1] points without a class. */
typedef struct {
  const tsn_spmd_points *p;
  int32_t *class_of; /* -1: none */
  int32_t wanted;    /* the class that nearest() seeks; -1: any */
  size_t count;
  size_t queued;   /* points of the class that grows */
  double *crossed; /* stride: distances to splits that the search crossed */
  uint32_t from;   /* where it starts */
  uint8_t *code;   /* count * stride, by place */
  uint8_t *own;    /* stride: of that point */
} tree;

static double coordinate(const tsn_spmd_points *p, size_t place, size_t d) {
  return p->at[p->open[place] * p->stride + d];
}

static size_t middle_of(size_t begin, size_t end) {
  return begin + (end - begin) / 2;
}

/* The coordinate with the widest spread in a sample of places [begin, end). */
static size_t widest(const tsn_spmd_points *p, size_t begin, size_t end) {
  size_t best = 0, step = (end - begin + SAMPLE - 1) / SAMPLE;
  double most = -1;
  for (size_t d = 0; d < p->stride; d++) {
    if (!(p->weight[d] > 0)) continue;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = begin; i < end; i += step) {
      double x = coordinate(p, i, d);
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    if (high - low > most) {
      most = high - low;
      best = d;
    }
  }
  return best;
}

/* Put the places of coordinates below `value` first, of those above it last. */
static void part(const tsn_spmd_points *p, size_t begin, size_t end, size_t d,
                 double value) {
  for (size_t i = begin; i < end;) {
    double x = coordinate(p, i, d);
    size_t to = x < value ? begin++ : x > value ? --end : i;
    uint32_t moved = p->open[i];
    p->open[i] = p->open[to];
    p->open[to] = moved;
    if (!(x > value)) i++;
  }
}

/* Split a node that is no leaf. */
static void split(const tree *t, size_t node, size_t begin, size_t end) {
  const tsn_spmd_points *p = t->p;
  size_t half = middle_of(begin, end), d = widest(p, begin, end);
  double *key = p->away + begin; /* of these places, as threads share it */
  for (size_t i = begin; i < end; i++) p->away[i] = coordinate(p, i, d);
  tsn_select(key, end - begin, half - begin);
  p->node[2 * node] = (uint32_t)d;
  p->node[2 * node + 1] = (uint32_t)(end - begin);
  p->split[node] = key[half - begin];
  part(p, begin, end, d, p->split[node]);
}

static void build(const tree *t, size_t node, size_t begin, size_t end) {
  size_t half = middle_of(begin, end);
  t->p->node[2 * node + 1] = (uint32_t)(end - begin);
  if (end - begin <= LEAF) return;
  split(t, node, begin, end);
  build(t, 2 * node + 1, begin, half);
  build(t, 2 * node + 2, half, end);
}

/* Loops over the nodes of a level, which threads share. The calling thread counts its work,
 * in coordinates, and polls between nodes. */
typedef void level_body(void *context, size_t begin, size_t end, size_t node, int thread);

typedef struct {
  const tree *t;
  tsanom_exec exec;
  level_body *body;
  void *context;
  size_t first; /* node of the level */
  size_t work;  /* since the last poll */
} level_loop;

static int32_t poll_level(void *user, uint64_t done, uint64_t total) {
  level_loop *loop = user;
  size_t work = loop->work;
  (void)done;
  (void)total;
  loop->work = 0;
  return tsn_spmd_poll(loop->t->p->watch, work);
}

/* The places of a node: each bit of its number plus 1, behind the first, is a half. */
static void run_nodes(void *context, size_t first, size_t last, int thread) {
  level_loop *loop = context;
  for (size_t i = first; i < last; i++) {
    size_t begin = 0, end = loop->t->count, node = loop->first + i;
    for (size_t bit = (loop->first + 1) / 2; bit > 0; bit /= 2) {
      size_t half = middle_of(begin, end);
      if ((node + 1) & bit) {
        begin = half;
      } else {
        end = half;
      }
    }
    loop->body(loop->context, begin, end, node, thread);
    if (thread == 0) loop->work += 8 * (end - begin);
  }
}

/* Points that are worth the start of threads, and threads that have scratch. */
enum { SHARED = 4096, THREADS = 15 };

/* False: the poll ended it. */
static bool for_level(const tree *t, size_t nodes, level_body *body, void *context) {
  const tsn_spmd_watch *watch = t->p->watch;
  bool is_shared = watch && t->count >= SHARED;
  level_loop loop = {
      .t = t,
      .body = body,
      .context = context,
      .first = nodes - 1,
      .exec = {.threads = is_shared ? watch->exec->threads : 1, .poll = poll_level}};
  if (loop.exec.threads > THREADS) loop.exec.threads = THREADS;
  loop.exec.poll_user = &loop;
  return tsn_parallel_for(&loop.exec, nodes, 1, run_nodes, &loop, NULL) == TSANOM_OK;
}

/* Nodes of the first level on which each has fewer than `most` points. */
static size_t nodes_of(size_t count, size_t most) {
  size_t nodes = 1;
  while (count / nodes >= most) nodes *= 2;
  return nodes;
}

static void split_body(void *context, size_t begin, size_t end, size_t node, int thread) {
  (void)thread;
  split(context, node, begin, end);
}

static void build_body(void *context, size_t begin, size_t end, size_t node, int thread) {
  (void)thread;
  build(context, node, begin, end);
}

/* Build the whole tree; false: the poll ended it, and the tree is not complete. */
static bool build_tree(tree *t) {
  enum { MOST = 1 << 14, NODES = 16 };
  size_t nodes = tsn_larger(nodes_of(t->count, MOST), t->count < SHARED ? 1 : NODES);
  for (size_t level = 1; level < nodes; level *= 2) {
    if (!for_level(t, level, split_body, t)) return false;
  }
  return for_level(t, nodes, build_body, t);
}

/* Codes of coordinates: modulo 256 units of an eighth of eps'. If those of two points are
 * STEPS or more apart, around the circle, the coordinates are more than eps' apart. Points
 * with more of these than coordinates are left out are no neighbors; most points are
 * excluded so, before their coordinates are read. The codes of a leaf are side by side:
 * with the coordinates in their place 20,000 different processes take 1.3 times as long
 * (Zen 3, at load). */
enum { STEPS = 9, UNITS = 8, CODES = 8 };

static const double SLACK = 1 + 1e-9; /* for the rounding of sums */

/* The codes of a point; those of a NaN, which has no neighbors, are 0. Without `weight` all
 * coordinates count. */
static void encode(const tsn_spmd_points *p, const double *weight, size_t point,
                   uint8_t *code) {
  const double unit = fmax(sqrt(p->limit) * SLACK / UNITS, 0x1p-40);
  const double *at = p->at + point * p->stride;
  for (size_t d = 0; d < p->stride; d++) {
    double units = !weight || weight[d] > 0 ? floor(at[d] / unit) : 0;
    code[d] = isnan(units) ? 0 : (uint8_t)(int64_t)units;
  }
}

typedef uint8_t codes __attribute__((vector_size(CODES)));

/* Whether more than `most` of `stride` coordinates, a multiple of CODES, are far apart. */
static inline bool are_far(const uint8_t *a, const uint8_t *b, size_t stride,
                           size_t most) {
  const uint64_t ones = UINT64_MAX / UINT8_MAX;
  uint64_t far = 0;
  for (size_t d = 0; d < stride && far <= most; d += CODES) {
    codes x, y;
    memcpy(&x, a + d, sizeof x);
    memcpy(&y, b + d, sizeof y);
    codes apart = x - y + (STEPS - 1), is_far = (codes)(apart > 2 * (STEPS - 1));
    far += ((uint64_t)is_far & ones) * ones >> (64 - 8);
  }
  return far > most;
}

/* Queue the neighbors in a leaf; returns their number. */
static size_t search_leaf(tree *t, size_t begin, size_t end) {
  const tsn_spmd_points *p = t->p;
  const double *at = p->at + t->from * p->stride;
  size_t before = t->queued;
  for (size_t i = begin; i < end; i++) {
    if (are_far(t->code + i * p->stride, t->own, p->stride, 0)) continue;
    uint32_t other = p->open[i];
    if (t->class_of[other] >= 0) continue;
    double square = tsn_spmd_square_distance(at, p->at + other * p->stride, p->weight,
                                             p->stride, p->limit);
    if (!(square <= p->limit)) continue;
    t->class_of[other] = t->class_of[t->from];
    p->queued[t->queued++] = other;
  }
  count_distances(p->watch, end - begin);
  tsn_spmd_poll(p->watch, (end - begin) * 8);
  return t->queued - before;
}

/* The same in a node; `bound` is the least square of a distance to its points. */
static size_t search(tree *t, size_t node, size_t begin, size_t end, double bound) {
  const double slack = 1 + 1e-9; /* for the rounding of the bound */
  const tsn_spmd_points *p = t->p;
  uint32_t *left = &p->node[2 * node + 1];
  if (*left == 0) return 0;
  size_t found = 0, half = middle_of(begin, end);
  if (end - begin <= LEAF) {
    found = search_leaf(t, begin, end);
  } else {
    double *crossed = &t->crossed[p->node[2 * node]], before = *crossed;
    double away = p->at[t->from * p->stride + p->node[2 * node]] - p->split[node];
    double beyond = bound - before * before + away * away;
    bool is_low = away < 0, is_near = beyond <= p->limit * slack;
    if (!is_low) *crossed = is_near ? away : before;
    if (is_low || is_near) {
      found += search(t, 2 * node + 1, begin, half, is_low ? bound : beyond);
    }
    *crossed = is_low && is_near ? away : before;
    if (!is_low || is_near) {
      found += search(t, 2 * node + 2, half, end, is_low ? beyond : bound);
    }
    *crossed = before;
  }
  *left -= (uint32_t)found;
  return found;
}

/* Points with a NaN have no neighbors and are left out of the tree. `is_open`: so are
 * those of a class. */
static void gather(tree *t, bool is_open) {
  const tsn_spmd_points *p = t->p;
  memset(t->crossed, 0, p->stride * sizeof *t->crossed);
  for (size_t i = 0; i < p->count; i++) {
    const double *at = p->at + i * p->stride;
    if (is_open && t->class_of[i] >= 0) continue;
    double own = tsn_spmd_square_distance(at, at, p->weight, p->stride, p->limit);
    if (!isnan(own)) p->open[t->count++] = (uint32_t)i;
  }
}

/* Classify the points whose class is -1, if the others have `classes` classes. */
static size_t classify_near(const tsn_spmd_points *p, size_t classes, int32_t *class_of) {
  tree t = {.p = p, .class_of = class_of, .crossed = p->centroid};
  gather(&t, true);
  if (!build_tree(&t)) return 0;
  t.code = (uint8_t *)p->row;
  t.own = t.code + t.count * p->stride;
  for (size_t i = 0; i < t.count; i++) {
    encode(p, p->weight, p->open[i], t.code + i * p->stride);
  }
  for (size_t i = 0; i < p->count; i++) {
    if (class_of[i] >= 0) continue;
    class_of[i] = (int32_t)classes++;
    p->queued[0] = (uint32_t)i;
    t.queued = 1;
    for (size_t q = 0; q < t.queued; q++) {
      if (tsn_spmd_poll(p->watch, 8)) return 0;
      t.from = p->queued[q];
      encode(p, p->weight, t.from, t.own);
      search(&t, 0, 0, t.count, 0);
    }
  }
  return classes;
}

/* The first open point has the smallest index, so that classes are numbered by first
 * appearance. */
size_t tsn_spmd_classify(const tsn_spmd_points *p, int32_t *class_of) {
  enum { CLASSES = 16, OPEN = 256 }; /* from which a tree is faster */
  growth g = {.points = p, .open = p->count};
  int32_t classes = 0;
  for (size_t i = 0; i < g.open; i++) p->open[i] = (uint32_t)i;
  while (g.open > 0) {
    g.nearest = INFINITY;
    g.sorted = false;
    grow(&g, classes++, class_of);
    if (tsn_spmd_poll(p->watch, 1)) return 0;
    if (classes >= CLASSES && g.open >= OPEN) {
      for (size_t u = 0; u < g.open; u++) class_of[p->open[u]] = -1;
      return classify_near(p, (size_t)classes, class_of);
    }
    if (!g.sorted) continue;
    /* The next class is that of the open point with the smallest index. */
    for (size_t u = 0; u < g.open; u++) p->away[p->open[u]] = -(double)p->open[u];
    tsn_spmd_sort(p->away, p->open, g.open);
  }
  return (size_t)classes;
}

/* The least square of a step to a point of the class `wanted`, or one that is at most
 * `enough`; `bound` as in search(). Nothing is found from `least` on. The nearer half comes
 * first: a neighbor of most points is in its first leaf. */
static double nearest(tree *t, size_t node, size_t begin, size_t end, double bound,
                      double enough, double least) {
  const double slack = 1 + 1e-9; /* for the rounding of the bound */
  const tsn_spmd_points *p = t->p;
  const double *at = p->at + t->from * p->stride;
  if (bound > least * slack || tsn_spmd_poll(p->watch, 8)) return least;
  if (end - begin <= LEAF) {
    for (size_t i = begin; i < end && least > enough; i++) {
      size_t other = p->open[i];
      int32_t class = t->class_of[other];
      if (class < 0 || (t->wanted >= 0 && class != t->wanted)) continue;
      double square = tsn_spmd_square_step(at, p->at + other * p->stride, p->stride);
      least = square < least ? square : least;
    }
    count_distances(p->watch, end - begin);
    return least;
  }
  size_t half = middle_of(begin, end), low = 2 * node + 1, high = 2 * node + 2;
  double *crossed = &t->crossed[p->node[2 * node]], before = *crossed;
  double away = at[p->node[2 * node]] - p->split[node];
  double beyond = bound - before * before + away * away;
  bool is_low = away < 0;
  least = is_low ? nearest(t, low, begin, half, bound, enough, least)
                 : nearest(t, high, half, end, bound, enough, least);
  if (least <= enough) return least;
  *crossed = away;
  least = is_low ? nearest(t, high, half, end, beyond, enough, least)
                 : nearest(t, low, begin, half, beyond, enough, least);
  *crossed = before;
  return least;
}

void tsn_spmd_sort_outward(const tsn_spmd_points *p, const double *radius) {
  tree t = {.p = p, .crossed = p->centroid};
  gather(&t, false);
  build_tree(&t);
  for (size_t i = 0; i < p->count; i++) p->queued[i] = (uint32_t)i;
  tsn_spmd_sort(radius, p->queued, p->count);
}

/* Whether a point is in a core now. Of those that are not, each becomes the first of its
 * core, or has a neighbor in one. */
static bool joins(tree *t, bool *has_first, uint32_t point) {
  const tsn_spmd_points *p = t->p;
  const double beyond = nextafter(p->limit, INFINITY);
  int32_t core = TSN_SPMD_OUTSIDE - t->class_of[point];
  t->from = point;
  if (core < 0 ||
      (has_first[core] && !(nearest(t, 0, 0, p->count, 0, p->limit, beyond) < beyond))) {
    return false;
  }
  t->class_of[point] = core;
  return has_first[core] = true;
}

size_t tsn_spmd_gather_cores(const tsn_spmd_points *p, size_t most, int32_t *core_of,
                             int32_t *outside) {
  enum { PASSES = 3, AT_FIRST = 64, PART = 8 };
  tree t = {.p = p, .class_of = core_of, .crossed = p->centroid, .wanted = -1};
  bool has_first[TSN_SPMD_CORES] = {false};
  size_t count = 0, left = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (core_of[i] >= 0) core_of[i] = TSN_SPMD_OUTSIDE - core_of[i];
  }
  for (size_t i = p->count; i-- > 0;) {
    if (joins(&t, has_first, p->queued[i])) continue;
    if (count > p->count / PART + AT_FIRST) return SIZE_MAX;
    outside[count++] = (int32_t)p->queued[i];
  }
  for (int pass = 1; pass < PASSES; pass++, count = left) {
    left = 0;
    for (size_t k = 0; k < count; k++) {
      if (!joins(&t, has_first, (uint32_t)outside[k])) outside[left++] = outside[k];
    }
  }
  return count > most ? SIZE_MAX : count;
}

double tsn_spmd_square_from_core(const tsn_spmd_points *p, int32_t *core_of, int32_t core,
                                 uint32_t point, double least) {
  tree t = {
      .p = p, .class_of = core_of, .crossed = p->centroid, .from = point, .wanted = core};
  return nearest(&t, 0, 0, p->count, 0, 0, least);
}

/* The distances that take as long as a selection. */
enum { SELECTION = 8 };
static const double GROUP_SLACK = 1 + 2e-9; /* more, for those of a group */

/* The search for pairs, which threads share. The coordinates of the group are gathered by
 * leaf, in the layout of the kernel. Whether it ends by too many distances or pairs depends
 * on no order of points. */
typedef struct {
  tree t;
  size_t group, groups; /* coordinates group, group + groups, ... */
  size_t width;         /* their number */
  double *row;          /* count * width */
  double most;          /* halves of distances; may be infinite */
  tsn_spmd_pairs *pairs;
  _Atomic size_t found;      /* pairs, also those that have no place */
  _Atomic uint64_t computed; /* halves of distances, of nodes that are done */
  const tsn_spmd_kernels *kernels;
} pair_search;

/* What one thread has: scratch in the tile, of `stride` each, and the point whose pairs with
 * later ones it seeks. */
typedef struct {
  pair_search *s;
  double *own;       /* its coordinates in the group */
  double *at;        /* the same, in their places */
  double *crossed;   /* as that of a tree */
  double *square;    /* of can_meet() */
  size_t place;      /* of the point */
  uint32_t from;     /* the point */
  uint64_t computed; /* with those of nodes that were done before */
} pair_thread;

enum { PAIR_SCRATCH = 4 };
_Static_assert(1 + THREADS * PAIR_SCRATCH <= TSN_SPMD_TILE, "weights and scratch fit");

/* Whether two points can be neighbors without `size` coordinates. Few pairs are so near
 * that the largest squares must be selected: most have more than `size` that alone are
 * too large. */
static bool can_meet(pair_thread *own, const double *a, const double *b) {
  const tsn_spmd_points *p = own->s->t.p;
  const size_t stride = p->stride, size = own->s->pairs->size;
  const double limit = p->limit * SLACK;
  if (size >= stride) return true;
  double *square = own->square, sum = 0;
  for (size_t d = 0, large = 0; d < stride; d++) {
    square[d] = (a[d] - b[d]) * (a[d] - b[d]);
    large += square[d] > limit;
    if (large > size) return false;
  }
  own->computed += 2 * SELECTION;
  tsn_select(square, stride, stride - size - 1);
  for (size_t d = 0; d < stride - size; d++) sum += square[d];
  return sum <= limit;
}

/* Whether no group before this one has the pair. */
static bool is_new(const pair_search *s, const double *a, const double *b) {
  for (size_t g = 0; g < s->group; g++) {
    double sum = 0;
    for (size_t d = g; d < s->t.p->stride; d += s->groups) {
      sum += (a[d] - b[d]) * (a[d] - b[d]);
    }
    if (sum <= s->t.p->limit * SLACK) return false;
  }
  return true;
}

static bool is_ended(const pair_thread *own) {
  const pair_search *s = own->s;
  return (double)own->computed > s->most ||
         atomic_load_explicit(&s->found, memory_order_relaxed) > s->t.p->count;
}

static void add_pair(pair_search *s, uint32_t a, uint32_t b) {
  size_t at = atomic_fetch_add_explicit(&s->found, 1, memory_order_relaxed);
  if (at >= s->t.p->count) return;
  s->pairs->first[at] = (int32_t)tsn_smaller(a, b);
  s->pairs->second[at] = tsn_larger(a, b);
}

/* Compare with the later points of a leaf. */
static void pair_leaf(pair_thread *own, size_t begin, size_t end) {
  pair_search *s = own->s;
  const tsn_spmd_points *p = s->t.p;
  const uint8_t *code = s->t.code + own->place * p->stride;
  unsigned near = s->kernels->near(s->row + begin * s->width, end - begin, own->own,
                                   s->width, p->limit * GROUP_SLACK);
  own->computed += end - begin;
  if (begin <= own->place) near &= ~0U << (own->place + 1 - begin);
  for (; near; near &= near - 1) {
    size_t i = begin + (size_t)__builtin_ctz(near);
    if (are_far(s->t.code + i * p->stride, code, p->stride, s->pairs->size)) continue;
    uint32_t other = p->open[i];
    const double *at = p->at + own->from * p->stride, *to = p->at + other * p->stride;
    if (s->t.class_of[other] != s->t.class_of[own->from] && can_meet(own, at, to) &&
        is_new(s, at, to)) {
      add_pair(s, own->from, other);
    }
  }
}

/* The same in a node that has later points; `bound` as in search(). */
static void pair_node(pair_thread *own, size_t node, size_t begin, size_t end,
                      double bound) {
  const double slack = 1 + 3e-9; /* more than that of the group */
  const tsn_spmd_points *p = own->s->t.p;
  if (end - begin <= LEAF) {
    pair_leaf(own, begin, end);
    return;
  }
  size_t half = middle_of(begin, end), d = p->node[2 * node];
  double *crossed = &own->crossed[d], before = *crossed;
  double away = own->at[d] - p->split[node];
  double beyond = bound - before * before + away * away;
  bool is_low = away < 0, is_near = beyond <= p->limit * slack;
  if ((is_low || is_near) && half > own->place + 1) {
    *crossed = is_low ? before : away;
    pair_node(own, 2 * node + 1, begin, half, is_low ? bound : beyond);
  }
  if (!is_low || is_near) {
    *crossed = is_low ? away : before;
    pair_node(own, 2 * node + 2, half, end, is_low ? beyond : bound);
  }
  *crossed = before;
}

/* Coordinate k of the group, of the point at a place; there are as many as in the first
 * group. */
static double of_group(const pair_search *s, size_t place, size_t k) {
  size_t d = s->group + k * s->groups;
  return d < s->t.p->stride ? coordinate(s->t.p, place, d) : 0;
}

static void gather_leaves(const pair_search *s, size_t begin, size_t end) {
  if (end - begin > LEAF) {
    size_t half = middle_of(begin, end);
    gather_leaves(s, begin, half);
    gather_leaves(s, half, end);
    return;
  }
  double *next = s->row + begin * s->width;
  for (size_t k = 0; k < s->width; k++) {
    for (size_t i = begin; i < end; i++) *next++ = of_group(s, i, k);
  }
  const tsn_spmd_points *p = s->t.p;
  for (size_t i = begin; i < end; i++) {
    encode(p, NULL, p->open[i], s->t.code + i * p->stride);
  }
}

/* Find the pairs of the points of a node. Their coordinates are read where they were
 * gathered. */
static void pair_points(pair_thread *own, size_t begin, size_t end) {
  pair_search *s = own->s;
  const size_t count = s->t.count, half = middle_of(begin, end);
  if (end - begin > LEAF) {
    pair_points(own, begin, half);
    pair_points(own, half, end);
    return;
  }
  for (own->place = begin; own->place < end && !is_ended(own); own->place++) {
    const double *from = s->row + begin * s->width + (own->place - begin);
    own->from = s->t.p->open[own->place];
    for (size_t k = 0; k < s->width; k++) {
      own->at[s->group + k * s->groups] = own->own[k] = from[k * (end - begin)];
    }
    if (own->place + 1 < count) pair_node(own, 0, 0, count, 0);
  }
}

static void gather_body(void *context, size_t begin, size_t end, size_t node,
                        int thread) {
  (void)node;
  (void)thread;
  gather_leaves(context, begin, end);
}

static void pair_body(void *context, size_t begin, size_t end, size_t node, int thread) {
  pair_search *s = context;
  const size_t stride = s->t.p->stride;
  double *scratch = s->t.p->tile + (1 + (size_t)thread * PAIR_SCRATCH) * stride;
  pair_thread own = {.s = s,
                     .own = scratch,
                     .at = scratch + stride,
                     .crossed = scratch + 2 * stride,
                     .square = scratch + 3 * stride};
  uint64_t before = own.computed = atomic_load(&s->computed);
  (void)node;
  memset(own.crossed, 0, stride * sizeof *own.crossed);
  pair_points(&own, begin, end);
  atomic_fetch_add(&s->computed, own.computed - before);
}

/* Find the pairs that are neighbors in the present group. */
static bool pair_group(pair_search *s) {
  enum { MOST = 128 }; /* points of a node */
  const tsn_spmd_points *p = s->t.p;
  size_t nodes = nodes_of(s->t.count, MOST);
  for (size_t d = 0; d < p->stride; d++) p->weight[d] = d % s->groups == s->group;
  return build_tree(&s->t) && for_level(&s->t, nodes, gather_body, s) &&
         for_level(&s->t, nodes, pair_body, s) && s->found <= p->count &&
         (double)s->computed <= s->most;
}

bool tsn_spmd_find_pairs(const tsn_spmd_points *p, int32_t *class_of, double work,
                         tsn_spmd_pairs *pairs) {
  tsn_spmd_points grouped = *p;
  grouped.weight = p->tile;
  pair_search s = {.t = {.p = &grouped, .class_of = class_of, .crossed = p->centroid},
                   .groups = pairs->size + 1,
                   .width = (p->stride + pairs->size) / (pairs->size + 1),
                   .row = p->row,
                   .most = 2 * work,
                   .pairs = pairs,
                   .kernels = tsn_spmd_kernels_at(p->isa)};
  s.t.code = (uint8_t *)(s.row + p->count * s.width + LEAF); /* has half of the doubles */
  memcpy(grouped.weight, p->weight, p->stride * sizeof *p->weight);
  gather(&s.t, false);
  while (s.group < s.groups && pair_group(&s)) s.group++;
  pairs->count = s.found;
  return s.group == s.groups;
}
