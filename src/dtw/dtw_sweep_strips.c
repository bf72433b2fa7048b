/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as steps. A row i of block b, admitted from column first(i) to last(i), is
 * active at the steps
 *
 *   first(i) - a + delay*b  <=  s  <=  last(i) - a + delay*b,   a = first of the area
 *
 * Before them its state is what D has to the left: infinity, the edge of the matrix, or
 * the column that a tile keeps left of the area. After them it is infinity, or its last
 * cell where an open end reads it. The four steps of tsn_dtw_sweep_plain() are extremes
 * of these over the rows: begin and begun are the least and the largest first step,
 * ending and end the least and the largest last step.
 *
 * Most strips of a large matrix have windows of one of two regular shapes, which are the
 * same from strip to strip but for a shift; `base` is that shift. The others, at the
 * edges and in slope windows, are filled row by row. */
#include "dtw/dtw_sweeps.h"

#include <math.h>

#include "core/size.h"

typedef tsn_dtw_strips strips;
typedef tsn_dtw_sweeper sweeper;
typedef tsn_dtw_rectangle rectangle;
typedef tsn_dtw_kernels kernels;

void tsn_dtw_strips_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                           const tsanom_dtw_options *options, const kernels *k,
                           strips *p) {
  size_t rows = DEPTH * k->lanes;
  /* Lanes reach less than `lanes` elements before column 0, and twice that past the last.
   */
  size_t margin = 4 * k->lanes;
  *p = (strips){.problem = *problem, .options = options, .kernels = k, .rows = rows};
  p->count = problem->n / rows + (problem->n % rows != 0);
  p->padding = p->count * rows - problem->n;
  p->plain = options->dimensions == 1 && options->penalty == 0;
  p->column_stride = tsn_sum(problem->m / DELAY + 1, margin);
  p->dimension_stride = tsn_product(p->column_stride, DELAY);
  p->block = tsn_arena_take(arena, tsn_product(p->dimension_stride, options->dimensions),
                            sizeof(real));
}

void tsn_dtw_strips_fill(strips *p, const real *x, const real *y) {
  const tsanom_dtw_options *o = p->options;
  size_t lanes = p->kernels->lanes;
  size_t stride = p->problem.stride_y;
  p->x = x;
  p->columns = p->block + lanes;
  size_t whole = p->problem.m / DELAY; /* elements that every array has */
  for (size_t d = 0; d < o->dimensions; d++) {
    for (size_t f = 0; f < DELAY; f++) {
      real *column = p->columns + d * p->dimension_stride + f * p->column_stride;
      const real *from = y + f * stride + d;
      size_t k = 0;
      for (; k < whole; k++) column[k] = from[k * DELAY * stride];
      if (whole * DELAY + f < p->problem.m) column[k] = from[k * DELAY * stride], k++;
      /* Before column 0 all cells are infinite, as rows that begin there need them;
       * past their last column lanes need any number. */
      for (size_t lane = 1; lane < lanes; lane++) {
        column[-(ptrdiff_t)lane] = (real)INFINITY;
      }
      for (; k + lanes < p->column_stride; k++) column[k] = 0;
    }
  }
}

void tsn_dtw_sweeper_layout(tsn_arena *arena, const tsanom_dtw_options *options,
                            const kernels *k, sweeper *s) {
  size_t rows = DEPTH * k->lanes;
  *s = (sweeper){
      .x = tsn_arena_take(arena, tsn_product(rows, options->dimensions), sizeof(real)),
      .state = tsn_arena_take(arena, rows + (DELAY + 1) * k->lanes, sizeof(real)),
      .after = tsn_arena_take(arena, rows, sizeof(real)),
      .first = tsn_arena_take(arena, rows, sizeof(tick)),
      .last = tsn_arena_take(arena, rows, sizeof(tick)),
  };
}

real *tsn_dtw_boundary_layout(tsn_arena *arena, size_t width, const kernels *k) {
  return tsn_arena_take(arena, tsn_sum(width, 2 * tsn_dtw_boundary_margin(k)),
                        sizeof(real));
}

void tsn_dtw_top_edge(const strips *p, real *boundary) {
  size_t margin = tsn_dtw_boundary_margin(p->kernels);
  for (size_t j = 0; j < p->problem.m + margin; j++) {
    boundary[j] = j < p->problem.open_begin_y ? 0 : (real)INFINITY;
  }
  boundary[-1] = 0;
}

/* A step that no sweep of the rectangle reaches. */
static size_t past_end(const strips *p, const rectangle *a) {
  return a->end - a->first + DELAY * (p->kernels->lanes + 1);
}

/* Rows above row 0 stand for the empty prefix: row -1 holds 0 while samples of y
 * may be left out, all cost infinity after that. */
static size_t pad_row(const strips *p, const rectangle *a, sweeper *s, size_t at,
                      size_t skew, bool lowest) {
  for (size_t d = 0; d < p->options->dimensions; d++) {
    s->x[d * p->rows + at] = d == 0 ? (real)INFINITY : 0;
  }
  size_t open = p->problem.open_begin_y;
  size_t turns = lowest && open > a->first ? open - a->first : 0;
  s->state[at] = lowest && open >= a->first ? 0 : (real)INFINITY;
  s->first[at] = (tick)(ptrdiff_t)(turns + skew);
  s->last[at] = (tick)past_end(p, a);
  s->after[at] = 0;
  return turns + skew;
}

/* Row i of the matrix as row r of the strip: active from *first_step to before
 * *last_step. A row whose window ends left of the rectangle turns to infinity at
 * once, and one whose window begins right of it never starts. What a row computes to
 * the right of the rectangle is never read. Returns whether the window ends
 * within. */
static bool fill_row(const strips *p, const rectangle *a, sweeper *s, size_t i, size_t at,
                     size_t skew, size_t *first_step, size_t *last_step) {
  const tsanom_dtw_options *o = p->options;
  size_t first, last;
  for (size_t d = 0; d < o->dimensions; d++) {
    s->x[d * p->rows + at] = p->x[i * p->problem.stride_x + d];
  }
  tsn_dtw_window_row(&p->problem, i, &first, &last);
  real left = INFINITY;
  if (!a->left) {
    left = first == 0 && i < p->problem.open_begin_x ? 0 : (real)INFINITY;
  } else if (first < a->first && last + 1 >= a->first) {
    left = a->left[(ptrdiff_t)i - a->left_row];
  }
  first = tsn_larger(tsn_larger(first, a->first), a->floor);
  /* A state to the left counts only for a row that begins at the first column; else
   * it would be read as the left neighbor of a later cell. */
  s->state[at] = first == a->first ? left : (real)INFINITY;
  bool ends_here = last + 1 < a->end;
  s->after[at] = ends_here ? (real)INFINITY : 0;
  size_t end = tsn_smaller(last + 1, a->end);
  *first_step = tsn_smaller(first, a->end) - a->first + skew;
  *last_step = (end > a->first ? end - a->first : 0) + skew;
  bool ends = ends_here || s->holds;
  s->first[at] = (tick)(ptrdiff_t)*first_step;
  s->last[at] = (tick)(ptrdiff_t)(ends ? *last_step : past_end(p, a));
  return ends;
}

/* Position of the windows of a strip in the rectangle. Strips whose rows all reach from
 * edge to edge have the same first and last steps, and so have strips whose rows lie in a
 * band between the edges: these are prepared once. */
enum { IRREGULAR, FULL, BAND };

/* *base: the step that the first row of a band begins at. In a band the strip must lie
 * wholly between the edges: every row begins one column after the row above it. */
static int shape_of(const strips *p, const rectangle *a, size_t t, size_t *base) {
  const tsn_dtw_problem *q = &p->problem;
  size_t row = t * p->rows, first, last, lowest_first, lowest_last;
  size_t from = tsn_larger(a->first, a->floor);
  *base = 0;
  if (row < p->padding || a->left || q->open_end_x > 0) return IRREGULAR;
  size_t i = row - p->padding;
  if (i < q->open_begin_x) return IRREGULAR;
  tsn_dtw_window_row(q, i, &first, &last);
  tsn_dtw_window_row(q, i + p->rows - 1, &lowest_first, &lowest_last);
  if (from == a->first && lowest_first <= from && last + 1 >= a->end) return FULL;
  bool in_band = q->window == TSANOM_DTW_SAKOE_CHIBA && i > q->radius && first > from &&
                 i + p->rows + q->radius < a->end;
  if (!in_band) return IRREGULAR;
  *base = first - a->first;
  return BAND;
}

/* Windows of a regular strip, in steps from its base. */
static void fill_regular(const strips *p, const rectangle *a, int shape, sweeper *s) {
  size_t lanes = p->kernels->lanes;
  for (size_t r = 0; r < p->rows; r++) {
    size_t at = r % DEPTH * lanes + lanes - 1 - r / DEPTH;
    size_t first = r / DEPTH * DELAY + (shape == BAND ? r : 0);
    size_t last = shape == BAND ? first + 2 * p->problem.radius + 1 : past_end(p, a);
    s->first[at] = (tick)first;
    s->last[at] = (tick)last;
    s->after[at] = shape == BAND ? (real)INFINITY : 0;
  }
}

/* Prepare a strip of regular shape. Its rows are in a straight line, so that begun and
 * end follow from the last row: rows-1 columns to the right, skew steps late. */
static void prepare_regular(const strips *p, const rectangle *a, size_t t, int shape,
                            size_t base, sweeper *s) {
  const tsanom_dtw_options *o = p->options;
  size_t width = a->end - a->first, skew = DELAY * (p->kernels->lanes - 1);
  const real *samples = p->x + (t * p->rows - p->padding) * p->problem.stride_x;
  if (s->shape != shape || s->width != width) fill_regular(p, a, shape, s);
  s->shape = shape;
  s->width = width;
  s->holds = false;
  for (size_t d = 0; d < o->dimensions; d++) {
    p->kernels->place(samples + d, p->problem.stride_x, s->x + d * p->rows);
  }
  p->kernels->fill(s->state, DEPTH, INFINITY);
  bool band = shape == BAND;
  s->begin = base;
  s->begun = base + (band ? skew + p->rows - 1 : 0);
  s->ending = band ? base + 2 * p->problem.radius + 1 : SIZE_MAX;
  s->end = band ? s->ending + skew + p->rows - 1 : width + skew;
}

/* Prepare any strip, row by row. */
static void prepare_irregular(const strips *p, const rectangle *a, size_t t, sweeper *s) {
  size_t begin = SIZE_MAX, end = 0, begun = 0, ending = SIZE_MAX;
  size_t lanes = p->kernels->lanes;
  size_t row = t * p->rows;
  s->shape = IRREGULAR;
  s->holds = p->problem.open_end_x > 0;
  for (size_t block = 0; block < lanes; block++) {
    size_t skew = DELAY * block;
    for (size_t u = 0; u < DEPTH; u++, row++) {
      size_t at = u * lanes + lanes - 1 - block, first_step, last_step;
      if (row < p->padding) {
        bool lowest = row + 1 == p->padding;
        first_step = pad_row(p, a, s, at, skew, lowest);
        begun = tsn_larger(begun, first_step);
        /* Rows above it stay infinite; what the last row of the strip passes down
         * begins at column -1. */
        if (lowest) begin = block > 0 ? skew - DELAY : 0;
        continue;
      }
      if (fill_row(p, a, s, row - p->padding, at, skew, &first_step, &last_step)) {
        ending = tsn_smaller(ending, last_step);
      }
      begin = tsn_smaller(begin, first_step);
      end = tsn_larger(end, last_step);
      begun = tsn_larger(begun, first_step);
    }
  }
  s->begin = begin;
  s->begun = begun;
  s->ending = ending;
  s->end = end;
}

void tsn_dtw_sweep_prepare(const strips *p, const rectangle *a, size_t t, sweeper *s) {
  size_t base;
  int shape = shape_of(p, a, t, &base);
  if (shape == IRREGULAR) {
    prepare_irregular(p, a, t, s);
  } else {
    prepare_regular(p, a, t, shape, base, s);
  }
  s->begin = s->begin / DELAY * DELAY;
  s->end = tsn_round_up(s->end, DELAY);
  s->begun = tsn_round_up(s->begun, DELAY);
  s->ending = s->ending / DELAY * DELAY;
  s->strip = (tsn_dtw_strip){
      .dimensions = p->options->dimensions,
      .penalty = (real)p->options->penalty,
      .squared = p->options->cost == TSANOM_COST_SQUARED,
      .x = s->x,
      .y = p->columns + a->first / DELAY,
      .column_stride = p->column_stride,
      .dimension_stride = p->dimension_stride,
      .boundary = a->boundary,
      .state = s->state,
      .first = s->first,
      .last = s->last,
      .after = s->after,
      .base = base,
  };
}

/* The kernels complete the state: what blocks have passed down before the first step. */
void tsn_dtw_sweep_start(const strips *p, sweeper *s) {
  p->kernels->start(&s->strip, s->begin);
}

/* Steps begin ... end-1 by the cheapest kernel of the options. */
void tsn_dtw_sweep_run(const strips *p, sweeper *s, size_t begin, size_t end) {
  const tsn_dtw_sweeps *sweeps = &p->kernels->cost[p->options->cost];
  bool traced = s->strip.trace != NULL;
  if (!p->plain && traced) {
    sweeps->traced_general(&s->strip, begin, end);
    return;
  }
  const tsn_dtw_plain_sweeps *plain = traced     ? &sweeps->traced
                                      : p->plain ? &sweeps->strip
                                      : p->options->dimensions == 1
                                          ? &sweeps->strip_penalty
                                          : &sweeps->strip_general;
  tsn_dtw_sweep_plain(plain, &s->strip, begin, s->begun, s->ending, end);
}

void tsn_dtw_sweep_trace(sweeper *s, unsigned char *trace) {
  s->strip.trace = trace;
  s->strip.traced = s->begin;
}

/* A window that moves to the right has columns in the row below that the last row of the
 * strip never wrote: there the boundary still has the row above the strip. */
void tsn_dtw_sweep_finish(const strips *p, const rectangle *a, size_t t) {
  size_t below = (t + 1) * p->rows - p->padding, first, last, last_below;
  if (below >= p->problem.n) return;
  tsn_dtw_window_row(&p->problem, below - 1, &first, &last);
  tsn_dtw_window_row(&p->problem, below, &first, &last_below);
  for (size_t j = tsn_larger(last + 1, a->first); j <= last_below && j < a->end; j++) {
    a->boundary[j - a->first] = INFINITY;
  }
}

bool tsn_dtw_all_cross(const strips *p, size_t t) {
  const tsn_dtw_problem *q = &p->problem;
  size_t done = (t + 1) * p->rows - p->padding; /* rows */
  return done > q->open_begin_x && done < q->n - q->open_end_x;
}

size_t tsn_dtw_first_live(const strips *p, const real *boundary, size_t t, size_t from,
                          size_t to, double cutoff, const double *tail) {
  const tsn_dtw_problem *q = &p->problem;
  size_t below = (t + 1) * p->rows - p->padding, first, last;
  double rest = tail ? tail[below] : 0;
  /* Without a tail the boundary is compared as it is: D never falls along a path. */
  double margin = rest == 0 ? 1 : 1 - 4 * 0x1p-52 * ((double)q->n + (double)q->m);
  tsn_dtw_window_row(q, below - 1, &first, &last);
  size_t end = tsn_smaller(to, last + 1);
  for (size_t j = tsn_larger(from, first); j < end; j++) {
    if (((double)boundary[j] + rest) * margin <= cutoff) return j;
  }
  return to;
}
