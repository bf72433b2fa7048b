/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of envelope_template.h: windows of fewer than four rows. */

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
