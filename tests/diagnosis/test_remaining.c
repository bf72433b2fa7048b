/* SPDX-License-Identifier: BSD-3-Clause */
/* The remaining time of a watched program, from beats that never happened. */
#include <criterion/criterion.h>
#include <math.h>

#include "diagnosis/watch.h"
#include "support/random.h"

enum { BEATS_MOST = 5000, TRIALS = 400 };

static double beat[BEATS_MOST];

static tsanom_diagnosis_remaining of(size_t beats, double left, double now) {
  tsanom_diagnosis_remaining r = {
      .iterations = left, .seconds = NAN, .low = NAN, .high = NAN};
  tsn_watch_predict(&(tsanom_hsa_series){.time = beat, .beats = beats}, now, &r);
  return r;
}

Test(diagnosis_remaining, equal_iterations_take_as_long_as_before) {
  for (size_t i = 0; i < BEATS_MOST; i++) beat[i] = 3 + 0.25 * (double)i;
  for (size_t beats = 3; beats < BEATS_MOST; beats += beats / 3) {
    double last = beat[beats - 1];
    tsanom_diagnosis_remaining r = of(beats, 1000, last + 10);
    cr_assert(r.iterations == 1000 && fabs(r.seconds - 240) < 1e-6 && !r.drifts,
              "%zu: %g", beats, r.seconds);
    cr_assert(of(beats, 0, last).seconds == 0 && of(beats, 4, last + 2).seconds == 0);
    if (beats < 5) cr_assert(isnan(r.low) && isnan(r.high));
    if (beats < 25) continue;
    cr_assert(fabs(r.low - 240) < 1e-3 && fabs(r.high - 240) < 1e-3, "%zu: %g %g", beats,
              r.low, r.high);
  }
}

Test(diagnosis_remaining, too_few_beats_predict_nothing) {
  beat[0] = 1;
  beat[1] = 2;
  for (size_t beats = 0; beats < 3; beats++) {
    tsanom_diagnosis_remaining r = of(beats, 10, 3);
    cr_assert(r.iterations == 10 && isnan(r.seconds) && isnan(r.low) && isnan(r.high));
  }
}

/* The interval contains the end in at least 95 % of the runs, and on average is
 * narrower than half of what is left. */
Test(diagnosis_remaining, the_interval_contains_the_end) {
  uint64_t seed = 1;
  int within = 0, unknown = 0;
  double width = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t now = random_between(&seed, 400, BEATS_MOST - 200);
    for (size_t i = 1; i < BEATS_MOST; i++) beat[i] = beat[i - 1] + random_unit(&seed);
    double left = beat[BEATS_MOST - 1] - beat[now - 1];
    tsanom_diagnosis_remaining r = of(now, (double)(BEATS_MOST - now), beat[now - 1]);
    unknown += isnan(r.low);
    if (isnan(r.low)) continue;
    cr_assert(!r.drifts && r.low <= r.seconds && r.seconds <= r.high, "%zu: %g, %g to %g",
              now, r.seconds, r.low, r.high);
    within += left >= r.low && left <= r.high;
    width += (r.high - r.low) / left / TRIALS;
  }
  cr_assert(
      unknown <= TRIALS / 20 && within >= (TRIALS - unknown) * 93 / 100 && width < 0.5,
      "%d of %d, width %g", within, TRIALS, width);
}

Test(diagnosis_remaining, iterations_that_drift_predict_nothing) {
  for (size_t i = 1; i < BEATS_MOST; i++) beat[i] = beat[i - 1] + 1 + (double)i / 500;
  tsanom_diagnosis_remaining r = of(BEATS_MOST, 100, beat[BEATS_MOST - 1]);
  cr_assert(r.drifts && isnan(r.seconds) && isnan(r.low) && isnan(r.high));
}
