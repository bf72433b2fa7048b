/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope by rows of a vector; part of envelope_kernel.c.
 *
 * The series, continued to both sides by its first and last sample, is seen as rows of
 * LANES samples, laid out so that the rows of the result are whole vectors in memory:
 *
 *   row 0   x x x a b c d e      x = a: continued
 *   row 1   f g h i j k l m      a window of 2r+1 samples from g on: the rest of row 1,
 *   row 2   n o p q r s t u      whole rows, and a remainder
 *
 * 1. Along the rows: the extremes of the LANES samples from each sample of a row on, a
 *    row window, take LANES / 2 loads and one step across the row.
 * 2. Down the columns: a window is `rows` row windows and a remainder. The extremum of
 *    `rows` row windows comes from the algorithm of M. van Herk (Pattern Recognition
 *    Letters 13 (1992) 517-521) and of J. Gil and M. Werman (IEEE Trans. PAMI 15 (1993)
 *    504-507): cut the rows into blocks of `rows`; each window is the end of one
 *    block and the beginning of the next. The end is taken from the row windows as
 *    they are, the beginning from those that start a remainder later; together they
 *    are the window.
 *
 * Nothing but the remainder crosses a column, so the columns are the lanes of a vector.
 * L/2 + 3.5 minima and as many maxima per L = LANES samples, for any window in blocks, no
 * branch that depends on the data, one pass over the series. A monotone queue (D. Lemire,
 * Nordic J. Computing 13 (2006) 328-339) needs at most three comparisons a sample, but
 * its branches follow the data: 13 to 18 ns a sample of a million against 1.05 here
 * (doubles, Xeon, level v4).
 *
 * Continuing the series by its ends adds nothing to a window that is cut there, because
 * such a window holds the end sample. */

enum { LANES = TSN_VECTOR_BYTES / sizeof(real) };

/* The two extremes of the same samples. */
typedef struct {
  row low, high;
} extremes;

/* Extremes of the samples of both. */
static inline extremes join(extremes a, extremes b) {
  return (extremes){row_min(a.low, b.low), row_max(a.high, b.high)};
}

static inline extremes load(const real *low, const real *high) {
  return (extremes){*(const row_at *)low, *(const row_at *)high};
}

static inline void store(real *low, real *high, extremes e) {
  *(row_at *)low = e.low;
  *(row_at *)high = e.high;
}

/* x - x is 0 for every finite x and NaN otherwise. From the end on, so that the
 * beginning is in the cache when the envelope begins there. */
static bool all_finite(const real *x, size_t n) {
  enum { CHAINS = 4 };
  real lane[CHAINS * LANES] = {0}, sum = 0;
  size_t i = n;
  for (; i >= CHAINS * LANES; i -= CHAINS * LANES) {
    const real *last = x + i - CHAINS * LANES;
#pragma omp simd
    for (size_t k = 0; k < CHAINS * LANES; k++) lane[k] += last[k] - last[k];
  }
  while (i-- > 0) sum += x[i] - x[i];
  for (size_t k = 0; k < CHAINS * LANES; k++) sum += lane[k];
  return sum == 0;
}

/* The continued series; its sample 0 is x[-before]. */
typedef struct {
  const real *x;
  size_t n, before;
} series;

static void fill(real *to, size_t count, real value) {
  for (size_t k = 0; k < count; k++) to[k] = value;
}

/* `count` continued samples from `first` on, in `made`. */
static const real *make(const series *s, size_t first, size_t count, real *made) {
  size_t end = s->before + s->n;
  size_t left = first < s->before ? s->before - first : 0;
  if (left > count) left = count;
  size_t own = first + left < end ? end - first - left : 0;
  if (own > count - left) own = count - left;
  fill(made, left, s->x[0]);
  if (own > 0) memcpy(made + left, s->x + (first + left - s->before), own * sizeof *made);
  fill(made + left + own, count - left - own, s->x[s->n - 1]);
  return made;
}

/* The same in place if none is made up. */
static inline const real *samples(const series *s, size_t first, size_t count,
                                  real *made) {
  bool own = first >= s->before && first + count <= s->before + s->n;
  return own ? s->x + (first - s->before) : make(s, first, count, made);
}

/* Samples that `rows` rows look at: their own, and nearly two rows beyond them. */
#define SAMPLES(rows) (((rows) + 2) * LANES - 1)

/* Extremes of `length` samples from each of a row on. Inlined by force, since most calls
 * have a constant length: out of line, level base takes up to twice as long. */
static inline __attribute__((always_inline)) extremes short_windows(const real *x,
                                                                    size_t length) {
  row first = *(const row_at *)x;
  extremes e = {first, first};
  for (size_t j = 1; j < length; j++) {
    row next = *(const row_at *)(x + j);
    TSN_IN_REGISTER(next);
    e = join(e, (extremes){next, next});
  }
  return e;
}

static inline extremes half_windows(const real *x) {
  return short_windows(x, LANES / 2);
}

/* Extremes of LANES samples from each of a row on, from those of the half of it
 * and the half of the row that follows. */
static inline extremes row_windows(extremes half, extremes next) {
  extremes other = {row_middle(half.low, next.low), row_middle(half.high, next.high)};
  return join(half, other);
}

/* From sample `by` of a row on, `next` being the row that follows. */
static inline extremes slide(extremes e, extremes next, size_t by) {
  return (extremes){row_slide(e.low, next.low, by), row_slide(e.high, next.high, by)};
}

/* Where the envelope goes. */
typedef struct {
  real *lower, *upper;
  size_t count;
} output;

/* A sum with +0 leaves everything but -0, which becomes +0: which of two equal
 * zeros a minimum took may depend on the level. */
static inline void put(real *lower, real *upper, extremes e) {
  store(lower, upper, (extremes){e.low + 0, e.high + 0});
}

/* Makes `rows` rows of the envelope from continued samples. What it remembers of
 * the rows before is in its state. */
typedef void pass_function(void *state, const real *x, size_t rows, real *lower,
                           real *upper);

/* How many rows of the series from row `k` on look at its own samples only, or
 * else may look at samples that are made up. */
static size_t own_rows(const series *s, size_t k) {
  size_t first = (s->before + LANES - 1) / LANES, end = (s->before + s->n + 1) / LANES;
  if (k >= first && k + 2 < end) return end - 2 - k;
  return k < first && first - k < MADE_ROWS ? first - k : MADE_ROWS;
}

/* The last row, of which some lanes lie beyond the output. */
static inline void part_row(pass_function *pass, void *state, const real *x,
                            const output *out, size_t k) {
  real lower[LANES], upper[LANES];
  pass(state, x, 1, lower, upper);
  size_t at = k * LANES, bytes = (out->count - at) * sizeof(real);
  memcpy(out->lower + at, lower, bytes);
  memcpy(out->upper + at, upper, bytes);
}

/* All rows of the envelope; row k looks at the series from its row k + ahead on. */
static void sweep(const series *s, size_t ahead, const output *out, size_t count,
                  pass_function *pass, void *state) {
  real made[SAMPLES(MADE_ROWS)];
  size_t whole = out->count / LANES;
  for (size_t k = 0, rows; k < count; k += rows) {
    size_t own = own_rows(s, k + ahead);
    rows = k == whole ? 1 : whole - k < own ? whole - k : own;
    const real *x = samples(s, (k + ahead) * LANES, SAMPLES(rows), made);
    if (k == whole) {
      part_row(pass, state, x, out, k);
    } else {
      pass(state, x, rows, out->lower + k * LANES, out->upper + k * LANES);
    }
  }
}

#include "lbkeogh/envelope_blocks.h"
#include "lbkeogh/envelope_narrow.h"

/* Selects the form by the length of the window; see envelope_kernel.c. */
static void envelope(const real *x, size_t n, size_t radius, size_t count, real *lowest,
                     real *highest, real *lower, real *upper) {
  size_t window = 2 * radius + 1;
  output out = {.lower = lower, .upper = upper, .count = count};
  series s = {.x = x, .n = n, .before = radius};
  size_t rows = (count + LANES - 1) / LANES;
  if (window / LANES <= 3) {
    narrow(&s, window, &out, rows);
  } else {
    wide(&s, window, lowest, highest, &out, rows);
  }
}
