/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations as a recorded program finds them, against loops made up. */
#include <criterion/criterion.h>

#include "iterations.h"
#include "record/clock.h"
#include "support/random.h"

static icp_iterations it;

/* Run `count` iterations of the pattern from..from+period-1; the begins reported, all of
 * them at one place of the pattern once the loop is known. */
static uint64_t run_loop(uint32_t from, uint32_t period, uint64_t count) {
  uint64_t begins = 0, last = 0;
  for (uint64_t i = 0; i < count * period; i++) {
    if (!icp_iterations_push(&it, from + (uint32_t)(i % period))) continue;
    cr_assert(begins == 0 || i - last == period, "%d after %d", (int)i, (int)last);
    last = i;
    begins++;
  }
  return begins;
}

/* A loop is found in its fourth iteration, and one that follows another one when that has
 * ended. */
Test(iterations, every_iteration_of_a_loop_begins_once) {
  uint64_t seed = 5;
  for (int trial = 0; trial < 60; trial++) {
    cr_assert(icp_iterations_start(&it) == 0);
    for (uint32_t loop = 0; loop < 4; loop++) {
      uint32_t period = (uint32_t)random_between(&seed, 1, 12);
      uint64_t count = random_between(&seed, 200, 8000);
      uint64_t begins = run_loop(100 * loop, period, count);
      uint64_t missed = loop == 0 ? 4 + 8 / period : 200 / period + 8;
      cr_assert(begins + missed >= count && begins <= count, "%d of %d by %d",
                (int)begins, (int)count, (int)period);
      /* Break off in the middle of the pattern, now and then. */
      for (uint64_t k = random_between(&seed, 0, period - 1); k > 0; k--) {
        (void)icp_iterations_push(&it, 100 * loop + (uint32_t)(period - k));
      }
      (void)icp_iterations_push(&it, 1000 + loop);
    }
  }
}

/* A loop that contains the one that is followed has had iterations which the history lacks, if events
 * were left out before: of a stage of the program, or as the inner loop had settled. */
Test(iterations, what_a_loop_that_takes_over_lacks_is_known) {
  enum { TURNS = 2000, OUTER = 100, PLACES = 4, TRIALS = 40 };
  uint64_t seed = 6;
  int known = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    uint32_t period = (uint32_t)random_between(&seed, 2, 8);
    bool settles = trial % 2;
    uint64_t first = settles ? 50000 / period : random_between(&seed, 20, 60);
    cr_assert(icp_iterations_start(&it) == 0);
    for (int turn = 0; turn < TURNS; turn++) {
      uint64_t inner = turn ? 10 + random_between(&seed, 0, 3) : first;
      for (uint64_t k = 0; k < inner * period; k++) {
        (void)icp_iterations_push(&it, (uint32_t)(k % period));
      }
      for (uint32_t k = 0; k < PLACES; k++) (void)icp_iterations_push(&it, OUTER + k);
    }
    cr_assert(it.begin.anchor >= OUTER || it.begin.previous >= OUTER, "trial %d", trial);
    cr_assert(settles || !it.moved, "trial %d", trial);
    known += it.moved;
  }
  /* The moments of events are those of the machine: by them another loop may be found. */
  cr_assert_gt(known, TRIALS / 4);
}

/* The moments of the iterations before: those of the events that began them. */
static void check_early(uint64_t iterations, uint64_t first, uint64_t period) {
  const icp_early *early = &it.early;
  uint64_t least = iterations > ICP_EARLY ? iterations - ICP_EARLY : 0;
  cr_assert(early->count == iterations, "%d of %d", (int)early->count, (int)iterations);
  for (uint64_t k = least; k < iterations; k++) {
    uint64_t event = first + k * period;
    cr_assert(early->moment[k % ICP_EARLY] == (uint64_t)it.moment[event], "%d", (int)k);
  }
}

Test(iterations, iterations_before_a_loop_is_found_are_known) {
  for (uint32_t period = 1; period <= 9; period++) {
    uint64_t events = 0;
    cr_assert(icp_iterations_start(&it) == 0);
    /* Events that do not repeat: the more there are, the later the loop is found. */
    for (uint32_t k = 0; k < 40 * period; k++) {
      cr_assert(!icp_iterations_push(&it, 100 + k));
      events++;
    }
    uint64_t first = events;
    while (!icp_iterations_push(&it, (uint32_t)((events - first) % period))) events++;
    cr_assert(it.restarts && (events - first) % period == 0);
    check_early((events - first) / period, first, period);
  }
}

/* Cycles that begin with three iterations of an inner loop, and end with others of it. */
Test(iterations, iterations_before_a_loop_that_folds_are_known) {
  static const uint32_t cycle[] = {0, 1, 0, 1, 0, 1, 5, 0, 1, 6, 7};
  enum { PERIOD = sizeof cycle / sizeof *cycle };
  uint64_t events = 0, begun = 0;
  cr_assert(icp_iterations_start(&it) == 0);
  for (; events < 12 * PERIOD; events++) {
    bool begins = icp_iterations_push(&it, cycle[events % PERIOD]);
    if (it.restarts && begins) begun = events;
    it.restarts &= !begins;
  }
  cr_assert(begun && it.early.count);
  for (uint64_t k = 0; k < it.early.count; k++) {
    double moment = it.moment[begun - (it.early.count - k) * PERIOD];
    cr_assert(it.early.moment[k] == (uint64_t)moment);
  }
}

/* 60 cycles of a program: parts with inner loops of trip counts that vary, 200 to 900
 * regions together. The inner loops are followed at first; then the cycle, for good. */
Test(iterations, cycles_are_found_around_inner_loops) {
  uint64_t seed = 6;
  cr_assert(icp_iterations_start(&it) == 0);
  int begins = 0, restarts = 0;
  for (int cycle = 0; cycle < 60; cycle++) {
    int begins_before = begins;
    for (uint32_t part = 0; part < 10; part++) {
      uint32_t place = 10 * part;
      for (uint32_t k = 0; k < 4; k++) begins += icp_iterations_push(&it, place + k);
      for (uint64_t t = random_between(&seed, 4, 20); t > 0; t--) {
        for (uint32_t k = 4; k < 7; k++) begins += icp_iterations_push(&it, place + k);
      }
      restarts += it.restarts;
      it.restarts = false;
    }
    cr_assert(cycle < 4 || begins == begins_before + 1, "cycle %d: %d", cycle,
              begins - begins_before);
  }
  cr_assert(restarts >= 1 && it.begin.anchor < 100 && it.settled);
}

/* Every tenth step has more: still one begin a step, and none at the tenths. */
Test(iterations, steps_are_followed_and_not_groups_of_them) {
  cr_assert(icp_iterations_start(&it) == 0);
  for (int step = 0; step < 2000; step++) {
    int begins = 0;
    for (uint32_t k = 0; k < 10; k++) begins += icp_iterations_push(&it, k);
    if (step % 10 == 9) begins += icp_iterations_push(&it, 50);
    cr_assert(step < 5 || begins == 1, "step %d: %d", step, begins);
  }
}

/* The outer loop is found although the inner one has settled in between. */
Test(iterations, an_outer_loop_of_long_inner_ones_is_found) {
  cr_assert(icp_iterations_start(&it) == 0);
  uint64_t begins = 0;
  for (int outer = 0; outer < 20; outer++) {
    if (outer == 10) begins = 0;
    for (uint32_t i = 0; i < 10000; i++) begins += icp_iterations_push(&it, 1 + i % 2);
    for (uint32_t k = 50; k < 55; k++) begins += icp_iterations_push(&it, k);
  }
  cr_assert(begins == 10, "%d", (int)begins);
}

/* Cycles that begin with an inner loop of three places, which other parts have too; the
 * coarsest level has a place of its own. */
Test(iterations, cycles_that_begin_with_an_inner_loop_begin_once) {
  cr_assert(icp_iterations_start(&it) == 0);
  for (int cycle = 0; cycle < 400; cycle++) {
    int begins = 0;
    for (int level = 0; level < 5; level++) {
      for (uint32_t k = 0; k < 3; k++) begins += icp_iterations_push(&it, k);
    }
    begins += icp_iterations_push(&it, 9);
    for (int level = 0; level < 5; level++) {
      for (uint32_t k = 4; k < 8; k++) begins += icp_iterations_push(&it, k);
      for (uint32_t k = 1; k < 3; k++) begins += icp_iterations_push(&it, k);
    }
    cr_assert(cycle < 6 || begins == 1, "cycle %d: %d", cycle, begins);
  }
}

/* A loop that was found in three iterations of 300 events settles 28 iterations later:
 * one around it may have shown all its places and be as long as these. */
Test(iterations, a_long_loop_settles_late) {
  cr_assert(icp_iterations_start(&it) == 0);
  (void)run_loop(0, 300, 14);
  cr_assert(it.begins >= ICP_SETTLED_ITERATIONS && !it.settled);
  (void)run_loop(0, 300, 20);
  cr_assert(it.settled);
}

/* The same six places; which one is the first in most of the events depends on how many
 * have come. One is followed for good. */
Test(iterations, a_loop_is_not_left_for_itself) {
  static const uint32_t body[6] = {0, 2, 0, 1, 3, 0};
  cr_assert(icp_iterations_start(&it) == 0);
  for (uint32_t k = 0; k < 3; k++) (void)icp_iterations_push(&it, k % 2);
  int begins = 0, restarts = 0;
  for (int i = 0; i < 149; i++) {
    for (int k = 0; k < 6; k++) begins += icp_iterations_push(&it, body[k]);
    restarts += it.restarts;
    it.restarts = false;
  }
  cr_assert(restarts == 1 && begins >= 144, "%d, %d", restarts, begins);
}

Test(iterations, a_named_place_begins_iterations_at_once) {
  cr_assert(icp_iterations_start(&it) == 0);
  icp_iterations_name(&it, 7);
  for (uint32_t i = 0; i < 100; i++) {
    cr_assert(icp_iterations_push(&it, i % 8 == 0 ? 7 : i) == (i % 8 == 0 || i == 7));
  }
}

Test(iterations, no_loop_no_iterations) {
  cr_assert(icp_iterations_start(&it) == 0);
  for (uint32_t i = 0; i < 8000; i++) cr_assert(!icp_iterations_push(&it, i));
}

/* More events than are kept, without a loop, and then one. */
Test(iterations, a_loop_is_found_behind_a_long_beginning) {
  uint64_t seed = 8;
  cr_assert(icp_iterations_start(&it) == 0);
  for (uint32_t i = 0; i < 100000; i++) {
    (void)icp_iterations_push(&it, (uint32_t)random_between(&seed, 100, 8000));
  }
  uint64_t begins = run_loop(1, 20, 4000);
  cr_assert(begins > 1500, "%d", (int)begins);
}

/* Iterations as a caller counts them, anew where the loop that is followed says so. */
typedef struct {
  long begins;
  int restarts;
} counted;

static void count_begin(counted *c, bool begins) {
  if (it.restarts && begins) c->begins = (long)it.early.count;
  c->restarts += it.restarts && begins;
  it.restarts &= !begins;
  c->begins += begins;
}

/* Push an event at a time of the test's own, before the first one of which was asked: the history
 * has the clock's time, which is replaced, so that later looks see it. */
static bool push_at(uint32_t event, double seconds) {
  enum { ALL = 1 };
  static double start;
  if (start <= 0) start = (double)tsn_clock_monotonic();
  bool begins = icp_iterations_push(&it, event);
  if (it.count) it.moment[it.count - 1] = start + 1e9 * (seconds - ALL);
  return begins;
}

/* Six exchanges by one function, then a computation: the times tell what an iteration is. The
 * iterations before are counted anew when they do. */
Test(iterations, exchanges_by_one_function_are_parts_of_a_step) {
  double now = 0;
  counted c = {0};
  cr_assert(icp_iterations_start(&it) == 0);
  for (int step = 0; step < 60; step++) {
    for (int k = 0; k < 6; k++) {
      now += k ? .0001 : .01;
      bool did = push_at(0, now);
      count_begin(&c, did);
      cr_assert(step < 40 || did == (k == 0), "step %d, %d", step, k);
    }
    if (step % 10 == 9) (void)push_at(1, now += .0001);
  }
  cr_assert(c.begins >= 58 && c.begins <= 60, "%ld", c.begins);
}

/* Steps of two inner loops begin with an entry, not with each event of its place. */
Test(iterations, steps_of_inner_loops_alone_begin_once) {
  cr_assert(icp_iterations_start(&it) == 0);
  for (int step = 0; step < 2000; step++) {
    int begins = 0;
    for (uint32_t k = 0; k < 12; k++) {
      begins += icp_iterations_push(&it, (k / 6 ? 3 : 0) + k % 3);
    }
    cr_assert(step < 30 || begins == 1, "step %d: %d", step, begins);
  }
  cr_assert(it.settled);
}

/* What comes in each third step at first comes by chance later: the steps are followed when two looks
 * have found them, and those that had passed are counted. */
Test(iterations, a_loop_in_the_one_that_is_followed_may_take_over) {
  uint64_t seed = 9;
  counted c = {0};
  cr_assert(icp_iterations_start(&it) == 0);
  for (int step = 0; step < 600; step++) {
    for (uint32_t k = 0; k < 6; k++) count_begin(&c, icp_iterations_push(&it, k));
    bool has_more = step < 60 ? step % 3 == 2 : random_between(&seed, 0, 9) == 0;
    for (uint32_t k = 20; k < 29 && has_more; k++) {
      count_begin(&c, icp_iterations_push(&it, k));
    }
    if (step == 59) cr_assert(labs(c.begins - 20) <= 1, "%ld", c.begins);
  }
  cr_assert(c.restarts >= 3 && labs(c.begins - 600) <= 1, "%d, %ld", c.restarts,
            c.begins);
}

/* Cycles of two inner loops that share a place; the looks took more time than the events, which
 * get other times. */
static void push_cycles(int cycles) {
  for (int c = 0; c < cycles; c++) {
    for (uint32_t k = 0; k < 2 * 8; k++) (void)icp_iterations_push(&it, k % 2);
    for (uint32_t k = 0; k < 5 * 8; k++) (void)icp_iterations_push(&it, 1 + k % 5 % 4);
  }
  for (size_t i = 0; i < it.count; i++) it.moment[i] = 1e6 * (double)i;
}

/* What the last look says of the events as a whole: iterations; -1: nothing. */
static long count_last(void) {
  icp_whole whole;
  return icp_iterations_look_last(&it, &whole) ? (long)whole.count : -1;
}

/* The events as a whole say which iterations there are when the program ends, unless some are
 * missing. */
Test(iterations, inner_loops_of_a_few_cycles_are_none_at_the_end) {
  cr_assert(icp_iterations_start(&it) == 0 && count_last() == -1);
  push_cycles(4);
  cr_assert(it.begin.anchor != ICP_NO_ANCHOR && count_last() == 0);
  it.left_out = true;
  cr_assert(count_last() == -1);
  cr_assert(icp_iterations_start(&it) == 0);
  for (uint32_t k = 0; k < 8 * ICP_SETTLED; k++) (void)icp_iterations_push(&it, k % 5);
  cr_assert(it.settled && it.left_out && count_last() == -1);
}

/* An inner loop of any number of iterations is followed first; the few steps around it are the main
 * loop as a whole. */
Test(iterations, few_steps_around_an_inner_loop_are_found_at_the_end) {
  counted c = {0};
  cr_assert(icp_iterations_start(&it) == 0);
  for (int step = 1; step <= 9; step++) {
    count_begin(&c, icp_iterations_push(&it, 0));
    for (int k = 0; k < 2 * (5 * step % 7 + 2); k++) {
      count_begin(&c, icp_iterations_push(&it, 1 + (uint32_t)k % 2));
    }
    for (uint32_t k = 3; k < 5; k++) count_begin(&c, icp_iterations_push(&it, k));
  }
  cr_assert(c.begins == 47 && count_last() == 9, "%ld, %ld", c.begins, count_last());
}
