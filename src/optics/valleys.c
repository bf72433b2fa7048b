/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes that are valleys of the reachability plot, of any height and density.
 *
 *     |          wall          The highest step between two valleys is their wall.
 * Closing |   |       |      |     valleys from the lowest wall up gives the tree of
 * classes
 *     |_  |  _    |     _|     by single linkage; a part of fewer than min_points points
 *       |_|_| |___|_____|      is no valley (W. Stuetzle, J. Classification 20 (2003),
 *        A      B     C        25-47; R. Campello et al., PAKDD 2013).
 *
 * Is a valley deeper than chance makes it? Let r_i be its steps, h its wall, and
 *
 *     depth = log h - mean log r_i
 *
 * In d dimensions the volume that contains min_points points of a cloud of one density
 * has the relative deviation 1 / sqrt(min_points), and log r deviates by about
 *
 *     scatter = 0.95 / (d sqrt(min_points))
 *
 * which is measured: points that are min_points places apart in the order have few
 * neighbors in common, so their core distances differ by sqrt(2) scatter. The chance of a
 * valley is the tail Q(depth / scatter · sqrt(w)) of Student's t, because few points do not
 * tell the scatter. In the plane w is 1: valleys of any width reach about the same depth by
 * chance. With d > 2 a wide valley has many ways
 * out, and chance makes only narrow ones deep:
 *
 *     w = max(1, min(points / (2 min_points),
 *                    1 + max(0, d / 2 - 1) max(0, min_points - 3)))
 *
 * The constants were fitted to uniform, normal and exponential clouds of 1 to 14
 * dimensions; docs/measurements.md has the rate of false alarms that results.
 *
 * A wall is real if both of its valleys are. The rule of Y. Benjamini and Y. Hochberg (J.
 * Royal Statistical Society B 57 (1995), 289-300) accepts the j smallest chances p_1 <=
 * p_2 <= ... of m walls for the largest j with
 *
 *     3 p_j (2 m + 1) / j <= significance
 *
 * so that many classes support each other; twice m, because a wall is where it is since
 * valleys are deep there; 3, because that is how often points on a line, the worst case,
 * have such valleys. A valley that is not real joins the one behind its lowest real
 * wall. The classes are the valleys without a real wall inside. */
#include <math.h>

#include "core/chance.h"
#include "core/sort.h"
#include "optics/optics_internal.h"

/* chance of a valley that no distance connects to others */
static const double unconnected = -1;

/* Core distances that differ by less are equal up to rounding. */
static const double rounding = 1e-9;

void tsn_optics_valleys_layout(tsn_arena *arena, size_t n, tsn_optics_valleys *v) {
  v->open = tsn_arena_take(arena, n, sizeof *v->open);
  v->wall = tsn_arena_take(arena, n / 2 + 1, sizeof *v->wall);
  v->end = tsn_arena_take(arena, n, sizeof *v->end);
}

/* One call of tsn_optics_valleys_find(). */
typedef struct {
  const tsanom_optics_ordering *ordering;
  const tsanom_optics_split_options *options;
  tsn_optics_valleys *v;
  size_t depth, walls;
  double unit, least; /* steps are known to the unit; smallest one that counts */
  double scatter, freedom, ways; /* ways: the limit of w */
} scan;

/* Of a median absolute deviation of normal variates: it deviates as a standard deviation of
 * this part of them does. */
static const double efficiency = 0.37;

/* How much more often points on a line that are uniformly distributed have valleys. */
static const double uniform_line = 3;

static double log_of(const scan *s, double distance) {
  return log(fmax(distance, s->least));
}

static double log_of_step(const scan *s, double step) {
  return log_of(s, step - s->unit);
}

/* Whether three core distances are the smallest, as if coordinates were rounded. */
static bool has_ties(const tsanom_optics_ordering *o) {
  double smallest = INFINITY;
  size_t count = 0;
  for (size_t i = 0; i < o->n; i++) {
    double core = o->core_distance[i];
    if (core < smallest) count = 0;
    smallest = fmin(smallest, core);
    count += core == smallest;
  }
  return count >= 3 && smallest < INFINITY;
}

/* The smallest step above 0 is the unit of rounded coordinates; else a step of 0, between
 * min_points points at one place, is less by orders of magnitude. */
static void find_unit(scan *s) {
  const tsanom_optics_ordering *o = s->ordering;
  double smallest = INFINITY;
  size_t count = 0;
  for (size_t k = 1; k < o->n; k++) {
    double step = o->reachability[k];
    if (!(step > 0)) continue;
    if (step < smallest * (1 - 1e-6)) count = 0;
    smallest = fmin(smallest, step);
    count += step <= smallest * (1 + 1e-6);
  }
  bool tied = count > 1 && has_ties(o);
  s->unit = tied ? smallest : 0;
  s->least = smallest == INFINITY ? 1 : tied ? 2 * smallest : 1e-6 * smallest;
}

/* Deviation of the logarithm of core distances, from the median absolute deviation of
 * their differences; at most that of d = 1, which also stands for an unknown one. */
static void find_scatter(scan *s, double *difference) {
  const tsanom_optics_ordering *o = s->ordering;
  size_t apart = s->ordering->min_points, count = 0;
  s->scatter = 1.2 / sqrt((double)apart);
  s->freedom = 1e9;
  for (size_t k = apart; k < o->n; k++) {
    double here = o->core_distance[o->order[k]];
    double before = o->core_distance[o->order[k - apart]];
    if (here == INFINITY || before == INFINITY) continue;
    double change = log_of(s, here) - log_of(s, before);
    if (fabs(change) > rounding) difference[count++] = change;
  }
  if (count == 0) return;
  double middle = tsn_median(difference, count);
  for (size_t i = 0; i < count; i++) difference[i] = fabs(difference[i] - middle);
  double scatter = 1.4826 / sqrt(2) * tsn_median(difference, count);
  if (scatter <= rounding || scatter >= s->scatter) return;
  s->scatter = scatter;
  s->freedom = 1 + efficiency * (double)count;
}

/* Of a valley of `points` points whose steps have that sum of logarithms. */
static double chance_of(const scan *s, size_t points, double logs, double wall) {
  if (wall == INFINITY) return unconnected;
  double depth = log_of_step(s, wall) - logs / (double)(points - 1);
  double wide = (double)points / 2 / (double)s->ordering->min_points;
  return tsn_student_tail(depth / s->scatter * sqrt(fmax(1, fmin(wide, s->ways))),
                          s->freedom);
}

/* Join the last two open parts of the plot, which end at `end`. */
static void join(scan *s, size_t end) {
  size_t min_points = s->ordering->min_points;
  const tsn_optics_part *right = &s->v->open[--s->depth];
  tsn_optics_part *left = &s->v->open[s->depth - 1];
  size_t points[2] = {right->first - left->first, end - right->first};
  double height = s->ordering->reachability[right->first];
  bool both = points[0] >= min_points && points[1] >= min_points;
  if (both && height > s->options->resolution) {
    tsn_optics_wall *wall = &s->v->wall[s->walls];
    *wall = (tsn_optics_wall){.first = {left->first, right->first, (uint32_t)end},
                              .inside = {left->wall, right->wall},
                              .chance = {chance_of(s, points[0], left->logs, height),
                                         chance_of(s, points[1], right->logs, height)}};
    left->wall = (uint32_t)s->walls++;
  } else if (points[0] < min_points) {
    left->wall = right->wall;
  }
  left->logs += right->logs + log_of_step(s, height);
}

/* All walls, inner ones first; returns the outermost one. */
static uint32_t find_walls(scan *s) {
  const double *step = s->ordering->reachability;
  size_t n = s->ordering->n;
  tsn_optics_part *open = s->v->open;
  for (size_t k = 0; k < n; k++) {
    while (s->depth > 1 && step[open[s->depth - 1].first] <= step[k]) join(s, k);
    open[s->depth++] = (tsn_optics_part){.first = (uint32_t)k, .wall = TSN_OPTICS_NONE};
  }
  while (s->depth > 1) join(s, n);
  return open[0].wall;
}

/* The rule of Benjamini and Hochberg; returns the largest chance that it accepts. */
static double accepted(const scan *s, double *sorted, double *probability) {
  size_t count = 0;
  for (size_t i = 0; i < s->walls; i++) {
    const double *chance = s->v->wall[i].chance;
    if (chance[0] >= 0) sorted[count++] = fmax(chance[0], chance[1]);
  }
  tsn_sort(sorted, count);
  double tests = uniform_line * (2 * (double)count + 1);
  double most = unconnected;
  *probability = 1;
  for (size_t j = 0; j < count; j++) {
    double adjusted = sorted[j] * tests / (double)(j + 1);
    *probability = fmin(*probability, adjusted);
    if (adjusted <= s->options->significance) most = sorted[j];
  }
  return most;
}

/* Classes on one side of a wall: those inside, else itself if it is real. */
static uint32_t classes_beside(const scan *s, const tsn_optics_wall *wall, int side,
                               double most) {
  uint32_t inside = wall->inside[side];
  uint32_t classes = inside == TSN_OPTICS_NONE ? 0 : s->v->wall[inside].classes;
  return classes ? classes : wall->chance[side] <= most;
}

/* Count the classes inside each wall; then, from the outermost wall on, note where the
 * classes end. */
static void choose(scan *s, uint32_t outermost, double most) {
  tsn_optics_wall *walls = s->v->wall;
  for (size_t i = 0; i < s->walls; i++) {
    uint32_t left = classes_beside(s, &walls[i], 0, most);
    uint32_t right = classes_beside(s, &walls[i], 1, most);
    walls[i].real = left && right;
    /* A single class does not end at this wall. */
    walls[i].classes = left + right > 1 ? left + right : 0;
    walls[i].wanted = i == outermost;
  }
  for (size_t i = s->walls; i-- > 0;) {
    if (!walls[i].wanted) continue;
    for (int side = 0; side < 2; side++) {
      uint32_t inside = walls[i].inside[side];
      if (inside != TSN_OPTICS_NONE && walls[inside].classes) {
        walls[inside].wanted = true;
      } else if (walls[i].real) {
        s->v->end[walls[i].first[side]] = walls[i].first[side + 1];
      }
    }
  }
}

static void write_labels(const scan *s, int32_t *labels) {
  size_t end = 0;
  int32_t label = TSANOM_NOISE, last = TSANOM_NOISE;
  for (size_t k = 0; k < s->ordering->n; k++) {
    if (s->v->end[k]) {
      end = s->v->end[k];
      label = ++last;
    }
    labels[s->ordering->order[k]] = k < end ? label : TSANOM_NOISE;
  }
}

size_t tsn_optics_valleys_find(const tsanom_optics_ordering *ordering,
                               const tsanom_optics_split_options *options,
                               tsn_optics_valleys *v, double *values, int32_t *labels,
                               double *probability) {
  scan s = {.ordering = ordering, .options = options, .v = v};
  double min_points = (double)ordering->min_points;
  find_unit(&s);
  find_scatter(&s, values);
  double dimensions = 0.95 / (s.scatter * sqrt(min_points));
  s.ways = 1 + fmax(0, dimensions / 2 - 1) * fmax(0, min_points - 3);
  uint32_t outermost = find_walls(&s);
  double most = accepted(&s, values, probability);
  if (outermost == TSN_OPTICS_NONE) return 0;
  for (size_t k = 0; k < ordering->n; k++) v->end[k] = 0;
  choose(&s, outermost, most);
  size_t classes = v->wall[outermost].classes;
  if (classes) write_labels(&s, labels);
  return classes;
}
