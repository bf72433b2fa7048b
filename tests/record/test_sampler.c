/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the sampler of vital signs waits: the processor time of a round is set as if
 * it had been used, and the elapsed time is negligible beside it. */
#include <criterion/criterion.h>

#include "record/vital.h"

enum { MS = 1000000 };

static tsn_vital_board board;
static tsn_vital_sampler sampler;

static void begin(void) {
  board.period = 50 * MS;
  tsn_vital_begin(&sampler, &board, -1, -1);
}

/* The pause after a round of that cost, in ms, beside what the rounds before it cost. */
static double pause_after(uint64_t cost) {
  sampler.used -= cost;
  sampler.credit = 0;
  return (double)tsn_vital_pause(&sampler) / MS;
}

static void check(double pause, double expected) {
  cr_assert(pause > 0.9 * expected && pause < 1.5 * expected, "%g ms, not %g", pause,
            expected);
}

Test(sampler, pauses_bound_its_share_of_a_processor, .init = begin) {
  for (int i = 0; i < 20; i++) (void)pause_after(MS);
  check(pause_after(MS), TSN_VITAL_SHARE);
  check(pause_after(MS / 2), TSN_VITAL_SHARE / 2.);
}

/* It took a second because the machine did something else. */
Test(sampler, one_long_round_counts_twice_the_one_before_it, .init = begin) {
  for (int i = 0; i < 20; i++) (void)pause_after(MS);
  check(pause_after(1000 * MS), 2 * TSN_VITAL_SHARE);
  check(pause_after(MS), TSN_VITAL_SHARE);
}

Test(sampler, rounds_that_stay_long_count_in_full, .init = begin) {
  for (int i = 0; i < 20; i++) (void)pause_after(100 * MS);
  check(pause_after(100 * MS), 100. * TSN_VITAL_SHARE);
}

Test(sampler, the_first_round_counts_two_wake_ups_at_most, .init = begin) {
  double first = pause_after(1000 * MS);
  cr_assert(first >= 50 && first < 0.1 * TSN_VITAL_SHARE, "%g ms", first);
}
