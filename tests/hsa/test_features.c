/* SPDX-License-Identifier: BSD-3-Clause */
/* Features of random series beside the paper's equations, read naively, under random
 * options. A series must be like itself; the unit of time, threads and instruction sets
 * must change nothing. */
#include <math.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "hsa/naive.h"
#include "hsa/synthetic.h"
#include "learned.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

enum { TERMS = 12 };

static int close_to(double got, double expected, double tolerance) {
  return fabs(got - expected) <= tolerance * fmax(fabs(expected), 1e-9);
}

static beats random_beats(uint64_t *seed, size_t least) {
  beats b = {.n = random_between(seed, least, MOST)};
  double now = 0, slope = random_unit(seed) * 3 - 1;
  for (size_t i = 0; i < b.n; i++) {
    double drift = 1 + slope * (double)i / MOST;
    now += drift * (0.5 + random_unit(seed));
    b.t[i] = now;
  }
  return b;
}

Test(hsa_features, equal_the_equations) {
  uint64_t seed = 11;
  for (int trial = 0; trial < 1500; trial++) {
    tsanom_hsa_options options;
    tsanom_hsa_options_init(&options, sizeof options);
    options.window = random_between(&seed, 1, 12);
    options.max_windows = random_between(&seed, 4, 64);
    options.max_degree = random_between(&seed, 0, TERMS - 1);
    options.points = POINTS;
    options.radius = random_between(&seed, 0, POINTS);
    options.r2 = random_unit(&seed) * 0.99;
    options.local_rate = (int32_t)(random_bits(&seed) % 2);
    static beats c, q;
    c = random_beats(&seed, 60);
    q = random_beats(&seed, 60);
    tsanom_hsa_series target = {.time = c.t, .beats = c.n},
                      reference = {.time = q.t, .beats = q.n};
    tsanom_hsa_features f;
    CHECK_STATUS(compare(&target, 0, &reference, 0, &options, NULL, &f), TSANOM_OK);

    size_t w = options.window, length = w;
    while ((q.n - 1) / length > options.max_windows) length += w;
    rate_series cr = rates(&c, w), qr = rates(&q, w);
    double gtr = c.t[c.n - 1] / q.t[q.n - 1];
    double ghr = mean(cr.y, cr.count) / mean(qr.y, qr.count);
    double ltr, lhr;
    size_t used;
    /* Only as many windows as the reference may have are looked at. */
    beats cut = c;
    if (cut.n > options.max_windows * length) cut.n = options.max_windows * length + 1;
    naive_local(&cut, &q, w, length, options.local_rate, &ltr, &lhr, &used);
    cr_assert(close_to(f.value[TSANOM_HSA_GTR], gtr, 1e-14));
    cr_assert(close_to(f.value[TSANOM_HSA_GHR], ghr, 1e-12));
    cr_assert(close_to(f.value[TSANOM_HSA_LTR], ltr, 1e-12), "trial %d: %g, not %g",
              trial, f.value[TSANOM_HSA_LTR], ltr);
    cr_assert(close_to(f.value[TSANOM_HSA_LHR], lhr, 1e-9), "trial %d: %g, not %g", trial,
              f.value[TSANOM_HSA_LHR], lhr);
    cr_assert(f.value[TSANOM_HSA_BEAT_RATIO] == (double)c.n / (double)q.n);
    cr_assert(f.value[TSANOM_HSA_INTERVAL_RATIO] ==
              naive_quartile(&c) / naive_quartile(&q));

    double dtw, bound;
    naive_distances(&cr, &qr, &options, &dtw, &bound);
    cr_assert(close_to(f.value[TSANOM_HSA_DTW], dtw, 1e-8), "trial %d: %g, not %g", trial,
              f.value[TSANOM_HSA_DTW], dtw);
    cr_assert(close_to(f.value[TSANOM_HSA_LB_KEOGH], bound, 1e-7), "trial %d: %g, not %g",
              trial, f.value[TSANOM_HSA_LB_KEOGH], bound);
    cr_assert(f.defined == (1 << TSANOM_HSA_FEATURES) - 1);
  }
}

Test(hsa_features, a_series_is_like_itself) {
  uint64_t seed = 12;
  for (int trial = 0; trial < 300; trial++) {
    static beats b;
    b = random_beats(&seed, 2);
    tsanom_hsa_series series = {.time = b.t, .beats = b.n};
    tsanom_hsa_features f;
    CHECK_STATUS(compare(&series, -1, &series, -1, NULL, NULL, &f), TSANOM_OK);
    for (int k = 0; k < TSANOM_HSA_FEATURES; k++) {
      int distance = k == TSANOM_HSA_DTW || k == TSANOM_HSA_LB_KEOGH;
      cr_assert(f.value[k] == (distance ? 0 : 1), "feature %d: %g", k, f.value[k]);
    }
  }
}

/* The rates of a series begin when those of the other one end. */
Test(hsa_features, one_common_time_gives_the_distance_there) {
  const double early[] = {1, 2, 3, 4}, late[] = {3, 4, 6, 8};
  tsanom_hsa_series target = {.time = early, .beats = 4},
                    reference = {.time = late, .beats = 4};
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.window = 1;
  options.max_degree = 0;
  tsanom_hsa_features f;
  CHECK_STATUS(compare(&target, 0, &reference, 0, &options, NULL, &f), TSANOM_OK);
  cr_assert(f.defined >> TSANOM_HSA_DTW & 1 && f.defined >> TSANOM_HSA_LB_KEOGH & 1);
}

Test(hsa_features, scaling_both_clocks_changes_nothing_and_one_shows) {
  uint64_t seed = 13;
  for (int trial = 0; trial < 300; trial++) {
    static beats c, q, c2, q2;
    c = random_beats(&seed, 150);
    q = random_beats(&seed, 150);
    c2 = c;
    q2 = q;
    double factor = ldexp(1, (int)random_between(&seed, 0, 40) - 20);
    for (size_t i = 0; i < c.n; i++) c2.t[i] *= factor;
    for (size_t i = 0; i < q.n; i++) q2.t[i] *= factor;
    tsanom_hsa_series sc = {.time = c.t, .beats = c.n}, sq = {.time = q.t, .beats = q.n},
                      sc2 = {.time = c2.t, .beats = c2.n},
                      sq2 = {.time = q2.t, .beats = q2.n};
    tsanom_hsa_features f, g;
    compare(&sc, 0, &sq, 0, NULL, NULL, &f);
    compare(&sc2, 0, &sq2, 0, NULL, NULL, &g);
    for (int k = 0; k < TSANOM_HSA_FEATURES; k++) {
      cr_assert(close_to(g.value[k], f.value[k], 1e-9), "feature %d", k);
    }
    compare(&sq2, 0, &sq, 0, NULL, NULL, &g);
    cr_assert(close_to(g.value[TSANOM_HSA_GTR], factor, 1e-12));
    cr_assert(close_to(g.value[TSANOM_HSA_LTR], factor, 1e-12));
    cr_assert(close_to(g.value[TSANOM_HSA_INTERVAL_RATIO], factor, 1e-12));
    cr_assert(close_to(g.value[TSANOM_HSA_GHR], 1 / factor, 1e-12));
    cr_assert(close_to(g.value[TSANOM_HSA_LHR], 1 / factor, 1e-12));
  }
}

/* A fifth of the intervals made long, as by another process on the processor, leave the
 * pace nearly alone; all of them made a tenth longer do not. */
Test(hsa_features, interval_ratio_is_of_the_pace_and_not_of_the_waiting) {
  uint64_t seed = 15;
  for (int trial = 0; trial < 300; trial++) {
    static beats usual, waiting, slower;
    usual = random_beats(&seed, 300);
    waiting = slower = usual;
    double late = 0;
    for (size_t i = 0; i < usual.n; i++) {
      if (random_unit(&seed) < 0.2) late += 50;
      waiting.t[i] += late;
      slower.t[i] *= 1.1;
    }
    tsanom_hsa_series q = {.time = usual.t, .beats = usual.n},
                      w = {.time = waiting.t, .beats = waiting.n},
                      s = {.time = slower.t, .beats = slower.n};
    tsanom_hsa_features f;
    compare(&w, 0, &q, 0, NULL, NULL, &f);
    cr_assert(f.value[TSANOM_HSA_GTR] > 2);
    cr_assert(f.value[TSANOM_HSA_INTERVAL_RATIO] < 1.25);
    compare(&s, 0, &q, 0, NULL, NULL, &f);
    cr_assert(close_to(f.value[TSANOM_HSA_INTERVAL_RATIO], 1.1, 1e-9));
  }
}

Test(hsa_features, are_the_same_at_every_level_and_thread_count) {
  uint64_t seed = 14;
  for (int trial = 0; trial < 50; trial++) {
    static beats c, q;
    c = random_beats(&seed, 20);
    q = random_beats(&seed, 20);
    tsanom_hsa_series target = {.time = c.t, .beats = c.n},
                      reference = {.time = q.t, .beats = q.n};
    tsanom_hsa_features first, again;
    compare(&target, 0, &reference, 0, NULL, NULL, &first);
    FOR_EACH_ISA (isa) {
      for (int32_t threads = 0; threads < 4; threads++) {
        tsanom_exec exec = exec_at(isa, threads);
        compare(&target, 0, &reference, 0, NULL, &exec, &again);
        /* NOLINTNEXTLINE: bits are what is asked */
        cr_assert(memcmp(&again, &first, sizeof first) == 0);
      }
    }
  }
}

Test(hsa_features, of_a_series_shorter_than_a_window_are_time_and_beats) {
  double q[100], c[] = {1, 2, 3};
  for (int i = 0; i < 100; i++) q[i] = i + 1;
  tsanom_hsa_series target = {.time = c, .beats = 3},
                    reference = {.time = q, .beats = 100};
  tsanom_hsa_options options;
  tsanom_hsa_options_init(&options, sizeof options);
  options.window = 3;
  tsanom_hsa_features f;
  CHECK_STATUS(compare(&target, 0, &reference, 0, &options, NULL, &f), TSANOM_OK);
  cr_assert(f.defined == (1 << TSANOM_HSA_GTR | 1 << TSANOM_HSA_BEAT_RATIO |
                          1 << TSANOM_HSA_INTERVAL_RATIO));
  cr_assert(f.value[TSANOM_HSA_GTR] == 0.03 && f.value[TSANOM_HSA_BEAT_RATIO] == 0.03);
  /* No time at which both have a heart rate: no distances. */
  options.window = 1;
  double late[] = {200, 201, 202, 203};
  tsanom_hsa_series other = {.time = late, .beats = 4};
  CHECK_STATUS(compare(&other, 0, &reference, 0, &options, NULL, &f), TSANOM_OK);
  cr_assert((f.defined >> TSANOM_HSA_DTW & 1) == 0 &&
            (f.defined >> TSANOM_HSA_LB_KEOGH & 1) == 0);
  /* The letter of eq. 8 has nothing to divide by on a steady reference. */
  options.local_rate = TSANOM_HSA_LOCAL_RATE_LITERAL;
  CHECK_STATUS(compare(&target, 0, &reference, 0, &options, NULL, &f), TSANOM_OK);
  cr_assert((f.defined >> TSANOM_HSA_LHR & 1) == 0);
}
