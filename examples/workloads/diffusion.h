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
    for (int c = 0; c < FIELDS; ++c) y[row] += a[row][c] * x[c];
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

/* What bt and sp share. With a = dt kappa / h^2, b the dissipation and D the second difference,
 * a step solves
 *
 *   (I - a K Dx + b Dx^2)(same in y)(same in z) du = sum of (a K D - b D^2) u,   u += du,
 *
 * line by line in x, y and z. With e = a kappa_m l + b l^2 for the second difference's
 * eigenvalue -l, mode m shrinks by 1 - (ex + ey + ez) / ((1 + ex)(1 + ey)(1 + ez)). */
struct adi {
  struct workload w;
  struct diffusion d;
  struct grid grid;
  point *u;
  point *r;            /* right-hand side, then du */
  uint32_t iterations; /* of a line */
  /* The right-hand side on the plane k of constant z. */
  void (*explicit_part)(const struct adi *s, int k);
  /* Solves a line of the right-hand side in place; `first` is its first point. */
  void (*solve_line)(const struct adi *s, point *first, size_t step);
  /* Beyond the boundary, after u changed on the plane j of constant y; NULL: u is 0 there. */
  void (*reflect)(const struct adi *s, int j);
};

/* Reads the command line, and makes the problem. */
void adi_open(struct adi *s, const struct workload_program *program, int argc,
              char **argv, int halo, int coupled);
void adi_start(struct adi *s);

/* A step without the modes; in a parallel region. */
void adi_step(const struct adi *s, struct workload_thread *me);
void adi_shrink_modes(struct adi *s, double diffusivity, double dissipation);

/* Ends the run; the exit status. */
int adi_close(struct adi *s);

#endif
