/* SPDX-License-Identifier: BSD-3-Clause */
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
 * coefficients are at most 1, so that the transform is stable; in the other direction
 * (tsn_polyfit_sums_tighten()) errors grow, which the double-double sums can afford as
 * long as the interval is only a little too wide.
 *
 * A change costs O(terms^2) in double-double and happens a logarithmic number of times.
 */
#include "polyfit/polyfit_sums.h"

#include <math.h>
#include <stddef.h>

#include "core/exec.h"
#include "core/parallel.h"
#include "polyfit/polyfit_map.h"
#include "polyfit/polyfit_model.h"
#include "polyfit/polyfit_solve.h"

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

enum { BLOCK = TSN_POLYFIT_STREAM_BLOCK, WAVE = TSN_POLYFIT_STREAM_WAVE };

tsn_polyfit_ranges tsn_polyfit_ranges_of(const tsn_polyfit_samples *block, int32_t isa) {
  const tsn_polyfit_kernels *kernels = tsn_polyfit_kernels_at(isa);
  tsn_polyfit_ranges ranges = {.weights = {.low = 1, .high = 1, .finite = 1}};
  kernels->find_range(block->x, block->n, &ranges.x);
  kernels->find_range(block->y, block->n, &ranges.y);
  if (block->weights) kernels->find_range(block->weights, block->n, &ranges.weights);
  return ranges;
}

bool tsn_polyfit_valid(const tsn_polyfit_ranges *ranges) {
  return ranges->x.finite && ranges->y.finite && ranges->weights.finite &&
         ranges->weights.low > 0;
}

/* The sums of one block in its frame: exactly, or in double for streams with refine = 0.
 */
static void sum_block(const tsn_polyfit_adding *how, const tsn_polyfit_map *map,
                      const tsn_polyfit_samples *block, double *lanes, tsn_dd *added) {
  if (how->exactly) {
    tsn_polyfit_dd_kernels_at(how->exec->isa)
        ->moments(map, block, how->terms, lanes, added);
    return;
  }
  double *plain = tsn_polyfit_plain_sums(lanes, how->terms);
  tsn_polyfit_kernels_at(how->exec->isa)->moments(map, block, how->terms, lanes, plain);
  for (int k = 0; k < 3 * how->terms; k++) added[k] = tsn_dd_from(plain[k]);
}

/* The same on another thread, of which OpenMP sets the stack: a stream would need scratch for as
 * many threads as any push may have. */
__attribute__((noinline)) static void sum_block_of_member(
    const tsn_polyfit_adding *how, const tsn_polyfit_map *map,
    const tsn_polyfit_samples *block, tsn_dd *added) {
  _Alignas(
      TSN_POLYFIT_ALIGNMENT) double lanes[2 * TSN_POLYFIT_LANES * TSN_POLYFIT_MAX_SUMS];
  sum_block(how, map, block, lanes, added);
}

static const tsn_polyfit_frame *frame_of(const tsn_polyfit_sums *sums) {
  return sums->samples ? &sums->frame : NULL;
}

void tsn_polyfit_sums_add(tsn_polyfit_sums *sums, const tsn_polyfit_adding *how,
                          const tsn_polyfit_samples *block) {
  tsn_dd *added = how->wave.added;
  tsn_polyfit_ranges ranges = tsn_polyfit_ranges_of(block, how->exec->isa);
  tsn_polyfit_frame frame = tsn_polyfit_frame_with(frame_of(sums), how->terms, &ranges);
  sum_block(how, &frame.map, block, how->lanes, added);
  tsn_polyfit_sums_take(sums, how->terms, &frame, &ranges, block->n, added,
                        how->wave.turning);
}

typedef struct {
  const tsn_polyfit_adding *how;
  tsn_polyfit_samples samples; /* of the wave */
} wave_pass;

static void find_ranges(void *context, size_t begin, size_t end, int thread) {
  const wave_pass *pass = context;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    tsn_polyfit_samples block = tsn_polyfit_part(&pass->samples, i * BLOCK, BLOCK);
    pass->how->wave.blocks[i].ranges =
        tsn_polyfit_ranges_of(&block, pass->how->exec->isa);
  }
}

static void sum_blocks(void *context, size_t begin, size_t end, int thread) {
  const wave_pass *pass = context;
  size_t width = 3 * (size_t)pass->how->terms;
  for (size_t i = begin; i < end; i++) {
    tsn_polyfit_samples block = tsn_polyfit_part(&pass->samples, i * BLOCK, BLOCK);
    const tsn_polyfit_map *map = &pass->how->wave.blocks[i].frame.map;
    tsn_dd *added = pass->how->wave.added + i * width;
    if (thread == 0) {
      sum_block(pass->how, map, &block, pass->how->lanes, added);
    } else {
      sum_block_of_member(pass->how, map, &block, added);
    }
  }
}

/* Validity is known after the first loop, before anything is summed. The poll is called
 * between waves: a wave is the smallest part that can be added. */
static tsanom_status add_wave(tsn_polyfit_sums *sums, wave_pass *pass) {
  const tsn_polyfit_wave *wave = &pass->how->wave;
  tsn_polyfit_block *blocks = wave->blocks;
  const tsn_polyfit_frame *frame = frame_of(sums);
  int terms = pass->how->terms;
  size_t count = pass->samples.n / BLOCK;
  tsanom_exec exec = *pass->how->exec;
  exec.poll = NULL;
  tsn_parallel_for(&exec, count, 1, find_ranges, pass, NULL);
  for (size_t i = 0; i < count; i++) {
    if (!tsn_polyfit_valid(&blocks[i].ranges)) return TSANOM_E_VALUE;
    blocks[i].frame = tsn_polyfit_frame_with(frame, terms, &blocks[i].ranges);
    frame = &blocks[i].frame;
  }
  tsn_parallel_for(&exec, count, 1, sum_blocks, pass, NULL);
  for (size_t i = 0; i < count; i++) {
    tsn_polyfit_sums_take(sums, terms, &blocks[i].frame, &blocks[i].ranges, BLOCK,
                          wave->added + i * 3 * (size_t)terms, wave->turning);
  }
  return TSANOM_OK;
}

tsanom_status tsn_polyfit_sums_add_all(tsn_polyfit_sums *sums,
                                       const tsn_polyfit_adding *how,
                                       const tsn_polyfit_samples *samples,
                                       uint64_t before, uint64_t total) {
  size_t blocks = samples->n / BLOCK;
  for (size_t first = 0; first < blocks; first += WAVE) {
    if (tsn_exec_stop(how->exec, before + first * BLOCK, total)) return TSANOM_STOPPED;
    size_t left = blocks - first, count = left < WAVE ? left : WAVE;
    wave_pass pass = {.how = how,
                      .samples = tsn_polyfit_part(samples, first * BLOCK, count * BLOCK)};
    tsanom_status status = add_wave(sums, &pass);
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
                           const tsn_polyfit_sums_scratch *scratch,
                           tsn_polyfit_factor *factor) {
  for (int j = 0; j < rank; j++) {
    for (int i = 0; i < rank; i++) {
      scratch->r[i + (ptrdiff_t)j * rank] =
          i <= j ? entry(triangle, terms, i, j)->high : 0;
    }
  }
  tsn_polyfit_invert(scratch->r, rank, scratch->inverse, factor->norms);
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

tsanom_status tsn_polyfit_sums_solve(const tsn_polyfit_sums *sums, int stream_terms,
                                     int exactly, const tsanom_polyfit_options *options,
                                     int32_t isa, const tsn_polyfit_sums_scratch *scratch,
                                     tsanom_polyfit_model *model) {
  int asked = options->degree + 1;
  int terms = (uint64_t)asked < sums->samples ? asked : (int)sums->samples;
  int constant = sums->y_low == sums->y_high, chosen;
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
  factor.rank = factor_sums(sums->sums, terms, least, scratch->triangle);
  round_triangle(scratch->triangle, terms, factor.rank, scratch, &factor);
  solve_lower(scratch->triangle, terms, factor.rank, moments, z);
  sums_left(squares, z, factor.rank, rss);
  factor.tss = rss[0]; /* the fit of degree 0 is the mean */
  factor.rss_floor = squares.high * (exactly ? EXACT_FLOOR : DOUBLE_FLOOR);
  if (constant) {
    factor.tss = tsn_dd_from(0);
    for (int k = 0; k < factor.rank; k++) rss[k] = tsn_dd_from(0);
  }
  tsanom_status status = tsn_polyfit_select(&factor, rss, options, &chosen);
  if (constant) {
    c[0] = tsn_dd_from(sums->y_low * sums->frame.map.y_unit);
  } else {
    solve_upper(scratch->triangle, terms, chosen, z, c);
  }
  tsn_polyfit_write(&factor, options, tsn_polyfit_dd_kernels_at(isa), rss, chosen, c,
                    scratch->matrix, scratch->lanes, model);
  return status;
}

void tsn_polyfit_sums_clear(tsn_polyfit_sums *sums) {
  *sums = (tsn_polyfit_sums){
      .x_low = INFINITY, .x_high = -INFINITY, .y_low = INFINITY, .y_high = -INFINITY};
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

static void set_interval(tsn_polyfit_frame *frame, double low, double high) {
  frame->low = low;
  frame->high = high;
  tsn_polyfit_map_x(&frame->map, low, high);
}

/* Transform the sums to another map of x. `slope` and `shift` are computed in
 * double-double from the doubles of both maps, so that t' is what the new map gives for
 * the samples themselves. */
static void change_interval(tsn_polyfit_sums *sums, int terms, double low, double high,
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
static void change_units(tsn_polyfit_sums *sums, int terms, int y_exponent,
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

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* Extend the interval to contain [low, high]. It grows by at least a fraction of its
 * length, so that it grows a logarithmic number of times. The fraction is small because
 * tsn_polyfit_sums_tighten() multiplies errors by about T_{2·terms}(1 + 2 / terms). */
static void widen(tsn_polyfit_frame *frame, int terms, double low, double high) {
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

tsn_polyfit_frame tsn_polyfit_frame_with(const tsn_polyfit_frame *frame, int terms,
                                         const tsn_polyfit_ranges *ranges) {
  tsn_polyfit_frame grown = {0};
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

static void extend_ranges(tsn_polyfit_sums *sums, double x_low, double x_high,
                          double y_low, double y_high) {
  sums->x_low = fmin(sums->x_low, x_low);
  sums->x_high = fmax(sums->x_high, x_high);
  sums->y_low = fmin(sums->y_low, y_low);
  sums->y_high = fmax(sums->y_high, y_high);
}

/* `frame` contains the interval of the sums, so that the transform to it is stable. After
 * a change of frame, sums of the stream and of the block have the same meaning and are
 * added. */
void tsn_polyfit_sums_take(tsn_polyfit_sums *sums, int terms,
                           const tsn_polyfit_frame *frame,
                           const tsn_polyfit_ranges *ranges, size_t count,
                           const tsn_dd *added, tsn_dd *turning) {
  if (sums->samples == 0) {
    sums->frame = *frame;
  } else {
    change_units(sums, terms, frame->map.y_exponent, frame->map.weight_exponent);
    change_interval(sums, terms, frame->low, frame->high, turning);
  }
  for (int k = 0; k < 3 * terms; k++) {
    sums->sums[k] = tsn_dd_add(sums->sums[k], added[k]);
  }
  extend_ranges(sums, ranges->x.low, ranges->x.high, ranges->y.low, ranges->y.high);
  sums->samples += count;
}

/* The union of both intervals, which contains each, and the units of the larger samples.
 */
void tsn_polyfit_sums_join(tsn_polyfit_sums *sums, int terms, tsn_polyfit_sums *other,
                           tsn_dd *turning) {
  if (other->samples == 0) return;
  if (sums->samples == 0) {
    *sums = *other;
    return;
  }
  const tsn_polyfit_frame *a = &sums->frame, *b = &other->frame;
  double low = fmin(a->low, b->low), high = fmax(a->high, b->high);
  int y = smaller(a->map.y_exponent, b->map.y_exponent);
  int weight = smaller(a->map.weight_exponent, b->map.weight_exponent);
  tsn_polyfit_sums *both[] = {sums, other};
  for (int i = 0; i < 2; i++) {
    change_units(both[i], terms, y, weight);
    change_interval(both[i], terms, low, high, turning);
  }
  for (int k = 0; k < 3 * terms; k++) {
    sums->sums[k] = tsn_dd_add(sums->sums[k], other->sums[k]);
  }
  extend_ranges(sums, other->x_low, other->x_high, other->y_low, other->y_high);
  sums->samples += other->samples;
}

void tsn_polyfit_sums_tighten(tsn_polyfit_sums *sums, int terms, tsn_dd *turning) {
  change_interval(sums, terms, sums->x_low, sums->x_high, turning);
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

bool tsn_polyfit_sums_restore(tsn_polyfit_sums *sums, int terms) {
  tsn_polyfit_frame *frame = &sums->frame;
  bool ordered = isfinite(frame->low) && frame->low <= sums->x_low &&
                 sums->x_low <= sums->x_high && sums->x_high <= frame->high &&
                 isfinite(frame->high) && isfinite(sums->y_low) &&
                 sums->y_low <= sums->y_high && isfinite(sums->y_high);
  if (!ordered || !is_unit(frame->map.y_exponent) ||
      !is_unit(frame->map.weight_exponent) || sums->samples > INT64_MAX) {
    return false;
  }
  set_interval(frame, frame->low, frame->high);
  tsn_polyfit_map_y(&frame->map, frame->map.y_exponent, frame->map.weight_exponent);
  return are_sums(sums->sums, 3 * terms);
}
