/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of Chebyshev polynomials over samples, transformed from one interval to another. A
 * stream does not know the range of its samples in advance, but t must stay in [-1, 1],
 * where |T_k| <= 1. When a sample falls outside the interval, it grows, and the sums
 * follow without the samples: T_k(t') with t' = slope·t + shift is a combination of
 * T_0(t), ..., T_k(t),
 *
 *     T_k(t') = sum_j a_kj T_j(t)    =>    sum w T_k(t') = sum_j a_kj sum w T_j(t)
 *
 *     old interval       |-----------|            t in [-1, 1]
 *     new interval    |---------------------|     t' in [-1, 1] for all old samples
 *
 * and likewise for the sums with y. If the new interval contains the old one, the
 * coefficients are at most 1, so that the transform is stable; in the other direction
 * (tsn_polyfit_sums_tighten()) errors grow, which the double-double sums can afford as
 * long as the interval is only a little too wide.
 *
 * A change costs O(terms^2) in double-double and happens a logarithmic number of times.
 */
#include "polyfit/polyfit_sums.h"

#include <math.h>

#include "polyfit/polyfit_map.h"

void tsn_polyfit_sums_clear(tsn_polyfit_sums *sums) {
  *sums = (tsn_polyfit_sums){
      .x_low = INFINITY, .x_high = -INFINITY, .y_low = INFINITY, .y_high = -INFINITY};
}

static tsn_dd times_power(tsn_dd a, int exponent) {
  return (tsn_dd){ldexp(a.high, exponent), ldexp(a.low, exponent)};
}

/* row = T_k(slope t + shift) in the basis T_j(t), in place of `before`, from the two rows before
 * it: 2 (slope t + shift) current - before, where t T_j = (T_{j+1} + T_{|j-1|}) / 2. */
static void next_row(tsn_dd slope, tsn_dd shift, int k, const tsn_dd *current,
                     tsn_dd *row) {
  for (int j = 0; j <= k; j++) {
    tsn_dd raised = tsn_dd_from(0);
    if (j > 0) raised = j == 1 ? times_power(current[0], 1) : current[j - 1];
    if (j + 1 < k) raised = tsn_dd_add(raised, current[j + 1]);
    tsn_dd entry = tsn_dd_multiply(slope, raised);
    if (j < k) {
      entry = tsn_dd_add(entry, times_power(tsn_dd_multiply(shift, current[j]), 1));
    }
    row[j] = j < k - 1 ? tsn_dd_subtract(entry, row[j]) : entry;
  }
}

/* One transformed sum: row k has the coefficients of T_0, ..., T_k. */
static tsn_dd combine(const tsn_dd *row, int k, const tsn_dd *sums) {
  tsn_dd total = tsn_dd_from(0);
  for (int j = 0; j <= k; j++) {
    total = tsn_dd_add(total, tsn_dd_multiply(row[j], sums[j]));
  }
  return total;
}

static void set_interval(tsn_polyfit_frame *frame, double low, double high) {
  frame->low = low;
  frame->high = high;
  tsn_polyfit_map_x(&frame->map, low, high);
}

/* Transform the sums to another map of x. `slope` and `shift` are computed in
 * double-double from the doubles of both maps, so that t' is what the new map gives for
 * the samples themselves. */
static void change_interval(tsn_polyfit_sums *sums, int terms, double low, double high,
                            tsn_dd *turning) {
  if (low == sums->frame.low && high == sums->frame.high) return;
  tsn_polyfit_map old = sums->frame.map, *map = &sums->frame.map;
  tsn_dd *rows[2] = {turning, turning + (ptrdiff_t)2 * terms},
         *turned = rows[1] + (ptrdiff_t)2 * terms;
  int powers = 2 * terms - 1;
  set_interval(&sums->frame, low, high);
  int change = map->x_exponent - old.x_exponent;
  tsn_dd slope =
      tsn_dd_divide(tsn_dd_from(ldexp(map->scale, change)), tsn_dd_from(old.scale));
  tsn_dd shift = tsn_two_sum(ldexp(old.center, change), -map->center);
  shift = tsn_dd_multiply(shift, tsn_dd_from(map->scale));
  rows[0][0] = tsn_dd_from(1);
  rows[1][0] = shift;
  rows[1][1] = slope;
  for (int k = 0; k < powers; k++) {
    tsn_dd *row = rows[k % 2];
    if (k >= 2) next_row(slope, shift, k, rows[(k + 1) % 2], row);
    turned[k] = combine(row, k, sums->sums);
    if (k < terms) turned[powers + k] = combine(row, k, sums->sums + powers);
  }
  for (int k = 0; k < powers + terms; k++) sums->sums[k] = turned[k];
}

/* Transform the sums to other units of y and of the weights: exact, except for underflow,
 * since units are powers of two. Sums with w y^2 contain the unit of y twice. */
static void change_units(tsn_polyfit_sums *sums, int terms, int y_exponent,
                         int weight_exponent) {
  tsn_polyfit_map *map = &sums->frame.map;
  int y = y_exponent - map->y_exponent;
  int weight = weight_exponent - map->weight_exponent;
  int powers = 2 * terms - 1, count = powers + terms + 1;
  tsn_polyfit_map_y(map, y_exponent, weight_exponent);
  if (y == 0 && weight == 0) return;
  for (int k = 0; k < count; k++) {
    int exponent = weight + (k < powers ? 0 : k < count - 1 ? y : 2 * y);
    sums->sums[k] = times_power(sums->sums[k], exponent);
  }
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* Extend the interval to contain [low, high]. It grows by at least a fraction of its
 * length, so that it grows a logarithmic number of times. The fraction is small because
 * tsn_polyfit_sums_tighten() multiplies errors by about T_{2·terms}(1 + 2 / terms). */
static void widen(tsn_polyfit_frame *frame, int terms, double low, double high) {
  double growth = frame->high / terms - frame->low / terms;
  double below = frame->low - growth, above = frame->high + growth;
  if (low >= frame->low) {
    low = frame->low;
  } else if (below < low && isfinite(below)) {
    low = below;
  }
  if (high <= frame->high) {
    high = frame->high;
  } else if (above > high && isfinite(above)) {
    high = above;
  }
  set_interval(frame, low, high);
}

tsn_polyfit_frame tsn_polyfit_frame_with(const tsn_polyfit_frame *frame, int terms,
                                         const tsn_polyfit_ranges *ranges) {
  tsn_polyfit_frame grown = {0};
  int y = tsn_polyfit_y_exponent(ranges->y);
  int weight = tsn_polyfit_weight_exponent(ranges->weights.high);
  double low = ranges->x.low, high = ranges->x.high;
  if (!frame) {
    set_interval(&grown, low, high);
    tsn_polyfit_map_y(&grown.map, y, weight);
    return grown;
  }
  grown = *frame;
  tsn_polyfit_map_y(&grown.map, smaller(y, frame->map.y_exponent),
                    smaller(weight, frame->map.weight_exponent));
  if (low < frame->low || high > frame->high) widen(&grown, terms, low, high);
  return grown;
}

static void extend_ranges(tsn_polyfit_sums *sums, double x_low, double x_high,
                          double y_low, double y_high) {
  sums->x_low = fmin(sums->x_low, x_low);
  sums->x_high = fmax(sums->x_high, x_high);
  sums->y_low = fmin(sums->y_low, y_low);
  sums->y_high = fmax(sums->y_high, y_high);
}

/* `frame` contains the interval of the sums, so that the transform to it is stable. After
 * a change of frame, sums of the stream and of the block have the same meaning and are
 * added. */
void tsn_polyfit_sums_take(tsn_polyfit_sums *sums, int terms,
                           const tsn_polyfit_frame *frame,
                           const tsn_polyfit_ranges *ranges, size_t count,
                           const tsn_dd *added, tsn_dd *turning) {
  if (sums->samples == 0) {
    sums->frame = *frame;
  } else {
    change_units(sums, terms, frame->map.y_exponent, frame->map.weight_exponent);
    change_interval(sums, terms, frame->low, frame->high, turning);
  }
  for (int k = 0; k < 3 * terms; k++) {
    sums->sums[k] = tsn_dd_add(sums->sums[k], added[k]);
  }
  extend_ranges(sums, ranges->x.low, ranges->x.high, ranges->y.low, ranges->y.high);
  sums->samples += count;
}

/* The union of both intervals, which contains each, and the units of the larger samples.
 */
void tsn_polyfit_sums_join(tsn_polyfit_sums *sums, int terms, tsn_polyfit_sums *other,
                           tsn_dd *turning) {
  if (other->samples == 0) return;
  if (sums->samples == 0) {
    *sums = *other;
    return;
  }
  const tsn_polyfit_frame *a = &sums->frame, *b = &other->frame;
  double low = fmin(a->low, b->low), high = fmax(a->high, b->high);
  int y = smaller(a->map.y_exponent, b->map.y_exponent);
  int weight = smaller(a->map.weight_exponent, b->map.weight_exponent);
  tsn_polyfit_sums *both[] = {sums, other};
  for (int i = 0; i < 2; i++) {
    change_units(both[i], terms, y, weight);
    change_interval(both[i], terms, low, high, turning);
  }
  for (int k = 0; k < 3 * terms; k++) {
    sums->sums[k] = tsn_dd_add(sums->sums[k], other->sums[k]);
  }
  extend_ranges(sums, other->x_low, other->x_high, other->y_low, other->y_high);
  sums->samples += other->samples;
}

void tsn_polyfit_sums_tighten(tsn_polyfit_sums *sums, int terms, tsn_dd *turning) {
  change_interval(sums, terms, sums->x_low, sums->x_high, turning);
}

/* Some unit that tsn_polyfit_map_y() gets. */
static bool is_unit(int exponent) {
  return exponent >= -1024 && exponent <= 1023;
}

/* Weights are below 2 in their unit, so that a sum of 2^64 of them is below 2^65: no
 * operation on the sums overflows. The first one is that of the weights alone. */
static bool are_sums(const tsn_dd *sums, int count) {
  for (int k = 0; k < count; k++) {
    if (!(fabs(sums[k].high) < 0x1p100)) return false;
    if (sums[k].high + sums[k].low != sums[k].high) return false;
  }
  return sums[0].high > 0;
}

bool tsn_polyfit_sums_restore(tsn_polyfit_sums *sums, int terms) {
  tsn_polyfit_frame *frame = &sums->frame;
  bool ordered = isfinite(frame->low) && frame->low <= sums->x_low &&
                 sums->x_low <= sums->x_high && sums->x_high <= frame->high &&
                 isfinite(frame->high) && isfinite(sums->y_low) &&
                 sums->y_low <= sums->y_high && isfinite(sums->y_high);
  if (!ordered || !is_unit(frame->map.y_exponent) ||
      !is_unit(frame->map.weight_exponent) || sums->samples > INT64_MAX) {
    return false;
  }
  set_interval(frame, frame->low, frame->high);
  tsn_polyfit_map_y(&frame->map, frame->map.y_exponent, frame->map.weight_exponent);
  return are_sums(sums->sums, 3 * terms);
}
