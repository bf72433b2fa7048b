/* SPDX-License-Identifier: BSD-3-Clause */
/* What period and speedup say of region events that a test writes one by one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "record/regions.h"
#include "run.h"
#include "runs/grown_run.h"

TestSuite(main_loop, .init = enter_folder, .fini = leave_folder);

/* Places; places.tsv may have fewer lines. */
enum { STEP, CHECK, WHOLE, HALF, REST, PLACES };

static void append(grown_run *run, uint32_t kind, uint32_t place) {
  grown_append(run, 0, 100000, kind | place << TSN_REGIONS_KIND_BITS | 2u << 16);
}

/* 200 iterations of two regions, in 0.08 s, and then one region with as many pairs of worksharing
 * constructs as `pairs`. The places of `lines` lines are in MODULE. */
static void write_run(const char *path, const char *module, size_t lines, int pairs) {
  static const char kinds[PLACES] = "rrrss";
  char places[512];
  grown_run run;
  size_t used = (size_t)snprintf(places, sizeof places, "tsanom places 3\n");
  for (size_t i = 0; i < lines; i++) {
    used += (size_t)snprintf(places + used, sizeof places - used,
                             "%zu\t%cf\t%zu0\t-\t%s\n", i, kinds[i], i + 1, module);
  }
  cr_assert(mkdir(path, 0777) == 0);
  grown_create_regions(&run, path, places);
  for (uint32_t i = 0; i < 400; i++) {
    append(&run, TSN_REGIONS_BEGIN, i % 2);
    append(&run, TSN_REGIONS_END, i % 2);
  }
  if (pairs) append(&run, TSN_REGIONS_BEGIN, WHOLE);
  for (int i = 0; i < 2 * pairs; i++)
    append(&run, TSN_REGIONS_SHARE, i % 2 ? REST : HALF);
  if (pairs) append(&run, TSN_REGIONS_END, WHOLE);
  grown_finish(&run);
}

/* The main loop must have as many iterations, and begin there. */
static const json_t *check_loop(const json_t *result, double iterations,
                                const char *place) {
  const json_t *loop = json_object_get(result, "main_loop");
  cr_assert(number_of(loop, "iterations") == iterations, "%g",
            number_of(loop, "iterations"));
  cr_assert_str_eq(text_of(loop, "place"), place);
  return loop;
}

Test(main_loop, a_place_without_a_line_is_unknown) {
  write_run("run", "/a", 1, 0);
  const json_t *loop = check_loop(tsanom_json("speedup run --json"), 200, "a+0x10");
  const json_t *part = item_of(loop, "parts", 1);
  cr_assert_str_eq(text_of(part, "name"), "unknown place");
  cr_assert_str_eq(text_of(part, "place"), "?+0x0");
}

Test(main_loop, names_that_are_not_utf8_are_in_json) {
  write_run("r\xe9",
            "/h\xe9"
            "at",
            PLACES, 0);
  check_loop(tsanom_json("speedup r* --json"), 200, "h?at+0x10");
  check_loop(tsanom_json("period r* --json"), 200, "h?at+0x10");
  shell_ok(
      "printf x | dd of=$(echo r*)/regions/heartbeat.00000 bs=1 seek=12000 "
      "conv=notrunc 2>/dev/null");
  json_t *r = tsanom_json("speedup --salvage r* --json 2>/dev/null");
  cr_assert(size_of(r, "warnings") == 1);
  cr_assert_str_eq(text_of(item_of(r, "warnings", 0), "run"), "r?");
}

/* The level is that of the events that were known then. */
Test(main_loop, what_comes_later_does_not_choose_the_level) {
  write_run("run", "/a", PLACES, 3000);
  check_loop(tsanom_json("speedup run --json"), 3000, "a+0x40");
  json_t *r = tsanom_json("speedup run --until 0.08 --json");
  cr_assert_str_eq(text_of(r, "level"), "regions");
  check_loop(r, 199, "a+0x10");
  CHECK_PRINTS(tsanom("speedup run --until 0.04"), "regions in 0.04 s");
}

Test(main_loop, a_place_that_is_named_chooses_the_level) {
  static const char *const commands[] = {"speedup", "period"};
  write_run("run", "/a", PLACES, 3000);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    check_loop(tsanom_json("%s run --loop a+0x10 --json", commands[i]), 200, "a+0x10");
    check_loop(tsanom_json("%s run --loop a+0x40 --json", commands[i]), 3000, "a+0x40");
    CHECK_REJECTED(tsanom("%s run --loop a+0x60", commands[i]), 3,
                   "no region or worksharing construct \"a+0x60\"");
  }
  CHECK_REJECTED(tsanom("speedup run --level worksharing --loop a+0x10"), 3,
                 "no worksharing construct \"a+0x10\"");
}

Test(main_loop, a_baseline_is_the_same_program_at_any_path) {
  write_run("here", "/home/one/heat", PLACES, 0);
  write_run("there", "/home/two/heat", PLACES, 0);
  write_run("other", "/home/one/cool", PLACES, 0);
  check_quiet(tsanom("speedup here --baseline there"), 0);
  CHECK_PRINTS(tsanom("speedup here --baseline there"), "1 times as fast on 2 threads");
  CHECK_WARNS(tsanom("speedup here --baseline other"),
              "warning: other has none of the loops of here");
  CHECK_REJECTED(tsanom("speedup here --baseline nosuch"), 2,
                 "nosuch is neither a run nor a number of threads");
}

Test(main_loop, options_that_have_no_meaning_are_rejected) {
  write_run("run", "/a", PLACES, 0);
  CHECK_REJECTED(tsanom("period run --active --loop a+0x10"), 2, "--loop is for a run");
  CHECK_REJECTED(tsanom("period run --column x"), 2, "--column is for a file");
}

Test(main_loop, no_samples_have_no_picture) {
  write_run("run", "/a", PLACES, 0);
  tsanom_ok("period run --active --interval 1e9");
  CHECK_REJECTED(tsanom("period run --active --interval 1e9 --plot x.svg"), 3,
                 "run: there are no samples to draw");
}
