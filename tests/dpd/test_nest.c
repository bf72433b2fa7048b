/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested loops: after each event of random streams, beside the naive detector, at every
 * instruction set; and in recorded streams, whose loops are known. Starts and predictions
 * must follow from the loops that go on. */
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "dpd/naive_nest.h"
#include "streams.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/random.h"

enum { EVENTS = 600, LONGEST = NAIVE_LONGEST };

static tsanom_dpd_nest *make_nest(const tsanom_dpd_nest_options *options, int32_t isa) {
  tsanom_exec exec = exec_at(isa, 1);
  tsanom_dpd_nest *nest = NULL;
  CHECK_STATUS(tsanom_dpd_nest_create(options, &exec, &nest), TSANOM_OK);
  return nest;
}

/* The loops up to max_period are those of the definition. Of a long one that was found
 * anew the beginning is forgotten, but for the events that are `remembered`. */
static void check_loops(const tsanom_dpd_nest *nest, const naive_nest *naive,
                        size_t newest, size_t max_period, size_t remembered) {
  tsanom_dpd_loop loop[LONGEST];
  size_t count = 0, expected = 0;
  CHECK_STATUS(tsanom_dpd_nest_loops(nest, loop, LONGEST, &count), TSANOM_OK);
  for (size_t p = 1; p <= max_period; p++) {
    if (!naive->found[p]) continue;
    cr_assert(expected < count && loop[expected].period == p, "period %zu at %zu", p,
              newest);
    size_t first = newest + 1 - naive->run[p] - p;
    cr_assert(loop[expected].first == first ||
              (loop[expected].first > first && first + remembered < newest));
    cr_assert(loop[expected].found == naive->found[p] - 1);
    expected++;
  }
  cr_assert(count == expected, "%zu loops, not %zu, at %zu", count, expected, newest);
}

/* Whether an event is in a loop of a period. */
typedef struct {
  bool of[LONGEST + 1][EVENTS];
} covered;

static void cover(covered *all, const naive_nest *naive, size_t newest) {
  for (size_t p = 1; p <= LONGEST; p++) {
    size_t events = naive->found[p] ? naive->run[p] + p : 0;
    for (size_t i = 0; i < events; i++) all->of[p][newest - i] = true;
  }
}

/* Events count once, whether they are in one loop of a period or in several. */
static void check_events(const tsanom_dpd_nest *nest, const covered *all) {
  tsanom_dpd_period period[LONGEST];
  size_t count = 0;
  CHECK_STATUS(tsanom_dpd_nest_periods(nest, period, LONGEST, &count), TSANOM_OK);
  for (size_t k = 0; k < count; k++) {
    size_t events = 0;
    for (size_t i = 0; i < EVENTS; i++) events += all->of[period[k].period][i];
    cr_assert(period[k].events == events, "period %zu", period[k].period);
  }
}

Test(dpd_nest, the_loops_are_those_of_the_definition) {
  static covered all;
  uint64_t seed = 1;
  for (int trial = 0; trial < CASES(1000); trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    /* Events that differ in one half only. */
    for (size_t k = 0; trial % 2 && k < EVENTS; k++)
      event[k] = event[k] % 3 + (event[k] / 3 << 32);
    tsanom_dpd_nest_options options;
    tsanom_dpd_nest_options_init(&options, sizeof options);
    options.max_period = random_between(&seed, 1, LONGEST);
    options.repeats = random_between(&seed, 3, 5);
    options.least_events = random_between(&seed, 0, 12);
    FOR_EACH_ISA (isa) {
      tsanom_dpd_nest *nest = make_nest(&options, isa);
      naive_nest naive = {{0}, {0}};
      memset(&all, 0, sizeof all);
      for (size_t i = 0; i < EVENTS; i++) {
        tsanom_dpd_nest_push(nest, event[i], NULL);
        naive_push(&naive, event, i, &options);
        check_loops(nest, &naive, i, options.max_period, EVENTS);
        cover(&all, &naive, i);
      }
      check_events(nest, &all);
      tsanom_dpd_nest_destroy(nest);
    }
  }
}

Test(dpd_nest, a_resize_keeps_the_history) {
  uint64_t seed = 2;
  for (int trial = 0; trial < CASES(300); trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    tsanom_dpd_nest_options options;
    tsanom_dpd_nest_options_init(&options, sizeof options);
    options.max_period = random_between(&seed, 1, LONGEST);
    size_t largest = options.max_period;
    tsanom_dpd_nest *nest = make_nest(&options, TSANOM_ISA_AUTO);
    naive_nest naive = {{0}, {0}};
    for (size_t i = 0; i < EVENTS; i++) {
      tsanom_dpd_nest_push(nest, event[i], NULL);
      naive_push(&naive, event, i, &options);
      if (random_bits(&seed) % 40 == 0) {
        options.max_period = random_between(&seed, 1, largest);
        CHECK_STATUS(tsanom_dpd_nest_resize(nest, options.max_period), TSANOM_OK);
        CHECK_STATUS(tsanom_dpd_nest_resize(nest, 0), TSANOM_E_OPTION);
        CHECK_STATUS(tsanom_dpd_nest_resize(nest, largest + 1), TSANOM_E_OPTION);
        cr_assert(tsanom_dpd_nest_max_period(nest) == options.max_period);
        naive_judge(&naive, i, &options);
      }
      check_loops(nest, &naive, i, LONGEST, 2 * largest);
    }
    tsanom_dpd_nest_destroy(nest);
  }
}

Test(dpd_nest, a_period_that_a_resize_drops_ends_there) {
  tsanom_dpd_nest *nest = make_nest(NULL, TSANOM_ISA_AUTO);
  for (uint64_t i = 0; i < 200; i++) tsanom_dpd_nest_push(nest, i % 30, NULL);
  CHECK_STATUS(tsanom_dpd_nest_resize(nest, 29), TSANOM_OK);
  tsanom_dpd_nest_push(nest, 200 % 30, NULL);
  tsanom_dpd_period period;
  size_t count = 0;
  CHECK_STATUS(tsanom_dpd_nest_periods(nest, &period, 1, &count), TSANOM_OK);
  cr_assert(count == 1 && period.period == 30 && period.first == 0);
  cr_assert(period.last == 199 && period.events == 200 && period.loops == 1);
  tsanom_dpd_nest_destroy(nest);
}

Test(dpd_nest, many_pushes_are_as_many_single_ones) {
  uint64_t seed = 3;
  for (int trial = 0; trial < CASES(200); trial++) {
    uint64_t event[EVENTS];
    int32_t changed[EVENTS];
    stream_random(event, EVENTS, &seed);
    tsanom_dpd_nest *single = make_nest(NULL, TSANOM_ISA_AUTO);
    tsanom_dpd_nest *many = make_nest(NULL, TSANOM_ISA_AUTO);
    size_t part = random_between(&seed, 0, EVENTS);
    tsanom_dpd_nest_push_many(many, event, part, changed);
    tsanom_dpd_nest_push_many(many, event + part, EVENTS - part, changed + part);
    for (size_t i = 0; i < EVENTS; i++) {
      int32_t expected = -1;
      tsanom_dpd_nest_push(single, event[i], &expected);
      cr_assert(changed[i] == expected);
    }
    tsanom_dpd_nest_destroy(single);
    tsanom_dpd_nest_destroy(many);
  }
}

Test(dpd_nest, the_starts_are_the_first_events_of_iterations) {
  uint64_t seed = 4;
  for (int trial = 0; trial < CASES(300); trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    tsanom_dpd_nest *nest = make_nest(NULL, TSANOM_ISA_AUTO);
    for (size_t i = 0; i < EVENTS; i++) {
      tsanom_dpd_loop loop[64], start[64];
      size_t loops = 0, starts = 0, expected = 0;
      tsanom_dpd_nest_push(nest, event[i], NULL);
      CHECK_STATUS(tsanom_dpd_nest_loops(nest, loop, 64, &loops), TSANOM_OK);
      CHECK_STATUS(tsanom_dpd_nest_starts(nest, start, 64, &starts), TSANOM_OK);
      for (size_t k = 0; k < loops; k++) {
        if ((i - loop[k].first) % loop[k].period != 0) continue;
        cr_assert(expected < starts && start[expected].period == loop[k].period);
        expected++;
      }
      cr_assert(starts == expected);
    }
    tsanom_dpd_nest_destroy(nest);
  }
}

/* The longest loop goes on as it was, whatever runs inside it. */
Test(dpd_nest, prediction_continues_the_longest_period) {
  uint64_t seed = 5;
  size_t predictions = 0;
  for (int trial = 0; trial < CASES(200); trial++) {
    uint64_t event[EVENTS], next[150];
    stream_random(event, EVENTS, &seed);
    tsanom_dpd_nest *nest = make_nest(NULL, TSANOM_ISA_AUTO);
    for (size_t i = 0; i < EVENTS; i++) {
      tsanom_dpd_loop loop[64];
      size_t loops = 0;
      tsanom_dpd_nest_push(nest, event[i], NULL);
      tsanom_dpd_nest_loops(nest, loop, 64, &loops);
      next[0] = 12345;
      tsanom_status status = tsanom_dpd_nest_predict(nest, next, 150);
      if (loops == 0) {
        cr_assert(status == TSANOM_INFEASIBLE && next[0] == 12345);
        continue;
      }
      size_t period = loop[loops - 1].period;
      cr_assert(status == TSANOM_OK);
      for (size_t k = 0; k < 150; k++) {
        cr_assert(next[k] == event[i + 1 - period + k % period]);
      }
      predictions++;
    }
    tsanom_dpd_nest_destroy(nest);
  }
  cr_assert(predictions > 1000);
}

Test(dpd_nest, bad_arguments_are_rejected) {
  uint64_t event = 1;
  cr_assert(tsanom_dpd_nest_max_period(NULL) == 0);
  tsanom_dpd_nest *nest = make_nest(NULL, TSANOM_ISA_AUTO);
  CHECK_STATUS(tsanom_dpd_nest_push_many(nest, &event, SIZE_MAX / 4, NULL),
               TSANOM_E_OVERFLOW);
  CHECK_STATUS(tsanom_dpd_nest_predict(nest, &event, SIZE_MAX / 4), TSANOM_E_OVERFLOW);
  tsanom_dpd_nest_destroy(nest);
}

Test(dpd_nest, options_are_checked) {
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  static const struct {
    tsanom_dpd_nest_options options;
    const char *text;
  } bad[] = {
      {{sizeof bad[0].options, 0, 3, 8, 64},
       "options.max_period is 0; 1 to 16777216 is expected"},
      {{sizeof bad[0].options, TSANOM_DPD_WINDOW_MAX, 3, 8, 64},
       "options.max_period is 67108864; 1 to 16777216 is expected"},
      {{sizeof bad[0].options, 9, 2, 8, 64}, "options.repeats is 2; 3 to 16 is expected"},
      {{sizeof bad[0].options, 9, 3, 65, 64},
       "options.least_events is 65; 0 to 64 is expected"},
      {{sizeof bad[0].options, 9, 3, 8, 0},
       "options.capacity is 0; 1 to 4096 is expected"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsanom_dpd_nest *nest = NULL;
    CHECK_STATUS(tsanom_dpd_nest_create(&bad[i].options, &exec, &nest), TSANOM_E_OPTION);
    cr_assert_str_eq(fault.text, bad[i].text);
    cr_assert(nest == NULL);
  }
}

/* Recorded streams, described in tests/data/streams/README.md. */
static const struct {
  const char *name;
  size_t times, periods;
  struct {
    size_t period, level;
  } expected[8];
} recorded[] = {
    {"npb30c.cg.W.t2.txt", 1, 2, {{1, 1}, {29, 2}}},
    {"npb34f.mg.W.t2.txt", 1, 3, {{2, 1}, {6, 1}, {52, 2}}},
    {"lulesh.s10.txt", 100, 6, {{1, 1}, {2, 1}, {12, 1}, {14, 1}, {26, 1}, {491, 2}}},
};

Test(dpd_nest, every_period_of_recorded_streams_and_no_other) {
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
    size_t events, count = 0;
    uint64_t *event = stream_read(recorded[i].name, recorded[i].times, &events);
    tsanom_dpd_nest *nest = make_nest(NULL, TSANOM_ISA_AUTO);
    for (size_t k = 0; k < events; k++) tsanom_dpd_nest_push(nest, event[k], NULL);
    tsanom_dpd_period period[16];
    CHECK_STATUS(tsanom_dpd_nest_periods(nest, period, 16, &count), TSANOM_OK);
    cr_assert(count == recorded[i].periods, "%s: %zu", recorded[i].name, count);
    for (size_t k = 0; k < count; k++) {
      cr_assert(period[k].period == recorded[i].expected[k].period);
      cr_assert(period[k].level == recorded[i].expected[k].level);
    }
    tsanom_dpd_nest_destroy(nest);
    free(event);
  }
}
