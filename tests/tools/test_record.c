/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record and speedup on programs that are built as a user would, by gcc and
 * by clang, for both runtimes. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/runs.h>

#include "recorded.h"
#include "run.h"
#include "support/allocator.h"

TestSuite(command_record, .init = enter_folder, .fini = leave_folder, .timeout = 240);

static tsanom_runs_stream stream_of(const tsanom_runs *run, int32_t part, size_t index) {
  tsanom_runs_stream stream;
  cr_assert(tsanom_runs_stream_at(run, part, index, &stream) == TSANOM_OK);
  return stream;
}

static double beats_of(const char *path, uint32_t stream) {
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  double beats = (double)stream_of(run, TSANOM_RUNS_BEATS, stream).count;
  tsanom_runs_close(run);
  return beats;
}

Test(command_record, regions_are_found_and_the_program_is_as_without) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    cr_assert(shell("./loop 60 >plain") == 5);
    outcome o = record(c, "-o run.%d -- ./loop 60", c);
    cr_assert(o.status == 5 && *o.err == '\0', "%s", o.err);
    write_text("recorded", o.out);
    cr_assert(shell("cmp plain recorded") == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    const json_t *region = first_region(r);
    cr_assert(json_array_size(json_object_get(r, "regions")) == 1);
    cr_assert(!strcmp(text_of(r, "level"), "regions"));
    cr_assert(json_is_true(json_object_get(r, "finished")));
    cr_assert(number_of(r, "events") == 180 && number_of(region, "period") == 3);
    cr_assert(number_of(region, "iterations") == 60);
    cr_assert(number_of(region, "current_threads") == 2);
    cr_assert(number_of(region, "total_s") <= number_of(r, "total_s"));
    const char *start =
        text_of(region, "start"); /* clang's outlined functions tell less */
    cr_assert(strstr(start, "main") || strstr(start, ".omp_outlined."), "%s", start);
    json_decref(r);
    /* A beat an iteration and thread, but for those before the loop was found. */
    char run[16];
    snprintf(run, sizeof run, "run.%d", c);
    for (uint32_t t = 0; t < 2; t++) {
      double beats = beats_of(run, t);
      cr_assert(beats >= 56 && beats <= 60, "%g beats", beats);
    }
  }
}

Test(command_record, every_thread_has_its_regions) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    char run[16];
    snprintf(run, sizeof run, "run.%d", c);
    cr_assert(record(c, "--cpu-time -o %s -- ./loop 20", run).status == 5);
    tsanom_runs_info info;
    tsanom_runs *found = open_run(run, &info);
    cr_assert(info.event_streams == 2 && info.state == TSANOM_RUNS_FINISHED);
    cr_assert(info.events_dropped == 0);
    for (uint32_t s = 0; s < 2; s++) {
      tsanom_runs_stream stream = stream_of(found, TSANOM_RUNS_REGIONS, s);
      cr_assert(stream.count >= 180 && stream.count <= 256, "%d", (int)stream.count);
      int count[4] = {0}, depth = 0;
      for (size_t i = 0; i < stream.count; i++) {
        tsanom_runs_event event;
        cr_assert(tsanom_runs_decode(stream.tag[i], &event) == TSANOM_OK);
        count[event.kind]++;
        if (event.kind == TSANOM_REGIONS_BEGIN) depth++;
        if (event.kind == TSANOM_REGIONS_END) {
          depth--;
          cr_assert(event.threads == 2);
        }
        cr_assert(depth >= 0 && depth <= 1);
        cr_assert(i == 0 || stream.time[i] >= stream.time[i - 1]);
        cr_assert(event.kind != TSANOM_REGIONS_CPU ||
                  (event.cpu_s >= 0 && event.cpu_s < 10));
        cr_assert(event.kind == TSANOM_REGIONS_CPU ||
                  (event.place >= 0 && (size_t)event.place < info.places));
      }
      cr_assert(count[TSANOM_REGIONS_BEGIN] == 60 && count[TSANOM_REGIONS_END] == 60);
      cr_assert(count[TSANOM_REGIONS_CPU] == 60 && depth == 0);
    }
    tsanom_runs_close(found);
  }
}

/* Regions of one thread that the compiler opens itself are recorded up to a depth. LLVM's
 * tools interface reports all. */
Test(command_record, regions_of_one_thread_nest_deeply) {
  static const size_t depth[RECORD_WAYS] = {20, 16, 20};
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "deep")) continue;
    char run[16];
    snprintf(run, sizeof run, "run.%d", c);
    cr_assert(record(c, "-o %s -- ./deep", run).status == 0);
    tsanom_runs_info info;
    tsanom_runs *found = open_run(run, &info);
    tsanom_runs_stream stream = stream_of(found, TSANOM_RUNS_REGIONS, 0);
    size_t ended = 0;
    for (size_t i = 0; i < stream.count; i++) {
      tsanom_runs_event event;
      cr_assert(tsanom_runs_decode(stream.tag[i], &event) == TSANOM_OK);
      ended += event.kind == TSANOM_REGIONS_END;
    }
    cr_assert(stream.count == 10 * depth[c] && ended == 5 * depth[c], "%s: %zu of %zu",
              record_ways[c].compiler, ended, (size_t)stream.count);
    tsanom_runs_close(found);
  }
}

Test(command_record, worksharing_tells_the_iterations_inside_one_region) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "inside")) continue;
    cr_assert(record(c, "-o run.%d -- ./inside 50", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(!strcmp(text_of(r, "level"), "worksharing"));
    cr_assert(number_of(first_region(r), "period") == 3);
    cr_assert(number_of(first_region(r), "iterations") == 50);
    cr_assert(number_of(first_region(r), "current_threads") == 2);
    json_decref(r);
    r = tsanom_json("speedup run.%d --level regions --json", c);
    cr_assert(number_of(r, "events") == 1);
    cr_assert(json_array_size(json_object_get(r, "regions")) == 0);
    json_decref(r);
    char run[16];
    snprintf(run, sizeof run, "run.%d", c);
    cr_assert(beats_of(run, 0) >= 46 && beats_of(run, 1) >= 45);
  }
}

/* LLVM's tools interface reports only the call, so it is not among them. */
Test(command_record, regions_that_one_call_opens_are_told_apart) {
  for (int c = 0; c < RECORD_WAYS && *record_ways[c].options == '\0'; c++) {
    if (!build_program(record_ways[c].compiler, "branches")) continue;
    cr_assert(record(c, "-o run.%d -- ./branches", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(number_of(first_region(r), "period") == 2);
    cr_assert(number_of(first_region(r), "iterations") == 30);
    json_decref(r);
  }
}

/* What a program does at first may repeat itself too. (Waiting actively for a busy
 * machine, a few regions may take most of the time.) */
Test(command_record, the_level_is_that_of_most_time) {
  cr_assert(setenv("OMP_WAIT_POLICY", "passive", 1) == 0);
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "inside")) continue;
    cr_assert(record(c, "-o run.%d -- ./inside 20000 6", c).status == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(!strcmp(text_of(r, "level"), "worksharing"));
    cr_assert(number_of(first_region(r), "iterations") == 20000);
    json_decref(r);
    r = tsanom_json("speedup run.%d --level regions --json", c);
    cr_assert(number_of(first_region(r), "iterations") == 6);
    json_decref(r);
  }
}

Test(command_record, a_killed_program_keeps_what_was_recorded) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    cr_assert(shell("'" TSANOM_COMMAND "' record %s -o run.%d -- ./loop 1000 400; "
                    "test $? -eq 137",
                    record_ways[c].options, c) == 0);
    json_t *r = tsanom_json("speedup run.%d --iterations 1000 --json", c);
    cr_assert(json_is_false(json_object_get(r, "finished")));
    cr_assert(number_of(r, "events") == 1200);
    cr_assert(number_of(first_region(r), "iterations") == 399); /* the 400th may go on */
    const json_t *prediction = json_object_get(r, "prediction");
    cr_assert(number_of(prediction, "expected") == 1000);
    /* On a machine that becomes slower, iterations drift. */
    cr_assert(json_is_true(json_object_get(prediction, "drifts")) ||
              number_of(prediction, "total_s") > number_of(r, "total_s"));
    json_decref(r);
    r = tsanom_json("rate run.%d -w 10 --json", c);
    json_decref(r);
  }
}

Test(command_record, a_baseline_is_measured_and_the_threads_restored) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    cr_assert(record(c, "--baseline 1:8 -o run.%d -- ./loop 60", c).status == 5);
    json_t *r = tsanom_json("speedup run.%d --baseline 1 --json", c);
    const json_t *region = first_region(r);
    cr_assert(number_of(region, "baseline_threads") == 1);
    cr_assert(number_of(region, "current_threads") == 2);
    double speedup = number_of(region, "baseline_s") / number_of(region, "current_s");
    cr_assert(number_of(region, "speedup") > speedup * 0.999 &&
              number_of(region, "speedup") < speedup * 1.001);
    json_decref(r);
    char run[16];
    snprintf(run, sizeof run, "run.%d", c);
    tsanom_runs_info info;
    tsanom_runs *found = open_run(run, &info);
    tsanom_runs_stream stream = stream_of(found, TSANOM_RUNS_REGIONS, 0);
    int alone = 0;
    for (size_t i = 0; i < stream.count; i++) {
      tsanom_runs_event event;
      tsanom_runs_decode(stream.tag[i], &event);
      alone += event.kind == TSANOM_REGIONS_END && event.threads == 1;
    }
    cr_assert(alone == 8 * 3, "%d regions ran alone", alone);
    tsanom_runs_close(found);
  }
}

Test(command_record, another_run_is_the_baseline) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    cr_assert(shell("OMP_NUM_THREADS=1 '" TSANOM_COMMAND
                    "' record %s -o one.%d -- ./loop 60; test $? -eq 5",
                    record_ways[c].options, c) == 0);
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
    json_decref(one);
    json_decref(r);
    /* A run of another program has no such loop. */
    if (!build_program(record_ways[c].compiler, "odd")) continue;
    cr_assert(record(c, "-o odd.%d -- ./odd nested", c).status == 0);
    r = tsanom_json("speedup two.%d --baseline odd.%d --json", c, c);
    cr_assert(json_is_null(json_object_get(first_region(r), "speedup")));
    json_decref(r);
  }
  CHECK_REJECTED(tsanom("speedup two.0 --baseline no-such-run"), 2, "--baseline");
}

Test(command_record, beats_every_n_regions) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(tsanom("record --heartbeat-every 10 -o run -- ./loop 100").status == 5);
  cr_assert(beats_of("run", 0) == 30 && beats_of("run", 1) == 30);
}

Test(command_record, odd_programs_are_defined) {
  /* The parent's 20, and 20 more after its child; the thread's are its own; of a fork
   * before the first region, those of the child, which comes to one first. */
  static const struct {
    const char *deed;
    int events;
  } deeds[] = {{"nested", 20}, {"thread", 20}, {"fork", 40}, {"child", 40}, {"early", 20},
               {"exec", 20},   {"exit", 20},   {"if", 20},   {"cancel", 20}};
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "odd")) continue;
    for (size_t d = 0; d < sizeof deeds / sizeof *deeds; d++) {
      const char *deed = deeds[d].deed;
      int plain = shell("./odd %s >plain", deed);
      outcome o = record(c, "-o %s.%d -- ./odd %s", deed, c, deed);
      /* The parent comes to a region after its child has the run, or the program after
       * the one that it replaced, and says so. */
      bool reports = !strcmp(deed, "early") || !strcmp(deed, "exec");
      cr_assert(o.status == plain && !strstr(o.err, "is not recorded") == !reports,
                "%s: %d: %s", deed, o.status, o.err);
      write_text("recorded", o.out);
      cr_assert(shell("cmp plain recorded") == 0, "%s", deed);
      json_t *r = tsanom_json("speedup %s.%d --json", deed, c);
      bool exec = !strcmp(deed, "exec");
      double events = number_of(r, "events");
      cr_assert(events == deeds[d].events, "%s: %g", deed, events);
      cr_assert(json_is_true(json_object_get(r, "finished")) == !exec);
      cr_assert(number_of(first_region(r), "period") == 1);
      json_decref(r);
    }
  }
}

Test(command_record, regions_have_any_number_of_variables) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "values")) continue;
    cr_assert(shell("./values >plain") == 0);
    outcome o = record(c, "-o run.%d -- ./values", c);
    cr_assert(o.status == 0 && *o.err == '\0', "%s", o.err);
    write_text("recorded", o.out);
    cr_assert(shell("cmp plain recorded") == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(number_of(r, "events") == 100 && number_of(first_region(r), "period") == 5);
    json_decref(r);
  }
}

static size_t streams_of(const char *path) {
  tsanom_runs_info info;
  tsanom_runs_close(open_run(path, &info));
  return info.beat_streams;
}

/* The iterations that a stream has beats of. */
static size_t iterations_of(const char *path, uint32_t stream, uint32_t *iteration) {
  enum { MOST = 64 };
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  tsanom_runs_stream about = stream_of(run, TSANOM_RUNS_BEATS, stream);
  cr_assert(about.count <= MOST);
  if (about.count) memcpy(iteration, about.tag, about.count * sizeof *iteration);
  size_t count = about.count;
  tsanom_runs_close(run);
  return count;
}

/* A thread that misses iterations beats with the number of the one it comes back to. */
Test(command_record, teams_of_changing_size_agree_on_the_iteration) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "teams")) continue;
    char run[16];
    snprintf(run, sizeof run, "run.%d", c);
    cr_assert(record(c, "-o %s -- ./teams teams", run).status == 0);
    uint32_t leader[64], other[64];
    size_t beats = iterations_of(run, 0, leader);
    cr_assert(beats >= 56 && beats <= 60, "%zu beats", beats);
    for (size_t i = 1; i < beats; i++) cr_assert(leader[i] == leader[i - 1] + 1);
    cr_assert(iterations_of(run, 1, other) == beats);
    cr_assert(memcmp(leader, other, beats * sizeof *leader) == 0);
    /* The third thread may be another one each time, with a stream of its own; the
     * last iteration is the sixtieth. */
    size_t late = 0;
    uint32_t missed = 0;
    for (uint32_t t = 2; t < streams_of(run); t++) {
      size_t count = iterations_of(run, t, other);
      for (size_t i = 0; i < count; i++) missed += leader[beats - 1] - other[i];
      late += count;
    }
    cr_assert(late == 3 && missed == 20 + 40, "%zu, %u", late, missed);
  }
}

Test(command_record, places_may_be_many) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "teams")) continue;
    cr_assert(shell("./teams places >plain") == 0);
    outcome o = record(c, "-o run.%d -- ./teams places", c);
    cr_assert(o.status == 0 && *o.err == '\0', "%s", o.err);
    write_text("recorded", o.out);
    cr_assert(shell("cmp plain recorded") == 0);
    json_t *r = tsanom_json("speedup run.%d --json", c);
    cr_assert(number_of(r, "events") == 2000);
    cr_assert(number_of(first_region(r), "period") == 200);
    json_decref(r);
  }
}

/* LLVM's runtime has GNU's entry points, and calls its own from some of them. */
Test(command_record, what_gcc_built_may_run_on_llvms_runtime) {
  static const struct {
    const char *program;
    int events, iterations;
  } runs[] = {{"loop 60", 180, 60}, {"inside 50", 150, 50}, {"odd nested", 20, 20}};
  if (!build_program("clang", "loop")) return;
  cr_assert(shell("ldd loop | awk '/omp/ { print $3 }' >runtime") == 0);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(runs[i].program, " "),
             runs[i].program);
    if (!build_program("gcc", name)) return;
    cr_assert(
        shell("export LD_PRELOAD=$(cat runtime); ./%s >plain; s=$?; '" TSANOM_COMMAND
              "' record -o run.%zu -- ./%s >recorded; "
              "test $? -eq $s && cmp plain recorded",
              runs[i].program, i, runs[i].program) == 0);
    json_t *r = tsanom_json("speedup run.%zu --json", i);
    cr_assert(number_of(r, "events") == runs[i].events, "%s", runs[i].program);
    cr_assert(number_of(first_region(r), "iterations") == runs[i].iterations);
    json_decref(r);
  }
}

/* An OpenMP runtime in the launcher would bind its thread to a processor, and the program
 * would inherit that. */
Test(command_record, the_program_may_run_where_it_could_without) {
  cr_assert(shell("OMP_PROC_BIND=true grep Cpus_allowed_list /proc/self/status >plain") ==
            0);
  cr_assert(shell("OMP_PROC_BIND=true '" TSANOM_COMMAND
                  "' record --force -o run -- grep Cpus_allowed_list /proc/self/status "
                  ">recorded && cmp plain recorded") == 0);
}

Test(command_record, a_program_without_regions_leaves_no_run) {
  if (!build_program("gcc", "odd")) return;
  cr_assert(tsanom("record -o run -- ./odd").status == 0);
  CHECK_REJECTED(tsanom("speedup run"), 3, "run/regions/places.tsv", "tsanom record");
  cr_assert(tsanom("record -o run -- ./odd fork").status == 0);
  CHECK_REJECTED(tsanom("record -o run -- ./odd fork"), 3, "run: contains a run already");
}

Test(command_record, programs_that_cannot_be_recorded_are_told_of) {
  CHECK_REJECTED(tsanom("record -o run -- true"), 3, "neither", "libgomp", "libomp",
                 "--force");
  cr_assert(tsanom("record --force -o run -- sh -c 'exit 7'").status == 7);
  CHECK_REJECTED(tsanom("record -o run -- ./missing"), 3, "./missing: cannot run");
  CHECK_REJECTED(tsanom("record -o run -- no-such-program"), 3, "PATH");
  cr_assert(shell("printf '#!/bin/sh\\n' >here && chmod +x here") == 0);
  CHECK_REJECTED(tsanom("record -o run -- here"), 3, "PATH", "./here");
  CHECK_REJECTED(tsanom("record -o no/such/run -- true"), 3, "neither");
  CHECK_REJECTED(tsanom("record --force -o no/such/run -- true"), 3, "no/such/run");
  CHECK_REJECTED(tsanom("record -o run"), 2, "a program is expected");
  CHECK_REJECTED(tsanom("record -o run --baseline 0 -- true"), 2, "--baseline");
  CHECK_REJECTED(tsanom("speedup nothing"), 3, "nothing/regions/places.tsv");
  CHECK_REJECTED(tsanom("speedup a b"), 2, "one run");
  write_text("t.c", "int main(void) { return 0; }\n");
  if (shell("gcc -static t.c -o t 2>/dev/null") != 0) return;
  CHECK_REJECTED(tsanom("record -o run -- ./t"), 3, "statically");
}

/* Neither a program that loads its runtime late, nor one that starts the program. */
Test(command_record, programs_that_come_to_a_runtime_later_need_no_option) {
  if (!has_openmp("gcc")) return;
  write_text("work.c",
             "static int n;\n"
             "int work(void) {\n"
             "  for (int i = 0; i < 20; i++) {\n"
             "#pragma omp parallel\n"
             "#pragma omp atomic\n"
             "    n++;\n"
             "  }\n"
             "  return n > 0 ? 7 : 0;\n"
             "}\n");
  write_text("late.c",
             "#include <dlfcn.h>\n"
             "int main(void) {\n"
             "  void *found = dlsym(dlopen(\"./work.so\", RTLD_NOW), \"work\");\n"
             "  return (*(int (**)(void))&found)();\n"
             "}\n");
  cr_assert(shell("gcc -O2 -fopenmp -fPIC -shared work.c -o work.so && "
                  "gcc -O2 late.c -o late -ldl") == 0);
  outcome o = tsanom("record -o run -- ./late");
  cr_assert(o.status == 7 && *o.err == '\0', "%d: %s", o.status, o.err);
  o = tsanom("record -o other -- env A=B ./late");
  cr_assert(o.status == 7 && *o.err == '\0', "%d: %s", o.status, o.err);
  for (int i = 0; i < 2; i++) {
    json_t *r = tsanom_json("speedup %s --json", i ? "other" : "run");
    cr_assert(number_of(r, "events") == 20);
    json_decref(r);
  }
}

Test(command_record, period_reads_the_regions_of_a_run) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(tsanom("record -o run -- ./loop 20").status == 5);
  json_t *r = tsanom_json("period run --json");
  const json_t *periods = json_object_get(r, "periods");
  cr_assert(number_of(r, "samples") == 60 && json_array_size(periods) == 1);
  cr_assert(number_of(json_array_get(periods, 0), "period") == 3);
  const char *next = json_string_value(json_array_get(json_object_get(r, "next"), 0));
  cr_assert(next && strstr(next, "main"));
  json_decref(r);
}

Test(command_record, damaged_places_are_told_of) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(tsanom("record -o run -- ./loop 10").status == 5);
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t10\t/a\n7\trf\t1\t/b\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 27", "line 3");
  write_text("run/regions/places.tsv", "something else\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "tsanom places 3",
                 "version 1 or 2");
  write_text("run/regions/places.tsv", "tsanom places 2\n0\trf\t10\t/a\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 16", "line 2", "identity");
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t-10\t/a\n");
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 16", "line 2");
  cr_assert(shell("printf 'tsanom places 1\\n0\\trf\\t10\\t/a\\0b\\n1\\trf\\t20\\t/a\\n' "
                  ">run/regions/places.tsv") == 0);
  CHECK_REJECTED(tsanom("speedup run"), 3, "places.tsv", "byte 16", "line 2");
  write_text("run/regions/places.tsv", "tsanom places 1\n0\trf\t10\t/a"); /* no end */
  cr_assert(tsanom("speedup run").status == 0);
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
    tsanom_runs_info info;
    if (!build_program(record_ways[c].compiler, "loop")) continue;
    outcome o = record(c, "--max-size 64K -o run%d -- ./loop 3000", c);
    cr_assert(o.status == 5 && strstr(o.err, "--max-size allows"), "%s", o.err);
    char path[16];
    (void)snprintf(path, sizeof path, "run%d", c);
    tsanom_runs *run = open_run(path, &info);
    cr_assert(info.state == TSANOM_RUNS_FINISHED);
    uint64_t records = info.events + info.beats;
    cr_assert(records <= 4096 && records > 3072, "%llu", (unsigned long long)records);
    tsanom_runs_close(run);
    o = record(c, "--max-size 1G -o whole%d -- ./loop 3000", c);
    cr_assert(o.status == 5 && *o.err == '\0', "%s", o.err);
  }
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    outcome o = tsanom("record --max-size '%s' -o run -- true", wrong[i]);
    cr_assert(o.status == 2 && strstr(o.err, "--max-size"), "%s: %s", wrong[i], o.err);
  }
}

Test(command_record, failing_allocations_are_reported_and_leak_nothing) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(tsanom("record --cpu-time -o run -- ./loop 10").status == 5);
  test_allocator counter = {.fail_at = 1};
  for (tsanom_status status = TSANOM_E_MEMORY; status != TSANOM_OK; counter.fail_at++) {
    tsanom_exec exec = test_exec(&counter);
    tsanom_runs *run = NULL;
    tsanom_runs_spmd_data spmd;
    const tsanom_speedup_event *events;
    size_t count = 0;
    counter.calls = 0;
    status = tsanom_runs_open("run", NULL, &exec, &run);
    cr_assert(status == TSANOM_OK || !run);
    if (status == TSANOM_OK) status = tsanom_runs_spmd(run, &exec, &spmd);
    if (status == TSANOM_OK) {
      status = tsanom_runs_events(run, TSANOM_RUNS_LEVEL_REGIONS, &exec, &events, &count);
    }
    cr_assert(status == TSANOM_OK ? count == 30 : status == TSANOM_E_MEMORY);
    tsanom_runs_close(run);
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

Test(command_record, speedup_draws_a_picture) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(tsanom("record --baseline 1 -o run -- ./loop 100").status == 5);
  outcome o = tsanom("speedup run --plot p.svg --until 1000");
  cr_assert(o.status == 0 && strstr(o.out, "loop.c:"), "%s", o.out);
  cr_assert(!strstr(o.out, "--baseline"), "%s", o.out);
  check_svg("p.svg");
  cr_assert(different_places("p.svg") > 20);
  cr_assert(tsanom("record -o equal -- ./loop 20").status == 5);
  cr_assert(strstr(tsanom("speedup equal").out, "--baseline 1"));
  CHECK_REJECTED(tsanom("speedup run --until 0 --plot q.svg"), 3, "no iterations");
}

/* What each workload does at its smallest size, by its source: arraybench opens regions,
 * the others pass barriers in one. */
static const struct {
  const char *name, *level;
  int period, iterations;
  int runs; /* how many times the loop is entered */
} workloads[] = {
    {"arraybench", "regions", 4, 20, 1}, {"bt", "worksharing", 3, 4, 1},
    {"cg", "worksharing", 3, 50, 2},     {"jacobi", "worksharing", 1, 800, 1},
    {"lu", "worksharing", 2, 40, 1},     {"sp", "worksharing", 2, 20, 1},
};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void check_iterations(const char *run, size_t w) {
  int period = workloads[w].period, iterations = workloads[w].iterations;
  json_t *r = tsanom_json("speedup %s --json", run);
  const json_t *region = first_region(r);
  cr_assert(!strcmp(text_of(r, "level"), workloads[w].level), "%s", run);
  cr_assert(json_array_size(json_object_get(r, "regions")) == 1, "%s", run);
  cr_assert(number_of(region, "period") == period, "%s", run);
  cr_assert(number_of(region, "iterations") == iterations, "%s", run);
  cr_assert(number_of(region, "runs") == workloads[w].runs, "%s", run);
  cr_assert(number_of(region, "parallel_s") > 0 &&
            number_of(region, "parallel_s") <= number_of(region, "total_s") * (1 + 1e-9));
  json_decref(r);
  /* While it ran the loop was found with its third iteration, or its sixth event. */
  int missed = period == 1 ? 6 : 3;
  double beats = beats_of(run, 0);
  cr_assert(beats >= iterations - missed * workloads[w].runs && beats <= iterations,
            "%s: %g beats", run, beats);
}

/* The workloads, without their own heartbeats. */
Test(command_record, every_workload_shows_its_iterations) {
  for (size_t w = 0; w < WORKLOADS; w++) {
    const char *name = workloads[w].name;
    outcome o = tsanom("record -o %s -- " TSANOM_WORKLOADS "/%s --size tiny --threads 2",
                       name, name);
    cr_assert(o.status == 0, "%s: %s", name, o.err);
    check_iterations(name, w);
  }
  if (!build_program("clang", "loop")) return;
  for (size_t w = 0; w < WORKLOADS; w++) {
    const char *name = workloads[w].name;
    bool diffuses = !strcmp(name, "bt") || !strcmp(name, "lu") || !strcmp(name, "sp");
    cr_assert(
        shell("cd '" TSANOM_WORKLOAD_SOURCES "' && clang -O2 -fopenmp -D_GNU_SOURCE "
              "-I../../include -I../anomalies -o \"$OLDPWD/%s.clang\" %s.c workload.c "
              "turns.c options.c ../anomalies/anomaly.c %s '" TSANOM_HEARTBEAT_LIBRARY
              "' " TSANOM_COVERAGE_LIBRARY " -lm -pthread",
              name, name, diffuses ? "diffusion.c" : "") == 0);
    outcome o =
        tsanom("record -o %s.run -- ./%s.clang --size tiny --threads 2", name, name);
    cr_assert(o.status == 0, "%s: %s", name, o.err);
    char run[32];
    snprintf(run, sizeof run, "%s.run", name);
    check_iterations(run, w);
  }
}

/* The command analyzes the values that the library returns. Whether their period is that
 * of the program depends on the machine. */
Test(command_record, active_threads_over_time) {
  for (int c = 0; c < RECORD_WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "levels")) continue;
    outcome o = record(c, "-o run.%d -- ./levels 3", c);
    cr_assert(o.status == 0, "%s", o.err);
    char path[32];
    (void)snprintf(path, sizeof path, "run.%d", c);
    tsanom_runs_info info;
    tsanom_runs *run = open_run(path, &info);
    double active[4096], most = 0;
    size_t count;
    cr_assert(tsanom_runs_active(run, .002, NULL, active, 4096, &count) == TSANOM_OK);
    for (size_t i = 0; i < count; i++) most = active[i] > most ? active[i] : most;
    cr_assert(count > 0 && most > 0.999 && most < 16.001, "%zu, %g", count, most);
    json_t *r = tsanom_json("period run.%d --active --interval 0.002 --json", c);
    cr_assert(number_of(r, "samples") == (double)count);
    cr_assert(number_of(r, "interval_s") == .002);
    cr_assert(number_of(r, "max_period") == (double)(count / 4));
    json_decref(r);
    cr_assert(tsanom("period run.%d --active --events", c).status == 2);
    cr_assert(tsanom("period run.%d --interval 1", c).status == 2);
    tsanom_runs_close(run);
  }
}
