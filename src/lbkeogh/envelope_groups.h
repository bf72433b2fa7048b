/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of envelope_rows.h: windows of many rows.
 *
 * A block of their rows would fill the first-level cache, and nothing would come from
 * memory while it is scanned. Rows of the result are made in groups of eight instead.
 * Down the columns, the windows that begin in rows 0 ... 7 of a group consist of
 *
 *   sample       rows                what window i takes of them
 *   first        the group itself    rows i ... 7                      ended[i]
 *                the next group      all                               between
 *                whole groups        all; they are counted back from   between
 *                                    first + ahead
 *   first+ahead  eight rows          rows 0 ... i                      begun
 *
 * with ahead = window - LANES. All but `ended` and `begun` is the same for the eight
 * windows. The whole groups need not begin where groups of the result do, and may overlap
 * the next group: that does no harm to extremes. Their extremes pass through blocks
 * (envelope_blocks.h), an eighth of the rows. `ended` is scanned from the series a second
 * time, rather than kept.
 *
 * Row i then has, in lane c, the extremes of samples c, c + LANES, ... of its window. The
 * step along the row joins LANES neighboring lanes, once for the whole window, in log2
 * LANES register shuffles: each doubles the number of lanes that are joined, and needs
 * the next row. That is why group_rows() runs STEPS rows ahead of its output. */

enum { STEPS = LANES == 16 ? 4 : LANES == 8 ? 3 : LANES == 4 ? 2 : 1 };

/* A row of samples as it is. */
static inline extremes plain(const real *x) {
  row samples = *(const row_at *)x;
  TSN_IN_REGISTER(samples);
  return (extremes){samples, samples};
}

/* From each row of a group to its end, down the columns; returns the whole. */
static inline extremes end_group(const real *x, extremes *ended) {
  extremes e = plain(x + (GROUP - 1) * LANES);
  ended[GROUP - 1] = e;
  for (size_t i = GROUP - 1; i-- > 0;) {
    e = join(plain(x + i * LANES), e);
    ended[i] = e;
  }
  return e;
}

static inline extremes whole_group(const real *x) {
  extremes e = plain(x);
  for (size_t i = 1; i < GROUP; i++) e = join(e, plain(x + i * LANES));
  return e;
}

/* A group of the envelope, from the last row of its first window on in x; returns
 * what its windows take in. */
INLINE extremes group_rows(const real *x, extremes between, const extremes *ended,
                           real *lower, real *upper) {
  extremes begun = plain(x), taken_in = begun, before[STEPS];
  for (size_t step = 0; step < STEPS; step++) before[step] = begun;
#pragma GCC unroll 16
  for (size_t i = 0; i < GROUP + STEPS; i++) {
    if (i > 0) begun = join(begun, plain(x + i * LANES));
    if (i == GROUP - 1) taken_in = begun;
    extremes e = join(begun, between);
    if (i < GROUP) e = join(e, ended[i]);
#pragma GCC unroll 4
    for (size_t step = 0; step < STEPS; step++) {
      extremes last = before[step];
      before[step] = e;
      e = join(last, slide(last, e, (size_t)1 << step));
    }
    if (i < STEPS) continue;
    size_t at = (i - STEPS) * LANES;
    put(lower + at, upper + at, e);
  }
  return taken_in;
}

/* The same to where it belongs; `first` is the group's first lane. */
static inline extremes put_group(const output *out, size_t first, const real *x,
                                 extremes between, const extremes *ended) {
  if (first >= out->lead && first + GROUP * LANES <= out->lead + out->count) {
    size_t at = first - out->lead;
    return group_rows(x, between, ended, out->lower + at, out->upper + at);
  }
  real lower[GROUP * LANES], upper[GROUP * LANES];
  extremes taken_in = group_rows(x, between, ended, lower, upper);
  put_part(out, first, GROUP * LANES, lower, upper);
  return taken_in;
}

/* The groups that the first windows have between what ends and what begins, from
 * sample `first` on. As for rows: what nothing asks for is not kept, and groups beyond
 * the series are all alike. */
static void first_groups(blocks *b, const series *s, size_t first) {
  real made[GROUP * LANES];
  size_t beyond = (s->before + s->n) / (GROUP * LANES) + 1;
  size_t end = b->rows < beyond ? b->rows : beyond;
  extremes after = nothing();
  for (size_t k = 0; k < end; k++) {
    size_t at = first + k * GROUP * LANES;
    extremes e = whole_group(samples(s, at, GROUP * LANES, made));
    if (k < b->kept) {
      store(b->lowest + k * LANES, b->highest + k * LANES, e);
    } else {
      after = join(after, e);
    }
  }
  begin_block(b, after);
}

/* Windows of three groups or more. */
static void grouped(const series *s, size_t window, real *lowest, real *highest,
                    const output *out, size_t count) {
  enum { SIZE = GROUP * LANES };
  size_t groups = (count + GROUP - 1) / GROUP, ahead = window - LANES;
  size_t between = ahead / SIZE - 1;
  blocks b = {.rows = between,
              .kept = between < groups ? between : groups,
              .lowest = lowest,
              .highest = highest};
  first_groups(&b, s, ahead - between * SIZE);
  real made[SIZE + STEPS * LANES];
  extremes ended[2][GROUP];
  end_group(samples(s, 0, SIZE, made), ended[0]);
  for (size_t k = 0; k < groups; k++) {
    if (b.at == b.rows) begin_block(&b, nothing());
    size_t first = k * SIZE;
    const real *x = samples(s, first + SIZE, SIZE, made);
    extremes e = join(end_group(x, ended[(k + 1) % 2]), b.begun);
    real *low = b.lowest + b.at * LANES, *high = b.highest + b.at * LANES;
    e = join(e, load(low, high));
    x = samples(s, first + ahead, SIZE + STEPS * LANES, made);
    e = put_group(out, first, x, e, ended[k % 2]);
    store(low, high, e);
    b.begun = join(b.begun, e);
    b.at++;
  }
}
