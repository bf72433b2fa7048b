/* SPDX-License-Identifier: BSD-3-Clause */
/* A fit of checked arguments in a given workspace. */
#ifndef TSN_POLYFIT_SOLVE_H
#define TSN_POLYFIT_SOLVE_H

#include <tsanom/polyfit.h>

#include "polyfit/polyfit_passes.h"

/* Doubles of scratch that tsn_polyfit_solve() needs; bounded for every n. */
size_t tsn_polyfit_scratch(size_t n, size_t terms, int threads);

/* Returns a status of tsanom_polyfit_fit(). `options` and `exec` are checked. */
tsanom_status tsn_polyfit_solve(const tsn_polyfit_samples *samples,
                                const tsanom_polyfit_options *options,
                                const tsanom_exec *exec, double *scratch,
                                tsanom_polyfit_model *model);

#endif
