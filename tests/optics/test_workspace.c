/* SPDX-License-Identifier: BSD-3-Clause */
/* The workspaces of all functions: exact, and known without arrays. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/optics.h>

#include "optics/naive.h"
#include "support/random.h"
#include "support/workspace.h"

enum { N = 150, DIMENSIONS = 3 };

static double points[N * DIMENSIONS], distances[N * (N - 1) / 2];
static tsanom_optics_options options;

typedef struct {
  tsanom_optics_ordering ordering;
  size_t order[N], predecessor[N];
  double reachability[N], core_distance[N];
} ordered;

/* The caller's ordering in a result. Its fields are the result, its pointers are not. */
static tsanom_optics_ordering *begin(ordered *r, tsanom_optics_ordering *own) {
  *own = (tsanom_optics_ordering){.struct_size = sizeof *own};
  if (!r) return NULL;
  own->order = r->order;
  own->predecessor = r->predecessor;
  own->reachability = r->reachability;
  own->core_distance = r->core_distance;
  return own;
}

static tsanom_status end(ordered *r, tsanom_optics_ordering *own, tsanom_status status) {
  if (!r || status < 0) return status;
  own->order = own->predecessor = NULL;
  own->reachability = own->core_distance = NULL;
  r->ordering = *own;
  return status;
}

static tsanom_status order_points(const tsanom_exec *exec, void *result) {
  tsanom_optics_ordering own, *ordering = begin(result, &own);
  return end(result, &own,
             tsanom_optics_order(result ? points : NULL, N, DIMENSIONS, DIMENSIONS,
                                 &options, exec, ordering));
}

static tsanom_status order_matrix(const tsanom_exec *exec, void *result) {
  tsanom_optics_ordering own, *ordering = begin(result, &own);
  return end(
      result, &own,
      tsanom_optics_order_matrix(result ? distances : NULL, N, 0, NULL, exec, ordering));
}

static double apart(void *user, size_t i, size_t j) {
  (void)user;
  return fabs((double)i - (double)j);
}

static tsanom_status order_function(const tsanom_exec *exec, void *result) {
  tsanom_optics_ordering own, *ordering = begin(result, &own);
  return end(
      result, &own,
      tsanom_optics_order_function(result ? apart : NULL, NULL, N, NULL, exec, ordering));
}

/* The order of the points on a line, every other one far from the next. */
static tsanom_optics_ordering line(bool arrays) {
  static size_t order[N], predecessor[N];
  static double reachability[N], core_distance[N];
  for (size_t i = 0; i < N; i++) {
    order[i] = i;
    predecessor[i] = i - 1;
    reachability[i] = i == 0 ? INFINITY : 1 + 9 * (double)(i % 2) + 0.1 * (double)(i % 7);
    core_distance[i] = 1;
  }
  tsanom_optics_ordering own = {.struct_size = sizeof own, .n = N, .min_points = 3};
  if (!arrays) return own;
  own.order = order;
  own.predecessor = predecessor;
  own.reachability = reachability;
  own.core_distance = core_distance;
  return own;
}

typedef struct {
  int32_t labels[N];
  size_t count, clusters[2 * N];
  double cut, probability;
} extracted;

static tsanom_status split(const tsanom_exec *exec, void *result) {
  extracted *r = result;
  tsanom_optics_ordering ordering = line(r);
  if (!r) return tsanom_optics_split(&ordering, NULL, exec, NULL, NULL, NULL, NULL);
  return tsanom_optics_split(&ordering, NULL, exec, r->labels, &r->count, &r->cut,
                             &r->probability);
}

static tsanom_status xi(const tsanom_exec *exec, void *result) {
  extracted *r = result;
  tsanom_optics_ordering ordering = line(r);
  if (!r) return tsanom_optics_xi(&ordering, NULL, exec, NULL, N, NULL, NULL);
  return tsanom_optics_xi(&ordering, NULL, exec, r->clusters, N, &r->count, r->labels);
}

static const workspace_case cases[] = {
    {"order", order_points, sizeof(ordered)},
    {"order_matrix", order_matrix, sizeof(ordered)},
    {"order_function", order_function, sizeof(ordered)},
    {"split", split, sizeof(extracted)},
    {"xi", xi, sizeof(extracted)},
};

Test(optics_workspace, sizes_are_exact_and_known_without_arrays) {
  uint64_t seed = 5;
  random_points(points, N, DIMENSIONS, &seed);
  for (size_t i = 0; i < N * (N - 1) / 2; i++) distances[i] = random_unit(&seed);
  options = optics_options(5, INFINITY, 0);
  for (options.search = 0; options.search <= TSANOM_OPTICS_SEARCH_TREE;
       options.search++) {
    check_workspaces(cases, sizeof cases / sizeof *cases);
  }
}

static tsanom_status ask(size_t n, size_t dimensions, size_t *bytes) {
  tsanom_exec exec = ask_exec(NULL, bytes);
  return dimensions
             ? tsanom_optics_order(NULL, n, dimensions, dimensions, NULL, &exec, NULL)
             : tsanom_optics_order_matrix(NULL, n, 0, NULL, &exec, NULL);
}

Test(optics_workspace, sizes_are_monotone) {
  for (size_t dimensions = 0; dimensions < 40; dimensions += 3) {
    size_t before = 0;
    for (size_t n = 1; n < 3000; n += 1 + n / 8) {
      size_t bytes = 0, wider = 0;
      CHECK_STATUS(ask(n, dimensions, &bytes), TSANOM_E_WORKSPACE);
      CHECK_STATUS(ask(n, dimensions + 1, &wider), TSANOM_E_WORKSPACE);
      cr_assert(bytes >= before && wider >= bytes, "n %zu, %zu dimensions", n,
                dimensions);
      before = bytes;
    }
  }
}

Test(optics_workspace, sizes_that_no_memory_has_are_rejected) {
  size_t bytes = 7;
  CHECK_STATUS(ask(4, SIZE_MAX, &bytes), TSANOM_E_OVERFLOW);
  CHECK_STATUS(ask(0, 1, &bytes), TSANOM_E_COUNT);
  CHECK_STATUS(ask(SIZE_MAX, 0, &bytes), TSANOM_E_OVERFLOW);
  cr_assert(bytes == 7);
}
