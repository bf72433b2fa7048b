/* SPDX-License-Identifier: BSD-3-Clause */
/* Points in the numbers that decide: distances of exactly eps', and two processes. */
#include <math.h>
#include <string.h>

#include "spmd/noise.h"
#include "support/check.h"
#include "support/random.h"

enum { STRIDE = 16, POINTS = 3 };

typedef struct {
  double at[POINTS * STRIDE], weight[STRIDE], centroid[STRIDE], away[POINTS];
  uint32_t open[POINTS], queued[POINTS];
} buffers;

static tsn_spmd_points points_in(buffers *b, size_t count, double eps) {
  *b = (buffers){.at = {0}};
  for (size_t d = 0; d < STRIDE; d++) b->weight[d] = 1;
  return (tsn_spmd_points){.count = count,
                           .stride = STRIDE,
                           .at = b->at,
                           .weight = b->weight,
                           .centroid = b->centroid,
                           .limit = eps * eps,
                           .away = b->away,
                           .open = b->open,
                           .queued = b->queued};
}

Test(spmd_points, a_distance_of_eps_connects) {
  buffers b;
  tsn_spmd_points points = points_in(&b, 3, 3);
  int32_t class_of[POINTS];
  for (size_t i = 0; i < 3; i++) b.at[i * STRIDE] = 3 * (double)i;
  cr_assert(tsn_spmd_classify(&points, class_of) == 1);
  b.at[2 * STRIDE] = 6.001;
  cr_assert(tsn_spmd_classify(&points, class_of) == 2);
}

/* From the second point to the third, the first coordinates add up to eps'^2 already. */
Test(spmd_points, every_coordinate_counts) {
  buffers b;
  tsn_spmd_points points = points_in(&b, 3, 3);
  int32_t class_of[POINTS];
  b.at[STRIDE] = b.at[2 * STRIDE] = b.at[2 * STRIDE + 1] = 3;
  b.at[2 * STRIDE + STRIDE - 1] = 1;
  cr_assert(tsn_spmd_classify(&points, class_of) == 2);
  cr_assert(class_of[0] == 0 && class_of[1] == 0 && class_of[2] == 1);
}

enum { MANY = 700 };

/* Points in clusters of a few sizes, on a grid so that distances of exactly eps' occur.
 */
static void scatter(tsn_spmd_points *p, size_t columns, uint64_t *seed) {
  size_t steps = random_between(seed, 1, 400 / columns + 2);
  for (size_t i = 0; i < p->count; i++) {
    double *row = p->at + i * p->stride;
    memset(row, 0, p->stride * sizeof *row);
    for (size_t d = 0; d < columns; d++) row[d] = (double)random_between(seed, 0, steps);
    if (random_between(seed, 0, 99) == 0) row[0] = NAN;
  }
}

static bool is_near(const tsn_spmd_points *p, size_t a, size_t b) {
  double sum = 0;
  for (size_t d = 0; d < p->stride; d++) {
    double difference = p->at[a * p->stride + d] - p->at[b * p->stride + d];
    sum += p->weight[d] * difference * difference;
  }
  return sum <= p->limit;
}

/* Components by spreading the smallest index until nothing changes. */
static size_t components(const tsn_spmd_points *p, int32_t *class_of) {
  static int32_t first[MANY];
  size_t classes = 0;
  bool changed = true;
  for (size_t i = 0; i < p->count; i++) first[i] = (int32_t)i;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < p->count; i++) {
      for (size_t j = 0; j < p->count; j++) {
        if (first[j] >= first[i] || !is_near(p, i, j)) continue;
        first[i] = first[j];
        changed = true;
      }
    }
  }
  for (size_t i = 0; i < p->count; i++) {
    class_of[i] = first[i] == (int32_t)i ? (int32_t)classes++ : class_of[first[i]];
  }
  return classes;
}

/* Many classes are searched by a tree: the same as by definition. */
Test(spmd_points, many_classes) {
  static double at[MANY * STRIDE], away[MANY], split[MANY], row[MANY * STRIDE + 16];
  static uint32_t open[MANY], queued[MANY], node[MANY];
  double weight[STRIDE], centroid[STRIDE];
  int32_t expected[MANY], class_of[MANY];
  uint64_t seed = 3;
  size_t most = 0;
  for (int trial = 0; trial < CASES(150); trial++) {
    tsn_spmd_points p = {.count = random_between(&seed, 300, MANY),
                         .stride = STRIDE,
                         .at = at,
                         .weight = weight,
                         .centroid = centroid,
                         .limit = (double)random_between(&seed, 0, 9),
                         .away = away,
                         .split = split,
                         .node = node,
                         .row = row,
                         .open = open,
                         .queued = queued};
    scatter(&p, random_between(&seed, 1, STRIDE), &seed);
    for (size_t d = 0; d < STRIDE; d++) weight[d] = random_between(&seed, 0, 3) > 0;
    size_t classes = components(&p, expected);
    cr_assert_eq(tsn_spmd_classify(&p, class_of), classes, "trial %d", trial);
    cr_assert_arr_eq(class_of, expected, p.count * sizeof *class_of);
    most = classes > most ? classes : most;
  }
  cr_assert_gt(most, MANY / 2);
}

/* Whether the squares but the `size` largest sum to eps'^2 at most. */
static bool can_meet(const tsn_spmd_points *p, size_t a, size_t b, size_t size) {
  double square[STRIDE], sum = 0;
  for (size_t d = 0; d < STRIDE; d++) {
    double x = p->at[a * STRIDE + d] - p->at[b * STRIDE + d];
    size_t k = d;
    for (; k > 0 && square[k - 1] > x * x; k--) square[k] = square[k - 1];
    square[k] = x * x;
  }
  for (size_t k = 0; k + size < STRIDE; k++) sum += square[k];
  return sum <= p->limit;
}

/* Each pair that few coordinates keep apart is found once, whichever they are. */
Test(spmd_points, pairs_of_different_classes) {
  enum { FEW = 60, BLOCK = 8 };
  static double at[MANY * STRIDE], away[MANY], split[MANY], tile[64 * STRIDE];
  static double row[MANY * STRIDE + 16];
  static uint32_t open[MANY], queued[MANY], node[MANY];
  static int32_t class_of[MANY], first[MANY];
  static size_t second[MANY];
  double weight[STRIDE], centroid[STRIDE];
  uint64_t seed = 4;
  size_t all = 0, complete = 0;
  for (int trial = 0; trial < CASES(100); trial++) {
    tsn_spmd_points p = {.count = random_between(&seed, 2, trial % 2 ? MANY : FEW),
                         .stride = STRIDE,
                         .at = at,
                         .weight = weight,
                         .centroid = centroid,
                         .tile = tile,
                         .limit = (double)random_between(&seed, 1, 9),
                         .away = away,
                         .split = split,
                         .node = node,
                         .row = row,
                         .isa = trial % 4, /* 0: the base level, too */
                         .open = open,
                         .queued = queued};
    tsn_spmd_pairs pairs = {.first = first, .second = second};
    if (p.isa && !tsanom_isa_available(p.isa)) p.isa = TSANOM_ISA_BASE;
    pairs.size = random_between(&seed, 1, 5);
    size_t wanted = 0, steps = random_between(&seed, 5, 60);
    memset(at, 0, sizeof at);
    for (size_t d = 0; d < STRIDE; d++) weight[d] = 1;
    for (size_t i = 0; i < p.count; i++) {
      size_t begin = random_between(&seed, 0, STRIDE - BLOCK);
      size_t most = random_bits(&seed) % 4 ? STRIDE : begin + pairs.size;
      class_of[i] = (int32_t)random_between(&seed, 0, 99);
      for (size_t d = most < STRIDE ? begin : 0; d < most; d++) {
        at[i * STRIDE + d] = (double)random_between(&seed, 0, steps);
      }
    }
    for (size_t i = 0; i < p.count; i++) {
      for (size_t j = 0; j < i; j++) {
        wanted += class_of[i] != class_of[j] && can_meet(&p, i, j, pairs.size);
      }
    }
    bool is_complete = tsn_spmd_find_pairs(&p, class_of, INFINITY, &pairs);
    cr_assert(is_complete == (wanted <= p.count), "trial %d: %zu", trial, wanted);
    if (!is_complete) continue;
    cr_assert(pairs.count == wanted, "trial %d: %zu, not %zu", trial, pairs.count,
              wanted);
    for (size_t k = 0; k < pairs.count; k++) {
      cr_assert(can_meet(&p, (size_t)first[k], second[k], pairs.size));
      cr_assert((size_t)first[k] < second[k]);
    }
    all += wanted;
    complete++;
  }
  cr_assert(all > CASES(200) && complete > CASES(30), "%zu, %zu", all, complete);
}

Test(spmd_points, two_processes_have_a_noise_reach) {
  buffers b;
  tsn_spmd_points points = points_in(&b, 2, 1);
  points.centroid[1] = points.centroid[2] = 0.5;
  cr_assert(tsn_spmd_noise_reach(&points, 2, 0.01) > 0);
  points.count = 1;
  cr_assert(tsn_spmd_noise_reach(&points, 2, 0.01) == 0);
}
