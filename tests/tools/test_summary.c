/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom summary: answers, exit statuses, JSON. Pages of recorded runs are in texts.txt. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

TestSuite(command_summary, .init = enter_folder, .fini = leave_folder);

/* 400 iterations of `seconds` and a little; those from `first` until `last` take `factor` times
 * as long. */
static void write_levels(const char *name, double seconds, int first, int last,
                         double factor) {
  FILE *file = fopen(name, "w");
  double time = 1;
  cr_assert(file);
  (void)fprintf(file, "thread,time\n");
  for (int i = 0; i <= 400; i++) {
    (void)fprintf(file, "0,%.9f\n", time);
    time += seconds * (1 + .03 * (i * 7919 % 97) / 97.) *
            (i >= first && i <= last ? factor : 1);
  }
  cr_assert(fclose(file) == 0);
}

static void write_beats(const char *name, int slow) {
  write_levels(name, .01, slow, 59, 3);
}

static json_t *run_of(const char *arguments) {
  json_t *result = tsanom_json("summary --json %s", arguments);
  json_t *run = item_of(result, "runs", 0);
  return run;
}

Test(command_summary, answers_by_beats_alone) {
  write_beats("steady.csv", 1000);
  write_beats("slow.csv", 20);
  json_t *run = run_of("steady.csv");
  cr_assert_str_eq(text_of(run, "answer"), "quiet");
  cr_assert(json_is_false(json_object_get(run, "alarm")));
  cr_assert(number_of(json_object_get(run, "loop"), "iterations") == 401);
  cr_assert(json_is_null(json_object_get(run, "ledger")) &&
            size_of(run, "not_recorded") == 1);
  run = run_of("slow.csv");
  cr_assert_str_eq(text_of(run, "answer"), "slow");
  const json_t *slow = json_object_get(json_object_get(run, "loop"), "slow");
  cr_assert(size_of(slow, "slow") == 1);
  outcome o = tsanom("summary slow.csv");
  const char *begin = "The recording has 4.87 s; 40 of 401 iterations (20-59) took 3";
  cr_assert(o.status == 0 && !strncmp(o.out, begin, strlen(begin)) && !*o.err, "%s%s",
            o.out, o.err);
}

/* A level that a slower processor reaches is no alarm, which line one says. */
Test(command_summary, levels_that_a_processor_explains) {
  static const struct {
    double seconds, factor;
    int is_alarm;
  } levels[] = {{.01, 1.3, 0}, {.01, 1.6, 0}, {.001, 1.6, 0}, {.001, 2, 1}};
  for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
    for (int first = 100; first <= 150; first += 50) {
      write_levels("level.csv", levels[k].seconds, first, 400, levels[k].factor);
      json_t *run = run_of("level.csv");
      const json_t *slow = json_object_get(json_object_get(run, "loop"), "slow");
      cr_assert(size_of(slow, "slow") == 1);
      cr_assert(json_is_true(json_object_get(run, "alarm")) == levels[k].is_alarm,
                "%g of %g s from %d", levels[k].factor, levels[k].seconds, first);
      const char *verdict = text_of(run, "verdict");
      bool is_explained = strstr(verdict, "; a slower processor may explain that ");
      cr_assert(is_explained == !levels[k].is_alarm && strstr(verdict, "iteration"), "%s",
                verdict);
    }
  }
}

Test(command_summary, exit_statuses) {
  write_beats("steady.csv", 1000);
  write_beats("slow.csv", 20);
  tsanom_ok("summary --check steady.csv");
  check_status(tsanom("summary --check steady.csv slow.csv"), 1);
  check_status(tsanom("summary --check --json slow.csv"), 1);
  tsanom_ok("summary slow.csv");
  check_status(tsanom("summary"), 2);
  CHECK_REJECTED(tsanom("summary no-such-run"), 3, "no-such-run");
  CHECK_REJECTED(tsanom("summary -m no-model slow.csv"), 3, "no-model");
}

Test(command_summary, several_runs_and_a_picture) {
  write_beats("steady.csv", 1000);
  write_beats("slow.csv", 20);
  outcome o = tsanom("summary steady.csv slow.csv");
  cr_assert(o.status == 0 && !strncmp(o.out, "steady.csv\nThe recording", 24) &&
                strstr(o.out, "\n\nslow.csv\nThe recording"),
            "%s", o.out);
  tsanom_ok("summary --plot slow.svg slow.csv");
  check_svg("slow.svg");
  check_status(tsanom("summary --plot slow.svg steady.csv slow.csv"), 2);
}

/* By a model the verdict is in the first line. */
Test(command_summary, a_model_judges) {
  char many[512] = "";
  for (int i = 0; i < 6; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "normal%d.csv", i);
    write_beats(name, 1000);
    (void)snprintf(many + strlen(many), sizeof many - strlen(many), " %s", name);
  }
  shell_ok(
      "awk -F, 'NR == 1 { print; next } { print $1 \",\" 2 * $2 }' normal0.csv "
      ">twice.csv");
  tsanom_ok("learn -o model.json%s", many);
  CHECK_PRINTS(tsanom("summary --check -m model.json twice.csv"),
               "; slowdown: an iteration takes 2 times as long",
               "a lack of processors looks the same");
  CHECK_PRINTS(tsanom("summary --check -m model.json normal1.csv"),
               "; normal by the model.");
}
