/* SPDX-License-Identifier: BSD-3-Clause */
/* Two states, detecting and locked, and the moves between them:
 *
 *   detecting ──ICP_LOCKED events without a change──▶ locked: pattern = latest period
 *       ▲                                               │
 *       └── an event that differs: the detector gets ───┘
 *           the events of the begun iteration, then this one
 *
 * While locked, the detector sees nothing. Whole periods that it missed make no
 * difference to it, since it would only count them; so it gets just enough to be at the
 * same phase. */
#include "iterations.h"

#include <errno.h>
#include <sys/mman.h>

/* Nested loops that are asked for; HISTORY_MASK gives the index modulo a power of two. */
enum { LOOPS = 64, HISTORY_MASK = ICP_HISTORY - 1 };

int icp_iterations_start(icp_iterations *iterations) {
  size_t bytes = 0;
  tsanom_dpd_nest_options options;
  tsanom_dpd_nest_options_init(&options, sizeof options);
  options.max_period = ICP_HISTORY;
  options.least_events = ICP_LEAST;
  if (tsanom_dpd_nest_size(&options, &bytes) < 0) return EINVAL;
  void *memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  tsanom_status made =
      tsanom_dpd_nest_init(memory, bytes, &options, NULL, &iterations->nest);
  return made < 0 ? EINVAL : 0;
}

/* Follow the outermost loop, the one of the longest period. `first` is the index of the
 * event that begins the loop, from which the phase of the current event follows. */
static void choose(icp_iterations *iterations) {
  tsanom_dpd_loop loops[LOOPS];
  size_t count = 0;
  (void)tsanom_dpd_nest_loops(iterations->nest, loops, LOOPS, &count);
  if (count > LOOPS) count = LOOPS;
  if (count == 0) {
    iterations->period = 0;
    return;
  }
  const tsanom_dpd_loop *outermost = &loops[count - 1];
  uint64_t into = (iterations->index - outermost->first) % outermost->period;
  iterations->period = outermost->period;
  iterations->remaining = into ? outermost->period - into : 0;
}

/* One event to the detector. Loops are asked for only when it reports a change. */
static void detect(icp_iterations *iterations, uint32_t event) {
  int32_t changed = 0;
  (void)tsanom_dpd_nest_push(iterations->nest, event, &changed);
  iterations->history[iterations->index & HISTORY_MASK] = event;
  iterations->unchanged++;
  if (changed) {
    choose(iterations);
    iterations->unchanged = 0;
  }
  iterations->index++;
}

/* From here on compare with the latest period, as an iteration has it. */
static void lock(icp_iterations *iterations) {
  uint64_t period = iterations->period;
  uint64_t at = iterations->remaining ? period - iterations->remaining : 0;
  for (uint64_t i = 0; i < period; i++) {
    uint64_t index = iterations->index - period + i;
    iterations->pattern[(at + i) % period] = iterations->history[index & HISTORY_MASK];
  }
  iterations->at = iterations->locked_at = (uint32_t)at;
  iterations->locked = true;
}

/* The loop broke off. Feed what of the pattern was compared since the last whole period:
 * whole periods that the detector missed make no difference to it, but where in the
 * pattern the break came does. */
static void unlock(icp_iterations *iterations) {
  uint64_t at = iterations->locked_at, period = iterations->period;
  iterations->remaining = iterations->at ? period - iterations->at : 0;
  iterations->locked = false;
  iterations->unchanged = 0;
  while (at != iterations->at) {
    detect(iterations, iterations->pattern[at]);
    at = at + 1 == period ? 0 : at + 1;
  }
}

bool icp_iterations_detect(icp_iterations *iterations, uint32_t event) {
  if (iterations->locked) unlock(iterations);
  detect(iterations, event);
  if (!iterations->period) return false;
  bool begins = iterations->remaining == 0;
  iterations->remaining = (begins ? iterations->period : iterations->remaining) - 1;
  if (iterations->unchanged >= ICP_LOCKED) lock(iterations);
  return begins;
}
