/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar-pentadiagonal ADI in the manner of NPB SP, for the problem of diffusion.h
 * with a diagonal K, as SP has it in characteristic variables, and with the
 * fourth-order dissipation that makes its systems pentadiagonal.
 *
 * Beyond the boundary the field is its own mirror image with the sign turned, which keeps the
 * sines eigenvectors. */
#include <string.h>

#include "diffusion.h"

enum { HALO = 2 };

/* Time step times diffusivity over h^2, and the dissipation. */
#define DIFFUSIVITY 0.4
#define DISSIPATION 0.05

static const struct workload_program program = {
    .name = "sp",
    .purpose = "Scalar-pentadiagonal ADI for five diffusing fields on a cube",
    .iteration = "one row of one scalar system",
    .cycle = 1000,
    .sizes = {{12, 20}, {48, 120}, {48, 400}, {64, 1000}, {96, 1500}}};

static point diffusion; /* a, by field */

/* Eliminates and solves one line of five systems in place. A row is
 * (b, near, diagonal, near, b); the mirror image takes b off the diagonal of
 * the two end rows. */
static void solve_line(const struct adi *s, point *first, size_t step) {
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
      const double near = -(diffusion[c] + 4 * b);
      const double diagonal = 1 + 2 * diffusion[c] + (i == 2 || i == n + 1 ? 5 : 6) * b;
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
static void explicit_part(const struct adi *s, int k) {
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
        s->r[p][c] = diffusion[c] * (near[c] - 6 * centre) -
                     DISSIPATION * (far[c] - 4 * near[c] + 18 * centre);
      }
    }
  }
}

/* The image of u[p] `distance` points further, if that lies beyond the boundary that
 * index i, 1 or n, is next to. */
static void mirror(const struct adi *s, size_t p, int i, size_t step) {
  for (int c = 0; c < FIELDS; ++c) {
    if (i == 1) s->u[p - 2 * step][c] = -s->u[p][c];
    if (i == s->grid.n) s->u[p + 2 * step][c] = -s->u[p][c];
  }
}

/* On the plane j of constant y. */
static void mirror_plane(const struct adi *s, int j) {
  for (int k = 1; k <= s->grid.n; ++k) {
    for (int i = 1; i <= s->grid.n; ++i) {
      const size_t p = grid_at(&s->grid, i, j, k);
      mirror(s, p, i, s->grid.step[X]);
      mirror(s, p, j, s->grid.step[Y]);
      mirror(s, p, k, s->grid.step[Z]);
    }
  }
}

int main(int argc, char **argv) {
  static struct adi s = {
      .explicit_part = explicit_part, .solve_line = solve_line, .reflect = mirror_plane};
  adi_open(&s, &program, argc, argv, HALO, 0);
  s.iterations = (uint32_t)(FIELDS * s.grid.n);
  for (int c = 0; c < FIELDS; ++c) diffusion[c] = DIFFUSIVITY * s.d.conductivity[c];
  for (int j = 1; j <= s.grid.n; ++j) mirror_plane(&s, j);
  adi_start(&s);
#pragma omp parallel num_threads(s.w.threads)
  {
    struct workload_thread *me = workload_enter(&s.w);
    for (int step = 0; step < s.w.size.steps; ++step) adi_step(&s, me);
  }
  for (int step = 0; step < s.w.size.steps; ++step) {
    adi_shrink_modes(&s, DIFFUSIVITY, DISSIPATION);
  }
  return adi_close(&s);
}
