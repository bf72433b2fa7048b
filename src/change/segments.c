/* SPDX-License-Identifier: BSD-3-Clause */
/* Several changes: one is looked for in each of O(n) intervals, whose lengths fall by
 * sqrt(2) from layer to layer, and which overlap by half:
 *
 *   layer 0   |-------------------------------|
 *   layer 1   |---------------------|
 *                       |---------------------|
 *   layer 2   |---------------|
 *                   |---------------|
 *                           |---------------|  ...
 *
 * together O(n log n) (S. Kovacs, P. Buhlmann, H. Li, A. Munk, Seeded binary segmentation,
 * Biometrika 110 (2023) 249-256). The change with the largest gain is taken first; an
 * interval that contains it is dropped. Then each is looked for again between its
 * neighbors, and dropped if it is not significant there.
 *
 * Short intervals are many, so that their largest gain is 2 log(n / length) larger than
 * that of the whole (L. Dumbgen, V. Spokoiny, Ann. Statist. 29 (2001) 124-152). This is
 * subtracted, so that the error rate is spread evenly over the scales.
 *
 * A line explains a drift better than a step does, and a step a change: the gain of a step
 * must exceed that of a line. */
#include <math.h>
#include <string.h>

#include "change/change.h"
#include "core/size.h"
#include "core/sort.h"

/* Innovations of the shortest interval. */
enum { SHORTEST = 2 * TSN_CHANGE_SIDE + 4 };

/* Passes over all changes, at most; usually two are enough. */
enum { PASSES = 20 };

/* Gain of the levels by which the noise is estimated: about that of significant changes.
 * If it is lower, levels follow the noise of strongly correlated series, whose correlation
 * is then estimated too low; if it is higher, changes are taken for correlation. */
#define MODEL_GAIN 20.0

/* By how much the gain of a change exceeds that of a line. Were it constant, a drift
 * would be taken for a step in the longer series, which show smaller drifts: a drift of a
 * fifth of the scatter in 3 % of series of 4000 samples at 9. A larger one costs power:
 * at 12 a step by the scatter in 400 samples with phi = 0.5 is found in 56 % instead of
 * 72 %. */
static double drift_guard(size_t n) {
  return 9 + 5 * fmax(0, log10((double)n / 400));
}

static bool before(const tsn_change_seed *a, const tsn_change_seed *b) {
  return a->gain > b->gain || (a->gain == b->gain && a->begin < b->begin) ||
         (a->gain == b->gain && a->begin == b->begin && a->end < b->end);
}

static void sort_seeds(tsn_change_seed *values, size_t count);

TSN_HEAPSORT(sort_seeds, tsn_change_seed, before)

static size_t layer_length(size_t n, int layer) {
  return (size_t)ceil((double)n * exp2(-0.5 * layer));
}

static size_t layer_count(int layer) {
  return 2 * (size_t)ceil(exp2(0.5 * layer) - 1e-9) - 1;
}

size_t tsn_change_seeds(size_t n) {
  size_t seeds = 0;
  for (int layer = 0; layer_length(n, layer) >= SHORTEST; layer++) {
    seeds += layer_count(layer);
  }
  return seeds;
}

/* Fewest innovations on each side of a change: the ends of a long interval have shorter
 * ones. A change that was found near an end stays there. */
static size_t side_of(size_t begin, size_t end, size_t near) {
  size_t side = tsn_larger(TSN_CHANGE_SIDE, (end - begin) / 40);
  return tsn_smaller(side, tsn_smaller(near - begin, end - near));
}

/* What a line explains in [begin, end). */
static double line_gain(const tsn_change_series *s, size_t begin, size_t end) {
  double m = (double)(end - begin), center = (double)begin + (m - 1) / 2;
  double slope =
      s->moment[end] - s->moment[begin] - center * (s->sum[end] - s->sum[begin]);
  return slope * slope * 12 / (m * (m * m - 1));
}

double tsn_change_best(const tsn_change_series *s, size_t begin, size_t end, size_t *at) {
  const double *sum = s->sum + begin;
  size_t length = end - begin, side = side_of(begin, end, *at);
  double best = s->kernels->scan(sum, length, side), n = (double)length;
  double mean = (sum[length] - sum[0]) / n;
  for (size_t k = side; k <= length - side; k++) {
    if (tsn_change_gain(sum[k] - sum[0], n, mean, (double)k) == best) {
      *at = begin + k;
      return best;
    }
  }
  return best;
}

/* Judge the best change of an interval: its gain less that of the scale; -infinity: none that
 * exceeds a line. */
static double judge(const tsn_change_series *s, tsn_change_seed *seed, double threshold,
                    double guard) {
  size_t length = seed->end - seed->begin, side;
  side = seed->at > seed->begin ? side_of(seed->begin, seed->end, seed->at) : 0;
  if (side < TSN_CHANGE_SIDE) return -INFINITY;
  double scale = 2 * log((double)s->n / (double)length);
  double gain = s->kernels->scan(s->sum + seed->begin, length, side);
  if (gain - scale <= threshold) return gain - scale;
  if (gain - line_gain(s, seed->begin, seed->end) <= guard) return -INFINITY;
  seed->gain = tsn_change_best(s, seed->begin, seed->end, &seed->at);
  return gain - scale;
}

static void mark(tsn_change_series *s, size_t candidates) {
  sort_seeds(s->seeds, candidates);
  memset(s->changed, 0, s->n);
  for (size_t i = 0; i < candidates; i++) {
    const tsn_change_seed *seed = &s->seeds[i];
    if (memchr(s->changed + seed->begin, 1, seed->end - seed->begin)) continue;
    s->changed[seed->at] = 1;
  }
  s->end_count = 0;
  s->ends[s->end_count++] = 0;
  for (size_t i = 1; i < s->n; i++) {
    if (s->changed[i]) s->ends[s->end_count++] = i;
  }
  s->ends[s->end_count++] = s->n;
}

size_t tsn_change_begin(const tsn_change_series *s, size_t j) {
  return s->ends[j] + (j > 0);
}

/* Look for each change again between its neighbors; returns whether one was dropped. */
static bool settle(tsn_change_series *s, double threshold, double guard) {
  size_t kept = 1;
  bool dropped = false;
  for (size_t j = 1; j + 1 < s->end_count; j++) {
    tsn_change_seed seed = {
        .begin = tsn_change_begin(s, kept - 1), .end = s->ends[j + 1], .at = s->ends[j]};
    if (judge(s, &seed, threshold, guard) > threshold) {
      s->ends[kept++] = seed.at;
    } else {
      dropped = true;
    }
  }
  s->ends[kept++] = s->n;
  s->end_count = kept;
  return dropped;
}

static double search(tsn_change_series *s, double threshold, double guard) {
  size_t candidates = 0;
  double best = -INFINITY;
  for (int layer = 0; layer_length(s->n, layer) >= SHORTEST; layer++) {
    size_t length = layer_length(s->n, layer), count = layer_count(layer);
    for (size_t i = 0; i < count; i++) {
      size_t begin =
          count < 2 ? 0
                    : (size_t)((double)(s->n - length) * (double)i / (double)(count - 1));
      tsn_change_seed seed = {begin, begin + length, begin + length / 2, 0};
      double gain = judge(s, &seed, threshold, guard);
      best = fmax(best, gain);
      if (gain > threshold) s->seeds[candidates++] = seed;
    }
  }
  mark(s, candidates);
  for (int pass = 0; pass < PASSES && settle(s, threshold, guard); pass++) continue;
  return best;
}

/* n samples are worth n (1 - phi) / (1 + phi) independent ones. 20 are enough to see a
 * change, but the estimate of a large phi needs more: with 400 samples and phi = 0.9 it is
 * often so low that only absurd critical gains would keep the error rate.
 *
 * A series has at least two levels here: a change that is not significant is noise whose
 * correlation would be estimated too high. */
bool tsn_change_model(tsn_change_series *s) {
  tsn_change_prepare(s);
  search(s, MODEL_GAIN, -INFINITY);
  if (s->end_count == 2) {
    s->ends[1] = s->n / 2;
    tsn_change_best(s, 0, s->n, &s->ends[1]);
    s->ends[s->end_count++] = s->n;
  }
  tsn_change_refit(s);
  return (double)s->n * (1 - s->phi) >= (20 + 25 * s->phi) * (1 + s->phi);
}

void tsn_change_model_level(tsn_change_series *s) {
  tsn_change_prepare(s);
  s->ends[0] = 0;
  s->ends[1] = s->n;
  s->end_count = 2;
  tsn_change_refit(s);
}

double tsn_change_search(tsn_change_series *s, double threshold) {
  return search(s, threshold, drift_guard(s->n));
}
