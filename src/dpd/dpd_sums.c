/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_sums.h"

#include <math.h>
#include <string.h>

/* Samples between two sums that are computed afresh: rounding then piles up over
 * REFRESH_EVERY * M steps, and N / REFRESH_EVERY terms a sample are the price. */
enum { REFRESH_EVERY = 4 };

void tsn_sums_layout(tsn_arena *arena, size_t window, size_t max_period, double scale,
                     tsn_sums *sums) {
  size_t ring = 1;
  while (ring < window + max_period + 1) ring *= 2;
  *sums = (tsn_sums){.scale = scale, .unit = scale > 0 ? scale : 1, .mask = ring - 1};
  size_t samples = 2 * ring + TSN_DPD_PADDING, delays = max_period + TSN_DPD_PADDING;
  sums->value = tsn_arena_take(arena, samples, sizeof *sums->value);
  if (scale > 0) {
    sums->fixed = tsn_arena_take(arena, samples, sizeof *sums->fixed);
    sums->fixed_sum = tsn_arena_take(arena, delays, sizeof *sums->fixed_sum);
  } else {
    sums->sum = tsn_arena_take(arena, delays, sizeof *sums->sum);
  }
}

/* The terms of delay m that are in the window: all of them, or as many as there
 * are samples m before. */
static size_t terms_of(const tsn_sums *sums, size_t delay) {
  if (sums->count <= delay) return 0;
  uint64_t terms = sums->count - delay;
  return terms < sums->window ? (size_t)terms : sums->window;
}

static void refresh(tsn_sums *sums, size_t delay) {
  size_t terms = terms_of(sums, delay);
  if (sums->fixed) {
    const int32_t *x = sums->fixed + sums->head;
    uint32_t sum = 0;
    for (size_t i = 0; i < terms; i++) {
      int32_t difference = x[i] - x[i + delay];
      sum += (uint32_t)(difference < 0 ? -difference : difference);
    }
    sums->fixed_sum[delay - 1] = sum;
  } else {
    const double *x = sums->value + sums->head;
    sums->sum[delay - 1] = sums->kernels->distance_f64(x, x + delay, terms);
  }
}

void tsn_sums_start(tsn_sums *sums, const tsn_dpd_kernels *kernels, size_t window,
                    size_t max_period) {
  if (sums->fixed && sums->count == 0) { /* what vectors read beyond the samples */
    memset(sums->fixed, 0, (2 * sums->mask + 2 + TSN_DPD_PADDING) * sizeof *sums->fixed);
  }
  sums->kernels = kernels;
  sums->window = window;
  sums->max_period = max_period;
  sums->refreshed = 0;
  sums->totalled = 0;
  for (size_t m = 1; m <= max_period; m++) refresh(sums, m);
}

void tsn_sums_clear(tsn_sums *sums) {
  if (sums->sum) memset(sums->sum, 0, sums->max_period * sizeof *sums->sum);
}

static void include(tsn_dpd_extent *extent, double sum) {
  extent->least = sum < extent->least ? sum : extent->least;
  extent->total += sum;
}

/* Delays beyond the first `sliding` have no term that leaves the window yet. */
static void grow_sums(tsn_sums *sums, size_t sliding, tsn_dpd_extent *extent) {
  size_t delays =
      sums->count - 1 < sums->max_period ? (size_t)(sums->count - 1) : sums->max_period;
  size_t complete = tsn_sums_complete(sums);
  for (size_t m = sliding + 1; m <= delays; m++) {
    if (sums->fixed) {
      int32_t difference = sums->fixed[sums->head] - sums->fixed[sums->head + m];
      sums->fixed_sum[m - 1] += (uint32_t)(difference < 0 ? -difference : difference);
    } else {
      sums->sum[m - 1] += fabs(sums->value[sums->head] - sums->value[sums->head + m]);
    }
    if (m <= complete) include(extent, tsn_sums_at(sums, m));
  }
}

static tsanom_status store(tsn_sums *sums, double sample) {
  if (!isfinite(sample)) return TSANOM_E_NONFINITE;
  size_t head = (sums->head - 1) & sums->mask, twin = head + sums->mask + 1;
  if (sums->fixed) {
    double scaled = sample * sums->scale;
    if (!(fabs(scaled) <= (double)(INT32_MAX / (int64_t)sums->window))) {
      return TSANOM_E_VALUE;
    }
    sums->fixed[head] = sums->fixed[twin] = (int32_t)lrint(scaled);
  }
  sums->value[head] = sums->value[twin] = sample;
  sums->head = head;
  sums->count++;
  return TSANOM_OK;
}

/* The total of the sums is exact, so that it can be kept up by what they gain;
 * while their number grows it is taken anew. */
static tsn_dpd_extent slide_fixed(tsn_sums *sums, size_t sliding) {
  const int32_t *x = sums->fixed + sums->head, *leaving = x + sums->window;
  uint32_t lowest;
  sums->fixed_total += sums->kernels->slide_i32(x + 1, x[0], leaving + 1, leaving[0],
                                                sums->fixed_sum, sliding, &lowest);
  if (sums->totalled != sliding) {
    sums->fixed_total = 0;
    for (size_t m = 0; m < sliding; m++) sums->fixed_total += sums->fixed_sum[m];
    sums->totalled = sliding;
  }
  return (tsn_dpd_extent){lowest, (double)sums->fixed_total};
}

tsanom_status tsn_sums_push(tsn_sums *sums, double sample, tsn_dpd_extent *extent) {
  tsanom_status status = store(sums, sample);
  if (status < 0) return status;
  size_t head = sums->head, window = sums->window;
  /* The window loses a term of delay m once there are window + m + 1 samples. */
  size_t sliding = 0;
  *extent = (tsn_dpd_extent){INFINITY, 0};
  if (sums->count > window + 1) {
    uint64_t full = sums->count - window - 1;
    sliding = full < sums->max_period ? (size_t)full : sums->max_period;
    if (sums->fixed) {
      *extent = slide_fixed(sums, sliding);
    } else {
      const double *x = sums->value + head;
      *extent = sums->kernels->slide_f64(x + 1, x[0], x + window + 1, x[window],
                                         sums->sum, sliding);
    }
  }
  if (sliding < sums->max_period) grow_sums(sums, sliding, extent);
  if (sums->sum && sums->count % REFRESH_EVERY == 0) {
    if (++sums->refreshed > sums->max_period) sums->refreshed = 1;
    refresh(sums, sums->refreshed);
  }
  return TSANOM_OK;
}
