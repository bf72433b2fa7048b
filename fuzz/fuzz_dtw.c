/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances and paths of two series beside the plain double loop, bit by bit, in both
 * precisions, for all options. Samples may overflow any sum. */
#include <tsanom/dtw.h>

#include "input.h"
#include "support/ask.h"

#define REAL double
#define NAIVE(name) f64_##name
#include "dtw/naive.h"
#define REAL float
#define NAIVE(name) f32_##name
#include "dtw/naive.h"

enum { LONGEST = 40, ELEMENTS = 4 * LONGEST, PATH = 4 * LONGEST };

typedef struct {
  size_t n, m;
  double x[ELEMENTS], y[ELEMENTS];
  float x_f32[ELEMENTS], y_f32[ELEMENTS];
  tsanom_dtw_options options;
  int finite, finite_f32, feasible;
} problem;

static size_t take_end(fuzz_input *in) {
  size_t end = take_byte(in);
  return end < 128 ? 0 : end == UINT8_MAX ? SIZE_MAX : end % LONGEST;
}

static void take_options(fuzz_input *in, tsanom_dtw_options *o) {
  static const double penalties[] = {0, 0.25, 3, 0x1p-1074, 1e30};
  tsanom_dtw_options_init(o, sizeof *o);
  size_t flags = take_byte(in), radius = take_byte(in);
  o->cost = (int32_t)(flags & 1);
  o->window = (int32_t)(flags >> 1 & 1);
  o->path_memory = (int32_t)(flags >> 2 & 1);
  o->dimensions = 1 + (flags >> 3) % 3;
  o->stride = flags & 128 ? o->dimensions + 1 : 0;
  o->radius = radius == UINT8_MAX ? SIZE_MAX : radius % LONGEST;
  o->penalty = penalties[take_between(in, 0, 4)];
  o->open_begin_x = take_end(in);
  o->open_begin_y = take_end(in);
  o->open_end_x = take_end(in);
  o->open_end_y = take_end(in);
}

/* Whether the components of the samples are finite. */
static int usable(const double *x, float *x_f32, size_t n, const tsanom_dtw_options *o,
                  int *finite_f32) {
  size_t stride = o->stride ? o->stride : o->dimensions;
  int finite = 1;
  for (size_t i = 0; i < n * stride; i++) {
    x_f32[i] = fabs(x[i]) <= FLT_MAX ? (float)x[i] : (float)INFINITY;
    if (i % stride >= o->dimensions) continue;
    finite = finite && isfinite(x[i]);
    *finite_f32 = *finite_f32 && isfinite(x_f32[i]);
  }
  return finite;
}

static void take_problem(fuzz_input *in, problem *p) {
  static const double zeros[ELEMENTS];
  tsanom_dtw_options plain;
  take_options(in, &p->options);
  size_t stride = p->options.stride ? p->options.stride : p->options.dimensions;
  p->n = take_between(in, 1, LONGEST);
  p->m = take_between(in, 1, LONGEST);
  take_samples(in, p->x, p->n * stride);
  take_samples(in, p->y, p->m * stride);
  p->finite_f32 = 1;
  p->finite = usable(p->x, p->x_f32, p->n, &p->options, &p->finite_f32);
  p->finite &= usable(p->y, p->y_f32, p->m, &p->options, &p->finite_f32);
  plain = p->options;
  plain.penalty = 0;
  p->feasible = f64_distance(zeros, p->n, zeros, p->m, &plain) == 0;
}

/* The status for a distance, and in `distance` what is reported. */
static tsanom_status expect(const problem *p, int finite, double cutoff,
                            double *distance) {
  if (!finite) return TSANOM_E_NONFINITE;
  if (p->feasible && *distance <= cutoff) return TSANOM_OK;
  *distance = INFINITY;
  return p->feasible ? TSANOM_CUTOFF : TSANOM_INFEASIBLE;
}

static void check_distance(const problem *p, double d64, double d32,
                           const tsanom_exec *exec) {
  tsanom_dtw_options o = p->options;
  double got = -1;
  float got_f32 = -1;
  size_t bytes = 0;
  o.path_memory = 0;
  tsanom_exec own = ask_exec(exec, &bytes);
  demand(tsanom_dtw_distance(NULL, p->n, NULL, p->m, &o, &own, NULL) ==
         TSANOM_E_WORKSPACE);
  own = with_work(*exec, bytes);
  tsanom_status status = expect(p, p->finite, o.cutoff, &d64);
  demand(tsanom_dtw_distance(p->x, p->n, p->y, p->m, &o, &own, &got) == status);
  demand(got == (status < 0 ? -1 : d64));
  status = expect(p, p->finite_f32, o.cutoff, &d32);
  demand(tsanom_dtw_distance_f32(p->x_f32, p->n, p->y_f32, p->m, &o, exec, &got_f32) ==
         status);
  demand(got_f32 == (status < 0 ? -1 : (float)d32));
  drop_work(&own);
}

static void check_path(const problem *p, double d64, double d32,
                       const tsanom_exec *exec) {
  const tsanom_dtw_options *o = &p->options;
  size_t path[PATH], got_path[PATH], length = 0, got_length = SIZE_MAX, bytes = 0;
  double got = -1;
  float got_f32 = -1;
  tsanom_exec own = ask_exec(exec, &bytes);
  demand(tsanom_dtw_path(NULL, p->n, NULL, p->m, o, &own, NULL, NULL, NULL) ==
         TSANOM_E_WORKSPACE);
  own = with_work(*exec, bytes);
  tsanom_status status = expect(p, p->finite, o->cutoff, &d64);
  if (isfinite(d64)) length = f64_path(p->x, p->n, p->y, p->m, o, path);
  demand(tsanom_dtw_path(p->x, p->n, p->y, p->m, o, &own, got_path, &got_length, &got) ==
         status);
  if (status >= 0) {
    demand(got == d64 && got_length == length);
    demand(memcmp(path, got_path, 2 * length * sizeof *path) == 0);
  }
  length = 0;
  status = expect(p, p->finite_f32, o->cutoff, &d32);
  if (isfinite(d32)) length = f32_path(p->x_f32, p->n, p->y_f32, p->m, o, path);
  demand(tsanom_dtw_path_f32(p->x_f32, p->n, p->y_f32, p->m, o, exec, got_path,
                             &got_length, &got_f32) == status);
  if (status >= 0) {
    demand(got_f32 == (float)d32 && got_length == length);
    demand(memcmp(path, got_path, 2 * length * sizeof *path) == 0);
  }
  drop_work(&own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem p;
  fuzz_input in = {data, data + size};
  tsanom_exec exec = take_exec(&in);
  size_t quarters = take_between(&in, 0, 8);
  take_problem(&in, &p);
  double d64 = INFINITY, d32 = INFINITY;
  if (p.finite) d64 = f64_distance(p.x, p.n, p.y, p.m, &p.options);
  if (p.finite_f32) {
    d32 = (double)f32_distance(p.x_f32, p.n, p.y_f32, p.m, &p.options);
  }
  check_path(&p, d64, d32, &exec);
  if (quarters && isfinite(d64)) p.options.cutoff = d64 / 4 * (double)quarters;
  check_distance(&p, d64, d32, &exec);
  check_path(&p, d64, d32, &exec);
  return 0;
}
