/* SPDX-License-Identifier: BSD-3-Clause */
/* Processor times of a recording without options: of all visits where these are long, else
 * of some that are drawn for the whole team. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/format.h"
#include "record/regions.h"
#include "recorded.h"
#include "support/skip.h"

static void prepare(void) {
  enter_folder();
  setenv("OMP_WAIT_POLICY", "passive", 1);
}

TestSuite(record_times, .init = prepare, .fini = leave_folder, .timeout = 240);

/* Events of a kind in a stream of region events. */
static size_t events_in(const tsanom_runs *run, size_t stream, int32_t kind) {
  tsanom_runs_stream s = stream_of(run, TSANOM_RUNS_REGIONS, stream);
  size_t count = 0;
  for (size_t i = 0; i < s.count; i++) {
    tsn_region_event event = tsn_region_decode(s.tag[i]);
    count += event.kind == kind;
  }
  return count;
}

/* What the header of the events says. */
static uint32_t cpu_times_of(const char *run) {
  tsn_run_header header = {.cpu_times = 99};
  char path[64];
  (void)snprintf(path, sizeof path, "%s/regions/heartbeat.run", run);
  FILE *file = fopen(path, "rb");
  cr_assert(file && fread(&header, sizeof header, 1, file) == 1);
  (void)fclose(file);
  return header.cpu_times;
}

/* Each visit has one, in both threads; the opener's stands for the end of its work. */
Test(record_times, long_visits_are_all_measured) {
  for (int way = 0; way < RECORD_WAYS; way++) {
    tsanom_runs_info info;
    if (!build_program(record_ways[way].compiler, "shares")) continue;
    (void)shell("rm -rf run");
    cr_assert(record(way, "-o run -- ./shares 60 300000 1").status == 0);
    tsanom_runs *run = open_run("run", &info);
    for (size_t thread = 0; thread < 2; thread++) {
      cr_assert(events_in(run, thread, TSN_REGIONS_CPU) == 60);
      cr_assert(events_in(run, thread, TSN_REGIONS_WORK) == 0);
    }
    cr_assert(cpu_times_of("run") == TSN_CPU_TIMES_ALL);
  }
}

/* Both threads are measured in the same visits, which are a small part of all. */
Test(record_times, short_visits_are_drawn_for_the_team) {
  enum { VISITS = 60000 };
  if (!build_program("gcc", "shares")) SKIP_TEST("needs the Debian package gcc");
  setenv("OMP_WAIT_POLICY", "active", 1);
  cr_assert(record(0, "-o run -- ./shares %d 10 1", VISITS).status == 0);
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  size_t opener = events_in(run, 0, TSN_REGIONS_CPU);
  size_t member = events_in(run, 1, TSN_REGIONS_CPU);
  cr_assert(opener == member && opener > VISITS / 1000 && opener < VISITS, "%zu, %zu",
            opener, member);
  cr_assert(events_in(run, 0, TSN_REGIONS_WORK) == VISITS - opener);
  cr_assert(cpu_times_of("run") == TSN_CPU_TIMES_SAMPLED);
}

/* Both threads on one processor: others may be twice as fast, as the host of a virtual machine
 * gives them time. */
static void share_a_processor(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* Once in about 60 recordings the host takes the processor from a thread for a moment, so
 * that `similar` sees threads that differ, or noise that hides that they do. */
static bool is_found_in_one_of_three(int way, const char *command, const char *text) {
  outcome o = {0};
  for (int i = 0; i < 3; i++) {
    (void)shell("rm -rf run");
    cr_assert(record(way, "%s", command).status == 0);
    o = tsanom_ok("similar run");
    if (strstr(o.out, text)) return true;
  }
  printf("%d, %s: %s\n", way, command, o.out);
  return false;
}

/* A thread with half as much work again is named, in events and in totals; one with as much
 * work is not. */
Test(record_times, a_slow_thread_is_named_without_options) {
  share_a_processor();
  static const char *const command[] = {"--events -o run -- ./shares 200 200000 1.5",
                                        "--events -o run -- ./shares 30000 500 1.5",
                                        "--profile -o run -- ./shares 200 200000 1.5",
                                        "--profile -o run -- ./shares 30000 500 1.5"};
  for (int way = 0; way < RECORD_WAYS; way++) {
    if (!build_program(record_ways[way].compiler, "shares")) continue;
    for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
      cr_assert(
          is_found_in_one_of_three(way, command[i], "there are 2 kinds of threads"));
    }
    cr_assert(is_found_in_one_of_three(way, "-o run -- ./shares 200 200000 1",
                                       "All threads behave the same"));
  }
}
