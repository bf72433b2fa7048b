/* SPDX-License-Identifier: BSD-3-Clause */
/* What the iteration times of a loop say. */
#include <math.h>

#include "speedup/speedup.h"

static double median(const tsn_team *team) {
  double sorted[TSANOM_SPEEDUP_RECENT];
  size_t count = team->count < TSANOM_SPEEDUP_RECENT ? (size_t)team->count
                                                     : (size_t)TSANOM_SPEEDUP_RECENT;
  if (count == 0) return NAN;
  for (size_t i = 0; i < count; i++) {
    size_t at = i;
    for (; at > 0 && sorted[at - 1] > team->seconds[i]; at--) sorted[at] = sorted[at - 1];
    sorted[at] = team->seconds[i];
  }
  return count % 2 ? sorted[count / 2]
                   : sorted[count / 2 - 1] / 2 + sorted[count / 2] / 2;
}

/* The team of the baseline; NULL: no iteration ran with that many threads. */
static const tsn_team *find_baseline(const tsn_loop *loop, int32_t wanted) {
  const tsn_team *best = NULL;
  for (uint32_t i = 0; i < loop->teams; i++) {
    const tsn_team *team = &loop->team[i];
    if (wanted ? team->threads == wanted : !best || team->threads < best->threads) {
      best = team;
    }
  }
  return best;
}

static const tsn_team *find_current(const tsn_loop *loop) {
  return find_baseline(loop, loop->current_threads);
}

/* Amdahl's fraction of t(P) = A + B / P through (pb, tb) and (pc, tc). */
static double serial_fraction(double pb, double tb, double pc, double tc) {
  double b = (tb - tc) / (1 / pb - 1 / pc);
  double a = tb - b / pb;
  return a / (a + b);
}

static void describe(const tsanom_speedup *analyzer, const tsn_loop *loop,
                     tsanom_speedup_loop *answer) {
  int32_t wanted = analyzer->options.baseline;
  *answer = (tsanom_speedup_loop){
      .start = loop->start,
      .period = loop->period,
      .iterations = loop->iterations,
      .runs = loop->runs,
      .last_run = loop->last_run,
      .first = loop->first,
      .last = loop->last,
      .total_s = loop->total,
      .parallel_s = loop->parallel,
      .baseline_s = NAN,
      .current_s = NAN,
      .speedup = NAN,
      .efficiency = NAN,
      .serial_fraction = NAN,
      .baseline_threads = wanted,
      .current_threads = loop->current_threads,
  };
  const tsn_team *current = find_current(loop);
  if (!current) return;
  answer->current_s = median(current);
  const tsn_team *baseline = find_baseline(loop, wanted);
  if (!baseline) return;
  double pb = baseline->threads, pc = current->threads;
  answer->baseline_threads = baseline->threads;
  answer->baseline_s = median(baseline);
  if (answer->current_s > 0) {
    answer->speedup = answer->baseline_s / answer->current_s;
    answer->efficiency = answer->speedup * pb / pc;
  }
  if (baseline != current) {
    answer->serial_fraction =
        serial_fraction(pb, answer->baseline_s, pc, answer->current_s);
  }
}

tsanom_status tsanom_speedup_loops(const tsanom_speedup *analyzer,
                                   tsanom_speedup_loop *loops, size_t capacity,
                                   size_t *count) {
  if (!analyzer || !count || (!loops && capacity)) return TSANOM_E_NULL;
  for (size_t i = 0; i < analyzer->loop_count && i < capacity; i++) {
    describe(analyzer, &analyzer->loops[i], &loops[i]);
  }
  *count = analyzer->loop_count;
  return analyzer->lost || *count > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

static const tsn_loop *main_loop(const tsanom_speedup *analyzer) {
  const tsn_loop *best = NULL;
  double most = 0;
  for (size_t i = 0; i < analyzer->loop_count; i++) {
    most = fmax(most, analyzer->loops[i].total);
  }
  for (size_t i = 0; i < analyzer->loop_count; i++) {
    const tsn_loop *loop = &analyzer->loops[i];
    if (loop->iterations && loop->total >= 0.9 * most &&
        (!best || loop->period > best->period)) {
      best = loop;
    }
  }
  return best;
}

tsanom_status tsanom_speedup_predict(const tsanom_speedup *analyzer, uint64_t iterations,
                                     tsanom_speedup_prediction *prediction) {
  if (!analyzer || !prediction) return TSANOM_E_NULL;
  const tsn_loop *loop = main_loop(analyzer);
  if (!loop) return TSANOM_INFEASIBLE;
  uint64_t expected = iterations;
  uint64_t done = loop->iterations;
  if (!expected) {
    /* A run as long as the one before it. */
    if (!loop->last_run) return TSANOM_INFEASIBLE;
    uint64_t under_way = 0;
    for (size_t i = 0; i < analyzer->live_count; i++) {
      if (analyzer->live[i].loop == loop) under_way = analyzer->live[i].iterations;
    }
    uint64_t left =
        under_way && under_way < loop->last_run ? loop->last_run - under_way : 0;
    expected = done + left;
  }
  tsanom_speedup_loop now;
  describe(analyzer, loop, &now);
  double left = expected > done ? (double)(expected - done) : 0;
  double end = loop->last + left * now.current_s;
  double latest = analyzer->past[(analyzer->events - 1) & analyzer->past_mask].end;
  *prediction = (tsanom_speedup_prediction){
      .start = loop->start,
      .period = loop->period,
      .iterations = done,
      .expected = expected > done ? expected : done,
      .remaining_s = fmax(0, end - latest),
      .total_s = fmax(end, loop->last),
  };
  return TSANOM_OK;
}
