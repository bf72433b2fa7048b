/* SPDX-License-Identifier: BSD-3-Clause */
/* The exact solution of the model problem of bt, sp and lu. */
#include "diffusion.h"

#include <math.h>
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
    for (int c = 0; c < FIELDS; ++c) {
      u[c] += mode * d->vector[m][c];
    }
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
      for (int i = 1; i <= g->n; ++i) {
        exact(d, i, j, k, u[grid_at(g, i, j, k)]);
      }
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
