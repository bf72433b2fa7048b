/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of several threads that open regions of their own: their iterations are those of one of them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "recorded.h"
#include "support/random.h"

TestSuite(record_openers, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* One of two to four threads has four times the work of each other one. They begin at different times, and
 * some end early. Returns how many turns the busiest has. */
static size_t choose(uint64_t *seed, char *arguments, size_t bytes) {
  size_t threads = random_between(seed, 2, 4), busiest = random_between(seed, 1, threads);
  size_t most = random_between(seed, 60, 150);
  for (size_t i = 1, used = 0; i <= threads; i++) {
    size_t turns = i == busiest ? most : random_between(seed, 10, 80);
    size_t all = i == busiest ? 24000000 : random_between(seed, 1000000, 6000000);
    size_t wait = random_between(seed, 0, 1) * random_between(seed, 0, 30);
    used += (size_t)snprintf(arguments + used, bytes - used, " %zu:%zu:%zu:1", turns,
                             all / turns, wait);
  }
  return most;
}

static void check_beats(const char *arguments, size_t team, size_t turns) {
  json_t *r = tsanom_json("rate run --json");
  const json_t *threads = json_object_get(r, "threads"), *thread;
  size_t i;
  cr_assert(json_array_size(threads) >= team);
  json_array_foreach(threads, i, thread) {
    cr_assert(number_of(thread, "beats") == (i < team ? (double)turns : 0), "%s: %g",
              arguments, number_of(thread, "beats"));
  }
}

Test(record_openers, iterations_are_those_of_the_thread_that_works_most) {
  uint64_t seed = 51;
  FOR_EACH_WAY(way, "openers") {
    for (int trial = 0; trial < CASES(6); trial++) {
      char arguments[200];
      size_t team = random_between(&seed, 1, 2),
             turns = choose(&seed, arguments, sizeof arguments);
      shell_ok("rm -rf run");
      cr_assert(record(way, "-o run -- ./openers %zu%s", team, arguments).status == 0);
      json_t *r = tsanom_json("speedup run --json");
      double found = number_of(json_object_get(r, "main_loop"), "iterations");
      cr_assert(found == (double)turns, "%s: %g", arguments, found);
      check_beats(arguments, team, turns);
    }
  }
}

/* A thread for each job: the next one goes on with the iterations, unless another thread works beside. */
Test(record_openers, threads_one_after_the_other_have_one_loop) {
  if (!build_program("gcc", "openers")) return;
  tsanom_ok("record -o run -- ./openers 2 30:20000:0:5");
  check_beats("jobs", 2, 150);
  shell_ok("rm -r run");
  tsanom_ok("record -o run -- ./openers 1 10:10000:0:3 400:100000:0:1");
  check_beats("beside", 1, 400);
}

/* What runs beside a loop is said. The time is that of the process; the threads of one team are compared. */
Test(record_openers, threads_with_regions_of_their_own_are_reported) {
  if (!build_program("gcc", "openers")) return;
  tsanom_ok("record -o run -- ./openers 2 2000:9000:0:1 2000:3000:0:1");
  cr_assert(strstr(messages_of("run"), "several threads open regions of their own"));
  json_t *r = tsanom_json("summary run --json");
  const json_t *about = item_of(r, "runs", 0);
  cr_assert(number_of(about, "threads") == 5);
  cr_assert(number_of(json_object_get(about, "team"), "processes") == 2);
}
