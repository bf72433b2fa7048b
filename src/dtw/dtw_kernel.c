/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweeps of one level of instructions and one precision.
 *
 * A strip: lanes x steps. The entries are columns of the matrix, for LANES = 4:
 *
 *   step                  0  1  2  3    4  5  6  7    8  9 10 11   12 ...
 *   lane 3, rows  0- 5    0  1  2  3 |  4  5  6  7 |  8  9 10 11 | 12
 *   lane 2, rows  6-11    .  .  .  . |  0  1  2  3 |  4  5  6  7 |  8
 *   lane 1, rows 12-17    .  .  .  . |  .  .  .  . |  0  1  2  3 |  4
 *   lane 0, rows 18-23    .  .  .  . |  .  .  .  . |  .  .  .  . |  0
 *                        '-- DELAY --'
 *
 * One step computes a column of each lane, its DEPTH rows from the top down: cells[u]
 * from cells[u] (left), the row above (up) and the left neighbor of that (diagonal). The
 * first row needs the last row of the lane above in the same column, which was computed
 * DELAY steps ago: it is passed[step % DELAY], shifted by one lane, and lane LANES-1 gets
 * the boundary, the last row of the strip above: one shift for DEPTH vectors of cells.
 * DELAY steps form one turn of the loop; its columns depend on each other from row to
 * row only, so that they overlap in the pipeline.
 *
 * A batch has a pair in each lane: no delay, no shift. A band goes along the diagonals.
 * A `kind` is constant in every call: the inlined body then has no branch on it. */
#include "dtw/dtw_kernel.h"

#include <math.h>
#include <stdbool.h>

#include "dtw/dtw_vector.h"

typedef tsn_dtw_strip strip;

#define INLINE static inline __attribute__((always_inline))

/* Rows that a sweep may meet outside of their windows; the second and third only in
 * batches. */
enum { NO_ROW, NOT_BEGUN, ENDED, ANY_ROW };

/* Compile-time parameters of a sweep; `general`: several dimensions or a penalty. */
typedef struct {
  bool squared;
  bool any_cost; /* instead: the cost of the call, which makes one sweep of two */
  bool general, traced;
  bool penalty; /* of a chain or the inside of a strip, and one dimension */
  bool batch;   /* all lanes have the same window */
  bool rolled;  /* the loop over columns: a quarter of the code, but slower */
  bool handover;
  int outside;
  size_t depth;
} kind;

/* With any cost, |d| = d (d & sign | 1) and d^2 = d (d & all | 0): parts of the factor,
 * constant during a call. */
typedef struct {
  bits kept, set;
} factor;

INLINE factor factor_of(bool squared) {
  return (factor){.kept = squared ? (bits){0} - 1 : (bits)vec_all(-(real)0),
                  .set = squared ? (bits){0} : (bits)vec_all(1)};
}

INLINE vec cost_of(kind k, const factor *c, vec difference) {
  if (k.any_cost) return difference * (vec)(((bits)difference & c->kept) | c->set);
  return k.squared ? difference * difference : vec_abs(difference);
}

INLINE vec component_cost(kind k, const factor *c, vec x, vec y) {
  return cost_of(k, c, x - y);
}

/* The cost of row u against the column whose first component is at y. */
INLINE vec row_cost(kind k, const strip *s, const factor *c, size_t u, const real *y,
                    vec y0) {
  vec sum = component_cost(k, c, vec_load(s->x + u * LANES), y0);
  if (k.general) {
    for (size_t d = 1; d < s->dimensions; d++) {
      vec x = vec_load(s->x + (d * k.depth + u) * LANES);
      sum += component_cost(k, c, x, vec_load(y + d * s->dimension_stride));
    }
  }
  return sum;
}

/* The least of the three; in a traced sweep, which one it is in row u. */
INLINE vec best_predecessor(kind k, vec penalty, vec diagonal, vec left, vec up,
                            unsigned char *trace, size_t u) {
  if (k.general) {
    left += penalty;
    up += penalty;
  }
  vec best = vec_least(vec_least(diagonal, left), up);
  if (k.traced) {
    unsigned gap = vec_bits_less(best, diagonal), leftwards = vec_bits_less(left, up);
    vec_store_choice(trace + u * CHOICE_BYTES, gap, leftwards);
  }
  return best;
}

/* The cell of row u, or what stands for it before the row's window begins and after
 * it has ended. */
INLINE vec windowed_cell(kind k, const strip *s, size_t u, size_t step, vec left,
                         vec cell) {
  tick since = (tick)(ptrdiff_t)(step - s->base);
  ticks now = ticks_all(since), next = ticks_all(since + 1);
  if (k.outside == NO_ROW) return cell;
  ticks last = k.batch ? ticks_all(s->last[u]) : ticks_load(s->last + u * LANES);
  if (k.outside == ENDED) {
    return vec_select_not_before(last, next, cell, vec_all((real)INFINITY));
  }
  if (k.outside == ANY_ROW) {
    vec after = k.batch ? vec_all(s->after[u]) : vec_load(s->after + u * LANES);
    cell = vec_select_not_before(now, last, left + after, cell);
  }
  ticks first = k.batch ? ticks_all(s->first[u]) : ticks_load(s->first + u * LANES);
  return vec_select_not_before(now, first, cell, left);
}

/* One column: the cells of rows from ... to-1 of each block, top down. */
INLINE void column(kind k, const strip *s, const factor *c, size_t step, const real *y,
                   size_t from, size_t to, vec *cells, vec diagonal, vec up,
                   unsigned char *trace) {
  vec y0 = vec_load(y);
  vec penalty = vec_all(k.general ? s->penalty : 0);
  UNROLL
  for (size_t u = from; u < to; u++) {
    vec left = cells[u];
    vec cell = row_cost(k, s, c, u, y, y0) +
               best_predecessor(k, penalty, diagonal, left, up, trace, u);
    cell = windowed_cell(k, s, u, step, left, cell);
    diagonal = left;
    up = cell;
    cells[u] = cell;
  }
}

/* The lane of a block goes over to the strip below: its rows become `x`, and what is
 * left of its first column is infinite. Lanes above have gone before. The maximum
 * with 0 keeps other lanes: no cell is negative. */
INLINE void hand_over(kind k, const strip *s, size_t block, vec *x, vec *cells,
                      vec *previous) {
  ticks lane = {0};
  for (size_t e = 0; e < LANES; e++) lane[e] = (tick)e;
  ticks own = ticks_all((tick)(LANES - 1 - block)), above = own + 1;
  vec none = vec_all(0), infinity = vec_all((real)INFINITY);
  vec wall = vec_select_not_before(
      lane, own, vec_select_not_before(lane, above, none, infinity), none);
  UNROLL
  for (size_t u = 0; u < k.depth; u++) {
    vec old = vec_load(s->x + u * LANES), new = vec_load(s->x_below + u * LANES);
    x[u] = vec_select_not_before(lane, own, new, old);
    cells[u] = vec_max(cells[u], wall);
  }
  *previous = vec_max(*previous, wall);
}

/* Column `step` + f of a strip. */
INLINE void strip_column(kind k, const strip *s, const factor *c, size_t step, size_t f,
                         vec *cells, vec *passed, vec *previous, unsigned char *trace) {
  const size_t bottom_delay = (size_t)DELAY * (LANES - 1);
  const real *y = s->y + step / DELAY - (LANES - 1) + f * s->column_stride;
  real *boundary = s->boundary + step + f;
  vec up = vec_shift_up(passed[f], vec_all(*boundary));
  column(k, s, c, step + f, y, 0, k.depth, cells, *previous, up,
         k.traced ? trace + f * k.depth * CHOICE_BYTES : NULL);
  *previous = up;
  passed[f] = cells[k.depth - 1];
  vec_store(boundary - bottom_delay, cells[k.depth - 1]);
}

/* A turn of a strip with a penalty. least_of[u] is the least that the diagonal and the left
 * predecessor give to row u of the next column, so that the penalty is added to a cell
 * once, for both cells that need it. Two pipes of Zen 3 compute all sums and minima: 5 in
 * place of 4, if nothing waits. So the rows of a column follow one behind those of the
 * column before: a minimum and two sums are 7 cycles, and its scheduler does not look far
 * enough ahead to begin the next columns in time (column by column takes 1.2 times as
 * long). */
INLINE void strip_turn_with_penalty(kind k, const strip *s, const factor *c, size_t step,
                                    vec *cells, vec *least_of, vec *passed,
                                    vec *previous) {
  const size_t bottom_delay = (size_t)DELAY * (LANES - 1);
  const vec penalty = vec_all(s->penalty);
  const real *y = s->y + step / DELAY - (LANES - 1);
  real *boundary = s->boundary + step;
  vec samples[DELAY], up[DELAY], moved[DELAY];
  UNROLL
  for (size_t f = 0; f < DELAY; f++) {
    samples[f] = vec_load(y + f * s->column_stride);
    up[f] = vec_shift_up(passed[f], vec_all(boundary[f]));
    moved[f] = up[f] + penalty;
  }
  *previous = up[DELAY - 1];
  UNROLL
  for (size_t slot = 0; slot < k.depth + DELAY - 1; slot++) {
    UNROLL
    for (size_t f = 0; f < DELAY; f++) {
      if (slot < f || slot - f >= k.depth) continue;
      size_t u = slot - f;
      vec cell = component_cost(k, c, vec_load(s->x + u * LANES), samples[f]) +
                 vec_least(least_of[u], moved[f]);
      moved[f] = cell + penalty;
      least_of[u] = vec_least(up[f], moved[f]);
      up[f] = cell;
      cells[u] = cell;
    }
  }
  UNROLL
  for (size_t f = 0; f < DELAY; f++) {
    passed[f] = up[f];
    vec_store(boundary + f - bottom_delay, up[f]);
  }
}

/* state: the cells, then what the blocks above passed down in the last `delay` steps,
 * then what they passed down one step ago. The last row is stored as a whole vector; only
 * lane 0 counts, and the next steps overwrite the others before they are read. */
INLINE void sweep_strip(kind k, const strip *s, size_t begin, size_t end) {
  const size_t passed_at = k.depth * LANES;
  const size_t previous_at = passed_at + (size_t)DELAY * LANES;
  vec cells[DEEP], passed[DELAY], previous;
  for (size_t u = 0; u < k.depth; u++) cells[u] = vec_load(s->state + u * LANES);
  for (size_t f = 0; f < DELAY; f++)
    passed[f] = vec_load(s->state + passed_at + f * LANES);
  previous = vec_load(s->state + previous_at);
  vec least_of[DEEP]; /* of predecessors, with a penalty */
  for (size_t u = 0; k.penalty && u < k.depth; u++) {
    least_of[u] = vec_least(u ? cells[u - 1] : previous, cells[u] + vec_all(s->penalty));
  }
  const factor c = factor_of(s->squared);
  unsigned char *trace = s->trace;
  if (k.traced) trace += (begin - s->traced) * k.depth * CHOICE_BYTES;
  vec mixed[DEEP]; /* rows during a handover */
  strip between = *s;
  between.x = (const real *)mixed;
  const strip *at = k.handover ? &between : s;
  for (size_t step = begin; step < end; step += DELAY) {
    if (k.handover) hand_over(k, s, step / DELAY, mixed, cells, &previous);
    if (k.penalty) {
      strip_turn_with_penalty(k, s, &c, step, cells, least_of, passed, &previous);
    } else if (k.rolled) {
      ROLLED
      for (size_t f = 0; f < DELAY; f++)
        strip_column(k, at, &c, step, f, cells, passed, &previous, trace);
    } else {
      UNROLL
      for (size_t f = 0; f < DELAY; f++)
        strip_column(k, at, &c, step, f, cells, passed, &previous, trace);
    }
    if (k.traced) trace += DELAY * k.depth * CHOICE_BYTES;
  }
  for (size_t u = 0; u < k.depth; u++) vec_store(s->state + u * LANES, cells[u]);
  for (size_t f = 0; f < DELAY; f++)
    vec_store(s->state + passed_at + f * LANES, passed[f]);
  vec_store(s->state + previous_at, previous);
}

static void start(const strip *s, size_t begin) {
  real *passed = s->state + (size_t)DEPTH * LANES;
  vec bottom = vec_load(passed - LANES);
  for (size_t f = 0; f < DELAY; f++) vec_store(passed + f * LANES, bottom);
  real above = s->boundary[(ptrdiff_t)begin - 1];
  vec_store(passed + (size_t)DELAY * LANES, vec_shift_up(bottom, vec_all(above)));
}

/* The sweep of a narrow band, diagonal by diagonal: dtw_sweeps.h has the diagram. */

typedef tsn_dtw_band band;

/* `late` is the predecessor that is known last. */
INLINE vec band_cell(kind k, const factor *c, vec penalty, vec x, vec y, vec diagonal,
                     vec early, vec late) {
  return component_cost(k, c, x, y) +
         best_predecessor(k, penalty, diagonal, early, late, NULL, 0);
}

/* One pair of diagonals. The odd one follows the even one by a vector, because it
 * needs the first lane of the next. */
INLINE void band_pair(kind k, const band *r, const factor *c, size_t vectors,
                      const real *x, const real *y, vec *even, vec *odd) {
  vec penalty = vec_all(k.general ? r->penalty : 0), infinity = vec_all(INFINITY);
  vec even_wall = vec_load(r->even_wall), odd_wall = vec_load(r->odd_wall);
  vec above = infinity, last_even = infinity, last_y = infinity;
  for (size_t u = 0; u < vectors; u++) {
    vec passed = odd[u], x_even = vec_load(x + u * LANES),
        y_even = vec_load(y + u * LANES);
    if (u + 1 == vectors) x_even += even_wall;
    vec cell = band_cell(k, c, penalty, x_even, y_even, even[u], passed,
                         vec_shift_down(above, passed));
    if (u > 0) {
      vec x_odd = vec_load(x + 1 + (u - 1) * LANES);
      odd[u - 1] = band_cell(k, c, penalty, x_odd, last_y, above, last_even,
                             vec_shift_up(last_even, cell));
    }
    even[u] = cell;
    above = passed;
    last_even = cell;
    last_y = y_even;
  }
  vec x_odd = vec_load(x + 1 + (vectors - 1) * LANES) + odd_wall;
  odd[vectors - 1] = band_cell(k, c, penalty, x_odd, last_y, above, last_even,
                               vec_shift_up(last_even, infinity));
}

INLINE void sweep_band_of(kind k, const band *r, size_t vectors, vec *even, vec *odd,
                          size_t begin, size_t end) {
  ptrdiff_t odd_radius = r->radius % 2, half = r->radius / 2;
  const factor c = factor_of(r->squared);
  for (ptrdiff_t d = (ptrdiff_t)begin; d < (ptrdiff_t)end; d++) {
    band_pair(k, r, &c, vectors, r->x + d - odd_radius - half, r->y - d - half, even,
              odd);
  }
}

/* A few vectors of a diagonal are kept in registers, for which their number must be a
 * constant; more are in memory. With the 32 registers of level v4 eight are: 1.2 to 1.4
 * times as fast as in memory in double, 1.35 to 1.5 times in single precision. With 16
 * registers more than four are spilled: 0.9 times (double precision at level v3, n = 48 to
 * 600; AMD Zen 5). Penalties are rare: for them four, which saves 15 KB of code. */
enum { IN_REGISTERS = TSN_VECTOR_BYTES == 64 ? 8 : 4, WITH_PENALTY = 4 };

INLINE void sweep_short_band(kind k, const band *r, size_t vectors, size_t begin,
                             size_t end) {
  vec even[IN_REGISTERS], odd[IN_REGISTERS];
  for (size_t u = 0; u < vectors; u++) {
    even[u] = vec_load(r->even + u * LANES);
    odd[u] = vec_load(r->odd + u * LANES);
  }
  sweep_band_of(k, r, vectors, even, odd, begin, end);
  for (size_t u = 0; u < vectors; u++) {
    vec_store(r->even + u * LANES, even[u]);
    vec_store(r->odd + u * LANES, odd[u]);
  }
}

#define CASE(count)                                                      \
  case count:                                                            \
    if ((int)(count) > (k.general ? WITH_PENALTY : IN_REGISTERS)) break; \
    sweep_short_band(k, r, count, begin, end);                           \
    return

INLINE void sweep_band(kind k, const band *r, size_t begin, size_t end) {
  switch (r->vectors) {
    CASE(1);
    CASE(2);
    CASE(3);
    CASE(4);
    CASE(5);
    CASE(6);
    CASE(7);
    CASE(8);
  }
  sweep_band_of(k, r, r->vectors, (vec *)r->even, (vec *)r->odd, begin, end);
}

#undef CASE

/* The sweep of a batch, column by column. All lanes have one window,
 * hence a limit of a row is one number. */

/* Rows of a strip: as many as the registers of the level hold. */
enum { BATCH_DEPTH = VECTOR_BYTES == 64 ? DEEP : DEPTH };

/* Whether row u has its limit in column begin + u, as in a window of one radius. Then
 * the columns of the triangle are written out with the rows they have, not masked. */
static inline bool is_aslant(const tick *limits, size_t begin, size_t end) {
  bool aslant = end - begin == BATCH_DEPTH - 1;
  for (size_t u = 0; u < BATCH_DEPTH; u++) aslant &= limits[u] == (tick)(begin + u);
  return aslant;
}

/* A column of a batch, of which rows from ... to-1 have cells. */
INLINE void batch_column(kind k, const strip *s, const factor *c, size_t j, size_t from,
                         size_t to, vec cells[BATCH_DEPTH], vec *previous) {
  k.traced = false; /* as in all batches, which static analysis does not see */
  vec above = vec_load(s->boundary + j * LANES), up = above, diagonal = *previous;
  *previous = above;
  UNROLL
  for (size_t u = 0; u < from; u++) {
    diagonal = cells[u];
    up = cells[u] = vec_all((real)INFINITY);
  }
  column(k, s, c, j, s->y + j * LANES, from, to, cells, diagonal, up, NULL);
  vec_store(s->boundary + j * LANES, cells[BATCH_DEPTH - 1]);
}

/* state: the cells, and the boundary of the column before. */
INLINE void sweep_batch(kind k, const strip *s, size_t begin, size_t end) {
  vec cells[BATCH_DEPTH];
  for (size_t u = 0; u < BATCH_DEPTH; u++) cells[u] = vec_load(s->state + u * LANES);
  vec previous = vec_load(s->state + (size_t)BATCH_DEPTH * LANES);
  const factor c = factor_of(s->squared);
  kind bare = {
      .squared = k.squared, .any_cost = k.any_cost, .batch = true, .depth = BATCH_DEPTH};
  if (k.outside == NOT_BEGUN && is_aslant(s->first, begin, end)) {
    UNROLL
    for (size_t f = 0; f < BATCH_DEPTH - 1; f++) {
      batch_column(bare, s, &c, begin + f, 0, f + 1, cells, &previous);
    }
  } else if (k.outside == ENDED && is_aslant(s->last, begin, end)) {
    UNROLL
    for (size_t f = 0; f < BATCH_DEPTH - 1; f++) {
      batch_column(bare, s, &c, begin + f, f + 1, BATCH_DEPTH, cells, &previous);
    }
  } else {
    for (size_t j = begin; j < end; j++) {
      batch_column(k, s, &c, j, 0, BATCH_DEPTH, cells, &previous);
    }
  }
  for (size_t u = 0; u < BATCH_DEPTH; u++) vec_store(s->state + u * LANES, cells[u]);
  vec_store(s->state + (size_t)BATCH_DEPTH * LANES, previous);
}

#include "dtw/dtw_staggered.h"

static void place(const real *samples, size_t stride, real *x) {
  for (size_t block = 0; block < LANES; block++) {
    for (size_t u = 0; u < DEPTH; u++) {
      x[u * LANES + LANES - 1 - block] = samples[(block * DEPTH + u) * stride];
    }
  }
}

static void fill(real *vectors, size_t count, real value) {
  for (size_t k = 0; k < count; k++) vec_store(vectors + k * LANES, vec_all(value));
}

static void interleave(const real *const *series, size_t first, size_t stride,
                       size_t count, real *vectors) {
  const real *from[LANES];
  for (size_t lane = 0; lane < LANES; lane++) from[lane] = series[lane] + first;
  for (size_t k = 0; k < count; k++) {
    for (size_t lane = 0; lane < LANES; lane++) {
      vectors[k * LANES + lane] = from[lane][k * stride];
    }
  }
}

static void least(const real *vectors, size_t count, real *lanes) {
  vec result[4];
  for (size_t f = 0; f < 4; f++) result[f] = vec_load(vectors);
  size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    for (size_t f = 0; f < 4; f++) {
      result[f] = vec_min(result[f], vec_load(vectors + (j + f) * LANES));
    }
  }
  for (; j < count; j++) result[0] = vec_min(result[0], vec_load(vectors + j * LANES));
  vec_store(lanes, vec_min(vec_min(result[0], result[1]), vec_min(result[2], result[3])));
}

/* One function of each kind for both costs. */
#define SWEEP(sweep, of, name, ...)                                    \
  static void name##_absolute(const of *s, size_t begin, size_t end) { \
    sweep((kind){.squared = false, __VA_ARGS__}, s, begin, end);       \
  }                                                                    \
  static void name##_squared(const of *s, size_t begin, size_t end) {  \
    sweep((kind){.squared = true, __VA_ARGS__}, s, begin, end);        \
  }

/* One function for both costs: two more operations a cell hardly count where choices take
 * most of the time, a band waits for its shifts, or few cells are at the edge of a strip
 * or of its windows: up to 4 % of a call on an AMD Zen 5. Where penalties or components take
 * longer than that, it is up to 13 %, and wide bands at level v3 up to 18 %. */
#define SWEEP_ANY(sweep, of, name, ...)                          \
  static void name(const of *s, size_t begin, size_t end) {      \
    sweep((kind){.any_cost = true, __VA_ARGS__}, s, begin, end); \
  }

/* These compute whatever there is, the inner ones most of the cells. */
SWEEP_ANY(sweep_strip, strip, strip_general, .depth = DEPTH, .outside = ANY_ROW,
          .general = true, .rolled = true)
SWEEP_ANY(sweep_strip, strip, traced_general, .depth = DEPTH, .outside = ANY_ROW,
          .general = true, .traced = true, .rolled = true)
SWEEP_ANY(sweep_batch, strip, batch_general, .depth = BATCH_DEPTH, .outside = ANY_ROW,
          .general = true, .batch = true)

SWEEP(sweep_strip, strip, strip_inner, .depth = DEPTH)
/* Between the ends of a strip, instead of strip_general: a penalty takes .5 to .65 times as
 * long, two components .5 to .7 times (n = 100 to 1000; levels base, v3; AMD EPYC Zen 4). */
SWEEP(sweep_strip, strip, general_inner, .depth = DEPTH, .general = true, .rolled = true)
SWEEP(sweep_strip, strip, penalty_inner, .depth = DEPTH, .penalty = true)
SWEEP(sweep_batch, strip, batch_inner, .depth = BATCH_DEPTH, .batch = true)

/* TSN_SMALL: the level is there for correctness. */
#ifdef TSN_SMALL

#define STRIP(of) \
  { strip_general, strip_inner_##of, strip_general, strip_general }
#define TRACED(of) \
  { traced_general, traced_general, traced_general, traced_general }
#define BATCH(of) \
  { batch_general, batch_inner_##of, batch_general, batch_general }
#define FULL(of) \
  { 0 }
#define DEEP_FULL(of) \
  { 0 }

#else

SWEEP_ANY(sweep_strip, strip, strip_masked, .depth = DEPTH, .outside = ANY_ROW,
          .rolled = true)
SWEEP_ANY(sweep_strip, strip, traced_inner, .depth = DEPTH, .traced = true)
SWEEP_ANY(sweep_strip, strip, traced_masked, .depth = DEPTH, .outside = ANY_ROW,
          .traced = true, .rolled = true)
SWEEP_ANY(sweep_batch, strip, batch_beginning, .depth = BATCH_DEPTH, .outside = NOT_BEGUN,
          .batch = true)
SWEEP_ANY(sweep_batch, strip, batch_ending, .depth = BATCH_DEPTH, .outside = ENDED,
          .batch = true)
SWEEP(sweep_strip, strip, deep_inner, .depth = DEEP)
SWEEP_ANY(sweep_strip, strip, handover, .depth = DEPTH, .handover = true, .rolled = true)
SWEEP_ANY(sweep_strip, strip, deep_handover, .depth = DEEP, .handover = true,
          .rolled = true)
#define STRIP(of) \
  { strip_masked, strip_inner_##of, strip_masked, strip_masked }
#define TRACED(of) \
  { traced_masked, traced_inner, traced_masked, traced_masked }
#define BATCH(of) \
  { batch_beginning, batch_inner_##of, batch_ending, batch_general }
#define FULL(of) \
  { DEPTH, strip_inner_##of, handover }
#define DEEP_FULL(of) \
  { DEEP, deep_inner_##of, deep_handover }

#endif

#if defined(__AVX512F__)
SWEEP(sweep_staggered, strip, chain_inner, .handover = false)
SWEEP_ANY(sweep_staggered, strip, chain_handover, .handover = true, .rolled = true)
SWEEP(sweep_staggered, strip, chain_penalty, .penalty = true, .rolled = true)
SWEEP_ANY(sweep_staggered, strip, chain_general, .general = true, .rolled = true)
SWEEP(sweep_batch_staggered, strip, batch_staggered, .depth = BATCH_DEPTH, .batch = true)
#define CHAIN(of) \
  { chain_inner_##of, chain_handover, chain_penalty_##of, chain_general }
#define BATCH_STAGGERED(of) batch_staggered_##of
#else
#define CHAIN(of) \
  { 0 }
#define BATCH_STAGGERED(of) NULL
#endif

SWEEP_ANY(sweep_band, band, band_wide, .general = false)

/* One function for both costs takes 1.35 times as long with up to two vectors a diagonal
 * (single precision, radius 6), at most 1.17 times with more (Zen 5): only the narrow ones
 * have two. This saves 20 KB at level v4. */
INLINE void sweep_narrow_band(kind k, const band *r, size_t begin, size_t end) {
  if (r->vectors > 2) {
    band_wide(r, begin, end);
  } else if (r->vectors == 2) {
    sweep_short_band(k, r, 2, begin, end);
  } else {
    sweep_short_band(k, r, 1, begin, end);
  }
}
SWEEP(sweep_narrow_band, band, band, .general = false)
SWEEP_ANY(sweep_band, band, band_penalty, .general = true)

#define GENERAL(of) \
  { strip_general, general_inner_##of, strip_general, strip_general }
#define PENALTY(of) \
  { strip_general, penalty_inner_##of, strip_general, strip_general }

#define SWEEPS(of)                                                                  \
  {                                                                                 \
    .strip = STRIP(of), .strip_general = GENERAL(of), .strip_penalty = PENALTY(of), \
    .traced = TRACED(of), .traced_general = traced_general, .batch = BATCH(of),     \
    .batch_general = batch_general, .full = FULL(of), .deep = DEEP_FULL(of),        \
    .chain = CHAIN(of), .batch_staggered = BATCH_STAGGERED(of), .band = band_##of,  \
    .band_penalty = band_penalty                                                    \
  }

const tsn_dtw_kernels TSN_LEVEL(tsn_dtw_kernels) = {
    .lanes = LANES,
    .batch_depth = BATCH_DEPTH,
    .choice_bytes = CHOICE_BYTES,
    .start = start,
    .place = place,
    .fill = fill,
    .interleave = interleave,
    .least = least,
    .cost = {SWEEPS(absolute), SWEEPS(squared)},
};
