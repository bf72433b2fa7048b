/* SPDX-License-Identifier: BSD-3-Clause */
/* A processor that executes out of order overlaps the rows by itself: the longest chain
 * of dependent cells is n + m, not n m. Four rows at a time keep the cells between them
 * in registers: 50 instead of 63 ns for a call with n = 8 on an AMD Zen 5. Two rows and one
 * take what is left: at n = 3 28 instead of 31 ns (AMD EPYC Zen 4). */
#include "dtw/dtw_sweeps.h"

#include <math.h>

#include "core/size.h"
#include "core/vector.h"

enum { LONGEST = TSN_DTW_TINY_LONGEST, ROWS = 4, CLEARED = 8 };

/* Cells up to which this sweep is the fastest at every level: where others compute by
 * diagonals, without and with penalty; times components, where they compute by strips. On
 * an AMD EPYC Zen 4, with two components at n = 32 it takes as long as strips. */
enum { MOST_CELLS = TSN_DTW_TINY_CELLS, MOST_WITH_PENALTY = 192, MOST_OF_STRIPS = 2048 };

/* Cells times lanes of a level up to which it is faster than vectors so short. In double
 * precision at level v3 (AMD EPYC Zen 3) a whole matrix takes .60 of the time at n = 17,
 * .73 at 20, .9 at 25 and 1.04 at 26; a window of 312 to 396 cells .72 to 1.03, of 440 to
 * 480 1.07 to 1.2; a penalty .85 at n = 17 and 1.04 at 20. */
enum { MOST_OF_WHOLE = 2560, MOST_OF_OTHERS = 1536 };

/* A path, if there is one, has no other cells, at any length. By a band n = 64 takes 3.0
 * times as long, n = 1000 3.3 times (AMD EPYC Zen 3). */
static bool is_diagonal(const tsn_dtw_problem *p) {
  return p->radius == 0 && p->window == TSANOM_DTW_SAKOE_CHIBA &&
         tsn_dtw_problem_is_closed(p);
}

bool tsn_dtw_tiny_suits(const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                        const tsn_dtw_kernels *k) {
  if (o->tails) return false;
  if (o->window == TSANOM_DTW_SAKOE_CHIBA && is_diagonal(p)) return true;
  if (p->n > LONGEST || p->m > LONGEST) return false;
  size_t cells = p->n * tsn_smaller(2 * p->radius + 1, p->m);
  if (o->open_begin_x | o->open_begin_y | o->open_end_x | o->open_end_y ||
      o->dimensions > 1) {
    return o->dimensions <= MOST_OF_STRIPS / cells;
  }
  if (cells <= (o->penalty > 0 ? MOST_WITH_PENALTY : MOST_CELLS)) return true;
  if (!k) k = tsn_dtw_kernels_at(tsanom_isa_best());
  bool whole = p->radius + 1 >= tsn_larger(p->n, p->m) && o->penalty == 0;
  return cells * k->lanes <= (whole ? MOST_OF_WHOLE : MOST_OF_OTHERS);
}

/* Constant in every call; `general`: several components or a penalty. Only `open` ends
 * need infinite cells around a whole matrix. */
typedef struct {
  bool squared, open, general;
} kind;

static inline real least(real a, real b) {
  return a < b ? a : b;
}

#define UNROLL TSN_UNROLL
#define INLINE static inline __attribute__((always_inline))

INLINE real component_cost(kind k, real x, real y) {
  real difference = x - y;
  return k.squared ? difference * difference : (real)fabs((double)difference);
}

/* Of x, of which x0 is the first component, and y. */
INLINE real cost(kind k, const tsanom_dtw_options *o, real x0, const real *x,
                 const real *y) {
  real sum = component_cost(k, x0, *y);
  for (size_t d = 1; k.general && d < o->dimensions; d++) {
    sum += component_cost(k, x[d], y[d]);
  }
  return sum;
}

/* The cell of the same; it follows from those around it. */
INLINE real cell(kind k, const tsanom_dtw_options *o, real x0, const real *x,
                 const real *y, real diagonal, real up, real left) {
  if (k.general) {
    up += (real)o->penalty;
    left += (real)o->penalty;
  }
  return cost(k, o, x0, x, y) + least(least(diagonal, up), left);
}

/* What stands left of column 0 in row i. */
INLINE real left_edge(kind k, const tsn_dtw_problem *p, size_t i) {
  return k.open && i < p->open_begin_x ? 0 : (real)INFINITY;
}

/* Row i. above[j + 1] is the cell of column j in the row above, and then in this row;
 * what the window leaves out is infinite. Returns the cell of the last column. */
INLINE real sweep_row(kind k, const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                      size_t i, const real *x, const real *y, real *above) {
  size_t first, last;
  tsn_dtw_window_row(p, i, &first, &last);
  if (first > p->m) return INFINITY;
  real left = first == 0 ? left_edge(k, p, i) : (real)INFINITY, diagonal = above[first];
  const real *row = x + i * p->stride_x;
  real sample = *row;
  above[first] = left;
  for (size_t j = first; j <= last; j++) {
    real up = above[j + 1];
    left = cell(k, o, sample, row, y + j * p->stride_y, diagonal, up, left);
    diagonal = up;
    above[j + 1] = left;
  }
  return last + 1 == p->m ? left : (real)INFINITY;
}

/* Up to ROWS rows without a window: only the last of them waits for a cell in memory. If
 * the ends are closed, column 0 is entered from above only, and row 0, which is at the
 * `top`, from the left only; nothing else is read there. Returns the last cell: from
 * memory it would arrive later. */
INLINE real sweep_rows(kind k, bool top, const tsn_dtw_problem *p,
                       const tsanom_dtw_options *o, size_t rows, size_t i, const real *x,
                       const real *y, real *above, real *right) {
  real left[ROWS] = {0}, sample[ROWS], diagonal;
  const real *row = x + i * p->stride_x;
  UNROLL
  for (size_t r = 0; r < rows; r++) sample[r] = row[r * p->stride_x];
  if (k.open) {
    diagonal = above[0];
    UNROLL
    for (size_t r = 0; r < rows; r++) left[r] = left_edge(k, p, i + r);
    above[0] = left[rows - 1];
  } else {
    diagonal = top ? (real)INFINITY : above[1];
    UNROLL
    for (size_t r = 0; r < rows; r++) {
      left[r] = component_cost(k, sample[r], *y);
      if (r > 0 || !top) left[r] += r > 0 ? left[r - 1] : diagonal;
    }
    above[1] = left[rows - 1];
  }
  for (size_t j = k.open ? 0 : 1; j < p->m; j++) {
    real up = top ? (real)INFINITY : above[j + 1], corner = diagonal;
    diagonal = up;
    UNROLL
    for (size_t r = 0; r < rows; r++) {
      const real *a = row + r * p->stride_x, *b = y + j * p->stride_y;
      real old = left[r];
      up = left[r] = top && r == 0 ? component_cost(k, sample[r], *b) + old
                                   : cell(k, o, sample[r], a, b, corner, up, old);
      corner = old;
    }
    above[j + 1] = up;
  }
  if (k.open) {
    UNROLL
    for (size_t r = 0; r < rows; r++) right[i + r] = left[r];
  }
  return left[rows - 1];
}

/* Rows i ... n-1 below the cell `end`; returns the last cell. */
INLINE real sweep_rest(kind k, size_t i, real end, const tsn_dtw_problem *p,
                       const tsanom_dtw_options *o, const real *x, const real *y,
                       real *above, real *right) {
  for (; i + ROWS <= p->n; i += ROWS) {
    end = sweep_rows(k, false, p, o, ROWS, i, x, y, above, right);
  }
  if (i + 2 <= p->n) {
    end = sweep_rows(k, false, p, o, 2, i, x, y, above, right);
    i += 2;
  }
  return i < p->n ? sweep_rows(k, false, p, o, 1, i, x, y, above, right) : end;
}

INLINE real sweep_whole(kind k, const real *x, size_t n, const real *y, size_t m) {
  const tsn_dtw_problem p = {.n = n, .m = m, .stride_x = 1, .stride_y = 1};
  size_t rows = n >= ROWS ? ROWS : n >= 2 ? 2 : 1;
  real above[LONGEST + 1], end;
  if (rows == ROWS) {
    end = sweep_rows(k, true, &p, NULL, ROWS, 0, x, y, above, NULL);
  } else if (rows == 2) {
    end = sweep_rows(k, true, &p, NULL, 2, 0, x, y, above, NULL);
  } else {
    end = sweep_rows(k, true, &p, NULL, 1, 0, x, y, above, NULL);
  }
  return sweep_rest(k, rows, end, &p, NULL, x, y, above, NULL);
}

real tsn_dtw_tiny_whole(const real *x, size_t n, const real *y, size_t m, int32_t cost) {
  return cost == TSANOM_COST_SQUARED ? sweep_whole((kind){.squared = true}, x, n, y, m)
                                     : sweep_whole((kind){.squared = false}, x, n, y, m);
}

INLINE real sweep_diagonal(kind k, const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                           const real *x, const real *y) {
  real sum = 0;
  for (size_t i = 0; i < p->n; i++, x += p->stride_x, y += p->stride_y) {
    sum += cost(k, o, *x, x, y);
  }
  return sum;
}

static bool is_whole(const tsn_dtw_problem *p) {
  return p->radius + 1 == tsn_larger(p->n, p->m);
}

INLINE real sweep(kind k, const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                  const real *x, const real *y) {
  if (is_diagonal(p)) return sweep_diagonal(k, p, o, x, y);
  real above[LONGEST + CLEARED], right[LONGEST], best = INFINITY;
  size_t first, last;
  for (size_t j = 0; j <= p->m; j += CLEARED) {
    for (size_t e = 0; e < CLEARED; e++) above[j + e] = INFINITY;
  }
  above[0] = 0;
  if (k.open) {
    tsn_dtw_window_row(p, 0, &first, &last);
    size_t begins = tsn_smaller(p->open_begin_y, last + 1);
    for (size_t j = 1; j <= begins; j++) above[j] = 0;
  }
  if (k.open && is_whole(p)) {
    (void)sweep_rest(k, 0, INFINITY, p, o, x, y, above, right);
  } else {
    for (size_t i = 0; i < p->n; i++) {
      real end = sweep_row(k, p, o, i, x, y, above);
      if (k.open) right[i] = end;
    }
  }
  if (!k.open) return above[p->m];
  for (size_t i = p->n - 1 - p->open_end_x; i < p->n; i++) best = least(best, right[i]);
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  first = tsn_larger(first, p->m - 1 - p->open_end_y);
  for (size_t j = first; j <= last; j++) best = least(best, above[j + 1]);
  return best;
}

/* Apart, so that the usual call needs few registers. */
#define SWEEP(name, ...)                                                                 \
  static __attribute__((noinline)) real name(const tsn_dtw_problem *p,                   \
                                             const tsanom_dtw_options *o, const real *x, \
                                             const real *y) {                            \
    return o->cost == TSANOM_COST_SQUARED                                                \
               ? sweep((kind){.squared = true, __VA_ARGS__}, p, o, x, y)                 \
               : sweep((kind){.squared = false, __VA_ARGS__}, p, o, x, y);               \
  }

SWEEP(sweep_window, .open = false)
SWEEP(sweep_open, .open = true)
SWEEP(sweep_general, .open = true, .general = true)

real tsn_dtw_tiny_run(const tsn_dtw_problem *p, const tsanom_dtw_options *o,
                      const real *x, const real *y) {
  if (o->dimensions > 1 || o->penalty > 0) return sweep_general(p, o, x, y);
  if (!tsn_dtw_problem_is_closed(p)) return sweep_open(p, o, x, y);
  if (!is_whole(p)) return sweep_window(p, o, x, y);
  bool dense = p->stride_x == 1 && p->stride_y == 1;
  return dense ? tsn_dtw_tiny_whole(x, p->n, y, p->m, o->cost) : sweep_open(p, o, x, y);
}
