/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "streams.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { EVENTS = 600, LONGEST = 100 };

static tsanom_dpd_nest *make_nest(const tsanom_dpd_nest_options *options, int32_t isa) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = isa;
  tsanom_dpd_nest *nest = NULL;
  CHECK_STATUS(tsanom_dpd_nest_create(options, &exec, &nest), TSANOM_OK);
  return nest;
}

/* The definition, by the run length of every delay. */
typedef struct {
  size_t run[LONGEST + 1];
  size_t found[LONGEST + 1]; /* event + 1; 0: no loop goes on */
} naive_nest;

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static void naive_push(naive_nest *naive, const uint64_t *event, size_t newest,
                       const tsanom_dpd_nest_options *options) {
  for (size_t p = 1; p <= options->max_period; p++) {
    int equal = p <= newest && event[newest] == event[newest - p];
    naive->run[p] = equal ? naive->run[p] + 1 : 0;
  }
  for (size_t p = 1; p <= options->max_period; p++) {
    if (naive->run[p] == 0) naive->found[p] = 0;
    size_t least = larger(options->repeats * p, options->least_events);
    int primitive = 1;
    for (size_t d = 1; d < p; d++) {
      if (p % d == 0 && naive->run[d] + d >= naive->run[p] + p) primitive = 0;
    }
    if (!naive->found[p] && primitive && naive->run[p] + p >= least) {
      naive->found[p] = newest + 1;
    }
  }
}

static void check_loops(const tsanom_dpd_nest *nest, const naive_nest *naive,
                        size_t newest, size_t max_period) {
  tsanom_dpd_loop loop[LONGEST];
  size_t count = 0, expected = 0;
  CHECK_STATUS(tsanom_dpd_nest_loops(nest, loop, LONGEST, &count), TSANOM_OK);
  for (size_t p = 1; p <= max_period; p++) {
    if (!naive->found[p]) continue;
    cr_assert(expected < count && loop[expected].period == p, "period %zu at %zu", p,
              newest);
    cr_assert(loop[expected].first == newest + 1 - naive->run[p] - p);
    cr_assert(loop[expected].found == naive->found[p] - 1);
    expected++;
  }
  cr_assert(count == expected, "%zu loops, not %zu, at %zu", count, expected, newest);
}

Test(dpd_nest, the_loops_are_those_of_the_definition) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 1000; trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    tsanom_dpd_nest_options options;
    tsanom_dpd_nest_options_init(&options, sizeof options);
    options.max_period = random_between(&seed, 1, LONGEST);
    options.repeats = random_between(&seed, 3, 5);
    options.least_events = random_between(&seed, 0, 12);
    FOR_EACH_ISA (isa) {
      tsanom_dpd_nest *nest = make_nest(&options, isa);
      naive_nest naive = {{0}, {0}};
      for (size_t i = 0; i < EVENTS; i++) {
        tsanom_dpd_nest_push(nest, event[i], NULL);
        naive_push(&naive, event, i, &options);
        check_loops(nest, &naive, i, options.max_period);
      }
      tsanom_dpd_nest_destroy(nest);
    }
  }
}

/* Real streams; tests/data/streams/README.md tells where they are from. */
static const struct {
  const char *name;
  size_t periods;
  struct {
    size_t period, level;
  } expected[8];
} recorded[] = {
    {"npb30c.cg.W.t2.txt", 2, {{1, 1}, {29, 2}}},
    {"npb34f.mg.W.t2.txt", 3, {{2, 1}, {6, 1}, {52, 2}}},
    {"lulesh.s10.i100.txt", 6, {{1, 1}, {2, 1}, {12, 1}, {14, 1}, {26, 1}, {491, 2}}},
};

Test(dpd_nest, every_period_of_recorded_streams_and_no_other) {
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
    size_t events, count = 0;
    uint64_t *event = stream_read(recorded[i].name, &events);
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
