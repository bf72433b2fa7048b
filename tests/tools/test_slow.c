/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom slow: planted iterations in beats of a CSV file, whose scatter is 3 %. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <tsanom/heartbeat.h>

#include "run.h"

TestSuite(command_slow, .init = enter_folder, .fini = leave_folder);

enum { ITERATIONS = 400, LONG = 150001 };
static int iterations = ITERATIONS;

/* Write beats whose iteration i takes factor(i) times 10 ms, and some. */
static void write_beats(double (*factor)(int i)) {
  FILE *file = fopen("run.csv", "w");
  double time = 1;
  uint64_t seed = 7;
  cr_assert(file != NULL);
  fprintf(file, "thread,time\n");
  for (int i = 0; i <= iterations; i++) {
    fprintf(file, "0,%.9f\n", time);
    double sum = 0;
    for (int k = 0; k < 12; k++) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      sum += (double)(seed >> 11) * 0x1p-53;
    }
    time += 0.01 * factor(i) * (1 + 0.03 * (sum - 6));
  }
  fclose(file);
}

/* The findings of the run, which must be `count`. */
static json_t *find(double (*factor)(int i), size_t count) {
  write_beats(factor);
  json_t *result = tsanom_json("slow --json run.csv");
  json_t *run = item_of(result, "runs", 0);
  cr_assert(size_of(run, "slow") == count, "%zu findings", size_of(run, "slow"));
  cr_assert(number_of(run, "iterations") == iterations + 1);
  return run;
}

static const json_t *first_of(const json_t *run) {
  return item_of(run, "slow", 0);
}

static void check_kind(const json_t *one, const char *kind, int first, int last,
                       int count) {
  cr_assert_str_eq(text_of(one, "kind"), kind);
  cr_assert(number_of(one, "first") == first && number_of(one, "last") == last,
            "%s: %g to %g", kind, number_of(one, "first"), number_of(one, "last"));
  cr_assert(number_of(one, "count") == count, "%g", number_of(one, "count"));
}

static double steady(int i) {
  (void)i;
  return 1;
}

static double starts(int i) {
  return i < 3 ? 30 : 1;
}

Test(command_slow, nothing_is_reported_of_a_steady_run) {
  (void)find(steady, 0);
  outcome o = tsanom("slow --check run.csv");
  cr_assert(o.status == 0 && !strncmp(o.out, "No slow iterations", 18), "%s", o.out);
  (void)find(starts, 0);
}

static double single(int i) {
  return i == 50 || i == 201 || i == 202 || i == 333 ? 8 : 1;
}

Test(command_slow, single_iterations) {
  json_t *run = find(single, 1);
  check_kind(first_of(run), "single", 50, 333, 4);
  cr_assert(fabs(number_of(first_of(run), "ratio") - 8) < 0.5);
  cr_assert(fabs(number_of(run, "median_s") - 0.01) < 0.0005);
  outcome o = check_status(tsanom("slow run.csv --check --plot p.svg"), 1);
  cr_assert(strstr(o.out, "4 of 401 iterations (50, 201-202, 333) took"), "%s", o.out);
  check_svg("p.svg");
}

static double lasting(int i) {
  return i < 200 ? 1 : 1.4;
}

/* Beats do not show whether one region is longer: a slower processor may be why. */
Test(command_slow, what_a_slower_processor_explains_is_none_to_check) {
  (void)find(lasting, 1);
  outcome o = tsanom_ok("slow run.csv --check");
  cr_assert(strstr(o.out, "may explain that"), "%s", o.out);
  o = tsanom_ok("summary run.csv --check");
  cr_assert(strstr(o.out, "a slower processor may explain that since"), "%s", o.out);
}

static double two_sizes(int i) {
  static const int small[] = {77, 110, 161, 222, 260, 318};
  for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
    if (i == small[k]) return 2.5;
  }
  return i == 50 || i == 201 || i == 333 ? 12 : 1;
}

Test(command_slow, single_iterations_of_two_sizes_are_two_findings) {
  json_t *run = find(two_sizes, 2);
  check_kind(first_of(run), "single", 50, 333, 3);
  check_kind(item_of(run, "slow", 1), "single", 77, 318, 6);
}

static double uneven_by(int i, double exponent) {
  static uint64_t seed;
  if (!i) seed = 5;
  seed = seed * 6364136223846793005U + 1442695040888963407U;
  return pow(1 - (double)(seed >> 11) * 0x1p-53, -exponent);
}

/* Times exceed the shortest by an exponential number: that of 400 is twice the median. */
static double uneven(int i) {
  return uneven_by(i, 0.12);
}

/* The longest has a large part of the time. */
static double very_uneven(int i) {
  return uneven_by(i, 1.4);
}

Test(command_slow, noise_with_a_long_tail_is_not_slow) {
  json_t *run = find(uneven, 0);
  cr_assert(number_of(run, "detectable_single") > 2);
  cr_assert(json_is_null(json_object_get(run, "detectable_processor_single")));
  (void)find(very_uneven, 0);
  CHECK_PRINTS(tsanom("slow run.csv"), "Single ones would not be seen, since");
  run = find(steady, 0);
  cr_assert(fabs(number_of(run, "detectable_single") - 1.5) < 1e-3);
  cr_assert(fabs(number_of(run, "detectable_lasting") - 1.1) < 1e-3);
}

static double dense(int i) {
  return i >= 200 && i < 230 && i % 3 == 0 ? 5 : 1;
}

Test(command_slow, a_stretch_has_its_exact_ends) {
  json_t *run = find(dense, 1);
  check_kind(first_of(run), "stretch", 201, 228, 28);
}

static double slightly(int i) {
  return i % 20 == 7 ? 1.3 : 1;
}

Test(command_slow, what_recurs_has_a_period) {
  json_t *run = find(slightly, 1);
  check_kind(first_of(run), "recurring", 7, 387, 20);
  cr_assert(number_of(first_of(run), "period") == 20);
}

static double since(int i) {
  return i >= 120 ? 1.3 : 1;
}

static double until(int i) {
  return i < 160 ? 1.5 : 1;
}

/* A stretch and a single one in a run whose level changes. */
static double mixed(int i) {
  return (i == 60 ? 9 : 1) * (i >= 300 && i < 310 ? 12 : 1) * (i >= 200 ? 1.25 : 1);
}

Test(command_slow, a_change_has_intervals) {
  json_t *run = find(since, 1);
  const json_t *one = first_of(run);
  check_kind(one, "since", 120, 399, 280);
  cr_assert(number_of(one, "low") < 1.3 && 1.3 < number_of(one, "high"));
  cr_assert(number_of(one, "place_low") <= 120 && number_of(one, "place_high") >= 120);
  run = find(until, 1);
  one = first_of(run);
  check_kind(one, "until", 0, 159, 160);
  cr_assert(number_of(one, "low") < 1.5 && 1.5 < number_of(one, "high"));
  (void)find(mixed, 3);
}

/* A third of the iterations of a level take longer than the others: the interval, of the
 * medians, is not that of the mean. */
static double skewed(int i) {
  return i < 120 ? 1 : (uint32_t)i * 2654435761U >> 13 & 3 ? 1.3 : 1.8;
}

Test(command_slow, an_interval_contains_its_ratio) {
  json_t *run = find(skewed, 1);
  const json_t *one = first_of(run);
  check_kind(one, "since", 120, 399, 280);
  cr_assert(number_of(one, "ratio") > 1.35);
  cr_assert(json_is_null(json_object_get(one, "low")) ||
            (number_of(one, "low") <= number_of(one, "ratio") &&
             number_of(one, "ratio") <= number_of(one, "high")));
}

/* The levels of a long run are those of groups of its iterations, the last one included. */
static double late(int i) {
  return i >= 100001 ? 1.25 : 1;
}

static double far_stretch(int i) {
  return i >= 61001 && i < 90000 ? 1.5 : 1;
}

Test(command_slow, levels_of_a_long_run) {
  iterations = LONG;
  json_t *run = find(late, 1);
  const json_t *one = first_of(run);
  double first = number_of(one, "first");
  cr_assert(fabs(first - 100001) <= 3 && number_of(one, "count") == LONG - first);
  cr_assert(number_of(one, "last") == LONG - 1);
  cr_assert(number_of(one, "low") < 1.25 && 1.25 < number_of(one, "high"));
  cr_assert(number_of(one, "high") - number_of(one, "low") < 0.01);
  cr_assert(number_of(one, "place_low") <= 100001 &&
            number_of(one, "place_high") >= 100001);
  run = find(far_stretch, 1);
  check_kind(first_of(run), "stretch", 61001, 89999, 28999);
}

/* Processors change their speed by as much. */
static double small(int i) {
  return i < 200 ? 1.15 : 1;
}

Test(command_slow, small_levels_are_not_reported) {
  (void)find(small, 0);
}

/* A rank: its beats, and none of its events. */
static void write_rank(const char *path, uint32_t beats) {
  char name[64];
  cr_assert(tsanom_heartbeat_init(path, 1, NULL, NULL) == TSANOM_OK);
  for (uint32_t i = 0; i < beats; i++)
    cr_assert(tsanom_heartbeat_beat(0, i) == TSANOM_OK);
  cr_assert(tsanom_heartbeat_finish() == TSANOM_OK);
  (void)snprintf(name, sizeof name, "%s/regions", path);
  shell_ok("mkdir -p %s", name);
  (void)snprintf(name, sizeof name, "%s/regions/places.tsv", path);
  write_text(name, "tsanom places 3\n");
}

Test(command_slow, ranks_without_iterations_are_passed_over) {
  shell_ok("mkdir job");
  write_text("job/ranks.tsv", "tsanom ranks 1\nsize\t3\njob\t-\n");
  write_rank("job/rank.0", 0);
  write_rank("job/rank.2", 5);
  check_status(tsanom("slow job"), 3);
  write_rank("job/rank.1", 1000);
  tsanom_ok("slow job");
}

Test(command_slow, runs_that_do_not_suffice_are_rejected) {
  write_text("r.csv", "thread,time\n0,1\n0,2\n0,3\n");
  CHECK_REJECTED(tsanom("slow r.csv"), 3, "r.csv", "3; at least 21");
  cr_assert(tsanom_heartbeat_init("none", 2, NULL, NULL) == TSANOM_OK &&
            tsanom_heartbeat_finish() == TSANOM_OK);
  CHECK_REJECTED(tsanom("slow none"), 3, "none: no iterations were found");
  CHECK_REJECTED(tsanom("slow - <r.csv"), 3, "standard input: too few iterations: 3");
  CHECK_REJECTED(tsanom("slow missing"), 3, "missing", "No such file");
  CHECK_REJECTED(tsanom("slow"), 2, "at least one run");
  CHECK_REJECTED(tsanom("slow a b --plot p.svg"), 2, "of one run");
}
