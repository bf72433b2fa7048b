/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope for one type, REAL; included by envelope_kernel.c once per type.
 *
 * The series, continued to both sides by its first and last sample, is seen as
 * rows of LANES samples, laid so that the rows of the result are whole vectors
 * in memory. The extremes of the LANES samples from each sample of a row on, a row
 * window, take LANES / 2 loads and one step across the row. A window of more
 * samples is `rows` whole rows and a remainder; down the columns the extremum of
 * `rows` row windows comes from the algorithm of M. van Herk (Pattern Recognition
 * Letters 13 (1992) 517-521) and of J. Gil and M. Werman (IEEE Trans. PAMI 15
 * (1993) 504-507): cut the rows in blocks of `rows`; a window is the end of one
 * block and the beginning of what follows. The end is taken from the row windows
 * as they are, the beginning from those that start a remainder later, so that
 * together they are the window without a further step. Nothing here crosses a
 * column but the remainder: the columns are the lanes of a vector. That is a fixed
 * number of operations per sample for any window, in one pass over the series,
 * while the next lines of the output are already on their way: the processor's own
 * prefetching ends with every page.
 *
 * Continuing the series by its ends adds nothing to a window that is cut there,
 * because such a window holds the end sample. */

#define row NAME(tsn)
#define row_at NAME_AT
#define extremes NAME(extremes)
#define series NAME(series)
#define output NAME(output)
#define recent NAME(recent)
#define pass_function NAME(pass_function)
#define blocks NAME(blocks)
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

/* x - x is 0 for every finite x and NaN otherwise. From the end on, so that the
 * beginning is in the cache when the envelope begins there. */
static bool NAME(finite)(const REAL *x, size_t n) {
  enum { CHAINS = 4 };
  REAL lane[CHAINS * LANES] = {0}, sum = 0;
  size_t i = n;
  for (; i >= CHAINS * LANES; i -= CHAINS * LANES) {
    const REAL *last = x + i - CHAINS * LANES;
#pragma omp simd
    for (size_t k = 0; k < CHAINS * LANES; k++) lane[k] += last[k] - last[k];
  }
  while (i-- > 0) sum += x[i] - x[i];
  for (size_t k = 0; k < CHAINS * LANES; k++) sum += lane[k];
  return sum == 0;
}

/* The continued series; its sample 0 is x[-before]. */
typedef struct {
  const REAL *x;
  size_t n, before;
} series;

static void NAME(fill)(REAL *to, size_t count, REAL value) {
  for (size_t k = 0; k < count; k++) to[k] = value;
}

/* `count` continued samples from `first` on: in place if none is made up, or else
 * in `made`. */
static const REAL *NAME(samples)(const series *s, size_t first, size_t count,
                                 REAL *made) {
  size_t end = s->before + s->n;
  if (first >= s->before && first + count <= end) return s->x + (first - s->before);
  size_t left = first < s->before ? s->before - first : 0;
  if (left > count) left = count;
  size_t own = first + left < end ? end - first - left : 0;
  if (own > count - left) own = count - left;
  NAME(fill)(made, left, s->x[0]);
  if (own > 0) memcpy(made + left, s->x + (first + left - s->before), own * sizeof *made);
  NAME(fill)(made + left + own, count - left - own, s->x[s->n - 1]);
  return made;
}

/* Samples that `rows` rows look at: their own, and nearly two rows beyond them. */
#define SAMPLES(rows) (((rows) + 2) * LANES - 1)

/* Extremes of `length` samples from each of a row on. */
static inline extremes NAME(short_windows)(const REAL *x, size_t length) {
  row first = *(const row_at *)x;
  extremes e = {first, first};
  for (size_t j = 1; j < length; j++) {
    row next = *(const row_at *)(x + j);
    TSN_IN_REGISTER(next);
    e = NAME(join)(e, (extremes){next, next});
  }
  return e;
}

static inline extremes NAME(half_windows)(const REAL *x) {
  return NAME(short_windows)(x, LANES / 2);
}

/* Extremes of LANES samples from each of a row on, from those of the half of it
 * and the half of the row that follows. */
static inline extremes NAME(row_windows)(extremes half, extremes next) {
  extremes other = {NAME(tsn_middle)(half.low, next.low),
                    NAME(tsn_middle)(half.high, next.high)};
  return NAME(join)(half, other);
}

/* From sample `by` of a row on, `next` being the row that follows. */
static inline extremes NAME(slide)(extremes e, extremes next, size_t by) {
  return (extremes){NAME(tsn_slide)(e.low, next.low, by),
                    NAME(tsn_slide)(e.high, next.high, by)};
}

/* Where the envelope goes: `lead` lanes of row 0 lie before position 0. */
typedef struct {
  REAL *lower, *upper;
  size_t lead, count;
} output;

/* Fetch what is written soon, perhaps beyond the end of its array. */
static inline void NAME(fetch_ahead)(const REAL *place) {
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer may point there */
  __builtin_prefetch((const void *)((uintptr_t)place + AHEAD), 1);
}

/* A sum with +0 leaves everything but -0, which becomes +0: which of two equal
 * zeros a minimum took may depend on the level. */
static inline void NAME(put)(REAL *lower, REAL *upper, extremes e) {
  NAME(fetch_ahead)(lower);
  NAME(fetch_ahead)(upper);
  NAME(store)(lower, upper, (extremes){e.low + 0, e.high + 0});
}

/* Makes `rows` rows of the envelope from continued samples. What it remembers of
 * the rows before is in its state. */
typedef void pass_function(void *state, const REAL *x, size_t rows, REAL *lower,
                           REAL *upper);

/* How many rows of the series from row `k` on look at its own samples only, or
 * else may look at samples that are made up. */
static size_t NAME(own_rows)(const series *s, size_t k) {
  size_t first = (s->before + LANES - 1) / LANES, end = (s->before + s->n + 1) / LANES;
  if (k >= first && k + 2 < end) return end - 2 - k;
  return k < first && first - k < MADE_ROWS ? first - k : MADE_ROWS;
}

/* How many rows of the output from row `k` on are whole; 0: the first is not. */
static size_t NAME(whole_rows)(const output *out, size_t k) {
  size_t end = (out->lead + out->count) / LANES;
  return k >= end || (k == 0 && out->lead > 0) ? 0 : end - k;
}

/* A row of which some lanes lie beyond the output. */
static inline void NAME(part_row)(pass_function *pass, void *state, const REAL *x,
                                  const output *out, size_t k) {
  REAL lower[LANES], upper[LANES];
  pass(state, x, 1, lower, upper);
  size_t first = k > 0 ? 0 : out->lead, end = out->lead + out->count - k * LANES;
  size_t at = k * LANES + first - out->lead, count = (end < LANES ? end : LANES) - first;
  memcpy(out->lower + at, lower + first, count * sizeof(REAL));
  memcpy(out->upper + at, upper + first, count * sizeof(REAL));
}

/* All rows of the envelope; row k looks at the series from its row k + ahead on. */
static void NAME(sweep)(const series *s, size_t ahead, const output *out, size_t count,
                        pass_function *pass, void *state) {
  REAL made[SAMPLES(MADE_ROWS)];
  for (size_t k = 0, rows; k < count; k += rows) {
    size_t whole = NAME(whole_rows)(out, k), own = NAME(own_rows)(s, k + ahead);
    rows = whole == 0 ? 1 : whole < own ? whole : own;
    const REAL *x = NAME(samples)(s, (k + ahead) * LANES, SAMPLES(rows), made);
    if (whole == 0) {
      NAME(part_row)(pass, state, x, out, k);
    } else {
      size_t at = k * LANES - out->lead;
      pass(state, x, rows, out->lower + at, out->upper + at);
    }
  }
}

static inline void NAME(tiny)(const REAL *x, size_t window, size_t rows, REAL *lower,
                              REAL *upper) {
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    NAME(put)(lower + at, upper + at, NAME(short_windows)(x + at, window));
  }
}

#define TINY(window)                                                                    \
  static void NAME(tiny_##window)(void *state, const REAL *x, size_t rows, REAL *lower, \
                                  REAL *upper) {                                        \
    (void)state;                                                                        \
    NAME(tiny)(x, window, rows, lower, upper);                                          \
  }
TINY(1)
TINY(3)
TINY(5)
TINY(7)
#undef TINY

/* What a window of no more than three rows remembers of the row before. */
typedef struct {
  size_t rest;
  extremes half;                /* of the row of samples that is next */
  extremes last, second, third; /* row windows of those before it */
} recent;

/* Windows of half a row and `rest` samples. */
static void NAME(half_row)(void *state, const REAL *x, size_t rows, REAL *lower,
                           REAL *upper) {
  recent *now = state;
  extremes half = now->half;
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    extremes next = NAME(half_windows)(x + at + LANES);
    extremes last = NAME(slide)(half, next, now->rest);
    NAME(put)(lower + at, upper + at, NAME(join)(half, last));
    half = next;
  }
  now->half = half;
}

/* Windows of 1 ... 3 rows, `whole`, and `rest` samples. */
static inline void NAME(few_rows)(recent *now, size_t whole, const REAL *x, size_t rows,
                                  REAL *lower, REAL *upper) {
  recent r = *now;
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    extremes next = NAME(half_windows)(x + at + LANES);
    extremes window = NAME(row_windows)(r.half, next);
    extremes e = NAME(join)(r.last, NAME(slide)(r.last, window, r.rest));
    if (whole > 1) e = NAME(join)(e, r.second);
    if (whole > 2) e = NAME(join)(e, r.third);
    NAME(put)(lower + at, upper + at, e);
    r.half = next;
    r.third = r.second;
    r.second = r.last;
    r.last = window;
  }
  *now = r;
}

#define FEW_ROWS(whole)                                                                \
  static void NAME(rows_##whole)(void *state, const REAL *x, size_t rows, REAL *lower, \
                                 REAL *upper) {                                        \
    NAME(few_rows)(state, whole, x, rows, lower, upper);                               \
  }
FEW_ROWS(1)
FEW_ROWS(2)
FEW_ROWS(3)
#undef FEW_ROWS

/* Windows of fewer than four rows. */
static void NAME(narrow)(const series *s, size_t window, const output *out,
                         size_t count) {
  static pass_function *const tiny[] = {NAME(tiny_1), NAME(tiny_3), NAME(tiny_5),
                                        NAME(tiny_7)};
  static pass_function *const few[] = {NAME(half_row), NAME(rows_1), NAME(rows_2),
                                       NAME(rows_3)};
  if (window < LANES / 2) {
    NAME(sweep)(s, 0, out, count, tiny[window / 2], NULL);
    return;
  }
  REAL made[SAMPLES(MADE_ROWS)];
  size_t whole = window / LANES;
  const REAL *x = NAME(samples)(s, 0, SAMPLES(whole), made);
  recent r = {.rest = whole > 0 ? window % LANES : window - LANES / 2,
              .half = NAME(half_windows)(x)};
  for (size_t k = 0; k < whole; k++) {
    extremes next = NAME(half_windows)(x + (k + 1) * LANES);
    r.third = r.second;
    r.second = r.last;
    r.last = NAME(row_windows)(r.half, next);
    r.half = next;
  }
  NAME(sweep)(s, whole, out, count, few[whole], &r);
}

/* Blocks of rows. Of the block that row `at` is in, lowest and highest hold the
 * extremes from each row to the end of the block; above row `at`, the windows of
 * the next block's rows instead. */
typedef struct {
  size_t rows, kept; /* rows of a block, and those of them that are kept */
  size_t rest;       /* samples of a window beyond its rows */
  size_t at;
  REAL *lowest, *highest;
  extremes half;  /* of the row that the next block is to have at `at` */
  extremes last;  /* row window of the one before */
  extremes begun; /* of what windows have taken in beyond the block */
} blocks;

/* From the end of the block upwards, `e` being what lies beyond: two rows at a
 * time, since every minimum must wait for the one before. */
static void NAME(scan_block)(const blocks *b, extremes e) {
  size_t j = b->kept;
  for (; j >= 2; j -= 2) {
    REAL *low = b->lowest + (j - 2) * LANES, *high = b->highest + (j - 2) * LANES;
    extremes last = NAME(load)(low + LANES, high + LANES);
    extremes both = NAME(join)(NAME(load)(low, high), last);
    NAME(store)(low + LANES, high + LANES, NAME(join)(e, last));
    e = NAME(join)(e, both);
    NAME(store)(low, high, e);
  }
  if (j > 0) {
    NAME(store)(b->lowest, b->highest, NAME(join)(e, NAME(load)(b->lowest, b->highest)));
  }
}

/* Begin with the block whose rows are known. */
static void NAME(begin_block)(blocks *b, extremes beyond) {
  NAME(scan_block)(b, beyond);
  b->begun.low = (row){0} + (REAL)INFINITY;
  b->begun.high = (row){0} - (REAL)INFINITY;
  b->at = 0;
}

/* The first block. Rows that nothing asks for are not kept, and those beyond
 * the series are all alike. */
static void NAME(first_block)(blocks *b, const series *s) {
  REAL made[SAMPLES(MADE_ROWS)];
  size_t beyond = (s->before + s->n) / LANES + 1;
  size_t end = b->rows < beyond ? b->rows : beyond;
  extremes after = {0};
  for (size_t k = 0; k < end; k += MADE_ROWS) {
    size_t rows = end - k < MADE_ROWS ? end - k : MADE_ROWS;
    const REAL *x = NAME(samples)(s, k * LANES, SAMPLES(rows), made);
    b->half = NAME(half_windows)(x);
    for (size_t i = 0; i < rows; i++) {
      extremes next = NAME(half_windows)(x + (i + 1) * LANES);
      b->last = NAME(row_windows)(b->half, next);
      b->half = next;
      size_t at = (k + i) * LANES;
      if (k + i < b->kept) {
        NAME(store)(b->lowest + at, b->highest + at, b->last);
        after = b->last;
      } else {
        after = NAME(join)(after, b->last);
      }
    }
  }
  NAME(begin_block)(b, after);
}

/* `rows` rows of the block under way. */
static inline void NAME(block_rows)(blocks *b, const REAL *x, size_t rows, REAL *lower,
                                    REAL *upper) {
  REAL *lowest = b->lowest + b->at * LANES, *highest = b->highest + b->at * LANES;
  extremes half = b->half, last = b->last, begun = b->begun;
  for (size_t at = 0; at < rows * LANES; at += LANES) {
    extremes next = NAME(half_windows)(x + at + LANES);
    extremes window = NAME(row_windows)(half, next);
    begun = NAME(join)(begun, NAME(slide)(last, window, b->rest));
    extremes ended = NAME(load)(lowest + at, highest + at);
    NAME(store)(lowest + at, highest + at, window);
    NAME(put)(lower + at, upper + at, NAME(join)(ended, begun));
    half = next;
    last = window;
  }
  b->half = half;
  b->last = last;
  b->begun = begun;
  b->at += rows;
}

static void NAME(blocks_of_rows)(void *state, const REAL *x, size_t rows, REAL *lower,
                                 REAL *upper) {
  blocks *b = state;
  for (size_t k = 0, run; k < rows; k += run) {
    if (b->at == b->rows) NAME(begin_block)(b, b->last);
    run = b->rows - b->at < rows - k ? b->rows - b->at : rows - k;
    size_t at = k * LANES;
    NAME(block_rows)(b, x + at, run, lower + at, upper + at);
  }
}

/* Windows of more rows. NOLINTBEGIN(readability-non-const-parameter): they are
 * written through structs. */
static void NAME(wide)(const series *s, size_t window, REAL *lowest, REAL *highest,
                       const output *out, size_t count) {
  size_t rows = window / LANES;
  blocks b = {.rows = rows,
              .kept = rows < count ? rows : count,
              .rest = window % LANES,
              .lowest = lowest,
              .highest = highest};
  NAME(first_block)(&b, s);
  NAME(sweep)(s, rows, out, count, NAME(blocks_of_rows), &b);
}

static void NAME(envelope)(const REAL *x, size_t n, size_t radius, size_t count,
                           REAL *lowest, REAL *highest, REAL *lower, REAL *upper) {
  size_t window = 2 * radius + 1;
  output out = {.lower = lower,
                .upper = upper,
                .lead = (uintptr_t)lower / sizeof(REAL) % LANES,
                .count = count};
  series s = {.x = x, .n = n, .before = radius + out.lead};
  size_t rows = (out.lead + count + LANES - 1) / LANES;
  if (window / LANES <= 3) {
    NAME(narrow)(&s, window, &out, rows);
  } else {
    NAME(wide)(&s, window, lowest, highest, &out, rows);
  }
}

/* NOLINTEND(readability-non-const-parameter) */

#undef row
#undef row_at
#undef extremes
#undef series
#undef output
#undef recent
#undef pass_function
#undef blocks
#undef LANES
#undef SAMPLES
