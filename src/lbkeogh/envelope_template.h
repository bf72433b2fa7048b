/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope for one type, REAL; included by envelope_kernel.c once per type.
 *
 * The series, continued to both sides by its first and last sample, is seen as
 * rows of LANES samples. A window of `window` samples is `rows` whole rows and
 * a remainder. Down the columns the extremum of `rows` consecutive rows comes
 * from the algorithm of M. van Herk (Pattern Recognition Letters 13 (1992)
 * 517-521) and of J. Gil and M. Werman (IEEE Trans. PAMI 15 (1993) 504-507):
 *cut the rows in blocks of `rows`; a window is the end of one block and the
 * beginning of the next. No step of it crosses a column, so that the columns
 * are the lanes of a vector. Along the row, log2(LANES) shifts by 1, 2, 4 ...
 * widen the extremum from one column to all, and a last one adds the
 * remainder. That is a fixed number of operations per sample for any window.
 *
 * Continuing the series by its ends adds nothing to a window that is cut there,
 * because such a window holds the end sample. */

#define row NAME(tsn)
#define row_at NAME_AT
#define extremes NAME(extremes)
#define columns NAME(columns)
#define LANES NAME(LANES)

enum { LANES = TSN_VECTOR_BYTES / sizeof(REAL) };

/* The two extremes of the same samples. */
typedef struct {
  row low, high;
} extremes;

static inline extremes NAME(join)(extremes a, extremes b) {
  return (extremes){NAME(tsn_min)(a.low, b.low), NAME(tsn_max)(a.high, b.high)};
}

static inline extremes NAME(load)(const REAL *low, const REAL *high) {
  return (extremes){*(const row_at *)low, *(const row_at *)high};
}

static inline void NAME(store)(REAL *low, REAL *high, extremes e) {
  *(row_at *)low = e.low;
  *(row_at *)high = e.high;
}

typedef struct {
  const REAL *x;
  size_t n, radius;
  size_t rows;            /* in a window, >= 1 */
  size_t needed;          /* rows of column extremes that will be asked for */
  REAL *lowest, *highest; /* of the rows from here to the end of the block */
  size_t block;           /* first row of the block */
  size_t at;              /* row in the block that comes next */
  extremes begun;         /* of the next block's rows above `at` */
} columns;

/* Row k of the continued series; its sample 0 is x[-radius]. */
static inline extremes NAME(sample_row)(const columns *c, size_t k) {
  row r = {0};
  size_t first = k * LANES;
  if (first >= c->radius && first - c->radius + LANES <= c->n) {
    r = *(const row_at *)(c->x + (first - c->radius));
  } else if (first + LANES <= c->radius) {
    r += c->x[0];
  } else {
    for (size_t lane = 0; lane < LANES; lane++) {
      size_t j = first + lane < c->radius ? 0 : first + lane - c->radius;
      r[lane] = c->x[j < c->n ? j : c->n - 1];
    }
  }
  return (extremes){r, r};
}

/* From the end of the block upwards. Rows beyond the series are all alike: one
 * of them stands for those that nothing asks for. */
static void NAME(scan_block)(const columns *c) {
  size_t beyond = (c->radius + c->n - 1) / LANES + 1;
  size_t used = c->needed - c->block < c->rows ? c->needed - c->block : c->rows;
  size_t last = c->block + used - 1 > beyond ? c->block + used - 1 : beyond;
  if (last > c->block + c->rows - 1) last = c->block + c->rows - 1;
  extremes e = NAME(sample_row)(c, last);
  for (size_t j = last - c->block + 1; j-- > 0;) {
    e = NAME(join)(e, NAME(sample_row)(c, c->block + j));
    if (j < used) NAME(store)(c->lowest + j * LANES, c->highest + j * LANES, e);
  }
}

/* The next `count` rows of column extremes: of `rows` rows from each on. */
static void NAME(next_rows)(columns *c, size_t count, REAL *low, REAL *high) {
  if (c->rows == 1) {
    for (size_t j = 0; j < count; j++) {
      NAME(store)(low + j * LANES, high + j * LANES, NAME(sample_row)(c, c->block + j));
    }
    c->block += count;
    return;
  }
  while (count > 0) {
    if (c->at == 0) {
      NAME(scan_block)(c);
      c->begun = NAME(load)(c->lowest, c->highest);
    }
    size_t run = c->rows - c->at < count ? c->rows - c->at : count;
    extremes begun = c->begun;
    for (size_t j = c->at; j < c->at + run; j++) {
      extremes ended = NAME(load)(c->lowest + j * LANES, c->highest + j * LANES);
      NAME(store)(low, high, j == 0 ? ended : NAME(join)(ended, begun));
      extremes next = NAME(sample_row)(c, c->block + c->rows + j);
      begun = j == 0 ? next : NAME(join)(begun, next);
      low += LANES, high += LANES;
    }
    c->begun = begun;
    c->at += run;
    count -= run;
    if (c->at == c->rows) c->at = 0, c->block += c->rows;
  }
}

/* Each position joins the one `shift` further on. */
static inline void NAME(widen)(REAL *restrict low, REAL *restrict high, size_t count,
                               size_t shift) {
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    low[i] = low[i] < low[i + shift] ? low[i] : low[i + shift];
    high[i] = high[i] > high[i + shift] ? high[i] : high[i + shift];
  }
}

/* The last shift. A sum with +0 leaves everything but -0, which becomes +0:
 * which of two equal zeros a minimum took may depend on the level. */
static inline void NAME(finish_part)(const REAL *restrict low, const REAL *restrict high,
                                     size_t count, size_t shift, REAL *restrict lower,
                                     REAL *restrict upper) {
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    lower[i] = (low[i] < low[i + shift] ? low[i] : low[i + shift]) + 0;
    upper[i] = (high[i] > high[i + shift] ? high[i] : high[i + shift]) + 0;
  }
}

/* A store that straddles cache lines costs more than such loads, so that the
 * vectors are laid along the output. */
static inline void NAME(finish)(const REAL *low, const REAL *high, size_t count,
                                size_t shift, REAL *lower, REAL *upper) {
  size_t over = (uintptr_t)lower / sizeof(REAL) % LANES, head = (LANES - over) % LANES;
  if (head > count) head = count;
  NAME(finish_part)(low, high, head, shift, lower, upper);
  low += head, high += head, lower += head, upper += head;
  NAME(finish_part)(low, high, count - head, shift, lower, upper);
}

static void NAME(envelope)(const REAL *x, size_t n, size_t radius, size_t count,
                           REAL *lowest, REAL *highest, REAL *lower, REAL *upper) {
  enum { AHEAD = 2 };
  size_t window = 2 * radius + 1, reach = 1;
  while (reach < LANES && 2 * reach <= window) reach *= 2;
  size_t rows = reach < LANES ? 1 : window / LANES, rest = window - rows * reach;
  columns c = {.x = x,
               .n = n,
               .radius = radius,
               .rows = rows,
               .needed = (count + LANES - 1) / LANES + AHEAD};
  c.lowest = lowest;
  c.highest = highest;
  /* The shifts read up to one row beyond those ahead. */
  REAL low[(TILE + SPARE) * LANES] __attribute__((aligned(TSN_VECTOR_BYTES)));
  REAL high[(TILE + SPARE) * LANES] __attribute__((aligned(TSN_VECTOR_BYTES)));
  REAL saved[2][AHEAD * LANES];
  memset(low, 0, sizeof low);
  memset(high, 0, sizeof high);
  NAME(next_rows)(&c, AHEAD, low, high);
  const size_t ahead = (size_t)AHEAD * LANES;
  for (size_t done = 0; done < count;) {
    size_t left = (count - done + LANES - 1) / LANES, tile = left < TILE ? left : TILE;
    NAME(next_rows)(&c, tile, low + ahead, high + ahead);
    memcpy(saved[0], low + tile * LANES, sizeof saved[0]);
    memcpy(saved[1], high + tile * LANES, sizeof saved[1]);
    for (size_t shift = 1; shift < reach; shift *= 2) {
      NAME(widen)(low, high, (tile + AHEAD) * LANES, shift);
    }
    size_t ready = count - done < tile * LANES ? count - done : tile * LANES;
    NAME(finish)(low, high, ready, rest, lower + done, upper + done);
    memcpy(low, saved[0], sizeof saved[0]);
    memcpy(high, saved[1], sizeof saved[1]);
    done += ready;
  }
}

#undef row
#undef row_at
#undef extremes
#undef columns
#undef LANES
