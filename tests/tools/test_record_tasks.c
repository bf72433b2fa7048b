/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded programs whose work is explicit tasks, or one loop. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "recorded.h"

TestSuite(record_tasks, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* The last way, the tools interface, does not see tasks. */
enum { WAYS = RECORD_WAYS - 1, DIVIDED = 20 * 2 * 4095, PARTS = 100 };

/* Three functions; sums lack less than a 64th. */
static void check_counts(const char *run) {
  json_t *r = tsanom_json("speedup %s --json", run);
  const json_t *tasks = json_object_get(r, "tasks");
  cr_assert(json_array_size(tasks) == 3, "%zu", json_array_size(tasks));
  double most = number_of(json_array_get(tasks, 0), "count");
  cr_assert(most <= DIVIDED && most >= DIVIDED * 63. / 64, "%g", most);
  for (size_t i = 1; i < 3; i++) {
    double count = number_of(json_array_get(tasks, i), "count");
    cr_assert(count <= PARTS && count > PARTS - 64, "%g", count);
    cr_assert(strstr(text_of(json_array_get(tasks, i), "place"), "tasks+0x"));
  }
  cr_assert(json_is_null(json_object_get(r, "main_loop")));
}

Test(record_tasks, tasks_are_counted_by_their_functions) {
  for (int c = 0; c < WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "tasks")) continue;
    outcome o = check_status(record(c, "-o run.%d -- ./tasks", c), 0);
    cr_assert(strstr(o.out, "168850"), "%s", o.out);
    check_counts(run_of(c));
  }
}

/* A beat is 64 tasks that a thread creates. */
Test(record_tasks, threads_beat_at_tasks) {
  for (int c = 0; c < WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "tasks")) continue;
    cr_assert(record(c, "-o run.%d -- ./tasks", c).status == 0);
    double beats = beats_of(run_of(c), 0) + beats_of(run_of(c), 1);
    double all = (DIVIDED + 2 * PARTS) / 64.;
    cr_assert(beats > all - 2 && beats <= all, "%g of %g", beats, all);
    cr_assert(record(c, "--heartbeat-every 1 -o one.%d -- ./tasks", c).status == 0);
    char one[16];
    snprintf(one, sizeof one, "one.%d", c);
    cr_assert(beats_of(one, 0) == 1);
  }
}

/* A beat is 16 chunks that a thread takes of a dynamic loop, in a program of one region.
 */
Test(record_tasks, threads_beat_at_chunks) {
  static const char *const kinds[] = {
      "dynamic -DWORD=int", "monotonic:dynamic -DWORD=long", "runtime -DWORD=unsigned",
      "dynamic -DWORD=\"unsigned long\""};
  enum { KINDS = sizeof kinds / sizeof *kinds, CHUNKS = 3200 };
  for (int i = 0; i < WAYS * KINDS; i++) {
    const char *compiler = record_ways[i / KINDS].compiler;
    if (!has_openmp(compiler)) continue;
    shell_ok("%s -O1 -fopenmp -DKIND=%s " TSANOM_TEST_PROGRAMS "/chunks.c -o chunks",
             compiler, kinds[i % KINDS]);
    const char *run = run_of(i);
    outcome o = record(i / KINDS, "-o %s -- env OMP_SCHEDULE=dynamic ./chunks", run);
    cr_assert(o.status == 0 && strcmp(o.out, "64000\n") == 0, "%s%s", o.out, o.err);
    double beats = beats_of(run, 0) + beats_of(run, 1), all = CHUNKS / 16.;
    cr_assert(beats > all - 4 && beats <= all, "%s, %s: %g of %g", compiler,
              kinds[i % KINDS], beats, all);
  }
}

/* Neither are iterations, and who executes tasks is not known: a page accuses nobody. */
Test(record_tasks, steps_of_work_are_no_iterations) {
  if (!build_program("gcc", "tasks") ||
      shell("gcc -O1 -fopenmp -DKIND=dynamic -DWORD=int " TSANOM_TEST_PROGRAMS
            "/chunks.c -o chunks")) {
    return;
  }
  for (int i = 0; i < 2; i++) {
    const char *run = i ? "chunks.run" : "tasks.run";
    cr_assert(record(0, "-o %s -- ./%s", run, i ? "chunks" : "tasks").status == 0);
    cr_assert(beats_of(run, 0) + beats_of(run, 1) > 0);
    outcome o = CHECK_PRINTS(tsanom("summary %s", run), "iterations   none were found");
    cr_assert(i || (strstr(o.out, "tasks, whose times") && !strstr(o.out, "takes")), "%s",
              o.out);
    cr_assert(tsanom("slow %s", run).status != 0);
    o = tsanom_ok("rate %s", run);
    cr_assert(strstr(o.out, "; one thread.") || strstr(o.out, "and show no speed."), "%s",
              o.out);
  }
  outcome o = tsanom("similar tasks.run");
  cr_assert(o.status != 0 && strstr(o.err, "the work of its regions is tasks"), "%s",
            o.err);
}

Test(record_tasks, programs_of_tasks_can_be_learned) {
  if (!build_program("gcc", "tasks")) return;
  for (int i = 0; i < 3; i++) {
    tsanom_ok("record -o run.%d -- ./tasks", i);
  }
  tsanom_ok("learn -o model.json run.0 run.1");
  tsanom_ok("diagnose -m model.json run.2");
}

/* Of a static loop in one region there is nothing to count: a beat is 50 ms of processor
 * time of a thread. */
Test(record_tasks, programs_of_one_loop_can_be_learned) {
  for (int c = 0; c < WAYS; c++) {
    const char *compiler = record_ways[c].compiler;
    if (!has_openmp(compiler)) continue;
    shell_ok(
        "%s -O1 -fopenmp -DKIND=static -DWORD=int -DTERMS=200000 " TSANOM_TEST_PROGRAMS
        "/chunks.c -o chunks",
        compiler);
    for (int i = 0; i < 3; i++) {
      outcome o = record(c, "-o %d.%d -- ./chunks", c, i);
      cr_assert(o.status == 0 && strcmp(o.out, "640000\n") == 0, "%s%s", o.out, o.err);
    }
    char run[8];
    snprintf(run, sizeof run, "%d.0", c);
    cr_assert(beats_of(run, 0) == 0);
    json_t *r = tsanom_json("rate %d.0 --vitals --json", c);
    for (size_t t = 0; t < 2; t++) {
      const json_t *thread = item_of(r, "threads", t);
      const json_t *cpu = json_object_get(json_object_get(thread, "vitals"), "cpu_s");
      double first = json_real_value(json_array_get(cpu, 0));
      double used =
          json_real_value(json_array_get(cpu, json_array_size(cpu) - 1)) - first;
      cr_assert(number_of(thread, "beats") == floor(used / 0.05), "%g s", used);
    }
    CHECK_WARNS(tsanom("learn -o model.json %d.0 %d.1", c, c), "processor time");
    tsanom_ok("diagnose -m model.json %d.2", c);
  }
}

/* An undeferred task nests as deep as the program's stack allows; the recorder takes none
 * of it. */
Test(record_tasks, nested_tasks_take_no_more_stack) {
  for (int c = 0; c < WAYS; c++) {
    if (!build_program(record_ways[c].compiler, "tasks")) continue;
    int depth = 1000;
    while (depth < 1 << 24 &&
           shell("ulimit -c 0; ./tasks %d 2>/dev/null", 2 * depth) == 0) {
      depth *= 2;
    }
    int more = depth / 2;
    for (int i = 0; i < 5; i++, more /= 2) {
      if (shell("ulimit -c 0; ./tasks %d 2>/dev/null", depth + more) == 0) depth += more;
    }
    cr_assert(record(c, "-o deep.%d -- ./tasks %d", c, depth - depth / 32).status == 0);
  }
}
