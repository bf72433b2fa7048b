/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom dtw: distances and paths worked out by hand, series from columns and from the
 * standard input, and the place of the second series in a picture. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

TestSuite(command_dtw, .init = enter_folder, .fini = leave_folder);

/* By hand: 1 2 3 against 1 3 3 5 warps to 1-1, 2-1 (or 2-3), 3-3, 3-3, 3-5. */
Test(command_dtw, the_distance_is_the_one_worked_out_by_hand) {
  write_text("a", "1\n2\n3\n");
  write_text("b", "1\n3\n3\n5\n");
  json_t *result = tsanom_json("dtw a b --json");
  cr_assert(number_of(result, "distance") == 3);
  result = tsanom_json("dtw a b --json --cost squared --threads 2");
  cr_assert(number_of(result, "distance") == 5);
  CHECK_PRINTS(tsanom("dtw a b"), "distance   3\n");
}

/* By hand: the only way of cost 3 with every 3 of b at the 3 of a. */
Test(command_dtw, the_path_is_the_one_worked_out_by_hand) {
  write_text("a", "1\n3\n5\n");
  write_text("b", "1\n3\n3\n8\n");
  json_t *result = tsanom_json("dtw a b --path --json");
  cr_assert(number_of(result, "distance") == 3);
  char *path = json_dumps(json_object_get(result, "path"), JSON_COMPACT);
  cr_assert_str_eq(path, "[[0,0],[1,1],[1,2],[2,3]]");
  free(path);
  CHECK_PRINTS(tsanom("dtw a b --path --plot p.svg"), "         1          2\n");
  check_svg("p.svg");
  write_text("b", "1\n");
  result = tsanom_json("dtw a b --radius 1 --path --json");
  cr_assert(size_of(result, "path") == 0);
}

Test(command_dtw, numbers_come_back_to_the_same_bits) {
  write_text("a", "0.1\n");
  write_text("b", "0.30000000000000004\n");
  json_t *result = tsanom_json("dtw a b --json");
  cr_assert(number_of(result, "distance") == 0.30000000000000004 - 0.1);
}

Test(command_dtw, a_column_and_the_standard_input_are_series_too) {
  write_text("t.csv", "\xef\xbb\xbfx,y z\r\n# a comment\r\n\r\n1,\"10\"\r\n 2 , 20 \r\n");
  write_text("t.tsv", "y z\tx\n10\t0\n20\t0");
  json_t *result = tsanom_json("dtw t.csv t.tsv --column 'y z' --json");
  cr_assert(number_of(result, "distance") == 0);
  write_text("a", "1\n1\n");
  result = tsanom_json("dtw a - --json <a");
  cr_assert(number_of(result, "distance") == 0);
}

Test(command_dtw, a_window_without_a_path_is_reported) {
  write_text("a", "1\n2\n3\n");
  write_text("b", "1\n");
  json_t *result = tsanom_json("dtw a b --radius 1 --json");
  cr_assert(json_is_null(json_object_get(result, "distance")));
  CHECK_PRINTS(tsanom("dtw a b --radius 1"), "2 is the least");
}

Test(command_dtw, costs_beyond_the_largest_number_are_reported) {
  write_text("a", "1e300\n");
  write_text("b", "-1e300\n");
  CHECK_PRINTS(tsanom("dtw a b --cost squared"), "infinity: the costs");
}

Test(command_dtw, draws_a_picture) {
  write_text("a", "1\n2\n3\n");
  write_text("a\"`date`$b\\", "1\n3\n3\n5\n");
  tsanom_ok("dtw a 'a\"`date`$b\\' --plot p.svg");
  check_svg("p.svg");
  cr_assert(count_files() == 3);
}

/* The line of the SVG that contains the curve of the second series. */
static char *second_curve(const char *name) {
  FILE *file = fopen(name, "r");
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    if (strstr(line, "<path stroke='rgb(213,  94,   0)'")) break;
  }
  fclose(file);
  return line;
}

/* Below the first one, at a distance that depends on the ranges only. */
Test(command_dtw, the_place_of_the_second_series_ignores_its_mean) {
  write_text("a", "1\n2\n3\n");
  write_text("b", "1\n3\n3\n5\n");
  write_text("low", "-101\n-99\n-99\n-97\n");
  tsanom_ok("dtw a b --path --plot p.svg");
  tsanom_ok("dtw a low --path --plot q.svg");
  char *one = second_curve("p.svg"), *other = second_curve("q.svg");
  cr_assert(strstr(one, "213") && strcmp(one, other) == 0, "%s%s", one, other);
  free(one);
  free(other);
}

Test(command_dtw, wrong_usage_ends_with_2) {
  write_text("a", "1\n");
  CHECK_REJECTED(tsanom("dtw a"), 2, "two series");
  CHECK_REJECTED(tsanom("dtw a a a"), 2, "two series");
  CHECK_REJECTED(tsanom("dtw - - <a"), 2, "standard input");
  CHECK_REJECTED(tsanom("dtw a a --radius -1"), 2, "--radius", "\"-1\"");
  CHECK_REJECTED(tsanom("dtw a a --radius 99999999999999999999999"), 2, "too large");
  CHECK_REJECTED(tsanom("dtw a a --cost cubic"), 2, "--cost", "squared");
  CHECK_REJECTED(tsanom("dtw a a --threads 1e9"), 2, "--threads");
  CHECK_REJECTED(tsanom("dtw a a --thread-count 2"), 2, "--thread-count");
}
