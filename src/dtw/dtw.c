/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of one pair. Each call reads options and counts and resolves the
 * pair, which fixes the memory; tsn_workspace_run() then lays out the context, checks
 * pointers and samples, and runs the body. */
#include <math.h>

#include "core/environment.h"
#include "core/size.h"
#include "dtw/dtw_pair.h"
#include "dtw/dtw_path.h"
#include "dtw/dtw_sweeps.h"

/* A call on one pair; `path` and `length` are of tsanom_dtw_path() only. */
typedef struct {
  tsn_dtw_settings settings;
  tsn_dtw_operand x, y;
  tsn_dtw_pair pair;
  size_t *path, *length;
  real *distance;
} pair_call;

typedef struct {
  pair_call call;
  tsn_dtw_path path;
} path_call;

static tsanom_status read_pair(pair_call *c, const tsanom_dtw_options *options,
                               const tsanom_exec *exec, int uses) {
  tsanom_status status = tsn_dtw_settings_read(&c->settings, options, exec, uses);
  if (status < 0) return status;
  c->x.stride = c->y.stride = c->settings.options.stride;
  if ((status = tsn_dtw_operand_check(&c->x, "n", &c->settings)) < 0) return status;
  return tsn_dtw_operand_check(&c->y, "m", &c->settings);
}

/* The window of a resolved pair does not fit: only that of a slope, of n*m cells. */
static tsanom_status reject_window(const pair_call *c, tsanom_status status) {
  return tsn_reject_is(&c->settings.exec, status, "m", TSANOM_NONE,
                       "%zu; at most %zu is expected for a slope window at n = %zu",
                       c->y.count, SIZE_MAX / 2 / c->x.count, c->x.count);
}

static tsanom_status require_series(const pair_call *c) {
  tsanom_status status =
      tsn_require_array(&c->settings.exec, c->x.samples, c->x.count, "x");
  if (status < 0) return status;
  return tsn_require_array(&c->settings.exec, c->y.samples, c->y.count, "y");
}

static tsanom_status check_samples(const pair_call *c) {
  tsanom_status status = tsn_dtw_operand_finite(&c->x, "x", &c->settings);
  return status < 0 ? status : tsn_dtw_operand_finite(&c->y, "y", &c->settings);
}

static tsanom_status check_distance(void *context) {
  const pair_call *c = context;
  tsanom_status status = require_series(c);
  if (status < 0) return status;
  status = tsn_require(&c->settings.exec, c->distance, "distance");
  return status < 0 ? status : check_samples(c);
}

static tsn_dtw_watch watch_of(const pair_call *c, _Atomic int *stop) {
  return (tsn_dtw_watch){
      .exec = &c->settings.exec, .stop = stop, .polls = true, .total = 1};
}

static tsanom_status run_distance(void *context) {
  pair_call *c = context;
  _Atomic int stop = 0;
  tsn_dtw_watch watch = watch_of(c, &stop);
  const double *const *tails = c->settings.options.tails;
  if (tsn_dtw_watch_stop(&watch)) return TSANOM_STOPPED;
  return tsn_dtw_pair_run(&c->pair, tails ? tails[0] : NULL, &watch, c->distance);
}

static void distance_layout(tsn_arena *arena, void *context) {
  pair_call *c = context;
  tsn_dtw_pair_layout(arena, &c->pair);
}

/* Apart, so that a call with few samples needs few registers. */
static __attribute__((noinline)) tsanom_status distance_of_any(
    const real *x, size_t n, const real *y, size_t m, const tsanom_dtw_options *options,
    const tsanom_exec *exec, real *distance) {
  pair_call c;
  c.x = (tsn_dtw_operand){.samples = x, .count = n};
  c.y = (tsn_dtw_operand){.samples = y, .count = m};
  c.distance = distance;
  tsanom_status status =
      read_pair(&c, options, exec, TSN_DTW_USES_TAILS | TSN_DTW_USES_SHAPE);
  if (status < 0) return status;
  status = tsn_dtw_pair_init(&c.pair, &c.x, &c.y, &c.settings,
                             c.settings.options.tails != NULL, c.settings.exec.threads);
  if (status < 0) return reject_window(&c, status);
  return tsn_workspace_run(&c.settings.exec, distance_layout, check_distance,
                           run_distance, &c);
}

/* A call that has no poll and no allocator and leaves the level to the library. */
static bool is_usual_exec(const tsanom_exec *e) {
  return e->struct_size == sizeof *e && e->threads >= 0 && e->isa == TSANOM_ISA_AUTO &&
         !e->alloc && !e->dealloc && !e->poll && !e->work_needed &&
         (e->work ? e->work_bytes >= TSN_ARENA_ALIGN : e->work_bytes == 0) &&
         (!e->fault || tsn_fault_is_prepared(e->fault));
}

/* What tsn_dtw_settings_read() accepts, without tails and gaps between samples. */
static bool is_usual(const tsanom_dtw_options *o) {
  return o->struct_size == sizeof *o && isgreaterequal(o->cutoff, 0) && !o->tails &&
         isgreaterequal(o->penalty, 0) && isfinite(o->penalty) && o->dimensions > 0 &&
         (o->stride == 0 || o->stride == o->dimensions) &&
         (o->window == TSANOM_DTW_SAKOE_CHIBA || o->window == TSANOM_DTW_SLOPE) &&
         o->path_memory == TSANOM_DTW_PATH_FULL && o->reserved0 == 0 &&
         (o->cost == TSANOM_COST_ABSOLUTE || o->cost == TSANOM_COST_SQUARED);
}

/* Whether every cell of n x m is admitted, and costs only its two samples. */
static bool is_whole(const tsanom_dtw_options *o, size_t n, size_t m) {
  return o->radius >= tsn_larger(n, m) - 1 && o->penalty == 0 && o->dimensions == 1 &&
         (o->open_begin_x | o->open_begin_y | o->open_end_x | o->open_end_y) == 0;
}

/* Of no more components no product of sizes overflows. */
enum { MOST_COMPONENTS = 1 << 20 };

/* A path with closed ends meets all samples, so that it is finite only if they are. */
static __attribute__((noinline)) real distance_in_window(const real *x, size_t n,
                                                         const real *y, size_t m,
                                                         const tsanom_dtw_options *o) {
  tsn_dtw_problem problem;
  if (tsn_dtw_problem_init(&problem, n, m, o) < 0) return NAN;
  size_t dimensions = o->dimensions;
  if (dimensions > MOST_COMPONENTS) return NAN;
  problem.stride_x = problem.stride_y = dimensions;
  if (!tsn_dtw_tiny_suits(&problem, o, NULL) || !tsn_dtw_path_exists(&problem) ||
      tsn_environment_is_unusual(tsn_environment_read()) ||
      (!tsn_dtw_problem_is_closed(&problem) &&
       !(tsn_all_finite(x, n * dimensions) && tsn_all_finite(y, m * dimensions)))) {
    return NAN;
  }
  return tsn_dtw_tiny_run(&problem, o, x, y);
}

/* The distance of a few samples with usual options; not finite: the stages of the other
 * calls find the reason. */
static real distance_of_few(const real *x, size_t n, const real *y, size_t m,
                            const tsanom_dtw_options *o) {
  bool whole = is_whole(o, n, m) && n * m <= TSN_DTW_TINY_CELLS;
  if (!whole) return distance_in_window(x, n, y, m, o);
  if (tsn_environment_is_unusual(tsn_environment_read())) return NAN;
  return tsn_dtw_tiny_whole(x, n, y, m, o->cost);
}

/* Few samples in a usual call go without the three stages, which take longer than the
 * computation: 16 instead of 60 ns at n = 4 on an AMD EPYC Zen 4. */
tsanom_status tsanom_dtw_distance(const real *x, size_t n, const real *y, size_t m,
                                  const tsanom_dtw_options *options,
                                  const tsanom_exec *exec, real *distance) {
  const tsanom_dtw_options *o = options ? options : &tsn_dtw_defaults;
  if (x && y && distance && n - 1 < TSN_DTW_TINY_LONGEST &&
      m - 1 < TSN_DTW_TINY_LONGEST && (!exec || is_usual_exec(exec)) && is_usual(o)) {
    real found = distance_of_few(x, n, y, m, o);
    if (isfinite(found)) {
      bool above = (double)found > o->cutoff;
      *distance = above ? (real)INFINITY : found;
      return above ? TSANOM_CUTOFF : TSANOM_OK;
    }
  }
  return distance_of_any(x, n, y, m, options, exec, distance);
}

/* The path has two indices for each of at most n + m - 1 pairs. */
static tsanom_status check_path(void *context) {
  const path_call *p = context;
  const pair_call *c = &p->call;
  const tsanom_exec *exec = &c->settings.exec;
  tsanom_status status = require_series(c);
  if (status < 0 ||
      (status = tsn_require_array(exec, c->path, 2 * (c->x.count + c->y.count - 1),
                                  "path")) < 0 ||
      (status = tsn_require(exec, c->length, "length")) < 0) {
    return status;
  }
  return check_samples(c);
}

static tsanom_status run_path(void *context) {
  path_call *p = context;
  _Atomic int stop = 0;
  tsn_dtw_watch watch = watch_of(&p->call, &stop);
  real ignored;
  if (tsn_dtw_watch_stop(&watch)) return TSANOM_STOPPED;
  return tsn_dtw_path_run(&p->path, &watch, p->call.path, p->call.length,
                          p->call.distance ? p->call.distance : &ignored);
}

static void path_layout(tsn_arena *arena, void *context) {
  path_call *p = context;
  tsn_dtw_path_layout(arena, &p->path);
}

tsanom_status tsanom_dtw_path(const real *x, size_t n, const real *y, size_t m,
                              const tsanom_dtw_options *options, const tsanom_exec *exec,
                              size_t *path, size_t *length, real *distance) {
  path_call p;
  pair_call *c = &p.call;
  c->x = (tsn_dtw_operand){.samples = x, .count = n};
  c->y = (tsn_dtw_operand){.samples = y, .count = m};
  c->path = path;
  c->length = length;
  c->distance = distance;
  tsanom_status status =
      read_pair(c, options, exec, TSN_DTW_USES_PATH_MEMORY | TSN_DTW_USES_SHAPE);
  if (status < 0) return status;
  status = tsn_dtw_path_init(&p.path, &c->x, &c->y, &c->settings);
  if (status < 0) return reject_window(c, status);
  return tsn_workspace_run(&c->settings.exec, path_layout, check_path, run_path, &p);
}
