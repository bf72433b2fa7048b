/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-tridiagonal ADI in the manner of NPB BT, for the problem of diffusion.h.
 *
 * A step solves, with a = dt kappa(t) / h^2 and D the second difference,
 *
 *   (I - a K Dx)(I - a K Dy)(I - a K Dz) du = a K (Dx + Dy + Dz) u,   u += du,
 *
 * line by line: n block rows of 5 x 5 blocks each. The conductivity kappa swells
 * and ebbs, so the blocks change from step to step. All lines of a step have the
 * same blocks; each is eliminated in full all the same, as BT must, whose blocks
 * hold the flow's Jacobians. With e = a kappa_m times the second difference's
 * eigenvalues, mode m shrinks by 1 - (ex + ey + ez) / ((1 + ex)(1 + ey)(1 + ez)). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diffusion.h"
#include "workload.h"

enum { TAG_X = 1, TAG_Y = 2, TAG_Z = 3 };

static const struct workload_program program = {
    .name = "bt",
    .purpose = "Block-tridiagonal ADI for five coupled diffusing fields on a cube",
    .iteration = "the solution of one grid line of 5 x 5 blocks",
    .cycle = 1,
    .sizes = {{"tiny", 10, 4},
              {"short", 64, 6},
              {"small", 64, 16},
              {"medium", 80, 80},
              {"large", 128, 120}}};

struct solver {
  struct grid grid;
  point *u;
  point *r;       /* right-hand side, then du */
  block diagonal; /* I + 2 a K */
  block coupling; /* a K */
};

static double diffusivity(int step) {
  return 0.25 * (1.5 + sin(0.3 * step));
}

/* Gaussian elimination of matrix [columns | right] in place; the matrix is positive
 * definite and needs no pivots. */
static void eliminate(block matrix, block columns, point right) {
  for (int p = 0; p < FIELDS; ++p) {
    const double inverse = 1 / matrix[p][p];
    for (int c = 0; c < FIELDS; ++c) {
      matrix[p][c] *= inverse;
      columns[p][c] *= inverse;
    }
    right[p] *= inverse;
    for (int row = 0; row < FIELDS; ++row) {
      if (row == p) {
        continue;
      }
      const double factor = matrix[row][p];
      for (int c = 0; c < FIELDS; ++c) {
        matrix[row][c] -= factor * matrix[p][c];
        columns[row][c] -= factor * columns[p][c];
      }
      right[row] -= factor * right[p];
    }
  }
}

/* Solves one line of the right-hand side in place; `first` is its first point. */
static void solve_line(struct solver *s, point *first, size_t step) {
  block upper[DIFFUSION_MAX_POINTS]; /* what elimination left of -coupling */
  block matrix;
  for (int i = 0; i < s->grid.n; ++i) {
    double *right = first[(size_t)i * step];
    memcpy(matrix, s->diagonal, sizeof matrix);
    if (i > 0) {
      multiply_add(s->coupling, first[(size_t)(i - 1) * step], right);
      for (int row = 0; row < FIELDS; ++row) {
        for (int c = 0; c < FIELDS; ++c) {
          for (int m = 0; m < FIELDS; ++m) {
            matrix[row][c] += s->coupling[row][m] * upper[i - 1][m][c];
          }
        }
      }
    }
    for (int row = 0; row < FIELDS; ++row) {
      for (int c = 0; c < FIELDS; ++c) {
        upper[i][row][c] = -s->coupling[row][c];
      }
    }
    eliminate(matrix, upper[i], right);
  }
  for (int i = s->grid.n - 2; i >= 0; --i) {
    double *right = first[(size_t)i * step];
    const double *next = first[(size_t)(i + 1) * step];
    for (int row = 0; row < FIELDS; ++row) {
      for (int c = 0; c < FIELDS; ++c) {
        right[row] -= upper[i][row][c] * next[c];
      }
    }
  }
}

/* r = a K (sum of neighbors - 6 u) on plane k. */
static void explicit_part(struct solver *s, int k) {
  for (int j = 1; j <= s->grid.n; ++j) {
    for (int i = 1; i <= s->grid.n; ++i) {
      const size_t p = grid_at(&s->grid, i, j, k);
      point laplacian;
      for (int c = 0; c < FIELDS; ++c) {
        laplacian[c] = -6 * s->u[p][c];
        for (int direction = X; direction <= Z; ++direction) {
          laplacian[c] +=
              s->u[p - s->grid.step[direction]][c] + s->u[p + s->grid.step[direction]][c];
        }
      }
      memset(s->r[p], 0, sizeof(point));
      multiply_add(s->coupling, laplacian, s->r[p]);
    }
  }
}

/* Lines in x and y lie within planes of constant z. */
static void solve_planes(struct workload_thread *me, struct solver *s) {
  const struct workload_share planes = workload_share(me, s->grid.n);
  for (int k = planes.first + 1; k <= planes.last; ++k) {
    explicit_part(s, k);
    for (int j = 1; j <= s->grid.n; ++j) {
      solve_line(s, s->r + grid_at(&s->grid, 1, j, k), s->grid.step[X]);
      if (!workload_advance(me, 1, TAG_X)) {
        return;
      }
    }
    for (int i = 1; i <= s->grid.n; ++i) {
      solve_line(s, s->r + grid_at(&s->grid, i, 1, k), s->grid.step[Y]);
      if (!workload_advance(me, 1, TAG_Y)) {
        return;
      }
    }
  }
}

/* Lines in z, and the field brought forward, within planes of constant y. */
static void solve_columns(struct workload_thread *me, struct solver *s) {
  const struct workload_share planes = workload_share(me, s->grid.n);
  for (int j = planes.first + 1; j <= planes.last; ++j) {
    for (int i = 1; i <= s->grid.n; ++i) {
      solve_line(s, s->r + grid_at(&s->grid, i, j, 1), s->grid.step[Z]);
      if (!workload_advance(me, 1, TAG_Z)) {
        return;
      }
    }
    for (int k = 1; k <= s->grid.n; ++k) {
      for (int i = 1; i <= s->grid.n; ++i) {
        const size_t p = grid_at(&s->grid, i, j, k);
        for (int c = 0; c < FIELDS; ++c) {
          s->u[p][c] += s->r[p][c];
        }
      }
    }
  }
}

static void set_blocks(struct solver *s, const struct diffusion *d, double a) {
  for (int row = 0; row < FIELDS; ++row) {
    for (int c = 0; c < FIELDS; ++c) {
      s->coupling[row][c] = a * d->matrix[row][c];
      s->diagonal[row][c] = (row == c ? 1.0 : 0.0) + 2 * s->coupling[row][c];
    }
  }
}

static void shrink_modes(struct diffusion *d, double a) {
  for (int m = 0; m < FIELDS; ++m) {
    double sum = 0;
    double product = 1;
    for (int direction = X; direction <= Z; ++direction) {
      const double e = a * d->conductivity[m] * diffusion_eigenvalue(d, m, direction);
      sum += e;
      product *= 1 + e;
    }
    d->amplitude[m] *= 1 - sum / product;
  }
}

int main(int argc, char **argv) {
  struct workload w;
  workload_open(&w, &program, argc, argv);
  const int n = w.size->points;
  static struct diffusion d;
  diffusion_init(&d, n, 1, w.seed);
  struct solver s = {.grid = grid_make(n, 1)};
  s.u = grid_allocate(&w, &s.grid);
  s.r = grid_allocate(&w, &s.grid);
  diffusion_fill(&d, &s.grid, s.u);

  const uint64_t lines = 3 * (uint64_t)(n / w.threads) * (uint64_t)n;
  workload_start(&w, n, (uint64_t)w.size->steps * lines);
#pragma omp parallel num_threads(w.threads)
  {
    struct workload_thread *me = workload_enter(&w);
    for (int step = 0; step < w.size->steps; ++step) {
#pragma omp single
      {
        set_blocks(&s, &d, diffusivity(step));
        shrink_modes(&d, diffusivity(step));
      }
      solve_planes(me, &s);
#pragma omp barrier
      solve_columns(me, &s);
#pragma omp barrier
    }
  }
  workload_stop(&w);

  const double error = diffusion_error(&d, &s.grid, s.u);
  free(s.u);
  free(s.r);
  return workload_close(&w, error, 1e-10);
}
