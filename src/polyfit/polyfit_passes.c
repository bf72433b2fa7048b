/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of a fit over the samples; polyfit_passes.h shows how the blocks are added.
 * A pass is a callback that computes the sums of a block, and one that adds them to the
 * total:
 *
 *     pass         sums of a block                    joined by
 *     find_range   {low, high}, {finite, 0}           minimum, maximum
 *     moments      sum w T_k, sum w T_k y, sum w y^2  addition
 *     residual     RSS and sums about the mean        addition
 *     refine       A^T W r, RSS and the others        addition
 *
 * Sums of blocks are added in double-double even if the kernel computes in double: then
 * the rounding error of a sum is that of one block, whatever the number of samples. */
#include "polyfit/polyfit_passes.h"

#include <math.h>

#include "core/exec.h"
#include "core/parallel.h"

/* One pass: the callback for a block and the parameters of its kernel. */
typedef struct block_pass {
  tsn_polyfit_passes *passes;
  void (*run)(const struct block_pass *pass, const tsn_polyfit_samples *block,
              double *lanes, tsn_dd *slot);
  void (*add)(tsn_dd *sums, const tsn_dd *slot, int width);
  int terms, width;     /* width: sums of a block */
  const double *values; /* whose range is searched */
  const tsn_dd *c;      /* coefficients that residuals are taken from */
  double mean;          /* of y, about which the sums for R^2 are taken */
  size_t first;         /* block of slot 0 */
} block_pass;

/* A slot must have capacity for the widest pass. Slots are reused by each wave, so that
 * memory does not depend on n. */
size_t tsn_polyfit_slots(size_t n, size_t terms) {
  size_t blocks = n / TSN_POLYFIT_BLOCK + (n % TSN_POLYFIT_BLOCK != 0);
  size_t slots = blocks < TSN_POLYFIT_WAVE ? blocks : TSN_POLYFIT_WAVE;
  if (blocks == 1) return 0;
  return slots * (3 * terms + TSN_POLYFIT_RESIDUAL_SUMS);
}

static tsn_polyfit_samples block_of(const tsn_polyfit_samples *s, size_t block) {
  size_t begin = block * TSN_POLYFIT_BLOCK, left = s->n - begin;
  return tsn_polyfit_part(s, begin, left < TSN_POLYFIT_BLOCK ? left : TSN_POLYFIT_BLOCK);
}

static void run_blocks(void *context, size_t begin, size_t end, int thread) {
  const block_pass *pass = context;
  double *lanes =
      pass->passes->lanes + (size_t)thread * tsn_polyfit_lanes((size_t)pass->terms);
  for (size_t i = begin; i < end; i++) {
    tsn_polyfit_samples block = block_of(&pass->passes->samples, pass->first + i);
    pass->run(pass, &block, lanes, pass->passes->slots + i * (size_t)pass->width);
  }
}

/* The poll of one wave reports the progress of all passes. */
static int32_t poll_wave(void *user, uint64_t done, uint64_t total) {
  const tsn_polyfit_passes *passes = user;
  (void)total;
  uint64_t samples = passes->done + done * TSN_POLYFIT_BLOCK;
  samples = samples < passes->total ? samples : passes->total;
  return passes->exec->poll(passes->exec->poll_user, samples, passes->total);
}

static void add_sums(tsn_dd *sums, const tsn_dd *slot, int width) {
  for (int k = 0; k < width; k++) sums[k] = tsn_dd_add(sums[k], slot[k]);
}

/* Whether all samples are one block; their pass then begins here, or is stopped. */
static int only_block(tsn_polyfit_passes *passes, tsanom_status *status) {
  if (passes->samples.n > TSN_POLYFIT_BLOCK) return 0;
  int stop = tsn_exec_stop(passes->exec, passes->done, passes->total);
  passes->done += passes->samples.n;
  *status = stop ? TSANOM_STOPPED : TSANOM_OK;
  return 1;
}

/* One block needs no slot: its sums are written to the result, as adding them to 0 would
 * give. More blocks run in waves, whose slots the calling thread adds in order of the
 * blocks. The poll may stop the pass; the sums are then incomplete. */
static tsanom_status run_pass(block_pass *pass, tsn_dd *sums) {
  tsn_polyfit_passes *passes = pass->passes;
  tsanom_status status;
  if (only_block(passes, &status)) {
    if (status == TSANOM_OK) pass->run(pass, &passes->samples, passes->lanes, sums);
    return status;
  }
  size_t n = passes->samples.n;
  size_t blocks = n / TSN_POLYFIT_BLOCK + (n % TSN_POLYFIT_BLOCK != 0);
  tsanom_exec exec = *passes->exec;
  if (exec.poll) {
    exec.poll = poll_wave;
    exec.poll_user = passes;
  }
  for (pass->first = 0; pass->first < blocks; pass->first += TSN_POLYFIT_WAVE) {
    size_t left = blocks - pass->first;
    size_t count = left < TSN_POLYFIT_WAVE ? left : TSN_POLYFIT_WAVE;
    status = tsn_parallel_for(&exec, count, 1, run_blocks, pass, NULL);
    if (status != TSANOM_OK) return status;
    for (size_t i = 0; i < count; i++) {
      const tsn_dd *slot = passes->slots + i * (size_t)pass->width;
      pass->add(sums, slot, pass->width);
    }
    passes->done += count * TSN_POLYFIT_BLOCK;
  }
  return TSANOM_OK;
}

static tsanom_status run_sums(block_pass *pass, tsn_dd *sums) {
  pass->add = add_sums;
  for (int k = 0; k < pass->width; k++) sums[k] = tsn_dd_from(0);
  return run_pass(pass, sums);
}

/* The callbacks of the passes: a kernel in double writes to local sums, which become
 * double-double with a low part of 0; a kernel in double-double writes to the slot. */
static void run_moments(const block_pass *pass, const tsn_polyfit_samples *block,
                        double *lanes, tsn_dd *slot) {
  double *sums = tsn_polyfit_plain_sums(lanes, pass->terms);
  tsn_polyfit_passes *passes = pass->passes;
  passes->kernels->moments(&passes->map, block, pass->terms, lanes, sums);
  for (int k = 0; k < pass->width; k++) slot[k] = tsn_dd_from(sums[k]);
}

/* The passes of the smallest fits, which spend most of their time outside of kernels:
 * one block goes to the kernel at once. */
tsanom_status tsn_polyfit_moments(tsn_polyfit_passes *passes, int terms, tsn_dd *total,
                                  double *sums) {
  tsanom_status status;
  if (only_block(passes, &status)) {
    if (status == TSANOM_OK) {
      passes->kernels->moments(&passes->map, &passes->samples, terms, passes->lanes,
                               sums);
    }
    return status;
  }
  block_pass pass = {
      .passes = passes, .run = run_moments, .terms = terms, .width = 3 * terms};
  status = run_sums(&pass, total);
  for (int k = 0; k < pass.width; k++) sums[k] = total[k].high;
  return status;
}

static void run_residual(const block_pass *pass, const tsn_polyfit_samples *block,
                         double *lanes, tsn_dd *slot) {
  (void)lanes;
  double sums[TSN_POLYFIT_RESIDUAL_SUMS], c[TSN_POLYFIT_MAX_TERMS];
  tsn_polyfit_passes *passes = pass->passes;
  for (int k = 0; k < pass->terms; k++) c[k] = pass->c[k].high;
  passes->kernels->residual(&passes->map, block, pass->terms, c, pass->mean, sums);
  for (int k = 0; k < pass->width; k++) slot[k] = tsn_dd_from(sums[k]);
}

tsanom_status tsn_polyfit_residual(tsn_polyfit_passes *passes, int terms, const tsn_dd *c,
                                   double mean, tsn_dd *sums) {
  block_pass pass = {.passes = passes,
                     .run = run_residual,
                     .terms = terms,
                     .width = TSN_POLYFIT_RESIDUAL_SUMS,
                     .c = c,
                     .mean = mean};
  return run_sums(&pass, sums);
}

static void run_refine(const block_pass *pass, const tsn_polyfit_samples *block,
                       double *lanes, tsn_dd *slot) {
  tsn_polyfit_passes *passes = pass->passes;
  passes->dd_kernels->refine(&passes->map, block, pass->terms, pass->c, pass->mean, lanes,
                             slot);
}

tsanom_status tsn_polyfit_refine(tsn_polyfit_passes *passes, int terms, const tsn_dd *c,
                                 double mean, tsn_dd *sums) {
  block_pass pass = {.passes = passes,
                     .run = run_refine,
                     .terms = terms,
                     .width = terms + TSN_POLYFIT_RESIDUAL_SUMS,
                     .c = c,
                     .mean = mean};
  return run_sums(&pass, sums);
}

/* The slot of a block contains its range as {low, high}, {finite, 0}. */
static void run_range(const block_pass *pass, const tsn_polyfit_samples *block,
                      double *lanes, tsn_dd *slot) {
  (void)lanes;
  const tsn_polyfit_passes *passes = pass->passes;
  size_t offset = (size_t)(block->x - passes->samples.x);
  tsn_polyfit_range range;
  passes->kernels->find_range(pass->values + offset, block->n, &range);
  slot[0] = (tsn_dd){range.low, range.high};
  slot[1] = tsn_dd_from(range.finite);
}

/* Ranges are stored in slots like sums, so that one loop serves all passes: the parts of
 * a tsn_dd are only two doubles here. */
static void join_ranges(tsn_dd *sums, const tsn_dd *slot, int width) {
  (void)width;
  sums[0] = (tsn_dd){fmin(sums[0].high, slot[0].high), fmax(sums[0].low, slot[0].low)};
  sums[1] = tsn_dd_from(fmin(sums[1].high, slot[1].high));
}

tsanom_status tsn_polyfit_find_range(tsn_polyfit_passes *passes, const double *values,
                                     tsn_polyfit_range *range) {
  tsanom_status status;
  if (only_block(passes, &status)) {
    if (status == TSANOM_OK) {
      passes->kernels->find_range(values, passes->samples.n, range);
    }
    return status;
  }
  tsn_dd sums[2] = {{INFINITY, -INFINITY}, {1, 0}};
  block_pass pass = {.passes = passes,
                     .run = run_range,
                     .add = join_ranges,
                     .width = 2,
                     .values = values};
  status = run_pass(&pass, sums);
  *range = (tsn_polyfit_range){
      .low = sums[0].high, .high = sums[0].low, .finite = sums[1].high == 1};
  return status;
}
