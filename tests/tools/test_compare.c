/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom compare: runs are CSV files of beats, whose mean iterations differ by 1 %. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "run.h"

TestSuite(command_compare, .init = enter_folder, .fini = leave_folder, .timeout = 60);

/* Files NAME1.csv ...: iterations of 10 ms times factor and (0, 1, 2, ...) percent. */
static void write_runs(const char *name, int count, double factor) {
  for (int k = 0; k < count; k++) {
    char path[32];
    snprintf(path, sizeof path, "%s%d.csv", name, k + 1);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL);
    fprintf(file, "thread,time\n");
    for (int i = 0; i <= 100; i++) {
      fprintf(file, "0,%.9f\n", i * 0.01 * factor * (1 + 0.01 * k));
    }
    fclose(file);
  }
}

static const json_t *first_of(const json_t *result) {
  return item_of(result, "changes", 0);
}

static void check_verdict(const json_t *result, const char *verdict) {
  cr_assert_str_eq(text_of(result, "verdict"), verdict);
}

Test(command_compare, a_difference_has_its_ratio_and_interval) {
  write_runs("a", 5, 1);
  write_runs("b", 5, 1.2);
  json_t *r = tsanom_json("compare a?.csv --against b?.csv --json");
  const json_t *first = first_of(r);
  check_verdict(r, "slower");
  cr_assert_str_eq(text_of(first, "name"), "an iteration");
  cr_assert(fabs(number_of(first, "ratio") - 1.2) < 1e-9);
  cr_assert(number_of(first, "low") > 1.15 && number_of(first, "low") < 1.2);
  cr_assert(number_of(first, "high") > 1.2 && number_of(first, "high") < 1.25);
  cr_assert(fabs(number_of(first, "a") - 0.0102) < 1e-4);
  /* Two of 252 permutations are as extreme. */
  cr_assert(fabs(number_of(first, "significance") - 2.0 / 252) < 1e-12);
  outcome o = tsanom_ok("compare a?.csv --against b?.csv");
  cr_assert(!strncmp(o.out, "B is slower: an iteration takes 1.2 times as long", 49),
            "%s", o.out);
  r = tsanom_json("compare b?.csv --against a?.csv --json");
  check_verdict(r, "faster");
}

Test(command_compare, no_difference_names_what_would_be_seen) {
  write_runs("a", 5, 1);
  write_runs("b", 5, 1.005);
  json_t *r = tsanom_json("compare a?.csv --against b?.csv --json --check");
  check_verdict(r, "same");
  cr_assert(number_of(r, "detectable") > 1.01 && number_of(r, "detectable") < 1.2);
  CHECK_PRINTS(tsanom("compare a?.csv --against b?.csv"), "No difference was found",
               "can be seen");
}

Test(command_compare, few_runs_decide_nothing) {
  write_runs("a", 4, 1);
  write_runs("b", 4, 5);
  json_t *r = tsanom_json("compare a?.csv --against b?.csv --json --check");
  check_verdict(r, "too few runs");
  CHECK_PRINTS(tsanom("compare a?.csv --against b?.csv"), "five of each");
}

Test(command_compare, the_check_has_a_threshold) {
  write_runs("a", 5, 1);
  write_runs("b", 5, 1.2);
  check_status(tsanom("compare a?.csv --against b?.csv --check"), 1);
  check_status(tsanom("compare --check a?.csv --against b?.csv"), 1);
  cr_assert(tsanom("compare a?.csv --against b?.csv --check --threshold 19%%").status ==
            1);
  cr_assert(tsanom("compare a?.csv --against b?.csv --check --threshold 21%%").status ==
            0);
  cr_assert(tsanom("compare a?.csv --against b?.csv --check --threshold .21").status ==
            0);
  tsanom_ok("compare b?.csv --against a?.csv --check");
}

/* Fewer digits would be no difference. */
Test(command_compare, a_small_difference_is_shown) {
  write_runs("a", 1, 1);
  write_runs("b", 1, 1.0001);
  CHECK_PRINTS(
      tsanom("compare a1.csv a1.csv a1.csv a1.csv a1.csv --against b1.csv b1.csv "
             "b1.csv b1.csv b1.csv"),
      "B is slower: an iteration takes 1.0001 times as long (1.0001 to");
}

/* All pairs have the same ratio, below the scatter of the runs. */
Test(command_compare, pairs_cancel_what_both_runs_have) {
  write_runs("a", 8, 1);
  write_runs("b", 8, 1.01);
  json_t *r = tsanom_json("compare a?.csv --against b?.csv --json");
  check_verdict(r, "same");
  r = tsanom_json("compare a?.csv --against b?.csv --paired --json");
  check_verdict(r, "slower");
}

Test(command_compare, commands_are_executed_in_turn) {
  outcome o =
      tsanom("compare --pairs 3 --run 'echo a{} >>order' --run 'echo b{} >>order'");
  cr_assert(o.status == 0 && strstr(o.out, "nine pairs are the fewest"), "%s", o.out);
  char *order = slurp("order");
  cr_assert_str_eq(order, "a1\nb1\nb2\na2\na3\nb3\n");
  free(order);
  json_t *r = tsanom_json("compare --json --run true --run 'sleep 0.2' --pairs 30");
  check_verdict(r, "slower");
  cr_assert(number_of(r, "runs_a") < 30);
  CHECK_REJECTED(tsanom("compare --run true --run 'exit 4'"), 3, "exit 4",
                 "status 4 in pair 1");
  CHECK_REJECTED(tsanom("compare --run true --run 'kill -9 $$'"), 3, "signal 9");
}

/* Who starts the command may ignore the end of children, as daemons do. */
Test(command_compare, ignored_children_are_waited_for) {
  int status =
      shell("trap '' CHLD; exec '" TSANOM_COMMAND
            "' compare --pairs 3 --run 'exit 7' --run 'exit 7' >/dev/null 2>messages");
  cr_assert(status == 3 && file_holds("messages", "ended by status 7 in pair 1"), "%d",
            status);
}

Test(command_compare, draws_a_picture) {
  write_runs("a", 5, 1);
  write_runs("b", 5, 1.2);
  tsanom_ok("compare a?.csv --against b?.csv --plot p.svg");
  check_svg("p.svg");
}

Test(command_compare, wrong_lines_are_rejected) {
  write_runs("a", 2, 1);
  CHECK_REJECTED(tsanom("compare"), 2, "--against");
  CHECK_REJECTED(tsanom("compare a1.csv"), 2, "--against");
  CHECK_REJECTED(tsanom("compare --against a1.csv"), 2, "--against");
  CHECK_REJECTED(tsanom("compare a1.csv --against"), 2, "--against");
  CHECK_REJECTED(tsanom("compare a1.csv --against a2.csv --against a1.csv"), 2, "twice");
  CHECK_REJECTED(tsanom("compare --run true"), 2, "two commands");
  CHECK_REJECTED(tsanom("compare --run a --run b --run c"), 2, "two commands");
  CHECK_REJECTED(tsanom("compare --run a --run b a1.csv"), 2, "not both");
  CHECK_REJECTED(tsanom("compare a1.csv --against a2.csv --pairs 3"), 2, "--run");
  CHECK_REJECTED(tsanom("compare a1.csv a2.csv --against a2.csv --paired"), 2, "as many");
  CHECK_REJECTED(tsanom("compare a1.csv --against=a2.csv"), 2, "as further words");
  CHECK_REJECTED(tsanom("compare a1.csv --against a2.csv --threshold x"), 2, "\"x\"");
  CHECK_REJECTED(tsanom("compare a1.csv --against a2.csv --threshold 1000%%"), 2,
                 "\"1000%\"", "below 1000%");
  CHECK_REJECTED(tsanom("compare a1.csv --against missing"), 3, "missing",
                 "No such file");
}
