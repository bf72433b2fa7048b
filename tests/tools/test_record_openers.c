/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of several threads that open regions of their own: their iterations are those of one of them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "recorded.h"
#include "support/random.h"

TestSuite(record_openers, .init = enter_folder, .fini = leave_folder, .timeout = 240);

enum { THREADS = 4 };

typedef struct {
  char arguments[200];
  size_t team, threads, busiest, turns[THREADS];
} openers;

/* One of two to four threads has four times the work of each other one. They begin at different times, and
 * some end early. */
static openers choose(uint64_t *seed) {
  openers o = {.team = random_between(seed, 1, 2),
               .threads = random_between(seed, 2, THREADS)};
  o.busiest = random_between(seed, 0, o.threads - 1);
  for (size_t i = 0, used = 0; i < o.threads; i++) {
    bool is_busiest = i == o.busiest;
    o.turns[i] =
        is_busiest ? random_between(seed, 90, 150) : random_between(seed, 10, 80);
    size_t all = is_busiest ? 24000000 : random_between(seed, 1000000, 6000000);
    size_t wait = random_between(seed, 0, 1) * random_between(seed, 0, 30);
    used += (size_t)snprintf(o.arguments + used, sizeof o.arguments - used,
                             " %zu:%zu:%zu:1", o.turns[i], all / o.turns[i], wait);
  }
  return o;
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

/* The iterations are those of one thread, and mostly of the busiest: on a machine that does much
 * else, another one may spin for longer than it works. */
Test(record_openers, iterations_are_those_of_the_thread_that_works_most) {
  enum { TRIALS = 6 };
  uint64_t seed = 51;
  FOR_EACH_WAY(way, "openers") {
    int busiest = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      openers o = choose(&seed);
      shell_ok("rm -rf run");
      cr_assert(record(way, "-o run -- ./openers %zu%s", o.team, o.arguments).status ==
                0);
      json_t *r = tsanom_json("speedup run --json");
      double found = number_of(json_object_get(r, "main_loop"), "iterations");
      size_t shown = 0;
      while (shown < o.threads && found != (double)o.turns[shown]) shown++;
      cr_assert(shown < o.threads, "%s: %g", o.arguments, found);
      busiest += shown == o.busiest;
      check_beats(o.arguments, o.team, o.turns[shown]);
    }
    cr_assert(3 * busiest >= 2 * TRIALS, "%d of %d", busiest, TRIALS);
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
