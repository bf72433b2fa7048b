/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial regression: arguments, workspace and the course of a fit. */
#include <tsanom/polyfit.h>

#include <lapacke.h>
#include <math.h>

#include "core/arena.h"
#include "core/check.h"
#include "core/exec.h"
#include "core/versioned.h"
#include "polyfit/polyfit_model.h"

static const tsanom_polyfit_options defaults = {.struct_size = sizeof defaults,
                                                .degree = 1,
                                                .selection = TSANOM_POLYFIT_FIXED,
                                                .r2 = 0.9,
                                                .tolerance = 0,
                                                .refine = 1};

static const tsn_versioned options_type = {.size = sizeof(tsanom_polyfit_options),
                                           .first_size = sizeof(tsanom_polyfit_options),
                                           .defaults = &defaults};

tsanom_status tsanom_polyfit_options_init(tsanom_polyfit_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(tsanom_polyfit_options *own,
                                  const tsanom_polyfit_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  if (own->degree < 0 || own->degree > TSANOM_POLYFIT_MAX_DEGREE ||
      own->selection < TSANOM_POLYFIT_FIXED || own->selection > TSANOM_POLYFIT_BIC ||
      !(own->r2 >= 0 && own->r2 < 1) || !(own->tolerance >= 0 && own->tolerance < 1) ||
      (own->refine != 0 && own->refine != 1) || own->reserved0 != 0) {
    return TSANOM_E_OPTION;
  }
  if (own->tolerance == 0) own->tolerance = 0x1p-40;
  return TSANOM_OK;
}

typedef struct {
  double *a;       /* n x (terms + 1), by columns: the basis and y */
  double *tau;     /* terms + 1 */
  double *lapack;  /* scratch of LAPACK */
  double *scratch; /* of tsn_polyfit_describe() */
} buffers;

enum { LAPACK_BLOCK = 64 };

static void layout(tsn_arena *arena, size_t n, size_t terms, buffers *b) {
  size_t size;
  if (__builtin_mul_overflow(n, terms + 1, &size)) arena->overflow = true;
  b->a = tsn_arena_take(arena, size, sizeof(double));
  b->tau = tsn_arena_take(arena, terms + 1, sizeof(double));
  b->lapack = tsn_arena_take(arena, (terms + 1) * LAPACK_BLOCK, sizeof(double));
  b->scratch = tsn_arena_take(arena, tsn_polyfit_describe_scratch(terms), sizeof(double));
}

tsanom_status tsanom_polyfit_workspace(size_t n, const tsanom_polyfit_options *options,
                                       const tsanom_exec *exec, size_t *bytes) {
  tsanom_polyfit_options own_options;
  tsanom_exec own_exec;
  tsanom_status status;
  if (!bytes) return TSANOM_E_NULL;
  if ((status = read_options(&own_options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  tsn_arena arena = tsn_arena_measure();
  buffers b;
  layout(&arena, n, (size_t)own_options.degree + 1, &b);
  return tsn_arena_bytes(&arena, bytes);
}

typedef struct {
  const double *x, *y, *weights;
  size_t n;
} samples;

typedef struct {
  double low, high;
} range;

static range range_of(const double *values, size_t n) {
  range r = {values[0], values[0]};
  for (size_t i = 1; i < n; i++) {
    r.low = values[i] < r.low ? values[i] : r.low;
    r.high = values[i] > r.high ? values[i] : r.high;
  }
  return r;
}

static tsn_polyfit_map map_of(range x, range y, range weights) {
  tsn_polyfit_map map;
  map.x_exponent = tsn_polyfit_unit_exponent(fmax(fabs(x.low), fabs(x.high)));
  map.y_exponent = tsn_polyfit_unit_exponent(fmax(fabs(y.low), fabs(y.high)));
  map.weight_exponent = tsn_polyfit_unit_exponent(weights.high);
  map.weight_exponent -= map.weight_exponent % 2;
  map.x_unit = ldexp(1, map.x_exponent);
  map.y_unit = ldexp(1, map.y_exponent);
  map.weight_unit = ldexp(1, map.weight_exponent);
  double low = x.low * map.x_unit, high = x.high * map.x_unit;
  map.center = low / 2 + high / 2;
  double half = fmax(high - map.center, map.center - low);
  map.scale = half > 0 ? 1 / half : 1;
  return map;
}

/* The weighted basis and y, by columns. */
static void fill_columns(const samples *s, const tsn_polyfit_map *map, int terms,
                         double *a) {
  size_t n = s->n;
  for (size_t i = 0; i < n; i++) {
    double root = s->weights ? sqrt(s->weights[i] * map->weight_unit) : 1;
    double t = (s->x[i] * map->x_unit - map->center) * map->scale;
    double before = t, current = 1;
    for (int k = 0; k < terms; k++) {
      a[i + (size_t)k * n] = root * current;
      double next = 2 * t * current - before;
      before = current;
      current = next;
    }
    a[i + (size_t)terms * n] = root * s->y[i] * map->y_unit;
  }
}

static double sum_about_mean(const samples *s, const tsn_polyfit_map *map) {
  double total = 0, moment = 0, sum = 0;
  for (size_t i = 0; i < s->n; i++) {
    double w = s->weights ? s->weights[i] * map->weight_unit : 1;
    total += w;
    moment += w * (s->y[i] * map->y_unit);
  }
  double mean = moment / total;
  for (size_t i = 0; i < s->n; i++) {
    double w = s->weights ? s->weights[i] * map->weight_unit : 1;
    double d = s->y[i] * map->y_unit - mean;
    sum += w * d * d;
  }
  return sum;
}

static int count_determined(const double *r, int ld, int terms, double tolerance) {
  for (int k = 0; k < terms; k++) {
    double square = 0;
    for (int i = 0; i <= k; i++) {
      double entry = r[i + (ptrdiff_t)k * ld];
      square += entry * entry;
    }
    if (fabs(r[k + (ptrdiff_t)k * ld]) <= tolerance * sqrt(square)) return k;
  }
  return terms;
}

static void solve_triangle(const tsn_polyfit_factor *factor, int terms, tsn_dd *c) {
  for (int k = terms - 1; k >= 0; k--) {
    double sum = factor->z[k];
    for (int j = k + 1; j < terms; j++) {
      sum -= factor->r[k + (ptrdiff_t)j * factor->ld] * c[j].high;
    }
    c[k] = tsn_dd_from(sum / factor->r[k + (ptrdiff_t)k * factor->ld]);
  }
}

static void factor_columns(const samples *s, int terms, double tolerance, buffers *b,
                           tsn_polyfit_factor *factor) {
  int ld = (int)s->n;
  int columns = terms < ld ? terms : ld;
  fill_columns(s, &factor->map, terms, b->a);
  LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, ld, terms + 1, b->a, ld, b->tau, b->lapack,
                      (terms + 1) * LAPACK_BLOCK);
  factor->samples = s->n;
  factor->ld = ld;
  factor->method = TSANOM_POLYFIT_QR;
  factor->r = b->a;
  factor->z = b->a + (ptrdiff_t)terms * ld;
  factor->asked = terms;
  factor->rank = count_determined(factor->r, ld, columns, tolerance);
  factor->rss = 0;
  for (int k = factor->rank; k < ld && k <= terms; k++) {
    factor->rss += factor->z[k] * factor->z[k];
  }
}

static tsanom_status fit(const samples *s, const tsanom_polyfit_options *options,
                         buffers *b, tsanom_polyfit_model *model) {
  double one = 1;
  range y_range = range_of(s->y, s->n);
  range weight_range = s->weights ? range_of(s->weights, s->n) : range_of(&one, 1);
  if (!(weight_range.low > 0)) return TSANOM_E_VALUE;
  int terms = options->degree + 1;
  if (options->selection != TSANOM_POLYFIT_FIXED && (size_t)terms > s->n) {
    terms = (int)s->n;
  }
  tsn_polyfit_factor factor;
  factor.map = map_of(range_of(s->x, s->n), y_range, weight_range);
  factor_columns(s, terms, options->tolerance, b, &factor);
  factor.tss = y_range.low < y_range.high ? sum_about_mean(s, &factor.map) : 0;
  factor.rss_floor = (double)s->n * 0x1p-100;

  double rss[TSANOM_POLYFIT_TERMS];
  tsn_dd coefficient[TSANOM_POLYFIT_TERMS] = {0};
  int chosen;
  tsn_polyfit_degree_rss(&factor, rss);
  tsanom_status status = tsn_polyfit_select(&factor, rss, options, &chosen);
  if (factor.tss > 0) {
    solve_triangle(&factor, chosen, coefficient);
  } else {
    coefficient[0] = tsn_dd_from(y_range.low * factor.map.y_unit);
    for (int k = 0; k < factor.rank; k++) rss[k] = 0;
  }
  tsn_polyfit_describe(&factor, rss, chosen, coefficient, b->scratch, model);
  return status;
}

tsanom_status tsanom_polyfit_fit(const double *x, const double *y, const double *weights,
                                 size_t n, const tsanom_polyfit_options *options,
                                 const tsanom_exec *exec, void *work, size_t work_bytes,
                                 tsanom_polyfit_model *model) {
  tsanom_polyfit_options own_options;
  tsanom_exec own_exec;
  tsanom_status status;
  if (!x || !y || !model) return TSANOM_E_NULL;
  if ((status = read_options(&own_options, options)) < 0) return status;
  if ((status = tsn_exec_read(&own_exec, exec)) < 0) return status;
  if (model->struct_size < sizeof *model) return TSANOM_E_VERSION;
  if (n == 0 || (own_options.selection == TSANOM_POLYFIT_FIXED &&
                 n <= (size_t)own_options.degree)) {
    return TSANOM_E_COUNT;
  }
  tsn_arena measured = tsn_arena_measure();
  buffers b;
  layout(&measured, n, (size_t)own_options.degree + 1, &b);
  tsn_workspace workspace;
  status = tsn_workspace_open(&workspace, &measured, &own_exec, work, work_bytes);
  if (status < 0) return status;
  samples s = {.x = x, .y = y, .weights = weights, .n = n};
  if (!tsn_all_finite(x, n) || !tsn_all_finite(y, n) ||
      (weights && !tsn_all_finite(weights, n))) {
    status = TSANOM_E_NONFINITE;
  } else if (tsn_exec_stop(&own_exec, 0, n)) {
    status = TSANOM_STOPPED;
  } else {
    layout(&workspace.arena, n, (size_t)own_options.degree + 1, &b);
    status = fit(&s, &own_options, &b, model);
  }
  tsn_workspace_close(&workspace);
  return status;
}
