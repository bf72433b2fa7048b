/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved states: a restored analyzer continues as the saved one, bit by bit. A state that
 * was changed is rejected, or makes an analyzer that accesses its own memory only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer.h"
#include "support/random.h"
#include "support/state.h"

enum { EVENTS = 500, TRIALS = 500, LOOPS = 64 };

static unsigned char *saved(const tsanom_speedup *analyzer, size_t *bytes) {
  CHECK_STATUS(tsanom_save(analyzer, NULL, 0, bytes), TSANOM_PARTIAL);
  unsigned char *state = malloc(*bytes);
  CHECK_STATUS(tsanom_save(analyzer, state, *bytes, bytes), TSANOM_OK);
  return state;
}

/* Loops in loops of changing numbers of threads, with interruptions. */
static void fill_events(tsanom_speedup_event *event, size_t count, uint64_t *seed) {
  size_t period = random_between(seed, 1, 20), inner = random_between(seed, 1, period);
  int32_t threads = 1;
  double now = 0;
  for (size_t i = 0; i < count; i++) {
    if (random_bits(seed) % 100 == 0) period = random_between(seed, 1, 20);
    if (random_bits(seed) % 50 == 0) threads = (int32_t)random_between(seed, 1, 12);
    now += random_unit(seed);
    event[i] = (tsanom_speedup_event){.region = i % period % inner,
                                      .begin = now,
                                      .end = now + random_unit(seed),
                                      .threads = threads};
    now = event[i].end;
  }
}

/* Two analyzers with the same options. */
static void make_two(tsanom_speedup *analyzer[2], uint64_t *seed) {
  tsanom_speedup_options options;
  tsanom_speedup_options_init(&options, sizeof options);
  options.max_period = random_between(seed, 1, 60);
  options.capacity = random_between(seed, 1, 8);
  options.baseline = (int32_t)random_between(seed, 0, 2);
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(tsanom_speedup_create(&options, NULL, &analyzer[i]), TSANOM_OK);
  }
}

static void compare_analyzers(const tsanom_speedup *a, const tsanom_speedup *b) {
  tsanom_speedup_loop loops[2][LOOPS];
  tsanom_speedup_prediction end[2];
  size_t count[2];
  CHECK_STATUS(tsanom_speedup_loops(a, loops[0], LOOPS, &count[0]),
               tsanom_speedup_loops(b, loops[1], LOOPS, &count[1]));
  cr_assert(count[0] == count[1]);
  cr_assert(memcmp(loops[0], loops[1], count[0] * sizeof *loops[0]) == 0);
  memset(end, 0, sizeof end);
  for (int i = 0; i < 2; i++) end[i].struct_size = sizeof end[i];
  CHECK_STATUS(tsanom_speedup_predict(a, 1000, &end[0]),
               tsanom_speedup_predict(b, 1000, &end[1]));
  cr_assert(memcmp(&end[0], &end[1], sizeof end[0]) == 0);
}

Test(speedup_state, an_analyzer_continues) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    tsanom_speedup_event event[EVENTS];
    fill_events(event, EVENTS, &seed);
    tsanom_speedup *two[2];
    make_two(two, &seed);
    tsanom_speedup *analyzer = two[0], *restored = two[1];
    size_t before = random_between(&seed, 0, EVENTS), bytes;
    for (size_t i = 0; i < EVENTS && trial % 3; i++) {
      tsanom_speedup_push(restored, &event[i]);
    }
    for (size_t i = 0; i < before; i++) tsanom_speedup_push(analyzer, &event[i]);
    if (trial % 8 == 0) tsanom_speedup_finish(analyzer);
    unsigned char *state = saved(analyzer, &bytes);
    CHECK_STATUS(tsanom_restore(restored, state, bytes, NULL), TSANOM_OK);
    compare_analyzers(analyzer, restored);
    for (size_t i = before; i < EVENTS; i++) {
      CHECK_STATUS(tsanom_speedup_push(restored, &event[i]),
                   tsanom_speedup_push(analyzer, &event[i]));
      compare_analyzers(analyzer, restored);
    }
    tsanom_speedup_finish(analyzer);
    tsanom_speedup_finish(restored);
    compare_analyzers(analyzer, restored);
    tsanom_speedup_destroy(restored);
    tsanom_speedup_destroy(analyzer);
    free(state);
  }
}

/* The visitor is that of the object, and sees the iterations since the state was saved. */
Test(speedup_state, iterations_are_visited_by_the_new_visitor) {
  static log_of_iterations first, second;
  tsanom_speedup *analyzer = new_analyzer(&first, 0), *other = new_analyzer(NULL, 2);
  tsanom_speedup *restored = new_analyzer(&second, 0);
  double now = 0, middle;
  for (int i = 0; i < 20; i++) now = run_region(analyzer, now, 7, 0.25, 0.5, 2);
  size_t bytes, seen = first.count;
  unsigned char *state = saved(analyzer, &bytes);
  CHECK_STATUS(tsanom_restore(other, state, bytes, NULL), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_restore(restored, state, bytes, NULL), TSANOM_OK);
  middle = now;
  for (int i = 0; i < 20; i++) now = run_region(analyzer, now, 7, 0.25, 0.5, 2);
  for (int i = 0; i < 20; i++) middle = run_region(restored, middle, 7, 0.25, 0.5, 2);
  cr_assert(seen > 0 && second.count == first.count - seen);
  cr_assert(memcmp(second.iteration, first.iteration + seen,
                   second.count * sizeof *second.iteration) == 0);
  tsanom_speedup_destroy(restored);
  tsanom_speedup_destroy(other);
  tsanom_speedup_destroy(analyzer);
  free(state);
}

/* A number of the state that is none, at each place in turn: those that stay are not used. */
Test(speedup_state, no_time_is_none) {
  enum { EVENTS_BEFORE = 20, EVENTS_AFTER = 70, HEADER = 24, CHECKSUM = 8 };
  tsanom_speedup *analyzer = new_analyzer(NULL, 0), *made = new_analyzer(NULL, 0);
  double now = 0;
  for (int i = 0; i < EVENTS_BEFORE; i++)
    now = run_region(analyzer, now, 7, 0.25, 0.5, 2);
  size_t bytes, rejected = 0;
  unsigned char *good = saved(analyzer, &bytes), *bad = malloc(bytes);
  for (size_t at = HEADER; at < bytes - CHECKSUM; at += sizeof now) {
    const double none = NAN;
    memcpy(bad, good, bytes);
    memcpy(bad + at, &none, sizeof none);
    uint64_t checksum = tsn_checksum(bad, bytes - CHECKSUM);
    memcpy(bad + bytes - CHECKSUM, &checksum, sizeof checksum);
    rejected += tsanom_restore(made, bad, bytes, NULL) < 0;
    for (int i = 0; i < EVENTS_AFTER; i++) {
      double then = now + i;
      (void)tsanom_speedup_push(
          made, &(tsanom_speedup_event){
                    .region = 7, .begin = then, .end = then + 0.5, .threads = 2});
    }
  }
  cr_assert_gt(rejected, EVENTS_BEFORE);
  tsanom_speedup_destroy(made);
  tsanom_speedup_destroy(analyzer);
  free(bad);
  free(good);
}

Test(speedup_state, changed_states_do_no_harm) {
  uint64_t seed = 2;
  for (int trial = 0; trial < 40; trial++) {
    tsanom_speedup_event event[EVENTS];
    fill_events(event, EVENTS, &seed);
    tsanom_speedup *two[2];
    make_two(two, &seed);
    tsanom_speedup *analyzer = two[0], *made = two[1];
    size_t bytes, rejected = 0;
    for (size_t i = 0; i < EVENTS / 2; i++) tsanom_speedup_push(analyzer, &event[i]);
    unsigned char *good = saved(analyzer, &bytes), *bad = malloc(bytes);
    for (int k = 0; k < 100; k++) {
      rejected += !restore_damaged(made, good, bad, bytes, &seed);
      for (size_t i = EVENTS / 2; i < EVENTS; i++) tsanom_speedup_push(made, &event[i]);
      tsanom_speedup_finish(made);
      compare_analyzers(made, made);
    }
    cr_assert(rejected > 0);
    tsanom_speedup_destroy(made);
    tsanom_speedup_destroy(analyzer);
    free(bad);
    free(good);
  }
}
