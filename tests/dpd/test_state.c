/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved states: a restored detector continues as the saved one, bit by bit. A state that
 * was changed is rejected, or makes a detector that accesses its own memory only. */
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "streams.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/isa.h"
#include "support/random.h"
#include "support/state.h"
#include "values.h"

enum { EVENTS = 600, TRIALS = CASES(1000) };

/* Save an object in a block to be freed. */
#define SAVED(save, object, bytes)                                      \
  __extension__({                                                       \
    CHECK_STATUS(save((object), NULL, 0, (bytes)), TSANOM_PARTIAL);     \
    unsigned char *saved_ = malloc(*(bytes));                           \
    CHECK_STATUS(save((object), saved_, *(bytes), (bytes)), TSANOM_OK); \
    saved_;                                                             \
  })

/* Save an object, and restore it as another. */
#define RESTORED(type, object)                                                          \
  __extension__({                                                                       \
    size_t bytes_;                                                                      \
    unsigned char *state_ = SAVED(type##_save, (object), &bytes_);                      \
    type *restored_ = NULL;                                                             \
    CHECK_STATUS(type##_restore(NULL, 0, state_, bytes_, NULL, &restored_), TSANOM_OK); \
    free(state_);                                                                       \
    restored_;                                                                          \
  })

static tsanom_dpd_event *make_event(uint64_t *seed) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = random_between(seed, 1, 100);
  options.max_period = random_between(seed, 1, options.window);
  options.adapt = (int32_t)(random_bits(seed) % 2);
  tsanom_dpd_event *detector = NULL;
  CHECK_STATUS(tsanom_dpd_event_create(&options, NULL, &detector), TSANOM_OK);
  return detector;
}

static void push_events(tsanom_dpd_event *a, tsanom_dpd_event *b, const uint64_t *event,
                        size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsanom_dpd_report one, other;
    uint64_t next[8] = {0}, next_of_other[8] = {0};
    CHECK_STATUS(tsanom_dpd_event_push(a, event[i], &one), TSANOM_OK);
    CHECK_STATUS(tsanom_dpd_event_push(b, event[i], &other), TSANOM_OK);
    cr_assert(memcmp(&one, &other, sizeof one) == 0, "event %zu", i);
    cr_assert(tsanom_dpd_event_window(a) == tsanom_dpd_event_window(b));
    CHECK_STATUS(tsanom_dpd_event_predict(a, next, 8),
                 tsanom_dpd_event_predict(b, next_of_other, 8));
    cr_assert(memcmp(next, next_of_other, sizeof next) == 0);
  }
}

Test(dpd_state, an_event_detector_continues) {
  uint64_t seed = 1;
  for (int trial = 0; trial < TRIALS; trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t before = random_between(&seed, 0, EVENTS);
    tsanom_dpd_event *detector = make_event(&seed);
    tsanom_dpd_event_push_many(detector, event, before, NULL, NULL);
    if (random_bits(&seed) % 4 == 0) {
      size_t window = tsanom_dpd_event_window(detector);
      tsanom_dpd_event_resize(detector, random_between(&seed, 1, window));
    }
    tsanom_dpd_event *restored = RESTORED(tsanom_dpd_event, detector);
    push_events(detector, restored, event + before, EVENTS - before);
    push_events(detector, restored, event, EVENTS);
    tsanom_dpd_event_destroy(restored);
    tsanom_dpd_event_destroy(detector);
  }
}

static tsanom_dpd_nest *make_nest(uint64_t *seed, int32_t isa) {
  tsanom_dpd_nest_options options;
  tsanom_dpd_nest_options_init(&options, sizeof options);
  options.max_period = random_between(seed, 1, 200);
  options.repeats = random_between(seed, 3, 5);
  options.capacity = random_between(seed, 1, 20);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.isa = isa;
  tsanom_dpd_nest *nest = NULL;
  CHECK_STATUS(tsanom_dpd_nest_create(&options, &exec, &nest), TSANOM_OK);
  return nest;
}

static void compare_nests(const tsanom_dpd_nest *a, const tsanom_dpd_nest *b) {
  tsanom_dpd_loop loops[2][64];
  tsanom_dpd_period periods[2][64];
  uint64_t next[2][16] = {{0}};
  size_t count[2] = {0, 0};
  cr_assert(tsanom_dpd_nest_max_period(a) == tsanom_dpd_nest_max_period(b));
  CHECK_STATUS(tsanom_dpd_nest_loops(a, loops[0], 64, &count[0]),
               tsanom_dpd_nest_loops(b, loops[1], 64, &count[1]));
  cr_assert(count[0] == count[1]);
  cr_assert(memcmp(loops[0], loops[1], count[0] * sizeof *loops[0]) == 0);
  CHECK_STATUS(tsanom_dpd_nest_periods(a, periods[0], 64, &count[0]),
               tsanom_dpd_nest_periods(b, periods[1], 64, &count[1]));
  cr_assert(count[0] == count[1]);
  cr_assert(memcmp(periods[0], periods[1], count[0] * sizeof *periods[0]) == 0);
  CHECK_STATUS(tsanom_dpd_nest_predict(a, next[0], 16),
               tsanom_dpd_nest_predict(b, next[1], 16));
  cr_assert(memcmp(next[0], next[1], sizeof next[0]) == 0);
}

static void push_to_nests(tsanom_dpd_nest *a, tsanom_dpd_nest *b, const uint64_t *event,
                          size_t count) {
  for (size_t i = 0; i < count; i++) {
    int32_t changed, changed_other;
    CHECK_STATUS(tsanom_dpd_nest_push(a, event[i], &changed), TSANOM_OK);
    CHECK_STATUS(tsanom_dpd_nest_push(b, event[i], &changed_other), TSANOM_OK);
    cr_assert(changed == changed_other, "event %zu", i);
    if (changed || i % 16 == 0) compare_nests(a, b);
  }
}

Test(dpd_state, a_nest_continues) {
  uint64_t seed = 2;
  for (int trial = 0; trial < TRIALS; trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t before = random_between(&seed, 0, EVENTS);
    tsanom_dpd_nest *nest = make_nest(&seed, TSANOM_ISA_BASE);
    tsanom_dpd_nest_push_many(nest, event, before, NULL);
    if (random_bits(&seed) % 4 == 0) {
      size_t most = tsanom_dpd_nest_max_period(nest);
      tsanom_dpd_nest_resize(nest, random_between(&seed, 1, most));
    }
    tsanom_dpd_nest *restored = RESTORED(tsanom_dpd_nest, nest);
    compare_nests(nest, restored);
    push_to_nests(nest, restored, event + before, EVENTS - before);
    push_to_nests(nest, restored, event, EVENTS);
    tsanom_dpd_nest_destroy(restored);
    tsanom_dpd_nest_destroy(nest);
  }
}

/* Noise, a period or a constant. */
static void fill_values(double *x, size_t count, uint64_t *seed) {
  size_t period = random_between(seed, 1, 40), from = random_between(seed, 0, count);
  double noise = random_bits(seed) % 3 ? 0 : 0.3 * random_unit(seed);
  for (size_t i = 0; i < count; i++) {
    bool random = i < period || i == from || random_bits(seed) % 200 == 0;
    x[i] = random ? 10 * random_unit(seed) : x[i - period];
    x[i] += noise * (random_unit(seed) - 0.5);
  }
}

static tsanom_dpd_value_options random_value_options(uint64_t *seed) {
  size_t window = random_between(seed, 1, 150);
  size_t max_period = random_between(seed, 1, window);
  tsanom_dpd_value_options options = value_options(window, max_period);
  options.adapt = (int32_t)(random_bits(seed) % 2);
  options.significance = random_bits(seed) % 2 ? 0.01 : 0;
  return options;
}

static void push_values(tsanom_dpd_value *a, tsanom_dpd_value *b, const double *x,
                        size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsanom_dpd_report one, other;
    double d[2][150], next[2][8] = {{0}};
    size_t lags[2];
    CHECK_STATUS(tsanom_dpd_value_push(a, x[i], &one), TSANOM_OK);
    CHECK_STATUS(tsanom_dpd_value_push(b, x[i], &other), TSANOM_OK);
    cr_assert(memcmp(&one, &other, sizeof one) == 0, "sample %zu", i);
    cr_assert(tsanom_dpd_value_window(a) == tsanom_dpd_value_window(b));
    if (i % 8 && !one.change) continue;
    CHECK_STATUS(tsanom_dpd_value_distances(a, d[0], 150, &lags[0]), TSANOM_OK);
    CHECK_STATUS(tsanom_dpd_value_distances(b, d[1], 150, &lags[1]), TSANOM_OK);
    cr_assert(lags[0] == lags[1] && memcmp(d[0], d[1], lags[0] * sizeof **d) == 0);
    CHECK_STATUS(tsanom_dpd_value_predict(a, next[0], 8),
                 tsanom_dpd_value_predict(b, next[1], 8));
    cr_assert(memcmp(next[0], next[1], sizeof next[0]) == 0);
  }
}

/* At another level than the saved one. */
Test(dpd_state, a_value_detector_continues) {
  uint64_t seed = 3;
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[EVENTS];
    fill_values(x, EVENTS, &seed);
    size_t before = random_between(&seed, 0, EVENTS);
    tsanom_dpd_value_options options = random_value_options(&seed);
    tsanom_dpd_value *detector = make_value_detector(&options, TSANOM_ISA_BASE);
    tsanom_dpd_value_push_many(detector, x, before, NULL, NULL, NULL);
    if (random_bits(&seed) % 4 == 0) {
      tsanom_dpd_value_resize(detector, random_between(&seed, 1, options.window));
    }
    tsanom_dpd_value *restored = RESTORED(tsanom_dpd_value, detector);
    push_values(detector, restored, x + before, EVENTS - before);
    push_values(detector, restored, x, EVENTS);
    tsanom_dpd_value_destroy(restored);
    tsanom_dpd_value_destroy(detector);
  }
}

Test(dpd_state, a_restored_state_is_saved_with_the_same_bytes) {
  uint64_t seed = 4, event[EVENTS];
  stream_random(event, EVENTS, &seed);
  tsanom_dpd_nest *nest = make_nest(&seed, TSANOM_ISA_AUTO), *restored = NULL;
  tsanom_dpd_nest_push_many(nest, event, EVENTS, NULL);
  size_t bytes, size;
  unsigned char *state = SAVED(tsanom_dpd_nest_save, nest, &bytes);
  CHECK_STATUS(tsanom_dpd_nest_restore(NULL, 0, state, bytes, NULL, &restored),
               TSANOM_OK);
  unsigned char *again = SAVED(tsanom_dpd_nest_save, restored, &size);
  cr_assert(size == bytes && memcmp(state, again, bytes) == 0);
  again[0] = 7;
  CHECK_STATUS(tsanom_dpd_nest_save(nest, again, bytes - 1, &size), TSANOM_PARTIAL);
  cr_assert(size == bytes && again[0] == 7);
  tsanom_dpd_nest_destroy(restored);
  tsanom_dpd_nest_destroy(nest);
  free(again);
  free(state);
}

Test(dpd_state, damage_is_reported) {
  tsanom_dpd_event *detector = NULL, *unchanged = NULL;
  CHECK_STATUS(tsanom_dpd_event_create(NULL, NULL, &detector), TSANOM_OK);
  size_t bytes;
  unsigned char *state = SAVED(tsanom_dpd_event_save, detector, &bytes);
  for (size_t i = 0; i < bytes; i++) {
    state[i] ^= 1;
    CHECK_STATUS(tsanom_dpd_event_restore(NULL, 0, state, bytes, NULL, &unchanged),
                 TSANOM_E_FORMAT);
    state[i] ^= 1;
    CHECK_STATUS(tsanom_dpd_event_restore(NULL, 0, state, i, NULL, &unchanged),
                 TSANOM_E_FORMAT);
  }
  tsanom_dpd_nest *nest = NULL;
  CHECK_STATUS(tsanom_dpd_nest_restore(NULL, 0, state, bytes, NULL, &nest),
               TSANOM_E_FORMAT);
  state[8]++; /* the version */
  uint64_t checksum = tsn_checksum(state, bytes - sizeof checksum);
  memcpy(state + bytes - sizeof checksum, &checksum, sizeof checksum);
  CHECK_STATUS(tsanom_dpd_event_restore(NULL, 0, state, bytes, NULL, &unchanged),
               TSANOM_E_VERSION);
  cr_assert(!unchanged && !nest);
  tsanom_dpd_event_destroy(detector);
  free(state);
}

/* Restore changed states, and use what they make. */
#define USE_CHANGED(type, object, seed, count, ...)                                     \
  do {                                                                                  \
    size_t bytes_, accepted_ = 0;                                                       \
    unsigned char *good_ = SAVED(type##_save, object, &bytes_), *bad_ = malloc(bytes_); \
    for (int k_ = 0; k_ < (count); k_++) {                                              \
      type *made = NULL;                                                                \
      memcpy(bad_, good_, bytes_);                                                      \
      damage_state(bad_, bytes_, (seed));                                               \
      tsanom_status status_ = type##_restore(NULL, 0, bad_, bytes_, NULL, &made);       \
      cr_assert(status_ == TSANOM_OK || status_ == TSANOM_E_FORMAT ||                   \
                    status_ == TSANOM_E_MEMORY,                                         \
                "%s", tsanom_status_name(status_));                                     \
      if (status_ != TSANOM_OK) continue;                                               \
      accepted_++;                                                                      \
      __VA_ARGS__;                                                                      \
      type##_destroy(made);                                                             \
    }                                                                                   \
    cr_assert(accepted_ < (size_t)(count));                                             \
    free(bad_);                                                                         \
    free(good_);                                                                        \
  } while (0)

Test(dpd_state, changed_states_do_no_harm) {
  uint64_t seed = 5, event[EVENTS], next[64];
  double x[EVENTS], d[300];
  size_t count;
  tsanom_dpd_loop loops[64];
  tsanom_dpd_period periods[64];
  for (int trial = 0; trial < 40; trial++) {
    stream_random(event, EVENTS, &seed);
    fill_values(x, EVENTS, &seed);
    tsanom_dpd_event *detector = make_event(&seed);
    tsanom_dpd_event_push_many(detector, event, EVENTS, NULL, NULL);
    USE_CHANGED(tsanom_dpd_event, detector, &seed, 100, {
      tsanom_dpd_event_predict(made, next, 64);
      tsanom_dpd_event_push_many(made, event, EVENTS, NULL, NULL);
    });
    tsanom_dpd_event_destroy(detector);
    tsanom_dpd_nest *nest = make_nest(&seed, TSANOM_ISA_AUTO);
    tsanom_dpd_nest_push_many(nest, event, EVENTS, NULL);
    USE_CHANGED(tsanom_dpd_nest, nest, &seed, 100, {
      tsanom_dpd_nest_predict(made, next, 64);
      tsanom_dpd_nest_starts(made, loops, 64, &count);
      tsanom_dpd_nest_push_many(made, event, EVENTS, NULL);
      tsanom_dpd_nest_periods(made, periods, 64, &count);
    });
    tsanom_dpd_nest_destroy(nest);
    tsanom_dpd_value_options options = random_value_options(&seed);
    tsanom_dpd_value *values = make_value_detector(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_value_push_many(values, x, random_between(&seed, 0, EVENTS), NULL, NULL,
                               NULL);
    USE_CHANGED(tsanom_dpd_value, values, &seed, 100, {
      tsanom_dpd_value_predict(made, d, 64);
      tsanom_dpd_value_distances(made, d, 150, &count);
      tsanom_dpd_value_push_many(made, x, EVENTS, NULL, NULL, NULL);
    });
    tsanom_dpd_value_destroy(values);
  }
}
