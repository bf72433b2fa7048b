/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope for one type, REAL; included by envelope_kernel.c once per type.
 *
 * The series, continued to both sides by its first and last sample, is seen as
 * rows of LANES samples, laid so that the rows of the result are whole vectors
 * in memory. From each sample on, the extremum of LANES samples takes LANES / 2
 * loads and one step across the row. A window of more samples is `rows` whole
 * rows and a remainder; down the columns the extremum of `rows` such rows comes
 * from the algorithm of M. van Herk (Pattern Recognition Letters 13 (1992)
 * 517-521) and of J. Gil and M. Werman (IEEE Trans. PAMI 15 (1993) 504-507):
 * cut the rows in blocks of `rows`; a window is the end of one block and the
 * beginning of the next. No step of it crosses a column, so that the columns
 * are the lanes of a vector. The LANES samples that end with the window add the
 * remainder. That is a fixed number of operations per sample for any window.
 *
 * Continuing the series by its ends adds nothing to a window that is cut there,
 * because such a window holds the end sample. */

#define row NAME(tsn)
#define row_at NAME_AT
#define extremes NAME(extremes)
#define series NAME(series)
#define output NAME(output)
#define output_tile NAME(output_tile)
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

/* x - x is 0 for every finite x and NaN otherwise. */
static bool NAME(finite)(const REAL *x, size_t n) {
  enum { CHAINS = 4 };
  REAL lane[CHAINS * LANES] = {0}, sum = 0;
  size_t i = 0;
  for (; i + CHAINS * LANES <= n; i += CHAINS * LANES) {
#pragma omp simd
    for (size_t k = 0; k < CHAINS * LANES; k++) lane[k] += x[i + k] - x[i + k];
  }
  for (; i < n; i++) sum += x[i] - x[i];
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

/* `count` continued samples from `first` on: in place if none is made up. */
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

/* Samples of a pass through the first-level cache: TILE rows, KEPT rows of the
 * pass before, and what the last of them look at. */
#define TILE_SAMPLES ((size_t)(TILE + KEPT) * LANES)

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

/* Extremes of LANES samples from each of `count` <= TILE rows on. */
static void NAME(row_windows)(const series *s, size_t first, size_t count,
                              REAL *restrict low, REAL *restrict high) {
  REAL made[TILE_SAMPLES];
  const REAL *x = NAME(samples)(s, first * LANES, (count + 2) * LANES - 1, made);
  extremes half = NAME(short_windows)(x, LANES / 2);
  for (size_t at = 0; at < count * LANES; at += LANES) {
    extremes next = NAME(short_windows)(x + at + LANES, LANES / 2);
    extremes other = {NAME(tsn_middle)(half.low, next.low),
                      NAME(tsn_middle)(half.high, next.high)};
    NAME(store)(low + at, high + at, NAME(join)(half, other));
    half = next;
  }
}

/* Where the envelope goes: `lead` lanes of row 0 lie before position 0. */
typedef struct {
  REAL *lower, *upper;
  size_t lead, count;
} output;

/* A tile of it: in place, unless it holds lanes that belong to no position. */
typedef struct {
  REAL *lower, *upper;
  REAL low[TILE_SAMPLES], high[TILE_SAMPLES];
} output_tile;

static inline void NAME(open_tile)(const output *out, size_t k, size_t rows,
                                   output_tile *tile) {
  size_t first = k * LANES;
  bool whole = first >= out->lead && first + rows * LANES - out->lead <= out->count;
  tile->lower = whole ? out->lower + (first - out->lead) : tile->low;
  tile->upper = whole ? out->upper + (first - out->lead) : tile->high;
}

static inline void NAME(close_tile)(const output *out, size_t k, size_t rows,
                                    const output_tile *tile) {
  if (tile->lower != tile->low) return;
  size_t first = k * LANES, skipped = first < out->lead ? out->lead - first : 0;
  size_t end = out->lead + out->count - first, count = rows * LANES;
  if (count > end) count = end;
  size_t at = first + skipped - out->lead;
  memcpy(out->lower + at, tile->low + skipped, (count - skipped) * sizeof(REAL));
  memcpy(out->upper + at, tile->high + skipped, (count - skipped) * sizeof(REAL));
}

/* A sum with +0 leaves everything but -0, which becomes +0: which of two equal
 * zeros a minimum took may depend on the level. */
static inline void NAME(put)(REAL *lower, REAL *upper, extremes e) {
  NAME(store)(lower, upper, (extremes){e.low + 0, e.high + 0});
}

/* Windows of fewer than LANES samples. */
static void NAME(narrow)(const series *s, size_t window, const output *out,
                         size_t count) {
  REAL made[TILE_SAMPLES];
  output_tile to;
  for (size_t k = 0; k < count; k += TILE) {
    size_t tile = count - k < TILE ? count - k : TILE;
    const REAL *x = NAME(samples)(s, k * LANES, (tile + 1) * LANES - 1, made);
    NAME(open_tile)(out, k, tile, &to);
    REAL *lower = to.lower, *upper = to.upper;
    for (size_t at = 0; at < tile * LANES; at += LANES) {
      NAME(put)(lower + at, upper + at, NAME(short_windows)(x + at, window));
    }
    NAME(close_tile)(out, k, tile, &to);
  }
}

/* The rows that the next tile needs of this one. */
static void NAME(keep)(REAL *tile, size_t passed, size_t kept) {
  memmove(tile, tile + passed * LANES, kept * LANES * sizeof(REAL));
}

/* Windows of 1 ... KEPT rows and a remainder. */
static void NAME(middling)(const series *s, size_t window, const output *out,
                           size_t count) {
  REAL low[TILE_SAMPLES] __attribute__((aligned(TSN_VECTOR_BYTES)));
  REAL high[TILE_SAMPLES] __attribute__((aligned(TSN_VECTOR_BYTES)));
  output_tile to;
  size_t rows = window / LANES, kept = rows * LANES, last = window - LANES;
  NAME(row_windows)(s, 0, rows, low, high);
  for (size_t k = 0; k < count; k += TILE) {
    size_t tile = count - k < TILE ? count - k : TILE;
    NAME(row_windows)(s, k + rows, tile, low + kept, high + kept);
    NAME(open_tile)(out, k, tile, &to);
    REAL *lower = to.lower, *upper = to.upper;
    for (size_t at = 0; at < tile * LANES; at += LANES) {
      extremes e = NAME(load)(low + at + last, high + at + last);
      for (size_t j = at; j < at + kept; j += LANES) {
        e = NAME(join)(e, NAME(load)(low + j, high + j));
      }
      NAME(put)(lower + at, upper + at, e);
    }
    NAME(close_tile)(out, k, tile, &to);
    NAME(keep)(low, tile, rows);
    NAME(keep)(high, tile, rows);
  }
}

/* Blocks of rows. Of the block that row `at` is in, lowest and highest hold the
 * extremes from each row to the end of the block, and above row `at` the next
 * block's row windows, as far as they are known. */
typedef struct {
  size_t rows, kept; /* rows of a block, and those of them that are kept */
  size_t at;
  REAL *lowest, *highest;
  extremes begun; /* of the next block's rows above `at` */
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

/* The first block. Rows that nothing asks for are not kept, and those beyond
 * the series are all alike. */
static void NAME(first_block)(blocks *b, const series *s) {
  REAL low[TILE_SAMPLES], high[TILE_SAMPLES];
  for (size_t k = 0; k < b->kept; k += TILE) {
    size_t tile = b->kept - k < TILE ? b->kept - k : TILE;
    NAME(row_windows)(s, k, tile, b->lowest + k * LANES, b->highest + k * LANES);
  }
  size_t beyond = (s->before + s->n) / LANES + 1, last = (b->kept - 1) * LANES;
  size_t end = b->rows < beyond ? b->rows : beyond;
  extremes rest = NAME(load)(b->lowest + last, b->highest + last);
  for (size_t k = b->kept; k < end; k += TILE) {
    size_t tile = end - k < TILE ? end - k : TILE;
    NAME(row_windows)(s, k, tile, low, high);
    for (size_t at = 0; at < tile * LANES; at += LANES) {
      rest = NAME(join)(rest, NAME(load)(low + at, high + at));
    }
  }
  NAME(scan_block)(b, rest);
}

/* Take the block that follows, whose last row window is `last`. */
static void NAME(next_block)(blocks *b, extremes last) {
  size_t at = (b->rows - 1) * LANES;
  NAME(store)(b->lowest + at, b->highest + at, last);
  NAME(scan_block)(b, last);
  b->at = 0;
}

/* Up to `count` rows of the envelope, as far as the block goes; how many. The
 * windows at low and high lie rows - 1 further on, and those `rest` samples
 * after them hold the remainders. */
static size_t NAME(block_rows)(blocks *b, const REAL *low, const REAL *high, size_t rest,
                               size_t count, REAL *lower, REAL *upper) {
  size_t run = b->rows - b->at < count ? b->rows - b->at : count, i = 0;
  REAL *lowest = b->lowest + b->at * LANES, *highest = b->highest + b->at * LANES;
  if (b->at == 0) {
    extremes ended = NAME(load)(lowest, highest);
    NAME(put)(lower, upper, NAME(join)(ended, NAME(load)(low + rest, high + rest)));
    b->begun = ended; /* a window that ends with this block has nothing of the next */
    i = 1;
  }
  extremes begun = b->begun;
  for (; i < run; i++) {
    size_t at = i * LANES;
    extremes ended = NAME(load)(lowest + at, highest + at);
    extremes window = NAME(load)(low + at, high + at);
    NAME(store)(lowest + at - LANES, highest + at - LANES, window);
    begun = b->at + i == 1 ? window : NAME(join)(begun, window);
    extremes e = NAME(join)(ended, begun);
    NAME(put)
    (lower + at, upper + at,
     NAME(join)(e, NAME(load)(low + at + rest, high + at + rest)));
  }
  b->begun = begun;
  b->at += run;
  return run;
}

/* Windows of more rows. NOLINTBEGIN(readability-non-const-parameter): they are
 * written through structs. */
static void NAME(wide)(const series *s, size_t window, REAL *lowest, REAL *highest,
                       const output *out, size_t count) {
  REAL low[TILE_SAMPLES] __attribute__((aligned(TSN_VECTOR_BYTES)));
  REAL high[TILE_SAMPLES] __attribute__((aligned(TSN_VECTOR_BYTES)));
  output_tile to;
  size_t rows = window / LANES, rest = window % LANES;
  blocks b = {.rows = rows,
              .kept = rows < count ? rows : count,
              .lowest = lowest,
              .highest = highest};
  NAME(first_block)(&b, s);
  NAME(row_windows)(s, rows - 1, 1, low, high);
  for (size_t k = 0; k < count; k += TILE) {
    size_t tile = count - k < TILE ? count - k : TILE;
    NAME(row_windows)(s, k + rows, tile, low + LANES, high + LANES);
    NAME(open_tile)(out, k, tile, &to);
    for (size_t i = 0; i < tile;) {
      size_t at = i * LANES;
      if (b.at == rows) NAME(next_block)(&b, NAME(load)(low + at, high + at));
      i += NAME(block_rows)(&b, low + at, high + at, rest, tile - i, to.lower + at,
                            to.upper + at);
    }
    NAME(close_tile)(out, k, tile, &to);
    NAME(keep)(low, tile, 1);
    NAME(keep)(high, tile, 1);
  }
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
  if (window < LANES) {
    NAME(narrow)(&s, window, &out, rows);
  } else if (window / LANES <= KEPT) {
    NAME(middling)(&s, window, &out, rows);
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
#undef output_tile
#undef blocks
#undef LANES
#undef TILE_SAMPLES
