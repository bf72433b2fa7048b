/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of checked arguments in a given workspace. */
#ifndef TSN_POLYFIT_SOLVE_H
#define TSN_POLYFIT_SOLVE_H

#include <tsanom/polyfit.h>

#include "core/arena.h"
#include "polyfit/polyfit_passes.h"
#include "polyfit/polyfit_qr.h"

typedef struct {
  double *r, *inverse, *matrix; /* terms x terms each */
  tsn_dd *slots;
  tsn_polyfit_qr_buffers qr;
} tsn_polyfit_buffers;

void tsn_polyfit_layout(tsn_arena *arena, size_t n, size_t terms, int threads,
                        tsn_polyfit_buffers *buffers);

/* Returns a status of tsanom_polyfit_fit(). `options` and `exec` are checked. */
tsanom_status tsn_polyfit_solve(const tsn_polyfit_samples *samples,
                                const tsanom_polyfit_options *options,
                                const tsanom_exec *exec,
                                const tsn_polyfit_buffers *buffers,
                                tsanom_polyfit_model *model);

#endif
