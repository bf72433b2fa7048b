/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over the samples in blocks of fixed length. The results of the blocks are added
 * in order, so that they do not depend on the number of threads:
 *
 *   samples  [block 0][block 1] ... [block 63] | [block 64] ...
 *   slots     sums 0   sums 1        sums 63   | a wave, computed in parallel
 *   total    ((0 + sums 0) + sums 1) + ...       added by the calling thread */
#ifndef TSN_POLYFIT_PASSES_H
#define TSN_POLYFIT_PASSES_H

#include "polyfit/polyfit_kernel.h"

enum {
  TSN_POLYFIT_BLOCK = 2048, /* samples of a block */
  TSN_POLYFIT_WAVE = 64     /* blocks computed in parallel before their sums are added */
};

typedef struct tsn_polyfit_passes {
  const tsanom_exec *exec;
  const tsn_polyfit_kernels *kernels;
  const tsn_polyfit_dd_kernels *dd_kernels;
  tsn_polyfit_samples samples;
  tsn_polyfit_map map;
  tsn_dd *slots;        /* tsn_polyfit_slots() of them */
  double *lanes;        /* scratch of each thread's kernel */
  uint64_t done, total; /* samples times passes, for the poll */
} tsn_polyfit_passes;

/* Capacity for the results of one wave; 0 if one block holds all samples. */
size_t tsn_polyfit_slots(size_t n, size_t terms);

/* Each pass returns TSANOM_OK or TSANOM_STOPPED. */
tsanom_status tsn_polyfit_find_range(tsn_polyfit_passes *passes, const double *values,
                                     tsn_polyfit_range *range);

/* The kernel of the same name, summed over all blocks. total: scratch of as many sums. */
tsanom_status tsn_polyfit_moments(tsn_polyfit_passes *passes, int terms, tsn_dd *total,
                                  double *sums);
tsanom_status tsn_polyfit_residual(tsn_polyfit_passes *passes, int terms, const tsn_dd *c,
                                   double mean, tsn_dd *sums);
tsanom_status tsn_polyfit_refine(tsn_polyfit_passes *passes, int terms, const tsn_dd *c,
                                 double mean, tsn_dd *sums);

#endif
