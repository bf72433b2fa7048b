/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom cluster: orders worked out by hand, and classes that are planted in tables, also
 * where they have no common cut. Bad tables are rejected with line and column. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

TestSuite(command_cluster, .init = enter_folder, .fini = leave_folder);

static void expect(const json_t *result, const char *key, const char *value) {
  char *text = json_dumps(json_object_get(result, key), JSON_COMPACT);
  cr_assert_str_eq(text, value, "%s: %s", key, text);
  free(text);
}

/* By hand: 0 1 2 and 10 11 12 on a line, core distance to the second nearest. */
static void write_line(void) {
  write_text("line.csv", "x\n0\n1\n2\n10\n11\n12\n");
}

Test(command_cluster, the_order_is_the_one_worked_out_by_hand) {
  write_line();
  json_t *result = tsanom_json("cluster line.csv --min-pts 2 --cut 5 --json");
  expect(result, "order", "[0,1,2,3,4,5]");
  expect(result, "reachability", "[null,1.0,1.0,8.0,1.0,1.0]");
  expect(result, "predecessor", "[null,0,1,2,3,4]");
  expect(result, "core_distance", "[1.0,1.0,1.0,1.0,1.0,1.0]");
  expect(result, "labels", "[0,0,0,1,1,1]");
  cr_assert(number_of(result, "clusters") == 2 && number_of(result, "cut") == 5);
  result = tsanom_json("cluster line.csv --min-pts 2 --eps 3 --threads 2 --json");
  expect(result, "reachability", "[null,1.0,1.0,null,1.0,1.0]");
}

Test(command_cluster, a_cut_is_chosen_or_steepness_taken) {
  write_text("load.csv", "0,0\n1,0\n0,1\n1,1\n100,0\n101,0\n100,1\n101,1\n");
  json_t *result = tsanom_json("cluster load.csv --min-pts 2 --json");
  expect(result, "labels", "[0,0,0,0,1,1,1,1]");
  cr_assert(number_of(result, "probability") < 0.05);
  result =
      tsanom_json("cluster load.csv --min-pts 2 --xi 0.05 --metric manhattan --json");
  expect(result, "labels", "[0,0,0,0,1,1,1,1]");
  CHECK_PRINTS(tsanom("cluster - --min-pts 1 --metric chebyshev <load.csv"),
               "2 clusters of 8 points; 0 points are noise");
}

/* Four clouds of 60 points, quantiles of the normal distribution around a spiral, whose
 * tails are as sparse as the space between them. */
static void write_clouds(void) {
  FILE *file = fopen("clouds.csv", "w");
  for (int i = 0; i < 240; i++) {
    double radius = sqrt(-2 * log((i % 60 + 0.5) / 60)), angle = 2.399963 * i;
    fprintf(file, "%.6f,%.6f\n", 6.5 * (i / 60 % 2) + radius * cos(angle),
            6.5 * (i / 120) + radius * sin(angle));
  }
  fclose(file);
}

Test(command_cluster, clouds_with_tails_are_classes_without_a_common_cut) {
  write_clouds();
  for (int min_points = 5; min_points <= 20; min_points += 5) {
    json_t *result = tsanom_json("cluster clouds.csv --min-pts %d --json", min_points);
    cr_assert(number_of(result, "clusters") == 4, "min_points %d", min_points);
    cr_assert(json_is_null(json_object_get(result, "cut")));
    cr_assert(number_of(result, "probability") < 0.05);
  }
  outcome o = tsanom("cluster clouds.csv --plot clouds.svg");
  cr_assert(o.status == 0 && strstr(o.out, "4 clusters") && !strstr(o.out, "cut at") &&
                strstr(o.out, "chance of such a plot in one class"),
            "%s", o.out);
  check_svg("clouds.svg");
}

Test(command_cluster, columns_are_chosen_by_name) {
  write_text("ranks.csv",
             "rank,solve,host,io\nr0,0,a,7\nr1,1,a,7\nr2,10,b,9\nr3,11,b,9\n");
  json_t *result =
      tsanom_json("cluster ranks.csv --columns solve --min-pts 2 --cut 5 --json");
  expect(result, "reachability", "[null,1.0,9.0,1.0]");
  expect(result, "labels", "[0,0,1,1]");
  result = tsanom_json(
      "cluster ranks.csv --columns io,solve --metric manhattan --min-pts 1 --json");
  expect(result, "reachability", "[null,1.0,11.0,1.0]");
  CHECK_REJECTED(tsanom("cluster ranks.csv --min-pts 1"), 3, "ranks.csv:2", "column 1",
                 "r0");
  CHECK_REJECTED(tsanom("cluster ranks.csv --columns solve,host --min-pts 1"), 3,
                 "ranks.csv:2", "column 3", "a");
  CHECK_REJECTED(tsanom("cluster ranks.csv --columns solve, --min-pts 1"), 3,
                 "no column is called", "solve", "host");
  write_text("twice.csv", "x,x\n1,2e200\n");
  CHECK_REJECTED(tsanom("cluster twice.csv --columns x --min-pts 1"), 3, "twice.csv:1",
                 "both called");
  write_text("large.csv", "y,x\n1,2e200\n");
  CHECK_REJECTED(tsanom("cluster large.csv --columns x --min-pts 1"), 3, "large.csv:2",
                 "column 2", "1e150");
}

Test(command_cluster, draws_the_plot_and_in_two_dimensions_the_points) {
  static const char blue[] = "rgb(  0, 114, 178)", red[] = "rgb(213,  94,   0)";
  static const char grey[] = "rgb(187, 187, 187)", cut[] = "rgb( 68,  68,  68)";
  write_line();
  write_text("plane.csv", "0,0\n1,0\n0,1\n50,50\n");
  tsanom_ok("cluster line.csv --min-pts 2 --cut 5 --plot a.svg");
  check_svg("a.svg");
  cr_assert(file_holds("a.svg", blue) && file_holds("a.svg", red) &&
            !file_holds("a.svg", grey));
  cr_assert(!file_holds("a.svg", "Points") && file_holds("a.svg", cut));
  tsanom_ok("cluster line.csv --min-pts 2 --xi 0.1 --plot a.svg");
  cr_assert(!file_holds("a.svg", cut));
  tsanom_ok("cluster plane.csv --min-pts 2 --cut 2 --plot b.svg");
  check_svg("b.svg");
  cr_assert(file_holds("b.svg", blue) && file_holds("b.svg", grey) &&
            file_holds("b.svg", "Points"));
}

Test(command_cluster, bad_input_is_named) {
  write_text("ragged.csv", "1,2\n3,4\n5\n");
  write_text("word.csv", "x,y\n1,2\n3,four\n");
  write_text("nan.csv", "1,2\n3,nan\n");
  write_text("large.csv", "x\n\n1\n2e200\n");
  write_text("header.csv", "x,y\n");
  CHECK_REJECTED(tsanom("cluster ragged.csv --min-pts 1"), 3, "ragged.csv:3", "1 fields");
  CHECK_REJECTED(tsanom("cluster word.csv --min-pts 1"), 3, "word.csv:3", "column 2",
                 "four");
  CHECK_REJECTED(tsanom("cluster nan.csv --min-pts 1"), 3, "nan.csv:2", "column 2");
  CHECK_REJECTED(tsanom("cluster large.csv --min-pts 1"), 3, "large.csv:4", "1e150");
  CHECK_REJECTED(tsanom("cluster header.csv --min-pts 1"), 3, "header.csv", "no points");
  CHECK_REJECTED(tsanom("cluster large.csv --min-pts 9"), 3, "2 points", "--min-pts");
  CHECK_REJECTED(tsanom("cluster none.csv --min-pts 9"), 3, "none.csv");
}

Test(command_cluster, wrong_usage_ends_with_2) {
  write_line();
  CHECK_REJECTED(tsanom("cluster --min-pts 2"), 2, "one table");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 0"), 2, "at least 1");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --eps -1"), 2, "--eps");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --xi 1"), 2, "--xi");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --xi 0.1 --cut 2"), 2, "exclude");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --cut -2"), 2, "--cut");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --eps 1 --cut 2"), 2, "at most 1");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --eps 1 --cut 1.0000001"), 2,
                 "--cut is 1.0000001; at most 1 is");
  CHECK_REJECTED(tsanom("cluster line.csv --min-pts 2 --metric cosine"), 2, "manhattan");
}

Test(command_cluster, the_default_neighborhood_is_that_of_the_library) {
  write_line();
  json_t *result = tsanom_json("cluster line.csv --json");
  json_t *same = tsanom_json("cluster line.csv --min-pts 1 --json");
  cr_assert(json_equal(result, same));
  write_text("two.csv", "x\n0\n1\n");
  tsanom_ok("cluster two.csv");
  CHECK_REJECTED(tsanom("cluster two.csv --min-pts 5"), 3, "fewer than the 5");
}
