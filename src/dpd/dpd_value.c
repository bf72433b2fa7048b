/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a stream of values: the sums N·d(m) of eq. 1 of the paper, whose kernels
 * are in dpd_slide_kernel.c, and the choice of the period from them:
 *
 *     d(m)      ____            ____
 *              /    \          /    \         mean
 *       - - - / - - -\- - - - / - - -\- - -   threshold = min + (mean - min) / 4
 *         ___/        \______/        \___    min
 *       +-----------------|---------------|-> m
 *         slope: ignored  period          its multiple: ignored
 *
 * min and mean are those over the delays with a complete window. The rule, in this order:
 *
 * - There is a period only if the depth, 1 - min / mean, is at least options.depth.
 * - The slope at small delays, where every smooth signal resembles itself, is not a
 *   valley.
 * - The first valley belongs to the fundamental period. Its multiples are as deep, and
 *   noise decides which is the deepest.
 * - A period is kept while d at it is at or below the threshold, so that noise in its
 *   neighbors does not change it.
 *
 * Where there is no such period, judge_period() decides by options.significance.
 *
 * Searching d(m) for the valley is O(M), but happens only when the period changes: in
 * between period_unsearched() decides from three numbers. No floating-point sum is
 * compared with zero: rounding in d(m) is harmless.
 *
 * Source: F. Freitag, J. Corbalan and J. Labarta, eq. 1; for the threshold, YIN
 * (valley_threshold()). */
#include <math.h>
#include <string.h>
#include <tsanom/dpd.h>

#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/state.h"
#include "core/versioned.h"
#include "dpd/dpd_find.h"
#include "dpd/dpd_slide_kernel.h"

/* ---- the sums
 *
 * Computed from its definition, each sum s(m) = N·d(m) has N terms. From one sample to the
 * next the window moves by one, so that a sum gains one term and loses one:
 *
 *     s(m) += |x[t] - x[t-m]| - |x[t-N] - x[t-N-m]|      O(M) per sample, not O(N M)
 *
 * Samples are stored newest first, in an array that is filled from its end toward its
 * start, so that x[t-m] of consecutive delays are contiguous, and a vector of delays
 * needs one load per term:
 *
 *     value  | slack, free | x[t] x[t-1] ...      ... x[t-N-M] | padding for vectors |
 *                           ^ head: a push stores at head - 1; at 0 the history moves up
 *
 * A stream passes through three states:
 *
 *     count <= N + M          grow(): some delays have fewer than N terms
 *     then, count % 8 != 0    fall_behind(): updates one sum and a lower bound of all
 *     then, count % 8 == 0    sums_catch_up(): the kernel slides every sum by 8
 *
 * A block of 8 samples loads and stores every sum once instead of 8 times; what this
 * gains is in docs/dpd.md, "Values". So the sums may be a few samples behind:
 *
 *   samples   ... | 8 samples, slid | 3 new samples |
 *                                     `behind` = 3: only the sum of the followed delay
 * and a lower bound of all sums are up to date. The bound must never be too high: the
 * detector skips the search for a period because of it. bound() derives it.
 *
 * Rounding. A slid sum accumulates the rounding errors of all its terms. refresh()
 * recomputes one sum in turn from its terms, so that no error is older than
 * REFRESH_EVERY·M samples. After 10^8 samples, the largest relative error of a d(m) was
 * 2.2e-14. */

/* The interval [low, high]. */
typedef struct {
  double low, high;
} tsn_range;

/* A segment is the samples between two moves of the history, which contains at most this
 * number of segments. */
enum { TSN_SUMS_SEGMENTS = 5 };

/* Invariant after each push: sum[m-1] is s(m) after the sample `behind` before the
 * newest; followed_sum is s(followed) after the newest; least is not above any complete
 * s(m) after the newest. */
typedef struct {
  const tsn_dpd_slide_kernels *kernels;
  size_t window;     /* N */
  size_t max_period; /* M */
  size_t head;       /* index of the newest sample; older ones follow */
  size_t history;    /* samples that are kept */
  size_t slack;      /* free elements before the history: when they are used up, the
                          history moves up by this number, so that it is contiguous */
  size_t samples;    /* length of the arrays of samples */
  size_t delays;     /* length of the arrays of sums */
  double *value;     /* the samples */
  double *sum;       /* s(m) at m - 1 */
  /* From here on, fields are saved as they are. */
  uint64_t count;      /* samples so far */
  size_t behind;       /* newest samples by which the sums have not been slid yet */
  double least;        /* minimum of the complete sums, or a lower bound while they are
                          behind; infinity if there are none */
  size_t followed;     /* a delay, or 0 */
  double followed_sum; /* its sum, always up to date */
  double mean; /* of the complete sums; in a window of 64 samples or more, at the last one
                       whose number is a multiple of TSN_DPD_BLOCK */
  size_t refreshed; /* delay of the sum that was last computed from its terms */
  tsn_range segment[TSN_SUMS_SEGMENTS]; /* ranges of samples, newest first */
  tsn_range range;                      /* the union of these */
} tsn_sums;

/* Number of delays, from 1, with a complete window after `count` samples. */
static size_t complete_at(const tsn_sums *sums, uint64_t count) {
  if (count <= sums->window) return 0;
  uint64_t complete = count - sums->window;
  return complete < sums->max_period ? (size_t)complete : sums->max_period;
}

static size_t sums_complete(const tsn_sums *sums) {
  return complete_at(sums, sums->count);
}

/* The sum of a delay after the samples by which it has been slid. */
static double sums_slid(const tsn_sums *sums, size_t delay) {
  return sums->sum[delay - 1];
}

/* The sample `back` before the newest. */
static double sums_sample(const tsn_sums *sums, size_t back) {
  return sums->value[sums->head + back];
}

/* REFRESH_EVERY: samples between two sums that are computed from their terms. Rounding
 * errors then accumulate over at most REFRESH_EVERY·M steps, at the cost of N /
 * REFRESH_EVERY terms per sample. A multiple of TSN_DPD_BLOCK, because the detector asks
 * for a refresh only when the sums are not behind.
 *
 * BLOCK_WINDOW: sums of a shorter window are slid after every sample, because its mean of up
 * to 7 samples ago would be another threshold. */
enum { REFRESH_EVERY = 32, BLOCK_WINDOW = 64 };

/* The history contains the N samples of the window, the M before them, and the at most 7
 * by which the sums are behind. The slack of a quarter of it makes a move of the history
 * cost 4 copied samples per push, and the arrays only a quarter longer: they must stay in
 * the first-level cache. */
static void sums_layout(tsn_arena *arena, size_t window, size_t max_period,
                        tsn_sums *sums) {
  size_t history = window + max_period + TSN_DPD_BLOCK;
  *sums = (tsn_sums){.history = history,
                     .slack = history / 4 + 1,
                     .delays = max_period + TSN_DPD_PADDING};
  sums->samples = history + sums->slack + TSN_DPD_PADDING;
  sums->value = tsn_arena_take(arena, sums->samples, sizeof *sums->value);
  sums->sum = tsn_arena_take(arena, sums->delays, sizeof *sums->sum);
}

static const tsn_range no_range = {INFINITY, -INFINITY};

/* Plain comparisons, not fmin() and fmax(): samples are finite, and this runs for every
 * sample. */
static void widen(tsn_range *range, double low, double high) {
  range->low = low < range->low ? low : range->low;
  range->high = high > range->high ? high : range->high;
}

/* Also clears the padding that vectors read after the samples and the sums. */
static void clear(tsn_sums *sums) {
  sums->head = sums->slack;
  memset(sums->value, 0, sums->samples * sizeof *sums->value);
  memset(sums->sum, 0, sums->delays * sizeof *sums->sum);
  for (size_t i = 0; i < TSN_SUMS_SEGMENTS; i++) sums->segment[i] = no_range;
  sums->range = no_range;
}

/* Number of terms of a delay: N, or fewer at the start of the stream. */
static size_t terms_of(const tsn_sums *sums, size_t delay) {
  if (sums->count <= delay) return 0;
  uint64_t terms = sums->count - delay;
  return terms < sums->window ? (size_t)terms : sums->window;
}

/* Compute a sum from its terms. Samples before the stream, which would leave rounding
 * errors, have none. */
static void refresh(tsn_sums *sums, size_t delay) {
  const double *x = sums->value + sums->head;
  size_t terms = terms_of(sums, delay);
  sums->sum[delay - 1] = sums->kernels->distance_f64(x, x + delay, terms);
}

/* Mean and minimum of the complete sums by a pass over them, O(M): at the start of a
 * stream, and when window or M change. Later the kernel returns both from the pass that
 * slides the sums. */
static void summarize(tsn_sums *sums) {
  size_t complete = sums_complete(sums);
  double total = 0, least = INFINITY;
  for (size_t m = 1; m <= complete; m++) {
    double sum = sums_slid(sums, m);
    total += sum;
    least = sum < least ? sum : least;
  }
  sums->mean = complete ? total / (double)complete : 0;
  sums->least = least;
}

/* A sum after the sample `back` before the newest, from the sum before that sample, by
 * the operations of the kernel in their order: the followed sum equals, bit by bit, the
 * one that the next block computes. */
static double slid(const tsn_sums *sums, size_t delay, size_t back, double sum) {
  const double *x = sums->value + sums->head + back, *leaving = x + sums->window;
  return sum + (fabs(x[0] - x[delay]) - fabs(leaving[0] - leaving[delay]));
}

/* At most TSN_DPD_BLOCK - 1 steps, from the sum after the last block; changes nothing. */
static double sums_at(const tsn_sums *sums, size_t delay) {
  double sum = sums_slid(sums, delay);
  for (size_t back = sums->behind; back-- > 0;) sum = slid(sums, delay, back, sum);
  return sum;
}

/* Keep the sum of a delay up to date from now on; 0: none. */
static void sums_follow(tsn_sums *sums, size_t delay) {
  sums->followed = delay;
  if (delay) sums->followed_sum = sums_at(sums, delay);
}

/* One pass of the kernel over all delays. The minimum is exact afterwards. The total,
 * from which the mean and hence the threshold follow, is computed only where `count` is a
 * multiple of the block: an early catch-up then leaves the same mean as none, so that the
 * reports do not depend on when the sums catch up. */
static void sums_catch_up(tsn_sums *sums) {
  if (sums->behind == 0) return;
  bool totalled = sums->window < BLOCK_WINDOW || sums->count % TSN_DPD_BLOCK == 0;
  size_t lags = sums->max_period;
  double total;
  sums->least =
      sums->kernels->slide_f64(sums->value + sums->head, sums->window, sums->behind,
                               sums->sum, lags, totalled ? &total : NULL);
  if (totalled) sums->mean = total / (double)lags;
  sums->behind = 0;
  sums_follow(sums, sums->followed);
}

/* Start, or continue with other sizes. Every sum is computed from the samples in the
 * history, which resizing leaves alone: O(N M). */
static void sums_start(tsn_sums *sums, size_t window, size_t max_period) {
  if (sums->count == 0) clear(sums);
  sums->window = window;
  sums->max_period = max_period;
  sums->refreshed = 0;
  sums->behind = 0;
  for (size_t m = 1; m <= max_period; m++) refresh(sums, m);
  summarize(sums);
  if (sums->followed > sums_complete(sums)) sums->followed = 0;
  sums_follow(sums, sums->followed);
}

/* All samples of the windows are equal: without this, the sums are rounding errors of
 * earlier samples, whose ratio to the mean would be arbitrary. */
static void sums_zero(tsn_sums *sums) {
  sums_catch_up(sums);
  memset(sums->sum, 0, sums->max_period * sizeof *sums->sum);
  sums->mean = sums->least = sums->followed_sum = 0;
}

/* Move the history up by the slack. It is at most four times as long as the slack, so
 * that TSN_SUMS_SEGMENTS segments contain all of it. */
static void move_history(tsn_sums *sums) {
  memmove(sums->value + sums->slack, sums->value, sums->history * sizeof *sums->value);
  sums->head = sums->slack;
  memmove(sums->segment + 1, sums->segment,
          (TSN_SUMS_SEGMENTS - 1) * sizeof *sums->segment);
  sums->segment[0] = sums->range = no_range;
  for (size_t i = 1; i < TSN_SUMS_SEGMENTS; i++) {
    widen(&sums->range, sums->segment[i].low, sums->segment[i].high);
  }
}

/* Append a sample, after all checks, so that a rejected sample changes nothing. `range`
 * must include every sample of the history, for bound(): it is the union of the ranges of
 * segments (samples between two moves), because a range can be widened in O(1) but not
 * narrowed. It may include samples that have left the history, which only lowers the
 * bound. */
static tsanom_status store(tsn_sums *sums, double sample) {
  if (!isfinite(sample)) return TSANOM_E_NONFINITE;
  if (sums->head == 0) move_history(sums);
  sums->head--;
  sums->count++;
  sums->value[sums->head] = sample;
  widen(&sums->segment[0], sample, sample);
  widen(&sums->range, sample, sample);
  return TSANOM_OK;
}

/* Slide by the newest sample at the start of the stream, before window + max_period + 1
 * samples. A delay loses a term if its window was complete before; else it gains one if a
 * sample that long ago exists. */
static void grow(tsn_sums *sums) {
  size_t before = (size_t)(sums->count - 1), lags = sums->max_period;
  const double *x = sums->value + sums->head;
  size_t sliding = complete_at(sums, sums->count - 1);
  sums->kernels->slide_f64(x, sums->window, 1, sums->sum, sliding, NULL);
  for (size_t m = sliding + 1; m <= before && m <= lags; m++) {
    sums->sum[m - 1] += fabs(x[0] - x[m]);
  }
}

/* Lower bound of all sums while they are behind. A sum gains a term >= 0 and loses one,
 * |x[t-N] - x[t-N-m]|, which is at most the distance from x[t-N] to the farther end of
 * the range of the history:
 *
 *     least(t) >= least(t-1) - max(x[t-N] - low, high - x[t-N])
 *
 * Because rounding is monotone, this is also true of the rounded sums. The bound does not
 * depend on M and costs O(1); it gets worse by one term per sample, for at most 7
 * samples. */
static void bound(tsn_sums *sums) {
  double leaving = sums->value[sums->head + sums->window];
  double above = leaving - sums->range.low, below = sums->range.high - leaving;
  sums->least -= above > below ? above : below;
}

/* The full window: the cheap path of 7 samples in 8. `least` is a lower bound afterwards,
 * the followed sum is exact. */
static void fall_behind(tsn_sums *sums) {
  sums->behind++;
  if (sums->window < BLOCK_WINDOW || sums->count % TSN_DPD_BLOCK == 0) {
    sums_catch_up(sums);
    return;
  }
  bound(sums);
  if (!sums->followed) return;
  sums->followed_sum = slid(sums, sums->followed, 0, sums->followed_sum);
}

/* If the sample is rejected, nothing changes. */
static tsanom_status sums_push(tsn_sums *sums, double sample) {
  tsanom_status status = store(sums, sample);
  if (status < 0) return status;
  if (sums->count > sums->window + sums->max_period) {
    fall_behind(sums);
  } else {
    grow(sums);
    summarize(sums);
    sums_follow(sums, sums->followed);
  }
  return TSANOM_OK;
}

/* After each TSN_DPD_BLOCK samples: the next sum anew, when REFRESH_EVERY have passed. */
static void sums_refresh_next(tsn_sums *sums) {
  if (sums->count % REFRESH_EVERY != 0) return;
  sums->refreshed = sums->refreshed % sums->max_period + 1;
  refresh(sums, sums->refreshed);
  double sum = sums_slid(sums, sums->refreshed);
  if (sum < sums->least) sums->least = sum;
  sums_follow(sums, sums->followed);
}
/* ---- the period by significance
 *
 * It is that of dpd_find.c on the newest samples, from time to time.
 * A stream is judged when it has grown by a half, and later after every half of the longest
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
 * transforms take half the time (dpd_find.c). A judgment takes about 0.1 us per sample
 * of its window (AMD EPYC, Zen 4), and is made once in most/2 samples. */
typedef struct {
  double significance; /* 0: there is no judge */
  tsanom_exec exec;
  tsn_find find;
  /* From here on, fields are saved as they are. */
  uint64_t due;  /* samples at the next judgment */
  size_t before; /* period of the latest one, 0: none */
  size_t period; /* that of the two latest ones, 0: none */
  double dip;
} tsn_judge;

enum { LEAST = 128, JUDGMENTS = 2 /* in a window */, SHARES = 32 /* of the chance */ };

/* Take the memory for windows and periods of up to those of the options. */
static void judge_layout(tsn_arena *arena, const tsanom_dpd_value_options *options,
                         tsn_judge *judge) {
  *judge = (tsn_judge){.significance = options->significance, .due = LEAST};
  if (!(judge->significance > 0)) return;
  size_t most = options->window + options->max_period;
  tsn_find_layout(arena, most > TSN_FIND_LEAST ? most : TSN_FIND_LEAST, &judge->find);
}

/* Start at the next sample. */
static void judge_start(tsn_judge *judge, uint64_t count) {
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
  find->max_period = tsn_smaller(max_period, n / TSN_FIND_PERIODS);
  (void)tsn_find_run(find); /* which nobody stops */
  judge->dip = fmin(fmax(find->found.dip, 0), 1);
  return find->found.period;
}

/* The period at sample `count` of the stream. Of samples[0 ... most), newest first, the
 * first `count` exist. */
static size_t judge_period(tsn_judge *judge, const double *samples, size_t most,
                           uint64_t count, size_t max_period) {
  if (count < judge->due) return judge->period;
  size_t n = count < most ? (size_t)count : most;
  judge->due = count + (n + JUDGMENTS - 1) / JUDGMENTS;
  size_t period = found_period(judge, samples, n - n % 2, max_period);
  judge->period = period == judge->before ? period : 0;
  judge->before = period;
  return judge->period;
}

/* ---- the period by depth */

/* Monotone in both arguments, rounding included. */
static double valley_threshold(double least, double mean) {
  return least * 0.75 + mean * 0.25;
}

/* The lowest point of the first valley, which belongs to the fundamental period; 0: there is
 * none yet. A valley that reaches the last complete delay may go on. The threshold
 * between min and mean, which selects the first of equally deep minima, follows that of
 * the YIN pitch detector (A. de Cheveigne and H. Kawahara, J. Acoust. Soc. Am. 111 (2002)
 * 1917-1930). */
static size_t valley_first(const tsn_sums *sums, double threshold) {
  size_t m = 1, lags = sums_complete(sums);
  while (m <= lags && sums_slid(sums, m) <= threshold) m++;
  while (m <= lags && sums_slid(sums, m) > threshold) m++;
  size_t lowest = m <= lags ? m : 0;
  for (; m <= lags && sums_slid(sums, m) <= threshold; m++) {
    if (sums_slid(sums, m) < sums_slid(sums, lowest)) lowest = m;
  }
  return m <= lags || lags == sums->max_period ? lowest : 0;
}

/* ---- the detector */

struct tsanom_dpd_value {
  tsn_object owner;
  tsanom_dpd_value_options options; /* with the largest window */
  tsn_sums sums;
  tsn_judge judge;
  /* From here on, fields are saved as they are. */
  size_t period;
  size_t phase;      /* samples since a period started */
  uint64_t held;     /* consecutive correct predictions */
  uint64_t locked;   /* count at the sample that found the period */
  uint64_t unlocked; /* count at the last sample with a period */
  uint64_t constant; /* consecutive equal samples */
  uint64_t doubted;  /* count at the last valley that chance may explain */
};

/* Start the sums, or continue with another window. */
static void start_sums(tsanom_dpd_value *d, size_t window) {
  size_t max_period = tsn_smaller(d->options.max_period, window);
  tsn_environment before = tsn_environment_enter();
  sums_start(&d->sums, window, max_period);
  tsn_environment_leave(before);
}

/* A restored window determines the delays in use; the sums start anew, so that nothing of
 * other samples remains. */
static void exchange_window(tsn_state *state, tsanom_dpd_value *d) {
  size_t window = d->sums.window;
  tsn_state_field(state, &window, sizeof window);
  if (!state->from) return;
  if (window < 1 || window > d->options.window) {
    state->damaged = true;
    return;
  }
  d->sums.count = 0;
  start_sums(d, window);
}

/* The sums are saved with their rounding errors, so that a restored detector computes the
 * same bits: the samples, and the sums of the delays in use. */
static void exchange(tsn_state *state, void *object) {
  tsanom_dpd_value *d = object;
  tsn_sums *s = &d->sums;
  exchange_window(state, d);
  tsn_state_field(state, &s->head, sizeof s->head);
  if (state->damaged || s->head > s->slack) {
    state->damaged = true;
    s->head = 0;
    return;
  }
  tsn_state_field(state, s->value + s->head, s->history * sizeof *s->value);
  tsn_state_field(state, s->sum, s->max_period * sizeof *s->sum);
  tsn_state_field(state, &s->count, sizeof *s - offsetof(tsn_sums, count));
  tsn_state_field(state, &d->judge.due, sizeof d->judge - offsetof(tsn_judge, due));
  tsn_state_field(state, &d->period, sizeof *d - offsetof(tsanom_dpd_value, period));
}

static bool are_samples(const tsn_sums *s) {
  for (size_t i = 0; i < s->history; i++) {
    if (!isfinite(s->value[s->head + i])) return false;
  }
  return true;
}

/* Every delay must be one that the arrays contain. A period that was found before the
 * window shrank may be longer than those in use, until the next sample. */
static bool resume(void *object) {
  const tsanom_dpd_value *d = object;
  const tsn_sums *s = &d->sums;
  const tsn_judge *judge = &d->judge;
  if (s->count > INT64_MAX || s->behind >= TSN_DPD_BLOCK) return false;
  if (s->followed > s->max_period || s->refreshed > s->max_period) return false;
  if (judge->period > s->max_period && judge->due > s->count + 1) return false;
  if (judge->period > s->count || judge->before > s->count || d->period > s->count) {
    return false;
  }
  return d->period <= d->options.max_period && are_samples(s);
}

static const tsn_saved saved_type = {
    .kind = UINT64_C(0x554C41564544504E), /* "NPDEVALU" */
    .options = offsetof(tsanom_dpd_value, options),
    .options_bytes = sizeof(tsanom_dpd_value_options),
    .exchange = exchange,
    .resume = resume,
};

enum {
  WINDOW_MAX = 1 << 20,
  WINDOW_PERIODS = 4, /* the default window, in longest periods */
  /* The window of `adapt`: shorter ones mistake noise for a period. */
  ADAPTED_PERIODS = 4,
  ADAPTED_LEAST = 32,
  LOOKS = 1024, /* at a stream, the share of the chance of each */
  REPEATS = 8,  /* of a period that is found by depth, if M contains them */
  DOUBTS = 128, /* in a window, at most */
  UNDECIDED = -1
};

/* What is left of d(m) of an exact repetition, at least. */
static const double depth_rounding = 1e-9;

static const tsanom_dpd_value_options defaults = {
    .struct_size = sizeof defaults, .window = 400, .depth = 0.5, .significance = 0.01};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_dpd_value_options),
    .first_size = offsetof(tsanom_dpd_value_options, significance),
    .defaults = &defaults};

tsanom_status tsanom_dpd_value_options_init(tsanom_dpd_value_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* The longest period that a window can judge by depth, and the default. It is rounded up
 * in both places: a default that the rule excludes would leave three of four windows to
 * significance, of which short ones have too few samples. */
static size_t deep_periods(size_t window) {
  return (window + WINDOW_PERIODS - 1) / WINDOW_PERIODS;
}

static tsanom_status check_options(const tsanom_dpd_value_options *o,
                                   const tsanom_exec *exec) {
  enum { BAD = TSANOM_E_OPTION };
  tsanom_status status;
  if ((status = tsn_require_size(exec, BAD, "options.window", o->window, 1, WINDOW_MAX)) <
          0 ||
      (status = tsn_require_size(exec, BAD, "options.max_period", o->max_period, 0,
                                 o->window)) < 0) {
    return status;
  }
  if (!(isgreater(o->depth, 0) && isless(o->depth, 1))) {
    return tsn_reject_value(exec, BAD, "options.depth", TSANOM_NONE, TSANOM_NONE,
                            o->depth, "more than 0 and less than 1 is expected");
  }
  if ((status = tsn_require_int(exec, BAD, "options.adapt", o->adapt, 0, 1)) < 0 ||
      (status = tsn_require_int(exec, BAD, "options.reserved0", o->reserved0, 0, 0)) <
          0) {
    return status;
  }
  if (isgreaterequal(o->significance, 0) && islessequal(o->significance, 0.5)) {
    return TSANOM_OK;
  }
  return tsn_reject_value(exec, BAD, "options.significance", TSANOM_NONE, TSANOM_NONE,
                          o->significance, "0 to 0.5 is expected");
}

static tsanom_status read_options(tsanom_dpd_value_options *own,
                                  const tsanom_dpd_value_options *caller,
                                  const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if ((status = check_options(own, exec)) < 0) return status;
  if (own->max_period == 0) {
    own->max_period = own->significance > 0 ? deep_periods(own->window) : own->window;
  }
  return TSANOM_OK;
}

/* The block of a detector: the struct, then the buffers of its sums. */
typedef struct {
  tsanom_dpd_value parts, *placed;
  tsanom_exec exec;
  tsanom_dpd_value **detector;
} value_block;

static void layout(tsn_arena *arena, void *context) {
  value_block *block = context;
  const tsanom_dpd_value_options *options = &block->parts.options;
  block->placed = tsn_arena_take(arena, 1, sizeof *block->placed);
  sums_layout(arena, options->window, options->max_period, &block->parts.sums);
  judge_layout(arena, options, &block->parts.judge);
}

static tsanom_status check(void *context) {
  const value_block *block = context;
  return tsn_require(&block->exec, block->detector, "detector");
}

tsanom_status tsanom_dpd_value_create(const tsanom_dpd_value_options *options,
                                      const tsanom_exec *exec,
                                      tsanom_dpd_value **detector) {
  value_block block = {.detector = detector};
  tsanom_dpd_value *parts = &block.parts;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  if ((status = read_options(&parts->options, options, &block.exec)) < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &parts->owner);
  if (status < 0) return status;
  parts->owner.saved = &saved_type;
  parts->judge.exec = tsn_exec_for_object(&block.exec);
  parts->sums.kernels = tsn_dpd_slide_kernels_at(block.exec.isa);
  *block.placed = *parts;
  start_sums(block.placed, parts->options.window);
  *detector = block.placed;
  return TSANOM_OK;
}

void tsanom_dpd_value_destroy(tsanom_dpd_value *detector) {
  if (detector) tsn_object_release(&detector->owner);
}

/* There is a period if the deepest minimum reaches this. */
static double deep_enough(const tsanom_dpd_value *d, double mean) {
  return (1 - d->options.depth) * mean;
}

/* Whether the windows of all delays contain only one value. */
static bool is_constant(const tsanom_dpd_value *d) {
  return d->constant >= d->sums.window + d->sums.max_period;
}

/* The period that is kept, or 0, if that can be decided without searching d(m); else
 * UNDECIDED. While the sums are behind, sums->least is only a lower bound L of the
 * minimum, and every decision must hold for all minima >= L:
 *
 *     L > deep                         no period: the minimum is above it too
 *     at <= deep, at <= threshold(L)   kept: the minimum is at most `at`, and the
 *                                      threshold, monotone in it, at least threshold(L)
 *     otherwise                        unknown until the sums have caught up
 *
 * where `at` is the exact sum at the period. At N = M = 1024 a stream whose minimum stays
 * within about 1 % of the limit is undecided at most samples and costs up to 175 ns per
 * sample (docs/dpd.md, "Values"). */
static size_t period_unsearched(const tsanom_dpd_value *d) {
  const tsn_sums *sums = &d->sums;
  double deep = deep_enough(d, sums->mean), at = sums->followed_sum;
  if (!(sums->least <= deep)) return 0;
  if (!sums->followed || (sums->behind && at > deep)) return (size_t)UNDECIDED;
  bool stays = at <= valley_threshold(sums->least, sums->mean);
  return stays ? sums->followed : (size_t)UNDECIDED;
}

/* Tried first with the lower bound, then with caught-up sums, then by a search. The
 * result is that of a search after every sample. */
static size_t clear_period(tsanom_dpd_value *d) {
  tsn_sums *sums = &d->sums;
  size_t period = period_unsearched(d);
  if (period == (size_t)UNDECIDED && sums->behind) {
    sums_catch_up(sums);
    period = period_unsearched(d);
  }
  if (period != (size_t)UNDECIDED) return period;
  return valley_first(sums, valley_threshold(sums->least, sums->mean));
}

static size_t judged_period(tsanom_dpd_value *d) {
  const tsn_sums *sums = &d->sums;
  return judge_period(&d->judge, sums->value + sums->head,
                      sums->window + sums->max_period, sums->count, sums->max_period);
}

/* Whether the farthest of REPEATS multiples is half as deep as a period must be: noise that
 * alternates has a deep d(2), but d(16) is not. Twice as deep, it has not. */
static bool repeats(const tsanom_dpd_value *d, size_t period) {
  const tsn_sums *s = &d->sums;
  size_t farthest = tsn_smaller(REPEATS, s->max_period / period) * period;
  if (sums_slid(s, period) <= deep_enough(d, s->mean) / 2) return true;
  return farthest <= sums_complete(s) &&
         sums_slid(s, farthest) <= (1 - d->options.depth / 2) * s->mean;
}

/* The logarithm of the chance that noise has this valley, of the caught-up sums of `n`
 * samples.
 *
 *   pulses   |    |     |   |      |      |   |     at a delay, a share of them meets another
 *            +-----------------------------------> t
 *
 * Of k pulses, a share of `depth` meets others by chance at one of M delays with at most
 *
 *     M C(k, k depth) q^(k depth),    ln C(k, k depth) <= k H(depth),   q = k / n
 *
 * where C is the binomial coefficient and H the entropy. A pulse is two changes; of changes
 * of different size, (sum |c|)^2 / sum c^2 count. Where they are many, meeting is no
 * accident, but deviations of their mean by `depth` are: exp(-2 k depth^2 / 2). */
static double log_chance_of_valley(const tsn_sums *s, size_t n, size_t period) {
  double span = s->range.high - s->range.low, sum = 0, squares = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    double change = fabs(sums_sample(s, i) - sums_sample(s, i + 1)) / span;
    sum += change;
    squares += change * change;
  }
  double changes = sum * sum / squares, pulses = changes / 2;
  double miss = fmax(sums_slid(s, period) / s->mean, depth_rounding), depth = 1 - miss;
  double entropy = -depth * log(depth) - miss * log(miss);
  double meet = pulses * (entropy + depth * log(pulses / (double)n));
  double deviate = -changes * depth * depth / 2;
  return log((double)s->max_period) + fmin(meet, deviate);
}

/* Whether noise would hardly have this valley. In fewer than LEAST samples, those of a short
 * window, nothing is certain, and depth decides.
 *
 * The chance takes O(n), and pulses may have a doubtful valley for most of a window: after a
 * doubt the next valley is looked at n / DOUBTS samples later. */
static bool is_certain(tsanom_dpd_value *d, size_t period) {
  const tsn_sums *s = &d->sums;
  size_t n = s->window + s->max_period;
  if (n < LEAST) return true;
  if (s->count < n) n = (size_t)s->count;
  if (!repeats(d, period) || s->count - d->doubted < n / DOUBTS) return false;
  if (log_chance_of_valley(s, n, period) <= log(d->judge.significance / LOOKS))
    return true;
  d->doubted = s->count;
  return false;
}

/* By depth, and then by significance: a clear period costs no judgment. In a window that is
 * short beside the delays, a random walk has deep minima. */
static size_t choose_period(tsanom_dpd_value *d) {
  bool judged = d->judge.significance > 0;
  if (is_constant(d)) return 1;
  if (judged && d->options.max_period > deep_periods(d->options.window)) {
    return judged_period(d);
  }
  size_t period = clear_period(d);
  if (!judged) return period;
  if (period && (period == d->period || is_certain(d, period))) return period;
  return judged_period(d);
}

/* Whether the sample `back` before the newest was predicted correctly: within the largest
 * d(m) of a period. */
static bool was_predicted(const tsanom_dpd_value *d, size_t back) {
  double error = sums_sample(&d->sums, back) - sums_sample(&d->sums, back + d->period);
  return fabs(error) * (double)d->sums.window <= deep_enough(d, d->sums.mean);
}

/* Consecutive correct predictions among the samples of the window. */
static uint64_t predictions_held(const tsanom_dpd_value *d) {
  size_t held = 0;
  size_t most = d->sums.window;
  if (d->sums.count < most + d->period) most = (size_t)(d->sums.count - d->period);
  while (held < most && was_predicted(d, held)) held++;
  return held;
}

/* Record the period of the newest sample. A new period starts at the sample that found
 * it; `held` continues from the predictions that it would have made in the window. */
static void follow(tsanom_dpd_value *d, size_t period) {
  if (period != d->period) {
    d->period = period;
    d->phase = 0;
    d->locked = d->sums.count;
    d->held = period ? predictions_held(d) : 0;
    sums_follow(&d->sums, period);
  } else if (period) {
    d->phase = d->phase + 1 == period ? 0 : d->phase + 1;
    d->held = was_predicted(d, 0) ? d->held + 1 : 0;
  }
  if (period) d->unlocked = d->sums.count;
}

static void change_window(tsanom_dpd_value *d, size_t window) {
  start_sums(d, window);
  judge_start(&d->judge, d->sums.count);
}

/* The window of `adapt`: a few periods when a period has held for the full window; the
 * full window after twice as many samples without a period. Called when the sums are not
 * behind. */
static void adapt_window(tsanom_dpd_value *d) {
  size_t full = d->options.window, window = d->sums.window;
  uint64_t count = d->sums.count;
  if (d->period) {
    size_t wanted = ADAPTED_PERIODS * d->period;
    if (wanted < ADAPTED_LEAST) wanted = ADAPTED_LEAST;
    if (wanted < window && count - d->locked >= full) change_window(d, wanted);
  } else if (window < full && count - d->unlocked >= 2 * full) {
    d->unlocked = count;
    change_window(d, full);
  }
}

/* The confidence: 1 for an exact repetition, 0 for a period no better than the mean
 * delay. */
static double depth_at_period(const tsanom_dpd_value *d) {
  if (d->sums.mean <= 0) return 1;
  double depth = 1 - d->sums.followed_sum / d->sums.mean;
  if (d->period == d->judge.period && depth < d->judge.dip) depth = d->judge.dip;
  return depth < 0 ? 0 : depth < 1 ? depth : 1;
}

static void fill_report(const tsanom_dpd_value *d, size_t before,
                        tsanom_dpd_report *report) {
  *report = (tsanom_dpd_report){.period = d->period};
  if (d->period) {
    report->start = d->phase == 0;
    report->confidence = depth_at_period(d);
    report->horizon = d->held;
  }
  if (d->period != before) {
    report->change = d->period ? TSANOM_DPD_LOCKED : TSANOM_DPD_LOST;
  }
}

/* A constant stream has d = 0 at every delay: its sums are set to 0 once, and its period
 * is 1. Work that may wait happens every TSN_DPD_BLOCK samples, when the sums are not
 * behind. */
static tsanom_status push(tsanom_dpd_value *d, double sample, tsanom_dpd_report *report) {
  bool repeated = sums_sample(&d->sums, 0) == sample;
  tsanom_status status = sums_push(&d->sums, sample);
  if (status < 0) return status;
  d->constant = repeated ? d->constant + 1 : 1;
  if (d->constant == d->sums.window + d->sums.max_period) sums_zero(&d->sums);
  size_t before = d->period;
  follow(d, choose_period(d));
  if (report) fill_report(d, before, report);
  if (d->sums.count % TSN_DPD_BLOCK == 0) {
    sums_refresh_next(&d->sums);
    if (d->options.adapt) adapt_window(d);
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_value_push(tsanom_dpd_value *detector, double sample,
                                    tsanom_dpd_report *report) {
  if (!detector) return TSANOM_E_NULL;
  tsn_environment before = tsn_environment_enter();
  tsanom_status status = push(detector, sample, report);
  tsn_environment_leave(before);
  return status;
}

tsanom_status tsanom_dpd_value_push_many(tsanom_dpd_value *detector,
                                         const double *samples, size_t count,
                                         size_t *periods, int32_t *starts, size_t *done) {
  if (!detector || (!samples && count)) return TSANOM_E_NULL;
  if (!tsn_array_fits(count, sizeof *samples)) return TSANOM_E_OVERFLOW;
  tsn_environment before = tsn_environment_enter();
  size_t i = 0;
  for (; i < count && push(detector, samples[i], NULL) == TSANOM_OK; i++) {
    if (periods) periods[i] = detector->period;
    if (starts) starts[i] = detector->period && detector->phase == 0;
  }
  tsn_environment_leave(before);
  if (done) *done = i;
  return i < count ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_dpd_value_resize(tsanom_dpd_value *detector, size_t window) {
  if (!detector) return TSANOM_E_NULL;
  if (window < 1 || window > detector->options.window) return TSANOM_E_OPTION;
  change_window(detector, window);
  return TSANOM_OK;
}

size_t tsanom_dpd_value_window(const tsanom_dpd_value *detector) {
  return detector ? detector->sums.window : 0;
}

tsanom_status tsanom_dpd_value_distances(const tsanom_dpd_value *detector,
                                         double *distances, size_t capacity,
                                         size_t *count) {
  if (!detector || !count || (!distances && capacity)) return TSANOM_E_NULL;
  const tsn_sums *sums = &detector->sums;
  size_t lags = sums_complete(sums);
  tsn_environment before = tsn_environment_enter();
  for (size_t m = 1; m <= lags && m <= capacity; m++) {
    double sum = sums_at(sums, m);
    distances[m - 1] = (sum > 0 ? sum : 0) / (double)sums->window;
  }
  tsn_environment_leave(before);
  *count = lags;
  return lags > capacity ? TSANOM_PARTIAL : TSANOM_OK;
}

tsanom_status tsanom_dpd_value_predict(const tsanom_dpd_value *detector, double *samples,
                                       size_t count) {
  if (!detector || !samples) return TSANOM_E_NULL;
  if (!tsn_array_fits(count, sizeof *samples)) return TSANOM_E_OVERFLOW;
  size_t period = detector->period;
  if (!period) return TSANOM_INFEASIBLE;
  for (size_t i = 0; i < count; i++) {
    samples[i] = sums_sample(&detector->sums, period - 1 - i % period);
  }
  return TSANOM_OK;
}
