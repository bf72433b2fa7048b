/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-tridiagonal ADI in the manner of NPB BT, for the problem of diffusion.h, without
 * dissipation.
 *
 * A line has n block rows of 5 x 5 blocks each. The conductivity kappa swells
 * and ebbs, so the blocks change from step to step. All lines of a step have the
 * same blocks; each is eliminated in full all the same, as BT must, whose blocks
 * hold the flow's Jacobians. */
#include <math.h>
#include <string.h>

#include "diffusion.h"

static const struct workload_program program = {
    .name = "bt",
    .purpose = "Block-tridiagonal ADI for five coupled diffusing fields on a cube",
    .iteration = "the solution of one grid line of 5 x 5 blocks",
    .cycle = 1,
    .sizes = {{10, 4}, {64, 6}, {64, 16}, {80, 80}, {128, 120}}};

static block diagonal; /* I + 2 a K */
static block coupling; /* a K */

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
      if (row == p) continue;
      const double factor = matrix[row][p];
      for (int c = 0; c < FIELDS; ++c) {
        matrix[row][c] -= factor * matrix[p][c];
        columns[row][c] -= factor * columns[p][c];
      }
      right[row] -= factor * right[p];
    }
  }
}

static void solve_line(const struct adi *s, point *first, size_t step) {
  block upper[DIFFUSION_MAX_POINTS]; /* what elimination left of -coupling */
  block matrix;
  for (int i = 0; i < s->grid.n; ++i) {
    double *right = first[(size_t)i * step];
    memcpy(matrix, diagonal, sizeof matrix);
    if (i > 0) {
      multiply_add(coupling, first[(size_t)(i - 1) * step], right);
      for (int row = 0; row < FIELDS; ++row) {
        for (int c = 0; c < FIELDS; ++c) {
          for (int m = 0; m < FIELDS; ++m) {
            matrix[row][c] += coupling[row][m] * upper[i - 1][m][c];
          }
        }
      }
    }
    for (int row = 0; row < FIELDS; ++row) {
      for (int c = 0; c < FIELDS; ++c) upper[i][row][c] = -coupling[row][c];
    }
    eliminate(matrix, upper[i], right);
  }
  for (int i = s->grid.n - 2; i >= 0; --i) {
    double *right = first[(size_t)i * step];
    const double *next = first[(size_t)(i + 1) * step];
    for (int row = 0; row < FIELDS; ++row) {
      for (int c = 0; c < FIELDS; ++c) right[row] -= upper[i][row][c] * next[c];
    }
  }
}

/* r = a K (sum of neighbors - 6 u) on plane k. */
static void explicit_part(const struct adi *s, int k) {
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
      multiply_add(coupling, laplacian, s->r[p]);
    }
  }
}

static void set_blocks(const struct diffusion *d, double a) {
  for (int row = 0; row < FIELDS; ++row) {
    for (int c = 0; c < FIELDS; ++c) {
      coupling[row][c] = a * d->matrix[row][c];
      diagonal[row][c] = (row == c ? 1.0 : 0.0) + 2 * coupling[row][c];
    }
  }
}

int main(int argc, char **argv) {
  static struct adi s = {.explicit_part = explicit_part, .solve_line = solve_line};
  adi_open(&s, &program, argc, argv, 1, 1);
  adi_start(&s);
#pragma omp parallel num_threads(s.w.threads)
  {
    struct workload_thread *me = workload_enter(&s.w);
    for (int step = 0; step < s.w.size.steps; ++step) {
#pragma omp single
      {
        set_blocks(&s.d, diffusivity(step));
        adi_shrink_modes(&s, diffusivity(step), 0);
      }
      adi_step(&s, me);
    }
  }
  return adi_close(&s);
}
