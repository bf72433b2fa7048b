/* SPDX-License-Identifier: BSD-3-Clause */
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
#include "core/exec.h"
#include "core/parallel.h"
#include "polyfit/polyfit_sums.h"

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
