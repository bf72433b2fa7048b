/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record --profile of OpenMP programs: events at first, and then totals. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"
#include "totals.h"

static void prepare(void) {
  enter_folder();
  setenv("OMP_NUM_THREADS", "3", 1);
}

TestSuite(record_totals, .init = prepare, .fini = leave_folder, .timeout = 120);

Test(record_totals, visits_are_those_of_events) {
  for (int way = 0; way < RECORD_WAYS; way++) {
    char events[16], totals[16];
    (void)snprintf(events, sizeof events, "events%d", way);
    (void)snprintf(totals, sizeof totals, "totals%d", way);
    if (!build_program(record_ways[way].compiler, "loop")) continue;
    cr_assert(record(way, "--cpu-time --events -o %s -- ./loop 2000", events).status ==
              5);
    check_quiet(record(way, "--cpu-time --profile -o %s -- ./loop 2000", totals), 5);
    check_same_visits(events, totals);
    check_totals_are_small(totals);
    CHECK_WARNS(tsanom("rate %s", totals), " beats were not recorded");
    CHECK_WARNS(tsanom("speedup %s", totals), "the rest of the run has totals only");
    cr_assert(*tsanom("similar %s", totals).err == '\0');
  }
}

/* The beats of the run as tsanom rate counts them; all threads have as many. */
static json_int_t loop_beats(const char *run) {
  json_t *r = tsanom_json("rate %s --window 2 --json", run), *thread;
  json_int_t beats = -1;
  size_t i;
  json_array_foreach(json_object_get(r, "threads"), i, thread) {
    json_int_t own = json_integer_value(json_object_get(thread, "beats"));
    cr_assert(i == 0 || own == beats, "%s", run);
    beats = own;
  }
  return beats;
}

/* Record the program with totals and with all events: both have as many beats, but for
 * those before a main loop that is found in the totals. The beats of the totals take 6
 * KiB for each thread. */
static void check_beats(int way, const char *program, json_int_t before) {
  cr_assert(record(way, "--events -o all -- %s", program).status != 3);
  cr_assert(record(way, "--profile -o some -- %s", program).status != 3);
  json_int_t beats = loop_beats("all"), missed = beats - loop_beats("some");
  cr_assert(beats > 30 && missed >= 0 && missed <= before, "%s: %d beats by events, %d",
            program, (int)beats, (int)missed);
  tsanom_runs_info all = info_of("all");
  tsanom_runs_info some = info_of("some");
  cr_assert(all.beats_interpolated == 0 && some.totals > 0);
  if (beats > 1000) cr_assert(some.beats_interpolated > some.beats);
  cr_assert(some.beats < 2000 + 3 * 192, "%d of %d", (int)some.beats, (int)all.beats);
  shell_ok("rm -r all some");
}

/* The loop that outer.c has inside of its main loop is followed until the totals have
 * begun. */
Test(record_totals, beats_are_counted_in_constant_space) {
  setenv("OMP_NUM_THREADS", "2", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  for (int way = 0; way < RECORD_WAYS; way++) {
    if (!build_program(record_ways[way].compiler, "loop")) continue;
    check_beats(way, "./loop 3000", 0);
  }
  if (!build_program("gcc", "inside") || !build_program("gcc", "outer")) return;
  check_beats(0, "./inside 3000", 0);
  check_beats(0, "./outer 40 600", 4);
}

/* The main loop begins when the chunks before it have filled the events: the beats at
 * chunks are not of the loop. */
Test(record_totals, beats_before_the_main_loop_are_dropped) {
  setenv("OMP_NUM_THREADS", "2", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  for (int way = 0; way < RECORD_WAYS - 1; way++) {
    if (!build_program(record_ways[way].compiler, "late_loop")) continue;
    cr_assert(record(way, "--events -o all -- ./late_loop").status == 0);
    cr_assert(record(way, "--profile -o some -- ./late_loop").status == 0);
    json_int_t beats = loop_beats("all"), some = loop_beats("some");
    cr_assert(beats == 300 && some > 280 && some <= beats, "%d, %d", (int)beats,
              (int)some);
    shell_ok("rm -r all some");
  }
}

/* All regions of these threads are open when the events end: their visits are in the
 * events, and their times in both. */
Test(record_totals, threads_that_stay_in_a_region) {
  setenv("OMP_NUM_THREADS", "2", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  if (!build_program("gcc", "inside")) return;
  cr_assert(record(0, "--cpu-time --events -o events -- ./inside 2500").status == 0);
  cr_assert(record(0, "--cpu-time --profile -o totals -- ./inside 2500").status == 0);
  check_same_visits("events", "totals");
  check_totals_are_small("totals");
  tsanom_runs_info info = info_of("totals");
  cr_assert(info.events < 5000, "%d", (int)info.events);
}

/* What was added up until then is there, and the program is not the only process. */
Test(record_totals, survive_a_signal) {
  if (!build_program("gcc", "loop")) return;
  shell_ok(
      "(ulimit -c 0; tsanom record --cpu-time --profile -o run -- ./loop 3000 2000) >out "
      "2>err; test $? -gt 128");
  cr_assert(record(0, "--cpu-time --events -o whole -- ./loop 2000").status == 5);
  tsanom_runs_info info = info_of("run");
  cr_assert(info.state == TSANOM_RUN_KILLED);
  check_same_visits("whole", "run");
}

Test(record_totals, options_and_sizes) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(record(0, "--profile=128K -o more -- ./loop 3000").status == 5);
  tsanom_runs_info info = info_of("more");
  cr_assert(info.totals > 0 && info.events > 7000 && info.events < 12000);
  cr_assert(record(0, "-o whole -- ./loop 3000").status == 5);
  info = info_of("whole");
  cr_assert(info.totals == 0);
  outcome o = tsanom("record --profile=1K -o run -- true");
  cr_assert(o.status == 2 && strstr(o.err, "--profile: at least 64K"), "%s", o.err);
  /* The warning is for those that did not ask. */
  cr_assert(strstr(messages_of("more"), "are added up, as with --profile"));
  cr_assert(!strstr(messages_of("whole"), "are added up"));
}

Test(record_totals, damage_is_found) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(record(0, "--cpu-time --profile -o run -- ./loop 2000").status == 5);
  shell_ok("cp run/regions/profile whole");
  shell_ok("printf X | dd of=run/regions/profile bs=1 seek=140 conv=notrunc 2>/dev/null");
  CHECK_REJECTED(tsanom("similar run"), 3, "profile", "byte 128", "row 2 is damaged",
                 "--salvage");
  tsanom_ok("similar --salvage run");
  shell_ok(
      "printf X | dd of=whole bs=1 conv=notrunc 2>/dev/null && cp whole "
      "run/regions/profile");
  CHECK_REJECTED(tsanom("similar run"), 3, "profile", "not a file of totals");
  shell_ok("head -c 100 whole >run/regions/profile");
  CHECK_REJECTED(tsanom("similar run"), 3, "profile", "not a file of totals");
  write_text("run/regions/profile", "");
  CHECK_REJECTED(tsanom("similar run"), 3, "profile", "not a file of totals");
}
