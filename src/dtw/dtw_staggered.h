/* SPDX-License-Identifier: BSD-3-Clause */
/* For dtw_kernel.c: sweeps in which the rows of a block are staggered.
 *
 * sweep_strip() computes column by column. Its instructions come in the order of the
 * longest chain of dependent ones: within a column each cell waits for the cell above it,
 * a minimum and a sum, 5 cycles. Here cell (u, j), row u of the block and column j, is
 * computed in slot
 *
 *   8 j + 5 u                  row 0    0  .  .  .  .  .  .  .  1  .  .  .  .  .  .  .  2
 *                              row 1                   0  .  .  .  .  .  .  .  1  .  .
 *   (entries: columns)         row 2                                  0  .  .  .  .  .
 *                              slot     0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16
 *
 * Since 5 and 8 have no common divisor, there is one cell in each slot. The cell above is
 * 5 slots old, the left one 8, and the minimum of the diagonal and the left one is formed
 * 8 slots before it is needed. So nothing waits, and throughput is the limit. On Zen 5
 * two pipes execute floating-point sums and minima, and all four execute integer minima:
 * the order of nonnegative floating-point numbers, infinity included, is that of their
 * bits. Nothing here can be NaN: x is finite, and y only infinite where x is not.
 *
 * Cycles for a vector of cells, Zen 5, level v4, double precision, n = 2000: 2.28 by
 * sweep_strip(); 2.10 staggered with floating-point minima; 1.55 staggered with integer
 * minima. A processor of another maker may execute an integer minimum of 64 bits as two
 * operations (Intel), hence tsn_isa_minimum_of_bits_is_fast(). */
#ifndef TSN_DTW_STAGGERED_H
#define TSN_DTW_STAGGERED_H

#if defined(__AVX512F__)

enum {
  ROWS = DEEP,
  LAG = 5,                       /* slots from a cell to the cell below it */
  LAG_INVERSE = 5,               /* of LAG, modulo ROWS */
  TURN = STAGGERED_DELAY * ROWS, /* slots */
  AHEAD = 3,                     /* slots from a cost to its cell */
  SHIFT_AT = 4                   /* slots from a shift to the first row that needs it */
};

#ifdef TSN_F32
#define vec_min_bits(a, b) ((vec)_mm512_min_epu32((__m512i)(a), (__m512i)(b)))
#else
#define vec_min_bits(a, b) ((vec)_mm512_min_epu64((__m512i)(a), (__m512i)(b)))
#endif

/* Compilers keep the order of these. */
#define IN_ORDER(v) __asm__ volatile("" : "+v"(v))

/* The row of a slot, and its column from the first of the turn on: -5 ... delay - 1. */
INLINE size_t row_of(size_t slot) {
  return slot * LAG_INVERSE % ROWS;
}

INLINE ptrdiff_t column_of(size_t slot) {
  return ((ptrdiff_t)slot - LAG * (ptrdiff_t)row_of(slot)) / ROWS;
}

/* The place of a column in an array of one turn. */
INLINE size_t in_turn(ptrdiff_t column) {
  return (size_t)(column + STAGGERED_DELAY) % STAGGERED_DELAY;
}

/* Where a block stands. */
typedef struct {
  vec cells[ROWS];
  vec moved[ROWS]; /* cells with the penalty */
  vec least[ROWS]; /* of the diagonal and the left predecessor of the next cell */
  vec passed[STAGGERED_DELAY], previous;
} stagger;

/* Samples of x during a handover, by turn. Lanes go over to the strip below between
 * turns; as rows are staggered, cells of three turns are computed in the slots of one. */
typedef struct {
  vec rows[TURNS_KEPT][ROWS];
  const vec *near[3]; /* of the turn before the present one, of this, and of the next */
} mixture;

#ifdef TSN_F32
#define vec_blend(mask, a, b) \
  ((vec)_mm512_mask_blend_ps((__mmask16)(mask), (__m512)(a), (__m512)(b)))
#define vec_max_bits(a, b) ((vec)_mm512_max_epu32((__m512i)(a), (__m512i)(b)))
#else
#define vec_blend(mask, a, b) \
  ((vec)_mm512_mask_blend_pd((__mmask8)(mask), (__m512d)(a), (__m512d)(b)))
#define vec_max_bits(a, b) ((vec)_mm512_max_epu64((__m512i)(a), (__m512i)(b)))
#endif

/* Prepare the rows of a turn of a handover. */
INLINE void mix_rows(const strip *s, size_t turn, mixture *x) {
  for (size_t u = 0; u < ROWS; u++) {
    x->rows[turn % TURNS_KEPT][u] = vec_blend(s->below[turn], vec_load(s->x + u * LANES),
                                              vec_load(s->x_below + u * LANES));
  }
}

INLINE void enter_turn(const strip *s, size_t turn, mixture *x) {
  mix_rows(s, turn + 1, x);
  for (size_t e = 0; e < 3; e++) {
    x->near[e] = x->rows[(turn + TURNS_KEPT - 1 + e) % TURNS_KEPT];
  }
}

/* Sample of row u for a column, counted from the first of the present turn. */
INLINE vec staggered_x(kind k, const strip *s, const mixture *x, ptrdiff_t column,
                       size_t u) {
  if (!k.handover) return vec_load(s->x + u * LANES);
  return x->near[(column + STAGGERED_DELAY) / STAGGERED_DELAY][u];
}

/* The cost of a cell; infinite where the row of a lane is between its windows. */
INLINE vec staggered_cost(kind k, const strip *s, size_t step, ptrdiff_t column, size_t u,
                          vec difference) {
  const factor c = factor_of(s->squared);
  vec cost = cost_of(k, &c, difference);
  if (!k.handover) return cost;
  return vec_max_bits(
      cost, vec_load(s->walls + ((ptrdiff_t)(step + ROWS - 1 - u) + column) * LANES));
}

/* Samples of column f of a turn that begins at `step`; f may be in the next one. */
INLINE vec staggered_y(kind k, const strip *s, size_t step, size_t f) {
  if (k.batch) return vec_load(s->y + (step + f) * LANES);
  size_t turn = step / STAGGERED_DELAY + f / STAGGERED_DELAY;
  size_t at = f % STAGGERED_DELAY * s->column_stride;
  vec y = vec_load(s->y + at + turn - (LANES - 1));
  if (!k.handover) return y;
  return vec_blend(s->below[turn], y, vec_load(s->y_below + at + turn - (LANES - 1)));
}

/* General sweeps read the costs of TURNS_KEPT turns from memory, computed by loops: in line
 * the components would be summed anew in each of TURN slots. Slots are left with two minima,
 * the sum, and another one for the penalty. For a penalty alone the stores take 1.45 times
 * as long as costs in line (n = 1000, AMD EPYC Zen 4), hence chain_penalty. */
INLINE real *costs_of(const strip *s, size_t turn) {
  return s->costs + turn % TURNS_KEPT * STAGGERED_DELAY * ROWS * LANES;
}

/* The costs of component d in column f of a turn. */
INLINE void component_costs(kind k, const strip *s, size_t turn, size_t f, size_t d,
                            vec *costs) {
  size_t at = d * s->dimension_stride + f * s->column_stride + turn;
  vec y = vec_load(s->y + at - (LANES - 1));
  if (k.handover)
    y = vec_blend(s->below[turn], y, vec_load(s->y_below + at - (LANES - 1)));
  UNROLL
  for (size_t u = 0; u < ROWS; u++) {
    size_t row = (d * ROWS + u) * LANES;
    vec x = vec_load(s->x + row);
    if (k.handover) x = vec_blend(s->below[turn], x, vec_load(s->x_below + row));
    costs[u] = component_cost(k, NULL, x, y);
  }
}

INLINE void turn_costs(kind k, const strip *s, size_t turn) {
  real *to = costs_of(s, turn);
  ROLLED
  for (size_t f = 0; f < STAGGERED_DELAY; f++, to += ROWS * LANES) {
    vec sums[ROWS], more[ROWS];
    component_costs(k, s, turn, f, 0, sums);
    for (size_t d = 1; d < s->dimensions; d++) {
      component_costs(k, s, turn, f, d, more);
      UNROLL
      for (size_t u = 0; u < ROWS; u++) sums[u] += more[u];
    }
    const real *wall = s->walls + (STAGGERED_DELAY * turn + f + ROWS - 1) * LANES;
    UNROLL
    for (size_t u = 0; u < ROWS; u++) {
      if (k.handover) sums[u] = vec_max_bits(sums[u], vec_load(wall - u * LANES));
      vec_store(to + u * LANES, sums[u]);
    }
  }
}

static void fill_costs(const strip *s, size_t turn) {
  if (s->x_below) {
    if (s->squared) {
      turn_costs((kind){.squared = true, .handover = true}, s, turn);
    } else {
      turn_costs((kind){.squared = false, .handover = true}, s, turn);
    }
  } else if (s->squared) {
    turn_costs((kind){.squared = true}, s, turn);
  } else {
    turn_costs((kind){.squared = false}, s, turn);
  }
}

/* The cost of row u in a column counted from the first of the turn that begins at `step`.
 */
INLINE vec kept_cost(const strip *s, size_t step, ptrdiff_t column, size_t u) {
  size_t turn =
      step / STAGGERED_DELAY - 1 + (size_t)(column + STAGGERED_DELAY) / STAGGERED_DELAY;
  return vec_load(costs_of(s, turn) + (in_turn(column) * ROWS + u) * LANES);
}

/* Cells as predecessors of those beside and below them. */
INLINE vec with_penalty(kind k, const strip *s, vec cells) {
  return k.general || k.penalty ? cells + vec_all(s->penalty) : cells;
}

/* Cells above row 0 in this column. */
INLINE vec staggered_above(kind k, const strip *s, size_t step, size_t f,
                           const stagger *b) {
  if (k.batch) return vec_load(s->boundary + (step + f) * LANES);
  return vec_shift_up(b->passed[f % STAGGERED_DELAY], vec_all(s->boundary[step + f]));
}

/* Cells of the last row in column `f`, which may be in the turn before. */
INLINE void staggered_pass(kind k, const strip *s, size_t step, ptrdiff_t f, vec cell,
                           stagger *b) {
  ptrdiff_t column = (ptrdiff_t)step + f;
  if (k.batch) {
    vec_store(s->boundary + column * LANES, cell);
  } else {
    b->passed[in_turn(f)] = cell;
    s->boundary[column - STAGGERED_DELAY * (LANES - 1)] = cell[0];
  }
}

/* Column f of a turn that begins at `step`: of its cells those that belong to the first
 * turn and come before slot TURN, or those that are left when the last turn is over. */
INLINE void complete_column(kind k, const strip *s, const mixture *x, size_t step,
                            size_t f, bool left_over, stagger *b) {
  vec y = vec_all(0), up = b->previous;
  if (!k.general) y = staggered_y(k, s, step, f);
  if (!left_over) b->previous = up = staggered_above(k, s, step, f, b);
  UNROLL
  for (size_t u = 0; u < ROWS; u++) {
    if ((ROWS * f + LAG * u >= TURN) != left_over) continue;
    if (left_over) up = b->cells[u - 1];
    vec cost;
    if (k.general) {
      cost = kept_cost(s, step, (ptrdiff_t)f, u);
    } else {
      vec difference = y - staggered_x(k, s, x, (ptrdiff_t)f, u);
      cost = staggered_cost(k, s, step, (ptrdiff_t)f, u, difference);
    }
    vec cell = cost + vec_min(b->least[u], with_penalty(k, s, up));
    b->moved[u] = with_penalty(k, s, cell);
    b->least[u] = vec_min(up, b->moved[u]);
    b->cells[u] = up = cell;
    if (u + 1 == ROWS) staggered_pass(k, s, step, (ptrdiff_t)f, cell, b);
  }
}

/* Columns of a turn; see complete_column(). */
INLINE void complete_columns(kind k, const strip *s, const mixture *x, size_t step,
                             bool left_over, stagger *b) {
  if (k.rolled) {
    ROLLED
    for (size_t f = 0; f < STAGGERED_DELAY; f++)
      complete_column(k, s, x, step, f, left_over, b);
  } else {
    UNROLL
    for (size_t f = 0; f < STAGGERED_DELAY; f++)
      complete_column(k, s, x, step, f, left_over, b);
  }
}

/* Slots of turns begin ... end-1. */
INLINE void staggered_turns(kind k, const strip *s, mixture *x, size_t begin, size_t end,
                            stagger *b) {
  if (begin == end) return;
  if (k.general) fill_costs(s, begin / STAGGERED_DELAY);
  if (k.handover) enter_turn(s, begin / STAGGERED_DELAY, x);
  vec ys[STAGGERED_DELAY], costs[ROWS], up = staggered_above(k, s, begin, 0, b);
  vec up_moved = with_penalty(k, s, up);
  if (!k.general) {
    for (size_t f = 1; f < STAGGERED_DELAY; f++) {
      ys[f] = staggered_y(k, s, begin - STAGGERED_DELAY, f);
    }
    ys[0] = staggered_y(k, s, begin, 0);
    UNROLL
    for (size_t slot = 0; slot < AHEAD; slot++) {
      size_t u = row_of(slot);
      vec difference =
          ys[in_turn(column_of(slot))] - staggered_x(k, s, x, column_of(slot), u);
      costs[slot] = staggered_cost(k, s, begin, column_of(slot), u, difference);
    }
  }
  for (size_t step = begin; step < end; step += STAGGERED_DELAY) {
    if (k.handover) enter_turn(s, step / STAGGERED_DELAY, x);
    if (k.general && step + STAGGERED_DELAY < end)
      fill_costs(s, step / STAGGERED_DELAY + 1);
    UNROLL
    for (size_t slot = 0; slot < TURN; slot++) {
      size_t u = row_of(slot), next = slot + AHEAD, v = row_of(next);
      if (v == 0 && !k.general)
        ys[next / ROWS % STAGGERED_DELAY] = staggered_y(k, s, step, next / ROWS);
      if (u == 0) b->previous = up;
      vec above = u > 0 ? b->cells[u - 1] : up;
      vec best = vec_min_bits(b->least[u], u > 0 ? b->moved[u - 1] : up_moved);
      IN_ORDER(best);
      vec cost;
      if (k.general) {
        cost = kept_cost(s, step, column_of(slot), u);
      } else {
        cost = ys[in_turn(column_of(next))] - staggered_x(k, s, x, column_of(next), v);
        IN_ORDER(cost);
      }
      vec cell = (k.general ? cost : costs[slot % ROWS]) + best;
      IN_ORDER(cell);
      if (!k.general) {
        cost = staggered_cost(k, s, step, column_of(next), v, cost);
        IN_ORDER(cost);
        costs[next % ROWS] = cost;
      }
      b->moved[u] = with_penalty(k, s, cell);
      if (k.general || k.penalty) IN_ORDER(b->moved[u]);
      vec least = vec_min_bits(above, b->moved[u]);
      IN_ORDER(least);
      b->least[u] = least;
      b->cells[u] = cell;
      if (u + 1 == ROWS) staggered_pass(k, s, step, column_of(slot), cell, b);
      if (slot % ROWS == ROWS - SHIFT_AT) {
        up = staggered_above(k, s, step, slot / ROWS + 1, b);
        IN_ORDER(up);
        up_moved = with_penalty(k, s, up);
      }
    }
  }
}

/* Steps begin ... end-1, a multiple of the delay, from the state in b->cells, `passed`
 * and `previous`, and to it. */
INLINE void staggered_steps(kind k, const strip *s, size_t begin, size_t end,
                            stagger *b) {
  mixture x;
  if (k.handover) {
    mix_rows(s, begin / STAGGERED_DELAY, &x);
    enter_turn(s, begin / STAGGERED_DELAY, &x);
  }
  for (size_t u = 0; u < ROWS; u++) {
    b->moved[u] = with_penalty(k, s, b->cells[u]);
    b->least[u] = vec_min(u > 0 ? b->cells[u - 1] : b->previous, b->moved[u]);
  }
  if (k.general) fill_costs(s, begin / STAGGERED_DELAY);
  complete_columns(k, s, &x, begin, false, b);
  staggered_turns(k, s, &x, begin + STAGGERED_DELAY, end, b);
  complete_columns(k, s, &x, end - STAGGERED_DELAY, true, b);
}

/* As sweep_strip(), with the same state, for closed strips of finite x. It reads, but
 * does not use, a column and an element of the boundary after the last ones. */
INLINE void sweep_staggered(kind k, const strip *s, size_t begin, size_t end) {
  const size_t passed_at = (size_t)ROWS * LANES;
  const size_t previous_at = passed_at + (size_t)STAGGERED_DELAY * LANES;
  stagger b;
  for (size_t u = 0; u < ROWS; u++) b.cells[u] = vec_load(s->state + u * LANES);
  for (size_t f = 0; f < STAGGERED_DELAY; f++) {
    b.passed[f] = vec_load(s->state + passed_at + f * LANES);
  }
  b.previous = vec_load(s->state + previous_at);
  staggered_steps(k, s, begin, end, &b);
  for (size_t u = 0; u < ROWS; u++) vec_store(s->state + u * LANES, b.cells[u]);
  for (size_t f = 0; f < STAGGERED_DELAY; f++) {
    vec_store(s->state + passed_at + f * LANES, b.passed[f]);
  }
  vec_store(s->state + previous_at, b.previous);
}

/* As sweep_batch() where no row is outside of its window. It reads a column and a vector
 * of the boundary after the last ones. */
INLINE void sweep_batch_staggered(kind k, const strip *s, size_t begin, size_t end) {
  const factor c = factor_of(s->squared);
  stagger b;
  size_t rest = (end - begin) % STAGGERED_DELAY;
  for (size_t u = 0; u < ROWS; u++) b.cells[u] = vec_load(s->state + u * LANES);
  b.previous = vec_load(s->state + (size_t)ROWS * LANES);
  for (size_t j = begin; j < begin + rest; j++) {
    batch_column(k, s, &c, j, 0, ROWS, b.cells, &b.previous);
  }
  if (begin + rest < end) staggered_steps(k, s, begin + rest, end, &b);
  for (size_t u = 0; u < ROWS; u++) vec_store(s->state + u * LANES, b.cells[u]);
  vec_store(s->state + (size_t)ROWS * LANES, b.previous);
}

#endif
#endif
