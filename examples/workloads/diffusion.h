/* SPDX-License-Identifier: BSD-3-Clause */
/* The model problem of bt, sp and lu: five coupled fields diffuse on the unit cube
 *
 *   du/dt = K (d2u/dx2 + d2u/dy2 + d2u/dz2),   u = 0 on the boundary,
 *
 * with a 5 x 5 symmetric positive definite K. On the grid, an eigenvector of K
 * times sin(p pi x) sin(q pi y) sin(r pi z) stays what it is and only shrinks, in
 * each step by a factor that is known for each of the three methods; so the
 * computed field is known exactly after any number of steps. */
#ifndef DIFFUSION_H
#define DIFFUSION_H

#include <stddef.h>
#include <stdint.h>

#include "workload.h"

enum { FIELDS = 5, DIFFUSION_MAX_POINTS = 160, X = 0, Y = 1, Z = 2 };

struct diffusion {
  int n;                         /* interior points along an edge */
  double conductivity[FIELDS];   /* eigenvalues of K */
  double vector[FIELDS][FIELDS]; /* eigenvectors of K: vector[m] belongs to m */
  double matrix[FIELDS][FIELDS]; /* K */
  int wave[FIELDS][3];           /* p, q, r of each mode */
  double amplitude[FIELDS];      /* of each mode now; starts at 1 */
  double sine[FIELDS][3][DIFFUSION_MAX_POINTS + 2];
};

typedef double point[FIELDS];
typedef double block[FIELDS][FIELDS];

/* n^3 points and a halo around them, x fastest; interior indices run from 1 to n. */
struct grid {
  int n;
  int halo;
  size_t step[3]; /* to the next point in x, y, z */
};

static inline size_t grid_at(const struct grid *g, int i, int j, int k) {
  const int shift = g->halo - 1;
  return (size_t)(i + shift) + (size_t)(j + shift) * g->step[Y] +
         (size_t)(k + shift) * g->step[Z];
}

struct grid grid_make(int n, int halo);

/* A field of zeros on the grid; leave with free(). */
point *grid_allocate(const struct workload *w, const struct grid *g);

/* y += a x */
static inline void multiply_add(block a, const point x, point y) {
  for (int row = 0; row < FIELDS; ++row) {
    for (int c = 0; c < FIELDS; ++c) {
      y[row] += a[row][c] * x[c];
    }
  }
}

/* n interior points along an edge; `coupled` = 0 makes K diagonal. */
void diffusion_init(struct diffusion *d, int n, int coupled, uint64_t seed);

/* Minus the second difference of a mode along a direction is this times the mode,
 * in units of the grid: 4 sin^2(p pi h / 2). */
double diffusion_eigenvalue(const struct diffusion *d, int mode, int direction);

/* Writes the exact field to the interior points. */
void diffusion_fill(const struct diffusion *d, const struct grid *g, point *u);

/* The largest difference between u and the exact field. */
double diffusion_error(const struct diffusion *d, const struct grid *g, point *u);

#endif
