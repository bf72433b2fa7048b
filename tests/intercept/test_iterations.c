/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations as a recorded program finds them, against loops made up. */
#include <criterion/criterion.h>

#include "iterations.h"
#include "support/random.h"

/* Run `count` iterations of the pattern from..from+period-1; the begins told, all of
 * them at one place of the pattern once the loop is known. */
static uint64_t run_loop(icp_iterations *it, uint32_t from, uint32_t period,
                         uint64_t count) {
  uint64_t begins = 0, last = 0;
  for (uint64_t i = 0; i < count * period; i++) {
    if (!icp_iterations_push(it, from + (uint32_t)(i % period))) continue;
    cr_assert(begins == 0 || i - last == period, "%d after %d", (int)i, (int)last);
    last = i;
    begins++;
  }
  return begins;
}

Test(iterations, every_iteration_of_a_loop_begins_once) {
  uint64_t seed = 5;
  for (int trial = 0; trial < 60; trial++) {
    static icp_iterations it;
    it = (icp_iterations){.period = 0};
    cr_assert(icp_iterations_start(&it) == 0);
    for (uint32_t loop = 0; loop < 4; loop++) {
      uint32_t period = (uint32_t)random_between(&seed, 1, 12);
      uint64_t count = random_between(&seed, 10, 8000);
      uint64_t begins = run_loop(&it, 100 * loop, period, count);
      uint64_t missed = 3 + 8 / period; /* until it is found */
      cr_assert(begins + missed >= count && begins <= count, "%d of %d by %d",
                (int)begins, (int)count, (int)period);
      /* Break off in the middle of the pattern, now and then. */
      for (uint64_t k = random_between(&seed, 0, period - 1); k > 0; k--) {
        (void)icp_iterations_push(&it, 100 * loop + (uint32_t)(period - k));
      }
      (void)icp_iterations_push(&it, 10000 + loop);
      cr_assert(it.period == 0 && !it.locked);
    }
  }
}

/* The outer loop is followed although the detector locks to the inner one in between. */
Test(iterations, a_long_inner_loop_is_the_iteration) {
  static icp_iterations it;
  cr_assert(icp_iterations_start(&it) == 0);
  for (int outer = 0; outer < 5; outer++) {
    uint64_t begins = run_loop(&it, 1, 2, 10000);
    cr_assert(begins >= 9990 && begins <= 10000);
    (void)icp_iterations_push(&it, 50);
  }
}

Test(iterations, no_loop_no_iterations) {
  static icp_iterations it;
  cr_assert(icp_iterations_start(&it) == 0);
  for (uint32_t i = 0; i < 20000; i++) cr_assert(!icp_iterations_push(&it, i));
}
