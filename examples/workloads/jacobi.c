/* SPDX-License-Identifier: BSD-3-Clause */
/* Jacobi's iteration for Laplace's equation on the unit square.
 *
 * The boundary holds u = x^2 - y^2, which the five-point stencil reproduces
 * exactly. The first guess is u plus modes a sin(p pi x) sin(q pi y); a sweep
 * multiplies each by (cos(p pi h) + cos(q pi h)) / 2, so that both the field and
 * the change made by a sweep are known after any number of sweeps. */
#include <math.h>
#include <stdlib.h>

#include "workload.h"

enum { MODES = 3, POINTS = 16, TAG_SWEEP = 1 };

static const struct workload_program program = {
    .name = "jacobi",
    .purpose = "Jacobi's iteration for Laplace's equation on a square",
    .iteration = "the update of sixteen points of a row, a pair of cache lines",
    .cycle = 10000,
    .sizes = {{128, 800}, {1024, 1200}, {1024, 3000}, {1024, 20000}, {2048, 30000}}};

struct mode {
  double amplitude;
  double factor; /* of one sweep */
  double p;      /* wave numbers times pi */
  double q;
};

/* The wave numbers p differ, so that the modes are orthogonal. */
static void choose_modes(struct mode modes[MODES], double h, uint64_t seed) {
  for (int m = 0; m < MODES; ++m) {
    modes[m].p = (m + 1) * M_PI;
    modes[m].q = (double)(1 + workload_random(&seed) % 4) * M_PI;
    modes[m].amplitude = workload_uniform(&seed, 0.5, 1.0);
    modes[m].factor = (cos(modes[m].p * h) + cos(modes[m].q * h)) / 2;
  }
}

static double exact(const struct mode modes[MODES], double x, double y) {
  double u = x * x - y * y;
  for (int m = 0; m < MODES; ++m) {
    u += modes[m].amplitude * sin(modes[m].p * x) * sin(modes[m].q * y);
  }
  return u;
}

static void fill(double *u, int n, const struct mode modes[MODES], double h) {
#pragma omp parallel for
  for (int i = 0; i < n + 2; ++i) {
    for (int j = 0; j < n + 2; ++j) {
      u[(size_t)i * (size_t)(n + 2) + (size_t)j] = exact(modes, i * h, j * h);
    }
  }
}

/* One sweep over this thread's rows; returns the sum of the squared changes. */
static double sweep(struct workload_thread *me, int n, const double *restrict old,
                    double *restrict new) {
  const size_t stride = (size_t)n + 2;
  const struct workload_share rows = workload_share(me, n);
  double change = 0;
  for (int i = rows.first + 1; i <= rows.last; ++i) {
    const double *above = old + (size_t)(i - 1) * stride;
    const double *row = above + stride;
    const double *below = row + stride;
    double *result = new + (size_t)i *stride;
    for (int j = 1; j <= n; ++j) {
      const double u = 0.25 * (row[j - 1] + row[j + 1] + above[j] + below[j]);
      change += (u - row[j]) * (u - row[j]);
      result[j] = u;
    }
    if (!workload_advance(me, (uint32_t)(n / POINTS), TAG_SWEEP)) break;
  }
  return change;
}

/* Largest error of the field after `sweeps` sweeps, and of the size of the last
 * change: a mode's squares sum to ((n + 1) / 2)^2 over the grid. */
static double largest_error(const double *u, double change, int n,
                            struct mode modes[MODES], int sweeps, double h) {
  double expected = 0;
  for (int m = 0; m < MODES; ++m) {
    const double before = modes[m].amplitude * pow(modes[m].factor, sweeps - 1);
    modes[m].amplitude = before * modes[m].factor;
    expected += pow((before - modes[m].amplitude) * (n + 1) / 2.0, 2);
  }
  double error = fabs(sqrt(change) - sqrt(expected));
#pragma omp parallel for reduction(worse : error)
  for (int i = 1; i <= n; ++i) {
    for (int j = 1; j <= n; ++j) {
      const double value = u[(size_t)i * (size_t)(n + 2) + (size_t)j];
      error = workload_worse(error, fabs(value - exact(modes, i * h, j * h)));
    }
  }
  return error;
}

int main(int argc, char **argv) {
  struct workload w;
  workload_open(&w, &program, argc, argv);
  const int n = w.size.points;
  const int sweeps = w.size.steps;
  const double h = 1.0 / (n + 1);
  const size_t cells = (size_t)(n + 2) * (size_t)(n + 2);
  double *u[2] = {workload_allocate(&w, cells, sizeof(double)),
                  workload_allocate(&w, cells, sizeof(double))};
  struct mode modes[MODES];
  choose_modes(modes, h, w.seed);
  fill(u[0], n, modes, h);
  fill(u[1], n, modes, h); /* for the boundary */

  double change = 0;
  workload_start(&w, n, (uint64_t)sweeps * (uint64_t)(n / w.threads * (n / POINTS)));
#pragma omp parallel num_threads(w.threads) reduction(+ : change)
  {
    struct workload_thread *me = workload_enter(&w);
    for (int s = 0; s < sweeps; ++s) {
      change = sweep(me, n, u[s % 2], u[(s + 1) % 2]);
#pragma omp barrier
    }
  }
  workload_stop(&w);

  const double error = largest_error(u[sweeps % 2], change, n, modes, sweeps, h);
  free(u[0]);
  free(u[1]);
  return workload_close(&w, error, 1e-10);
}
