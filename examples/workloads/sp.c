/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar-pentadiagonal ADI in the manner of NPB SP, for the problem of diffusion.h
 * with a diagonal K, as SP has it in characteristic variables, and with the
 * fourth-order dissipation that makes its systems pentadiagonal.
 *
 * With a = dt kappa / h^2, b the dissipation and D the second difference, a step is
 *
 *   (I - a Dx + b Dx^2)(same in y)(same in z) du = sum of (a D - b D^2) u,
 *
 * and u += du. Beyond the boundary the field is its own mirror image with the sign
 * turned, which keeps the sines eigenvectors: for the second difference's eigenvalue
 * -l a mode has e = a l + b l^2 and shrinks by
 * 1 - (ex + ey + ez) / ((1 + ex)(1 + ey)(1 + ez)). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diffusion.h"

enum { TAG_X = 1, TAG_Y = 2, TAG_Z = 3, HALO = 2 };

/* Time step times diffusivity over h^2, and the dissipation. */
#define DIFFUSIVITY 0.4
#define DISSIPATION 0.05

static const struct workload_program program = {
    .name = "sp",
    .purpose = "Scalar-pentadiagonal ADI for five diffusing fields on a cube",
    .iteration = "one row of one scalar system",
    .cycle = 1000,
    .sizes = {{"tiny", 12, 20},
              {"short", 48, 120},
              {"small", 48, 400},
              {"medium", 64, 1000},
              {"large", 96, 1500}}};

struct solver {
  struct grid grid;
  point *u;
  point *r; /* right-hand side, then du */
  point a;  /* by field */
};

/* Eliminates and solves one line of five systems in place. A row is
 * (b, near, diagonal, near, b); the mirror image takes b off the diagonal of
 * the two end rows. */
static void solve_line(const struct solver *s, point *first, size_t step) {
  point upper1[DIFFUSION_MAX_POINTS + 2]; /* shifted by two: rows -2 and -1 are zero */
  point upper2[DIFFUSION_MAX_POINTS + 2];
  point right[DIFFUSION_MAX_POINTS + 2];
  const int n = s->grid.n;
  const double b = DISSIPATION;
  memset(upper1, 0, 2 * sizeof(point));
  memset(upper2, 0, 2 * sizeof(point));
  memset(right, 0, 2 * sizeof(point));
  for (int i = 2; i < n + 2; ++i) {
    const double *value = first[(size_t)(i - 2) * step];
    for (int c = 0; c < FIELDS; ++c) {
      const double near = -(s->a[c] + 4 * b);
      const double diagonal = 1 + 2 * s->a[c] + (i == 2 || i == n + 1 ? 5 : 6) * b;
      const double lower = near - b * upper1[i - 2][c];
      const double inverse =
          1 / (diagonal - b * upper2[i - 2][c] - lower * upper1[i - 1][c]);
      upper1[i][c] = (near - lower * upper2[i - 1][c]) * inverse;
      upper2[i][c] = b * inverse;
      right[i][c] = (value[c] - b * right[i - 2][c] - lower * right[i - 1][c]) * inverse;
    }
  }
  point after1 = {0};
  point after2 = {0};
  for (int i = n + 1; i >= 2; --i) {
    double *value = first[(size_t)(i - 2) * step];
    for (int c = 0; c < FIELDS; ++c) {
      value[c] = right[i][c] - upper1[i][c] * after1[c] - upper2[i][c] * after2[c];
      after2[c] = after1[c];
      after1[c] = value[c];
    }
  }
}

/* The right-hand side on plane k. */
static void explicit_part(struct solver *s, int k) {
  for (int j = 1; j <= s->grid.n; ++j) {
    for (int i = 1; i <= s->grid.n; ++i) {
      const size_t p = grid_at(&s->grid, i, j, k);
      point near = {0};
      point far = {0};
      for (int direction = X; direction <= Z; ++direction) {
        const size_t step = s->grid.step[direction];
        for (int c = 0; c < FIELDS; ++c) {
          near[c] += s->u[p - step][c] + s->u[p + step][c];
          far[c] += s->u[p - 2 * step][c] + s->u[p + 2 * step][c];
        }
      }
      for (int c = 0; c < FIELDS; ++c) {
        const double centre = s->u[p][c];
        s->r[p][c] = s->a[c] * (near[c] - 6 * centre) -
                     DISSIPATION * (far[c] - 4 * near[c] + 18 * centre);
      }
    }
  }
}

/* Lines in x and y lie within planes of constant z. */
static void solve_planes(struct workload_thread *me, struct solver *s) {
  const int n = s->grid.n;
  const struct workload_share planes = workload_share(me, n);
  for (int k = planes.first + 1; k <= planes.last; ++k) {
    explicit_part(s, k);
    for (int j = 1; j <= n; ++j) {
      solve_line(s, s->r + grid_at(&s->grid, 1, j, k), s->grid.step[X]);
      if (!workload_advance(me, (uint32_t)(FIELDS * n), TAG_X)) {
        return;
      }
    }
    for (int i = 1; i <= n; ++i) {
      solve_line(s, s->r + grid_at(&s->grid, i, 1, k), s->grid.step[Y]);
      if (!workload_advance(me, (uint32_t)(FIELDS * n), TAG_Y)) {
        return;
      }
    }
  }
}

/* The image of u[p] `distance` points further, if that lies beyond the boundary that
 * index i, 1 or n, is next to. */
static void mirror(struct solver *s, size_t p, int i, size_t step) {
  for (int c = 0; c < FIELDS; ++c) {
    if (i == 1) {
      s->u[p - 2 * step][c] = -s->u[p][c];
    }
    if (i == s->grid.n) {
      s->u[p + 2 * step][c] = -s->u[p][c];
    }
  }
}

static void mirror_point(struct solver *s, int i, int j, int k) {
  const size_t p = grid_at(&s->grid, i, j, k);
  mirror(s, p, i, s->grid.step[X]);
  mirror(s, p, j, s->grid.step[Y]);
  mirror(s, p, k, s->grid.step[Z]);
}

/* u += du on the plane of constant y. */
static void bring_forward(struct solver *s, int j) {
  for (int k = 1; k <= s->grid.n; ++k) {
    for (int i = 1; i <= s->grid.n; ++i) {
      const size_t p = grid_at(&s->grid, i, j, k);
      for (int c = 0; c < FIELDS; ++c) {
        s->u[p][c] += s->r[p][c];
      }
      mirror_point(s, i, j, k);
    }
  }
}

/* Lines in z, and the field brought forward, within planes of constant y. */
static void solve_columns(struct workload_thread *me, struct solver *s) {
  const int n = s->grid.n;
  const struct workload_share planes = workload_share(me, n);
  for (int j = planes.first + 1; j <= planes.last; ++j) {
    for (int i = 1; i <= n; ++i) {
      solve_line(s, s->r + grid_at(&s->grid, i, j, 1), s->grid.step[Z]);
      if (!workload_advance(me, (uint32_t)(FIELDS * n), TAG_Z)) {
        return;
      }
    }
    bring_forward(s, j);
  }
}

static void shrink_modes(struct diffusion *d, int steps) {
  for (int m = 0; m < FIELDS; ++m) {
    double sum = 0;
    double product = 1;
    for (int direction = X; direction <= Z; ++direction) {
      const double l = diffusion_eigenvalue(d, m, direction);
      const double e = DIFFUSIVITY * d->conductivity[m] * l + DISSIPATION * l * l;
      sum += e;
      product *= 1 + e;
    }
    d->amplitude[m] *= pow(1 - sum / product, steps);
  }
}

static struct solver make_solver(const struct workload *w, const struct diffusion *d) {
  struct solver s = {.grid = grid_make(w->size->points, HALO)};
  s.u = grid_allocate(w, &s.grid);
  s.r = grid_allocate(w, &s.grid);
  for (int c = 0; c < FIELDS; ++c) {
    s.a[c] = DIFFUSIVITY * d->conductivity[c];
  }
  diffusion_fill(d, &s.grid, s.u);
  for (int k = 1; k <= s.grid.n; ++k) {
    for (int j = 1; j <= s.grid.n; ++j) {
      for (int i = 1; i <= s.grid.n; ++i) {
        mirror_point(&s, i, j, k);
      }
    }
  }
  return s;
}

int main(int argc, char **argv) {
  struct workload w;
  workload_open(&w, &program, argc, argv);
  const int n = w.size->points;
  static struct diffusion d;
  diffusion_init(&d, n, 0, w.seed);
  struct solver s = make_solver(&w, &d);

  const uint64_t rows =
      (uint64_t)3 * FIELDS * (uint64_t)n * (uint64_t)n * (uint64_t)(n / w.threads);
  workload_start(&w, n, (uint64_t)w.size->steps * rows);
#pragma omp parallel num_threads(w.threads)
  {
    struct workload_thread *me = workload_enter(&w);
    for (int step = 0; step < w.size->steps; ++step) {
      solve_planes(me, &s);
#pragma omp barrier
      solve_columns(me, &s);
#pragma omp barrier
    }
  }
  workload_stop(&w);

  shrink_modes(&d, w.size->steps);
  const double error = diffusion_error(&d, &s.grid, s.u);
  free(s.u);
  free(s.r);
  return workload_close(&w, error, 1e-10);
}
