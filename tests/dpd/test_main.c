/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of sequences that were generated from loops, and by the definition. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "dpd/naive_main.h"
#include "support/random.h"

enum { KINDS = 40, MOST = 60000 };

/* A sequence, and where its iterations truly begin. */
typedef struct {
  uint32_t event[MOST];
  size_t n, begin[MOST], iterations, end;
} sequence;

static void put(sequence *q, uint32_t kind) {
  cr_assert(q->n < MOST);
  q->event[q->n++] = kind;
}

static tsanom_status find(const uint32_t *event, const double *time, size_t n,
                          tsanom_dpd_main *found, tsanom_dpd_iteration *iteration,
                          size_t capacity) {
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = KINDS;
  *found = (tsanom_dpd_main){.struct_size = sizeof *found};
  return tsanom_dpd_main_loop(event, time, n, &options, NULL, found, iteration, capacity);
}

/* Whether the iterations of the sequence are found as they truly are. */
static bool is_found(const sequence *q) {
  static tsanom_dpd_iteration iteration[MOST];
  tsanom_dpd_main found;
  if (find(q->event, NULL, q->n, &found, iteration, MOST) != TSANOM_OK) return false;
  bool is = found.iterations == q->iterations;
  for (size_t i = 0; i < found.iterations && is; i++) {
    size_t end = i + 1 < q->iterations ? q->begin[i + 1] : q->end;
    is = iteration[i].first == q->begin[i] && iteration[i].end == end;
  }
  return is;
}

/* What comes once before or after the loop, of kinds that the loop does not have. */
static void put_others(sequence *q, uint64_t *seed, uint32_t from) {
  for (uint64_t k = random_between(seed, 0, 9); k > 0; k--) put(q, from + (uint32_t)k);
}

/* `size` kinds in a row; behind some of them an inner loop of 1 to `trips` times one to
 * three kinds of its own; two optional parts, a tenth of the time each. */
static void put_body(sequence *q, uint64_t *seed, uint64_t shape, uint32_t size,
                     uint64_t trips) {
  uint32_t inner = size;
  for (uint32_t k = 0; k < size; k++) {
    put(q, k);
    if (shape >> k & 1) {
      uint32_t kinds = 1 + (uint32_t)(shape >> (20 + k) & 1) * 2;
      if (inner + kinds > 20) continue;
      for (uint64_t t = random_between(seed, 1, trips); t > 0; t--) {
        for (uint32_t i = 0; i < kinds; i++) put(q, inner + i);
      }
      inner += kinds;
    }
    if (k == 2 && random_between(seed, 0, 9) == 0) put(q, 20);
    if (k == 3 && random_between(seed, 0, 9) == 0) put(q, 21);
  }
}

/* Trip counts of any kind in a loop that has few kinds besides look like chance now and
 * then. */
Test(dpd_main, iterations_of_any_trip_counts_are_found) {
  static sequence q;
  int found = 0;
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(400); trial++) {
    uint64_t shape = random_bits(&seed);
    uint32_t size = (uint32_t)random_between(&seed, 7, 12);
    uint64_t trips = random_between(&seed, 1, 12);
    q.n = q.iterations = 0;
    put_others(&q, &seed, 21);
    size_t count = (size_t)random_between(&seed, 12, 60);
    for (size_t i = 0; i < count; i++) {
      q.begin[q.iterations++] = q.n;
      /* The ends of a loop are usual iterations. */
      uint64_t quiet = 3;
      bool is_end = i == 0 || i + 1 == count;
      put_body(&q, is_end ? &quiet : &seed, shape, size, trips);
    }
    q.end = q.n;
    put_others(&q, &seed, 30);
    found += is_found(&q);
  }
  cr_assert(found >= CASES(390), "%d of 400", found);
}

/* Sequences of loops, near loops and chance, of few kinds, against the definition. */
Test(dpd_main, is_that_of_the_definition) {
  static sequence q;
  uint64_t seed = 11;
  int loops = 0;
  for (int trial = 0; trial < CASES(6000); trial++) {
    q.n = 0;
    uint32_t kinds = (uint32_t)random_between(&seed, 2, 14);
    size_t length = random_between(&seed, 2, 10), part = random_between(&seed, 2, 30);
    uint32_t body[10];
    for (size_t k = 0; k < length; k++)
      body[k] = (uint32_t)random_between(&seed, 0, kinds);
    size_t most = random_between(&seed, 10, 300);
    while (q.n < most) {
      for (size_t k = 0; k < length; k++) {
        size_t chance = random_between(&seed, 0, 3 * part);
        if (chance == 0) put(&q, (uint32_t)random_between(&seed, 0, kinds));
        for (size_t t = chance == 1 ? random_between(&seed, 0, 3) : 1; t > 0; t--) {
          put(&q, body[k]);
        }
      }
    }
    tsanom_dpd_main found;
    naive_loop naive = naive_main(q.event, q.n);
    bool has_loop = find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK;
    loops += has_loop;
    cr_assert(has_loop == (naive.anchor != UINT32_MAX), "%d", trial);
    if (!has_loop) continue;
    cr_assert(found.anchor == naive.anchor, "%d: %zu, %u", trial, found.anchor,
              naive.anchor);
    cr_assert(found.iterations == naive.iterations && found.runs == naive.runs,
              "%d: %zu in %zu, %zu in %zu", trial, found.iterations, found.runs,
              naive.iterations, naive.runs);
    cr_assert(found.first == naive.first && found.end == naive.end, "%d", trial);
    cr_assert(found.places == naive.places, "%d: %zu, %zu", trial, found.places,
              naive.places);
  }
  cr_assert(loops > CASES(2000) && loops < CASES(6000), "%d", loops);
}

/* An inner loop that takes most of the events is not the main loop, unless the outer one
 * has hardly anything else. */
Test(dpd_main, the_outer_loop_is_the_main_loop) {
  static sequence q;
  uint64_t seed = 2;
  for (int trial = 0; trial < 50; trial++) {
    q.n = q.iterations = 0;
    for (int i = 0; i < 25; i++) {
      q.begin[q.iterations++] = q.n;
      for (uint32_t k = 0; k < 5; k++) put(&q, k);
      for (uint64_t t = random_between(&seed, 20, 90); t > 0; t--) {
        for (uint32_t k = 5; k < 8; k++) put(&q, k);
      }
    }
    q.end = q.n;
    cr_assert(is_found(&q), "%d", trial);
  }
}

/* Every tenth of 87 steps has more: not 8 groups of ten, but 87. */
Test(dpd_main, steps_are_not_grouped_by_what_some_of_them_have) {
  static sequence q;
  for (uint32_t more = 1; more <= 3; more++) {
    q.n = q.iterations = 0;
    for (int i = 0; i < 87; i++) {
      q.begin[q.iterations++] = q.n;
      for (uint32_t k = 0; k < 10; k++) put(&q, k);
      for (uint32_t k = 0; i % 10 == 9 && k < more; k++) put(&q, 30 + k);
    }
    q.end = q.n;
    cr_assert(is_found(&q), "%u", more);
  }
}

/* Nor are steps of one or two regions, behind each tenth or hundredth of which comes one
 * more. Ten of a smoother in a step of two kinds more are no steps. */
Test(dpd_main, short_steps_are_not_grouped_either) {
  static sequence q;
  for (uint32_t size = 1; size <= 3; size++) {
    for (size_t every = 10; every <= 100; every += 15) {
      for (size_t lacking = 0; lacking < every; lacking += 7) {
        q.n = 0;
        for (size_t i = 0; i < 500; i++) {
          for (uint32_t k = 0; k < size; k++) put(&q, k);
          if (i % every == every - 1 - lacking) put(&q, 9);
        }
        tsanom_dpd_main found;
        cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK);
        cr_assert(found.iterations == 500 && found.anchor == 0, "%u each %zu: %zu", size,
                  every, found.iterations);
      }
    }
  }
  q.n = 0;
  for (size_t i = 0; i < 50; i++) {
    put(&q, 1);
    for (size_t k = 0; k < 10; k++) put(&q, 0);
    put(&q, 2);
  }
  tsanom_dpd_main found;
  cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 50 && found.anchor == 1);
}

/* 51 steps in pieces of 37 and 14, with something long in between. */
Test(dpd_main, the_runs_of_a_loop_are_one_loop) {
  static sequence q;
  tsanom_dpd_main found;
  q.n = q.iterations = 0;
  for (int i = 0; i < 51; i++) {
    q.begin[q.iterations++] = q.n;
    for (uint32_t k = 0; k < 10; k++) put(&q, k);
    if (i == 36) {
      for (uint32_t k = 0; k < 100; k++) put(&q, 15 + k % 20);
    }
  }
  cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 51 && found.runs == 2 && found.anchor == 0);
  cr_assert(found.first == 0 && found.end == q.n && found.covered == 510);
}

/* A third of the events is a loop: too few to name it. */
Test(dpd_main, what_is_not_clear_is_a_candidate) {
  static sequence q;
  tsanom_dpd_main found;
  uint64_t seed = 1;
  q.n = q.iterations = 0;
  for (int i = 0; i < 60; i++) {
    for (uint32_t k = 0; k < 4; k++) put(&q, k);
    for (size_t k = random_between(&seed, 1, 5); k > 0; k--) {
      put(&q, (uint32_t)random_between(&seed, 4, 19));
    }
  }
  cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_INFEASIBLE);
  cr_assert(found.iterations == 0 && found.anchor == TSANOM_NONE && found.relations >= 1,
            "%zu", found.relations);
  cr_assert(found.related[0].anchor == 0 &&
            found.related[0].relation == TSANOM_DPD_CANDIDATE &&
            found.related[0].iterations >= 59);
}

/* A body that has a kind twice, at different places, is one iteration. */
Test(dpd_main, a_kind_that_is_twice_in_an_iteration_divides_nothing) {
  static const uint32_t bodies[][9] = {{0, 1, 2, 0, 1, 3, 0, 4, 5},
                                       {0, 0, 1, 1, 2, 2, 3, 3, 4},
                                       {0, 1, 0, 2, 0, 3, 4, 5, 6}};
  static sequence q;
  for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
    q.n = q.iterations = 0;
    for (int i = 0; i < 20; i++) {
      for (uint32_t k = 0; k < 9; k++) put(&q, bodies[b][k]);
    }
    tsanom_dpd_main found;
    cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK, "%zu", b);
    cr_assert(found.iterations >= 19 && found.iterations <= 20, "%zu: %zu", b,
              found.iterations);
  }
}

/* What comes once before the second iteration is not part of the loop, although the
 * first one looks like the others. */
Test(dpd_main, a_warm_up_is_no_iteration) {
  static sequence q;
  q.n = 0;
  for (uint32_t k = 0; k < 6; k++) put(&q, k);
  put(&q, 30);
  put(&q, 31);
  for (int i = 0; i < 200; i++) {
    for (uint32_t k = 0; k < 6; k++) put(&q, k);
  }
  tsanom_dpd_main found;
  cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 200 && found.first == 8, "%zu", found.iterations);
}

Test(dpd_main, one_kind_alone_is_a_loop) {
  static const uint32_t same[30] = {0};
  tsanom_dpd_main found;
  cr_assert(find(same, NULL, 30, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 30 && found.places == 1);
  cr_assert(find(same, NULL, 2, &found, NULL, 0) == TSANOM_INFEASIBLE);
  cr_assert(find(NULL, NULL, 0, &found, NULL, 0) == TSANOM_INFEASIBLE);
  /* 2,000 of them before each of three steps of others. */
  static sequence q;
  q.n = 0;
  for (int i = 0; i < 4; i++) {
    for (int t = 0; t < 2000; t++) put(&q, 0);
    for (uint32_t k = 1; k < 6; k++) put(&q, k);
  }
  cr_assert(find(q.event, NULL, q.n, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 4);
}

/* Random sequences of four kinds or more have no order of their own. */
Test(dpd_main, random_sequences_have_no_main_loop) {
  uint64_t seed = 4;
  int loops = 0;
  for (int trial = 0; trial < CASES(400); trial++) {
    static uint32_t event[2000];
    uint64_t kinds = random_between(&seed, 4, KINDS);
    for (size_t i = 0; i < 2000; i++)
      event[i] = (uint32_t)random_between(&seed, 0, kinds - 1);
    tsanom_dpd_main found;
    loops += find(event, NULL, 2000, &found, NULL, 0) == TSANOM_OK;
  }
  cr_assert(loops == 0, "%d of 400", loops);
}

/* Time decides, not the number of events. */
Test(dpd_main, the_loop_of_most_time_is_the_main_loop) {
  static uint32_t event[700];
  static double time[701];
  for (int i = 0; i < 600; i++) event[i] = (uint32_t)(i % 3);
  for (int i = 600; i < 700; i++) event[i] = 10 + (uint32_t)(i % 5);
  for (int i = 0; i < 700; i++) time[i + 1] = time[i] + (i < 600 ? 1 : 100);
  tsanom_dpd_main found;
  cr_assert(find(event, time, 700, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 20 && found.anchor == 10 && found.covered == 10000);
  cr_assert(find(event, NULL, 700, &found, NULL, 0) == TSANOM_OK);
  cr_assert(found.iterations == 200 && found.anchor == 0 && found.covered == 600);
}

/* More kinds than are examined repeat before the main loop begins, or after its end: those of
 * the longest time are kept. */
Test(dpd_main, the_kinds_of_the_longest_spans_are_examined) {
  enum { LOOP = 4, ITERATIONS = 3000, OTHERS = 2500, TIMES = 3 };
  static uint32_t event[LOOP * ITERATIONS + TIMES * OTHERS];
  uint64_t seed = 9;
  for (int trial = 0; trial < 20; trial++) {
    bool is_behind = trial % 2;
    size_t n = 0, begin = 0;
    for (int part = 0; part < 2; part++) {
      if (part == is_behind) begin = n;
      for (size_t i = 0; part == is_behind && i < LOOP * ITERATIONS; i++) {
        event[n++] = (uint32_t)i % LOOP;
      }
      for (size_t i = 0; part != is_behind && i < TIMES * OTHERS; i++) {
        event[n++] = LOOP + (uint32_t)random_between(&seed, 0, OTHERS - 1);
      }
    }
    tsanom_dpd_main_options options;
    tsanom_dpd_main found;
    tsanom_dpd_main_options_init(&options, sizeof options);
    found = (tsanom_dpd_main){.struct_size = sizeof found};
    options.kinds = LOOP + OTHERS;
    cr_assert(tsanom_dpd_main_loop(event, NULL, n, &options, NULL, &found, NULL, 0) ==
              TSANOM_OK);
    cr_assert(found.iterations == ITERATIONS && found.first == begin, "%d: %zu from %zu",
              trial, found.iterations, found.first);
  }
}

Test(dpd_main, a_named_loop_is_followed_whatever_its_iterations_are) {
  static sequence q;
  uint64_t seed = 6;
  q.n = 0;
  for (int i = 0; i < 50; i++) {
    put(&q, 7);
    for (uint64_t k = random_between(&seed, 0, 30); k > 0; k--) {
      put(&q, (uint32_t)random_between(&seed, 8, 30));
    }
  }
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = KINDS;
  options.anchor = 7;
  tsanom_dpd_main found = {.struct_size = sizeof found};
  cr_assert(tsanom_dpd_main_loop(q.event, NULL, q.n, &options, NULL, &found, NULL, 0) ==
            TSANOM_OK);
  cr_assert(found.iterations >= 49 && found.anchor == 7 && found.runs == 1);
}

/* A stream that goes on: its last iteration is not known to be complete, and loops that
 * ended before do not count if only active ones are wanted. */
Test(dpd_main, streams_that_go_on) {
  static uint32_t event[220];
  for (int i = 0; i < 200; i++) event[i] = (uint32_t)(i % 4);
  for (int i = 200; i < 220; i++) event[i] = 10 + (uint32_t)(i % 5);
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = KINDS;
  tsanom_dpd_main found = {.struct_size = sizeof found};
  options.ended = 0;
  cr_assert(tsanom_dpd_main_loop(event, NULL, 220, &options, NULL, &found, NULL, 0) ==
            TSANOM_OK);
  cr_assert(found.anchor == 0 && found.iterations == 50);
  options.active = 1;
  cr_assert(tsanom_dpd_main_loop(event, NULL, 220, &options, NULL, &found, NULL, 0) ==
            TSANOM_OK);
  cr_assert(found.anchor == 10 && found.iterations == 3 && found.first == 200);
  /* It is active if its last iteration began two of its iterations ago, not longer, from
   * whatever event these are counted. */
  for (int i = 200; i < 220; i++) event[i] = (uint32_t)(i - 190);
  cr_assert(tsanom_dpd_main_loop(event, NULL, 204, &options, NULL, &found, NULL, 0) ==
            TSANOM_OK);
  cr_assert(found.anchor == 0 && found.iterations == 50);
  cr_assert(tsanom_dpd_main_loop(event, NULL, 209, &options, NULL, &found, NULL, 0) ==
            TSANOM_INFEASIBLE);
}

Test(dpd_main, invalid_input_is_rejected) {
  static const uint32_t event[] = {0, 1, 0, 1, 0, 1};
  static const double late[] = {0, 1, 2, 1, 4, 5, 6}, nan[] = {0, 1, 2, 3, 4, NAN, 6};
  tsanom_dpd_main found = {.struct_size = sizeof found};
  tsanom_dpd_main_options o;
  cr_assert(tsanom_dpd_main_options_init(&o, sizeof o) == TSANOM_OK);
  cr_assert(tsanom_dpd_main_loop(event, NULL, 6, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_OPTION);
  cr_assert(tsanom_dpd_main_loop(event, NULL, 6, NULL, NULL, &found, NULL, 0) ==
            TSANOM_E_OPTION);
  o.kinds = 2;
  cr_assert(tsanom_dpd_main_loop(event, late, 6, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_ORDER);
  cr_assert(tsanom_dpd_main_loop(event, nan, 6, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_NONFINITE);
  cr_assert(tsanom_dpd_main_loop(event, NULL, SIZE_MAX, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_OVERFLOW);
  o.kinds = 1;
  cr_assert(tsanom_dpd_main_loop(event, NULL, 6, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_INDEX);
  o.kinds = 2;
  o.anchor = 2;
  cr_assert(tsanom_dpd_main_loop(event, NULL, 6, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_OPTION);
  o.anchor = TSANOM_NONE;
  o.active = 2;
  cr_assert(tsanom_dpd_main_loop(event, NULL, 6, &o, NULL, &found, NULL, 0) ==
            TSANOM_E_OPTION);
  o.active = 0;
  tsanom_dpd_iteration one[1];
  cr_assert(tsanom_dpd_main_loop(event, NULL, 6, &o, NULL, &found, one, 1) ==
            TSANOM_PARTIAL);
  cr_assert(found.iterations == 3 && one[0].first == 0 && one[0].end == 2);
}
