/* SPDX-License-Identifier: BSD-3-Clause */
/* The warping path: sweep forward and keep the choice of each cell, or the rows and
 * columns of a grid; then follow the choices from the end:
 *
 *   choice of (i,j)            next pair
 *   gap 0                      (i-1, j-1)
 *   gap 1, left 0              (i-1, j)
 *   gap 1, left 1              (i, j-1)
 *
 * Pairs are found from the last to the first and written from the end of the array
 * downwards; one move then brings them to its beginning, so no second array is needed. */
#include "dtw/dtw_path.h"

#include <math.h>
#include <string.h>

#include "core/size.h"
#include "dtw/dtw_sweeps.h"

/* Memory of a forward sweep from which a path is traced back: the choice of each cell (2
 * bits: which predecessor was the best), or, where that takes too much memory, rows and
 * columns of D at some distance from each other, so that any tile between them can be
 * computed again with its choices (A. Driga et al., "FastLSA", Algorithmica 45 (2006)
 * 337-375). Grids nest: a tile of one level is the area of the next.
 *
 *   +---+---+---+---+     kept rows and columns of level 0; the path * crosses few
 *   | * |   |   |   |     tiles, and only these are computed again, in a grid of
 *   +--*+---+---+---+     level 1 or traced
 *   |   *  **   |   |
 *   +---+**-+*--+---+
 *   |   |   | **|** |
 *   +---+---+---+--**
 *
 * Choices rather than D itself: 2 bits a cell (4 in double precision at level base)
 * instead of 64, and the way back reads no samples. docs/dtw.md has the time.
 *
 * Linear-space alignment after D. Hirschberg (Comm. ACM 18 (1975) 341-343) halves the
 * matrix and computes about 2 times its cells. A path crosses about 2k of the k*k tiles
 * of a grid, so that all levels together compute 1 + 2/k + (2/k)^2 + ... times the cells,
 * here with k = 16, and O(n + m) memory holds the lines.
 *
 * Limits of linear memory: choices may take 64 bytes a sample of either series, about
 * half of what the lines do. They suffice for bands of a radius of about 200 and for any
 * window of some 600 samples, which are traced at once, without a grid. */

/* What a level keeps of its area, tiles of `strips` strips x `columns` columns:
 *
 *        first            first + columns      first + 2 columns
 *          +--------------------|--------------------|---- ...
 *          |                    |                    |
 *   row line 0 ================ | ================== | ====      last row of the first
 *          |                    |                    |           `strips` strips
 *                       column line 0        column line 1
 *
 * The last line at the right and at the bottom is not kept: it is a line of the level
 * above, or the edge of the matrix. A line has memory only for the cells that the window
 * admits (row_stride, column_stride), so that narrow bands of long series take O(n + m).
 * A row line begins one column before its window, for the diagonal predecessor; a column
 * line begins at a whole strip, since a strip is what is computed again. */

/* Rows of one block in the traced tile: what row u < depth chose in column j is in
 * `choices` + ((j - first column of the tile + skew - begin) depth + u) choice_bytes. */
typedef struct {
  const unsigned char *choices;
  size_t u; /* of the row in question */
  size_t lane, skew, begin;
} tsn_dtw_traced_block;

typedef tsn_dtw_traceback traceback;
typedef tsn_dtw_level level;
typedef tsn_dtw_strips matrix;

/* Each level divides a tile of the level above into 16 x 16 tiles, of which a path
 * crosses about 2/16; no tile is narrower than a few turns of the lanes, since each strip
 * of a tile begins and ends with the triangles of its lanes. */
enum { COARSER = 16, FINEST_COLUMNS = 96 };

static size_t divide_up(size_t a, size_t b) {
  return a / b + (a % b != 0);
}

/* The window seen from the other series. */
static tsn_dtw_problem transposed(const tsn_dtw_problem *p) {
  tsn_dtw_problem t = *p;
  t.n = p->m;
  t.m = p->n;
  return t;
}

/* An upper bound of the columns that the window admits in a row. In a slope window it
 * does not use the ratio of the lengths, so that it is monotone in both: the memory for
 * the longest of several series serves all of them. */
static size_t widest_row(const tsn_dtw_problem *p) {
  return tsn_smaller(p->m, 2 * p->radius + 3);
}

/* Lines inside of `count` units that are cut after every `every` units. */
static size_t lines_between(size_t count, size_t every) {
  return count == 0 ? 0 : (count - 1) / every;
}

/* Lines of the area that a level has swept. */
static size_t row_lines(const level *l) {
  return lines_between(l->area.end_strip - l->area.first_strip, l->strips);
}

static size_t column_lines(const level *l) {
  return lines_between(l->area.end - l->area.first, l->columns);
}

/* Memory for the lines of every area of up to `strips` and `columns`. */
static void level_layout(tsn_arena *arena, const traceback *tb, size_t strips,
                         size_t columns, level *l) {
  const tsn_dtw_problem *p = &tb->matrix.problem;
  tsn_dtw_problem t = transposed(p);
  l->strips = divide_up(strips, COARSER);
  l->columns = tsn_larger(FINEST_COLUMNS, divide_up(columns, COARSER));
  l->columns = divide_up(l->columns, DELAY) * DELAY;
  l->row_stride = tsn_smaller(widest_row(p), columns) + 1;
  l->column_stride =
      tsn_smaller(widest_row(&t) + 2 * tb->matrix.rows, strips * tb->matrix.rows);
  size_t row_lines = tsn_smaller(lines_between(strips, 1), COARSER - 1);
  size_t column_lines = tsn_smaller(lines_between(columns, FINEST_COLUMNS), COARSER - 1);
  l->rows = tsn_arena_take(arena, tsn_product(row_lines, l->row_stride), sizeof(real));
  l->columns_kept =
      tsn_arena_take(arena, tsn_product(column_lines, l->column_stride), sizeof(real));
}

/* Bytes of the choices in an area, at most. The windows of the rows of a strip are
 * as wide as one of them and what they move by, which in all is the area. */
static size_t choice_bytes(const traceback *tb, size_t strips, size_t columns) {
  const tsn_dtw_kernels *k = tb->matrix.kernels;
  size_t skew = DELAY * (k->lanes + 1);
  size_t widest = tsn_smaller(widest_row(&tb->matrix.problem), columns);
  size_t all = tsn_product(strips, columns + skew);
  size_t in_band = tsn_sum(tsn_product(strips, widest + skew), columns);
  return tsn_product(tsn_smaller(all, in_band), DEPTH * k->choice_bytes);
}

/* Bytes that choices may take in linear memory: about half of what the lines do. */
static size_t linear_capacity(const tsn_dtw_problem *p) {
  enum { LEAST = 1 << 14, PER_SAMPLE = 64 };
  return LEAST + (p->n + p->m) * PER_SAMPLE;
}

/* Levels are used until the choices of a tile fit; longer series have more levels. */
static void levels_layout(tsn_arena *arena, traceback *tb, size_t capacity) {
  size_t strips = tb->matrix.count, columns = tb->matrix.problem.m;
  bool traced = false;
  for (int at = 0; at < TSN_DTW_LEVELS; at++) {
    traced = traced || choice_bytes(tb, strips, columns) <= capacity;
    if (!traced) tb->levels = at + 1;
    level *l = &tb->level[at];
    level_layout(arena, tb, strips, columns, l);
    if (strips == l->strips && columns <= l->columns) break;
    strips = l->strips;
    columns = l->columns;
  }
}

/* Copy the samples in the order of the kernels. */
static void dtw_traceback_fill(traceback *tb, const real *x, const real *y) {
  tb->boundary = tsn_dtw_boundary(tb->boundary_block, tb->matrix.kernels);
  tsn_dtw_strips_fill(&tb->matrix, x, y);
}

/* Take the memory for a path of the problem; it is enough for shorter series, too. */
static void dtw_traceback_layout(tsn_arena *arena, const tsn_dtw_problem *problem,
                                 const tsanom_dtw_options *options,
                                 const tsn_dtw_kernels *k, traceback *tb) {
  *tb = (traceback){.levels = 0};
  tsn_dtw_strips_layout(arena, problem, options, k, &tb->matrix);
  tsn_dtw_sweeper_layout(arena, options, k, &tb->sweeper);
  tb->boundary_block = tsn_dtw_boundary_layout(arena, problem->m, k);
  tb->last_column =
      problem->open_end_x ? tsn_arena_take(arena, problem->n, sizeof(real)) : NULL;
  size_t bytes = choice_bytes(tb, tb->matrix.count, problem->m);
  bool linear = options->path_memory == TSANOM_DTW_PATH_LINEAR;
  if (linear) {
    size_t capacity = linear_capacity(problem);
    levels_layout(arena, tb, capacity);
    bytes = tsn_smaller(bytes, capacity);
  }
  tb->traced_strips = tsn_arena_take(arena, tb->matrix.count, sizeof *tb->traced_strips);
  tb->choices = tsn_arena_take(arena, bytes, 1);
}

/* First row that the window admits in column j, down to a whole strip. */
static size_t first_row_kept(const traceback *tb, const level *l, size_t j) {
  tsn_dtw_problem t = transposed(&tb->matrix.problem);
  size_t first, last, rows = tb->matrix.rows;
  tsn_dtw_window_row(&t, j, &first, &last);
  size_t strip =
      (tsn_smaller(first, tb->matrix.problem.n - 1) + tb->matrix.padding) / rows;
  return tsn_larger(strip, l->area.first_strip) * rows;
}

/* Where D(i, last column of tile column c) is kept; NULL: outside of the window. */
static real *column_place(const traceback *tb, const level *l, size_t c, size_t i) {
  size_t j = l->area.first + (c + 1) * l->columns - 1;
  size_t row = i + tb->matrix.padding, first = first_row_kept(tb, l, j);
  if (row < first || row - first >= l->column_stride) return NULL;
  return l->columns_kept + c * l->column_stride + (row - first);
}

/* Row line number r, and the column of its first element, -1 at the left edge. */
static real *row_line(const traceback *tb, const level *l, size_t r,
                      ptrdiff_t *first_column) {
  size_t strip = l->area.first_strip + (r + 1) * l->strips, first, last;
  size_t i = strip * tb->matrix.rows - tb->matrix.padding - 1;
  tsn_dtw_window_row(&tb->matrix.problem, i, &first, &last);
  *first_column = (ptrdiff_t)tsn_larger(first, l->area.first) - 1;
  return l->rows + r * l->row_stride;
}

/* D at row -1 or column -1: the empty prefix, or samples left out by an open begin. */
static real edge(const traceback *tb, ptrdiff_t i, ptrdiff_t j) {
  const tsn_dtw_problem *p = &tb->matrix.problem;
  if (i < 0 && j < 0) return 0;
  bool open = i < 0 ? (size_t)j < p->open_begin_y : (size_t)i < p->open_begin_x;
  return open ? 0 : (real)INFINITY;
}

/* Whether the window admits (i,j), both >= 0. */
static bool in_window(const traceback *tb, ptrdiff_t i, ptrdiff_t j) {
  size_t first, last;
  tsn_dtw_window_row(&tb->matrix.problem, (size_t)i, &first, &last);
  return (size_t)j >= first && (size_t)j <= last;
}

/* D(i,j) on or above and left of the area of level `at`, as its lines, those of the
 * levels above, or the edge of the matrix have it; i or j may be -1. A line holds only
 * what the window admits, so the window is checked before any line is read. */
static real on_line(const traceback *tb, int at, ptrdiff_t i, ptrdiff_t j) {
  if (i < 0 || j < 0) return edge(tb, i, j);
  if (!in_window(tb, i, j)) return INFINITY;
  for (int n = at; n >= 0; n--) {
    const level *l = &tb->level[n];
    size_t row = (size_t)i + 1 + tb->matrix.padding;
    size_t first_row = l->area.first_strip * tb->matrix.rows;
    size_t below = row - first_row, right = (size_t)j + 1 - l->area.first;
    bool inside = row > first_row && (size_t)j >= l->area.first;
    if (!inside) continue;
    size_t r = below / (l->strips * tb->matrix.rows) - 1, c = right / l->columns - 1;
    if (below % (l->strips * tb->matrix.rows) == 0 && r < row_lines(l)) {
      ptrdiff_t first_column;
      const real *line = row_line(tb, l, r, &first_column);
      return line[j - first_column];
    }
    if (right % l->columns == 0 && c < column_lines(l)) {
      return *column_place(tb, l, c, (size_t)i);
    }
  }
  return INFINITY;
}

/* The boundary above an area, from the lines of the levels above `at`. */
static void fill_boundary(const traceback *tb, int at, const tsn_dtw_tile *area) {
  ptrdiff_t i = (ptrdiff_t)(area->first_strip * tb->matrix.rows) -
                (ptrdiff_t)tb->matrix.padding - 1;
  size_t margin = (DELAY + 1) * tb->matrix.kernels->lanes;
  size_t width = area->end - area->first;
  for (ptrdiff_t j = -1; j < (ptrdiff_t)width; j++) {
    ptrdiff_t column = j + (ptrdiff_t)area->first;
    tb->boundary[j] = i < 0 ? edge(tb, -1, column) : on_line(tb, at, i, column);
  }
  for (size_t j = 0; j < margin; j++) tb->boundary[width + j] = INFINITY;
}

/* The rectangle of an area, with the line left of it. */
static tsn_dtw_rectangle rectangle_of(const traceback *tb, int at,
                                      const tsn_dtw_tile *area) {
  tsn_dtw_rectangle r = {
      .first = area->first, .end = area->end, .boundary = tb->boundary};
  for (int n = at; n >= 0 && area->first > 0; n--) {
    const level *l = &tb->level[n];
    size_t offset = area->first - l->area.first;
    if (offset == 0 || offset % l->columns != 0) continue;
    size_t c = offset / l->columns - 1;
    r.left = l->columns_kept + c * l->column_stride;
    r.left_row =
        (ptrdiff_t)first_row_kept(tb, l, area->first - 1) - (ptrdiff_t)tb->matrix.padding;
    break;
  }
  return r;
}

/* Keep the cells of block b of strip t in the last column of tile column c. */
static void keep_block(const traceback *tb, const level *l, size_t t, size_t c,
                       size_t b) {
  size_t lanes = tb->matrix.kernels->lanes;
  size_t first = first_row_kept(tb, l, l->area.first + (c + 1) * l->columns - 1);
  real *line = l->columns_kept + c * l->column_stride;
  for (size_t u = 0; u < DEPTH; u++) {
    size_t row = t * tb->matrix.rows + b * DEPTH + u;
    if (row < tb->matrix.padding || row < first || row - first >= l->column_stride)
      continue;
    line[row - first] = tb->sweeper.state[u * lanes + lanes - 1 - b];
  }
}

/* Sweep from *step to step `to`, within the steps of the strip. */
static void run_to(traceback *tb, size_t *step, size_t to) {
  tsn_dtw_sweeper *s = &tb->sweeper;
  to = tsn_smaller(tsn_larger(to, *step), s->end);
  if (*step < to) tsn_dtw_sweep_run(&tb->matrix, s, *step, to);
  *step = to;
}

/* Sweep until the last block has left the column, and keep what each leaves there. */
static void cross_line(traceback *tb, const level *l, size_t t, size_t c, size_t *step) {
  const tsn_dtw_kernels *k = tb->matrix.kernels;
  for (size_t b = 0; b < k->lanes; b++) {
    run_to(tb, step, (c + 1) * l->columns + DELAY * b);
    keep_block(tb, l, t, c, b);
  }
}

/* Sweep strip t, and stop at each kept column as each block passes it: the state of a
 * block is its column only at that step. */
static void sweep_strip(traceback *tb, const level *l, size_t t) {
  tsn_dtw_sweeper *s = &tb->sweeper;
  size_t step = s->begin, skew = DELAY * tb->matrix.kernels->lanes;
  /* Lines that the strip's window is not at hold infinity or nothing. */
  size_t lines = column_lines(l), before = s->begin / l->columns;
  for (size_t c = before > 0 ? before - 1 : 0; c < lines; c++) {
    if ((c + 1) * l->columns >= s->end + skew) break;
    cross_line(tb, l, t, c, &step);
  }
  run_to(tb, &step, s->end);
}

/* Strips of a tile are traced in order: each takes the bytes after those of the strip
 * above, as many as its steps, so that strips of a narrow window take less. */
static void trace_strip(traceback *tb, size_t t) {
  tsn_dtw_sweeper *s = &tb->sweeper;
  tsn_dtw_traced_strip *strip = &tb->traced_strips[t - tb->traced.first_strip];
  if (t == tb->traced.first_strip) strip->choices = tb->choices;
  strip->begin = s->begin;
  tsn_dtw_sweep_trace(s, strip->choices);
  size_t step = s->begin;
  run_to(tb, &step, s->end);
  if (t + 1 < tb->traced.end_strip) {
    const tsn_dtw_kernels *k = tb->matrix.kernels;
    strip[1].choices = strip->choices + (step - s->begin) * DEPTH * k->choice_bytes;
  }
}

/* Keep the last row of strip t if it is the last of a tile; the last row of the area is a
 * line of the level above, or is not read. */
static void keep_row(const traceback *tb, const level *l, size_t t) {
  size_t done = t + 1 - l->area.first_strip;
  if (done % l->strips != 0 || t + 1 == l->area.end_strip) return;
  ptrdiff_t first_column, offset;
  real *line = row_line(tb, l, done / l->strips - 1, &first_column);
  offset = first_column - (ptrdiff_t)l->area.first;
  size_t width = l->area.end - l->area.first;
  for (size_t k = 0; k < l->row_stride && offset + (ptrdiff_t)k < (ptrdiff_t)width; k++) {
    line[k] = tb->boundary[offset + (ptrdiff_t)k];
  }
}

/* Cells of the last column, in which a path may end if x has an open end. */
static void keep_last_column(const traceback *tb, size_t t) {
  for (size_t r = 0; r < tb->matrix.rows; r++) {
    size_t row = t * tb->matrix.rows + r;
    if (row < tb->matrix.padding) continue;
    size_t i = row - tb->matrix.padding;
    tb->last_column[i] = in_window(tb, (ptrdiff_t)i, (ptrdiff_t)tb->matrix.problem.m - 1)
                             ? tsn_dtw_row_state(&tb->matrix, &tb->sweeper, r)
                             : (real)INFINITY;
  }
}

/* Whether every path through the last row of strip t lies above the cut-off. */
static bool all_above(const traceback *tb, size_t t) {
  double cutoff = tb->matrix.options->cutoff;
  size_t m = tb->matrix.problem.m;
  return isfinite(cutoff) && tsn_dtw_all_cross(&tb->matrix, t) &&
         tsn_dtw_first_live(&tb->matrix, tb->boundary, t, 0, m, cutoff, NULL) == m;
}

/* Sweep an area, the matrix or a tile of the level above, and keep the lines of the
 * tiles of level `at`, or trace it if that is `levels`. TSN_DTW_*; abandoned is only a
 * sweep of the whole matrix. */
static int dtw_traceback_sweep(traceback *tb, int at, const tsn_dtw_tile *area,
                               const tsn_dtw_watch *watch) {
  enum { CELLS_PER_POLL = 1 << 20 };
  level *l = at < tb->levels ? &tb->level[at] : NULL; /* none: traced */
  tsn_dtw_sweeper *s = &tb->sweeper;
  size_t cells = 0;
  fill_boundary(tb, at - 1, area);
  tsn_dtw_rectangle rectangle = rectangle_of(tb, at - 1, area);
  *(l ? &l->area : &tb->traced) = *area;
  for (size_t t = area->first_strip; t < area->end_strip; t++) {
    tsn_dtw_sweep_prepare(&tb->matrix, &rectangle, t, s);
    tsn_dtw_sweep_start(&tb->matrix, s);
    if (l) {
      sweep_strip(tb, l, t);
    } else {
      trace_strip(tb, t);
    }
    tsn_dtw_sweep_finish(&tb->matrix, &rectangle, t);
    if (l) keep_row(tb, l, t);
    if (at == 0 && tb->last_column) keep_last_column(tb, t);
    if (at == 0 && all_above(tb, t)) return TSN_DTW_ABANDONED;
    cells += (s->end - s->begin) * tb->matrix.rows;
    if (cells > CELLS_PER_POLL) {
      cells = 0;
      if (tsn_dtw_watch_stop(watch)) return TSN_DTW_STOPPED;
    }
  }
  return TSN_DTW_SWEPT;
}

/* The block of row i of the traced tile. */
static tsn_dtw_traced_block dtw_traceback_block(const traceback *tb, size_t i) {
  const tsn_dtw_kernels *k = tb->matrix.kernels;
  size_t row = i + tb->matrix.padding, r = row % tb->matrix.rows, block = r / DEPTH;
  const tsn_dtw_traced_strip *s =
      &tb->traced_strips[row / tb->matrix.rows - tb->traced.first_strip];
  return (tsn_dtw_traced_block){
      .choices = s->choices,
      .u = r % DEPTH,
      .lane = k->lanes - 1 - block,
      .begin = s->begin,
      .skew = DELAY * block,
  };
}

/* A path on its way back; pairs are written from the end of the array. */
typedef struct {
  traceback *traceback;
  const tsn_dtw_watch *watch;
  ptrdiff_t i, j; /* the pair that is next; either is negative when all are done */
  size_t *path;   /* of `capacity` = n + m - 1 pairs */
  size_t capacity, length;
} trace;

static bool is_inside(const trace *t, const tsn_dtw_tile *tile) {
  ptrdiff_t row = t->i + (ptrdiff_t)t->traceback->matrix.padding;
  ptrdiff_t first = (ptrdiff_t)(tile->first_strip * t->traceback->matrix.rows);
  return t->i >= 0 && t->j >= (ptrdiff_t)tile->first && row >= first;
}

/* The tile of a level that holds the next pair, up to that pair. */
static tsn_dtw_tile tile_at(const trace *t, int at) {
  const tsn_dtw_level *l = &t->traceback->level[at];
  size_t strip =
      ((size_t)t->i + t->traceback->matrix.padding) / t->traceback->matrix.rows;
  size_t down = (strip - l->area.first_strip) / l->strips * l->strips;
  size_t right = ((size_t)t->j - l->area.first) / l->columns * l->columns;
  return (tsn_dtw_tile){.first_strip = l->area.first_strip + down,
                        .end_strip = strip + 1,
                        .first = l->area.first + right,
                        .end = (size_t)t->j + 1};
}

/* Trace back while the path stays in one block of rows of the traced tile. No branch
 * depends on a choice, which is as good as random and would be mispredicted; the steps
 * are sums of bits. Within a block only the vector changes, not the lane: both bytes and
 * both shifts are fixed. */
static void trace_block(trace *t) {
  const tsn_dtw_kernels *k = t->traceback->matrix.kernels;
  tsn_dtw_traced_block b = dtw_traceback_block(t->traceback, (size_t)t->i);
  ptrdiff_t first = (ptrdiff_t)t->traceback->traced.first,
            skew = (ptrdiff_t)(b.skew - b.begin);
  ptrdiff_t top = t->i - (ptrdiff_t)b.u; /* row of the block */
  size_t gap_bit = b.lane, left_bit = k->lanes + b.lane;
  const unsigned char *gap_byte = b.choices + gap_bit / 8;
  const unsigned char *left_byte = b.choices + left_bit / 8;
  while (t->i >= 0 && t->i >= top && t->j >= first) {
    size_t *pair = t->path + 2 * (t->capacity - ++t->length);
    pair[0] = (size_t)t->i;
    pair[1] = (size_t)t->j;
    size_t vector = (size_t)(t->j - first + skew) * DEPTH + (size_t)(t->i - top);
    size_t at = vector * k->choice_bytes;
    ptrdiff_t gap = gap_byte[at] >> gap_bit % 8 & 1;
    ptrdiff_t left = left_byte[at] >> left_bit % 8 & gap;
    t->i -= 1 - left;
    t->j -= 1 - (gap - left);
  }
}

/* Trace back until the path leaves the area that the level has swept. The depth of the
 * recursion is the number of levels. A tile ends at the pair that is next: what lies
 * below and to the right of it is not swept again. */
static bool trace_area(trace *t, int at, /* NOLINT(misc-no-recursion) */
                       const tsn_dtw_tile *area) {
  while (is_inside(t, area)) {
    if (at == t->traceback->levels) {
      trace_block(t);
      continue;
    }
    tsn_dtw_tile tile = tile_at(t, at);
    int outcome = dtw_traceback_sweep(t->traceback, at + 1, &tile, t->watch);
    if (outcome == TSN_DTW_STOPPED || tsn_dtw_watch_stop(t->watch)) return false;
    if (!trace_area(t, at + 1, &tile)) return false;
  }
  return true;
}

/* The last pair and its cell, of equals that which leaves out fewest samples. */
static real find_end(const traceback *tb, trace *t) {
  const tsn_dtw_problem *p = &tb->matrix.problem;
  size_t first, last;
  real best = INFINITY;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  t->i = (ptrdiff_t)p->n - 1;
  t->j = (ptrdiff_t)p->m - 1;
  for (size_t k = 0; k <= p->open_end_y; k++) {
    size_t j = p->m - 1 - k;
    if (j >= first && j <= last && tb->boundary[j] < best) {
      best = tb->boundary[j];
      t->j = (ptrdiff_t)j;
    }
  }
  size_t left_out = p->m - 1 - (size_t)t->j;
  for (size_t k = 1; k <= p->open_end_x; k++) {
    size_t i = p->n - 1 - k;
    real end = tb->last_column[i];
    if (end < best || (end == best && k < left_out)) {
      best = end;
      left_out = k;
      t->i = (ptrdiff_t)i;
      t->j = (ptrdiff_t)p->m - 1;
    }
  }
  return best;
}

/* Lengths that fit leave the path, of less than 2^53 pairs, below PTRDIFF_MAX bytes. */
tsanom_status tsn_dtw_path_init(tsn_dtw_path *p, const tsn_dtw_operand *x,
                                const tsn_dtw_operand *y,
                                const tsn_dtw_settings *settings) {
  if (!tsn_dtw_length_fits(x->count) || !tsn_dtw_length_fits(y->count)) {
    return TSANOM_E_OVERFLOW;
  }
  p->x = x->samples;
  p->y = y->samples;
  p->settings = settings;
  tsanom_status status =
      tsn_dtw_problem_init(&p->problem, x->count, y->count, &settings->options);
  p->problem.stride_x = x->stride;
  p->problem.stride_y = y->stride;
  return status;
}

void tsn_dtw_path_layout(tsn_arena *arena, void *path) {
  tsn_dtw_path *p = path;
  dtw_traceback_layout(arena, &p->problem, &p->settings->options,
                       tsn_dtw_kernels_of(p->settings), &p->traceback);
}

tsanom_status tsn_dtw_path_run(tsn_dtw_path *p, const tsn_dtw_watch *watch, size_t *path,
                               size_t *length, real *distance) {
  traceback *tb = &p->traceback;
  if (!tsn_dtw_path_exists(&p->problem)) {
    *length = 0;
    *distance = INFINITY;
    return TSANOM_INFEASIBLE;
  }
  dtw_traceback_fill(tb, p->x, p->y);
  trace t = {.traceback = tb,
             .watch = watch,
             .path = path,
             .capacity = p->problem.n + p->problem.m - 1};
  tsn_dtw_tile all = {.end_strip = tb->matrix.count, .end = p->problem.m};
  int outcome = dtw_traceback_sweep(tb, 0, &all, watch);
  if (outcome == TSN_DTW_STOPPED) return TSANOM_STOPPED;
  real best = outcome == TSN_DTW_ABANDONED ? (real)INFINITY : find_end(tb, &t);
  double cutoff = p->settings->options.cutoff;
  if (isinf(best) || (double)best > cutoff) {
    *length = 0; /* where all sums overflow, no path is better than another */
    *distance = INFINITY;
    return (double)best > cutoff ? TSANOM_CUTOFF : TSANOM_OK;
  }
  if (!trace_area(&t, 0, &all)) return TSANOM_STOPPED;
  *length = t.length;
  *distance = best;
  memmove(path, path + 2 * (t.capacity - t.length), 2 * t.length * sizeof *path);
  return TSANOM_OK;
}
