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
 * classes are valleys of the plot (valleys.c). */
#include <math.h>

#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

/* What cut and split require of their arrays. */
static tsanom_status check_arrays(const tsanom_optics_ordering *ordering,
                                  const int32_t *labels, const tsanom_exec *exec) {
  size_t n = ordering->n;
  tsanom_status status = tsn_require_array(exec, labels, n, "labels");
  if (status == TSANOM_OK) {
    status =
        tsn_require_array(exec, ordering->core_distance, n, "ordering.core_distance");
  }
  if (status == TSANOM_OK) status = tsn_optics_ordering_check(ordering, exec);
  if (status < 0) return status;
  return tsn_optics_check_heights(ordering->core_distance, n, "ordering.core_distance",
                                  exec);
}

/* Points further apart than the radius of the order may be connected at a larger cut, but
 * the order does not show it. */
static tsanom_status reject_cut(const tsanom_optics_ordering *o, double cut,
                                const char *name, const tsanom_exec *exec) {
  return tsn_reject_is(
      exec, TSANOM_E_OPTION, name, TSANOM_NONE,
      "%g; at most %g is expected, the radius of the neighborhoods of the "
      "order",
      cut, o->eps);
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
  tsn_optics_valleys valleys;
  int32_t *labels;
  size_t clusters;
  decision decision;
} split_call;

static void layout(tsn_arena *arena, void *context) {
  split_call *c = context;
  c->step = tsn_arena_take(arena, c->ordering.n, sizeof *c->step);
  tsn_optics_valleys_layout(arena, c->ordering.n, &c->valleys);
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
    c->clusters = tsn_optics_valleys_find(&c->ordering, &c->options, &c->valleys, c->step,
                                          c->labels, &probability);
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
