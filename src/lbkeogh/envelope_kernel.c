/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope of one ISA level and one precision, by rows of a vector.
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
 * such a window holds the end sample.
 *
 * Windows of fewer than four rows take no memory, which takes 0.53 to 0.55 of the time of
 * blocks at radius 1 (base) and 10 (v4, doubles; Zen 5). */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/vector.h"
#include "lbkeogh/lbkeogh_kernel.h"

#ifdef TSN_F32
typedef tsn_f32 row;
typedef tsn_f32_at row_at;
#define row_min tsn_min_f32
#define row_max tsn_max_f32
#define row_middle tsn_middle_f32
#define row_slide tsn_slide_f32
#else
typedef tsn_f64 row;
typedef tsn_f64_at row_at;
#define row_min tsn_min_f64
#define row_max tsn_max_f64
#define row_middle tsn_middle_f64
#define row_slide tsn_slide_f64
#endif

/* Largest number of rows copied at a time where the series is continued. */
enum { MADE_ROWS = 32 };

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

/* Blocks as van Herk's, Gil's and Werman's, and windows of four
 * rows or more by blocks of rows.
 *
 * A window of w rows beginning at row k of a block is the rest of this block and the
 * first k rows of the next:
 *
 *   | block          | next block     |
 *         [ rest.....|..begun ]            min(window) = min(rest[k], begun)
 *
 * rest[k], the extremes from row k to the end of the block, comes from one scan from the
 * end of a complete block; `begun` grows by one row a step. That is 3.5 extrema a row for
 * any w (1.5 of them in the scan, which takes two rows at a time), not w - 1. The row
 * that is taken in replaces rest[k], which no later window needs: one array of w rows
 * holds both. */

/* Blocks of `rows` rows. Of the block that row `at` is in, lowest and highest hold the
 * extremes from each row to the end of the block; above row `at`, what the rows
 * of the next block begin with instead. */
typedef struct {
  size_t rows, kept; /* rows of a block, and those of them that are kept */
  size_t at;
  real *lowest, *highest;
  extremes begun; /* of what windows have taken in beyond the block */
} blocks;

/* From the end of the block upwards, `e` being what lies beyond: two rows at a
 * time, since every minimum must wait for the one before. */
static void scan_block(const blocks *b, extremes e) {
  size_t j = b->kept;
  for (; j >= 2; j -= 2) {
    real *low = b->lowest + (j - 2) * LANES, *high = b->highest + (j - 2) * LANES;
    extremes last = load(low + LANES, high + LANES);
    extremes both = join(load(low, high), last);
    store(low + LANES, high + LANES, join(e, last));
    e = join(e, both);
    store(low, high, e);
  }
  if (j > 0) {
    store(b->lowest, b->highest, join(e, load(b->lowest, b->highest)));
  }
}

/* The extremes of no samples. */
static inline extremes nothing(void) {
  return (extremes){(row){0} + (real)INFINITY, (row){0} - (real)INFINITY};
}

/* Begin with the block whose rows are known, `beyond` being what lies beyond. */
static void begin_block(blocks *b, extremes beyond) {
  scan_block(b, beyond);
  b->begun = nothing();
  b->at = 0;
}

/* What a window of `rest` samples more than its blocks' rows remembers. */
typedef struct {
  blocks blocks;
  size_t rest;
  extremes half; /* of the row that the next block is to have at `at` */
  extremes last; /* row window of the one before */
} progress;

/* The first block. Rows that nothing asks for are not kept, and those beyond
 * the series are all alike. */
static void first_block(progress *p, const series *s) {
  blocks *b = &p->blocks;
  real made[SAMPLES(MADE_ROWS)];
  size_t beyond = (s->before + s->n) / LANES + 1;
  size_t end = b->rows < beyond ? b->rows : beyond;
  extremes after = {0};
  for (size_t k = 0; k < end; k += MADE_ROWS) {
    size_t rows = end - k < MADE_ROWS ? end - k : MADE_ROWS;
    const real *x = samples(s, k * LANES, SAMPLES(rows), made);
    p->half = half_windows(x);
    for (size_t i = 0; i < rows; i++) {
      extremes next = half_windows(x + (i + 1) * LANES);
      p->last = row_windows(p->half, next);
      p->half = next;
      size_t at = (k + i) * LANES;
      if (k + i < b->kept) {
        store(b->lowest + at, b->highest + at, p->last);
        after = p->last;
      } else {
        after = join(after, p->last);
      }
    }
  }
  begin_block(b, after);
}

/* `rows` rows of the block under way. */
static inline void block_rows(progress *p, const real *x, size_t rows, real *lower,
                              real *upper) {
  blocks *b = &p->blocks;
  real *lowest = b->lowest + b->at * LANES, *highest = b->highest + b->at * LANES;
  extremes half = p->half, last = p->last, begun = b->begun;
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    extremes next = half_windows(x + at + LANES);
    extremes window = row_windows(half, next);
    begun = join(begun, slide(last, window, p->rest));
    extremes ended = load(lowest + at, highest + at);
    store(lowest + at, highest + at, window);
    put(lower + at, upper + at, join(ended, begun));
    half = next;
    last = window;
  }
  p->half = half;
  p->last = last;
  b->begun = begun;
  b->at += rows;
}

static void blocks_of_rows(void *state, const real *x, size_t rows, real *lower,
                           real *upper) {
  progress *p = state;
  blocks *b = &p->blocks;
  for (size_t k = 0, run; k < rows; k += run) {
    if (b->at == b->rows) begin_block(b, p->last);
    run = b->rows - b->at < rows - k ? b->rows - b->at : rows - k;
    size_t at = k * LANES;
    block_rows(p, x + at, run, lower + at, upper + at);
  }
}

/* Windows of four rows or more. */
static void wide(const series *s, size_t window, real *lowest, real *highest,
                 const output *out, size_t count) {
  size_t rows = window / LANES;
  progress p = {.blocks = {.rows = rows,
                           .kept = rows < count ? rows : count,
                           .lowest = lowest,
                           .highest = highest},
                .rest = window % LANES};
  first_block(&p, s);
  sweep(s, rows, out, count, blocks_of_rows, &p);
}

/* Windows of fewer than four rows.
 *
 * They need no blocks: the row windows of the last three rows stay in registers, and one
 * to three joins replace the scan of a block and its memory. The number of whole rows is
 * a constant in each function, so that its loop has no branch on it.
 *
 *   window of fewer than LANES samples   one load and join per sample of the window
 *   1, 2 or 3 rows and a remainder       as many row windows, and one slid by the
 *                                        remainder */

/* Windows of `*state` samples, less than a row. */
static void tiny(void *state, const real *x, size_t rows, real *lower, real *upper) {
  size_t window = *(const size_t *)state;
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    put(lower + at, upper + at, short_windows(x + at, window));
  }
}

/* What a window of no more than three rows remembers of the row before. */
typedef struct {
  size_t rest;
  extremes half;                /* of the row of samples that is next */
  extremes last, second, third; /* row windows of those before it */
} recent;

/* Windows of 1 ... 3 rows, `whole`, and `rest` samples. */
static inline void few_rows(recent *now, size_t whole, const real *x, size_t rows,
                            real *lower, real *upper) {
  recent r = *now;
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    extremes next = half_windows(x + at + LANES);
    extremes window = row_windows(r.half, next);
    extremes e = join(r.last, slide(r.last, window, r.rest));
    if (whole > 1) e = join(e, r.second);
    if (whole > 2) e = join(e, r.third);
    put(lower + at, upper + at, e);
    r.half = next;
    r.third = r.second;
    r.second = r.last;
    r.last = window;
  }
  *now = r;
}

#define FEW_ROWS(whole)                                                          \
  static void rows_##whole(void *state, const real *x, size_t rows, real *lower, \
                           real *upper) {                                        \
    few_rows(state, whole, x, rows, lower, upper);                               \
  }
FEW_ROWS(1)
FEW_ROWS(2)
FEW_ROWS(3)
#undef FEW_ROWS

/* Windows of fewer than four rows. */
static void narrow(const series *s, size_t window, const output *out, size_t count) {
  if (window < LANES) {
    sweep(s, 0, out, count, tiny, &window);
    return;
  }
  real made[SAMPLES(MADE_ROWS)];
  size_t whole = window / LANES;
  const real *x = samples(s, 0, SAMPLES(whole), made);
  recent r = {.rest = window % LANES, .half = half_windows(x)};
  size_t k = 0;
  do {
    extremes next = half_windows(x + (k + 1) * LANES);
    r.third = r.second;
    r.second = r.last;
    r.last = row_windows(r.half, next);
    r.half = next;
  } while (++k < whole);
  sweep(s, whole, out, count, whole == 1 ? rows_1 : whole == 2 ? rows_2 : rows_3, &r);
}

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

const tsn_envelope_kernels TSN_LEVEL(tsn_envelope_kernels) = {
    .all_finite = all_finite,
    .envelope = envelope,
};
