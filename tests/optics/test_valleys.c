/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom_optics_split() with min_points: classes that are valleys. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/optics.h>

#include "classes.h"
#include "support/random.h"

enum { MOST = 120 };

/* A plot as tsanom_optics_split() reads it. */
typedef struct {
  size_t n, min_points, order[MOST]; /* min_points: 0 or of the order */
  double step[MOST], core[MOST], significance, resolution;
} problem;

typedef struct {
  size_t classes;
  int32_t label[MOST];
  double cut, probability;
} answer;

static answer split(const problem *p, size_t min_points) {
  answer a = {0};
  size_t order[MOST];
  double step[MOST], core[MOST];
  memcpy(order, p->order, sizeof order);
  memcpy(step, p->step, sizeof step);
  memcpy(core, p->core, sizeof core);
  tsanom_optics_ordering ordering = plot_ordering(&(plot){p->n, order, NULL, step, core});
  ordering.min_points = min_points;
  tsanom_optics_split_options options;
  tsanom_optics_split_options_init(&options, sizeof options);
  options.significance = p->significance;
  options.resolution = p->resolution;
  CHECK_STATUS(tsanom_optics_split(&ordering, &options, NULL, a.label, &a.classes, &a.cut,
                                   &a.probability),
               TSANOM_OK);
  return a;
}

/* The definition: the plot is divided at its highest step, of equal ones at the last. */

typedef struct {
  const problem *p;
  double unit, least, scatter, freedom, dimensions, accepted;
  double chance[MOST]; /* of the walls, in any order */
  size_t walls;
  int32_t at[MOST]; /* label by position */
  int32_t classes;
} naive;

static double naive_log(const naive *v, double distance) {
  return log(distance > v->least ? distance : v->least);
}

static double naive_median(double *value, size_t count) {
  qsort(value, count, sizeof *value, naive_compare);
  return count % 2 ? value[count / 2] : (value[count / 2 - 1] + value[count / 2]) / 2;
}

static void naive_scales(naive *v) {
  const problem *p = v->p;
  double smallest = INFINITY, lowest = INFINITY, change[MOST];
  double root = sqrt((double)p->min_points);
  size_t count = 0, steps = 0, cores = 0;
  for (size_t k = 1; k < p->n; k++) {
    if (p->step[k] > 0 && p->step[k] < smallest) smallest = p->step[k];
  }
  for (size_t k = 1; k < p->n; k++) {
    steps += p->step[k] > 0 && p->step[k] <= smallest * (1 + 1e-6);
  }
  for (size_t k = 0; k < p->n; k++) lowest = fmin(lowest, p->core[k]);
  for (size_t k = 0; k < p->n; k++) cores += p->core[k] == lowest;
  bool rounded = steps > 1 && cores > 2 && isfinite(lowest) && isfinite(smallest);
  v->unit = rounded ? smallest : 0;
  v->least = isinf(smallest) ? 1 : rounded ? 2 * smallest : smallest / 1e6;
  for (size_t k = p->min_points; k < p->n; k++) {
    double now = p->core[p->order[k]], then = p->core[p->order[k - p->min_points]];
    if (isinf(now) || isinf(then)) continue;
    double value = naive_log(v, now) - naive_log(v, then);
    if (fabs(value) > 1e-9) change[count++] = value;
  }
  v->scatter = 1.2 / root;
  v->freedom = 1e9;
  if (count) {
    double middle = naive_median(change, count);
    for (size_t i = 0; i < count; i++) change[i] = fabs(change[i] - middle);
    double measured = 1.4826 * naive_median(change, count) / sqrt(2);
    if (measured > 1e-9 && measured < v->scatter) {
      v->scatter = measured;
      v->freedom = 0.37 * (double)count + 1;
    }
  }
  v->dimensions = 0.95 / (v->scatter * root);
}

/* The tail of Student's t by the midpoint rule over u = atan(x / sqrt(freedom)), where the
 * density is cos(u)^(freedom - 1). */
static double naive_tail(double t, double freedom) {
  if (freedom >= 1e9) return 0.5 * erfc(t / sqrt(2));
  enum { PARTS = 600 };
  double from = atan(t / sqrt(freedom)), width = (M_PI_2 - from) / PARTS, sum = 0;
  for (int i = 0; i < PARTS; i++) {
    sum += pow(cos(from + (i + 0.5) * width), freedom - 1) * width;
  }
  return sum * exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(M_PI);
}

static double naive_chance(const naive *v, size_t first, size_t end, double wall) {
  double k = (double)v->p->min_points, points = (double)(end - first), mean = 0;
  if (isinf(wall)) return -1;
  for (size_t i = first + 1; i < end; i++) {
    mean += naive_log(v, v->p->step[i] - v->unit) / (points - 1);
  }
  double weight = points / (2 * k), limit = 1;
  if (v->dimensions > 2 && k > 3) limit += (v->dimensions / 2 - 1) * (k - 3);
  if (weight > limit) weight = limit;
  if (weight < 1) weight = 1;
  double deviations = (naive_log(v, wall - v->unit) - mean) / v->scatter * sqrt(weight);
  return naive_tail(deviations, v->freedom);
}

static size_t highest(const problem *p, size_t first, size_t end) {
  size_t at = first + 1;
  for (size_t i = first + 1; i < end; i++) {
    if (p->step[i] >= p->step[at]) at = i;
  }
  return at;
}

static int is_wall(const problem *p, size_t first, size_t at, size_t end) {
  return at - first >= p->min_points && end - at >= p->min_points &&
         p->step[at] > p->resolution;
}

static void collect_walls(naive *v, size_t first, size_t end) {
  if (end - first < 2) return;
  size_t at = highest(v->p, first, end);
  if (is_wall(v->p, first, at, end) && isfinite(v->p->step[at])) {
    v->chance[v->walls++] = fmax(naive_chance(v, first, at, v->p->step[at]),
                                 naive_chance(v, at, end, v->p->step[at]));
  }
  collect_walls(v, first, at);
  collect_walls(v, at, end);
}

/* The largest chance that some number of walls supports. */
static double naive_accept(naive *v) {
  double tests = 3 * (2 * (double)v->walls + 1), most = -1, smallest = 1;
  for (size_t i = 0; i < v->walls; i++) {
    size_t rank = 0;
    for (size_t j = 0; j < v->walls; j++) rank += v->chance[j] <= v->chance[i];
    double adjusted = v->chance[i] * tests / (double)rank;
    smallest = fmin(smallest, adjusted);
    if (adjusted <= v->p->significance) most = fmax(most, v->chance[i]);
  }
  v->accepted = most;
  return smallest;
}

/* Label the classes inside; 0 if there are fewer than two. */
static int32_t naive_classes(naive *v, size_t first, size_t end) {
  if (end - first < 2) return 0;
  size_t at = highest(v->p, first, end), side[3] = {first, at, end};
  int32_t found[2], real[2];
  int wall = is_wall(v->p, first, at, end);
  double height = v->p->step[at];
  for (int s = 0; s < 2; s++) {
    found[s] = naive_classes(v, side[s], side[s + 1]);
    real[s] = found[s] > 0 ||
              (wall && naive_chance(v, side[s], side[s + 1], height) <= v->accepted);
  }
  if (!real[0] || !real[1]) return found[0] + found[1];
  for (int s = 0; s < 2; s++) {
    for (size_t i = side[s]; !found[s] && i < side[s + 1]; i++) v->at[i] = 1 + v->classes;
    if (!found[s]) v->classes++;
  }
  return (found[0] ? found[0] : 1) + (found[1] ? found[1] : 1);
}

/* Labels in the order of positions. */
static answer naive_split(const problem *p) {
  static naive v;
  v = (naive){.p = p};
  answer a = {.probability = 1};
  if (p->min_points < 2) return a;
  naive_scales(&v);
  collect_walls(&v, 0, p->n);
  a.probability = naive_accept(&v);
  a.classes = (size_t)naive_classes(&v, 0, p->n);
  int32_t before = 0, last = -1;
  for (size_t k = 0; k < p->n; k++) {
    if (v.at[k] && v.at[k] != before) last++;
    if (v.at[k]) before = v.at[k];
    a.label[p->order[k]] = v.at[k] ? last : TSANOM_NOISE;
  }
  return a;
}

/* Steps of one of several kinds: ties, zeros, undefined ones, valleys of any depth. */
static double random_step(int kind, double level, uint64_t *seed) {
  if (kind == 0) return (double)random_between(seed, 0, 3);
  if (kind == 1) return random_between(seed, 0, 9) ? random_unit(seed) : INFINITY;
  if (kind == 2) return 5;
  return exp(level + 0.2 * random_normal(seed));
}

static problem random_problem(uint64_t *seed) {
  problem p = {.n = random_between(seed, 1, MOST),
               .min_points = random_between(seed, 0, 7),
               .significance = random_between(seed, 0, 1) ? 0.05 : 0.9,
               .resolution = random_between(seed, 0, 4) ? 0 : 1};
  int kind = (int)random_between(seed, 0, 5);
  double level = 0;
  size_t left = 0;
  for (size_t k = 0; k < p.n; k++, left--) {
    bool wall = left == 0;
    if (wall) {
      left = random_between(seed, 1, 30);
      level = 2 * random_normal(seed);
    }
    double step = random_step(kind, level, seed);
    p.step[k] = wall && kind > 2 ? step * exp(3 * random_unit(seed)) : step;
    p.core[k] = random_step(kind, level, seed);
    p.order[k] = k;
  }
  p.step[0] = INFINITY;
  for (size_t k = p.n; k > 1; k--) { /* cores stay those of their positions */
    size_t other = random_between(seed, 0, k - 1), point = p.order[k - 1];
    double core = p.core[point];
    p.core[point] = p.core[p.order[other]];
    p.core[p.order[other]] = core;
    p.order[k - 1] = p.order[other];
    p.order[other] = point;
  }
  return p;
}

Test(optics_valleys, are_those_of_the_definition_in_any_plot) {
  uint64_t seed = 26;
  size_t several = 0, single = 0;
  for (int trial = 0; trial < CASES(6000); trial++) {
    problem p = random_problem(&seed);
    answer found = split(&p, p.min_points), expected = naive_split(&p);
    if (p.min_points < 2) continue; /* test_extract.c */
    if (expected.classes < 2) {
      answer gap = split(&p, 0);
      size_t apart = 0;
      for (size_t k = 1; k < p.n; k++) apart += p.step[k] == INFINITY;
      cr_assert(found.classes <= 1 + apart);
      if (gap.classes < 2) {
        cr_assert(memcmp(found.label, gap.label, sizeof gap.label) == 0);
      }
      cr_assert(found.probability <= expected.probability + 1e-4);
      single++;
      continue;
    }
    several++;
    cr_assert(found.classes == expected.classes, "trial %d: %zu, not %zu", trial,
              found.classes, expected.classes);
    cr_assert(memcmp(found.label, expected.label, sizeof found.label) == 0, "trial %d",
              trial);
    cr_assert(fabs(found.probability - expected.probability) < 1e-4 && isnan(found.cut),
              "trial %d: %g, not %g", trial, found.probability, expected.probability);
  }
  cr_assert(several > CASES(1000) && single > CASES(1000), "%zu, %zu", several, single);
}

/* `count` points around (x, y). */
static void cloud(double *points, size_t count, double x, double y, double deviation,
                  uint64_t *seed) {
  for (size_t i = 0; i < count; i++) {
    points[2 * i] = x + deviation * random_normal(seed);
    points[2 * i + 1] = y + deviation * random_normal(seed);
  }
}

/* No gap separates these: the tails of the clouds are as sparse as the space between. */
Test(optics_valleys, clouds_are_found_for_any_min_points) {
  uint64_t seed = 4;
  enum { EACH = 150 };
  static double points[4 * EACH * 2];
  static int32_t label[4 * EACH];
  for (int trial = 0; trial < 10; trial++) {
    for (size_t c = 0; c < 4; c++) {
      double deviation = trial % 2 ? 1 : 0.4 + 0.3 * (double)c;
      cloud(points + 2 * EACH * c, EACH, 9. * (double)(c % 2), 9. * (double)(c / 2),
            deviation, &seed);
    }
    for (size_t min_points = 5; min_points <= 20; min_points += 5) {
      size_t found = classes_of(points, 4 * EACH, 2, min_points, 0, label), wrong = 0;
      cr_assert(found == 4, "trial %d, min_points %zu: %zu", trial, min_points, found);
      for (size_t i = 0; i < 4 * EACH; i++) wrong += label[i] != label[i / EACH * EACH];
      cr_assert(wrong <= 4 * EACH / 30, "%zu", wrong);
    }
  }
}

/* At most the stated 5 % and three deviations; min_points of 0 is the default. */
Test(optics_valleys, one_cloud_is_rarely_taken_for_several) {
  uint64_t seed = 5;
  static double points[300 * 5];
  static int32_t label[300];
  static const size_t widths[] = {1, 2, 5}, numbers[] = {20, 60, 300};
  enum { TRIALS = 200 };
  for (size_t w = 0; w < 9; w++) {
    size_t d = widths[w % 3], n = numbers[w / 3];
    for (int shape = 0; shape < 3; shape++) {
      size_t wrong = 0;
      for (int trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < n * d; i++) {
          points[i] = shape ? random_normal(&seed) : random_unit(&seed);
          if (shape == 2) points[i] = round(10 * points[i]) / 10;
        }
        wrong += classes_of(points, n, d, 5 * (size_t)(trial % 3), 0, label) > 1;
      }
      cr_assert(wrong <= 19, "%zu points, %zu dimensions, shape %d: %zu", n, d, shape,
                wrong);
    }
  }
}

Test(optics_valleys, the_default_grows_with_the_points) {
  static const size_t expected[][2] = {{1, 1},   {9, 1},   {10, 5},   {143, 5},
                                       {144, 6}, {399, 9}, {400, 10}, {1000, 15}};
  static double points[1000];
  static int32_t label[1000];
  for (size_t i = 0; i < 1000; i++) points[i] = (double)i;
  for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
    plot p = plot_new(expected[e][0]);
    tsanom_optics_ordering ordering = plot_ordering(&p);
    size_t classes = 0;
    CHECK_STATUS(tsanom_optics_order(points, expected[e][0], 1, 1, NULL, NULL, &ordering),
                 TSANOM_OK);
    cr_assert(ordering.min_points == expected[e][1]);
    CHECK_STATUS(tsanom_optics_split(&ordering, NULL, NULL, label, &classes, NULL, NULL),
                 TSANOM_OK);
    cr_assert(classes == 1);
    plot_free(&p);
  }
}

Test(optics_valleys, degenerate_plots_have_an_answer) {
  int32_t label[64];
  double same[40] = {0}, line[40], sites[40];
  for (size_t i = 0; i < 40; i++) {
    line[i] = (double)i;
    sites[i] = i < 20 ? 0 : 1;
  }
  cr_assert(classes_of(same, 40, 1, 5, 0, label) == 1 && label[39] == 0);
  cr_assert(classes_of(line, 40, 1, 5, 0, label) == 1);
  cr_assert(classes_of(sites, 40, 1, 5, 0, label) == 2 && label[0] != label[39]);
  for (size_t i = 20; i < 40; i++) line[i] += 1000;
  cr_assert(classes_of(line, 40, 1, 5, 0, label) == 2 && label[0] != label[39]);
  cr_assert(classes_of(line, 1, 1, 1, 0, label) == 1 && label[0] == 0);
}
