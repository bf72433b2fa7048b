/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of envelope_rows.h: blocks as van Herk's, Gil's and Werman's, and windows of four
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
