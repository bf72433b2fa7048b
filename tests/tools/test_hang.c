/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule of tsanom watch for hangs, against its definition. */
#include <criterion/criterion.h>
#include <math.h>
#include <tsanom/hsa.h>

#include "hang.h"
#include "support/random.h"

enum { TRIALS = 2000, BEATS_MOST = 700, THREADS_MOST = 6 };

static double time_of[BEATS_MOST];

/* The smallest interval that at least the share `q` of the latest ones does not exceed.
 */
static double naive_quantile(size_t beats, double q) {
  size_t count = beats - 1 < HANG_INTERVALS ? beats - 1 : HANG_INTERVALS;
  double best = INFINITY;
  for (size_t i = beats - count; i < beats; i++) {
    double candidate = time_of[i] - time_of[i - 1];
    size_t below = 0;
    for (size_t k = beats - count; k < beats; k++) {
      below += time_of[k] - time_of[k - 1] <= candidate;
    }
    if ((double)below >= q * (double)count) best = fmin(best, candidate);
  }
  return best;
}

Test(hang, the_limit_is_three_quantiles_or_a_second) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS / 10; trial++) {
    size_t beats = 2 + (size_t)(random_unit(&seed) * (BEATS_MOST - 2));
    double scale = pow(10, 3 * random_unit(&seed) - 2), now = 0;
    for (size_t i = 0; i < beats; i++) {
      time_of[i] = now;
      now += scale * (random_unit(&seed) < 0.02 ? 10 : random_unit(&seed));
    }
    hang_thread t = {0};
    hang_learn(&t, time_of, beats, 0);
    double limit = fmax(1, 3 * naive_quantile(beats, 0.99));
    if (beats - 1 < HANG_INTERVALS_LEAST) limit = INFINITY;
    cr_assert(t.limit == limit, "%zu beats: %g, not %g", beats, t.limit, limit);
    hang_learn(&t, time_of, beats, 0.25);
    cr_assert(t.limit == 0.25 && t.typical >= 0);
  }
}

/* One checkpoint in 200 iterations is ignored, one in 50 is usual. */
Test(hang, rare_long_iterations_do_not_count) {
  static const size_t period[] = {200, 50};
  static const double limit[] = {1.5, 60};
  for (int k = 0; k < 2; k++) {
    double now = 0;
    for (size_t i = 0; i < BEATS_MOST; i++) {
      time_of[i] = now;
      now += i % period[k] == 7 ? 20 : 0.5;
    }
    hang_thread t;
    hang_learn(&t, time_of, BEATS_MOST, 0);
    cr_assert(fabs(t.limit - limit[k]) < 1e-9, "%g", t.limit);
    cr_assert(fabs(t.typical - 0.5) < 1e-9);
  }
}

Test(hang, without_beats_there_is_no_limit) {
  hang_thread t;
  hang_learn(&t, NULL, 0, 0.5);
  cr_assert(isinf(t.limit) && t.typical == 0);
  t.since = NAN;
  hang_find(&t, 1, 1e9);
  cr_assert(t.status == TSANOM_HSA_NORMAL);
}

/* Silent threads hang or wait, others are normal; the one silent longest hangs; all that
 * wait became silent later, by half of its interval. */
Test(hang, the_thread_that_is_silent_longest_hangs) {
  uint64_t seed = 2;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t count = 1 + (size_t)(random_unit(&seed) * THREADS_MOST);
    hang_thread t[THREADS_MOST + 1];
    size_t first = THREADS_MOST;
    for (size_t i = 0; i < count; i++) {
      t[i] = (hang_thread){.typical = 0.2, .limit = 1, .since = 2 * random_unit(&seed)};
      int silent = 2 - t[i].since > 1;
      if (silent && (first == THREADS_MOST || t[i].since < t[first].since)) first = i;
    }
    hang_find(t, count, 2);
    for (size_t i = 0; i < count; i++) {
      int32_t expected = TSANOM_HSA_NORMAL;
      if (2 - t[i].since > 1) {
        expected =
            t[i].since <= t[first].since + 0.1 ? TSANOM_HSA_HANG : TSANOM_HSA_WAITING;
      }
      cr_assert(t[i].status == expected, "trial %d, thread %zu", trial, i);
    }
  }
}
