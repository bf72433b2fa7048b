/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of envelope_rows.h: windows of fewer than four rows.
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
  static pass_function *const few[] = {rows_1, rows_2, rows_3};
  if (window < LANES) {
    sweep(s, 0, out, count, tiny, &window);
    return;
  }
  real made[SAMPLES(MADE_ROWS)];
  size_t whole = window / LANES;
  const real *x = samples(s, 0, SAMPLES(whole), made);
  recent r = {.rest = window % LANES, .half = half_windows(x)};
  for (size_t k = 0; k < whole; k++) {
    extremes next = half_windows(x + (k + 1) * LANES);
    r.third = r.second;
    r.second = r.last;
    r.last = row_windows(r.half, next);
    r.half = next;
  }
  sweep(s, whole, out, count, few[whole - 1], &r);
}
