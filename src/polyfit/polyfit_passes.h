/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes over the samples, in blocks of fixed length whose results are added
 * up in order, so that they do not depend on the number of threads. */
#ifndef TSN_POLYFIT_PASSES_H
#define TSN_POLYFIT_PASSES_H

#include "polyfit/polyfit_kernel.h"

enum {
  TSN_POLYFIT_BLOCK = 2048, /* samples of a block */
  TSN_POLYFIT_WAVE = 64     /* blocks between two sums */
};

typedef struct tsn_polyfit_passes {
  const tsanom_exec *exec;
  const tsn_polyfit_kernels *kernels;
  const tsn_polyfit_dd_kernels *dd_kernels;
  tsn_polyfit_samples samples;
  tsn_polyfit_map map;
  tsn_dd *slots;        /* tsn_polyfit_slots() of them */
  uint64_t done, total; /* samples times passes, for the poll */
} tsn_polyfit_passes;

/* Room for the results of the blocks that are in work at a time. */
size_t tsn_polyfit_slots(size_t n, size_t terms);

/* Each pass returns TSANOM_OK or TSANOM_STOPPED. */
tsanom_status tsn_polyfit_survey(tsn_polyfit_passes *passes, const double *values,
                                 tsn_polyfit_range *range);

/* As the kernel of the same name, summed over all blocks. */
tsanom_status tsn_polyfit_moments(tsn_polyfit_passes *passes, int terms, tsn_dd *sums);
tsanom_status tsn_polyfit_residual(tsn_polyfit_passes *passes, int terms, const tsn_dd *c,
                                   double mean, tsn_dd *sums);
tsanom_status tsn_polyfit_refine(tsn_polyfit_passes *passes, int terms, const tsn_dd *c,
                                 double mean, tsn_dd *sums);

#endif
