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
#include <string.h>

#include "spmd/spmd_internal.h"

/* Whether classes remain if regions are left out, without classifying again.
 *
 * Leaving out a region makes no distance larger: points of a class stay connected, and
 * what may happen is that classes merge. Let a be the first point of a class, and r the
 * largest distance from it to a point of the class, with all regions. Classes a and b
 * remain apart if, without the regions,
 *
 *     |ab| > r_a + eps' + r_b          ( r_a a )--- eps' ---( b r_b )
 *
 * because every pair of their points is then farther apart than eps'. That is a distance
 * for each pair of classes in place of one for each pair of a point and a class: without
 * it the row `bench_growth_two` takes 30 times as long (3,125 processes, Zen 5). If it
 * does not hold, nothing is known, and the points are classified again. */

void tsn_spmd_measure_classes(const tsn_spmd_points *p, const int32_t *class_of,
                              size_t classes, tsn_spmd_apart *apart) {
  apart->classes = classes > TSN_SPMD_APART ? 0 : classes;
  if (apart->classes == 0) return;
  for (size_t i = 0, known = 0; i < p->count; i++) {
    size_t c = (size_t)class_of[i];
    if (c == known) {
      known++;
      apart->first[c] = (uint32_t)i;
      apart->radius[c] = 0;
      continue;
    }
    const double *at = p->at + apart->first[c] * p->stride;
    double square = tsn_spmd_square_distance(at, p->at + i * p->stride, p->weight,
                                             p->stride, INFINITY);
    apart->radius[c] = fmax(apart->radius[c], sqrt(square));
  }
}

bool tsn_spmd_remain_apart(const tsn_spmd_points *p, const tsn_spmd_apart *apart) {
  const double slack = 1 + 1e-9; /* for the rounding of distances */
  const double least = 1e-150;   /* shorter ones have no normal square */
  double eps = sqrt(p->limit);
  for (size_t b = 1; b < apart->classes; b++) {
    for (size_t a = 0; a < b; a++) {
      double far = (apart->radius[a] + eps + apart->radius[b]) * slack + least;
      double square = tsn_spmd_square_distance(p->at + apart->first[a] * p->stride,
                                               p->at + apart->first[b] * p->stride,
                                               p->weight, p->stride, far * far);
      if (!(square > far * far)) return false;
    }
  }
  return apart->classes > 0;
}

/* The stride of points is a multiple. */
enum { LANES = 8 };

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
  points->stride = (count + LANES) / LANES * LANES;
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

void tsn_spmd_set_free(tsn_spmd_points *points, const double *column, size_t stride,
                       int exponent) {
  scale by = scale_of(exponent);
  for (size_t i = 0; i < points->count; i++) {
    points->at[i * points->stride] = scaled(column[i * stride], by);
  }
}

void tsn_spmd_add_free(tsn_spmd_points *points, const double *column, size_t stride,
                       int exponent) {
  scale by = scale_of(exponent);
  for (size_t i = 0; i < points->count; i++) {
    points->at[i * points->stride] += scaled(column[i * stride], by);
  }
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
  tsn_spmd_count(p->watch, g->open);
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
  tsn_spmd_count(p->watch, g->open - left);
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
      return tsn_spmd_classify_near(p, (size_t)classes, class_of);
    }
    if (!g.sorted) continue;
    /* The next class is that of the open point with the smallest index. */
    for (size_t u = 0; u < g.open; u++) p->away[p->open[u]] = -(double)p->open[u];
    tsn_spmd_sort(p->away, p->open, g.open);
  }
  return (size_t)classes;
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
