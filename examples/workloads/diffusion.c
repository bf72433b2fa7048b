/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact solution of the model problem of bt, sp and lu, and what the steps of bt and sp share. */
#include "diffusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A random orthogonal basis: the identity reflected at a random plane. */
static void choose_basis(struct diffusion *d, int coupled, uint64_t *state) {
  double normal[FIELDS];
  double square = 0;
  for (int c = 0; c < FIELDS; ++c) {
    normal[c] = workload_uniform(state, 0.2, 1);
    square += normal[c] * normal[c];
  }
  for (int m = 0; m < FIELDS; ++m) {
    for (int c = 0; c < FIELDS; ++c) {
      const double reflection = coupled ? 2 * normal[m] * normal[c] / square : 0;
      d->vector[m][c] = (m == c ? 1.0 : 0.0) - reflection;
    }
  }
}

void diffusion_init(struct diffusion *d, int n, int coupled, uint64_t seed) {
  memset(d, 0, sizeof *d);
  d->n = n;
  choose_basis(d, coupled, &seed);
  for (int m = 0; m < FIELDS; ++m) {
    d->amplitude[m] = 1;
    d->conductivity[m] = workload_uniform(&seed, 0.5, 1);
    for (int direction = X; direction <= Z; ++direction) {
      const int wave = 1 + (int)(workload_random(&seed) % 3);
      d->wave[m][direction] = wave;
      for (int i = 0; i < n + 2; ++i) {
        d->sine[m][direction][i] = sin(wave * M_PI * i / (n + 1));
      }
    }
  }
  for (int m = 0; m < FIELDS; ++m) {
    for (int row = 0; row < FIELDS; ++row) {
      for (int column = 0; column < FIELDS; ++column) {
        d->matrix[row][column] +=
            d->conductivity[m] * d->vector[m][row] * d->vector[m][column];
      }
    }
  }
}

double diffusion_eigenvalue(const struct diffusion *d, int mode, int direction) {
  const double s = sin(d->wave[mode][direction] * M_PI / (2.0 * (d->n + 1)));
  return 4 * s * s;
}

static void exact(const struct diffusion *d, int i, int j, int k, point u) {
  memset(u, 0, sizeof(point));
  for (int m = 0; m < FIELDS; ++m) {
    const double mode =
        d->amplitude[m] * d->sine[m][X][i] * d->sine[m][Y][j] * d->sine[m][Z][k];
    for (int c = 0; c < FIELDS; ++c) u[c] += mode * d->vector[m][c];
  }
}

struct grid grid_make(int n, int halo) {
  const size_t edge = (size_t)n + 2 * (size_t)halo;
  return (struct grid){.n = n, .halo = halo, .step = {1, edge, edge * edge}};
}

point *grid_allocate(const struct workload *w, const struct grid *g) {
  return workload_allocate(w, g->step[Y] * g->step[Z], sizeof(point));
}

void diffusion_fill(const struct diffusion *d, const struct grid *g, point *u) {
#pragma omp parallel for
  for (int k = 1; k <= g->n; ++k) {
    for (int j = 1; j <= g->n; ++j) {
      for (int i = 1; i <= g->n; ++i) exact(d, i, j, k, u[grid_at(g, i, j, k)]);
    }
  }
}

double diffusion_error(const struct diffusion *d, const struct grid *g, point *u) {
  double error = 0;
#pragma omp parallel for reduction(worse : error)
  for (int k = 1; k <= g->n; ++k) {
    for (int j = 1; j <= g->n; ++j) {
      for (int i = 1; i <= g->n; ++i) {
        const double *value = u[grid_at(g, i, j, k)];
        point known;
        exact(d, i, j, k, known);
        for (int c = 0; c < FIELDS; ++c) {
          error = workload_worse(error, fabs(value[c] - known[c]));
        }
      }
    }
  }
  return error;
}

void adi_open(struct adi *s, const struct workload_program *program, int argc,
              char **argv, int halo, int coupled) {
  workload_open(&s->w, program, argc, argv);
  const int n = s->w.size.points;
  diffusion_init(&s->d, n, coupled, s->w.seed);
  s->grid = grid_make(n, halo);
  s->u = grid_allocate(&s->w, &s->grid);
  s->r = grid_allocate(&s->w, &s->grid);
  s->iterations = 1;
  diffusion_fill(&s->d, &s->grid, s->u);
}

void adi_start(struct adi *s) {
  const uint64_t n = (uint64_t)s->grid.n, planes = n / (uint64_t)s->w.threads;
  workload_start(&s->w, s->grid.n,
                 (uint64_t)s->w.size.steps * 3 * planes * n * s->iterations);
}

/* Lines in x and y lie within planes of constant z. */
static void solve_planes(const struct adi *s, struct workload_thread *me) {
  const struct workload_share planes = workload_share(me, s->grid.n);
  for (int k = planes.first + 1; k <= planes.last; ++k) {
    s->explicit_part(s, k);
    for (int j = 1; j <= s->grid.n; ++j) {
      s->solve_line(s, s->r + grid_at(&s->grid, 1, j, k), s->grid.step[X]);
      if (!workload_advance(me, s->iterations, X + 1)) return;
    }
    for (int i = 1; i <= s->grid.n; ++i) {
      s->solve_line(s, s->r + grid_at(&s->grid, i, 1, k), s->grid.step[Y]);
      if (!workload_advance(me, s->iterations, Y + 1)) return;
    }
  }
}

/* u += du on the plane j of constant y. */
static void bring_forward(const struct adi *s, int j) {
  for (int k = 1; k <= s->grid.n; ++k) {
    for (int i = 1; i <= s->grid.n; ++i) {
      const size_t p = grid_at(&s->grid, i, j, k);
      for (int c = 0; c < FIELDS; ++c) s->u[p][c] += s->r[p][c];
    }
  }
  if (s->reflect) s->reflect(s, j);
}

/* Lines in z, and the field brought forward, within planes of constant y. */
static void solve_columns(const struct adi *s, struct workload_thread *me) {
  const struct workload_share planes = workload_share(me, s->grid.n);
  for (int j = planes.first + 1; j <= planes.last; ++j) {
    for (int i = 1; i <= s->grid.n; ++i) {
      s->solve_line(s, s->r + grid_at(&s->grid, i, j, 1), s->grid.step[Z]);
      if (!workload_advance(me, s->iterations, Z + 1)) return;
    }
    bring_forward(s, j);
  }
}

void adi_step(const struct adi *s, struct workload_thread *me) {
  solve_planes(s, me);
#pragma omp barrier
  solve_columns(s, me);
#pragma omp barrier
}

void adi_shrink_modes(struct adi *s, double diffusivity, double dissipation) {
  for (int m = 0; m < FIELDS; ++m) {
    double sum = 0;
    double product = 1;
    for (int direction = X; direction <= Z; ++direction) {
      const double l = diffusion_eigenvalue(&s->d, m, direction);
      const double e = diffusivity * s->d.conductivity[m] * l + dissipation * l * l;
      sum += e;
      product *= 1 + e;
    }
    s->d.amplitude[m] *= 1 - sum / product;
  }
}

int adi_close(struct adi *s) {
  workload_stop(&s->w);
  const double error = diffusion_error(&s->d, &s->grid, s->u);
  free(s->u);
  free(s->r);
  return workload_close(&s->w, error, 1e-10);
}
