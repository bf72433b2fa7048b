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
 * of streams of 4000 random pulses had a period, with it none of 400.
 *
 * Whitening and the dips of d(m) do not depend on the direction of time, so that the
 * samples are taken as they are stored, newest first; an even number of them, whose
 * transforms take half the time (dpd_spectrum.c). A judgment takes about 0.1 us per sample
 * of its window (AMD EPYC, Zen 4), and is made once in most/2 samples. */
#include "dpd/dpd_judge.h"

#include <math.h>

#include "core/size.h"

enum { LEAST = 128, JUDGMENTS = 2 /* in a window */, SHARES = 32 /* of the chance */ };

void tsn_judge_layout(tsn_arena *arena, const tsanom_dpd_value_options *options,
                      tsn_judge *judge) {
  *judge = (tsn_judge){.significance = options->significance, .due = LEAST};
  if (!(judge->significance > 0)) return;
  size_t most = options->window + options->max_period;
  tsn_find_layout(arena, most > TSN_FIND_LEAST ? most : TSN_FIND_LEAST, &judge->find);
}

void tsn_judge_start(tsn_judge *judge, uint64_t count) {
  judge->due = count < LEAST ? LEAST : count + 1;
}

static size_t found_period(tsn_judge *judge, const double *samples, size_t n,
                           size_t max_period) {
  tsn_find *find = &judge->find;
  if (n < TSN_FIND_LEAST) return 0;
  find->x = samples;
  find->n = n;
  find->exec = &judge->exec;
  find->significance = judge->significance / SHARES;
  find->max_period = tsn_smaller(max_period, n / TSN_DIPS_PERIODS_NEEDED);
  (void)tsn_find_run(find); /* which nobody stops */
  judge->dip = fmin(fmax(find->found.dip, 0), 1);
  return find->found.period;
}

size_t tsn_judge_period(tsn_judge *judge, const double *samples, size_t most,
                        uint64_t count, size_t max_period) {
  if (count < judge->due) return judge->period;
  size_t n = count < most ? (size_t)count : most;
  judge->due = count + (n + JUDGMENTS - 1) / JUDGMENTS;
  size_t period = found_period(judge, samples, n - n % 2, max_period);
  judge->period = period == judge->before ? period : 0;
  judge->before = period;
  return judge->period;
}
