/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_sums.h"

#include <math.h>
#include <string.h>

/* Samples between two sums that are computed afresh: rounding then piles up over
 * REFRESH_EVERY * M steps, and N / REFRESH_EVERY terms a sample are the price. A
 * multiple of TSN_DPD_BLOCK.
 * Fewer than BLOCK_DELAYS are not worth blocks, and have a short window, of which
 * the mean of a few samples ago says less. */
enum { REFRESH_EVERY = 32, BLOCK_DELAYS = 64 };

void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, double scale,
                     tsn_sums *sums) {
  size_t history = window + max_period + TSN_DPD_BLOCK;
  *sums = (tsn_sums){.scale = scale,
                     .unit = scale > 0 ? scale : 1,
                     .history = history,
                     .room = history / 4 + 1,
                     .delays = max_period + TSN_DPD_PADDING};
  sums->samples = history + sums->room + TSN_DPD_PADDING;
  sums->value = tsn_arena_take(arena, sums->samples, sizeof *sums->value);
  if (scale > 0) {
    sums->fixed = tsn_arena_take(arena, sums->samples, sizeof *sums->fixed);
    sums->fixed_sum = tsn_arena_take(arena, sums->delays, sizeof *sums->fixed_sum);
    sums->next_fixed_sum = tsn_arena_take(arena, sums->delays, sizeof *sums->fixed_sum);
  } else {
    sums->sum = tsn_arena_take(arena, sums->delays, sizeof *sums->sum);
    sums->next_sum = tsn_arena_take(arena, sums->delays, sizeof *sums->sum);
  }
}

/* What vectors read beyond the samples and the sums is defined. */
static void clear(tsn_sums *sums) {
  sums->head = sums->room;
  memset(sums->value, 0, sums->samples * sizeof *sums->value);
  if (sums->fixed) {
    memset(sums->fixed, 0, sums->samples * sizeof *sums->fixed);
    memset(sums->fixed_sum, 0, sums->delays * sizeof *sums->fixed_sum);
    memset(sums->next_fixed_sum, 0, sums->delays * sizeof *sums->fixed_sum);
  } else {
    memset(sums->sum, 0, sums->delays * sizeof *sums->sum);
    memset(sums->next_sum, 0, sums->delays * sizeof *sums->sum);
  }
}

/* The terms of delay m that are in the window: all of them, or as many as there
 * are samples m before. */
static size_t terms_of(const tsn_sums *sums, size_t delay) {
  if (sums->count <= delay) return 0;
  uint64_t terms = sums->count - delay;
  return terms < sums->window ? (size_t)terms : sums->window;
}

static uint32_t distance_i32(const int32_t *x, const int32_t *y, size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (uint32_t)(x[i] < y[i] ? y[i] - x[i] : x[i] - y[i]);
  return sum;
}

static void refresh(tsn_sums *sums, size_t delay) {
  size_t terms = terms_of(sums, delay), head = sums->head;
  if (sums->fixed) {
    const int32_t *x = sums->fixed + head;
    sums->fixed_sum[delay - 1] = distance_i32(x, x + delay, terms);
  } else {
    const double *x = sums->value + head;
    sums->sum[delay - 1] = sums->kernels->distance_f64(x, x + delay, terms);
  }
}

static void take_mean(tsn_sums *sums) {
  size_t complete = tsn_sums_complete(sums);
  double total = 0;
  for (size_t m = 1; m <= complete; m++) total += tsn_sums_at(sums, m);
  sums->mean = complete ? total / (double)complete : 0;
}

void tsn_sums_start(tsn_sums *sums, const tsn_dpd_slide_kernels *kernels, size_t window,
                    size_t max_period) {
  if (sums->count == 0) clear(sums);
  sums->kernels = kernels;
  sums->window = window;
  sums->max_period = max_period;
  sums->fixed_most = (double)(INT32_MAX / (int64_t)window);
  sums->refreshed = 0;
  for (size_t m = 1; m <= max_period; m++) refresh(sums, m);
  take_mean(sums);
}

void tsn_sums_zero(tsn_sums *sums) {
  if (sums->sum) memset(sums->sum, 0, sums->max_period * sizeof *sums->sum);
  sums->mean = 0;
}

/* To the nearest integer, halves to the even one, as long as |x| < 2^51: beyond
 * 2^52 a double has no fraction. lrint() does the same by a call. */
static int32_t nearest(double x) {
  const double shift = 0x1.8p52;
  return (int32_t)((x + shift) - shift);
}

static void make_room(tsn_sums *sums) {
  memmove(sums->value + sums->room, sums->value, sums->history * sizeof *sums->value);
  if (sums->fixed) {
    memmove(sums->fixed + sums->room, sums->fixed, sums->history * sizeof *sums->fixed);
  }
  sums->head = sums->room;
}

static tsanom_status store(tsn_sums *sums, double sample) {
  if (!isfinite(sample)) return TSANOM_E_NONFINITE;
  double scaled = sample * sums->scale;
  if (sums->fixed && !(fabs(scaled) <= sums->fixed_most)) return TSANOM_E_VALUE;
  if (sums->head == 0) make_room(sums);
  sums->head--;
  sums->count++;
  sums->value[sums->head] = sample;
  if (sums->fixed) sums->fixed[sums->head] = nearest(scaled);
  return TSANOM_OK;
}

static void unstore(tsn_sums *sums, size_t samples) {
  sums->head += samples;
  sums->count -= samples;
}

/* Slide the first `sliding` delays; those beyond have no term that leaves yet, and gain
 * one if there is a sample that long before. */
static void slide_some(tsn_sums *sums, size_t sliding) {
  size_t before = (size_t)(sums->count - 1), head = sums->head;
  size_t growing = before < sums->max_period ? before : sums->max_period;
  if (sums->fixed) {
    const int32_t *x = sums->fixed + head;
    sums->kernels->slide_u32(x, sums->window, sums->fixed_sum, sliding, NULL);
    for (size_t m = sliding + 1; m <= growing; m++) {
      sums->fixed_sum[m - 1] += distance_i32(x, x + m, 1);
    }
  } else {
    const double *x = sums->value + head;
    sums->kernels->slide_f64(x, sums->window, sums->sum, sliding, NULL);
    for (size_t m = sliding + 1; m <= growing; m++) {
      sums->sum[m - 1] += fabs(x[0] - x[m]);
    }
  }
}

static double least_of(const tsn_sums *sums) {
  double least = INFINITY;
  size_t complete = tsn_sums_complete(sums);
  for (size_t m = 1; m <= complete; m++) {
    double sum = tsn_sums_at(sums, m);
    least = sum < least ? sum : least;
  }
  return least;
}

/* Slide all delays. With many of them the total of the sums is taken once in
 * TSN_DPD_BLOCK samples. */
static double slide_all(tsn_sums *sums) {
  bool totalled = sums->max_period < BLOCK_DELAYS || sums->count % TSN_DPD_BLOCK == 0;
  size_t lags = sums->max_period, window = sums->window;
  double least;
  if (sums->fixed) {
    uint64_t total;
    least = sums->kernels->slide_u32(sums->fixed + sums->head, window, sums->fixed_sum,
                                     lags, totalled ? &total : NULL);
    if (totalled) sums->mean = (double)total / (double)lags;
  } else {
    double total;
    least = sums->kernels->slide_f64(sums->value + sums->head, window, sums->sum, lags,
                                     totalled ? &total : NULL);
    if (totalled) sums->mean = total / (double)lags;
  }
  return least;
}

/* The window loses a term of delay m once there are window + m + 1 samples. */
static size_t sliding_at(const tsn_sums *sums, uint64_t count) {
  if (count <= sums->window + 1) return 0;
  uint64_t sliding = count - sums->window - 1;
  return sliding < sums->max_period ? (size_t)sliding : sums->max_period;
}

tsanom_status tsn_sums_push(tsn_sums *sums, double sample, double *least) {
  tsanom_status status = store(sums, sample);
  if (status < 0) return status;
  size_t sliding = sliding_at(sums, sums->count);
  if (sliding == sums->max_period) {
    *least = slide_all(sums);
  } else {
    slide_some(sums, sliding);
    *least = least_of(sums);
    take_mean(sums);
  }
  return TSANOM_OK;
}

void tsn_sums_settle(tsn_sums *sums) {
  if (!sums->sum || sums->count % REFRESH_EVERY != 0) return;
  sums->refreshed = sums->refreshed % sums->max_period + 1;
  refresh(sums, sums->refreshed);
}

static bool store_block(tsn_sums *sums, const double *samples) {
  for (size_t k = 0; k < TSN_DPD_BLOCK; k++) {
    if (store(sums, samples[k]) < 0) {
      unstore(sums, k);
      return false;
    }
  }
  return true;
}

/* The sum of one delay after each sample of a block, by the steps of the kernel. */
static void follow_f64(const tsn_sums *sums, size_t delay, double *at) {
  double sum = sums->sum[delay - 1];
  for (size_t k = 0; k < TSN_DPD_BLOCK; k++) {
    const double *x = sums->value + sums->head + (TSN_DPD_BLOCK - 1 - k);
    const double *leaving = x + sums->window;
    sum += fabs(x[0] - x[delay]) - fabs(leaving[0] - leaving[delay]);
    at[k] = sum;
  }
}

static void follow_u32(const tsn_sums *sums, size_t delay, double *at) {
  uint32_t sum = sums->fixed_sum[delay - 1];
  for (size_t k = 0; k < TSN_DPD_BLOCK; k++) {
    const int32_t *x = sums->fixed + sums->head + (TSN_DPD_BLOCK - 1 - k);
    const int32_t *leaving = x + sums->window;
    sum += distance_i32(x, x + delay, 1) - distance_i32(leaving, leaving + delay, 1);
    at[k] = sum;
  }
}

bool tsn_sums_try_block(tsn_sums *sums, const double *samples, size_t delay,
                        tsn_block *block) {
  size_t lags = sums->max_period, window = sums->window;
  if (lags < BLOCK_DELAYS || delay > lags) return false;
  if (sums->count % TSN_DPD_BLOCK != 0) return false;
  if (sliding_at(sums, sums->count + 1) < lags) return false;
  if (!store_block(sums, samples)) return false;
  if (sums->fixed) {
    uint32_t least[TSN_DPD_BLOCK];
    uint64_t total;
    if (delay) follow_u32(sums, delay, block->at);
    sums->kernels->slide_block_u32(sums->fixed + sums->head, window, sums->fixed_sum,
                                   sums->next_fixed_sum, lags, least, &total);
    for (size_t k = 0; k < TSN_DPD_BLOCK; k++) block->least[k] = least[k];
    block->mean = (double)total / (double)lags;
  } else {
    double total;
    if (delay) follow_f64(sums, delay, block->at);
    sums->kernels->slide_block_f64(sums->value + sums->head, window, sums->sum,
                                   sums->next_sum, lags, block->least, &total);
    block->mean = total / (double)lags;
  }
  return true;
}

void tsn_sums_take_block(tsn_sums *sums, const tsn_block *block) {
  double *sum = sums->sum;
  uint32_t *fixed_sum = sums->fixed_sum;
  sums->sum = sums->next_sum;
  sums->next_sum = sum;
  sums->fixed_sum = sums->next_fixed_sum;
  sums->next_fixed_sum = fixed_sum;
  sums->mean = block->mean;
}

void tsn_sums_drop_block(tsn_sums *sums) {
  unstore(sums, TSN_DPD_BLOCK);
}
