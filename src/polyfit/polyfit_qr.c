/* SPDX-License-Identifier: BSD-3-Clause */
/* Householder QR of a tall matrix by blocks of rows. If A_i = Q_i R_i, then
 *
 *   A = [A_1; A_2; ...]  and  [R_1; R_2; ...]  have the same triangle R.
 *
 * Blocks are factored in parallel; their triangles are merged in order, so that the
 * result does not depend on the number of threads. The right-hand side is one more
 * column: the last column of R is then z = Q^T y.
 *
 * Householder QR costs O(n terms^2), against O(n terms) for the moments, and is used
 * only where the Gram matrix is too ill conditioned (GRAM_CONDITION in polyfit_solve.c):
 * its error grows with the condition number, that of the Gram matrix with its square.
 *
 * Source: J. Demmel, L. Grigori, M. Hoemmen and J. Langou, SIAM J. Sci. Comput. 34 (2012)
 * A206-A239. */
#include "polyfit/polyfit_qr.h"

#ifdef TSN_LAPACK
#include <lapacke.h>
#endif
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/exec.h"
#include "core/parallel.h"

enum {
  /* Entries of a block. dgeqrf of at most 65 columns is unblocked: it calls dgemv and
   * dger on at most 8192 entries. OpenBLAS runs both on the calling thread up to 9216 and
   * 8192 entries (interface/gemv.c, interface/ger.c), so that it opens no parallel region
   * and its sums do not depend on a thread count. tests/contract checks this for all
   * degrees, also in the child of a process that had several threads. */
  BLOCK_ENTRIES = 8192,
  WAVE = 64 /* blocks factored in parallel before their triangles are merged */
};

/* Scratch after a matrix: tau and the workspace of LAPACK. */
static size_t scratch_of(size_t columns) {
  return 2 * columns;
}

static size_t rows_of_block(size_t terms) {
  return BLOCK_ENTRIES / (terms + 1);
}

static int threads_of(int threads) {
  return threads < WAVE ? threads : WAVE;
}

static size_t triangles_of(size_t n, size_t terms) {
  size_t rows = rows_of_block(terms), blocks = n < rows ? 1 : n / rows + 1;
  return blocks < WAVE ? blocks : WAVE;
}

/* A thread's share of the blocks; less than a full block if there are few samples.
 * Monotone in n, as the workspace query must be. */
static size_t block_size(size_t n, size_t terms) {
  size_t rows = n < BLOCK_ENTRIES ? n : BLOCK_ENTRIES;
  size_t entries = rows * (terms + 1);
  return (entries < BLOCK_ENTRIES ? entries : BLOCK_ENTRIES) + scratch_of(terms + 1);
}

size_t tsn_polyfit_qr_scratch(size_t n, size_t terms, int threads) {
  size_t team = (size_t)threads_of(threads), triangles = triangles_of(n, terms) + 2;
  return team * block_size(n, terms) + triangles * terms * (terms + 1) +
         scratch_of(terms + 1);
}

/* Overwrite the rows x (terms + 1) matrix with its triangle. */
#ifdef TSN_LAPACK
static void factor_in_place(double *a, size_t rows, int terms, double *scratch) {
  lapack_int columns = terms + 1, ld = (lapack_int)rows;
  LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, ld, columns, a, ld, scratch, scratch + columns,
                      columns);
}
#else
enum { LANES = 16 }; /* fixed, so that the sum does not depend on the instruction set */

static double dot(const double *x, const double *y, size_t n) {
  double lane[LANES] = {0}, sum = 0;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
  }
  for (size_t half = LANES / 2; half > 0; half /= 2) {
    for (size_t l = 0; l < half; l++) lane[l] += lane[l + half];
  }
  for (; i < n; i++) sum += x[i] * y[i];
  return lane[0] + sum;
}

/* The reflection I - tau v v^T, v = (1, x[1..n-1]), that takes x to (beta, 0, ...):
 * x becomes (beta, v[1..n-1]). The largest entry is taken out of the norm, whose squares
 * could underflow. Returns tau. */
static double reflect(double *x, size_t n) {
  double largest = 0;
  for (size_t i = 1; i < n; i++) largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
  if (largest == 0) return 0;
  largest = fmax(largest, fabs(x[0]));
  int exponent = ilogb(largest) > DBL_MIN_EXP ? ilogb(largest) : DBL_MIN_EXP;
  double unit = ldexp(1, -exponent); /* finite; its products are exact */
  for (size_t i = 0; i < n; i++) x[i] *= unit;
  double beta = -copysign(sqrt(dot(x, x, n)), x[0]), tau = (beta - x[0]) / beta;
  double scale = 1 / (x[0] - beta);
  for (size_t i = 1; i < n; i++) x[i] *= scale;
  x[0] = ldexp(beta, exponent);
  return tau;
}

static void factor_in_place(double *a, size_t rows, int terms, double *scratch) {
  size_t columns = (size_t)terms + 1, least = rows < columns ? rows : columns;
  (void)scratch;
  for (size_t k = 0; k < least; k++) {
    double *v = a + k * rows + k;
    size_t n = rows - k;
    double tau = reflect(v, n);
    for (size_t j = k + 1; tau != 0 && j < columns; j++) {
      double *x = a + j * rows + k;
      double part = tau * (x[0] + dot(v + 1, x + 1, n - 1));
      x[0] -= part;
      for (size_t i = 1; i < n; i++) x[i] -= part * v[i];
    }
  }
}
#endif

/* The first `terms` rows of the triangle in `a`, padded with zeros: a block of fewer rows
 * than columns has a trapezoid. The row below, of the norm of the residual, is not
 * needed. */
static void copy_triangle(const double *a, size_t rows, int terms, double *triangle,
                          size_t ld) {
  for (int j = 0; j <= terms; j++) {
    for (int i = 0; i < terms; i++) {
      int inside = i <= j && (size_t)i < rows;
      triangle[(size_t)i + (size_t)j * ld] = inside ? a[(size_t)i + (size_t)j * rows] : 0;
    }
  }
}

typedef struct {
  const tsn_polyfit_passes *passes;
  double *blocks;    /* per thread: a block of rows, then scratch */
  double *triangles; /* of the blocks of one wave */
  double *stack;     /* the merged triangle, the next one below it, then scratch */
  int terms;
  size_t first; /* block of triangle 0 */
} qr_pass;

static void factor_blocks(void *context, size_t begin, size_t end, int thread) {
  const qr_pass *pass = context;
  const tsn_polyfit_passes *passes = pass->passes;
  const tsn_polyfit_samples *s = &passes->samples;
  size_t terms = (size_t)pass->terms, most = rows_of_block(terms);
  double *a = pass->blocks + (size_t)thread * block_size(s->n, terms);
  for (size_t i = begin; i < end; i++) {
    size_t row = (pass->first + i) * most, left = s->n - row;
    tsn_polyfit_samples block = tsn_polyfit_part(s, row, left < most ? left : most);
    passes->kernels->fill(&passes->map, &block, pass->terms, a, block.n);
    factor_in_place(a, block.n, pass->terms, a + block.n * (terms + 1));
    copy_triangle(a, block.n, pass->terms, pass->triangles + i * terms * (terms + 1),
                  terms);
  }
}

/* Append a triangle to the merged one and factor both: the next merged triangle is in the
 * upper half of the stack. Its reflectors below the diagonal are cleared, because the
 * next factorization reads the whole matrix. */
static void merge(const qr_pass *pass, const double *triangle) {
  size_t terms = (size_t)pass->terms, size = terms * (terms + 1);
  double *stack = pass->stack;
  for (size_t j = 0; j <= terms; j++) {
    memcpy(stack + terms + j * 2 * terms, triangle + j * terms, terms * sizeof *stack);
  }
  factor_in_place(stack, 2 * terms, pass->terms, stack + 2 * size);
  for (size_t j = 0; j <= terms; j++) {
    for (size_t i = j + 1; i < terms; i++) stack[i + j * 2 * terms] = 0;
  }
}

/* Waves of blocks, as in polyfit_solve.c, but merged by factorization. The merged
 * triangle starts as zeros, which contribute nothing. */
tsanom_status tsn_polyfit_qr(const tsn_polyfit_passes *passes, uint64_t done,
                             uint64_t total, int terms, double *scratch, double *r,
                             double *z) {
  size_t columns = (size_t)terms + 1, rows = rows_of_block((size_t)terms);
  size_t n = passes->samples.n, blocks = n / rows + (n % rows != 0);
  double *stack = scratch, *triangles = stack + 2 * (size_t)terms * columns;
  triangles += scratch_of(columns);
  qr_pass pass = {
      .passes = passes,
      .stack = stack,
      .triangles = triangles,
      .blocks = triangles + triangles_of(n, (size_t)terms) * (size_t)terms * columns,
      .terms = terms};
  memset(stack, 0, 2 * (size_t)terms * columns * sizeof(double));
  for (; pass.first < blocks; pass.first += WAVE) {
    size_t left = blocks - pass.first, count = left < WAVE ? left : WAVE;
    if (tsn_exec_stop(passes->exec, done, total)) return TSANOM_STOPPED;
    tsanom_exec exec = *passes->exec;
    exec.poll = NULL;
    tsn_parallel_for(&exec, count, 1, factor_blocks, &pass, NULL);
    for (size_t i = 0; i < count; i++) {
      merge(&pass, triangles + i * (size_t)terms * columns);
    }
  }
  size_t ld = 2 * (size_t)terms;
  for (int j = 0; j < terms; j++) {
    for (int i = 0; i < terms; i++) {
      r[i + j * (ptrdiff_t)terms] = i <= j ? stack[(size_t)i + (size_t)j * ld] : 0;
    }
    z[j] = stack[(size_t)j + (size_t)terms * ld];
  }
  return TSANOM_OK;
}
