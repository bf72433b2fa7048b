/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom fit: a line worked out by hand, NIST's Wampler1 with its certified values, and
 * tables that do not determine the degree that is asked for. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "run.h"

TestSuite(command_fit, .init = enter_folder, .fini = leave_folder);

static double coefficient(const json_t *result, size_t k) {
  return json_number_value(item_of(result, "coefficients", k));
}

static int near(double a, double b) {
  return fabs(a - b) <= 1e-13 * fabs(b);
}

/* By hand: Sxx = 5, Sxy = 5.5, Syy = 8.75, so slope 1.1, RSS 8.75 - 5.5^2/5 = 2.7. */
Test(command_fit, a_line_is_the_one_worked_out_by_hand) {
  write_text("t.csv", "x,y\n0,1\n1,3\n2,2\n3,5\n");
  json_t *r = tsanom_json("fit t.csv --json");
  cr_assert(number_of(r, "degree") == 1 && number_of(r, "rank") == 2);
  cr_assert(number_of(r, "samples") == 4);
  cr_assert(size_of(r, "coefficients") == 2);
  cr_assert(near(coefficient(r, 0), 1.1) && near(coefficient(r, 1), 1.1));
  cr_assert(near(number_of(r, "r2"), 1 - 2.7 / 8.75));
  cr_assert(near(number_of(r, "residual_sd"), sqrt(2.7 / 2)));
  CHECK_PRINTS(tsanom("fit --degree 1 - <t.csv"), "degree       1\n");
}

/* NIST StRD Wampler1: y = 1 + x + ... + x^5 at 0, 1, ..., 20; all coefficients
 * are certified as 1, R^2 as 1, the residual standard deviation as 0. */
static void write_wampler1(const char *name) {
  FILE *stream = fopen(name, "w");
  fprintf(stream, "\"the y\",\"the x\"\n");
  for (int x = 0; x <= 20; x++) {
    double y = 0;
    for (int k = 0; k <= 5; k++) y = y * x + 1;
    fprintf(stream, "%.0f,%d\n", y, x);
  }
  cr_assert(fclose(stream) == 0);
}

Test(command_fit, wampler1_has_its_certified_values) {
  write_wampler1("w.csv");
  json_t *r = tsanom_json("fit w.csv --degree 5 --x 'the x' --y 'the y' --json");
  for (size_t k = 0; k <= 5; k++) {
    cr_assert(fabs(coefficient(r, k) - 1) < 1e-9, "%zu: %.17g", k, coefficient(r, k));
  }
  cr_assert(fabs(number_of(r, "r2") - 1) < 1e-12 && number_of(r, "residual_sd") < 1e-6);
}

Test(command_fit, the_degree_rises_until_r2_is_reached) {
  write_text("t.csv", "x,y\n0,0\n1,1\n2,4\n3,9\n4,16\n-1,1\n-2,4\n-3,9\n-4,16\n");
  json_t *r = tsanom_json("fit t.csv --r2 0.9 --json");
  cr_assert(number_of(r, "degree") == 2);
  cr_assert(near(coefficient(r, 2), 1));
  r = tsanom_json("fit t.csv --r2 0.9 --max-degree 1 --json");
  cr_assert(number_of(r, "degree") == 1);
  cr_assert_str_eq(text_of(r, "status"), "infeasible");
}

Test(command_fit, too_few_places_are_reported) {
  write_text("t.csv", "x,y\n1,1\n1,2\n1,4\n");
  json_t *r = tsanom_json("fit t.csv --degree 1 --json");
  cr_assert(number_of(r, "degree") == 0 && number_of(r, "rank") == 1);
  cr_assert_str_eq(text_of(r, "status"), "rank_deficient");
  CHECK_REJECTED(tsanom("fit t.csv --degree 3"), 3, "t.csv: 3 samples", "at least 4");
}

Test(command_fit, no_degree_of_freedom_is_null_not_a_number) {
  write_text("t.csv", "x,y\n1,1\n2,3\n");
  json_t *r = tsanom_json("fit t.csv --degree 1 --json");
  cr_assert(json_is_null(json_object_get(r, "residual_sd")));
}

Test(command_fit, draws_a_picture) {
  write_wampler1("w.csv");
  tsanom_ok("fit w.csv --degree 2 --x 'the x' --y 'the y' --plot p.svg");
  check_svg("p.svg");
  cr_assert(count_files() == 2);
}

Test(command_fit, wrong_usage_and_bad_tables_are_rejected) {
  write_text("t.csv", "x,y\n1,1\n2,2\n");
  CHECK_REJECTED(tsanom("fit"), 2, "one file");
  CHECK_REJECTED(tsanom("fit t.csv t.csv"), 2, "one file");
  CHECK_REJECTED(tsanom("fit t.csv --degree 64"), 2, "--degree", "63");
  CHECK_REJECTED(tsanom("fit t.csv --r2 1"), 2, "--r2");
  CHECK_REJECTED(tsanom("fit t.csv --r2 nan"), 2, "--r2", "not finite");
  CHECK_REJECTED(tsanom("fit t.csv --r2 0.5 --degree 1"), 2, "exclude");
  CHECK_REJECTED(tsanom("fit t.csv --max-degree 1"), 2, "--r2");
  CHECK_REJECTED(tsanom("fit t.csv --y z"), 3, "t.csv:1:", "\"z\"");
}
