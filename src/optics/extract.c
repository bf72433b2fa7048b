/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters at a cut of the reachability plot, given or chosen.
 *
 *     reachability |        |            cut: below it points belong to the cluster at
 *                --|--------|----        hand; above it a point starts a cluster if it is
 *                  |_.--.__.|_...        dense, and is noise otherwise
 *
 * At a cut eps' the classes are those of DBSCAN with eps', except for border points
 * (Ankerst et al., SIGMOD 1999): one pass over the order, O(n).
 *
 * The chosen cut lies in the gap of the sorted steps that is least likely under an
 * exponential distribution (B. Epstein, M. Sobel, JASA 48 (1953) 486-502). Of m steps r_1
 * <= ... <= r_m the gap g above the k smallest has
 *
 *     P(gap >= g) = (1 + D / T)^-k,   D = (m - k) g,   T = r_1 + ... + r_k + (m - k) r_k
 *
 * Exponential steps are the null hypothesis because chance makes the largest gaps there:
 * they are the gaps of random points on a line, while in more dimensions steps vary less.
 * D / T has no unit, so no parameter depends on the data.
 *
 * In the tail of a distribution steps are larger. In those of normal and of exponential
 * points the i-th step from outside is about a draw of the exponential distribution over i,
 * so that the number of steps above r falls like 1 / r. Then the logarithms of the steps are
 * a tail of exponential variates (B. Hill, Annals of Statistics 3 (1975) 1163-1174): with j
 * = m - k steps above the gap and the q spacings below it,
 *
 *     P(gap) = (1 + j log(r_k+1 / r_k) / S)^-q,   S = sum of i log(r_m-i+1 / r_m-i), i > j
 *
 * Lighter tails have smaller spacings farther outside, and P is an upper limit. A gap counts
 * if both exclude chance: (m - 1) P of the first and (j (j + 1))^(3/4) P of the second are
 * at most the significance. The sum over j of 1 / (j (j + 1)) is 1; because both must
 * exclude chance, the power 3/4 suffices (measured: docs/measurements.md).
 *
 * A gap needs classes that are far apart, and an order with min_points of 1. With more,
 * classes are valleys of the plot, described next. */
#include <math.h>

#include "core/chance.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

/* Classes that are valleys of the reachability plot, of any height and density.
 *
 *     |          wall          The highest step between two valleys is their wall.
 *     |   |       |      |     Closing valleys from the lowest wall up gives the tree of
 *     |_  |  _    |     _|     classes by single linkage; a part of fewer than min_points
 *       |_|_| |___|_____|      points is no valley (W. Stuetzle, J. Classification 20
 *        A      B     C        (2003), 25-47; R. Campello et al., PAKDD 2013).
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
 * chance. With d > 2 a wide valley has many ways out, and chance makes only narrow ones
 * deep:
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

/* A part of the reachability plot whose steps are joined already. */
typedef struct {
  uint32_t first; /* position; the part ends where the next one begins */
  uint32_t wall;  /* the outermost one inside; TSN_OPTICS_NONE */
  double logs;    /* sum of the logarithms of its steps */
} plot_part;

/* The step between two valleys. */
typedef struct {
  uint32_t first[3];  /* positions: left valley, right valley, their end */
  uint32_t inside[2]; /* outermost wall in each; TSN_OPTICS_NONE */
  uint32_t classes;   /* in both; 0: fewer than two */
  bool real, wanted;  /* both are classes; the answer is inside */
  double chance[2];   /* that one class has such a valley */
} plot_wall;

/* chance of a valley that no distance connects to others */
static const double unconnected = -1;

/* Core distances that differ by less are equal up to rounding. */
static const double rounding = 1e-9;

/* A search for valleys: the ordering, the options, O(n) memory, and what was found so far. */
typedef struct {
  const tsanom_optics_ordering *ordering;
  const tsanom_optics_split_options *options;
  plot_part *open;
  plot_wall *wall;
  uint32_t *end; /* by position: end of the class that begins there; 0: none */
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
  const plot_part *right = &s->open[--s->depth];
  plot_part *left = &s->open[s->depth - 1];
  size_t points[2] = {right->first - left->first, end - right->first};
  double height = s->ordering->reachability[right->first];
  bool both = points[0] >= min_points && points[1] >= min_points;
  if (both && height > s->options->resolution) {
    plot_wall *wall = &s->wall[s->walls];
    *wall = (plot_wall){.first = {left->first, right->first, (uint32_t)end},
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
  plot_part *open = s->open;
  for (size_t k = 0; k < n; k++) {
    while (s->depth > 1 && step[open[s->depth - 1].first] <= step[k]) join(s, k);
    open[s->depth++] = (plot_part){.first = (uint32_t)k, .wall = TSN_OPTICS_NONE};
  }
  while (s->depth > 1) join(s, n);
  return open[0].wall;
}

/* The rule of Benjamini and Hochberg; returns the largest chance that it accepts. */
static double accepted(const scan *s, double *sorted, double *probability) {
  size_t count = 0;
  for (size_t i = 0; i < s->walls; i++) {
    const double *chance = s->wall[i].chance;
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
static uint32_t classes_beside(const scan *s, const plot_wall *wall, int side,
                               double most) {
  uint32_t inside = wall->inside[side];
  uint32_t classes = inside == TSN_OPTICS_NONE ? 0 : s->wall[inside].classes;
  return classes ? classes : wall->chance[side] <= most;
}

/* Count the classes inside each wall; then, from the outermost wall on, note where the
 * classes end. */
static void choose(scan *s, uint32_t outermost, double most) {
  plot_wall *walls = s->wall;
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
        s->end[walls[i].first[side]] = walls[i].first[side + 1];
      }
    }
  }
}

static void write_labels(const scan *s, int32_t *labels) {
  size_t end = 0;
  int32_t label = TSANOM_NOISE, last = TSANOM_NOISE;
  for (size_t k = 0; k < s->ordering->n; k++) {
    if (s->end[k]) {
      end = s->end[k];
      label = ++last;
    }
    labels[s->ordering->order[k]] = k < end ? label : TSANOM_NOISE;
  }
}

/* Classes as valleys of the reachability plot; `values` are n numbers to work with.
 * Returns the number of classes, and the labels if there are two or more, else 0.
 * `probability` is that of the most distinct walls by chance. O(n log n). */
static size_t find_valleys(scan *s, double *values, int32_t *labels,
                           double *probability) {
  size_t n = s->ordering->n;
  double min_points = (double)s->ordering->min_points;
  find_unit(s);
  find_scatter(s, values);
  double dimensions = 0.95 / (s->scatter * sqrt(min_points));
  s->ways = 1 + fmax(0, dimensions / 2 - 1) * fmax(0, min_points - 3);
  uint32_t outermost = find_walls(s);
  double most = accepted(s, values, probability);
  if (outermost == TSN_OPTICS_NONE) return 0;
  for (size_t k = 0; k < n; k++) s->end[k] = 0;
  choose(s, outermost, most);
  size_t classes = s->wall[outermost].classes;
  if (classes) write_labels(s, labels);
  return classes;
}

/* What cut and split require of their arrays. */
static tsanom_status check_arrays(const tsanom_optics_ordering *ordering,
                                  const int32_t *labels, const tsanom_exec *exec) {
  tsanom_status status = tsn_require_array(exec, labels, ordering->n, "labels");
  return status < 0 ? status : tsn_optics_ordering_check(ordering, true, exec);
}

/* Points further apart than the radius of the order may be connected at a larger cut, but
 * the order does not show it. */
static tsanom_status reject_cut(const tsanom_optics_ordering *o, double cut,
                                const char *name, const tsanom_exec *exec) {
  return tsn_reject_is(
      exec, TSANOM_E_OPTION, name, TSANOM_NONE,
      "%.*g; at most %.*g is expected, the radius of the neighborhoods of the "
      "order",
      tsn_digits_of(cut), cut, tsn_digits_of(o->eps), o->eps);
}

/* Labels at a cut; returns the number of clusters. A point that is reached above the cut
 * is not connected to those before it: it starts a cluster if it is a core point at
 * eps'. */
static size_t label(const tsanom_optics_ordering *o, double eps, int32_t *labels) {
  const double *core = o->core_distance;
  int32_t last = -1;
  for (size_t k = 0; k < o->n; k++) {
    size_t p = o->order[k];
    bool noise = false;
    /* INFINITY is undefined, which exceeds even an infinite cut. */
    if (o->reachability[k] > eps || o->reachability[k] == INFINITY) {
      if (core[p] <= eps && core[p] < INFINITY) {
        last++;
      } else {
        noise = true;
      }
    }
    labels[p] = noise ? TSANOM_NOISE : last;
  }
  return (size_t)last + 1;
}

tsanom_status tsanom_optics_cut(const tsanom_optics_ordering *ordering, double eps,
                                const tsanom_exec *exec, int32_t *labels,
                                size_t *clusters) {
  tsanom_exec own_exec;
  tsanom_optics_ordering own;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (!(isgreaterequal(eps, 0))) {
    return tsn_reject_value(&own_exec, TSANOM_E_OPTION, "eps", TSANOM_NONE, TSANOM_NONE,
                            eps, "at least 0 is expected");
  }
  status = tsn_optics_plot_read(&own, ordering, &own_exec);
  if (status < 0) return status;
  if (eps > own.eps) return reject_cut(&own, eps, "eps", &own_exec);
  status = check_arrays(&own, labels, &own_exec);
  if (status < 0) return status;
  tsn_environment before = tsn_environment_enter();
  size_t found = label(&own, eps, labels);
  tsn_environment_leave(before);
  if (clusters) *clusters = found;
  return TSANOM_OK;
}

static const tsanom_optics_split_options defaults = {
    .struct_size = sizeof defaults, .significance = 0.05, .resolution = 0};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_optics_split_options),
    .first_size = sizeof(tsanom_optics_split_options),
    .defaults = &defaults};

tsanom_status tsanom_optics_split_options_init(tsanom_optics_split_options *options,
                                               size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_optics_split_options *own,
                                  const tsanom_optics_split_options *caller,
                                  const tsanom_exec *exec) {
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  if (!(isgreater(own->significance, 0) && isless(own->significance, 1))) {
    return tsn_reject_value(exec, TSANOM_E_OPTION, "options.significance", TSANOM_NONE,
                            TSANOM_NONE, own->significance,
                            "more than 0 and less than 1 is expected");
  }
  if (isgreaterequal(own->resolution, 0) && isfinite(own->resolution)) return TSANOM_OK;
  return tsn_reject_value(exec, TSANOM_E_OPTION, "options.resolution", TSANOM_NONE,
                          TSANOM_NONE, own->resolution, TSN_OPTICS_A_DISTANCE);
}

/* Where to cut, and the probability of such a gap by chance; 1: there is none to test. */
typedef struct {
  double cut, probability;
} decision;

/* Sorted steps that are defined. */
static size_t count_finite(const double *step, size_t m) {
  while (m > 0 && step[m - 1] == INFINITY) m--;
  return m;
}

/* Above every finite step. */
static decision one_class(const double *step, size_t finite, double resolution) {
  return (decision){fmax(finite ? step[finite - 1] : 0, resolution), 1};
}

/* Sorted steps, m with those that are undefined, which count in m but are no gaps. Each is
 * at least the unit to which steps are known, and a gap is less by it. */
typedef struct {
  const double *step;
  size_t m;
  double unit;
} sorted_steps;

/* Distances of rounded coordinates: some are 0, and several are the smallest other one. */
static double unit_of(const double *step, size_t finite) {
  size_t k = 0;
  while (k < finite && step[k] == 0) k++;
  bool repeats = k > 0 && k + 1 < finite && step[k + 1] <= step[k] * (1 + 1e-6);
  return repeats ? step[k] : 0;
}

static double step_at(const sorted_steps *s, size_t k) {
  return fmax(s->step[k], s->unit);
}

static double gap_above(const sorted_steps *s, size_t k) {
  return fmax(0, step_at(s, k) - step_at(s, k - 1) - s->unit);
}

/* The second test of the head of this file as a logarithm: of the steps below the gap the
 * upper half is the tail, of at most 30 spacings. Few steps show none. */
static double log_chance_in_tail(const sorted_steps *s, size_t k) {
  enum { ENOUGH = 16, LONGEST = 30 };
  size_t above = s->m - k, spacings = tsn_smaller(LONGEST, k / 2);
  if (s->m < ENOUGH) return -INFINITY;
  if (above > s->m / 2) return 0;
  if (step_at(s, k - 1 - spacings) == 0) return -INFINITY;
  double sum = 0;
  for (size_t i = k - 1; i > k - 1 - spacings; i--) {
    sum += (double)(s->m - i) * log(step_at(s, i) / step_at(s, i - 1));
  }
  double own = (double)above * log1p(gap_above(s, k) / step_at(s, k - 1));
  double weight = 0.75 * log((double)above * (double)(above + 1));
  return weight - (double)spacings * log1p(own / sum);
}

/* The test of the head of this file, O(m). The probability is multiplied by the number of
 * gaps that are tested (Bonferroni), and compared as a logarithm, since (1 + D / T)^-k
 * underflows. Without a significant gap the cut is the largest finite step: one class. */
static decision decide(const double *step, size_t m,
                       const tsanom_optics_split_options *options) {
  size_t finite = count_finite(step, m);
  decision none = one_class(step, finite, options->resolution);
  sorted_steps s = {step, m, unit_of(step, finite)};
  double sum = 0, least = 0;
  size_t best = 0;
  /* In units of the largest, so that no sum overflows. */
  double largest = finite && step[finite - 1] > 0 ? step[finite - 1] : 1;
  for (size_t k = 1; k < finite; k++) {
    double below = step_at(&s, k - 1) / largest, gap = gap_above(&s, k) / largest;
    sum += below;
    if (!(gap > 0) || step[k] <= options->resolution) continue;
    double left = (double)(m - k), total = sum + left * below;
    double chance = log((double)(m - 1)) - (double)k * log1p(left * gap / total);
    if (best && chance >= least) continue;
    chance = fmax(chance, log_chance_in_tail(&s, k));
    if (best && chance >= least) continue;
    best = k;
    least = chance;
  }
  if (best == 0) return none;
  double probability = fmin(1, exp(least));
  if (probability > options->significance) return (decision){none.cut, probability};
  double cut = step[best - 1] + (step[best] - step[best - 1]) / 2;
  return (decision){fmax(cut, options->resolution), probability};
}

/* One call of tsanom_optics_split(). */
typedef struct {
  tsanom_exec exec;
  tsanom_optics_ordering ordering;
  tsanom_optics_split_options options;
  double *step;
  scan scan;
  int32_t *labels;
  size_t clusters;
  decision decision;
} split_call;

static void layout(tsn_arena *arena, void *context) {
  split_call *c = context;
  size_t n = c->ordering.n;
  c->step = tsn_arena_take(arena, n, sizeof *c->step);
  c->scan = (scan){.ordering = &c->ordering,
                   .options = &c->options,
                   .open = tsn_arena_take(arena, n, sizeof(plot_part)),
                   .wall = tsn_arena_take(arena, n / 2 + 1, sizeof(plot_wall)),
                   .end = tsn_arena_take(arena, n, sizeof(uint32_t))};
}

/* Without valleys a gap makes points noise, but no further classes. */
static void split_at_gap(split_call *c) {
  size_t m = c->ordering.n - 1;
  for (size_t k = 0; k < m; k++) c->step[k] = c->ordering.reachability[k + 1];
  tsn_sort(c->step, m);
  c->decision = decide(c->step, m, &c->options);
  c->clusters = label(&c->ordering, c->decision.cut, c->labels);
  if (c->clusters < 2 || c->ordering.min_points < 2) return;
  c->decision = one_class(c->step, count_finite(c->step, m), c->options.resolution);
  c->clusters = label(&c->ordering, c->decision.cut, c->labels);
}

static tsanom_status run(void *context) {
  split_call *c = context;
  double probability = 1;
  if (c->ordering.min_points > 1) {
    c->clusters = find_valleys(&c->scan, c->step, c->labels, &probability);
  }
  if (c->clusters) {
    c->decision = (decision){NAN, probability};
    return TSANOM_OK;
  }
  split_at_gap(c);
  c->decision.probability = fmin(c->decision.probability, probability);
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const split_call *c = context;
  return check_arrays(&c->ordering, c->labels, &c->exec);
}

tsanom_status tsanom_optics_split(const tsanom_optics_ordering *ordering,
                                  const tsanom_optics_split_options *options,
                                  const tsanom_exec *exec, int32_t *labels,
                                  size_t *clusters, double *cut, double *probability) {
  split_call c = {.labels = labels};
  tsanom_status status = tsn_exec_read(&c.exec, exec);
  if (status < 0) return status;
  status = read_options(&c.options, options, &c.exec);
  if (status < 0) return status;
  status = tsn_optics_plot_read(&c.ordering, ordering, &c.exec);
  if (status < 0) return status;
  if (c.options.resolution > c.ordering.eps) {
    return reject_cut(&c.ordering, c.options.resolution, "options.resolution", &c.exec);
  }
  status = tsn_workspace_run(&c.exec, layout, check, run, &c);
  if (status < 0) return status;
  if (clusters) *clusters = c.clusters;
  if (cut) *cut = c.decision.cut;
  if (probability) *probability = c.decision.probability;
  return TSANOM_OK;
}
