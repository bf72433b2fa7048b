/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition of DTW, cell by cell, in both precisions. Included once with
 * REAL and NAIVE() set, as double and as float. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/dtw.h>

#ifndef TSANOM_TEST_NAIVE_ONCE
#define TSANOM_TEST_NAIVE_ONCE
static inline size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static inline bool admitted(size_t i, size_t j, size_t n, size_t m,
                            const tsanom_dtw_options *o) {
  if (o->window == TSANOM_DTW_SAKOE_CHIBA) return (i > j ? i - j : j - i) <= o->radius;
  size_t a = i * (m - 1), b = j * (n - 1);
  double reach = (double)o->radius * (double)(least(n, m) - 1);
  return (double)(a > b ? a - b : b - a) <= reach;
}
#endif

/* The matrix D, n+1 by m+1; index 0 is the empty prefix. */
static inline REAL *NAIVE(matrix)(const REAL *x, size_t n, const REAL *y, size_t m,
                                  const tsanom_dtw_options *o) {
  REAL *d = malloc((n + 1) * (m + 1) * sizeof *d);
  size_t w = m + 1, stride = o->stride ? o->stride : o->dimensions;
  REAL penalty = (REAL)o->penalty;
  for (size_t i = 0; i <= n; i++) {
    for (size_t j = 0; j <= m; j++) {
      d[i * w + j] = (i == 0 && j <= o->open_begin_y) || (j == 0 && i <= o->open_begin_x)
                         ? 0
                         : (REAL)INFINITY;
    }
  }
  for (size_t i = 1; i <= n; i++) {
    for (size_t j = 1; j <= m; j++) {
      if (!admitted(i - 1, j - 1, n, m, o)) continue;
      REAL c = 0;
      for (size_t k = 0; k < o->dimensions; k++) {
        REAL e = x[(i - 1) * stride + k] - y[(j - 1) * stride + k];
        c += o->cost == TSANOM_COST_SQUARED ? e * e : (e < 0 ? -e : e);
      }
      REAL best = d[(i - 1) * w + j - 1], up = d[(i - 1) * w + j] + penalty,
           left = d[i * w + j - 1] + penalty;
      if (up < best) best = up;
      if (left < best) best = left;
      d[i * w + j] = c + best;
    }
  }
  return d;
}

/* The cell of the matrix where the path ends: of equal ones that which leaves out fewest
 * samples, of y before of x. */
static inline size_t NAIVE(end)(const REAL *d, size_t n, size_t m,
                                const tsanom_dtw_options *o) {
  size_t w = m + 1, best = n * w + m, most = n > m ? n : m;
  for (size_t k = 1; k < most; k++) {
    size_t of_y = n * w + m - k, of_x = (n - k) * w + m;
    if (k <= least(o->open_end_y, m - 1) && d[of_y] < d[best]) best = of_y;
    if (k <= least(o->open_end_x, n - 1) && d[of_x] < d[best]) best = of_x;
  }
  return best;
}

static inline REAL NAIVE(distance)(const REAL *x, size_t n, const REAL *y, size_t m,
                                   const tsanom_dtw_options *o) {
  REAL *d = NAIVE(matrix)(x, n, y, m, o);
  REAL distance = d[NAIVE(end)(d, n, m, o)];
  free(d);
  return distance;
}

/* The path from its end, ties as documented; returns its length. */
static inline size_t NAIVE(path)(const REAL *x, size_t n, const REAL *y, size_t m,
                                 const tsanom_dtw_options *o, size_t *path) {
  REAL *d = NAIVE(matrix)(x, n, y, m, o);
  REAL penalty = (REAL)o->penalty;
  size_t w = m + 1, at = NAIVE(end)(d, n, m, o), i = at / w, j = at % w, length = 0;
  while (i > 0 && j > 0) {
    memmove(path + 2, path, 2 * length * sizeof *path);
    path[0] = i - 1;
    path[1] = j - 1;
    length++;
    REAL diagonal = d[(i - 1) * w + j - 1], up = d[(i - 1) * w + j] + penalty,
         left = d[i * w + j - 1] + penalty;
    if (diagonal <= up && diagonal <= left) {
      i--, j--;
    } else if (up <= left) {
      i--;
    } else {
      j--;
    }
  }
  free(d);
  return length;
}

#undef REAL
#undef NAIVE
