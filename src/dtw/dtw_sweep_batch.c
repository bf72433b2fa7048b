/* SPDX-License-Identifier: BSD-3-Clause */
/* The host side of a batch: samples interleaved by lane, windows of the rows of a strip,
 * what passes from strip to strip, ends of paths. The windows are those of
 * dtw_sweep_strips.c with one row per vector, hence without the delay of lanes. */
#include "dtw/dtw_sweeps.h"

#include <math.h>

#include "core/size.h"

typedef tsn_dtw_batch batch;
typedef tsn_dtw_batch_buffers buffers;

/* Strips between two checks of the cut-off, each of which reads a row of all lanes. */
enum { STRIPS_PER_CHECK = 4, CELLS_PER_POLL = 1 << 21 };

/* A batch in progress. Rows are padded above row 0, as those of a single pair. */
typedef struct {
  const batch *batch;
  const tsn_dtw_settings *settings;
  const tsn_dtw_kernels *kernels;
  buffers *buffers;
  tsn_dtw_plain_sweeps sweeps; /* if it is plain */
  tsn_dtw_problem problem;
  size_t depth;           /* rows of a strip */
  size_t strips, padding; /* rows above row 0 */
  bool plain;             /* one dimension and no penalty */
} run;

void tsn_dtw_batch_layout(tsn_arena *arena, size_t n, size_t m,
                          const tsn_dtw_settings *settings, buffers *b) {
  const tsn_dtw_kernels *k = tsn_dtw_kernels_of(settings);
  size_t depth = k->batch_depth, rows = (n / depth + 1) * depth;
  size_t dimensions = settings->options.dimensions;
  /* Sweeps read one column of samples and of the boundary more than there are. */
  *b = (buffers){
      .x = tsn_arena_take(arena, tsn_product(rows * k->lanes, dimensions), sizeof(real)),
      .y = tsn_arena_take(arena, tsn_product((m + 1) * k->lanes, dimensions),
                          sizeof(real)),
      .boundary = tsn_arena_take(arena, (m + 2) * k->lanes, sizeof(real)),
      .state = tsn_arena_take(arena, (depth + 1) * k->lanes, sizeof(real)),
      .after = tsn_arena_take(arena, depth, sizeof(real)),
      .first = tsn_arena_take(arena, depth, sizeof(tick)),
      .last = tsn_arena_take(arena, depth, sizeof(tick)),
  };
}

/* Samples of x: row by row, a vector a row; of several dimensions strip by strip
 * in the order of the kernel. */
static void fill_x(const run *r) {
  const tsanom_dtw_options *o = &r->settings->options;
  const tsn_dtw_kernels *k = r->kernels;
  size_t stride = r->batch->stride_x;
  size_t rows = o->dimensions == 1 ? r->strips * r->depth : r->depth; /* of a piece */
  for (size_t row = 0; row < r->strips * r->depth; row += rows) {
    size_t pad = row < r->padding ? tsn_smaller(r->padding - row, rows) : 0;
    size_t first = tsn_larger(row, r->padding) - r->padding;
    for (size_t d = 0; d < o->dimensions; d++) {
      real *to = r->buffers->x + (row * o->dimensions + d * r->depth) * k->lanes;
      k->fill(to, pad, d == 0 ? (real)INFINITY : 0);
      k->interleave(r->batch->x, first * stride + d, stride, rows - pad,
                    to + pad * k->lanes);
    }
  }
}

/* Samples of y: column by column, a vector a column; one dimension after the other. */
static void fill_y(const run *r) {
  const tsanom_dtw_options *o = &r->settings->options;
  size_t m = r->problem.m;
  for (size_t d = 0; d < o->dimensions; d++) {
    r->kernels->interleave(r->batch->y, d, r->batch->stride_y, m,
                           r->buffers->y + d * m * r->kernels->lanes);
  }
}

typedef struct {
  size_t begin, begun, ending, end; /* as of tsn_dtw_sweep_plain() */
} columns;

/* Prepare row u of strip t, as dtw_sweep_strips.c does for one pair. */
static void prepare_row(const run *r, size_t t, size_t u, columns *c) {
  const tsn_dtw_problem *p = &r->problem;
  size_t row = t * r->depth + u;
  buffers *b = r->buffers;
  size_t first, last;
  real state, after = 0;
  if (row < r->padding) {
    bool lowest = row + 1 == r->padding;
    state = lowest ? 0 : (real)INFINITY;
    first = lowest ? p->open_begin_y : 0;
    last = p->m;
    c->begin = 0;
    c->begun = tsn_larger(c->begun, first);
  } else {
    size_t i = row - r->padding;
    tsn_dtw_window_row(p, i, &first, &last);
    state = first == 0 && i < p->open_begin_x ? 0 : (real)INFINITY;
    after = ++last < p->m ? (real)INFINITY : 0;
    c->begin = tsn_smaller(c->begin, first);
    c->begun = tsn_larger(c->begun, first);
    c->ending = tsn_smaller(c->ending, last);
    c->end = tsn_larger(c->end, last);
  }
  if (state == 0) r->kernels->fill(b->state + u * r->kernels->lanes, 1, 0);
  b->after[u] = after;
  b->first[u] = (tick)first;
  b->last[u] = (tick)last;
}

/* Sweep strip t; the boundary passes from the row above it to its last row. */
static void sweep_strip(const run *r, size_t t) {
  const tsn_dtw_kernels *k = r->kernels;
  buffers *b = r->buffers;
  size_t lanes = k->lanes;
  columns c = {.begin = SIZE_MAX, .ending = SIZE_MAX};
  k->fill(b->state, r->depth, INFINITY);
  for (size_t u = 0; u < r->depth; u++) prepare_row(r, t, u, &c);
  c.begin = tsn_smaller(c.begin, c.end);
  /* The boundary's vector -1 is the first of the buffer. The state takes over the one
   * before the first column, the diagonal predecessor of its uppermost cell. */
  const real *before = b->boundary + c.begin * lanes;
  for (size_t lane = 0; lane < lanes; lane++) {
    b->state[r->depth * lanes + lane] = before[lane];
  }
  real left = b->state[(r->depth - 1) * lanes];
  tsn_dtw_strip strip = {
      .dimensions = r->settings->options.dimensions,
      .penalty = (real)r->settings->options.penalty,
      .squared = r->settings->options.cost == TSANOM_COST_SQUARED,
      .x = b->x + t * r->depth * lanes * r->settings->options.dimensions,
      .y = b->y,
      .dimension_stride = r->problem.m * lanes,
      .boundary = b->boundary + lanes,
      .state = b->state,
      .first = b->first,
      .last = b->last,
      .after = b->after};
  if (!r->plain) {
    k->cost[r->settings->options.cost].batch_general(&strip, c.begin, c.end);
  } else {
    tsn_dtw_sweep_plain(&r->sweeps, &strip, c.begin, c.begun, c.ending, c.end);
  }
  /* What the strip below reads beyond what this one wrote. */
  k->fill(b->boundary + c.begin * lanes, 1, c.begin == 0 ? left : (real)INFINITY);
  size_t next = t + 1 < r->strips ? (t + 1) * r->depth - r->padding : 0, first, last;
  if (next == 0) return;
  tsn_dtw_window_row(&r->problem, next, &first, &last);
  if (last >= c.end) {
    k->fill(b->boundary + (c.end + 1) * lanes, last + 1 - c.end, INFINITY);
  }
}

/* Least cells of each lane in columns first ... last of the boundary. Where all paths
 * cross the row, they bound the distances from below. */
static void least_of(const run *r, size_t first, size_t last, real *lanes) {
  const real *from = r->buffers->boundary + (first + 1) * r->kernels->lanes;
  r->kernels->least(from, last + 1 - first, lanes);
}

/* Whether no lane has a path within the cut-off through the last row of strip t. */
static bool all_above(const run *r, size_t t) {
  const tsn_dtw_problem *p = &r->problem;
  double cutoff = r->settings->options.cutoff;
  size_t below = (t + 1) * r->depth - r->padding, first, last;
  if (below <= p->open_begin_x || below + p->open_end_x >= p->n) return false;
  tsn_dtw_window_row(p, below - 1, &first, &last);
  if (first > last) return false;
  _Alignas(TSN_ARENA_ALIGN) real lanes[TSN_DTW_BATCH_LANES];
  least_of(r, first, last, lanes);
  double margin = 1 - 4 * 0x1p-52 * ((double)p->n + (double)p->m);
  for (size_t lane = 0; lane < r->kernels->lanes; lane++) {
    const double *tail = r->batch->tail[lane];
    double least = (double)lanes[lane];
    if (tail) least = (least + tail[below]) * margin;
    if (least <= cutoff) return false;
  }
  return true;
}

/* An open end of x: paths may end in the last column of the last open_end_x + 1 rows. A
 * row keeps its last cell in the state if its window reaches the right edge. */
static void keep_open_ends(const run *r, size_t t, real *distances) {
  const tsn_dtw_problem *p = &r->problem;
  size_t lanes = r->kernels->lanes;
  for (size_t u = 0; u < r->depth; u++) {
    size_t row = t * r->depth + u, first, last;
    if (row < r->padding || row - r->padding + p->open_end_x + 1 < p->n) continue;
    tsn_dtw_window_row(p, row - r->padding, &first, &last);
    if (last + 1 < p->m) continue;
    for (size_t lane = 0; lane < lanes; lane++) {
      real value = r->buffers->state[u * lanes + lane];
      if (value < distances[lane]) distances[lane] = value;
    }
  }
}

/* An open end of y: paths may end in the last open_end_y + 1 columns of the last row. */
static void keep_last_row(const run *r, real *distances) {
  const tsn_dtw_problem *p = &r->problem;
  size_t first, last, open = p->m - 1 - p->open_end_y;
  tsn_dtw_window_row(p, p->n - 1, &first, &last);
  if (first < open) first = open;
  if (first > last) return;
  _Alignas(TSN_ARENA_ALIGN) real lanes[TSN_DTW_BATCH_LANES];
  least_of(r, first, last, lanes);
  for (size_t lane = 0; lane < r->kernels->lanes; lane++) {
    if (lanes[lane] < distances[lane]) distances[lane] = lanes[lane];
  }
}

/* All strips of a batch; the least cell in which a path may end is the distance. */
static tsanom_status sweep_all(const run *r, const tsn_dtw_watch *watch,
                               real *distances) {
  size_t lanes = r->kernels->lanes, cells = 0;
  bool checks = isfinite(r->settings->options.cutoff);
  size_t open = r->problem.open_begin_y + 1;
  r->kernels->fill(r->buffers->boundary, open, 0);
  r->kernels->fill(r->buffers->boundary + open * lanes, r->problem.m + 1 - open,
                   INFINITY);
  for (size_t t = 0; t < r->strips; t++) {
    sweep_strip(r, t);
    if (r->problem.open_end_x) keep_open_ends(r, t, distances);
    if (checks && t % STRIPS_PER_CHECK == STRIPS_PER_CHECK - 1 && all_above(r, t)) {
      return TSANOM_OK;
    }
    cells += r->depth * lanes * tsn_smaller(r->problem.m, 2 * r->problem.radius + 1);
    if (cells > CELLS_PER_POLL) {
      cells = 0;
      if (tsn_dtw_watch_stop(watch)) return TSANOM_STOPPED;
    }
  }
  keep_last_row(r, distances);
  return TSANOM_OK;
}

tsanom_status tsn_dtw_batch_run(const batch *pairs, const tsn_dtw_settings *settings,
                                buffers *b, const tsn_dtw_watch *watch, real *distances) {
  const tsanom_dtw_options *o = &settings->options;
  const tsn_dtw_kernels *k = tsn_dtw_kernels_of(settings);
  run r = {.batch = pairs,
           .settings = settings,
           .kernels = k,
           .buffers = b,
           .sweeps = k->cost[o->cost].batch,
           .depth = k->batch_depth,
           .plain = o->dimensions == 1 && o->penalty == 0};
  if (tsn_dtw_staggers(k)) r.sweeps.inner = k->cost[o->cost].batch_staggered;
  tsn_dtw_problem_init(&r.problem, pairs->n, pairs->m, o);
  r.strips = (pairs->n + r.depth - 1) / r.depth;
  r.padding = r.strips * r.depth - pairs->n;
  for (size_t lane = 0; lane < r.kernels->lanes; lane++) distances[lane] = INFINITY;
  if (!tsn_dtw_path_exists(&r.problem)) return TSANOM_OK;
  fill_x(&r);
  fill_y(&r);
  tsanom_status status = sweep_all(&r, watch, distances);
  for (size_t lane = 0; lane < r.kernels->lanes; lane++) {
    if ((double)distances[lane] > o->cutoff) distances[lane] = INFINITY;
  }
  return status;
}
