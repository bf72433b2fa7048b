/* SPDX-License-Identifier: BSD-3-Clause */
/* Updating the sums s(m) = N·d(m) of eq. 1 for all delays 0 < m <= M as samples arrive.
 *
 * Computed from its definition, each sum has N terms. From one sample to the next the
 * window moves by one, so that a sum gains one term and loses one:
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
 *     then, count % 8 == 0    tsn_sums_catch_up(): the kernel slides every sum by 8
 *
 * A block of 8 samples loads and stores every sum once instead of 8 times; what this
 * gains is in docs/dpd.md, "Values". The lower bound must never be too high: the
 * detector skips the search for a period because of it. bound() derives it.
 *
 * Rounding. A slid sum accumulates the rounding errors of all its terms. refresh()
 * recomputes one sum in turn from its terms, so that no error is older than
 * REFRESH_EVERY·M samples. After 10^8 samples, the largest relative error of a d(m) was
 * 2.2e-14.
 *
 * Source: F. Freitag, J. Corbalan and J. Labarta, eq. 1; the kernels are in
 * dpd_slide_kernel.c. */
#include "dpd/dpd_sums.h"

#include <math.h>
#include <string.h>

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
void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, tsn_sums *sums) {
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
  size_t complete = tsn_sums_complete(sums);
  double total = 0, least = INFINITY;
  for (size_t m = 1; m <= complete; m++) {
    double sum = tsn_sums_slid(sums, m);
    total += sum;
    least = sum < least ? sum : least;
  }
  sums->mean = complete ? total / (double)complete : 0;
  sums->least = least;
}

/* Every sum is computed from the samples in the history, which resizing leaves alone: O(N
 * M). */
void tsn_sums_start(tsn_sums *sums, const tsn_dpd_slide_kernels *kernels, size_t window,
                    size_t max_period) {
  if (sums->count == 0) clear(sums);
  sums->kernels = kernels;
  sums->window = window;
  sums->max_period = max_period;
  sums->refreshed = 0;
  sums->behind = 0;
  for (size_t m = 1; m <= max_period; m++) refresh(sums, m);
  summarize(sums);
  if (sums->followed > tsn_sums_complete(sums)) sums->followed = 0;
  tsn_sums_follow(sums, sums->followed);
}

/* They are sums of rounding errors of earlier samples, whose ratio to the mean would be
 * arbitrary. */
void tsn_sums_zero(tsn_sums *sums) {
  tsn_sums_catch_up(sums);
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

/* The window loses a term of delay m once there are window + m + 1 samples. */
static size_t sliding_at(const tsn_sums *sums, uint64_t count) {
  if (count <= sums->window + 1) return 0;
  uint64_t sliding = count - sums->window - 1;
  return sliding < sums->max_period ? (size_t)sliding : sums->max_period;
}

/* Slide by the newest sample at the start of the stream, before window + max_period + 1
 * samples. A delay without a leaving term gains a term if a sample that long ago exists.
 */
static void grow(tsn_sums *sums) {
  size_t before = (size_t)(sums->count - 1), lags = sums->max_period;
  const double *x = sums->value + sums->head;
  size_t sliding = sliding_at(sums, sums->count);
  sums->kernels->slide_f64(x, sums->window, 1, sums->sum, sliding, NULL);
  for (size_t m = sliding + 1; m <= before && m <= lags; m++) {
    sums->sum[m - 1] += fabs(x[0] - x[m]);
  }
}

/* One pass of the kernel over all delays. The minimum is exact afterwards. The total,
 * from which the mean and hence the threshold follow, is computed only where `count` is a
 * multiple of the block: an early catch-up then leaves the same mean as none, so that the
 * reports do not depend on when the sums catch up. */
void tsn_sums_catch_up(tsn_sums *sums) {
  if (sums->behind == 0) return;
  bool totalled = sums->window < BLOCK_WINDOW || sums->count % TSN_DPD_BLOCK == 0;
  size_t lags = sums->max_period;
  double total;
  sums->least =
      sums->kernels->slide_f64(sums->value + sums->head, sums->window, sums->behind,
                               sums->sum, lags, totalled ? &total : NULL);
  if (totalled) sums->mean = total / (double)lags;
  sums->behind = 0;
  tsn_sums_follow(sums, sums->followed);
}

void tsn_sums_follow(tsn_sums *sums, size_t delay) {
  sums->followed = delay;
  if (delay) sums->followed_sum = tsn_sums_at(sums, delay);
}

/* A sum after the sample `back` before the newest, from the sum before that sample, by
 * the operations of the kernel in their order: the followed sum equals, bit by bit, the
 * one that the next block computes. */
static double slid(const tsn_sums *sums, size_t delay, size_t back, double sum) {
  const double *x = sums->value + sums->head + back, *leaving = x + sums->window;
  return sum + (fabs(x[0] - x[delay]) - fabs(leaving[0] - leaving[delay]));
}

/* At most TSN_DPD_BLOCK - 1 steps, from the sum after the last block; changes nothing. */
double tsn_sums_at(const tsn_sums *sums, size_t delay) {
  double sum = tsn_sums_slid(sums, delay);
  for (size_t back = sums->behind; back-- > 0;) sum = slid(sums, delay, back, sum);
  return sum;
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
    tsn_sums_catch_up(sums);
    return;
  }
  bound(sums);
  if (!sums->followed) return;
  sums->followed_sum = slid(sums, sums->followed, 0, sums->followed_sum);
}

tsanom_status tsn_sums_push(tsn_sums *sums, double sample) {
  tsanom_status status = store(sums, sample);
  if (status < 0) return status;
  if (sums->count > sums->window + sums->max_period) {
    fall_behind(sums);
  } else {
    grow(sums);
    summarize(sums);
    tsn_sums_follow(sums, sums->followed);
  }
  return TSANOM_OK;
}

void tsn_sums_refresh_next(tsn_sums *sums) {
  if (sums->count % REFRESH_EVERY != 0) return;
  sums->refreshed = sums->refreshed % sums->max_period + 1;
  refresh(sums, sums->refreshed);
  double sum = tsn_sums_slid(sums, sums->refreshed);
  if (sum < sums->least) sums->least = sum;
  tsn_sums_follow(sums, sums->followed);
}
