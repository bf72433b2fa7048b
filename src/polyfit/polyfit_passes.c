/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of a fit, a callback per kind of pass. */
#include "polyfit/polyfit_passes.h"

#include <math.h>

#include "core/exec.h"
#include "core/parallel.h"

/* One pass: the callback for a block and the parameters of its kernel. */
typedef struct block_pass {
  tsn_polyfit_passes *passes;
  void (*run)(const struct block_pass *pass, const tsn_polyfit_samples *block,
              tsn_dd *slot);
  void (*add)(tsn_dd *sums, const tsn_dd *slot, int width);
  int terms, width; /* width: sums of a block */
  const double *values;
  const tsn_dd *c;
  double mean;
  size_t first; /* block of slot 0 */
} block_pass;

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
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    tsn_polyfit_samples block = block_of(&pass->passes->samples, pass->first + i);
    pass->run(pass, &block, pass->passes->slots + i * (size_t)pass->width);
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

static tsanom_status run_pass(block_pass *pass, tsn_dd *sums) {
  tsn_polyfit_passes *passes = pass->passes;
  size_t n = passes->samples.n;
  size_t blocks = n / TSN_POLYFIT_BLOCK + (n % TSN_POLYFIT_BLOCK != 0);
  if (blocks == 1) {
    if (tsn_exec_stop(passes->exec, passes->done, passes->total)) return TSANOM_STOPPED;
    pass->run(pass, &passes->samples, sums);
    passes->done += n;
    return TSANOM_OK;
  }
  tsanom_exec exec = *passes->exec;
  if (exec.poll) {
    exec.poll = poll_wave;
    exec.poll_user = passes;
  }
  for (pass->first = 0; pass->first < blocks; pass->first += TSN_POLYFIT_WAVE) {
    size_t left = blocks - pass->first;
    size_t count = left < TSN_POLYFIT_WAVE ? left : TSN_POLYFIT_WAVE;
    tsanom_status status = tsn_parallel_for(&exec, count, 1, run_blocks, pass, NULL);
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

static void run_moments(const block_pass *pass, const tsn_polyfit_samples *block,
                        tsn_dd *slot) {
  double sums[TSN_POLYFIT_MAX_SUMS];
  tsn_polyfit_passes *passes = pass->passes;
  passes->kernels->moments(&passes->map, block, pass->terms, sums);
  for (int k = 0; k < pass->width; k++) slot[k] = tsn_dd_from(sums[k]);
}

tsanom_status tsn_polyfit_moments(tsn_polyfit_passes *passes, int terms, tsn_dd *sums) {
  block_pass pass = {
      .passes = passes, .run = run_moments, .terms = terms, .width = 3 * terms};
  return run_sums(&pass, sums);
}

static void run_residual(const block_pass *pass, const tsn_polyfit_samples *block,
                         tsn_dd *slot) {
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
                       tsn_dd *slot) {
  tsn_polyfit_passes *passes = pass->passes;
  passes->dd_kernels->refine(&passes->map, block, pass->terms, pass->c, pass->mean, slot);
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
                      tsn_dd *slot) {
  const tsn_polyfit_passes *passes = pass->passes;
  size_t offset = (size_t)(block->x - passes->samples.x);
  tsn_polyfit_range range = passes->kernels->find_range(pass->values + offset, block->n);
  slot[0] = (tsn_dd){range.low, range.high};
  slot[1] = tsn_dd_from(range.finite);
}

static void join_ranges(tsn_dd *sums, const tsn_dd *slot, int width) {
  (void)width;
  sums[0] = (tsn_dd){fmin(sums[0].high, slot[0].high), fmax(sums[0].low, slot[0].low)};
  sums[1] = tsn_dd_from(fmin(sums[1].high, slot[1].high));
}

tsanom_status tsn_polyfit_find_range(tsn_polyfit_passes *passes, const double *values,
                                     tsn_polyfit_range *range) {
  tsn_dd sums[2] = {{INFINITY, -INFINITY}, {1, 0}};
  block_pass pass = {.passes = passes,
                     .run = run_range,
                     .add = join_ranges,
                     .width = 2,
                     .values = values};
  tsanom_status status = run_pass(&pass, sums);
  *range = (tsn_polyfit_range){
      .low = sums[0].high, .high = sums[0].low, .finite = sums[1].high == 1};
  return status;
}
