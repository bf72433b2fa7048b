/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved states: a restored detector continues as the saved one, bit by bit. A state that
 * was changed is rejected, or makes a detector that accesses its own memory only. */
#include <stdlib.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "streams.h"
#include "support/exec.h"
#include "support/faults.h"
#include "support/random.h"
#include "support/state.h"
#include "support/workspace.h"
#include "values.h"

enum { EVENTS = 600, TRIALS = CASES(1000) };

/* Save an object in a block to be freed. */
static unsigned char *saved(const void *object, size_t *bytes) {
  CHECK_STATUS(tsanom_save(object, NULL, 0, bytes), TSANOM_PARTIAL);
  unsigned char *state = malloc(*bytes);
  CHECK_STATUS(tsanom_save(object, state, *bytes, bytes), TSANOM_OK);
  return state;
}

/* Bring `other`, made with the same options, into the state of an object. */
static void copy_state(const void *object, void *other) {
  size_t bytes;
  unsigned char *state = saved(object, &bytes);
  CHECK_STATUS(tsanom_restore(other, state, bytes, NULL), TSANOM_OK);
  free(state);
}

static tsanom_dpd_event *create_event(const tsanom_dpd_event_options *options) {
  tsanom_dpd_event *detector = NULL;
  CHECK_STATUS(tsanom_dpd_event_create(options, NULL, &detector), TSANOM_OK);
  return detector;
}

static tsanom_dpd_event_options random_event_options(uint64_t *seed) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = random_between(seed, 1, 100);
  options.max_period = random_between(seed, 1, options.window);
  options.adapt = (int32_t)(random_bits(seed) % 2);
  return options;
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
    tsanom_dpd_event_options options = random_event_options(&seed);
    tsanom_dpd_event *detector = create_event(&options),
                     *restored = create_event(&options);
    tsanom_dpd_event_push_many(restored, event, trial % 3 ? EVENTS : 0, NULL, NULL);
    tsanom_dpd_event_push_many(detector, event, before, NULL, NULL);
    if (random_bits(&seed) % 4 == 0) {
      size_t window = tsanom_dpd_event_window(detector);
      tsanom_dpd_event_resize(detector, random_between(&seed, 1, window));
    }
    copy_state(detector, restored);
    push_events(detector, restored, event + before, EVENTS - before);
    push_events(detector, restored, event, EVENTS);
    tsanom_dpd_event_destroy(restored);
    tsanom_dpd_event_destroy(detector);
  }
}

static tsanom_dpd_nest_options random_nest_options(uint64_t *seed) {
  tsanom_dpd_nest_options options;
  tsanom_dpd_nest_options_init(&options, sizeof options);
  options.max_period = random_between(seed, 1, 200);
  options.repeats = random_between(seed, 3, 5);
  options.capacity = random_between(seed, 1, 20);
  return options;
}

static tsanom_dpd_nest *create_nest(const tsanom_dpd_nest_options *options, int32_t isa) {
  tsanom_exec exec = exec_at(isa, 1);
  tsanom_dpd_nest *nest = NULL;
  CHECK_STATUS(tsanom_dpd_nest_create(options, &exec, &nest), TSANOM_OK);
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
    tsanom_dpd_nest_options options = random_nest_options(&seed);
    tsanom_dpd_nest *nest = create_nest(&options, TSANOM_ISA_BASE);
    tsanom_dpd_nest *restored = create_nest(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_nest_push_many(restored, event, trial % 3 ? EVENTS : 0, NULL);
    tsanom_dpd_nest_push_many(nest, event, before, NULL);
    if (random_bits(&seed) % 4 == 0) {
      size_t most = tsanom_dpd_nest_max_period(nest);
      tsanom_dpd_nest_resize(nest, random_between(&seed, 1, most));
    }
    copy_state(nest, restored);
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
    tsanom_dpd_value *restored = make_value_detector(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_value_push_many(restored, x, trial % 3 ? EVENTS : 0, NULL, NULL, NULL);
    tsanom_dpd_value_push_many(detector, x, before, NULL, NULL, NULL);
    if (random_bits(&seed) % 4 == 0) {
      tsanom_dpd_value_resize(detector, random_between(&seed, 1, options.window));
    }
    copy_state(detector, restored);
    push_values(detector, restored, x + before, EVENTS - before);
    push_values(detector, restored, x, EVENTS);
    tsanom_dpd_value_destroy(restored);
    tsanom_dpd_value_destroy(detector);
  }
}

Test(dpd_state, a_restored_state_is_saved_with_the_same_bytes) {
  uint64_t seed = 4, event[EVENTS];
  stream_random(event, EVENTS, &seed);
  tsanom_dpd_nest *nest = create_nest(NULL, 0), *restored = create_nest(NULL, 0);
  tsanom_dpd_nest_push_many(nest, event, EVENTS, NULL);
  size_t bytes, size;
  unsigned char *state = saved(nest, &bytes);
  copy_state(nest, restored);
  unsigned char *again = saved(restored, &size);
  cr_assert(size == bytes && memcmp(state, again, bytes) == 0);
  again[0] = 7;
  CHECK_STATUS(tsanom_save(nest, again, bytes - 1, &size), TSANOM_PARTIAL);
  cr_assert(size == bytes && again[0] == 7);
  tsanom_dpd_nest_destroy(restored);
  tsanom_dpd_nest_destroy(nest);
  free(again);
  free(state);
}

static unsigned char *one_state;
static size_t one_size;

static tsanom_status restore_one(const tsanom_exec *exec, void *result) {
  tsanom_dpd_event *detector = create_event(NULL);
  const unsigned char *state = result ? one_state : NULL;
  tsanom_status status = tsanom_restore(detector, state, one_size, exec);
  if (status >= 0) {
    unsigned char *again = saved(detector, &one_size);
    memcpy(result, again, one_size);
    free(again);
  }
  tsanom_dpd_event_destroy(detector);
  return status;
}

Test(dpd_state, is_restored_in_a_workspace) {
  tsanom_dpd_event *detector = create_event(NULL);
  for (uint64_t i = 0; i < 100; i++) tsanom_dpd_event_push(detector, i % 7, NULL);
  one_state = saved(detector, &one_size);
  workspace_case restoring = {"tsanom_restore", restore_one, one_size};
  check_workspace(&restoring, 1);
  free(one_state);
  tsanom_dpd_event_destroy(detector);
}

/* Restore a state that is rejected; the object stays as it was. */
static void expect_rejected(void *object, const unsigned char *state, size_t bytes,
                            tsanom_status expected, const char *text) {
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  size_t before_bytes, after_bytes;
  unsigned char *before = saved(object, &before_bytes);
  CHECK_STATUS(tsanom_restore(object, state, bytes, &exec), expected);
  if (text) cr_assert_str_eq(fault.text, text);
  unsigned char *after = saved(object, &after_bytes);
  cr_assert(before_bytes == after_bytes && memcmp(before, after, after_bytes) == 0);
  free(before);
  free(after);
}

static void set_word(unsigned char *state, size_t bytes, size_t word, uint64_t value) {
  memcpy(state + word * sizeof value, &value, sizeof value);
  uint64_t checksum = tsn_checksum(state, bytes - sizeof checksum);
  memcpy(state + bytes - sizeof checksum, &checksum, sizeof checksum);
}

Test(dpd_state, damage_is_reported) {
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = 20;
  tsanom_dpd_event *detector = create_event(NULL), *smaller = create_event(&options);
  tsanom_dpd_nest *nest = create_nest(NULL, TSANOM_ISA_AUTO);
  for (uint64_t i = 0; i < 20; i++) tsanom_dpd_event_push(detector, i, NULL);
  size_t bytes, size;
  unsigned char *state = saved(detector, &bytes);
  for (size_t i = 0; i < bytes; i++) {
    state[i] ^= 1;
    expect_rejected(detector, state, bytes, TSANOM_E_FORMAT, NULL);
    state[i] ^= 1;
    expect_rejected(detector, state, i, TSANOM_E_FORMAT, NULL);
  }
  expect_rejected(nest, state, bytes, TSANOM_E_FORMAT,
                  "state: it was not saved from an object of this type");
  expect_rejected(smaller, state, bytes, TSANOM_E_OPTION,
                  "state: it was saved from an object with other options");
  expect_rejected(detector, NULL, 8, TSANOM_E_NULL,
                  "state is NULL; an array of 8 is expected");
  set_word(state, bytes, bytes / sizeof(uint64_t) - 7, 30); /* the period */
  expect_rejected(detector, state, bytes, TSANOM_E_FORMAT,
                  "state: a field has a value that no object has");
  set_word(state, bytes, 1, 1);
  expect_rejected(detector, state, bytes, TSANOM_E_VERSION,
                  "state: its version is 1; 4 is expected");
  CHECK_STATUS(tsanom_save(detector, NULL, 1, &size), TSANOM_E_NULL);
  tsanom_dpd_nest_destroy(nest);
  tsanom_dpd_event_destroy(smaller);
  tsanom_dpd_event_destroy(detector);
  free(state);
}

/* Restore changed states into `made`, and use what they make. */
#define USE_CHANGED(object, made, seed, count, ...)                        \
  do {                                                                     \
    size_t bytes_, accepted_ = 0;                                          \
    unsigned char *good_ = saved(object, &bytes_), *bad_ = malloc(bytes_); \
    for (int k_ = 0; k_ < (count); k_++) {                                 \
      accepted_ += restore_damaged(made, good_, bad_, bytes_, (seed));     \
      __VA_ARGS__;                                                         \
    }                                                                      \
    cr_assert(accepted_ > 0 && accepted_ < (size_t)(count));               \
    free(bad_);                                                            \
    free(good_);                                                           \
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
    tsanom_dpd_event_options event_options = random_event_options(&seed);
    tsanom_dpd_event *detector = create_event(&event_options);
    tsanom_dpd_event *made = create_event(&event_options);
    tsanom_dpd_event_push_many(detector, event, EVENTS, NULL, NULL);
    USE_CHANGED(detector, made, &seed, 100, {
      tsanom_dpd_event_predict(made, next, 64);
      tsanom_dpd_event_push_many(made, event, EVENTS, NULL, NULL);
    });
    tsanom_dpd_event_destroy(made);
    tsanom_dpd_event_destroy(detector);
    tsanom_dpd_nest_options nest_options = random_nest_options(&seed);
    tsanom_dpd_nest *nest = create_nest(&nest_options, TSANOM_ISA_AUTO);
    tsanom_dpd_nest *nest_made = create_nest(&nest_options, TSANOM_ISA_AUTO);
    tsanom_dpd_nest_push_many(nest, event, EVENTS, NULL);
    USE_CHANGED(nest, nest_made, &seed, 100, {
      tsanom_dpd_nest_predict(nest_made, next, 64);
      tsanom_dpd_nest_starts(nest_made, loops, 64, &count);
      tsanom_dpd_nest_push_many(nest_made, event, EVENTS, NULL);
      tsanom_dpd_nest_periods(nest_made, periods, 64, &count);
    });
    tsanom_dpd_nest_destroy(nest_made);
    tsanom_dpd_nest_destroy(nest);
    tsanom_dpd_value_options options = random_value_options(&seed);
    tsanom_dpd_value *values = make_value_detector(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_value *values_made = make_value_detector(&options, TSANOM_ISA_AUTO);
    tsanom_dpd_value_push_many(values, x, random_between(&seed, 0, EVENTS), NULL, NULL,
                               NULL);
    USE_CHANGED(values, values_made, &seed, 100, {
      tsanom_dpd_value_predict(values_made, d, 64);
      tsanom_dpd_value_distances(values_made, d, 150, &count);
      tsanom_dpd_value_push_many(values_made, x, EVENTS, NULL, NULL, NULL);
    });
    tsanom_dpd_value_destroy(values_made);
    tsanom_dpd_value_destroy(values);
  }
}
