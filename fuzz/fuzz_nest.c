/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector of nested loops beside its definition, through resizes and checkpoints; and
 * any bytes as a saved state. */
#include <tsanom/dpd.h>

#include "dpd/naive_nest.h"
#include "input.h"

enum { MOST = 400 };

/* Blocks of few numbers that repeat within blocks that repeat, with errors. */
static size_t take_stream(fuzz_input *in, uint64_t *event) {
  size_t count = take_between(in, 1, 200) * 2, inner = take_between(in, 1, 12),
         outer = inner * take_between(in, 1, 6) + take_between(in, 0, 3);
  for (size_t i = 0; i < count; i++) {
    size_t byte = take_byte(in);
    event[i] = byte > 240 ? byte : i % outer < inner ? i % outer % 3 : i % outer % inner;
  }
  return count;
}

static void check_loops(const tsanom_dpd_nest *nest, const naive_nest *naive,
                        size_t newest, size_t remembered) {
  tsanom_dpd_loop loop[NAIVE_LONGEST];
  size_t count = 0, expected = 0;
  demand(tsanom_dpd_nest_loops(nest, loop, NAIVE_LONGEST, &count) == TSANOM_OK);
  for (size_t p = 1; p <= NAIVE_LONGEST; p++) {
    if (!naive->found[p]) continue;
    size_t first = newest + 1 - naive->run[p] - p;
    demand(expected < count && loop[expected].period == p);
    demand(loop[expected].first == first ||
           (loop[expected].first > first && first + remembered < newest));
    demand(loop[expected++].found == naive->found[p] - 1);
  }
  demand(count == expected);
}

/* Save, restore, and go on with the copy. */
static tsanom_dpd_nest *renew(tsanom_dpd_nest *nest,
                              const tsanom_dpd_nest_options *options) {
  size_t bytes = 0;
  demand(tsanom_save(nest, NULL, 0, &bytes) == TSANOM_PARTIAL);
  void *state = malloc(bytes);
  tsanom_dpd_nest *copy = NULL;
  demand(state && tsanom_save(nest, state, bytes, &bytes) == TSANOM_OK);
  demand(tsanom_dpd_nest_create(options, NULL, &copy) == TSANOM_OK);
  demand(tsanom_restore(copy, state, bytes, NULL) == TSANOM_OK);
  free(state);
  tsanom_dpd_nest_destroy(nest);
  return copy;
}

static void check_stream(fuzz_input *in) {
  uint64_t event[MOST];
  naive_nest naive = {{0}, {0}};
  tsanom_dpd_nest *nest = NULL;
  tsanom_dpd_nest_options options;
  tsanom_exec exec = take_exec(in);
  tsanom_dpd_nest_options_init(&options, sizeof options);
  size_t largest = options.max_period = take_between(in, 1, NAIVE_LONGEST);
  options.repeats = take_between(in, 3, 5);
  options.least_events = take_between(in, 0, 12);
  size_t count = take_stream(in, event);
  size_t resize_at = take_byte(in), renew_at = take_byte(in);
  demand(tsanom_dpd_nest_create(&options, &exec, &nest) == TSANOM_OK);
  for (size_t i = 0; i < count; i++) {
    demand(tsanom_dpd_nest_push(nest, event[i], NULL) == TSANOM_OK);
    naive_push(&naive, event, i, &options);
    if (i == renew_at) {
      options.max_period = largest;
      nest = renew(nest, &options);
      options.max_period = tsanom_dpd_nest_max_period(nest);
    }
    if (i == resize_at) {
      options.max_period = take_between(in, 1, largest);
      demand(tsanom_dpd_nest_resize(nest, options.max_period) == TSANOM_OK);
      naive_judge(&naive, i, &options);
    }
    check_loops(nest, &naive, i, 2 * largest);
  }
  tsanom_dpd_nest_destroy(nest);
}

/* Any bytes are rejected, or make a nest that can be used. */
static void check_state(const uint8_t *data, size_t size) {
  tsanom_dpd_nest *nest = NULL;
  tsanom_dpd_loop loop;
  size_t count;
  demand(tsanom_dpd_nest_create(NULL, NULL, &nest) == TSANOM_OK);
  (void)tsanom_restore(nest, data, size, NULL);
  for (uint64_t i = 0; i < 300; i++) {
    demand(tsanom_dpd_nest_push(nest, i % 7, NULL) == TSANOM_OK);
  }
  demand(tsanom_dpd_nest_loops(nest, &loop, 1, &count) >= 0 && count >= 1);
  tsanom_dpd_nest_destroy(nest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input in = {data, data + size};
  if (size && data[0] == 255) {
    check_state(data + 1, size - 1);
  } else {
    check_stream(&in);
  }
  return 0;
}
