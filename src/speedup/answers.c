/* SPDX-License-Identifier: BSD-3-Clause */
/* What the iteration times of a loop say. */
#include <math.h>

#include "speedup/speedup.h"

double tsn_team_median(const tsn_team *team) {
  size_t count = team->count < TSANOM_SPEEDUP_RECENT ? (size_t)team->count
                                                     : (size_t)TSANOM_SPEEDUP_RECENT;
  const double *middle = &team->sorted[count / 2];
  return count % 2 ? middle[0] : middle[-1] / 2 + middle[0] / 2;
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

/* What follows of baseline and current times, which are there. */
static void compare(tsanom_speedup_loop *loop) {
  double pb = loop->baseline_threads, pc = loop->current_threads;
  loop->speedup = loop->efficiency = loop->serial_fraction = NAN;
  if (loop->current_s > 0) {
    loop->speedup = loop->baseline_s / loop->current_s;
    loop->efficiency = loop->speedup * pb / pc;
  }
  if (pb != pc) {
    loop->serial_fraction = serial_fraction(pb, loop->baseline_s, pc, loop->current_s);
  }
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
  answer->current_s = tsn_team_median(current);
  const tsn_team *baseline = find_baseline(loop, wanted);
  if (!baseline) return;
  answer->baseline_threads = baseline->threads;
  answer->baseline_s = tsn_team_median(baseline);
  compare(answer);
}

tsanom_status tsanom_speedup_compare(tsanom_speedup_loop *loop,
                                     const tsanom_speedup_loop *baseline) {
  if (!loop || !baseline) return TSANOM_E_NULL;
  if (loop->period != baseline->period || loop->current_threads < 1 ||
      baseline->current_threads < 1) {
    return TSANOM_E_VALUE;
  }
  if (!isfinite(loop->current_s) || !isfinite(baseline->current_s)) {
    return TSANOM_E_NONFINITE;
  }
  loop->baseline_s = baseline->current_s;
  loop->baseline_threads = baseline->current_threads;
  compare(loop);
  return TSANOM_OK;
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

/* Iterations of the loop's run that is going on; 0: none is. */
static uint64_t under_way(const tsanom_speedup *analyzer, const tsn_loop *loop) {
  for (size_t i = 0; i < analyzer->live_count; i++) {
    if (analyzer->live[i].loop == loop) return analyzer->live[i].iterations;
  }
  return 0;
}

/* Iterations still to come of a run as long as the last one. */
static uint64_t left_of_run(const tsn_loop *loop, uint64_t now) {
  return now && now < loop->last_run ? loop->last_run - now : 0;
}

/* The mean of the later iterations on the current threads, with bounds to what others
 * take (see TSN_USUAL): a program warms up at first, so that a quarter of them, or up to
 * a half, are left out. */
static double expected_seconds(const tsn_loop *loop) {
  const tsn_team *team = find_current(loop);
  uint64_t left_out = ((uint64_t)1 << (63 - __builtin_clzll(team->count))) / 2;
  return (team->usual - team->usual_at[0]) / (double)(team->count - left_out);
}

/* Seconds that lie between the runs that `left` more iterations need. */
static double expected_between(const tsn_loop *loop, uint64_t now, uint64_t left) {
  if (loop->runs < 2 || !loop->last_run) return 0;
  uint64_t this_run = left_of_run(loop, now);
  if (left <= this_run) return 0;
  uint64_t runs = (left - this_run + loop->last_run - 1) / loop->last_run;
  return (double)runs * loop->between / (double)(loop->runs - 1);
}

tsanom_status tsanom_speedup_predict(const tsanom_speedup *analyzer, uint64_t iterations,
                                     tsanom_speedup_prediction *prediction) {
  if (!analyzer || !prediction) return TSANOM_E_NULL;
  const tsn_loop *loop = main_loop(analyzer);
  if (!loop) return TSANOM_INFEASIBLE;
  uint64_t done = loop->iterations;
  uint64_t now = under_way(analyzer, loop);
  if (!iterations && !loop->last_run) return TSANOM_INFEASIBLE;
  uint64_t expected = iterations ? iterations : done + left_of_run(loop, now);
  uint64_t left = expected > done ? expected - done : 0;
  double end = loop->last + (double)left * expected_seconds(loop) +
               expected_between(loop, now, left);
  double latest = analyzer->past[(analyzer->events - 1) & analyzer->past_mask].end;
  *prediction = (tsanom_speedup_prediction){
      .start = loop->start,
      .period = loop->period,
      .iterations = done,
      .expected = done + left,
      .remaining_s = fmax(0, end - latest),
      .total_s = fmax(end, loop->last),
  };
  return TSANOM_OK;
}
