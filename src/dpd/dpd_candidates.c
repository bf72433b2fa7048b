/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_candidates.h"

void tsn_candidates_layout(tsn_arena *arena, size_t stride, tsn_candidates *candidates) {
  candidates->far = tsn_arena_take(arena, stride, sizeof *candidates->far);
}

void tsn_candidates_clear(tsn_candidates *candidates, size_t window, size_t length) {
  candidates->window = window;
  candidates->length = length;
  candidates->near.delay = 0;
  candidates->far_count = 0;
}

/* Whether the last `length` events have the delay. */
static bool verify(const tsn_candidates *candidates, const tsn_history *history,
                   uint64_t delay, tsn_candidate *verified) {
  uint64_t newest = history->count - 1, known = history->count - delay, run = 0;
  uint64_t most = candidates->window < known ? candidates->window : known;
  while (run < most && tsn_history_at(history, newest - run) ==
                           tsn_history_at(history, newest - run - delay)) {
    run++;
  }
  if (run < candidates->length) return false;
  *verified = (tsn_candidate){delay, history->count + candidates->window - run};
  return true;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The divisor first: the table may contain the multiples of a period in descending order,
 * and each comparison costs O(N). */
static void add_near(tsn_candidates *candidates, const tsn_history *history,
                     uint64_t delay) {
  tsn_candidate *near = &candidates->near;
  if (near->delay) {
    if (delay >= near->delay) return;
    uint64_t divisor = greatest_common_divisor(near->delay, delay);
    if (verify(candidates, history, divisor, near)) return;
  }
  verify(candidates, history, delay, near);
}

void tsn_candidates_add(tsn_candidates *candidates, const tsn_history *history,
                        uint64_t delay) {
  if (delay <= candidates->length) {
    add_near(candidates, history, delay);
    return;
  }
  size_t count = candidates->far_count;
  for (size_t k = 0; k < count; k++) {
    if (candidates->far[k].delay == delay) return;
  }
  candidates->far_count += verify(candidates, history, delay, &candidates->far[count]);
}

static bool continues(const tsn_candidate *candidate, const tsn_history *history) {
  uint64_t newest = history->count - 1;
  return tsn_history_at(history, newest) ==
         tsn_history_at(history, newest - candidate->delay);
}

void tsn_candidates_follow(tsn_candidates *candidates, const tsn_history *history) {
  size_t kept = 0;
  if (!continues(&candidates->near, history)) candidates->near.delay = 0;
  for (size_t k = 0; k < candidates->far_count; k++) {
    tsn_candidate far = candidates->far[k];
    if (continues(&far, history)) candidates->far[kept++] = far;
  }
  candidates->far_count = kept;
}

void tsn_candidates_verify(tsn_candidates *candidates, const tsn_history *history) {
  size_t count = candidates->far_count;
  tsn_candidate near = candidates->near;
  candidates->near.delay = 0;
  candidates->far_count = 0;
  if (near.delay) tsn_candidates_add(candidates, history, near.delay);
  for (size_t k = 0; k < count; k++) {
    tsn_candidates_add(candidates, history, candidates->far[k].delay);
  }
}

uint64_t tsn_candidates_period(const tsn_candidates *candidates, uint64_t count) {
  uint64_t period = 0;
  if (candidates->near.delay && candidates->near.due <= count) {
    return candidates->near.delay;
  }
  for (size_t k = 0; k < candidates->far_count; k++) {
    const tsn_candidate *far = &candidates->far[k];
    if (far->due <= count && (!period || far->delay < period)) period = far->delay;
  }
  return period;
}
