/* SPDX-License-Identifier: BSD-3-Clause */
/* What the order functions reject, and the fault that they report. */
#include <math.h>
#include <tsanom/optics.h>

#include "optics/naive.h"
#include "support/faults.h"

/* Calls that must be rejected without a change of the outputs, and their fault. */
static size_t order[4];
static double reachability[4];
static tsanom_fault fault;
static tsanom_exec exec;

static tsanom_optics_ordering prepare(void) {
  tsanom_optics_ordering ordering = {.struct_size = sizeof ordering};
  ordering.order = order;
  ordering.reachability = reachability;
  ordering.n = 77;
  reachability[0] = -1;
  exec = exec_reporting(&fault);
  return ordering;
}

static void expect(const tsanom_optics_ordering *ordering, tsanom_status status,
                   tsanom_status expected, const char *argument, size_t element,
                   size_t second) {
  CHECK_STATUS(status, expected);
  if (status >= 0) return;
  cr_assert(ordering->n == 77 && reachability[0] == -1);
  cr_assert(fault.status == status && strstr(fault.text, "expected"), "%s", fault.text);
  check_fault(&fault, argument, element, second);
}

static void expect_order(const double *points, size_t n, size_t dimensions, size_t ld,
                         const tsanom_optics_options *options, tsanom_status expected,
                         const char *argument, size_t element, size_t second) {
  tsanom_optics_ordering ordering = prepare();
  expect(&ordering,
         tsanom_optics_order(points, n, dimensions, ld, options, &exec, &ordering),
         expected, argument, element, second);
}

Test(optics_rejections, bad_points_are_rejected_with_row_and_column) {
  size_t none = TSANOM_NONE;
  double good[] = {1, 2, 3, 4}, bad[] = {1, 2, NAN, 4}, large[] = {1, 2, 3, -2e150};
  tsanom_optics_options options = optics_options(2, INFINITY, 0);
  expect_order(good, 1, 1, 1, &options, TSANOM_E_COUNT, "n", none, none);
  expect_order(good, 2, 2, 1, &options, TSANOM_E_OPTION, "ld", none, none);
  expect_order(good, SIZE_MAX / 2, 1, 1, &options, TSANOM_E_OVERFLOW, "n", none, none);
  expect_order(good, (size_t)1 << 61, 1, 1, &options, TSANOM_E_OVERFLOW, "n", none, none);
  expect_order(good, (size_t)INT32_MAX + 1, 1, 1, &options, TSANOM_E_OVERFLOW, "n", none,
               none);
  expect_order(bad, 2, 2, 2, &options, TSANOM_E_NONFINITE, "points", 1, 0);
  expect_order(large, 2, 2, 2, &options, TSANOM_E_VALUE, "points", 1, 1);
  large[3] = 1e150;
  expect_order(large, 2, 2, 2, &options, TSANOM_OK, "", none, none);
}

Test(optics_rejections, bad_options_are_rejected_by_name) {
  double good[] = {1, 2, 3, 4};
  struct {
    size_t min_points;
    double eps;
    int32_t metric, search;
    const char *field;
  } wrong[] = {{1, -1, 0, 0, "options.eps"},
               {1, NAN, 0, 0, "options.eps"},
               {1, 1, -1, 0, "options.metric"},
               {1, 1, 3, 0, "options.metric"},
               {1, 1, 0, 3, "options.search"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tsanom_optics_options options =
        optics_options(wrong[i].min_points, wrong[i].eps, wrong[i].metric);
    options.search = wrong[i].search;
    expect_order(good, 4, 1, 1, &options, TSANOM_E_OPTION, wrong[i].field, TSANOM_NONE,
                 TSANOM_NONE);
  }
}

Test(optics_rejections, bad_orderings_are_rejected) {
  double good[] = {1, 2, 3, 4};
  tsanom_optics_options options = optics_options(2, INFINITY, 0);
  tsanom_optics_ordering ordering = prepare(), bad = ordering;
  bad.order = NULL;
  expect(&bad, tsanom_optics_order(good, 4, 1, 1, &options, &exec, &bad), TSANOM_E_NULL,
         "ordering.order", TSANOM_NONE, TSANOM_NONE);
  bad = ordering;
  bad.reachability = NULL;
  expect(&bad, tsanom_optics_order(good, 4, 1, 1, &options, &exec, &bad), TSANOM_E_NULL,
         "ordering.reachability", TSANOM_NONE, TSANOM_NONE);
}

Test(optics_rejections, orderings_of_newer_callers_are_accepted) {
  struct {
    tsanom_optics_ordering ordering;
    size_t unknown;
  } newer = {prepare(), 0};
  double good[] = {1, 2, 3, 4};
  newer.ordering.struct_size = sizeof newer;
  tsanom_optics_options options = optics_options(2, INFINITY, 0);
  CHECK_STATUS(tsanom_optics_order(good, 4, 1, 1, &options, NULL, &newer.ordering),
               TSANOM_OK);
  cr_assert(newer.ordering.n == 4 && newer.ordering.struct_size == sizeof newer);
}

static void expect_matrix(const double *distances, size_t n, size_t ld,
                          tsanom_status expected, const char *argument, size_t i,
                          size_t j) {
  tsanom_optics_options options = optics_options(1, INFINITY, 0);
  tsanom_optics_ordering ordering = prepare();
  expect(&ordering,
         tsanom_optics_order_matrix(distances, n, ld, &options, &exec, &ordering),
         expected, argument, i, j);
}

Test(optics_rejections, bad_matrices_are_rejected_with_the_pair) {
  size_t none = TSANOM_NONE;
  double asymmetric[] = {0, 1, 2, 1, 0, 3, 2, 4, 0}, diagonal[] = {0, 1, 1, 2};
  double negative[] = {1, -1, 1}, nan[] = {1, 2, NAN}, endless[] = {0, INFINITY, 1, 0};
  expect_matrix(asymmetric, 3, 3, TSANOM_E_VALUE, "distances", 2, 1);
  expect_matrix(diagonal, 2, 2, TSANOM_E_VALUE, "distances", 1, 1);
  expect_matrix(negative, 3, 0, TSANOM_E_VALUE, "distances", 0, 2);
  expect_matrix(nan, 3, 0, TSANOM_E_NONFINITE, "distances", 1, 2);
  expect_matrix(endless, 2, 2, TSANOM_E_NONFINITE, "distances", 0, 1);
  expect_matrix(diagonal, 2, 1, TSANOM_E_OPTION, "ld", none, none);
  expect_matrix(NULL, 2, 0, TSANOM_E_NULL, "distances", none, none);
  expect_matrix(NULL, 1, 0, TSANOM_OK, "", none, none);
  expect_matrix(negative, (size_t)1 << 31, 0, TSANOM_E_OVERFLOW, "n", none, none);
}

static double bad_distance(void *user, size_t i, size_t j) {
  return i == 1 && j == 3 ? *(double *)user : (double)(j - i);
}

Test(optics_rejections, matrices_and_functions_reject_options_of_points) {
  double distances[] = {1, 2, 1};
  for (int k = 0; k < 2; k++) {
    tsanom_optics_options options = optics_options(1, INFINITY, k);
    if (k == 0) options.search = TSANOM_OPTICS_SEARCH_EXHAUSTIVE;
    const char *field = k ? "options.metric" : "options.search";
    tsanom_optics_ordering ordering = prepare();
    expect(&ordering,
           tsanom_optics_order_matrix(distances, 3, 0, &options, &exec, &ordering),
           TSANOM_E_OPTION, field, TSANOM_NONE, TSANOM_NONE);
    expect(
        &ordering,
        tsanom_optics_order_function(bad_distance, NULL, 3, &options, &exec, &ordering),
        TSANOM_E_OPTION, field, TSANOM_NONE, TSANOM_NONE);
  }
}

Test(optics_rejections, a_bad_distance_of_a_function_is_rejected_with_the_pair) {
  tsanom_optics_options options = optics_options(2, INFINITY, 0);
  struct {
    double value;
    tsanom_status status;
  } cases[] = {{NAN, TSANOM_E_NONFINITE},
               {INFINITY, TSANOM_E_NONFINITE},
               {-INFINITY, TSANOM_E_NONFINITE},
               {-1, TSANOM_E_VALUE},
               {5, TSANOM_OK}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsanom_optics_ordering ordering = prepare();
    expect(&ordering,
           tsanom_optics_order_function(bad_distance, &cases[i].value, 4, &options, &exec,
                                        &ordering),
           cases[i].status, "distance", 1, 3);
  }
}
