/* SPDX-License-Identifier: BSD-3-Clause */
/* Why the iterations of recorded programs are slow. On a busy machine other iterations
 * are slow, too. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"

TestSuite(record_slow, .init = enter_folder, .fini = leave_folder, .timeout = 240);

enum { TRIES = 10 };

/* The finding that has iteration 65; NULL: none. */
static const json_t *planted(const json_t *run) {
  const json_t *slow = json_object_get(run, "slow");
  for (size_t i = 0; i < json_array_size(slow); i++) {
    const json_t *one = json_array_get(slow, i);
    if (number_of(one, "first") <= 65 && number_of(one, "last") >= 65 &&
        number_of(one, "ratio") > 3) {
      return one;
    }
  }
  return NULL;
}

static bool is_found(const char *path, const char *reason) {
  json_t *r = tsanom_json("slow %s --json", path);
  const json_t *one = planted(item_of(r, "runs", 0));
  bool is_right = one && strstr(text_of(one, "region"), "compute") &&
                  json_integer_value(json_object_get(one, "thread")) == 1;
  if (is_right) {
    const char *found = text_of(one, "reason");
    is_right = !strcmp(found, reason) || !strcmp(found, "ready");
  }
  return is_right;
}

/* Whether the first finding is the stretch of work that the program makes. */
static bool has_stretch_of_work(const json_t *run) {
  const json_t *first = item_of(run, "slow", 0);
  return first && json_is_true(json_object_get(first, "of_processor")) &&
         !strcmp(text_of(first, "kind"), "stretch") &&
         !strcmp(text_of(first, "reason"), "work") && number_of(first, "first") == 60 &&
         number_of(first, "last") == 69 && strstr(text_of(first, "region"), "compute") &&
         number_of(first, "thread") == 1;
}

/* Both threads have one processor, so that each waits for it as long as it computes. A host
 * that stops it in an iteration makes that one longer: one of some runs decides. */
Test(record_slow, work_is_found_where_threads_wait_for_a_processor) {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (!build_program("gcc", "uneven")) return;
  cr_assert(sched_getaffinity(0, sizeof all, &all) == 0);
  size_t processor = 0;
  while (!CPU_ISSET(processor, &all)) processor++;
  CPU_SET(processor, &one);
  cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
  setenv("OMP_WAIT_POLICY", "passive", 1);
  const json_t *run = NULL;
  for (int try = 0; try < TRIES && !has_stretch_of_work(run); try++) {
    shell_ok("rm -rf run");
    tsanom_ok("record -o run -- ./uneven");
    run = item_of(tsanom_json("slow run --json"), "runs", 0);
  }
  cr_assert(has_stretch_of_work(run), "%s", tsanom("slow run").out);
  cr_assert(number_of(run, "detectable_processor_lasting") >= 1.4);
  cr_assert(strstr(tsanom("slow run").out, "times the processor time"));
}

/* Record the runs r0 to r4, and r5 to r9, whose iterations take 60 times as long. */
static void record_labeled(void) {
  for (int i = 0; i < 10; i++) {
    shell_ok("rm -rf r%d", i);
    tsanom_ok(
        "record -o r%d --label commit=%s --label host=h%d --label n=%d --label user=%c "
        "-- ./waits %d",
        i, i < 5 ? "1a" : "2b", i % 2, i, i < 5 ? 'a' + i % 4 : 'x', i < 5 ? 1 : 60);
  }
}

/* Commits and users distinguish the runs; hosts do not; every run's own number shows
 * nothing. A machine that stops a short run for a second makes it as long as the others. */
Test(record_slow, labels_tell_runs_apart) {
  if (!build_program("gcc", "waits")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  static const char comparison[] = "compare r0 r1 r2 r3 r4 --against r5 r6 r7 r8 r9";
  json_t *r = NULL;
  for (int try = 0; try < TRIES && !(r && !strcmp(text_of(r, "verdict"), "slower"));
       try++) {
    record_labeled();
    r = tsanom_json("%s --json", comparison);
  }
  cr_assert_str_eq(text_of(r, "verdict"), "slower");
  const json_t *labels = json_object_get(r, "labels");
  cr_assert(json_array_size(labels) == 2);
  cr_assert_str_eq(text_at(json_array_get(labels, 0), 0), "commit");
  cr_assert(strstr(tsanom("%s", comparison).out,
                   "The runs of A and B differ in commit (A: 1a; B: 2b), or in user (A: "
                   "a, b, c and more; B: x).\n"),
            "%s", tsanom("%s", comparison).out);
  for (int i = 0; i < 10; i++) {
    const char *commit = i == 1 ? ": none" : i && i < 5 ? "=1a" : "=2b";
    shell("printf 'host=h%d\ncommit%s' > r%d/regions/labels", i ? 1 : 2, commit, i);
  }
  cr_assert(strstr(tsanom("%s", comparison).out,
                   "host (A: h2, h1; B: h1) and commit (A: 2b, none, 1a; B: 2b)"),
            "%s", tsanom("%s", comparison).out);
  for (int i = 0; i < 10; i++) shell("printf host=h%d > r%d/regions/labels", i % 2, i);
  cr_assert(strstr(tsanom("%s", comparison).out, "No labels tell"));
  static const char *const bad[] = {"mkfifo", "truncate -s 1T", "ln -s /dev/zero"};
  for (size_t i = 0; i < 3; i++) {
    shell("rm r3/regions/labels && %s r3/regions/labels", bad[i]);
    CHECK_REJECTED(tsanom("%s", comparison), 3, "r3/regions/labels");
  }
  CHECK_REJECTED(tsanom("record --label commit -- ./waits"), 2, "KEY=VALUE");
  CHECK_REJECTED(tsanom("record --label =1 -- ./waits"), 2, "KEY=VALUE");
}

/* Whether the comparison of a run with another one names a region as most of it. */
static bool is_most(const char *slower, const char *name) {
  char *out = tsanom("compare one one one one one --against %s %s %s %s %s", slower,
                     slower, slower, slower, slower)
                  .out;
  const char *most = strstr(out, "; most of it in ");
  cr_assert(!strncmp(out, "B is slower: ", 13), "%s", out);
  return most && strstr(most, name) && strstr(most, name) < strchr(most, '\n');
}

Test(record_slow, functions_of_cpp_have_their_own_numbers) {
  if (!has_openmp("g++")) return;
  cr_assert(build_kept("g++ -g -O2 -fopenmp", "templates.cc", "templates"));
  setenv("OMP_WAIT_POLICY", "passive", 1);
  tsanom_ok("record -o one -- ./templates 1 1");
  tsanom_ok("record -o solve -- ./templates 9 1");
  tsanom_ok("record -o all -- ./templates 7 7");
  const json_t *changes = json_object_get(
      tsanom_json("compare one one one one one --against all all all all all --json"),
      "changes");
  size_t of_each[4] = {0};
  for (size_t i = 0; i < json_array_size(changes); i++) {
    static const char *const names[] = {"assemble<", "solve<", "smooth<", "longer<"};
    const json_t *one = json_array_get(changes, i);
    for (size_t k = 0; k < i; k++) {
      cr_assert_str_neq(text_of(json_array_get(changes, k), "name"),
                        text_of(one, "name"));
    }
    for (int k = 0; k < 4; k++) {
      of_each[k] += !strncmp(text_of(one, "name"), "void ", 5) &&
                    strstr(text_of(one, "name"), names[k]);
    }
    cr_assert(!strstr(text_of(one, "name"), ".cc:"));
  }
  for (int k = 0; k < 4; k++)
    cr_assert(of_each[k] == (k < 3 ? 1 : 2), "%d: %zu", k, of_each[k]);
  cr_assert(is_most("solve", "::solve<"));
  cr_assert(!is_most("all", ""));
}

/* Record the program in some runs, of which one decides; its path lives until the next call. */
static const char *found_in(const char *argument, const char *reason) {
  static char path[32];
  for (int try = 0; try < TRIES; try++) {
    snprintf(path, sizeof path, "run%s.%d", argument, try);
    tsanom_ok("record -o %s -- ./uneven %s", path, argument);
    if (is_found(path, reason)) return path;
  }
  cr_assert(false, "%s", tsanom("slow %s", path).out);
  return NULL;
}

Test(record_slow, region_thread_and_reason_are_those_planted) {
  char works[32];
  if (!build_program("gcc", "uneven")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  snprintf(works, sizeof works, "%s", found_in("", "work"));
  const char *sleeps = found_in("sleeps", "blocked");
  json_t *r = tsanom_json("compare %s --against %s --json", works, sleeps);
  const json_t *changes = json_object_get(r, "changes");
  size_t found = 0;
  for (size_t i = 0; i < json_array_size(changes); i++) {
    const json_t *one = json_array_get(changes, i);
    found += !strcmp(text_of(one, "kind"), "region") &&
             !strncmp(text_of(one, "name"), "compute", 7);
    found += !strcmp(text_of(one, "name"), "thread 1");
  }
  cr_assert(found == 2, "%s", tsanom("compare %s --against %s", works, sleeps).out);
}
