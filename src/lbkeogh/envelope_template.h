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
 * prefetching ends with every page. Windows of very many rows go another way
 * (envelope_groups.h).
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
#define progress NAME(progress)
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

/* `count` continued samples from `first` on, in `made`. */
static const REAL *NAME(make)(const series *s, size_t first, size_t count, REAL *made) {
  size_t end = s->before + s->n;
  size_t left = first < s->before ? s->before - first : 0;
  if (left > count) left = count;
  size_t own = first + left < end ? end - first - left : 0;
  if (own > count - left) own = count - left;
  NAME(fill)(made, left, s->x[0]);
  if (own > 0) memcpy(made + left, s->x + (first + left - s->before), own * sizeof *made);
  NAME(fill)(made + left + own, count - left - own, s->x[s->n - 1]);
  return made;
}

/* The same in place if none is made up. */
static inline const REAL *NAME(samples)(const series *s, size_t first, size_t count,
                                        REAL *made) {
  bool own = first >= s->before && first + count <= s->before + s->n;
  return own ? s->x + (first - s->before) : NAME(make)(s, first, count, made);
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

/* Those of `count` lanes from lane `first` on that do not lie beyond the output. */
static inline void NAME(put_part)(const output *out, size_t first, size_t count,
                                  const REAL *lower, const REAL *upper) {
  size_t begin = first < out->lead ? out->lead : first, end = first + count;
  if (end > out->lead + out->count) end = out->lead + out->count;
  size_t bytes = (end - begin) * sizeof(REAL);
  memcpy(out->lower + (begin - out->lead), lower + (begin - first), bytes);
  memcpy(out->upper + (begin - out->lead), upper + (begin - first), bytes);
}

/* A row of which some lanes lie beyond the output. */
static inline void NAME(part_row)(pass_function *pass, void *state, const REAL *x,
                                  const output *out, size_t k) {
  REAL lower[LANES], upper[LANES];
  pass(state, x, 1, lower, upper);
  NAME(put_part)(out, k * LANES, LANES, lower, upper);
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

#include "lbkeogh/envelope_blocks.h"
#include "lbkeogh/envelope_groups.h"
#include "lbkeogh/envelope_narrow.h"

/* NOLINTBEGIN(readability-non-const-parameter): they are written through structs. */
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
  } else if (TSN_VECTOR_BYTES == 64 && window / LANES >= GROUPED_ROWS) {
    NAME(grouped)(&s, window, lowest, highest, &out, rows);
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
#undef progress
#undef LANES
#undef SAMPLES
