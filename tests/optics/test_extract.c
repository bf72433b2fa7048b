/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes by split, cut and xi. Planted classes must be found, and one class is taken for
 * several about as rarely as the significance allows. Invalid orderings are rejected at
 * the first wrong element. test_valleys.c has the rules of valleys. */
#include <math.h>
#include <stdlib.h>
#include <tsanom/optics.h>

#include "classes.h"
#include "support/faults.h"
#include "support/random.h"

static double draw(int shape, uint64_t *seed) {
  double normal = random_normal(seed);
  if (shape == 0) return random_unit(seed);
  if (shape == 1) return normal;
  if (shape == 2) return -log(random_unit(seed));
  return round(10 * normal) / 10;
}

/* At most the stated 5 % and three deviations; with few points on a line the tails of
 * normal distributions, and those of exponential ones always, look like classes. */
Test(optics_split, one_class_is_rarely_taken_for_several) {
  uint64_t seed = 1;
  static const size_t numbers[] = {3, 4, 8, 16, 32, 64}, widths[] = {1, 2, 5, 14};
  enum { TRIALS = 400, MOST = 64 };
  for (size_t a = 0; a < 6; a++) {
    for (size_t b = 0; b < 4; b++) {
      size_t n = numbers[a], d = widths[b];
      for (int shape = 0; shape < (n > 16 ? 4 : 2); shape++) {
        size_t wrong = 0;
        double points[MOST * 14];
        int32_t labels[MOST];
        for (int trial = 0; trial < TRIALS; trial++) {
          for (size_t i = 0; i < n * d; i++) points[i] = 100 + draw(shape, &seed);
          wrong += classes_of(points, n, d, 1, 0, labels) > 1;
        }
        cr_assert(wrong <= TRIALS * (n > 16 ? 8 : 10) / 100,
                  "%zu points, %zu dimensions, shape %d: %zu of %d", n, d, shape, wrong,
                  TRIALS);
      }
    }
  }
}

/* Imbalanced programs: `sizes` threads around each of several loads, each class
 * `apart` times farther from the next than its members are spread. */
static size_t found_exactly(const size_t *sizes, size_t classes, size_t d, double apart,
                            size_t min_points, uint64_t *seed) {
  size_t right = 0;
  enum { TRIALS = 200 };
  for (int trial = 0; trial < TRIALS; trial++) {
    double points[64 * 14];
    int32_t labels[64];
    size_t n = 0;
    for (size_t k = 0; k < classes; k++) {
      for (size_t i = 0; i < sizes[k]; i++, n++) {
        for (size_t c = 0; c < d; c++) {
          points[n * d + c] = random_normal(seed) + (c == 0 ? apart * (double)k : 0);
        }
      }
    }
    if (classes_of(points, n, d, min_points, 0, labels) != classes) continue;
    size_t agree = 1, first = 0;
    for (size_t k = 0; k < classes; first += sizes[k], k++) {
      for (size_t i = 0; i < sizes[k]; i++) agree &= labels[first + i] == (int32_t)k;
    }
    right += agree;
  }
  return right * 100 / TRIALS;
}

Test(optics_split, classes_far_apart_are_found) {
  uint64_t seed = 2;
  static const size_t halves[] = {4, 4}, one_slow[] = {7, 1}, paper[] = {1, 2, 1, 2, 2};
  static const size_t four[] = {8, 8, 8, 8}, mixed[] = {20, 3, 9};
  for (size_t d = 1; d <= 14; d += 13) {
    cr_assert(found_exactly(halves, 2, d, 100, 1, &seed) >= 95);
    cr_assert(found_exactly(one_slow, 2, d, 100, 1, &seed) >= 95);
    cr_assert(found_exactly(paper, 5, d, 1000, 1, &seed) >= 90);
    cr_assert(found_exactly(four, 4, d, 100, 1, &seed) >= 95);
    cr_assert(found_exactly(mixed, 3, d, 100, 1, &seed) >= 85);
    cr_assert(found_exactly(mixed, 3, d, 200, 1, &seed) >= 95);
    cr_assert(found_exactly(four, 4, d, 100, 3, &seed) >= 95);
    cr_assert(found_exactly(mixed, 3, d, 100, 2, &seed) >= 85);
  }
}

Test(optics_split, degenerate_families_have_an_answer) {
  int32_t labels[8];
  double same[8] = {3, 3, 3, 3, 3, 3, 3, 3}, two[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  double ramp[8] = {1, 2, 3, 4, 5, 6, 7, 8}, pair[2] = {0, 9};
  cr_assert(classes_of(same, 8, 1, 1, 0, labels) == 1 && labels[7] == 0);
  cr_assert(classes_of(two, 8, 1, 1, 0, labels) == 2 && labels[7] == 1);
  cr_assert(classes_of(two, 8, 1, 3, 0, labels) == 2 && labels[3] == 0);
  cr_assert(classes_of(two, 8, 1, 1, 2, labels) == 1, "below the resolution");
  cr_assert(classes_of(ramp, 8, 1, 1, 0, labels) == 1);
  cr_assert(classes_of(pair, 2, 1, 1, 0, labels) == 1);
  cr_assert(classes_of(pair, 1, 1, 1, 0, labels) == 1);
}

Test(optics_split, a_point_alone_is_a_class_or_noise) {
  int32_t labels[8];
  double points[8] = {0, 1, 2, 3, 4, 5, 6, 500};
  cr_assert(classes_of(points, 8, 1, 1, 0, labels) == 2 && labels[7] == 1);
  cr_assert(classes_of(points, 8, 1, 2, 0, labels) == 1 && labels[7] == -1);
}

Test(optics_split, neither_scale_nor_huge_steps_matter) {
  int32_t labels[8];
  double points[8];
  for (double unit = 1e-140; unit < 1e140; unit *= 1e20) {
    for (size_t i = 0; i < 8; i++) {
      points[i] = unit * ((double)(i % 4) + (i < 4 ? 0 : 100));
    }
    cr_assert(classes_of(points, 8, 1, 1, 0, labels) == 2);
  }
}

static size_t line_order[4] = {0, 1, 2, 3}, line_predecessor[4] = {SIZE_MAX, 0, 1, 2};
static double line_steps[4] = {INFINITY, 1, 9, 1}, line_core[4] = {1, 1, 1, 1};

static tsanom_optics_ordering line_ordering(void) {
  return plot_ordering(&(plot){4, line_order, line_predecessor, line_steps, line_core});
}

static tsanom_fault fault;
static tsanom_exec exec;

static void prepare_fault(void) {
  exec = exec_reporting(&fault);
}

static void expect_fault(tsanom_status status, tsanom_status expected,
                         const char *argument, size_t element) {
  CHECK_STATUS(status, expected);
  cr_assert(fault.status == status && strstr(fault.text, "expected"), "%s", fault.text);
  check_fault(&fault, argument, element, TSANOM_NONE);
}

/* Orderings that every function rejects. */
typedef tsanom_status extraction(const tsanom_optics_ordering *ordering, int32_t *labels);

/* Of several wrong elements the first one is reported, wherever it is. */
static void reject_each_place(extraction *extract) {
  static const double wrong[] = {NAN, -1, -INFINITY};
  int32_t labels[4];
  for (size_t at = 0; at < 4; at++) {
    tsanom_optics_ordering ordering = line_ordering();
    size_t order[4];
    for (size_t i = 0; i < 4; i++) order[i] = i < at ? i : 4 + i % 2;
    ordering.order = order;
    expect_fault(extract(&ordering, labels), TSANOM_E_INDEX, "ordering.order", at);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
      double steps[4];
      for (size_t i = 0; i < 4; i++)
        steps[i] = i < at ? line_steps[i] : wrong[(k + i) % 3];
      ordering = line_ordering();
      ordering.reachability = steps;
      expect_fault(extract(&ordering, labels),
                   isnan(steps[at]) ? TSANOM_E_NONFINITE : TSANOM_E_VALUE,
                   "ordering.reachability", at);
    }
  }
}

static void reject_bad_orderings(extraction *extract) {
  int32_t labels[4] = {7};
  double nan[4] = {INFINITY, 1, NAN, NAN}, negative[4] = {1, -1, 1, 1};
  size_t beyond[4] = {0, 1, 4, 5};
  prepare_fault();
  struct {
    size_t n, *order;
    double *reachability;
    tsanom_status status;
    const char *argument;
    size_t element;
  } cases[] = {
      {4, NULL, line_steps, TSANOM_E_NULL, "ordering.order", TSANOM_NONE},
      {4, line_order, NULL, TSANOM_E_NULL, "ordering.reachability", TSANOM_NONE},
      {0, line_order, line_steps, TSANOM_E_COUNT, "ordering.n", TSANOM_NONE},
      {SIZE_MAX, line_order, line_steps, TSANOM_E_OVERFLOW, "ordering.n", TSANOM_NONE},
      {4, beyond, line_steps, TSANOM_E_INDEX, "ordering.order", 2},
      {4, line_order, nan, TSANOM_E_NONFINITE, "ordering.reachability", 2},
      {4, line_order, negative, TSANOM_E_VALUE, "ordering.reachability", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsanom_optics_ordering ordering = line_ordering();
    ordering.n = cases[i].n;
    ordering.order = cases[i].order;
    ordering.reachability = cases[i].reachability;
    expect_fault(extract(&ordering, labels), cases[i].status, cases[i].argument,
                 cases[i].element);
  }
  cr_assert(labels[0] == 7);
  reject_each_place(extract);
}

/* Rejected by tsanom_optics_cut() and tsanom_optics_split(). */
static void reject_bad_core_distances(extraction *extract) {
  int32_t labels[4] = {7};
  double nan[4] = {1, 1, 1, NAN}, negative[4] = {1, 1, -1, 1};
  tsanom_optics_ordering ordering = line_ordering();
  prepare_fault();
  ordering.core_distance = NULL;
  expect_fault(extract(&ordering, labels), TSANOM_E_NULL, "ordering.core_distance",
               TSANOM_NONE);
  ordering.core_distance = nan;
  expect_fault(extract(&ordering, labels), TSANOM_E_NONFINITE, "ordering.core_distance",
               3);
  ordering.core_distance = negative;
  expect_fault(extract(&ordering, labels), TSANOM_E_VALUE, "ordering.core_distance", 2);
  cr_assert(labels[0] == 7);
}

/* At a cut up to the radius of the order the classes are those of an order without one;
 * above it they are not known. */
Test(optics_cut, a_cut_above_the_radius_is_rejected) {
  uint64_t seed = 5;
  enum { N = 40 };
  prepare_fault();
  for (int trial = 0; trial < CASES(200); trial++) {
    double points[N], steps[2][N], core[2][N], radius = 0.5 + 2 * random_unit(&seed);
    size_t order[2][N];
    for (int i = 0; i < N; i++) points[i] = 40 * random_unit(&seed);
    tsanom_optics_options options;
    tsanom_optics_options_init(&options, sizeof options);
    options.min_points = 1 + (size_t)trial % 4;
    tsanom_optics_ordering made[2];
    for (int k = 0; k < 2; k++) {
      options.eps = k ? radius : INFINITY;
      made[k] = (tsanom_optics_ordering){.struct_size = sizeof made[k], .eps = INFINITY};
      made[k].order = order[k];
      made[k].reachability = steps[k];
      made[k].core_distance = core[k];
      CHECK_STATUS(tsanom_optics_order(points, N, 1, 1, &options, NULL, &made[k]),
                   TSANOM_OK);
      cr_assert(made[k].eps == options.eps);
    }
    int32_t labels[2][N];
    size_t clusters[2];
    for (int k = 0; k < 2; k++) {
      CHECK_STATUS(tsanom_optics_cut(&made[k], radius, NULL, labels[k], &clusters[k]),
                   TSANOM_OK);
    }
    cr_assert(clusters[0] == clusters[1]);
    labels[1][0] = 7;
    expect_fault(tsanom_optics_cut(&made[1], 1.01 * radius, &exec, labels[1], NULL),
                 TSANOM_E_OPTION, "eps", TSANOM_NONE);
    tsanom_optics_split_options split;
    tsanom_optics_split_options_init(&split, sizeof split);
    split.resolution = 1.01 * radius;
    expect_fault(
        tsanom_optics_split(&made[1], &split, &exec, labels[1], NULL, NULL, NULL),
        TSANOM_E_OPTION, "options.resolution", TSANOM_NONE);
    options.eps =
        trial % 2 ? ldexp(radius, -1060) : 0; /* far below the smallest normal number */
    CHECK_STATUS(tsanom_optics_order(points, N, 1, 1, &options, NULL, &made[1]),
                 TSANOM_OK);
    cr_assert(made[1].eps == (options.eps > 0 ? options.eps : nextafter(0, 1)));
    made[1].eps = NAN;
    expect_fault(tsanom_optics_cut(&made[1], radius, &exec, labels[1], NULL),
                 TSANOM_E_OPTION, "ordering.eps", TSANOM_NONE);
    cr_assert(labels[1][0] == 7);
  }
}

static tsanom_status split(const tsanom_optics_ordering *ordering, int32_t *labels) {
  return tsanom_optics_split(ordering, NULL, &exec, labels, NULL, NULL, NULL);
}

Test(optics_split, bad_arguments_are_rejected) {
  reject_bad_orderings(split);
  reject_bad_core_distances(split);
  int32_t labels[4] = {7};
  double cut = -1;
  tsanom_optics_ordering ordering = line_ordering();
  tsanom_optics_split_options options;
  tsanom_optics_split_options_init(&options, sizeof options);
  for (int k = 0; k < 3; k++) {
    options.significance = k == 0 ? 0 : k == 1 ? 1 : 0.05;
    options.resolution = k == 2 ? -1 : 0;
    expect_fault(
        tsanom_optics_split(&ordering, &options, &exec, labels, NULL, &cut, NULL),
        TSANOM_E_OPTION, k == 2 ? "options.resolution" : "options.significance",
        TSANOM_NONE);
  }
  cr_assert(labels[0] == 7 && cut == -1);
}

Test(optics_cut, points_that_are_neither_reached_nor_dense_are_noise) {
  int32_t labels[4];
  size_t clusters;
  double core[4] = {1, 1, 12, 1};
  tsanom_optics_ordering line = line_ordering(), sparse = line;
  sparse.core_distance = core;
  CHECK_STATUS(tsanom_optics_cut(&sparse, 2, NULL, labels, &clusters), TSANOM_OK);
  int32_t expected[4] = {0, 0, -1, 0};
  cr_assert_arr_eq(labels, expected, sizeof expected);
  cr_assert(clusters == 1);
  CHECK_STATUS(tsanom_optics_cut(&line, 2, NULL, labels, NULL), TSANOM_OK);
  int32_t two[4] = {0, 0, 1, 1};
  cr_assert_arr_eq(labels, two, sizeof two);
  CHECK_STATUS(tsanom_optics_cut(&line, INFINITY, NULL, labels, &clusters), TSANOM_OK);
  cr_assert(clusters == 1 && labels[3] == 0);
}

static tsanom_status cut(const tsanom_optics_ordering *ordering, int32_t *labels) {
  return tsanom_optics_cut(ordering, 1, &exec, labels, NULL);
}

Test(optics_cut, bad_arguments_are_rejected) {
  reject_bad_orderings(cut);
  reject_bad_core_distances(cut);
  int32_t labels[4] = {7};
  tsanom_optics_ordering line = line_ordering();
  expect_fault(tsanom_optics_cut(&line, -1, &exec, labels, NULL), TSANOM_E_OPTION, "eps",
               TSANOM_NONE);
  expect_fault(tsanom_optics_cut(&line, NAN, &exec, labels, NULL), TSANOM_E_OPTION, "eps",
               TSANOM_NONE);
  cr_assert(labels[0] == 7);
}

static tsanom_status xi(const tsanom_optics_xi_options *options, size_t *clusters,
                        size_t capacity, size_t *count, int32_t *labels) {
  tsanom_optics_ordering line = line_ordering();
  return tsanom_optics_xi(&line, options, &exec, clusters, capacity, count, labels);
}

Test(optics_xi, clusters_are_counted_then_filled_and_labeled) {
  prepare_fault();
  tsanom_optics_xi_options options;
  tsanom_optics_xi_options_init(&options, sizeof options);
  options.min_points = 2;
  size_t clusters[8], count = 0;
  int32_t labels[4], expected[4] = {0, 0, 1, 1};
  CHECK_STATUS(xi(&options, NULL, 0, &count, NULL), TSANOM_OK);
  cr_assert(count == 3, "%zu", count);
  CHECK_STATUS(xi(&options, clusters, 4, &count, labels), TSANOM_OK);
  size_t whole[6] = {0, 1, 0, 3, 2, 3};
  cr_assert_arr_eq(clusters, whole, sizeof whole);
  cr_assert_arr_eq(labels, expected, sizeof expected);
  CHECK_STATUS(xi(&options, clusters, 1, &count, NULL), TSANOM_PARTIAL);
  cr_assert(count == 3);
}

Test(optics_xi, clusters_have_enough_points_and_labels_name_them) {
  uint64_t seed = 9;
  for (int trial = 0; trial < CASES(2000); trial++) {
    size_t n = random_between(&seed, 1, 60), clusters[4000], count = 0;
    double points[120];
    int32_t labels[60];
    random_points(points, n, 2, &seed);
    tsanom_optics_options order =
        optics_options(random_between(&seed, 1, n < 5 ? n : 5), INFINITY, 0);
    tsanom_optics_xi_options options;
    tsanom_optics_xi_options_init(&options, sizeof options);
    options.min_points = order.min_points;
    options.xi = random_unit(&seed) * 0.4;
    plot p = plot_new(n);
    tsanom_optics_ordering ordering = plot_ordering(&p);
    CHECK_STATUS(tsanom_optics_order(points, n, 2, 2, &order, NULL, &ordering),
                 TSANOM_OK);
    CHECK_STATUS(
        tsanom_optics_xi(&ordering, &options, NULL, clusters, 2000, &count, labels),
        TSANOM_OK);
    for (size_t k = 0; k < count; k++) {
      size_t first = clusters[2 * k], last = clusters[2 * k + 1];
      cr_assert(first <= last && last < n && last - first + 1 >= options.min_points);
    }
    for (size_t i = 0; i < n; i++) {
      size_t inside = 0;
      for (size_t k = 0; k < count; k++) {
        inside |= clusters[2 * k] <= i && i <= clusters[2 * k + 1];
      }
      cr_assert(inside || labels[p.order[i]] == -1);
    }
    plot_free(&p);
  }
}

/* A fall with flat steps inside is one, unless there are more than min_points. */
static size_t clusters_after_flat_steps(size_t flat) {
  enum { MOST = 20 };
  size_t order[MOST], predecessor[MOST];
  double reachability[MOST], core[MOST];
  size_t n = flat + 8, count = 0;
  for (size_t i = 0; i < n; i++) {
    order[i] = i;
    predecessor[i] = i ? i - 1 : TSANOM_NONE;
    reachability[i] = i == 0 ? INFINITY : i <= flat + 1 ? 1 : 0.2;
    core[i] = 0.1;
  }
  tsanom_optics_ordering ordering =
      plot_ordering(&(plot){n, order, predecessor, reachability, core});
  tsanom_optics_xi_options options;
  tsanom_optics_xi_options_init(&options, sizeof options);
  options.min_points = 3;
  CHECK_STATUS(tsanom_optics_xi(&ordering, &options, NULL, NULL, 0, &count, NULL),
               TSANOM_OK);
  return count;
}

Test(optics_xi, a_steep_area_has_at_most_min_points_flat_steps_in_a_row) {
  cr_assert(clusters_after_flat_steps(3) == 1);
  cr_assert(clusters_after_flat_steps(4) == 2);
}

static tsanom_status xi_labels(const tsanom_optics_ordering *ordering, int32_t *labels) {
  size_t count;
  return tsanom_optics_xi(ordering, NULL, &exec, NULL, 0, &count, labels);
}

Test(optics_xi, bad_orderings_are_rejected) {
  reject_bad_orderings(xi_labels);
  size_t twice[4] = {0, 1, 1, 3}, nowhere[4] = {SIZE_MAX, 0, 4, 9};
  int32_t labels[4] = {7};
  tsanom_optics_ordering ordering = line_ordering();
  ordering.order = twice;
  expect_fault(xi_labels(&ordering, labels), TSANOM_E_VALUE, "ordering.order", 2);
  ordering = line_ordering();
  ordering.predecessor = nowhere;
  expect_fault(xi_labels(&ordering, labels), TSANOM_E_INDEX, "ordering.predecessor", 2);
  ordering.predecessor = NULL;
  expect_fault(xi_labels(&ordering, labels), TSANOM_E_NULL, "ordering.predecessor",
               TSANOM_NONE);
  cr_assert(labels[0] == 7);
}

Test(optics_xi, bad_arguments_are_rejected) {
  static const char *const field[] = {"options.xi", "options.xi", "options.keep_tails",
                                      "options.reserved0"};
  size_t clusters[8], count = 7;
  prepare_fault();
  for (int k = 0; k < 4; k++) {
    tsanom_optics_xi_options options;
    tsanom_optics_xi_options_init(&options, sizeof options);
    if (k == 0) options.xi = 1;
    if (k == 1) options.xi = -0.1;
    if (k == 2) options.keep_tails = 2;
    if (k == 3) options.reserved0 = 1;
    expect_fault(xi(&options, clusters, 4, &count, NULL), TSANOM_E_OPTION, field[k],
                 TSANOM_NONE);
  }
  expect_fault(xi(NULL, clusters, SIZE_MAX / 8, &count, NULL), TSANOM_E_OVERFLOW,
               "capacity", TSANOM_NONE);
  cr_assert(count == 7);
}
