/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of one pair. Each call has three stages: read and check what does
 * not need the samples, resolve the pair (which fixes the memory), check the samples;
 * then tsn_workspace_run() lays out the context and runs its body. The workspace queries
 * resolve the same pair without samples, so that both agree. */
#include "core/environment.h"
#include "dtw/dtw_bytes.h"
#include "dtw/dtw_pair.h"
#include "dtw/dtw_path.h"
#include "dtw/dtw_sweep_tiny.h"

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
  if ((status = tsn_dtw_operand_check(&c->x, "x", "n", &c->settings)) < 0) return status;
  return tsn_dtw_operand_check(&c->y, "y", "m", &c->settings);
}

static tsanom_status check_samples(const pair_call *c) {
  tsanom_status status = tsn_dtw_operand_finite(&c->x, "x", &c->settings);
  return status < 0 ? status : tsn_dtw_operand_finite(&c->y, "y", &c->settings);
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

/* The distance of a few samples in a usual call, for which the three stages take longer
 * than the computation: 31 instead of 55 ns at n = 4 on an AMD
 * Zen 5. False: everything else, also what has to be rejected. */
static bool distance_of_few(const real *x, size_t n, const real *y, size_t m,
                            const tsanom_dtw_options *options, const tsanom_exec *exec,
                            real *distance) {
  tsn_dtw_problem problem;
  if (!x || !y || !distance || !n || n > TSN_DTW_TINY_LONGEST || !m ||
      m > TSN_DTW_TINY_LONGEST) {
    return false;
  }
  const tsanom_dtw_options *usual = tsn_dtw_usual_options(options, exec);
  if (!usual || tsn_dtw_problem_init(&problem, n, m, usual) < 0) return false;
  problem.stride_x = problem.stride_y = 1;
  if (!tsn_dtw_tiny_suits(&problem, usual) || !tsn_dtw_path_exists(&problem) ||
      !tsn_all_finite(x, n) || !tsn_all_finite(y, m)) {
    return false;
  }
  tsn_environment before = tsn_environment_enter();
  *distance = tsn_dtw_tiny_run(&problem, usual, x, y);
  tsn_environment_leave(before);
  return true;
}

tsanom_status tsanom_dtw_distance(const real *x, size_t n, const real *y, size_t m,
                                  const tsanom_dtw_options *options,
                                  const tsanom_exec *exec, real *distance) {
  if (distance_of_few(x, n, y, m, options, exec, distance)) return TSANOM_OK;
  pair_call c;
  c.x = (tsn_dtw_operand){.samples = x, .count = n};
  c.y = (tsn_dtw_operand){.samples = y, .count = m};
  c.distance = distance;
  tsanom_status status =
      read_pair(&c, options, exec, TSN_DTW_USES_TAILS | TSN_DTW_USES_SHAPE);
  if (status < 0) return status;
  if ((status = tsn_require(&c.settings.exec, distance, "distance")) < 0) return status;
  status = tsn_dtw_pair_init(&c.pair, &c.x, &c.y, &c.settings,
                             c.settings.options.tails != NULL, c.settings.exec.threads);
  if (status < 0) return tsn_reject(&c.settings.exec, status, "m");
  if ((status = check_samples(&c)) < 0) return status;
  return tsn_workspace_run(&c.settings.exec, distance_layout, NULL, run_distance, &c);
}

tsanom_status tsn_dtw_distance_bytes(const tsn_dtw_settings *settings,
                                     const tsn_dtw_shape *shape, size_t *bytes) {
  tsn_dtw_pair pair;
  size_t stride = settings->options.stride;
  tsn_dtw_operand x = {.count = shape->longest_x, .stride = stride};
  tsn_dtw_operand y = {.count = shape->longest_y, .stride = stride};
  tsanom_status status = tsn_dtw_pair_init(
      &pair, &x, &y, settings, settings->options.tails != NULL, settings->exec.threads);
  return status < 0 ? status : tsn_layout_bytes(tsn_dtw_pair_layout, &pair, bytes);
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
  if (status < 0 || (status = tsn_require(&c->settings.exec, path, "path")) < 0 ||
      (status = tsn_require(&c->settings.exec, length, "length")) < 0) {
    return status;
  }
  status = tsn_dtw_path_init(&p.path, &c->x, &c->y, &c->settings);
  if (status < 0) return tsn_reject(&c->settings.exec, status, "m");
  if ((status = check_samples(c)) < 0) return status;
  return tsn_workspace_run(&c->settings.exec, path_layout, NULL, run_path, &p);
}

tsanom_status tsn_dtw_path_bytes(const tsn_dtw_settings *settings,
                                 const tsn_dtw_shape *shape, size_t *bytes) {
  tsn_dtw_path path;
  size_t stride = settings->options.stride;
  tsn_dtw_operand x = {.count = shape->longest_x, .stride = stride};
  tsn_dtw_operand y = {.count = shape->longest_y, .stride = stride};
  tsanom_status status = tsn_dtw_path_init(&path, &x, &y, settings);
  return status < 0 ? status : tsn_layout_bytes(tsn_dtw_path_layout, &path, bytes);
}
