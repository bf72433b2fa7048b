/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of points beside the definition of OPTICS, bit by bit, for both ways to
 * search, all instruction sets and several threads. Random eps include distances that
 * occur. Matrices and functions of the same distances must give the same order. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/optics.h>

#include "optics/naive.h"
#include "support/check.h"
#include "support/flush.h"
#include "support/polls.h"
#include "support/random.h"

static plot order_points(const double *points, size_t n, size_t dimensions,
                         const tsanom_optics_options *options, const tsanom_exec *exec) {
  plot p = plot_new(n);
  tsanom_optics_ordering ordering = plot_ordering(&p);
  ordering.n = 0;
  CHECK_STATUS(
      tsanom_optics_order(points, n, dimensions, dimensions, options, exec, &ordering),
      TSANOM_OK);
  cr_assert(ordering.n == n);
  return p;
}

static double random_eps(const double *d, size_t n, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 4;
  if (kind == 0) return INFINITY;
  /* A distance that occurs, so that the boundary is tried. */
  return d[random_bits(seed) % (n * n)] * (kind == 1 ? 1 : random_unit(seed));
}

static void expect_equal(const plot *p, const plot *expected, const char *what,
                         int trial) {
  size_t k = plot_difference(p, expected);
  cr_assert(k == p->n,
            "%s, trial %d, place %zu: %zu (%.17g from %zu, core %.17g), not %zu (%.17g "
            "from %zu, core %.17g)",
            what, trial, k, p->order[k], p->reachability[k], p->predecessor[k],
            p->core[k], expected->order[k], expected->reachability[k],
            expected->predecessor[k], expected->core[k]);
}

static void try_all_ways(const double *points, size_t n, size_t dimensions,
                         tsanom_optics_options options, const plot *expected, int trial) {
  FOR_EACH_ISA (isa) {
    for (int32_t threads = 1; threads <= 3; threads += 2) {
      for (int32_t search = TSANOM_OPTICS_SEARCH_AUTO;
           search <= TSANOM_OPTICS_SEARCH_TREE; search++) {
        tsanom_exec exec = exec_at(isa, threads);
        options.search = search;
        plot p = order_points(points, n, dimensions, &options, &exec);
        expect_equal(&p, expected,
                     search == TSANOM_OPTICS_SEARCH_TREE ? "tree" : "exhaustive", trial);
        plot_free(&p);
      }
    }
  }
}

static void compare_with_definition(int trials, size_t largest, size_t most_dimensions,
                                    uint64_t seed) {
  for (int trial = 0; trial < trials; trial++) {
    size_t n = random_between(&seed, 1, largest);
    size_t dimensions = random_between(&seed, 1, most_dimensions);
    int32_t metric = (int32_t)(random_bits(&seed) % 3);
    size_t min_points = random_between(&seed, 1, n < 7 ? n : 7);
    if (random_bits(&seed) % 8 == 0) min_points = random_between(&seed, 1, n);
    double *points = malloc(n * dimensions * sizeof *points);
    random_points(points, n, dimensions, &seed);
    double *d = naive_matrix(points, n, dimensions, dimensions, metric);
    double eps = random_eps(d, n, &seed);
    plot expected = naive_optics(d, n, min_points, eps);
    try_all_ways(points, n, dimensions, optics_options(min_points, eps, metric),
                 &expected, trial);
    plot_free(&expected);
    free(d);
    free(points);
  }
}

Test(optics, equals_the_definition_on_few_points) {
  compare_with_definition(2000, 24, 5, 1);
}

Test(optics, equals_the_definition_on_more_points) {
  compare_with_definition(120, 400, 3, 2);
}

/* Points enough, and in odd trials dimensions enough, that threads share all that they
 * can: building the tree, looking farther, the rows of the exhaustive search. */
Test(optics, many_points_have_one_order_on_any_number_of_threads) {
  enum { N = 2100, MOST_DIMENSIONS = 40 };
  double *points = malloc(N * MOST_DIMENSIONS * sizeof *points);
  uint64_t seed = 7;
  for (int trial = 0; trial < 12; trial++) {
    size_t dimensions = trial % 2 ? MOST_DIMENSIONS : 2;
    random_points(points, N, dimensions, &seed);
    tsanom_optics_options options = optics_options(
        random_between(&seed, 1, 6), trial % 4 < 2 ? INFINITY : 0.5, trial % 3);
    tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
    options.search = TSANOM_OPTICS_SEARCH_TREE;
    plot expected = order_points(points, N, dimensions, &options, &exec);
    for (int run = 0; run < 6; run++) {
      exec.threads = 2 + run % 3;
      options.search =
          run < 3 ? TSANOM_OPTICS_SEARCH_TREE : TSANOM_OPTICS_SEARCH_EXHAUSTIVE;
      plot p = order_points(points, N, dimensions, &options, &exec);
      expect_equal(&p, &expected, run < 3 ? "tree" : "exhaustive", trial);
      plot_free(&p);
    }
    plot_free(&expected);
  }
  free(points);
}

Test(optics, equals_the_definition_in_many_dimensions) {
  compare_with_definition(60, 120, 40, 3);
}

static double matrix_distance(void *user, size_t i, size_t j) {
  const plot *p = user;
  cr_assert(i < j && j < p->n);
  return p->core[i * p->n + j];
}

Test(optics, matrices_and_a_function_give_the_order_of_their_points) {
  uint64_t seed = 4;
  for (int trial = 0; trial < CASES(1000); trial++) {
    size_t n = random_between(&seed, 1, 30), ld = n + (size_t)trial % 3;
    double points[60];
    random_points(points, n, 2, &seed);
    double *d = naive_matrix(points, n, 2, 2, TSANOM_OPTICS_EUCLIDEAN);
    double eps = random_eps(d, n, &seed);
    tsanom_optics_options options = optics_options(random_between(&seed, 1, n), eps, 0);
    plot expected = naive_optics(d, n, options.min_points, eps), p = plot_new(n);
    double *square = calloc(n * ld, sizeof *square);
    double *condensed = malloc(n * n * sizeof *condensed), *next = condensed;
    for (size_t i = 0; i < n; i++) {
      memcpy(square + i * ld, d + i * n, n * sizeof *d);
      for (size_t j = i + 1; j < n; j++) *next++ = d[i * n + j];
    }
    tsanom_optics_ordering ordering = plot_ordering(&p);
    CHECK_STATUS(tsanom_optics_order_matrix(square, n, ld, &options, NULL, &ordering),
                 TSANOM_OK);
    expect_equal(&p, &expected, "square", trial);
    CHECK_STATUS(tsanom_optics_order_matrix(condensed, n, 0, &options, NULL, &ordering),
                 TSANOM_OK);
    expect_equal(&p, &expected, "condensed", trial);
    plot user = {.n = n, .core = d};
    tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
    exec.threads = 3; /* only this thread calls the function */
    CHECK_STATUS(tsanom_optics_order_function(matrix_distance, &user, n, &options, &exec,
                                              &ordering),
                 TSANOM_OK);
    expect_equal(&p, &expected, "function", trial);
    plot_free(&p);
    plot_free(&expected);
    free(square);
    free(condensed);
    free(d);
  }
}

Test(optics, rows_may_be_padded_and_outputs_omitted) {
  double points[] = {0, 9, 1, 9, 5, 9, 6, 9}, reachability[4];
  size_t order[4], expected[] = {0, 1, 2, 3};
  tsanom_optics_options options = optics_options(1, INFINITY, 0);
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering};
  ordering.order = order;
  ordering.reachability = reachability;
  CHECK_STATUS(tsanom_optics_order(points, 4, 1, 2, &options, NULL, &ordering),
               TSANOM_OK);
  cr_assert_arr_eq(order, expected, sizeof expected);
  cr_assert(reachability[0] == INFINITY && reachability[1] == 1 && reachability[2] == 4 &&
            reachability[3] == 1);
}

Test(optics, the_poll_sees_progress_and_stops_the_run) {
  uint64_t seed = 6;
  enum { N = 2000 };
  double *points = malloc(N * 2 * sizeof *points);
  random_points(points, N, 2, &seed);
  for (int32_t search = 0; search <= TSANOM_OPTICS_SEARCH_TREE; search++) {
    for (uint64_t stop_at = 0; stop_at < 40; stop_at += 3) {
      tsanom_optics_options options = optics_options(3, INFINITY, 0);
      options.search = search;
      test_polls p = {.stop_at = stop_at};
      tsanom_exec exec = exec_polled(test_poll, &p);
      plot out = plot_new(N);
      out.reachability[0] = -1;
      tsanom_optics_ordering ordering = plot_ordering(&out);
      CHECK_STATUS(tsanom_optics_order(points, N, 2, 2, &options, &exec, &ordering),
                   stop_at ? TSANOM_STOPPED : TSANOM_OK);
      cr_assert(p.calls > 0 && (stop_at == 0 || out.reachability[0] == -1));
      plot_free(&out);
    }
  }
  free(points);
}

/* Core distances that differ by less than a bucket: a point whose neighbors better edges
 * reach must not search for these again and again, 4.6 polls a point in place of 1.8. With
 * more points that would not end. */
Test(optics, many_points_of_similar_density_have_an_order) {
  enum { N = 20000, POLLS_A_POINT = 3 };
  uint64_t seed = 5;
  double *points = malloc(N * 2 * sizeof *points);
  for (size_t i = 0; i < 2 * N; i++) points[i] = random_unit(&seed);
  tsanom_optics_options options = optics_options(300, INFINITY, 0);
  options.search = TSANOM_OPTICS_SEARCH_TREE;
  test_polls p = {.stop_at = POLLS_A_POINT * N};
  tsanom_exec exec = exec_polled(test_poll, &p);
  plot out = order_points(points, N, 2, &options, &exec);
  plot_free(&out);
  free(points);
}

/* Also if the caller flushes denormal numbers to zero. */
Test(optics, results_do_not_depend_on_the_floating_point_environment) {
  uint64_t seed = 8;
  double points[300], cuts[2];
  int32_t labels[2][150];
  plot p[2];
  for (size_t i = 0; i < 300; i++) points[i] = 1e-315 * random_unit(&seed);
  tsanom_optics_options options = optics_options(3, INFINITY, TSANOM_OPTICS_MANHATTAN);
  WITH_AND_WITHOUT_DENORMALS(k) {
    p[k] = order_points(points, 150, 2, &options, NULL);
    tsanom_optics_ordering order = plot_ordering(&p[k]);
    CHECK_STATUS(tsanom_optics_split(&order, NULL, NULL, labels[k], NULL, &cuts[k], NULL),
                 TSANOM_OK);
  }
  expect_equal(&p[1], &p[0], "flush to zero", 0);
  cr_assert_arr_eq(labels[0], labels[1], sizeof labels[0]);
  cr_assert(memcmp(&cuts[0], &cuts[1], sizeof(double)) == 0);
  plot_free(&p[1]);
  plot_free(&p[0]);
}
