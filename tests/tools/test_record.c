/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record and speedup on programs that are built as a user would, by gcc and by
 * clang, for both runtimes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/speedup.h>

#include "record/regions.h"
#include "recorded.h"
#include "support/allocator.h"

TestSuite(command_record, .init = enter_folder, .fini = leave_folder, .timeout = 240);

Test(command_record, regions_are_found_and_the_program_is_as_without) {
  FOR_EACH_WAY(c, "loop") {
    cr_assert(record_as_plain(c, run_of(c), "./loop 60") == 5);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    const json_t *region = first_region(r);
    cr_assert(size_of(r, "regions") == 1);
    cr_assert(!strcmp(text_of(r, "level"), "regions"));
    cr_assert(json_is_true(json_object_get(r, "finished")));
    cr_assert(number_of(r, "events") == 180 && number_of(region, "period") == 3);
    cr_assert(number_of(region, "iterations") == 60);
    cr_assert(number_of(region, "current_threads") == 2);
    cr_assert(number_of(region, "total_s") <= number_of(r, "total_s"));
    const char *start =
        text_of(region, "start"); /* clang's outlined functions have less */
    cr_assert(strstr(start, "main") || strstr(start, ".omp_outlined."), "%s", start);
    /* A beat an iteration and thread, also before the loop was found. */
    const char *run = run_of(c);
    for (uint32_t t = 0; t < 2; t++) {
      size_t beats = analyzed_beats(run, t);
      cr_assert(beats == 60, "%zu beats", beats);
    }
  }
}

Test(command_record, every_thread_has_its_regions) {
  FOR_EACH_WAY(c, "loop") {
    const char *run = run_of(c);
    cr_assert(record(c, "--cpu-time -o %s -- ./loop 20", run).status == 5);
    tsanom_runs_info info;
    tsanom_runs *found = open_run(run, &info);
    cr_assert(info.event_streams == 2 && info.state == TSANOM_RUN_FINISHED);
    cr_assert(info.events_dropped == 0);
    for (uint32_t s = 0; s < 2; s++) {
      tsanom_runs_stream stream = stream_of(found, TSANOM_RUNS_REGIONS, s);
      cr_assert(stream.count >= 180 && stream.count <= 320, "%d", (int)stream.count);
      int count[TSN_REGIONS_FUNCTION + 1] = {0}, depth = 0;
      for (size_t i = 0; i < stream.count; i++) {
        tsn_region_event event = tsn_region_decode(stream.tag[i]);
        count[event.kind]++;
        if (event.kind == TSN_REGIONS_BEGIN) depth++;
        if (event.kind == TSN_REGIONS_END) {
          depth--;
          cr_assert(event.threads == 2);
        }
        cr_assert(depth >= 0 && depth <= 1);
        cr_assert(i == 0 || stream.time[i] >= stream.time[i - 1]);
        cr_assert(event.kind != TSN_REGIONS_CPU ||
                  (event.cpu_s >= 0 && event.cpu_s < 10));
        cr_assert(event.kind == TSN_REGIONS_CPU ||
                  (event.place >= 0 && (size_t)event.place < info.places));
      }
      cr_assert(count[TSN_REGIONS_BEGIN] == 60 && count[TSN_REGIONS_END] == 60);
      /* One more in front of each construct, and of the rest of its region. */
      int more = count[TSN_REGIONS_CPU] - 60, shares = count[TSN_REGIONS_SHARE];
      cr_assert(more >= shares && more <= 2 * shares && depth == 0);
    }
  }
}

/* The regions of `threads` that ended in the first thread, 0: of any number; and its events. */
static size_t ended_regions(const char *path, int32_t threads, size_t *events) {
  tsanom_runs_info info;
  tsanom_runs_stream stream = stream_of(open_run(path, &info), TSANOM_RUNS_REGIONS, 0);
  size_t ended = 0;
  for (size_t i = 0; i < stream.count; i++) {
    tsn_region_event event = tsn_region_decode(stream.tag[i]);
    ended += event.kind == TSN_REGIONS_END && (!threads || event.threads == threads);
  }
  *events = stream.count;
  return ended;
}

/* Regions of one thread that the compiler opens itself are recorded up to a depth. LLVM's
 * tools interface reports all. */
Test(command_record, regions_of_one_thread_nest_deeply) {
  static const size_t depth[RECORD_WAYS] = {20, 16, 20};
  FOR_EACH_WAY(c, "deep") {
    const char *run = run_of(c);
    cr_assert(record(c, "-o %s -- ./deep", run).status == 0);
    size_t count, ended = ended_regions(run, 0, &count);
    cr_assert(count >= 10 * depth[c] && count <= 15 * depth[c] && ended == 5 * depth[c],
              "%s: %zu of %zu", record_ways[c].compiler, ended, count);
  }
}

Test(command_record, worksharing_shows_the_iterations_inside_one_region) {
  FOR_EACH_WAY(c, "inside") {
    cr_assert(record(c, "-o run.%d -- ./inside 50", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(!strcmp(text_of(r, "level"), "worksharing"));
    cr_assert(number_of(first_region(r), "period") == 3);
    cr_assert(number_of(first_region(r), "iterations") == 50);
    cr_assert(number_of(first_region(r), "current_threads") == 2);
    r = tsanom_json("speedup run.%d --level regions --json", c);
    cr_assert(number_of(r, "events") == 1);
    cr_assert(size_of(r, "regions") == 0);
    const char *run = run_of(c);
    cr_assert(beats_of(run, 0) >= 46 && beats_of(run, 1) >= 45);
  }
}

/* LLVM's tools interface reports only the call, so it is not among them. */
Test(command_record, regions_that_one_call_opens_are_distinguished) {
  for (int c = 0; c < RECORD_WAYS && *record_ways[c].options == '\0'; c++) {
    if (!build_program(record_ways[c].compiler, "branches")) continue;
    cr_assert(record(c, "-o run.%d -- ./branches", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(number_of(first_region(r), "period") == 2);
    cr_assert(number_of(first_region(r), "iterations") == 30);
  }
}

/* What a program does at first may repeat itself too. (Waiting actively for a busy
 * machine, a few regions may take most of the time.) */
Test(command_record, the_level_is_that_of_most_time) {
  cr_assert(setenv("OMP_WAIT_POLICY", "passive", 1) == 0);
  FOR_EACH_WAY(c, "inside") {
    cr_assert(record(c, "-o run.%d -- ./inside 20000 6", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(!strcmp(text_of(r, "level"), "worksharing"));
    cr_assert(number_of(first_region(r), "iterations") == 20000);
    r = tsanom_json("speedup run.%d --level regions --json", c);
    cr_assert(number_of(first_region(r), "iterations") == 6);
  }
}

Test(command_record, a_killed_program_keeps_what_was_recorded) {
  FOR_EACH_WAY(c, "loop") {
    shell_ok("tsanom record %s -o run.%d -- ./loop 1000 400; test $? -eq 137",
             record_ways[c].options, c);
    json_t *r = tsanom_json("speedup run.%d --iterations 1000 --json", c);
    cr_assert(json_is_false(json_object_get(r, "finished")));
    cr_assert(number_of(r, "events") == 1200);
    cr_assert(number_of(first_region(r), "iterations") == 399); /* the 400th may go on */
    const json_t *prediction = json_object_get(r, "prediction");
    cr_assert(number_of(prediction, "expected") == 1000);
    /* On a machine that becomes slower, iterations drift. */
    cr_assert(json_is_true(json_object_get(prediction, "drifts")) ||
              number_of(prediction, "total_s") > number_of(r, "total_s"));
    r = tsanom_json("rate run.%d -w 10 --json", c);
  }
}

Test(command_record, a_baseline_is_measured_and_the_threads_restored) {
  FOR_EACH_WAY(c, "loop") {
    cr_assert(record(c, "--baseline 1:8 -o run.%d -- ./loop 60", c).status == 5);
    json_t *r = tsanom_json("speedup run.%d --baseline 1 --json", c);
    const json_t *region = first_region(r);
    cr_assert(number_of(region, "baseline_threads") == 1);
    cr_assert(number_of(region, "current_threads") == 2);
    double speedup = number_of(region, "baseline_s") / number_of(region, "current_s");
    cr_assert(number_of(region, "speedup") > speedup * 0.999 &&
              number_of(region, "speedup") < speedup * 1.001);
    size_t events, alone = ended_regions(run_of(c), 1, &events);
    cr_assert(alone == 8 * 3, "%zu regions ran alone", alone);
  }
}

/* After the baseline, too, each N-th region is a beat. */
Test(command_record, beats_and_a_baseline_do_not_disturb_each_other) {
  enum { ITERATIONS = 50, REGIONS = 3 * ITERATIONS };
  if (!build_program("gcc", "loop")) return;
  for (int every = 1; every <= 4; every++) {
    outcome o =
        tsanom("record --baseline 1:5 --heartbeat-every %d -o run.%d -- ./loop %d", every,
               every, ITERATIONS);
    cr_assert(o.status == 5, "%s", o.err);
    const char *run = run_of(every);
    cr_assert(beats_of(run, 0) == (REGIONS + every - 1) / every, "%d: %g", every,
              beats_of(run, 0));
  }
}

Test(command_record, another_run_is_the_baseline) {
  FOR_EACH_WAY(c, "loop") {
    shell_ok("OMP_NUM_THREADS=1 tsanom record %s -o one.%d -- ./loop 60; test $? -eq 5",
             record_ways[c].options, c);
    cr_assert(record(c, "-o two.%d -- ./loop 40", c).status == 5);
    json_t *one = tsanom_json("speedup one.%d --json", c);
    json_t *r = tsanom_json("speedup two.%d --baseline one.%d --json", c, c);
    const json_t *region = first_region(r);
    double baseline_s = number_of(first_region(one), "current_s");
    cr_assert(number_of(region, "iterations") == 40);
    cr_assert(number_of(region, "baseline_threads") == 1);
    cr_assert(number_of(region, "current_threads") == 2);
    cr_assert(number_of(region, "baseline_s") == baseline_s);
    cr_assert(number_of(region, "speedup") ==
              baseline_s / number_of(region, "current_s"));
    double mean_s = number_of(first_region(one), "current_mean_s");
    cr_assert(number_of(region, "baseline_mean_s") == mean_s);
    cr_assert(number_of(region, "whole_speedup") ==
              mean_s / number_of(region, "current_mean_s"));
    cr_assert(json_is_null(json_object_get(first_region(one), "whole_speedup")));
    /* A run of another program has no such loop. */
    if (!build_program(record_ways[c].compiler, "odd")) continue;
    cr_assert(record(c, "-o odd.%d -- ./odd nested", c).status == 0);
    r = tsanom_json("speedup two.%d --baseline odd.%d --json", c, c);
    cr_assert(json_is_null(json_object_get(first_region(r), "speedup")));
  }
  CHECK_REJECTED(tsanom("speedup two.0 --baseline no-such-run"), 2, "--baseline");
}

Test(command_record, beats_every_n_regions) {
  if (!build_program("gcc", "loop")) return;
  check_status(tsanom("record --heartbeat-every 10 -o run -- ./loop 100"), 5);
  cr_assert(beats_of("run", 0) == 30 && beats_of("run", 1) == 30);
}

Test(command_record, period_reads_the_regions_of_a_run) {
  if (!build_program("gcc", "loop")) return;
  check_status(tsanom("record -o run -- ./loop 20"), 5);
  json_t *r = tsanom_json("period run --json");
  const json_t *periods = json_object_get(r, "periods");
  cr_assert(number_of(r, "samples") == 60 && json_array_size(periods) == 1);
  cr_assert(number_of(json_array_get(periods, 0), "period") == 3);
  const char *next = json_string_value(item_of(r, "next", 0));
  cr_assert(next && strstr(next, "main"));
}

Test(command_record, damaged_places_are_reported) {
  if (!build_program("gcc", "loop")) return;
  check_status(tsanom("record -o run -- ./loop 10"), 5);
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t10\t/a\n7\trf\t1\t/b\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 27", "line 3");
  write_text("run/regions/places.tsv", "something else\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "tsanom places 3",
                 "version 1 or 2");
  write_text("run/regions/places.tsv", "tsanom places 2\n0\trf\t10\t/a\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 16", "line 2", "identity");
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t-10\t/a\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 16", "line 2");
  shell_ok(
      "printf 'tsanom places 1\\n0\\trf\\t10\\t/a\\0b\\n1\\trf\\t20\\t/a\\n' "
      ">run/regions/places.tsv");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 16", "line 2");
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t10\t/a"); /* no end */
  tsanom_ok("speedup run");
}

/* --max-size counts the records of all threads, which take 16 bytes each. */
Test(command_record, size_is_limited) {
  static const char *const wrong[] = {"",
                                      "1K",
                                      "65535",
                                      "64KB",
                                      "K",
                                      "1.5M",
                                      "-1M",
                                      "99999999999999999999G",
                                      "20000000000G"};
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    outcome o = record(c, "--max-size 64K -o run%d -- ./loop 3000", c);
    char path[16];
    (void)snprintf(path, sizeof path, "run%d", c);
    cr_assert(o.status == 5 && *o.err == '\0', "%s", o.err);
    cr_assert(strstr(messages_of(path), "--max-size allows"));
    tsanom_runs_info info = info_of(path);
    cr_assert(info.state == TSANOM_RUN_FINISHED);
    uint64_t records = info.events + info.beats;
    cr_assert(records <= 4096 && records > 3072, "%llu", (unsigned long long)records);
    check_quiet(record(c, "--max-size 1G -o whole%d -- ./loop 3000", c), 5);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    outcome o = tsanom("record --max-size '%s' -o run -- true", wrong[i]);
    cr_assert(o.status == 2 && strstr(o.err, "--max-size"), "%s: %s", wrong[i], o.err);
  }
}

Test(command_record, failing_allocations_are_reported_and_leak_nothing) {
  if (!build_program("gcc", "loop")) return;
  check_status(tsanom("record --cpu-time -o run -- ./loop 10"), 5);
  test_allocator counter = {.fail_at = 1};
  for (tsanom_status status = TSANOM_E_MEMORY; status != TSANOM_OK; counter.fail_at++) {
    tsanom_exec exec = test_exec(&counter);
    tsanom_runs *run = NULL;
    tsanom_runs_spmd_data spmd;
    size_t count = 0;
    counter.calls = 0;
    status = tsanom_runs_open("run", NULL, &exec, &run);
    cr_assert(status == TSANOM_OK || !run);
    if (status == TSANOM_OK) status = tsanom_runs_spmd(run, &exec, &spmd);
    if (status == TSANOM_OK) {
      status =
          tsanom_runs_events(run, TSANOM_RUNS_LEVEL_REGIONS, 0, &exec, NULL, 0, &count);
    }
    cr_assert(status == TSANOM_OK ? count == 30 : status == TSANOM_E_MEMORY);
    tsanom_runs_destroy(run);
    cr_assert(counter.live == 0);
  }
  cr_assert(counter.fail_at > 20);
}

/* How often a point of a picture is at another x than the point before. */
static int different_places(const char *name) {
  FILE *file = fopen(name, "r");
  char *line = NULL;
  size_t capacity = 0;
  double x = 0, before = 0;
  int different = 0;
  while (getline(&line, &capacity, file) > 0) {
    if (sscanf(line, " <use xlink:href='#gpPt6' transform='translate(%lf", &x) != 1)
      continue;
    different += x != before;
    before = x;
  }
  fclose(file);
  free(line);
  return different;
}

/* Of iterations of some microseconds: where one of them loses its processor, all others may be at
 * two places, so that one of some runs decides. */
Test(command_record, speedup_draws_a_picture) {
  enum { TRIES = 5 };
  int places = 0;
  if (!build_program("gcc", "loop")) return;
  for (int i = 0; i < TRIES && places <= 20; i++) {
    shell_ok("rm -rf run");
    check_status(tsanom("record --baseline 1 -o run -- ./loop 100"), 5);
    outcome o = CHECK_PRINTS(tsanom("speedup run --plot p.svg --until 1000"), "loop.c:");
    cr_assert(!strstr(o.out, "--baseline"), "%s", o.out);
    check_svg("p.svg");
    places = different_places("p.svg");
  }
  cr_assert(places > 20, "%d", places);
  check_status(tsanom("record -o equal -- ./loop 20"), 5);
  cr_assert(strstr(tsanom("speedup equal").out, "--baseline 1"));
  CHECK_REJECTED(tsanom("speedup run --until 0 --plot q.svg"), 3, "no iterations");
}

/* The command analyzes the values that the library returns. Whether their period is that
 * of the program depends on the machine. */
Test(command_record, active_threads_over_time) {
  FOR_EACH_WAY(c, "levels") {
    check_status(record(c, "-o run.%d -- ./levels 3", c), 0);
    const char *path = run_of(c);
    tsanom_runs_info info;
    tsanom_runs *run = open_run(path, &info);
    enum { SHOWN = 4096 }; /* a run on a busy machine has more */
    double active[SHOWN], most = 0;
    size_t count;
    cr_assert(tsanom_runs_active(run, .002, NULL, active, SHOWN, &count) == TSANOM_OK);
    for (size_t i = 0; i < count && i < SHOWN; i++) most = fmax(most, active[i]);
    cr_assert(count > 0 && most > 0.999 && most < 16.001, "%zu, %g", count, most);
    json_t *r = tsanom_json("period run.%d --active --interval 0.002 --json", c);
    cr_assert(number_of(r, "samples") == (double)count);
    cr_assert(number_of(r, "interval_s") == .002);
    cr_assert(number_of(r, "max_period") == (double)(count / 4));
    check_status(tsanom("period run.%d --active --events", c), 2);
    check_status(tsanom("period run.%d --interval 1", c), 2);
  }
}
