/* SPDX-License-Identifier: BSD-3-Clause */
/* Clusters at a cut of the reachability plot, given or chosen. */
#include <math.h>

#include "core/exec.h"
#include "core/sort.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

static tsanom_status check(const size_t *order, const double *reachability,
                           const double *core_distance, size_t n) {
  tsanom_status status = tsn_optics_check_count(n);
  if (status < 0) return status;
  for (size_t k = 0; k < n; k++) {
    if (order[k] >= n) return TSANOM_E_VALUE;
  }
  return tsn_optics_are_distances(reachability, n) &&
                 tsn_optics_are_distances(core_distance, n)
             ? TSANOM_OK
             : TSANOM_E_VALUE;
}

size_t tsn_optics_labels(const size_t *order, const double *reachability,
                         const double *core, size_t n, double eps, int32_t *labels) {
  int32_t last = -1;
  for (size_t k = 0; k < n; k++) {
    size_t p = order[k];
    bool noise = false;
    /* INFINITY is undefined, which exceeds even an infinite cut. */
    if (reachability[k] > eps || reachability[k] == INFINITY) {
      if (core[p] <= eps && core[p] < INFINITY) {
        last++;
      } else {
        noise = true;
      }
    }
    labels[p] = noise ? -1 : last;
  }
  return (size_t)last + 1;
}

tsanom_status tsanom_optics_cut(const size_t *order, const double *reachability,
                                const double *core_distance, size_t n, double eps,
                                int32_t *labels, size_t *clusters) {
  if (!order || !reachability || !core_distance || !labels) return TSANOM_E_NULL;
  if (!(eps >= 0)) return TSANOM_E_OPTION;
  tsanom_status status = check(order, reachability, core_distance, n);
  if (status < 0) return status;
  size_t found = tsn_optics_labels(order, reachability, core_distance, n, eps, labels);
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
                                  const tsanom_optics_split_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  bool in_range = own->significance > 0 && own->significance < 1 &&
                  own->resolution >= 0 && isfinite(own->resolution);
  return in_range ? TSANOM_OK : TSANOM_E_OPTION;
}

static double *layout(tsn_arena *arena, size_t n) {
  return tsn_arena_take(arena, n, sizeof(double));
}

tsanom_status tsanom_optics_split_workspace(size_t n, const tsanom_exec *exec,
                                            size_t *bytes) {
  if (!bytes) return TSANOM_E_NULL;
  tsanom_exec how;
  tsanom_status status = tsn_exec_read(&how, exec);
  if (status == TSANOM_OK) status = tsn_optics_check_count(n);
  if (status != TSANOM_OK) return status;
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, n);
  return tsn_arena_bytes(&measured, bytes);
}

typedef struct {
  double cut, probability;
} decision;

/* The test described at tsanom_optics_split(), of m sorted steps. */
static decision decide(const double *step, size_t m,
                       const tsanom_optics_split_options *options) {
  size_t finite = m;
  while (finite > 0 && step[finite - 1] == INFINITY) finite--;
  decision none = {finite ? step[finite - 1] : 0, 1};
  if (none.cut < options->resolution) none.cut = options->resolution;
  if (finite == 0) return none;
  /* In units of the largest, so that no sum overflows. */
  double unit = step[finite - 1] > 0 ? step[finite - 1] : 1, sum = 0, least = 0;
  size_t best = 0;
  for (size_t k = 1; k < finite; k++) {
    double below = step[k - 1] / unit, gap = step[k] / unit - below;
    sum += below;
    if (!(gap > 0) || step[k] <= options->resolution) continue;
    double left = (double)(m - k), total = sum + left * below;
    double log_probability = -(double)k * log1p(left * gap / total);
    if (best == 0 || log_probability < least) {
      best = k;
      least = log_probability;
    }
  }
  if (best == 0) return none;
  double probability = fmin(1, (double)(m - 1) * exp(least));
  if (probability > options->significance) return (decision){none.cut, probability};
  double cut = step[best - 1] + (step[best] - step[best - 1]) / 2;
  return (decision){fmax(cut, options->resolution), probability};
}

tsanom_status tsanom_optics_split(const size_t *order, const double *reachability,
                                  const double *core_distance, size_t n,
                                  const tsanom_optics_split_options *options,
                                  const tsanom_exec *exec, void *work, size_t work_bytes,
                                  int32_t *labels, size_t *clusters, double *cut,
                                  double *probability) {
  if (!order || !reachability || !core_distance || !labels) return TSANOM_E_NULL;
  tsanom_optics_split_options own;
  tsanom_exec how;
  tsanom_status status = read_options(&own, options);
  if (status == TSANOM_OK) status = tsn_exec_read(&how, exec);
  if (status == TSANOM_OK) status = check(order, reachability, core_distance, n);
  if (status != TSANOM_OK) return status;
  tsn_arena measured = tsn_arena_measure();
  layout(&measured, n);
  tsn_workspace workspace;
  status = tsn_workspace_borrow(&workspace, &measured, &how, work, work_bytes);
  if (status < 0) return status;
  double *step = layout(&workspace.arena, n);
  for (size_t k = 1; k < n; k++) step[k - 1] = reachability[k];
  tsn_sort(step, n - 1);
  decision d = decide(step, n - 1, &own);
  tsn_workspace_close(&workspace);
  size_t found = tsn_optics_labels(order, reachability, core_distance, n, d.cut, labels);
  if (clusters) *clusters = found;
  if (cut) *cut = d.cut;
  if (probability) *probability = d.probability;
  return TSANOM_OK;
}
