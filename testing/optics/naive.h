/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS straight from its definition, and points to try it on. */
#ifndef TSANOM_TEST_NAIVE_OPTICS_H
#define TSANOM_TEST_NAIVE_OPTICS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/optics.h>

#include "support/random.h"

typedef struct {
  size_t n;
  size_t *order, *predecessor;
  double *reachability, *core;
} plot;

static inline plot plot_new(size_t n) {
  return (plot){n, calloc(n, sizeof(size_t)), calloc(n, sizeof(size_t)),
                calloc(n, sizeof(double)), calloc(n, sizeof(double))};
}

static inline tsanom_optics_ordering plot_ordering(const plot *p) {
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering, .eps = INFINITY};
  ordering.n = p->n;
  ordering.order = p->order;
  ordering.reachability = p->reachability;
  ordering.predecessor = p->predecessor;
  ordering.core_distance = p->core;
  return ordering;
}

static inline void plot_free(plot *p) {
  free(p->order);
  free(p->predecessor);
  free(p->reachability);
  free(p->core);
}

static inline tsanom_optics_options optics_options(size_t min_points, double eps,
                                                   int32_t metric) {
  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  options.min_points = min_points;
  options.eps = eps;
  options.metric = metric;
  return options;
}

/* The first place where two plots differ; n if they are bitwise equal. */
static inline size_t plot_difference(const plot *a, const plot *b) {
  for (size_t k = 0; k < a->n; k++) {
    if (a->order[k] != b->order[k] || a->predecessor[k] != b->predecessor[k] ||
        memcmp(&a->reachability[k], &b->reachability[k], sizeof(double)) != 0 ||
        memcmp(&a->core[k], &b->core[k], sizeof(double)) != 0) {
      return k;
    }
  }
  return a->n;
}

static inline double naive_distance(const double *x, const double *y, size_t dimensions,
                                    int32_t metric) {
  double sum = 0;
  for (size_t c = 0; c < dimensions; c++) {
    double difference = fabs(x[c] - y[c]);
    if (metric == TSANOM_OPTICS_EUCLIDEAN) {
      sum += difference * difference;
    } else if (metric == TSANOM_OPTICS_MANHATTAN) {
      sum += difference;
    } else {
      sum = difference > sum ? difference : sum;
    }
  }
  return metric == TSANOM_OPTICS_EUCLIDEAN ? sqrt(sum) : sum;
}

/* A square matrix of all distances; the caller frees it. */
static inline double *naive_matrix(const double *points, size_t n, size_t dimensions,
                                   size_t ld, int32_t metric) {
  double *d = malloc(n * n * sizeof *d);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      d[i * n + j] = naive_distance(points + i * ld, points + j * ld, dimensions, metric);
    }
  }
  return d;
}

static inline int naive_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline plot naive_optics(const double *d, size_t n, size_t min_points,
                                double eps) {
  plot p = plot_new(n);
  double *row = malloc(n * sizeof *row), *reach = malloc(n * sizeof *reach);
  size_t *from = malloc(n * sizeof *from);
  char *done = calloc(n, 1);
  for (size_t i = 0; i < n; i++) {
    memcpy(row, d + i * n, n * sizeof *row);
    qsort(row, n, sizeof *row, naive_compare);
    p.core[i] = row[min_points - 1] <= eps ? row[min_points - 1] : INFINITY;
    reach[i] = INFINITY;
    from[i] = SIZE_MAX;
  }
  for (size_t k = 0; k < n; k++) {
    size_t next = n;
    for (size_t i = 0; i < n; i++) {
      if (!done[i] && (next == n || reach[i] < reach[next])) next = i;
    }
    done[next] = 1;
    p.order[k] = next;
    p.reachability[k] = reach[next];
    p.predecessor[k] = from[next];
    if (isinf(p.core[next])) continue;
    for (size_t i = 0; i < n; i++) {
      double distance = d[next * n + i];
      double through = p.core[next] > distance ? p.core[next] : distance;
      if (!done[i] && distance <= eps && through < reach[i]) {
        reach[i] = through;
        from[i] = next;
      }
    }
  }
  free(row);
  free(reach);
  free(from);
  free(done);
  return p;
}

/* Points of one of several kinds: uniform, on a coarse grid, in blobs with noise,
 * all equal, on a line, duplicates of few, half at one place, of all magnitudes, with far
 * outliers. */
static inline void random_points(double *points, size_t n, size_t dimensions,
                                 uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 9;
  for (size_t i = 0; i < n; i++) {
    double blob = floor(random_unit(seed) * 4) * 20;
    size_t twin = i ? random_between(seed, 0, i - 1) : 0;
    for (size_t c = 0; c < dimensions; c++) {
      double u = random_unit(seed), *x = points + i * dimensions + c;
      *x = kind == 0   ? u * 100 - 50
           : kind == 1 ? floor(u * 5)
           : kind == 2 ? blob + random_normal(seed)
           : kind == 3 ? 1.5
           : kind == 4 ? (c == 0 ? u : 3)
           : kind == 7 ? exp2(200 * u - 100)
                       : u;
      if (kind == 5 && i > 4) *x = points[twin * dimensions + c];
      if (kind == 6 && twin % 2) *x = 0.5;
      if (kind == 8 && i % 64 == 63) *x *= 1e12;
    }
  }
}

#endif
