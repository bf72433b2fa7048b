/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane is a series, so lanes need nothing of each other; with 16 bits a vector holds
 * four times as many as in double precision, and each operation takes one cycle:
 *
 *   D(i,j) = cost(x_i, y_j) + min{ D(i-1,j-1), D(i-1,j), D(i,j-1), CAP }
 *
 * CAP keeps sums within the type. In one row each cell waits for the one to its left, a
 * minimum and a sum: 4 cycles on a Zen 5. Four rows are computed together, column by
 * column, so that the four pipes have 4 cells to compute in that time, and the rows
 * between them stay in registers. At both ends of a window some of the rows have no cell:
 *
 *   row i      # # # #            column: the rows from ... to-1 of four
 *   row i+1      # # # #
 *   row i+2        # # # #
 *   row i+3          # # # # */
#include "search/coarse.h"

#include "core/vector.h"

enum {
  VECTOR = TSN_VECTOR_BYTES / 2,
  CAP = INT16_MAX - TSN_COARSE_LARGEST,
  TOGETHER = 4 /* rows */
};

#define UNROLL _Pragma("GCC unroll 4")

typedef tsn_i16 vec;

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS vec load(const int16_t *from) {
  return *(const vec *)from;
}

ALWAYS void store(int16_t *to, vec v) {
  *(vec *)to = v;
}

ALWAYS vec all(int16_t value) {
  return value - (vec){0};
}

/* The upper half of the square of each lane. */
ALWAYS vec square_of(vec d) {
#if defined(__x86_64__)
  return (vec)TSN_X86(mulhi, epi16)(TSN_X86_INTEGERS(d), TSN_X86_INTEGERS(d));
#else
  for (unsigned k = 0; k < VECTOR; k++) d[k] = (int16_t)((int32_t)d[k] * d[k] >> 16);
  return d;
#endif
}

ALWAYS vec absolute_of(vec d) {
#if defined(__AVX2__)
  return (vec)TSN_X86(abs, epi16)(TSN_X86_INTEGERS(d));
#else
  return tsn_max_i16(d, -d);
#endif
}

ALWAYS vec cost_of(vec x, vec y, bool squared) {
  return squared ? square_of(x - y) : absolute_of(x - y);
}

ALWAYS vec cell_of(vec x, const int16_t *column, vec diagonal, vec above, vec left,
                   bool squared) {
  vec best = tsn_min_i16(tsn_min_i16(diagonal, above), all(CAP));
  return cost_of(x, load(column), squared) + tsn_min_i16(best, left);
}

/* The window of a row. */
ALWAYS size_t first_of(const tsn_coarse_matrix *m, size_t i) {
  return i > m->radius ? i - m->radius : 0;
}

ALWAYS size_t last_of(const tsn_coarse_matrix *m, size_t i) {
  return m->n - 1 - i > m->radius ? i + m->radius : m->n - 1;
}

/* The diagonal predecessor of the first cell of row i. Column -1 is outside, but for the
 * empty path before row 0. */
ALWAYS vec before_first(const tsn_coarse_matrix *m, size_t i, const int16_t *row) {
  size_t first = first_of(m, i);
  if (first > 0) return load(row + (first - 1) * TSN_COARSE_LANES);
  return all(i == 0 ? 0 : INT16_MAX);
}

/* Rows in progress. */
typedef struct {
  vec x[TOGETHER], left[TOGETHER], diagonal[TOGETHER];
} block;

/* A column of `depth` rows, of which rows from ... to-1 have cells. */
ALWAYS void column(block *b, const int16_t *y, int16_t *row, size_t depth, size_t from,
                   size_t to, bool squared) {
  vec above = load(row);
  UNROLL
  for (size_t u = 0; u < depth; u++) {
    vec cell = all(INT16_MAX);
    if (u >= from && u < to) {
      cell = cell_of(b->x[u], y, b->diagonal[u], above, b->left[u], squared);
    }
    b->diagonal[u] = above;
    b->left[u] = above = cell;
  }
  store(row, above);
}

/* Rows i ... i + depth - 1. */
ALWAYS void sweep(const tsn_coarse_matrix *m, size_t i, size_t depth, size_t lane,
                  bool squared) {
  const int16_t *y = m->columns + lane;
  int16_t *row = m->row + lane;
  block b;
  UNROLL
  for (size_t u = 0; u < depth; u++) {
    b.x[u] = all(m->query[i + u]);
    b.left[u] = b.diagonal[u] = all(INT16_MAX);
  }
  b.diagonal[0] = before_first(m, i, row);
  size_t begun = first_of(m, i + depth - 1), ending = last_of(m, i) + 1;
  for (size_t j = first_of(m, i), end = last_of(m, i + depth - 1) + 1; j < end; j++) {
    for (; j >= begun && j < ending; j++) {
      column(&b, y + j * TSN_COARSE_LANES, row + j * TSN_COARSE_LANES, depth, 0, depth,
             squared);
    }
    if (j >= end) break;
    size_t from = j > i + m->radius ? j - i - m->radius : 0, to = j + m->radius + 1 - i;
    column(&b, y + j * TSN_COARSE_LANES, row + j * TSN_COARSE_LANES, depth, from, to,
           squared);
  }
}

/* Subtract the least cell of row i from its cells. */
ALWAYS void rebase(const tsn_coarse_matrix *m, size_t i, size_t lane) {
  int16_t *row = m->row + lane;
  size_t first = first_of(m, i), last = last_of(m, i);
  vec least = load(row + first * TSN_COARSE_LANES);
  for (size_t j = first; j <= last; j++) {
    least = tsn_min_i16(least, load(row + j * TSN_COARSE_LANES));
  }
  for (size_t j = first; j <= last; j++) {
    int16_t *cell = row + j * TSN_COARSE_LANES;
    store(cell, load(cell) - least);
  }
  for (size_t k = 0; k < VECTOR; k++) m->base[lane + k] += least[k];
}

ALWAYS void rows(const tsn_coarse_matrix *m, size_t begin, size_t end, bool squared) {
  for (size_t lane = 0; lane < TSN_COARSE_LANES; lane += VECTOR) {
    size_t i = begin;
    for (; i + TOGETHER <= end; i += TOGETHER) sweep(m, i, TOGETHER, lane, squared);
    for (; i < end; i++) sweep(m, i, 1, lane, squared);
    rebase(m, end - 1, lane);
  }
}

static void rows_absolute(const tsn_coarse_matrix *m, size_t begin, size_t end) {
  rows(m, begin, end, false);
}

static void rows_squared(const tsn_coarse_matrix *m, size_t begin, size_t end) {
  rows(m, begin, end, true);
}

/* A sample below the grid becomes 0, one above it `top`: no difference grows. */
static void to_grid(const double *x, size_t n, const tsn_coarse_grid *grid, int16_t *to) {
  double low = grid->low, scale = grid->scale, top = grid->top;
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    double value = (x[i] - low) * scale;
    value = value > 0 ? value : 0;
    to[i] = (int16_t)(int32_t)(value < top ? value : top);
  }
}

typedef int16_t eight __attribute__((vector_size(16)));

/* Elements of a and b in turn: of their first halves, and of the second ones. */
#define LOW(a, b) TSN_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) TSN_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

/* Three times each row takes turns with the row four below it: bits of the row's number
 * become bits of the column's, and the matrix of 8 x 8 is transposed. */
static void transpose(const int16_t *rows, size_t padded, int16_t *columns) {
  for (size_t j = 0; j < padded; j += 8) {
    eight a[8], b[8];
    for (size_t k = 0; k < 8; k++) a[k] = *(const eight *)(rows + k * padded + j);
    for (size_t k = 0; k < 4; k++) {
      b[2 * k] = LOW(a[k], a[k + 4]);
      b[2 * k + 1] = HIGH(a[k], a[k + 4]);
    }
    for (size_t k = 0; k < 4; k++) {
      a[2 * k] = LOW(b[k], b[k + 4]);
      a[2 * k + 1] = HIGH(b[k], b[k + 4]);
    }
    for (size_t k = 0; k < 4; k++) {
      b[2 * k] = LOW(a[k], a[k + 4]);
      b[2 * k + 1] = HIGH(a[k], a[k + 4]);
    }
    for (size_t k = 0; k < 8; k++) {
      *(eight *)(columns + (j + k) * TSN_COARSE_LANES) = b[k];
    }
  }
}

const tsn_coarse_kernels TSN_LEVEL(tsn_coarse_kernels) = {
    .round = to_grid, .transpose = transpose, .rows = {rows_absolute, rows_squared}};
