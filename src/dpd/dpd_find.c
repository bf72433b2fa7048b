/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a whole series in noise: the dips of d(m) of the whitened series show it
 * (dpd_dips.c). The exact period is that by which the series itself, without its slow
 * part, folds best (dpd_fold.c). All steps are a few Fourier transforms, O(n log n). */
#include "dpd/dpd_find.h"

#include <math.h>

#include "core/check.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"
#include "dpd/dpd_fold.h"

enum {
  DEFAULT_MAX_PERIOD = 16384,
  LARGEST_MAX_PERIOD = 1 << 20,
  /* Periods that differ by 1 or by less than 1/32 are distinguished by folding. */
  FOLD_SHARE = 32,
  STEPS = 3 /* between which the caller is polled */
};

static const tsanom_dpd_find_options default_options = {
    .struct_size = sizeof default_options, .significance = 0.01};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_dpd_find_options),
    .first_size = sizeof(tsanom_dpd_find_options),
    .defaults = &default_options,
};

static const tsanom_dpd_found no_period = {
    .struct_size = sizeof no_period, .probability = 1, .lines = 1, .variation = NAN};

static const tsn_versioned found_type = {
    .size = sizeof(tsanom_dpd_found),
    .first_size = sizeof(tsanom_dpd_found),
    .defaults = &no_period,
};

tsanom_status tsanom_dpd_find_options_init(tsanom_dpd_find_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

void tsn_find_layout(tsn_arena *arena, size_t n, tsn_find *find) {
  find->value = tsn_arena_take(arena, n, sizeof *find->value);
  tsn_dips_layout(arena, n, &find->dips);
}

/* A power of two that brings the largest magnitude to about 1, so that no product
 * overflows and none vanishes; scaling by it is exact but for subnormal numbers. */
static double scale_of(const double *x, size_t n) {
  double largest = 0;
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  int exponent;
  (void)frexp(largest, &exponent);
  return ldexp(1, exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent);
}

/* Without their mean, whose sums would cost digits. */
static void take_values(tsn_find *s) {
  double scale = scale_of(s->x, s->n), mean = 0;
  for (size_t i = 0; i < s->n; i++) mean += s->x[i] * scale;
  mean /= (double)s->n;
  for (size_t i = 0; i < s->n; i++) s->value[i] = s->x[i] * scale - mean;
}

static bool is_constant(const tsn_find *s) {
  for (size_t i = 1; i < s->n; i++) {
    if (s->x[i] != s->x[0]) return false;
  }
  return true;
}

static size_t exact_period(tsn_find *s, size_t period) {
  size_t margin = 1 + period / FOLD_SHARE, least = TSN_DIPS_LEAST_PERIOD;
  size_t low = period > margin + least ? period - margin : least;
  return tsn_dpd_fold(s->value, s->n, low, period + margin, s->dips.sum, s->dips.rho);
}

tsanom_status tsn_find_run(tsn_find *find) {
  tsn_find *s = find;
  s->found = no_period;
  s->found.max_period = s->max_period;
  if (is_constant(s)) {
    s->found.period = s->found.candidate = 1;
    s->found.probability = s->found.lines = s->found.variation = 0;
    return TSANOM_OK;
  }
  if (tsn_exec_stop(s->exec, 0, STEPS)) return TSANOM_STOPPED;
  s->dips.whitening.spectrum.kernels = tsn_dpd_spectrum_kernels_at(s->exec->isa);
  take_values(s);
  if (!tsn_dips_correlate(&s->dips, s->n, s->value)) return TSANOM_OK;
  if (tsn_exec_stop(s->exec, 1, STEPS)) return TSANOM_STOPPED;
  tsn_dips_choice c = tsn_dips_choose(&s->dips, s->max_period);
  s->found.candidate = c.candidate;
  s->found.dip = c.dip;
  s->found.score = c.score;
  s->found.probability = c.probability;
  s->found.variation = c.variation;
  if (!(c.probability <= s->significance)) return TSANOM_OK;
  if (tsn_exec_stop(s->exec, 2, STEPS)) return TSANOM_STOPPED;
  double variation;
  size_t cycle = tsn_dips_cycle(&s->dips, s->max_period, &variation);
  size_t period = exact_period(s, tsn_dips_fundamental(&s->dips, c.candidate));
  s->found.lines = tsn_dips_lines(&s->dips, period);
  if (s->found.lines > s->significance) {
    s->found.candidate = cycle;
    s->found.variation = variation;
  } else if (period <= s->max_period) {
    s->found.period = period;
  }
  return TSANOM_OK;
}

typedef struct {
  tsn_find find;
  tsanom_exec exec;
  tsanom_dpd_found *found;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  tsn_find_layout(arena, c->find.n, &c->find);
}

static tsanom_status run(void *context) {
  call *c = context;
  c->find.exec = &c->exec;
  return tsn_find_run(&c->find);
}

static tsanom_status read_call(call *c, size_t n, const tsanom_dpd_find_options *options,
                               const tsanom_exec *exec) {
  tsanom_dpd_find_options own;
  *c = (call){.find.n = n};
  tsanom_status status = tsn_exec_read(&c->exec, exec);
  if (status < 0) return status;
  status = tsn_struct_read(&c->exec, &options_type, &own, options, "options");
  if (status < 0) return status;
  if (!(isgreater(own.significance, 0) && islessequal(own.significance, 0.5))) {
    return tsn_reject_value(&c->exec, TSANOM_E_OPTION, "options.significance",
                            TSANOM_NONE, TSANOM_NONE, own.significance,
                            "more than 0 and at most 0.5 is expected");
  }
  if ((status = tsn_require_size(&c->exec, TSANOM_E_OPTION, "options.max_period",
                                 own.max_period, 0, LARGEST_MAX_PERIOD)) < 0 ||
      (status = tsn_require_size(&c->exec, TSANOM_E_COUNT, "n", n, TSN_FIND_LEAST,
                                 SIZE_MAX)) < 0 ||
      (status = tsn_require_size(&c->exec, TSANOM_E_OVERFLOW, "n", n, TSN_FIND_LEAST,
                                 PTRDIFF_MAX / sizeof *c->find.x)) < 0) {
    return status;
  }
  c->find.significance = own.significance;
  c->find.max_period = tsn_smaller(own.max_period ? own.max_period : DEFAULT_MAX_PERIOD,
                                   n / TSN_DIPS_PERIODS_NEEDED);
  return TSANOM_OK;
}

static tsanom_status check(void *context) {
  const call *c = context;
  const double *x = c->find.x;
  if (!x) return tsn_reject_null(&c->exec, "samples", c->find.n);
  tsanom_status status = tsn_struct_check(&c->exec, &found_type, c->found, "found");
  if (status < 0) return status;
  if (tsn_all_finite(x, c->find.n)) return TSANOM_OK;
  size_t i = tsn_first_nonfinite(x, c->find.n);
  return tsn_reject_value(&c->exec, TSANOM_E_NONFINITE, "samples", i, TSANOM_NONE, x[i],
                          TSN_FINITE);
}

tsanom_status tsanom_dpd_find(const double *samples, size_t n,
                              const tsanom_dpd_find_options *options,
                              const tsanom_exec *exec, tsanom_dpd_found *found) {
  call c;
  tsanom_status status = read_call(&c, n, options, exec);
  if (status < 0) return status;
  c.find.x = samples;
  c.found = found;
  status = tsn_workspace_run(&c.exec, layout, check, run, &c);
  if (status == TSANOM_OK) tsn_versioned_write(&found_type, found, &c.find.found);
  return status;
}
