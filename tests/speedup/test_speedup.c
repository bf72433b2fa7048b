/* SPDX-License-Identifier: BSD-3-Clause */
/* The analyzer against programs whose iterations are known by construction. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <tsanom/speedup.h>

#include "analyzer.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST_LOOPS = 16 };

static tsanom_speedup_prediction new_prediction(void) {
  tsanom_speedup_prediction prediction = {.struct_size = sizeof prediction};
  return prediction;
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Two regions and serial work in between: t(P) = A + B / P, by Amdahl. */
Test(speedup, amdahls_law_is_found_in_a_program_that_obeys_it) {
  enum { PERIOD = 3, BASELINE = 5, ITERATIONS = 40 };
  const double serial = 0.125, work = 1.0; /* of each region */
  for (int32_t threads = 2; threads <= 64; threads *= 2) {
    log_of_iterations log = {.count = 0};
    tsanom_speedup *analyzer = new_analyzer(&log, 0);
    double now = 0;
    for (int i = 0; i < ITERATIONS; i++) {
      for (uint64_t region = 0; region < PERIOD; region++) {
        now = run_region(analyzer, now, 100 + region, serial, work,
                         i < BASELINE ? 1 : threads);
      }
    }
    CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
    CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
    tsanom_speedup_loop loop = only_loop(analyzer);
    const double t1 = PERIOD * (serial + work);
    const double tp = PERIOD * (serial + work / threads);
    cr_assert(loop.start == 100 && loop.period == PERIOD && loop.runs == 1);
    cr_assert(loop.iterations == ITERATIONS && log.count == ITERATIONS);
    cr_assert(loop.baseline_threads == 1 && loop.current_threads == threads);
    cr_assert(near(loop.baseline_s, t1) && near(loop.current_s, tp));
    cr_assert(near(loop.speedup, t1 / tp) && near(loop.efficiency, t1 / tp / threads));
    cr_assert(near(loop.serial_fraction, serial / (serial + work)));
    cr_assert(near(loop.first, serial) && near(loop.last, now));
    tsanom_speedup_destroy(analyzer);
  }
}

/* Teams of several sizes in random order: the baseline is the smallest of those that the latest
 * iteration did not have. */
Test(speedup, the_baseline_is_the_smallest_other_team) {
  enum { MOST_TEAMS = 4, LARGEST = 8 };
  const double serial = 0.125, work = 1;
  uint64_t seed = 7;
  for (int trial = 0; trial < 300; trial++) {
    bool ran[LARGEST + 1] = {false};
    int32_t latest = 0, expected = 1;
    double now = 0;
    tsanom_speedup *analyzer = new_analyzer(NULL, 0);
    for (size_t teams = random_between(&seed, 1, MOST_TEAMS); teams; teams--) {
      latest = (int32_t)random_between(&seed, 1, LARGEST);
      ran[latest] = true;
      for (size_t i = random_between(&seed, 10, 40); i; i--) {
        now = run_region(analyzer, now, 100, serial, work, latest);
      }
    }
    CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
    while (expected <= LARGEST && (!ran[expected] || expected == latest)) expected++;
    if (expected > LARGEST) expected = latest;
    tsanom_speedup_loop loop = only_loop(analyzer);
    cr_assert(loop.current_threads == latest && loop.baseline_threads == expected);
    cr_assert(near(loop.speedup, (serial + work / expected) / (serial + work / latest)));
    tsanom_speedup_destroy(analyzer);
  }
}

Test(speedup, iterations_reach_from_beginning_to_beginning_and_come_in_order) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 300; trial++) {
    size_t period = random_between(&seed, 1, 40);
    size_t iterations = random_between(&seed, 10, 40);
    size_t before = random_between(&seed, 0, 20);
    log_of_iterations log = {.count = 0};
    tsanom_speedup *analyzer = new_analyzer(&log, 0);
    double now = 0, begins[41];
    for (size_t i = 0; i < before; i++) { /* no loop: all different */
      now = run_region(analyzer, now, 1000 + i, random_unit(&seed), 1, 1);
    }
    for (size_t i = 0; i < iterations; i++) {
      for (size_t k = 0; k < period; k++) {
        double serial = random_unit(&seed);
        if (k == 0) begins[i] = now + serial;
        now = run_region(analyzer, now, k, serial, random_unit(&seed), 2);
      }
    }
    begins[iterations] = now;
    double after = now;
    for (size_t i = 0; i < before; i++) {
      after = run_region(analyzer, after, 2000 + i, random_unit(&seed), 1, 1);
    }
    CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
    cr_assert(log.count == iterations, "period %zu: %zu of %zu", period, log.count,
              iterations);
    double total = 0;
    for (size_t i = 0; i < iterations; i++) {
      const tsanom_speedup_iteration *it = &log.iteration[i];
      cr_assert(it->number == i && it->start == 0 && it->period == period);
      cr_assert(it->threads == 2 && it->begin == begins[i]);
      cr_assert(near(it->seconds, begins[i + 1] - begins[i]));
      cr_assert(it->parallel >= 0 && it->parallel <= it->seconds * (1 + 1e-9));
      total += it->seconds;
    }
    tsanom_speedup_loop loop = only_loop(analyzer);
    cr_assert(near(loop.total_s, total) && loop.last_run == iterations);
    cr_assert(isnan(loop.serial_fraction) && loop.speedup == 1);
    tsanom_speedup_destroy(analyzer);
  }
}

/* ((a b) x 6, c) x 12: both loops, the inner one entered in each outer iteration. */
Test(speedup, nested_loops_are_followed_at_once) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  double now = 0;
  for (int outer = 0; outer < 12; outer++) {
    for (int inner = 0; inner < 6; inner++) {
      now = run_region(analyzer, now, 'a', 0.25, 1, 1);
      now = run_region(analyzer, now, 'b', 0.25, 1, 1);
    }
    now = run_region(analyzer, now, 'c', 0, 2, 1);
  }
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  tsanom_speedup_loop loops[MOST_LOOPS];
  size_t count = 0;
  CHECK_STATUS(tsanom_speedup_loops(analyzer, loops, MOST_LOOPS, &count), TSANOM_OK);
  bool inner = false, outer = false;
  for (size_t i = 0; i < count; i++) {
    const tsanom_speedup_loop *l = &loops[i];
    if (l->period == 2 && l->start == 'a') {
      inner = l->runs == 12 && l->last_run == 6 && l->iterations == 72;
    }
    if (l->period == 13) {
      outer = l->runs == 1 && l->iterations == 12 && l->start == 'a';
      cr_assert(near(l->current_s, 17));
    }
  }
  cr_assert(inner && outer);
  tsanom_speedup_prediction p = new_prediction();
  CHECK_STATUS(tsanom_speedup_predict(analyzer, 20, &p), TSANOM_OK);
  cr_assert(p.period == 13 && p.iterations == 12 && p.expected == 20);
  /* The last iteration ended with its last region, 0.25 s early. */
  double mean = 17 - 0.25 / 8; /* of the last eight of twelve */
  cr_assert(near(p.total_s, now + 8 * mean) && near(p.remaining_s, 8 * mean));
  tsanom_speedup_destroy(analyzer);
}

Test(speedup, a_steady_program_is_predicted_after_a_quarter) {
  enum { ITERATIONS = 400, PERIOD = 7 };
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  tsanom_speedup_prediction p = new_prediction();
  uint64_t seed = 3;
  double now = 0;
  CHECK_STATUS(tsanom_speedup_predict(analyzer, ITERATIONS, &p), TSANOM_INFEASIBLE);
  for (int i = 0; i < ITERATIONS; i++) {
    for (uint64_t k = 0; k < PERIOD; k++) {
      double noise = 1 + 0.2 * (random_unit(&seed) - 0.5);
      now = run_region(analyzer, now, k, 0.01, noise, 2);
    }
    if (i == ITERATIONS / 4) {
      CHECK_STATUS(tsanom_speedup_predict(analyzer, 0, &p), TSANOM_INFEASIBLE);
      CHECK_STATUS(tsanom_speedup_predict(analyzer, ITERATIONS, &p), TSANOM_OK);
    }
  }
  cr_assert(fabs(p.total_s - now) < 0.05 * now);
  tsanom_speedup_destroy(analyzer);
}

/* At least a quarter of the iterations are left out, at most a half. */
Test(speedup, iterations_that_warm_up_are_not_expected_to_come_again) {
  enum { ITERATIONS = 100, LEAST = 12, MOST = 40 };
  for (int known = LEAST; known <= MOST; known++) {
    tsanom_speedup *analyzer = new_analyzer(NULL, 0);
    tsanom_speedup_prediction p = new_prediction();
    double now = 0;
    for (int i = 0; i < ITERATIONS; i++) {
      now = run_region(analyzer, now, 'a', 0, i < known / 4 ? 1.2 : 1, 1);
      if (i != known) continue;
      CHECK_STATUS(tsanom_speedup_predict(analyzer, ITERATIONS, &p), TSANOM_OK);
      cr_assert(p.iterations == (uint64_t)known);
    }
    cr_assert(near(p.total_s, now), "%d known: %g s, not %g", known, p.total_s, now);
    tsanom_speedup_destroy(analyzer);
  }
}

/* Another program takes the processor for long at first, and not later. */
Test(speedup, what_interrupts_at_first_is_not_expected_to_go_on) {
  enum { ITERATIONS = 200, INTERRUPTED = 40, EVERY = 8 };
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  tsanom_speedup_prediction p = new_prediction();
  double now = 0;
  for (int i = 0; i < ITERATIONS; i++) {
    bool interrupted = i < INTERRUPTED && i % EVERY == 0;
    now = run_region(analyzer, now, 'a', 0.5, interrupted ? 10 : 0.5, 1);
    now = run_region(analyzer, now, 'b', 0, 1, 1);
    if (i != ITERATIONS / 4) continue;
    CHECK_STATUS(tsanom_speedup_predict(analyzer, ITERATIONS, &p), TSANOM_OK);
  }
  cr_assert(fabs(p.total_s - now) < 0.05 * now);
  tsanom_speedup_destroy(analyzer);
}

/* The second run of a loop is expected to be as long as the first. */
Test(speedup, the_length_of_a_loop_is_learnt_from_its_last_run) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  double now = 0;
  for (int i = 0; i < 20; i++) now = run_region(analyzer, now, 'a', 1, 1, 1);
  for (uint64_t k = 0; k < 5; k++) now = run_region(analyzer, now, 1000 + k, 1, 1, 1);
  for (int i = 0; i < 13; i++) now = run_region(analyzer, now, 'a', 1, 1, 1);
  tsanom_speedup_prediction p = new_prediction();
  CHECK_STATUS(tsanom_speedup_predict(analyzer, 0, &p), TSANOM_OK);
  cr_assert(p.iterations == 32 && p.expected == 40); /* the 13th is under way */
  /* The later 16 iterations took 31 s: a run's last ends with its region. */
  cr_assert(near(p.total_s, now - 1 + 8 * 31 / 16.));
  /* Two runs more, each after 11 s: five regions and the serial work before the sixth. */
  CHECK_STATUS(tsanom_speedup_predict(analyzer, 80, &p), TSANOM_OK);
  cr_assert(near(p.total_s, now - 1 + 48 * 31 / 16. + 2 * 11));
  tsanom_speedup_destroy(analyzer);
}

/* Runs of a solver with work between them, predicted from the first of them on. */
Test(speedup, time_between_runs_is_predicted_too) {
  enum { SOLVES = 12, ITERATIONS = 25 };
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  tsanom_speedup_prediction p = new_prediction();
  double now = 0;
  for (uint64_t solve = 0; solve < SOLVES; solve++) {
    now = run_region(analyzer, now, 100 + solve, 3, 5, 1);
    for (int i = 0; i < ITERATIONS; i++) {
      now = run_region(analyzer, now, 'a', 0, 1, 1);
      now = run_region(analyzer, now, 'b', 0, 1, 1);
    }
    if (solve != SOLVES / 4) continue;
    CHECK_STATUS(tsanom_speedup_predict(analyzer, SOLVES * ITERATIONS, &p), TSANOM_OK);
  }
  cr_assert(fabs(p.total_s - now) < 0.01 * now);
  tsanom_speedup_destroy(analyzer);
}

/* t(P) = 1 + 6 / P, on one thread in one program and on three in another. */
Test(speedup, another_run_may_be_the_baseline) {
  tsanom_speedup_loop loop[2];
  const int32_t threads[2] = {1, 3};
  for (int k = 0; k < 2; k++) {
    tsanom_speedup *analyzer = new_analyzer(NULL, 0);
    double now = 0;
    for (uint64_t i = 0; i < 60; i++) {
      now = run_region(analyzer, now, i % 2, 0.5, 3, threads[k]);
    }
    loop[k] = only_loop(analyzer);
    tsanom_speedup_destroy(analyzer);
  }
  cr_assert(near(loop[1].speedup, 1));
  CHECK_STATUS(tsanom_speedup_compare(&loop[1], &loop[0]), TSANOM_OK);
  cr_assert(loop[1].baseline_threads == 1 && near(loop[1].baseline_s, 7));
  cr_assert(near(loop[1].baseline_mean_s, 7) && near(loop[1].current_mean_s, 3));
  cr_assert(near(loop[1].speedup, 7. / 3) && near(loop[1].efficiency, 7. / 9));
  cr_assert(near(loop[1].serial_fraction, 1. / 7));
  CHECK_STATUS(tsanom_speedup_compare(&loop[0], &loop[0]), TSANOM_OK);
  cr_assert(near(loop[0].speedup, 1) && isnan(loop[0].serial_fraction));

  tsanom_speedup_loop before = loop[1], other = loop[0];
  other.period = 3;
  CHECK_STATUS(tsanom_speedup_compare(&loop[1], &other), TSANOM_E_VALUE);
  other = loop[0];
  other.current_threads = 0;
  CHECK_STATUS(tsanom_speedup_compare(&loop[1], &other), TSANOM_E_VALUE);
  other = loop[0];
  other.current_s = NAN;
  CHECK_STATUS(tsanom_speedup_compare(&loop[1], &other), TSANOM_E_NONFINITE);
  cr_assert(memcmp(&before, &loop[1], sizeof before) == 0);
}

/* Every fifth iteration takes six times as long. Medians do not show that; means are
 * those of all iterations, with each number of threads. */
Test(speedup, means_are_those_of_the_whole_loop) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  double now = 0;
  for (int i = 0; i < 200; i++) {
    double seconds = i % 5 == 4 ? 6 : 1;
    now = run_region(analyzer, now, 'a', 0, i < 100 ? 2 * seconds : seconds,
                     i < 100 ? 1 : 2);
  }
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  tsanom_speedup_loop loop = only_loop(analyzer);
  cr_assert(near(loop.baseline_s, 2) && near(loop.current_s, .5));
  cr_assert(near(loop.baseline_mean_s, 4) && near(loop.current_mean_s, 1));
  tsanom_speedup_destroy(analyzer);
}

Test(speedup, a_baseline_that_never_ran_gives_no_speedup) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 1);
  double now = 0;
  for (int i = 0; i < 50; i++) {
    now = run_region(analyzer, now, (uint64_t)i % 2, 0, 1, 4);
  }
  tsanom_speedup_loop loop = only_loop(analyzer);
  cr_assert(isnan(loop.speedup) && isnan(loop.efficiency) && isnan(loop.baseline_s));
  cr_assert(near(loop.current_s, 0.5) && loop.baseline_threads == 1);
  cr_assert(near(loop.current_mean_s, 0.5) && isnan(loop.baseline_mean_s));
  tsanom_speedup_destroy(analyzer);
}

Test(speedup, regions_of_no_duration_and_of_many_team_sizes) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  for (int i = 0; i < 500; i++) {
    tsanom_speedup_event event = {.region = 7, .threads = 1 + i % 20};
    CHECK_STATUS(tsanom_speedup_push(analyzer, &event), TSANOM_OK);
  }
  tsanom_speedup_loop loop = only_loop(analyzer);
  cr_assert(loop.total_s == 0 && loop.current_s == 0 && isnan(loop.speedup));
  tsanom_speedup_destroy(analyzer);
}

/* Iterations of 1, 2, ..., n seconds. */
Test(speedup, an_iteration_takes_the_median_of_its_times) {
  for (int n = 6; n <= TSANOM_SPEEDUP_RECENT; n++) {
    tsanom_speedup *analyzer = new_analyzer(NULL, 0);
    double now = 0;
    for (int i = 1; i <= n; i++) now = run_region(analyzer, now, 'a', 0, i, 1);
    CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
    cr_assert(near(only_loop(analyzer).current_s, 0.5 * (1 + n)));
    tsanom_speedup_destroy(analyzer);
  }
}

Test(speedup, of_too_many_team_sizes_those_with_the_most_times_stay) {
  tsanom_speedup *analyzer = new_analyzer(NULL, 0);
  double now = 0;
  for (int i = 0; i < 8; i++) now = run_region(analyzer, now, 'a', 0, 1, 1);
  for (int32_t threads = 2; threads <= TSANOM_SPEEDUP_THREAD_COUNTS + 4; threads++) {
    now = run_region(analyzer, now, 'a', 0, 1, threads);
  }
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  cr_assert(only_loop(analyzer).baseline_threads == 1);
  tsanom_speedup_destroy(analyzer);
}

/* A loop of the longest period is found in its third iteration, when its first one is
 * still known. */
Test(speedup, the_first_iteration_of_the_longest_loop_is_reported) {
  enum { PERIOD = 64, ITERATIONS = 5 };
  log_of_iterations log = {.count = 0};
  tsanom_speedup_options options;
  tsanom_speedup *analyzer = NULL;
  tsanom_speedup_options_init(&options, sizeof options);
  options.max_period = PERIOD;
  options.visit = note;
  options.visit_user = &log;
  CHECK_STATUS(tsanom_speedup_create(&options, NULL, &analyzer), TSANOM_OK);
  double now = 0;
  for (int i = 0; i < ITERATIONS * PERIOD; i++) {
    now = run_region(analyzer, now, (uint64_t)i % PERIOD, 0, 1, 1);
  }
  CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
  cr_assert(log.count == ITERATIONS);
  for (int i = 0; i < ITERATIONS; i++) {
    cr_assert(near(log.iteration[i].begin, i * PERIOD));
    cr_assert(near(log.iteration[i].seconds, PERIOD));
  }
  tsanom_speedup_destroy(analyzer);
}

Test(speedup, random_streams_keep_their_accounts) {
  uint64_t seed = 11;
  for (int trial = 0; trial < 2000; trial++) {
    static log_of_iterations log;
    log.count = 0;
    tsanom_speedup *analyzer = new_analyzer(&log, 0);
    size_t kinds = random_between(&seed, 1, 4), events = random_between(&seed, 0, 300);
    double now = 0;
    for (size_t i = 0; i < events; i++) {
      now = run_region(analyzer, now, random_between(&seed, 1, kinds), random_unit(&seed),
                       random_unit(&seed), 1 + (int32_t)(i / 100));
    }
    CHECK_STATUS(tsanom_speedup_finish(analyzer), TSANOM_OK);
    tsanom_speedup_loop loops[64];
    size_t count = 0, iterations = 0;
    cr_assert(tsanom_speedup_loops(analyzer, loops, 64, &count) >= 0);
    for (size_t i = 0; i < count; i++) {
      const tsanom_speedup_loop *l = &loops[i];
      iterations += l->iterations;
      cr_assert(l->total_s <= now * 1.000001 && l->parallel_s <= l->total_s * 1.000001);
      cr_assert(l->iterations == 0 || (l->first >= 0 && l->last <= now));
    }
    cr_assert(iterations == log.count);
    tsanom_speedup_destroy(analyzer);
  }
}
