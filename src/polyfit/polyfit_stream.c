/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of samples that arrive in pieces.
 *
 *   push:  | head | whole blocks of 2048 ...        | tail |
 *            |      summed where they are              kept as pending samples
 *            completes the pending block, which is summed
 *
 * Blocks are those of the stream, not of the pushes, so that the sums do not depend on
 * how the samples are divided among pushes. A push costs O(terms) per sample, a fit
 * O(terms^3), and the memory does not depend on the number of samples. Until the first
 * block is complete all samples are at hand, and the fit is that of arrays: it keeps the
 * digits that sums lose at condition numbers above 1e8.
 *
 * It bounds the memory: a fit of all samples at once needs them all (10^8 take 1.6 GB, a
 * stream of them 6 MiB, docs/polyfit.md). Python's FitStream is this object.
 *
 * A push is atomic: the sums are updated in `scratch`, which replaces them at the end. A
 * poll that stops it, or an invalid sample, leaves the stream as it was. */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <tsanom/polyfit.h>

#include "core/arena.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/parallel.h"
#include "core/size.h"
#include "core/state.h"
#include "polyfit/polyfit_call.h"
#include "polyfit/polyfit_map.h"
#include "polyfit/polyfit_solve.h"

enum { WAVE = 32 }; /* blocks computed in parallel */

#define BLOCK ((size_t)2048) /* samples added to the sums at a time */

/* Units of a set of sums: the interval of the map, in units of x, and the units of x, y
 * and the weights. */
typedef struct {
  double low, high;
  tsn_polyfit_map map;
} sums_frame;

typedef struct {
  uint64_t samples;
  sums_frame frame;
  tsn_polyfit_ranges ranges; /* of the samples */
  /* sum w T_k (2 terms - 1 of them), sum w T_k y (terms), sum w y^2. */
  tsn_dd sums[TSN_POLYFIT_MAX_SUMS];
} stream_sums;

/* A block of a wave. */
typedef struct {
  tsn_polyfit_ranges ranges;
  sums_frame frame;
} wave_block;

/* The arrays of a stream, whose sizes follow from the degree. */
typedef struct {
  double *x, *y, *weights;      /* BLOCK pending samples */
  tsn_dd *triangle;             /* terms x terms, by columns */
  double *r, *inverse, *matrix; /* the same each */
  tsn_dd *added;                /* 3 terms for each block of a wave */
  tsn_dd *turning;              /* 7 terms, for a change of interval */
  double *lanes;                /* tsn_polyfit_lanes() */
  double *solving;              /* of the fit of pending samples */
} stream_parts;

struct tsanom_polyfit_stream {
  tsn_object owner;
  tsanom_polyfit_options options; /* degree: the highest of any fit */
  size_t pending;                 /* samples not yet in sums, less than a block */
  stream_sums sums, scratch;      /* of whole blocks; of the call in progress */
  wave_block blocks[WAVE];
  stream_parts parts;
};

static int terms_of(const tsanom_polyfit_stream *stream) {
  return stream->options.degree + 1;
}

/* Sums of Chebyshev polynomials over samples, transformed from one interval to another. A
 * stream does not know the range of its samples in advance, but t must stay in [-1, 1],
 * where |T_k| <= 1. When a sample falls outside the interval, it grows, and the sums
 * follow without the samples: T_k(t') with t' = slope·t + shift is a combination of
 * T_0(t), ..., T_k(t),
 *
 *     T_k(t') = sum_j a_kj T_j(t)    =>    sum w T_k(t') = sum_j a_kj sum w T_j(t)
 *
 *     old interval       |-----------|            t in [-1, 1]
 *     new interval    |---------------------|     t' in [-1, 1] for all old samples
 *
 * and likewise for the sums with y. If the new interval contains the old one, the
 * coefficients are at most 1, so that the transform is stable; in the other direction,
 * before a fit, errors grow, which the double-double sums can afford as long as the
 * interval is only a little too wide.
 *
 * A change costs O(terms^2) in double-double and happens a logarithmic number of times. */

static void clear_sums(stream_sums *sums) {
  *sums = (stream_sums){.ranges = tsn_polyfit_no_ranges()};
}

static tsn_dd times_power(tsn_dd a, int exponent) {
  return (tsn_dd){ldexp(a.high, exponent), ldexp(a.low, exponent)};
}

/* row = T_k(slope t + shift) in the basis T_j(t), in place of `before`, from the two rows before
 * it: 2 (slope t + shift) current - before, where t T_j = (T_{j+1} + T_{|j-1|}) / 2. */
static void next_row(tsn_dd slope, tsn_dd shift, int k, const tsn_dd *current,
                     tsn_dd *row) {
  for (int j = 0; j <= k; j++) {
    tsn_dd raised = tsn_dd_from(0);
    if (j > 0) raised = j == 1 ? times_power(current[0], 1) : current[j - 1];
    if (j + 1 < k) raised = tsn_dd_add(raised, current[j + 1]);
    tsn_dd entry = tsn_dd_multiply(slope, raised);
    if (j < k) {
      entry = tsn_dd_add(entry, times_power(tsn_dd_multiply(shift, current[j]), 1));
    }
    row[j] = j < k - 1 ? tsn_dd_subtract(entry, row[j]) : entry;
  }
}

/* One transformed sum: row k has the coefficients of T_0, ..., T_k. */
static tsn_dd combine(const tsn_dd *row, int k, const tsn_dd *sums) {
  tsn_dd total = tsn_dd_from(0);
  for (int j = 0; j <= k; j++) {
    total = tsn_dd_add(total, tsn_dd_multiply(row[j], sums[j]));
  }
  return total;
}

static void set_interval(sums_frame *frame, double low, double high) {
  frame->low = low;
  frame->high = high;
  tsn_polyfit_map_x(&frame->map, low, high);
}

/* Transform the sums to another map of x. `slope` and `shift` are computed in
 * double-double from the doubles of both maps, so that t' is what the new map gives for
 * the samples themselves. */
static void change_interval(stream_sums *sums, int terms, double low, double high,
                            tsn_dd *turning) {
  if (low == sums->frame.low && high == sums->frame.high) return;
  tsn_polyfit_map old = sums->frame.map, *map = &sums->frame.map;
  tsn_dd *rows[2] = {turning, turning + (ptrdiff_t)2 * terms},
         *turned = rows[1] + (ptrdiff_t)2 * terms;
  int powers = 2 * terms - 1;
  set_interval(&sums->frame, low, high);
  int change = map->x_exponent - old.x_exponent;
  tsn_dd slope =
      tsn_dd_divide(tsn_dd_from(ldexp(map->scale, change)), tsn_dd_from(old.scale));
  tsn_dd shift = tsn_two_sum(ldexp(old.center, change), -map->center);
  shift = tsn_dd_multiply(shift, tsn_dd_from(map->scale));
  rows[0][0] = tsn_dd_from(1);
  rows[1][0] = shift;
  rows[1][1] = slope;
  for (int k = 0; k < powers; k++) {
    tsn_dd *row = rows[k % 2];
    if (k >= 2) next_row(slope, shift, k, rows[(k + 1) % 2], row);
    turned[k] = combine(row, k, sums->sums);
    if (k < terms) turned[powers + k] = combine(row, k, sums->sums + powers);
  }
  for (int k = 0; k < powers + terms; k++) sums->sums[k] = turned[k];
}

/* Transform the sums to other units of y and of the weights: exact, except for underflow,
 * since units are powers of two. Sums with w y^2 contain the unit of y twice. */
static void change_units(stream_sums *sums, int terms, int y_exponent,
                         int weight_exponent) {
  tsn_polyfit_map *map = &sums->frame.map;
  int y = y_exponent - map->y_exponent;
  int weight = weight_exponent - map->weight_exponent;
  int powers = 2 * terms - 1, count = powers + terms + 1;
  tsn_polyfit_map_y(map, y_exponent, weight_exponent);
  if (y == 0 && weight == 0) return;
  for (int k = 0; k < count; k++) {
    int exponent = weight + (k < powers ? 0 : k < count - 1 ? y : 2 * y);
    sums->sums[k] = times_power(sums->sums[k], exponent);
  }
}

static void change_frame(stream_sums *sums, int terms, const sums_frame *frame,
                         tsn_dd *turning) {
  change_units(sums, terms, frame->map.y_exponent, frame->map.weight_exponent);
  change_interval(sums, terms, frame->low, frame->high, turning);
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* Extend the interval to contain [low, high]. It grows by at least a fraction of its
 * length, so that it grows a logarithmic number of times. The fraction is small because
 * the change to the range of the samples multiplies errors by about T_{2·terms}(1 + 2 / terms). */
static void widen(sums_frame *frame, int terms, double low, double high) {
  double growth = frame->high / terms - frame->low / terms;
  double below = frame->low - growth, above = frame->high + growth;
  if (low >= frame->low) {
    low = frame->low;
  } else if (below < low && isfinite(below)) {
    low = below;
  }
  if (high <= frame->high) {
    high = frame->high;
  } else if (above > high && isfinite(above)) {
    high = above;
  }
  set_interval(frame, low, high);
}

/* The frame of sums after adding samples of these ranges; `frame`: of the sums before,
 * NULL if they are empty. */
static sums_frame frame_with(const sums_frame *frame, int terms,
                             const tsn_polyfit_ranges *ranges) {
  sums_frame grown = {0};
  int y = tsn_polyfit_y_exponent(ranges->y);
  int weight = tsn_polyfit_weight_exponent(ranges->weights.high);
  double low = ranges->x.low, high = ranges->x.high;
  if (!frame) {
    set_interval(&grown, low, high);
    tsn_polyfit_map_y(&grown.map, y, weight);
    return grown;
  }
  grown = *frame;
  tsn_polyfit_map_y(&grown.map, smaller(y, frame->map.y_exponent),
                    smaller(weight, frame->map.weight_exponent));
  if (low < frame->low || high > frame->high) widen(&grown, terms, low, high);
  return grown;
}

static const sums_frame *frame_of(const stream_sums *sums) {
  return sums->samples ? &sums->frame : NULL;
}

/* Add the sums of `count` samples in `frame`, which contains the interval of the sums, so
 * that the transform to it is stable: after it, both have the same meaning. */
static void take_sums(stream_sums *sums, int terms, const sums_frame *frame,
                      const tsn_polyfit_ranges *ranges, uint64_t count,
                      const tsn_dd *added, tsn_dd *turning) {
  if (sums->samples == 0) {
    sums->frame = *frame;
  } else {
    change_frame(sums, terms, frame, turning);
  }
  for (int k = 0; k < 3 * terms; k++) {
    sums->sums[k] = tsn_dd_add(sums->sums[k], added[k]);
  }
  tsn_polyfit_join_ranges(&sums->ranges, ranges);
  sums->samples += count;
}

/* Add the samples of `other`, of which only interval and units change: to the union of
 * both intervals, which contains each, and the units of the larger samples. */
static void join_sums(stream_sums *sums, int terms, stream_sums *other, tsn_dd *turning) {
  if (other->samples == 0) return;
  sums_frame frame = other->frame;
  if (sums->samples) {
    const sums_frame *own = &sums->frame;
    set_interval(&frame, fmin(own->low, frame.low), fmax(own->high, frame.high));
    tsn_polyfit_map_y(&frame.map, smaller(own->map.y_exponent, frame.map.y_exponent),
                      smaller(own->map.weight_exponent, frame.map.weight_exponent));
  }
  change_frame(other, terms, &frame, turning);
  take_sums(sums, terms, &frame, &other->ranges, other->samples, other->sums, turning);
}

/* Adding blocks of samples to sums. The frame of a block depends on the ranges of all
 * samples up to it, but not on their sums. So a wave of blocks has two parallel loops
 * with a short sequential one after each:
 *
 *     parallel     range of each block
 *     in order     frame of each block, from the frame before and its ranges
 *     parallel     sums of each block, in its own frame
 *     in order     transform the total to the frame of the block, add
 *
 * The result is that of adding the blocks one by one, so it does not depend on the number
 * of threads. Two threads push 1e6 samples at degree 10 in half the time of one, 9.7
 * instead of 19.1 ns per sample (docs/benchmarks.md). */

typedef struct {
  tsanom_polyfit_stream *stream;
  const tsanom_exec *exec;
  tsn_polyfit_samples samples; /* of the wave */
} wave_pass;

/* Block i of the wave. */
static tsn_polyfit_samples block_of(const wave_pass *pass, size_t i) {
  size_t begin = i * BLOCK, left = pass->samples.n - begin;
  return tsn_polyfit_part(&pass->samples, begin, tsn_smaller(left, BLOCK));
}

static void find_ranges(void *context, size_t begin, size_t end, int thread) {
  const wave_pass *pass = context;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    tsn_polyfit_samples block = block_of(pass, i);
    pass->stream->blocks[i].ranges =
        tsn_polyfit_ranges_of(tsn_polyfit_kernels_at(pass->exec->isa), &block);
  }
}

/* The sums of one block in its frame: exactly, or in double for streams with refine = 0.
 */
static void sum_block(const wave_pass *pass, size_t i, double *lanes) {
  int terms = terms_of(pass->stream);
  const tsn_polyfit_map *map = &pass->stream->blocks[i].frame.map;
  tsn_dd *added = pass->stream->parts.added + i * 3 * (size_t)terms;
  tsn_polyfit_samples block = block_of(pass, i);
  if (pass->stream->options.refine) {
    tsn_polyfit_dd_kernels_at(pass->exec->isa)->moments(map, &block, terms, lanes, added);
    return;
  }
  double *plain = tsn_polyfit_plain_sums(lanes, terms);
  tsn_polyfit_kernels_at(pass->exec->isa)->moments(map, &block, terms, lanes, plain);
  for (int k = 0; k < 3 * terms; k++) added[k] = tsn_dd_from(plain[k]);
}

/* The same on another thread, whose stack OpenMP sets and is not the caller's: a stream would
 * need scratch for as many threads as any push may have. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-larger-than="
__attribute__((noinline)) static void sum_block_of_member(const wave_pass *pass,
                                                          size_t i) {
  _Alignas(
      TSN_POLYFIT_ALIGNMENT) double lanes[2 * TSN_POLYFIT_LANES * TSN_POLYFIT_MAX_SUMS];
  sum_block(pass, i, lanes);
}
#pragma GCC diagnostic pop

static void sum_blocks(void *context, size_t begin, size_t end, int thread) {
  const wave_pass *pass = context;
  for (size_t i = begin; i < end; i++) {
    if (thread == 0) {
      sum_block(pass, i, pass->stream->parts.lanes);
    } else {
      sum_block_of_member(pass, i);
    }
  }
}

/* Validity is known after the first loop, before anything is summed. */
static tsanom_status add_wave(wave_pass *pass) {
  stream_sums *sums = &pass->stream->scratch;
  wave_block *blocks = pass->stream->blocks;
  const sums_frame *frame = frame_of(sums);
  int terms = terms_of(pass->stream);
  size_t count = (pass->samples.n + BLOCK - 1) / BLOCK;
  tsanom_exec exec = *pass->exec;
  exec.poll = NULL;
  tsn_parallel_for(&exec, count, 1, find_ranges, pass, NULL);
  for (size_t i = 0; i < count; i++) {
    if (!tsn_polyfit_valid(&blocks[i].ranges)) return TSANOM_E_VALUE;
    blocks[i].frame = frame_with(frame, terms, &blocks[i].ranges);
    frame = &blocks[i].frame;
  }
  tsn_parallel_for(&exec, count, 1, sum_blocks, pass, NULL);
  for (size_t i = 0; i < count; i++) {
    take_sums(sums, terms, &blocks[i].frame, &blocks[i].ranges, block_of(pass, i).n,
              pass->stream->parts.added + i * 3 * (size_t)terms,
              pass->stream->parts.turning);
  }
  return TSANOM_OK;
}

/* Add samples to the scratch of a stream, on exec's threads; only the last block may be
 * shorter than the others. The poll is called before each wave, the smallest part that can
 * be added, with `before` plus the samples added as `done`, and `total`. Returns TSANOM_OK,
 * or TSANOM_STOPPED or TSANOM_E_VALUE (some sample is invalid), after which the sums are
 * undefined. */
static tsanom_status add_samples(tsanom_polyfit_stream *stream,
                                 const tsn_polyfit_samples *samples,
                                 const tsanom_exec *exec, uint64_t before,
                                 uint64_t total) {
  wave_pass pass = {.stream = stream, .exec = exec};
  for (size_t first = 0; first < samples->n; first += WAVE * BLOCK) {
    if (tsn_exec_stop(exec, before + first, total)) return TSANOM_STOPPED;
    pass.samples =
        tsn_polyfit_part(samples, first, tsn_smaller(samples->n - first, WAVE * BLOCK));
    tsanom_status status = add_wave(&pass);
    if (status != TSANOM_OK) return status;
  }
  return TSANOM_OK;
}

/* The normal equations of a stream in double-double arithmetic: Cholesky factorization
 * R^T R of the Gram matrix of the sums, R^T z = A^T W y, R c = z. Its condition number,
 * the square of that of the data, costs as many of the 32 digits as it has: half of them
 * for data of condition 1e8. The samples are gone, so that neither QR nor refinement by
 * residuals is possible.
 *
 * RSS is a difference of sums, sum w y^2 - ||z||^2, known to about 1e-30 of sum w y^2. A
 * pivot that is smaller than rounding can make it ends the factorization: the column is
 * not determined.
 *
 * O(terms^3) operations in double-double, whatever the number of samples. */

/* Cholesky pivots below this share of their diagonal are rounding if the sums were
 * computed in double: the 2^-52 of a sum, with a margin. */
#define DOUBLE_PIVOT 0x1p-44

/* Precision of an RSS that is a difference of sums, in units of sum w y^2. */
#define EXACT_FLOOR 0x1p-98
#define DOUBLE_FLOOR 0x1p-48

static tsn_dd *entry(tsn_dd *triangle, int terms, int row, int column) {
  return triangle + row + (ptrdiff_t)column * terms;
}

/* The Cholesky factorization. Returns the number of columns with pivots
 * above `least` of their diagonal: a pivot is the squared norm of the orthogonal part,
 * hence `least` is the square of the tolerance. */
static int factor_sums(const tsn_dd *sums, int terms, double least, tsn_dd *triangle) {
  for (int j = 0; j < terms; j++) {
    for (int i = 0; i <= j; i++) {
      tsn_dd rest = tsn_dd_add(sums[i + j], sums[j - i]);
      rest = (tsn_dd){rest.high / 2, rest.low / 2};
      double gram = rest.high;
      for (int k = 0; k < i; k++) {
        tsn_dd part =
            tsn_dd_multiply(*entry(triangle, terms, k, i), *entry(triangle, terms, k, j));
        rest = tsn_dd_subtract(rest, part);
      }
      if (i == j && !(rest.high > least * gram)) return j;
      *entry(triangle, terms, i, j) =
          i == j ? tsn_dd_sqrt(rest) : tsn_dd_divide(rest, *entry(triangle, terms, i, i));
    }
  }
  return terms;
}

/* R^T z = moments. */
static void solve_lower(tsn_dd *triangle, int terms, int rank, const tsn_dd *moments,
                        tsn_dd *z) {
  for (int k = 0; k < rank; k++) {
    tsn_dd rest = moments[k];
    for (int i = 0; i < k; i++) {
      tsn_dd part = tsn_dd_multiply(*entry(triangle, terms, i, k), z[i]);
      rest = tsn_dd_subtract(rest, part);
    }
    z[k] = tsn_dd_divide(rest, *entry(triangle, terms, k, k));
  }
}

/* R c = z for the first `count` coefficients. */
static void solve_upper(tsn_dd *triangle, int terms, int count, const tsn_dd *z,
                        tsn_dd *c) {
  for (int k = count - 1; k >= 0; k--) {
    tsn_dd rest = z[k];
    for (int j = k + 1; j < count; j++) {
      tsn_dd part = tsn_dd_multiply(*entry(triangle, terms, k, j), c[j]);
      rest = tsn_dd_subtract(rest, part);
    }
    c[k] = tsn_dd_divide(rest, *entry(triangle, terms, k, k));
  }
}

/* The triangle in double, for the statistics: condition and standard errors need few
 * digits. */
static void round_triangle(tsn_dd *triangle, int terms, int rank,
                           const stream_parts *scratch, tsn_polyfit_factor *factor) {
  for (int j = 0; j < rank; j++) {
    for (int i = 0; i < rank; i++) {
      scratch->r[i + (ptrdiff_t)j * rank] =
          i <= j ? entry(triangle, terms, i, j)->high : 0;
    }
  }
  tsn_polyfit_invert(scratch->r, rank, rank, scratch->inverse, factor->norms);
  factor->inverse = scratch->inverse;
  factor->ld = rank;
  factor->condition = tsn_polyfit_condition(factor, rank);
}

/* RSS by degree: sum w y^2 - z_0^2 - ... - z_k^2. */
static void sums_left(tsn_dd squares, const tsn_dd *z, int rank, tsn_dd *rss) {
  for (int k = 0; k < rank; k++) {
    squares = tsn_dd_subtract(squares, tsn_dd_multiply(z[k], z[k]));
    if (!(squares.high > 0)) squares = tsn_dd_from(0);
    rss[k] = squares;
  }
}

/* The fit of the sums in the scratch of a stream. */
static tsanom_status solve_sums(tsanom_polyfit_stream *stream,
                                const tsanom_polyfit_options *options, int32_t isa,
                                tsanom_polyfit_model *model) {
  const stream_sums *sums = &stream->scratch;
  const stream_parts *parts = &stream->parts;
  int stream_terms = terms_of(stream), exactly = stream->options.refine;
  int asked = options->degree + 1;
  int terms = (uint64_t)asked < sums->samples ? asked : (int)sums->samples;
  int constant = sums->ranges.y.low == sums->ranges.y.high, chosen;
  double least = options->tolerance * options->tolerance;
  if (!exactly && least < DOUBLE_PIVOT) least = DOUBLE_PIVOT;
  const tsn_dd *moments = sums->sums + 2 * (ptrdiff_t)stream_terms - 1;
  tsn_dd squares = moments[stream_terms];
  tsn_dd z[TSN_POLYFIT_MAX_TERMS], rss[TSN_POLYFIT_MAX_TERMS];
  tsn_dd c[TSN_POLYFIT_MAX_TERMS] = {{0}};
  tsn_polyfit_factor factor = {.map = &sums->frame.map,
                               .samples = sums->samples,
                               .asked = terms,
                               .method = TSANOM_POLYFIT_GRAM};
  factor.rank = factor_sums(sums->sums, terms, least, parts->triangle);
  round_triangle(parts->triangle, terms, factor.rank, parts, &factor);
  solve_lower(parts->triangle, terms, factor.rank, moments, z);
  sums_left(squares, z, factor.rank, rss);
  factor.tss = rss[0]; /* the fit of degree 0 is the mean */
  factor.rss_floor = squares.high * (exactly ? EXACT_FLOOR : DOUBLE_FLOOR);
  if (constant) {
    factor.tss = tsn_dd_from(0);
    for (int k = 0; k < factor.rank; k++) rss[k] = tsn_dd_from(0);
  }
  tsanom_status status = tsn_polyfit_select(&factor, rss, options, &chosen);
  if (constant) {
    c[0] = tsn_dd_from(sums->ranges.y.low * sums->frame.map.y_unit);
  } else {
    solve_upper(parts->triangle, terms, chosen, z, c);
  }
  tsn_polyfit_write(&factor, options, tsn_polyfit_dd_kernels_at(isa), rss, chosen, c,
                    parts->matrix, parts->lanes, model);
  return status;
}

/* The block of a stream, and where its handle goes. */
typedef struct {
  tsanom_exec exec;
  tsanom_polyfit_options options;
  stream_parts parts;
  tsanom_polyfit_stream *stream, **handle;
} stream_block;

static void layout(tsn_arena *arena, void *context) {
  stream_block *block = context;
  stream_parts *p = &block->parts;
  size_t terms = (size_t)block->options.degree + 1, square = terms * terms;
  block->stream = tsn_arena_take(arena, 1, sizeof *block->stream);
  p->x = tsn_arena_take(arena, BLOCK, sizeof *p->x);
  p->y = tsn_arena_take(arena, BLOCK, sizeof *p->y);
  p->weights = tsn_arena_take(arena, BLOCK, sizeof *p->weights);
  p->triangle = tsn_arena_take(arena, square, sizeof *p->triangle);
  p->r = tsn_arena_take(arena, square, sizeof *p->r);
  p->inverse = tsn_arena_take(arena, square, sizeof *p->inverse);
  p->matrix = tsn_arena_take(arena, square, sizeof *p->matrix);
  p->added = tsn_arena_take(arena, WAVE * 3 * terms, sizeof *p->added);
  p->turning = tsn_arena_take(arena, 7 * terms, sizeof *p->turning);
  p->lanes = tsn_arena_take(arena, tsn_polyfit_lanes(terms), sizeof *p->lanes);
  p->solving =
      tsn_arena_take(arena, tsn_polyfit_scratch(BLOCK, terms, 1), sizeof *p->solving);
}

static tsanom_status check(void *context) {
  const stream_block *block = context;
  return tsn_require(&block->exec, block->handle, "stream");
}

static const tsn_saved saved;

tsanom_status tsanom_polyfit_stream_create(const tsanom_polyfit_options *options,
                                           const tsanom_exec *exec,
                                           tsanom_polyfit_stream **stream) {
  stream_block block = {.handle = stream};
  tsn_object owner;
  tsanom_status status = tsn_exec_read(&block.exec, exec);
  if (status < 0) return status;
  status = tsn_polyfit_options_read(&block.options, options, &block.exec);
  if (status < 0) return status;
  status = tsn_object_create(&block.exec, layout, check, &block, &owner);
  if (status < 0) return status;
  owner.saved = &saved;
  block.stream->owner = owner;
  block.stream->options = block.options;
  block.stream->parts = block.parts;
  block.stream->pending = 0;
  clear_sums(&block.stream->sums);
  *stream = block.stream;
  return TSANOM_OK;
}

void tsanom_polyfit_stream_destroy(tsanom_polyfit_stream *stream) {
  if (stream) tsn_object_release(&stream->owner);
}

/* The ranges of samples reveal NaN, infinity and weights that are not positive. Pending
 * samples are checked when they arrive, since they are summed by a later call, which
 * could not reject them. */
static bool valid_samples(const tsn_polyfit_samples *samples, int32_t isa) {
  if (samples->n == 0) return true;
  tsn_polyfit_ranges ranges = tsn_polyfit_ranges_of(tsn_polyfit_kernels_at(isa), samples);
  return tsn_polyfit_valid(&ranges);
}

/* Copy samples after the pending ones, without counting them yet. Weights are stored even
 * if there are none: later pushes may have some. */
static void append(tsanom_polyfit_stream *stream, const tsn_polyfit_samples *samples) {
  const stream_parts *parts = &stream->parts;
  size_t at = stream->pending, bytes = samples->n * sizeof(double);
  memcpy(parts->x + at, samples->x, bytes);
  memcpy(parts->y + at, samples->y, bytes);
  for (size_t i = 0; i < samples->n; i++) {
    parts->weights[at + i] = samples->weights ? samples->weights[i] : 1;
  }
}

/* The first `count` of the arrays of a stream. */
static tsn_polyfit_samples pending_of(const tsanom_polyfit_stream *from, size_t count) {
  const stream_parts *parts = &from->parts;
  return (tsn_polyfit_samples){
      .x = parts->x, .y = parts->y, .weights = parts->weights, .n = count};
}

/* Take samples that complete at least one block. The sums are updated in `scratch` and
 * copied at the end, so that all samples are taken or none. */
static tsanom_status take_samples(tsanom_polyfit_stream *stream,
                                  const tsn_polyfit_samples *samples,
                                  const tsanom_exec *exec) {
  size_t n = samples->n, pending = stream->pending;
  size_t head = pending ? BLOCK - pending : 0, whole = (n - head) / BLOCK * BLOCK;
  tsn_polyfit_samples first = tsn_polyfit_part(samples, 0, head);
  tsn_polyfit_samples middle = tsn_polyfit_part(samples, head, whole);
  tsn_polyfit_samples last = tsn_polyfit_part(samples, head + whole, n - head - whole);
  if (!valid_samples(&first, exec->isa) || !valid_samples(&last, exec->isa)) {
    return TSANOM_E_VALUE;
  }
  stream->scratch = stream->sums;
  tsanom_status status = TSANOM_OK;
  if (head > 0) {
    append(stream, &first);
    tsn_polyfit_samples block = pending_of(stream, BLOCK);
    status = add_samples(stream, &block, exec, 0, n);
  }
  if (status == TSANOM_OK) status = add_samples(stream, &middle, exec, head, n);
  if (status != TSANOM_OK) return status;
  stream->sums = stream->scratch;
  stream->pending = 0;
  append(stream, &last);
  stream->pending = last.n;
  return TSANOM_OK;
}

static tsanom_status push(tsanom_polyfit_stream *stream,
                          const tsn_polyfit_samples *samples, const tsanom_exec *exec) {
  if (samples->n >= BLOCK - stream->pending) return take_samples(stream, samples, exec);
  if (!valid_samples(samples, exec->isa)) return TSANOM_E_VALUE;
  append(stream, samples);
  stream->pending += samples->n;
  return TSANOM_OK;
}

tsanom_status tsanom_polyfit_stream_push(tsanom_polyfit_stream *stream, const double *x,
                                         const double *y, const double *weights, size_t n,
                                         const tsanom_exec *exec) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own_exec, stream, "stream")) < 0) return status;
  if (n == 0) return TSANOM_OK;
  if (!x || !y) return tsn_reject_null(&own_exec, x ? "y" : "x", n);
  if ((status = tsn_polyfit_check_size(n, &own_exec)) < 0) return status;
  tsn_polyfit_samples samples = {.x = x, .y = y, .weights = weights, .n = n};
  TSN_IN_ENVIRONMENT(before);
  status = push(stream, &samples, &own_exec);
  return status < 0 ? tsn_polyfit_reject(&samples, &own_exec) : status;
}

/* `other` is not changed: its samples become pending ones, or if there are too many, its
 * pending samples are added to a copy of its sums, as one shorter block. Interval and units
 * of the result contain both. */
tsanom_status tsanom_polyfit_stream_merge(tsanom_polyfit_stream *stream,
                                          const tsanom_polyfit_stream *other,
                                          const tsanom_exec *exec) {
  tsanom_exec own_exec;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if (!stream || !other) {
    return tsn_reject_null(&own_exec, stream ? "other" : "stream", TSANOM_NONE);
  }
  const tsanom_polyfit_options *own = &stream->options, *added = &other->options;
  if (stream == other) {
    return tsn_reject_is(&own_exec, TSANOM_E_OPTION, "other", TSANOM_NONE,
                         "stream; another one is expected");
  }
  if (own->degree != added->degree || own->refine != added->refine) {
    return tsn_reject_is(
        &own_exec, TSANOM_E_OPTION, "other", TSANOM_NONE,
        "of degree %d with refine %d; degree %d and refine %d are expected",
        (int)added->degree, (int)added->refine, (int)own->degree, (int)own->refine);
  }
  tsn_polyfit_samples pending = pending_of(other, other->pending);
  if (other->sums.samples == 0 && pending.n < BLOCK - stream->pending) {
    append(stream, &pending);
    stream->pending += pending.n;
    return TSANOM_OK;
  }
  own_exec.poll = NULL;
  tsn_environment before = tsn_environment_enter();
  stream->scratch = other->sums;
  (void)add_samples(stream, &pending, &own_exec, 0, 0);
  join_sums(&stream->sums, terms_of(stream), &stream->scratch, stream->parts.turning);
  tsn_environment_leave(before);
  return TSANOM_OK;
}

/* The degree of a fit may be lower than the stream's, whose sums contain those of every
 * lower degree. refine = 0 has no effect on sums that are in double-double already, and
 * is rejected. */
static tsanom_status check_fit(const tsanom_polyfit_stream *stream,
                               const tsanom_polyfit_options *options,
                               const tsanom_polyfit_model *model,
                               const tsanom_exec *exec) {
  tsanom_status status = tsn_polyfit_model_check(model, exec);
  if (status < 0) return status;
  if (options->degree > stream->options.degree) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.degree", TSANOM_NONE,
                         "%d; at most %d is expected, the degree of the stream",
                         (int)options->degree, (int)stream->options.degree);
  }
  if (!options->refine && stream->options.refine) {
    return tsn_reject_is(exec, TSANOM_E_OPTION, "options.refine", TSANOM_NONE,
                         "0; 1 is expected, as for the stream");
  }
  return tsn_polyfit_check_count(stream->sums.samples + stream->pending, options, exec);
}

/* The stream can grow on: the fit works on a copy of the sums, to which the pending
 * samples are added and whose interval becomes that of the samples. */
static tsanom_status fit_sums(tsanom_polyfit_stream *stream,
                              const tsanom_polyfit_options *options,
                              const tsanom_exec *exec, tsanom_polyfit_model *model) {
  stream_sums *sums = &stream->scratch;
  tsn_polyfit_samples pending = pending_of(stream, stream->pending);
  *sums = stream->sums;
  (void)add_samples(stream, &pending, exec, 0, 0);
  change_interval(sums, terms_of(stream), sums->ranges.x.low, sums->ranges.x.high,
                  stream->parts.turning);
  return solve_sums(stream, options, exec->isa, model);
}

static tsanom_status fit_pending(tsanom_polyfit_stream *stream,
                                 const tsanom_polyfit_options *options,
                                 const tsanom_exec *exec, tsanom_polyfit_model *model) {
  tsn_polyfit_samples samples = pending_of(stream, stream->pending);
  tsanom_polyfit_options own = *options;
  own.refine = stream->options.refine;
  return tsn_polyfit_solve(&samples, &own, exec, stream->parts.solving, model);
}

tsanom_status tsanom_polyfit_stream_fit(tsanom_polyfit_stream *stream,
                                        const tsanom_polyfit_options *options,
                                        const tsanom_exec *exec,
                                        tsanom_polyfit_model *model) {
  tsanom_exec own_exec;
  tsanom_polyfit_options own_options;
  tsanom_status status = tsn_exec_read(&own_exec, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own_exec, stream, "stream")) < 0) return status;
  if (!options) options = &stream->options;
  status = tsn_polyfit_options_read(&own_options, options, &own_exec);
  if (status == TSANOM_OK) status = check_fit(stream, &own_options, model, &own_exec);
  if (status < 0) return status;
  own_exec.threads = 1;
  own_exec.poll = NULL;
  tsn_environment before = tsn_environment_enter();
  status = (stream->sums.samples ? fit_sums : fit_pending)(stream, &own_options,
                                                           &own_exec, model);
  tsn_environment_leave(before);
  return status;
}

/* Some unit that tsn_polyfit_map_y() gets. */
static bool is_unit(int exponent) {
  return exponent >= -1024 && exponent <= 1023;
}

/* Weights are below 2 in their unit, so that a sum of 2^64 of them is below 2^65: no
 * operation on the sums overflows. The first one is that of the weights alone. */
static bool are_sums(const tsn_dd *sums, int count) {
  for (int k = 0; k < count; k++) {
    if (!(fabs(sums[k].high) < 0x1p100)) return false;
    if (sums[k].high + sums[k].low != sums[k].high) return false;
  }
  return sums[0].high > 0;
}

/* Complete sums whose map has only the units of y and of the weights; false: no samples have
 * such sums. */
static bool restore_sums(stream_sums *sums, int terms) {
  sums_frame *frame = &sums->frame;
  const tsn_polyfit_range *x = &sums->ranges.x, *y = &sums->ranges.y;
  bool ordered = isfinite(frame->low) && frame->low <= x->low && x->low <= x->high &&
                 x->high <= frame->high && isfinite(frame->high) && isfinite(y->low) &&
                 y->low <= y->high && isfinite(y->high);
  if (!ordered || !is_unit(frame->map.y_exponent) ||
      !is_unit(frame->map.weight_exponent) || sums->samples > INT64_MAX) {
    return false;
  }
  set_interval(frame, frame->low, frame->high);
  tsn_polyfit_map_y(&frame->map, frame->map.y_exponent, frame->map.weight_exponent);
  return are_sums(sums->sums, 3 * terms);
}

/* All fields but the options. Before the first block there are no sums, and the map of x
 * follows from the interval and the units. */
static void exchange(tsn_state *state, void *object) {
  tsanom_polyfit_stream *stream = object;
  stream_sums *sums = &stream->sums;
  tsn_polyfit_ranges *of = &sums->ranges;
  double *ranges[] = {&sums->frame.low, &sums->frame.high, &of->x.low,
                      &of->x.high,      &of->y.low,        &of->y.high};
  tsn_state_field(state, &stream->pending, sizeof stream->pending);
  tsn_state_field(state, &sums->samples, sizeof sums->samples);
  if (stream->pending >= BLOCK) {
    state->damaged = true;
    return;
  }
  double *samples[] = {stream->parts.x, stream->parts.y, stream->parts.weights};
  for (size_t i = 0; i < 3; i++) {
    tsn_state_field(state, samples[i], stream->pending * sizeof(double));
  }
  if (sums->samples == 0) {
    if (state->from) clear_sums(sums);
    return;
  }
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    tsn_state_field(state, ranges[i], sizeof **ranges);
  }
  tsn_polyfit_map *map = &sums->frame.map;
  tsn_state_field(state, &map->y_exponent, sizeof map->y_exponent);
  tsn_state_field(state, &map->weight_exponent, sizeof map->weight_exponent);
  tsn_state_field(state, sums->sums, 3 * (size_t)terms_of(stream) * sizeof *sums->sums);
}

/* Whether the restored fields are those of samples. */
static bool resume(void *object) {
  tsanom_polyfit_stream *stream = object;
  tsn_polyfit_samples pending = pending_of(stream, stream->pending);
  return valid_samples(&pending, TSANOM_ISA_BASE) &&
         (stream->sums.samples == 0 || restore_sums(&stream->sums, terms_of(stream)));
}

static const tsn_saved saved = {
    .kind = UINT64_C(0x4D41455254535450), /* "PTSTREAM" */
    .options = offsetof(tsanom_polyfit_stream, options),
    .options_bytes = sizeof(tsanom_polyfit_options),
    .exchange = exchange,
    .resume = resume,
};
