/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <tsanom/optics.h>

#include "optics/naive.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

/* How many classes points fall in without an eps. */
static size_t classes_of(const double *points, size_t n, size_t dimensions,
                         size_t min_points, double resolution, int32_t *labels) {
  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  options.min_points = min_points;
  tsanom_optics_split_options split;
  tsanom_optics_split_options_init(&split, sizeof split);
  split.resolution = resolution;
  plot p = plot_new(n);
  size_t clusters = 0;
  double cut = -1, probability = -1;
  CHECK_STATUS(
      tsanom_optics_order(points, n, dimensions, dimensions, &options, NULL, NULL, 0,
                          p.order, p.reachability, p.predecessor, p.core, NULL),
      TSANOM_OK);
  CHECK_STATUS(tsanom_optics_split(p.order, p.reachability, p.core, n, &split, NULL, NULL,
                                   0, labels, &clusters, &cut, &probability),
               TSANOM_OK);
  cr_assert(cut >= resolution && probability >= 0 && probability <= 1);
  cr_assert((probability <= 0.05) || clusters == 1, "%zu at %g", clusters, probability);
  plot_free(&p);
  return clusters;
}

/* Balanced programs: every thread draws from one distribution. */
Test(optics_split, one_class_is_rarely_taken_for_several) {
  uint64_t seed = 1;
  static const size_t numbers[] = {3, 4, 8, 16, 32}, widths[] = {1, 2, 5, 14};
  enum { TRIALS = 400 };
  for (size_t a = 0; a < 5; a++) {
    for (size_t b = 0; b < 4; b++) {
      /* Beyond some 16 points on a line normal tails are known to look like classes. */
      for (int normal = 0; normal < 2 - (a == 4 && b == 0); normal++) {
        size_t n = numbers[a], d = widths[b], wrong = 0;
        double points[32 * 14];
        int32_t labels[32];
        for (int trial = 0; trial < TRIALS; trial++) {
          for (size_t i = 0; i < n * d; i++) {
            points[i] = 100 + (normal ? random_normal(&seed) : random_unit(&seed));
          }
          wrong += classes_of(points, n, d, 1, 0, labels) > 1;
        }
        cr_assert(wrong <= TRIALS * 10 / 100, "%zu points, %zu dimensions, %s: %zu of %d",
                  n, d, normal ? "normal" : "uniform", wrong, TRIALS);
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
    cr_assert(found_exactly(mixed, 3, d, 100, 1, &seed) >= 95);
    cr_assert(found_exactly(four, 4, d, 100, 3, &seed) >= 95);
    cr_assert(found_exactly(mixed, 3, d, 100, 2, &seed) >= 95);
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

static size_t line_order[4] = {0, 1, 2, 3};
static double line_steps[4] = {INFINITY, 1, 9, 1}, line_core[4] = {1, 1, 1, 1};

Test(optics_split, bad_arguments_are_refused) {
  int32_t labels[4] = {7};
  double cut = -1, bad[4] = {INFINITY, 1, NAN, 1};
  size_t beyond[4] = {0, 1, 2, 4};
  tsanom_optics_split_options options;
  tsanom_optics_split_options_init(&options, sizeof options);
  CHECK_STATUS(tsanom_optics_split(NULL, line_steps, line_core, 4, NULL, NULL, NULL, 0,
                                   labels, NULL, &cut, NULL),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_optics_split(line_order, line_steps, line_core, 0, NULL, NULL, NULL,
                                   0, labels, NULL, &cut, NULL),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_optics_split(line_order, bad, line_core, 4, NULL, NULL, NULL, 0,
                                   labels, NULL, &cut, NULL),
               TSANOM_E_VALUE);
  CHECK_STATUS(tsanom_optics_split(beyond, line_steps, line_core, 4, NULL, NULL, NULL, 0,
                                   labels, NULL, &cut, NULL),
               TSANOM_E_VALUE);
  for (int k = 0; k < 3; k++) {
    options.significance = k == 0 ? 0 : k == 1 ? 1 : 0.05;
    options.resolution = k == 2 ? -1 : 0;
    CHECK_STATUS(tsanom_optics_split(line_order, line_steps, line_core, 4, &options, NULL,
                                     NULL, 0, labels, NULL, &cut, NULL),
                 TSANOM_E_OPTION);
  }
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  CHECK_STATUS(tsanom_optics_split(line_order, line_steps, line_core, 4, NULL, &exec,
                                   NULL, 0, labels, NULL, &cut, NULL),
               TSANOM_E_MEMORY);
  cr_assert(labels[0] == 7 && cut == -1);
  size_t bytes;
  CHECK_STATUS(tsanom_optics_split_workspace(4, &exec, &bytes), TSANOM_OK);
  void *work = malloc(bytes);
  CHECK_STATUS(tsanom_optics_split(line_order, line_steps, line_core, 4, NULL, &exec,
                                   work, bytes - 1, labels, NULL, &cut, NULL),
               TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_optics_split(line_order, line_steps, line_core, 4, NULL, &exec,
                                   work, bytes, labels, NULL, &cut, NULL),
               TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 0);
  free(work);
}

Test(optics_cut, noise_is_what_neither_reaches_nor_is_dense) {
  int32_t labels[4];
  size_t clusters;
  double core[4] = {1, 1, 12, 1};
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, core, 4, 2, labels, &clusters),
               TSANOM_OK);
  int32_t expected[4] = {0, 0, -1, 0};
  cr_assert_arr_eq(labels, expected, sizeof expected);
  cr_assert(clusters == 1);
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, line_core, 4, 2, labels, NULL),
               TSANOM_OK);
  int32_t two[4] = {0, 0, 1, 1};
  cr_assert_arr_eq(labels, two, sizeof two);
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, line_core, 4, INFINITY, labels,
                                 &clusters),
               TSANOM_OK);
  cr_assert(clusters == 1 && labels[3] == 0);
}

Test(optics_cut, bad_arguments_are_refused) {
  int32_t labels[4] = {7};
  double bad[4] = {1, -1, 1, 1};
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, NULL, 4, 1, labels, NULL),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, line_core, 0, 1, labels, NULL),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, line_core, 4, -1, labels, NULL),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, line_core, 4, NAN, labels, NULL),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_optics_cut(line_order, line_steps, bad, 4, 1, labels, NULL),
               TSANOM_E_VALUE);
  cr_assert(labels[0] == 7);
}

static size_t line_predecessor[4] = {SIZE_MAX, 0, 1, 2};

static tsanom_status xi(const tsanom_optics_xi_options *options, size_t *clusters,
                        size_t capacity, size_t *count, int32_t *labels) {
  return tsanom_optics_xi(line_order, line_steps, line_predecessor, 4, options, NULL,
                          NULL, 0, clusters, capacity, count, labels);
}

Test(optics_xi, clusters_are_counted_then_filled_and_labelled) {
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

Test(optics_xi, clusters_nest_or_are_apart_and_labels_name_inner_ones) {
  uint64_t seed = 9;
  for (int trial = 0; trial < 2000; trial++) {
    size_t n = random_between(&seed, 1, 60), clusters[4000], count = 0;
    double points[120];
    int32_t labels[60];
    random_points(points, n, 2, &seed);
    tsanom_optics_options order;
    tsanom_optics_options_init(&order, sizeof order);
    order.min_points = random_between(&seed, 1, n < 5 ? n : 5);
    tsanom_optics_xi_options options;
    tsanom_optics_xi_options_init(&options, sizeof options);
    options.min_points = order.min_points;
    options.xi = random_unit(&seed) * 0.4;
    plot p = plot_new(n);
    CHECK_STATUS(tsanom_optics_order(points, n, 2, 2, &order, NULL, NULL, 0, p.order,
                                     p.reachability, p.predecessor, p.core, NULL),
                 TSANOM_OK);
    CHECK_STATUS(tsanom_optics_xi(p.order, p.reachability, p.predecessor, n, &options,
                                  NULL, NULL, 0, clusters, 2000, &count, labels),
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

Test(optics_xi, bad_arguments_are_refused) {
  size_t clusters[8], count = 7, twice[4] = {0, 1, 1, 3};
  tsanom_optics_xi_options options;
  for (int k = 0; k < 5; k++) {
    tsanom_optics_xi_options_init(&options, sizeof options);
    if (k == 0) options.xi = 1;
    if (k == 1) options.xi = -0.1;
    if (k == 2) options.min_points = 0;
    if (k == 3) options.keep_tails = 2;
    if (k == 4) options.reserved0 = 1;
    CHECK_STATUS(xi(&options, clusters, 4, &count, NULL), TSANOM_E_OPTION);
  }
  CHECK_STATUS(xi(NULL, NULL, 4, &count, NULL), TSANOM_E_NULL);
  CHECK_STATUS(xi(NULL, clusters, 4, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_optics_xi(line_order, line_steps, NULL, 4, NULL, NULL, NULL, 0,
                                clusters, 4, &count, NULL),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_optics_xi(twice, line_steps, line_predecessor, 4, NULL, NULL, NULL,
                                0, clusters, 4, &count, NULL),
               TSANOM_E_VALUE);
  CHECK_STATUS(tsanom_optics_xi(line_order, line_steps, twice, 0, NULL, NULL, NULL, 0,
                                clusters, 4, &count, NULL),
               TSANOM_E_COUNT);
  test_allocator allocator = {.fail_at = 1};
  tsanom_exec exec = test_exec(&allocator);
  CHECK_STATUS(tsanom_optics_xi(line_order, line_steps, line_predecessor, 4, NULL, &exec,
                                NULL, 0, clusters, 4, &count, NULL),
               TSANOM_E_MEMORY);
  size_t bytes;
  CHECK_STATUS(tsanom_optics_xi_workspace(4, &exec, &bytes), TSANOM_OK);
  void *work = malloc(bytes);
  CHECK_STATUS(tsanom_optics_xi(line_order, line_steps, line_predecessor, 4, NULL, &exec,
                                work, bytes - 1, clusters, 4, &count, NULL),
               TSANOM_E_WORKSPACE);
  cr_assert(count == 7);
  CHECK_STATUS(tsanom_optics_xi(line_order, line_steps, line_predecessor, 4, NULL, &exec,
                                work, bytes, clusters, 4, &count, NULL),
               TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 0);
  free(work);
}
