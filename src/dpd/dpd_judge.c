/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream is judged when it has grown by a half, and later after every half of the longest
 * window:
 *
 *   samples    |--128--|                                tsanom_dpd_find() of each
 *              |----192----|
 *              |-------288-------|
 *              ...
 *                    |-------------- most --------------|
 *                                     |-------------- most --------------|
 *
 * The window grows because the period is not known beforehand: a short period is found
 * after some samples, and noise is distinguished from a weak one by more of them. In
 * fewer than 128 samples, sparse pulses are at equal distances by chance too often. Each
 * judgment has 1/32 of the chance, and two successive ones must agree: without that, 2 %
 * of streams of 4000 random pulses had a period, with it none of 400 (docs/dpd.md).
 *
 * Whitening and the dips of d(m) do not depend on the direction of time, so that the
 * samples are taken as they are stored, newest first. A judgment takes about 0.25 us per
 * sample of its window (AMD EPYC, Zen 5), and is made once in most/2 samples. */
#include "dpd/dpd_judge.h"

#include <math.h>

enum { LEAST = 128, JUDGMENTS = 2 /* in a window */, SHARES = 32 /* of the chance */ };

static tsanom_dpd_find_options options_of(const tsn_judge *judge, size_t max_period) {
  tsanom_dpd_find_options find;
  (void)tsanom_dpd_find_options_init(&find, sizeof find);
  find.significance = judge->significance / SHARES;
  find.max_period = max_period;
  return find;
}

void tsn_judge_layout(tsn_arena *arena, const tsanom_dpd_value_options *options,
                      tsn_judge *judge) {
  *judge = (tsn_judge){.significance = options->significance, .due = LEAST};
  if (!(judge->significance > 0)) return;
  size_t most = options->window + options->max_period;
  tsanom_dpd_find_options find = options_of(judge, options->max_period);
  size_t longest = most > LEAST ? most : LEAST;
  if (tsanom_dpd_find_workspace(longest, &find, NULL, &judge->work_bytes) < 0) {
    arena->overflow = true;
    return;
  }
  judge->work = tsn_arena_take(arena, judge->work_bytes, 1);
}

void tsn_judge_start(tsn_judge *judge, uint64_t count) {
  judge->due = count < LEAST ? LEAST : count + 1;
}

size_t tsn_judge_period(tsn_judge *judge, const double *samples, size_t most,
                        uint64_t count, size_t max_period) {
  if (count < judge->due) return judge->period;
  size_t n = count < most ? (size_t)count : most;
  judge->due = count + (n + JUDGMENTS - 1) / JUDGMENTS;
  tsanom_dpd_find_options find = options_of(judge, max_period);
  tsanom_dpd_found found;
  tsanom_exec exec;
  (void)tsanom_dpd_found_init(&found, sizeof found);
  (void)tsanom_exec_init(&exec, sizeof exec);
  exec.isa = judge->isa;
  exec.work = judge->work;
  exec.work_bytes = judge->work_bytes;
  bool judged = tsanom_dpd_find(samples, n, &find, &exec, &found) == TSANOM_OK;
  size_t period = judged ? found.period : 0;
  judge->period = period == judge->before ? period : 0;
  judge->before = period;
  judge->dip = fmin(fmax(found.dip, 0), 1);
  return judge->period;
}
