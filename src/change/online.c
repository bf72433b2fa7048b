/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a series that is still being measured, in constant memory. The first samples
 * define a level, an autocorrelation phi and a deviation, as in a whole series; two
 * cumulative sums of the innovations e of later samples y decide:
 *
 *   p = phi y',  e = (y - p) / deviation, limited,   y' = p + e deviation for the next one
 *   up = max(0, up + e - k),     down = max(0, down - e - k)
 *
 *   samples   |--- reference ---|--- watched ---------^--- reference ---|--- ...
 *                                              change | reported
 *
 * (E. S. Page, Biometrika 41 (1954) 100-115). An outlier counts at most LIMIT - k, also in
 * the prediction of the next sample. The allowance k is larger than the error of the level,
 * so that a sum does not grow without a change; it is also half the least step that is
 * found soon. When a sum exceeds the threshold, the place is the one with the largest gain
 * among the latest samples, and the detector learns the level anew. */
#include <math.h>
#include <string.h>

#include "change/change.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/sort.h"

#define LIMIT 3.0
#define ALLOWANCE 0.7

/* Simulated (tests/change/rates.c): a sum without a change exceeds this in 1 % of 4000
 * samples, be they independent, autocorrelated up to 0.9, or with 2 % outliers. The rate
 * falls like exp(-2 k threshold), by Wald's identity. */
static double threshold_of(double level) {
  return 11.5 + log(0.01 / level) / (2 * ALLOWANCE);
}

/* By how much a change of level in the reference must lower the logarithm of its variance,
 * in units of 1 / samples. */
#define CHANGE_GAIN 25.0

/* Autocorrelation beyond this cannot be estimated from a few hundred samples. */
#define PHI_MAX 0.96

/* Latest samples, in which the place of a change is looked for. */
enum { RECENT = 256 };

struct tsanom_change_detector {
  tsn_object owner;
  double level;   /* of false alarms */
  uint64_t taken; /* samples so far */
  size_t learned; /* samples of the reference */
  uint64_t begun; /* first sample after the reference */
  tsn_change_series reference;
  double mean; /* of the reference, in units, less its median */
  double last; /* y' */
  double up, down, threshold;
  bool pending; /* `point` has not been returned */
  tsanom_change_point point;
  double x[RECENT], e[RECENT]; /* of sample i at i % RECENT */
  double *samples;             /* of the reference */
};

typedef struct {
  tsanom_exec exec;
  tsanom_change_detector *detector, **handle;
  tsn_change_series reference;
  double *samples;
} placement;

static void layout(tsn_arena *arena, void *context) {
  placement *p = context;
  p->detector = tsn_arena_take(arena, 1, sizeof *p->detector);
  p->samples = tsn_arena_take(arena, p->reference.n, sizeof *p->samples);
  tsn_change_layout(arena, &p->reference);
}

static tsanom_status check(void *context) {
  const placement *p = context;
  return tsn_require(&p->exec, p->handle, "detector");
}

tsanom_status tsanom_change_create(const tsanom_change_options *options,
                                   const tsanom_exec *exec,
                                   tsanom_change_detector **detector) {
  placement p = {.handle = detector};
  tsanom_change_options own;
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&p.exec, exec);
  if (status < 0) return status;
  status = tsn_change_options_read(&own, options, TSN_CHANGE_PUSH, &p.exec);
  if (status < 0) return status;
  p.reference.n = own.reference;
  p.reference.kernels = tsn_change_kernels_at(p.exec.isa);
  status = tsn_object_create(&p.exec, layout, check, &p, &owner);
  if (status < 0) return status;
  memset(p.detector, 0, sizeof *p.detector);
  p.detector->owner = owner;
  p.detector->reference = p.reference;
  p.detector->reference.x = p.detector->samples = p.samples;
  p.detector->level = own.level;
  *detector = p.detector;
  return TSANOM_OK;
}

void tsanom_change_destroy(tsanom_change_detector *detector) {
  if (!detector) return;
  tsn_object owner = detector->owner;
  tsn_object_release(&owner);
}

/* The noise of the reference. Levels that follow correlated noise leave a phi that is too
 * low, by which alarms are raised; one level with changes in it leaves one that is too high,
 * by which changes are missed. So levels must explain much more than phi does.
 *
 * A phi that is a little too high costs little. So it is that of two standard errors more,
 * in part. */
static void learn(tsanom_change_detector *d) {
  tsn_change_series *r = &d->reference;
  double n = (double)r->n;
  tsn_change_model_level(r);
  double without = r->variance;
  (void)tsn_change_model(r);
  double changes = (double)(r->end_count - 2);
  if (!(without > r->variance * exp(CHANGE_GAIN * changes / n)))
    tsn_change_model_level(r);
  double doubt = 2 * sqrt((1 - r->phi * r->phi) / n);
  r->phi = fmin(r->phi * (1 + doubt), PHI_MAX);
  double sum = 0;
  for (size_t i = 0; i < r->n; i++) sum += r->y[i];
  d->mean = sum / (double)r->n;
  d->last = r->y[r->n - 1] - d->mean;
  d->up = d->down = 0;
  d->threshold = threshold_of(d->level);
}

/* The innovation of the next sample. */
static double innovation(tsanom_change_detector *d, double x) {
  const tsn_change_series *r = &d->reference;
  double y = x / r->unit - r->middle - d->mean, predicted = r->phi * d->last;
  double e = fmin(fmax((y - predicted) / r->deviation, -LIMIT), LIMIT);
  d->last = predicted + e * r->deviation;
  return e;
}

/* The place of the change: the sample from which on the mean innovation has the largest
 * gain, in the direction of the alarm; its interval are those with hardly less. */
static void locate(const tsanom_change_detector *d, double sign,
                   tsanom_change_point *point) {
  uint64_t first = d->begun, end = d->taken;
  if (end - first > RECENT) first = end - RECENT;
  double gains[RECENT], best = -1, sum = 0;
  for (uint64_t i = end; i-- > first;) {
    sum += d->e[i % RECENT];
    double gain = sum * sign > 0 ? sum * sum / (double)(end - i) : 0;
    gains[i - first] = gain;
    if (gain < best) continue;
    best = gain;
    point->at = i;
  }
  point->low = point->high = point->at;
  for (uint64_t i = first; i < end; i++) {
    if (gains[i - first] < best - TSN_CHANGE_PLACE_DROP) continue;
    if (i < point->low) point->low = i;
    if (i > point->high) point->high = i;
  }
}

/* Mean of the samples since the change, in units, each limited to `reach` from their
 * median. */
static double level_since(const tsanom_change_detector *d, uint64_t at, double reach) {
  double values[RECENT], sum = 0;
  size_t count = (size_t)(d->taken - at);
  for (size_t i = 0; i < count; i++) values[i] = d->x[(at + i) % RECENT];
  tsn_select(values, count, count / 2);
  double middle = values[count / 2];
  for (size_t i = 0; i < count; i++) {
    sum += fmin(fmax(values[i], middle - reach), middle + reach) / (double)count;
  }
  return sum;
}

/* A sum has exceeded the threshold with the latest sample. */
static void report(tsanom_change_detector *d, double sign, double sum) {
  const tsn_change_series *r = &d->reference;
  tsanom_change_point *point = &d->point;
  memset(point, 0, sizeof *point);
  locate(d, sign, point);
  double count = (double)(d->taken - point->at), unit = r->unit;
  double scatter = r->deviation / sqrt(1 - r->phi * r->phi);
  double error =
      1.98 * unit * r->deviation / (1 - r->phi) * sqrt(1 / count + 1 / (double)r->n);
  point->before = (r->middle + d->mean) * unit;
  point->after = level_since(d, point->at, LIMIT * scatter * unit);
  point->size = point->after - point->before;
  point->size_low = point->size - error;
  point->size_high = point->size + error;
  point->significance = d->level * exp(-2 * ALLOWANCE * (sum - d->threshold));
  d->pending = true;
  d->learned = 0;
}

static void take(tsanom_change_detector *d, double x) {
  size_t at = d->taken++ % RECENT;
  if (d->learned < d->reference.n) {
    d->samples[d->learned++] = x;
    d->begun = d->taken;
    if (d->learned == d->reference.n) learn(d);
    return;
  }
  double e = innovation(d, x);
  d->x[at] = x;
  d->e[at] = e;
  d->up = fmax(0, d->up + e - ALLOWANCE);
  d->down = fmax(0, d->down - e - ALLOWANCE);
  if (d->up > d->threshold) {
    report(d, 1, d->up);
  } else if (d->down > d->threshold) {
    report(d, -1, d->down);
  }
}

tsanom_status tsanom_change_push(tsanom_change_detector *detector, const double *x,
                                 size_t n, tsanom_change_point *points, size_t capacity,
                                 size_t *count, size_t *taken) {
  if (!detector || !count || !taken || (n && !x) || (capacity && !points)) {
    return TSANOM_E_NULL;
  }
  if (!tsn_array_fits(n, sizeof *x) || !tsn_array_fits(capacity, sizeof *points)) {
    return TSANOM_E_OVERFLOW;
  }
  if (!tsn_all_finite(x, n)) return TSANOM_E_NONFINITE;
  tsn_environment before = tsn_environment_enter();
  size_t found = 0, i = 0;
  for (;; i++) {
    if (detector->pending) {
      if (found == capacity) break;
      points[found++] = detector->point;
      detector->pending = false;
    }
    if (i == n) break;
    take(detector, x[i]);
  }
  tsn_environment_leave(before);
  *count = found;
  *taken = i;
  return detector->pending ? TSANOM_PARTIAL : TSANOM_OK;
}
