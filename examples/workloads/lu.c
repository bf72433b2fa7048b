/* SPDX-License-Identifier: BSD-3-Clause */
/* SSOR with a pipelined wavefront in the manner of NPB LU, for the problem of
 * diffusion.h.
 *
 * A step of backward Euler, (I - a K (Dx + Dy + Dz)) v = u, is solved by SSOR sweeps:
 * a lower sweep meets the points in ascending order and an upper one in descending
 * order, each setting
 *
 *   v = (1 - w) v + w B^-1 (u + a K (sum of six neighbors)),   B = I + 6 a K.
 *
 * Each thread owns a slab of constant-y rows. It may start a plane of constant z when
 * the neighbor that comes first in the sweep has finished its part of that plane, so
 * the sweeps run as a pipeline. As in LU a barrier ends each sweep; nobody waits there
 * who would not wait for the next sweep to reach him. A mode with second-difference
 * eigenvalues l shrinks by 1 / (1 + a kappa_m (lx + ly + lz)) in a step. */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "diffusion.h"

enum { TAG_LOWER = 1, TAG_UPPER = 2, SWEEPS = 10 };

/* Time step times diffusivity over h^2, and SSOR's relaxation factor. */
#define DIFFUSIVITY 0.3
#define RELAXATION 1.1

static const struct workload_program program = {
    .name = "lu",
    .purpose =
        "SSOR with a pipelined wavefront for five coupled diffusing fields on a cube",
    .iteration = "the update of one grid line by a lower or upper sweep",
    .cycle = 1,
    .sizes = {{10, 4}, {96, 2}, {96, 7}, {112, 30}, {144, 80}}};

/* Planes a thread has finished since the start, on a cache line of its own. */
struct progress {
  _Alignas(WORKLOAD_LINE) atomic_long planes;
};

struct solver {
  struct grid grid;
  point *u;          /* field at the start of the step */
  point *v;          /* the step's unknown */
  block on_field;    /* w B^-1 */
  block on_neighbor; /* w B^-1 a K */
  struct progress *progress;
};

/* w B^-1 f(K) for a function f of K, by K's eigenvectors. */
static void set_blocks(struct solver *s, const struct diffusion *d) {
  for (int m = 0; m < FIELDS; ++m) {
    const double coupling = DIFFUSIVITY * d->conductivity[m];
    const double scale = RELAXATION / (1 + 6 * coupling);
    for (int row = 0; row < FIELDS; ++row) {
      for (int c = 0; c < FIELDS; ++c) {
        const double projector = d->vector[m][row] * d->vector[m][c];
        s->on_field[row][c] += scale * projector;
        s->on_neighbor[row][c] += scale * coupling * projector;
      }
    }
  }
}

static void update_point(struct solver *s, size_t p) {
  point neighbors = {0};
  point v;
  for (int direction = X; direction <= Z; ++direction) {
    const size_t step = s->grid.step[direction];
    for (int c = 0; c < FIELDS; ++c) {
      neighbors[c] += s->v[p - step][c] + s->v[p + step][c];
    }
  }
  for (int c = 0; c < FIELDS; ++c) v[c] = (1 - RELAXATION) * s->v[p][c];
  multiply_add(s->on_field, s->u[p], v);
  multiply_add(s->on_neighbor, neighbors, v);
  memcpy(s->v[p], v, sizeof v);
}

/* Waits until the neighbor has finished `planes` planes. It yields, since the
 * neighbor may need this very core. */
static void await(struct solver *s, int neighbor, long planes) {
  while (atomic_load_explicit(&s->progress[neighbor].planes, memory_order_acquire) <
         planes) {
    sched_yield();
  }
}

/* This thread's rows of the plane k; `way` 1: in ascending order, -1: in descending order. */
static void sweep_plane(struct workload_thread *me, struct solver *s, int k, int way) {
  const struct workload_share rows = workload_share(me, s->grid.n);
  const int n = s->grid.n;
  for (int row = rows.first; row < rows.last; ++row) {
    const int j = way > 0 ? row + 1 : rows.first + rows.last - row;
    for (int i = 1; i <= n; ++i) {
      update_point(s, grid_at(&s->grid, way > 0 ? i : n + 1 - i, j, k));
    }
    if (!workload_advance(me, 1, way > 0 ? TAG_LOWER : TAG_UPPER)) return;
  }
}

/* A lower sweep, `way` 1, or an upper one, -1. A stopped thread reports its planes still, so
 * that the others go on. The barriers are the caller's: their places tell the sweeps apart. */
static void sweep(struct workload_thread *me, struct solver *s, long *done, int way) {
  const int n = s->grid.n, before = me->number - way;
  for (int k = 1; k <= n; ++k) {
    if (before >= 0 && before < me->team) await(s, before, *done + 1);
    sweep_plane(me, s, way > 0 ? k : n + 1 - k, way);
    atomic_store_explicit(&s->progress[me->number].planes, ++*done, memory_order_release);
  }
}

static void bring_forward(const struct workload_thread *me, struct solver *s) {
  const struct workload_share rows = workload_share(me, s->grid.n);
  for (int k = 1; k <= s->grid.n; ++k) {
    for (int j = rows.first + 1; j <= rows.last; ++j) {
      const size_t p = grid_at(&s->grid, 1, j, k);
      memcpy(s->u[p], s->v[p], (size_t)s->grid.n * sizeof(point));
    }
  }
}

static void shrink_modes(struct diffusion *d, int steps) {
  for (int m = 0; m < FIELDS; ++m) {
    double sum = 0;
    for (int direction = X; direction <= Z; ++direction) {
      sum += diffusion_eigenvalue(d, m, direction);
    }
    d->amplitude[m] /= pow(1 + DIFFUSIVITY * d->conductivity[m] * sum, steps);
  }
}

static struct solver make_solver(const struct workload *w, const struct diffusion *d) {
  struct solver s = {.grid = grid_make(w->size.points, 1)};
  s.u = grid_allocate(w, &s.grid);
  s.v = grid_allocate(w, &s.grid);
  s.progress = workload_allocate_lines(w, (size_t)w->threads, sizeof *s.progress);
  set_blocks(&s, d);
  diffusion_fill(d, &s.grid, s.u);
  diffusion_fill(d, &s.grid, s.v);
  return s;
}

int main(int argc, char **argv) {
  struct workload w;
  workload_open(&w, &program, argc, argv);
  const int n = w.size.points;
  static struct diffusion d;
  diffusion_init(&d, n, 1, w.seed);
  struct solver s = make_solver(&w, &d);

  const uint64_t lines = (uint64_t)2 * SWEEPS * (uint64_t)n * (uint64_t)(n / w.threads);
  workload_start(&w, n, (uint64_t)w.size.steps * lines);
#pragma omp parallel num_threads(w.threads)
  {
    struct workload_thread *me = workload_enter(&w);
    long done = 0;
    for (int step = 0; step < w.size.steps; ++step) {
      for (int pair = 0; pair < SWEEPS; ++pair) {
        sweep(me, &s, &done, 1);
#pragma omp barrier
        sweep(me, &s, &done, -1);
#pragma omp barrier
      }
      bring_forward(me, &s);
    }
  }
  workload_stop(&w);

  shrink_modes(&d, w.size.steps);
  const double error = diffusion_error(&d, &s.grid, s.v);
  free(s.u);
  free(s.v);
  free(s.progress);
  return workload_close(&w, error, 1e-9);
}
