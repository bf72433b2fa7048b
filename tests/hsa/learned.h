/* SPDX-License-Identifier: BSD-3-Clause */
/* Models learned from synthetic runs, and their references. */
#ifndef TSANOM_TEST_LEARNED_H
#define TSANOM_TEST_LEARNED_H

#include <tsanom/hsa.h>

#include "hsa/synthetic.h"

/* A model of runs; its status must be `expected`. */
tsanom_hsa_model *learn(const tsanom_hsa_run *runs, size_t count,
                        const tsanom_hsa_options *options, tsanom_status expected);

/* The reference of a thread, which belongs to the model. */
const tsanom_hsa_reference *reference_of(const tsanom_hsa_model *model, size_t thread);

/* Verdicts of a run. */
tsanom_status diagnose(const tsanom_hsa_model *model, const tsanom_hsa_run *run,
                       tsanom_hsa_verdict *verdicts, size_t count);

/* The features of a target against a reference: learn from this, and diagnose that. */
tsanom_status compare(const tsanom_hsa_series *target, double target_start,
                      const tsanom_hsa_series *reference, double reference_start,
                      const tsanom_hsa_options *options, const tsanom_exec *exec,
                      tsanom_hsa_features *features);

/* Synthetic runs of one kind; free them by free_runs(). */
void make_runs(tsanom_hsa_run *runs, size_t count, const synthetic_kind *kind,
               uint64_t *seed);
void free_runs(tsanom_hsa_run *runs, size_t count);

/* Both references have the same bits. */
void check_same_reference(tsanom_hsa_reference r, tsanom_hsa_reference s);

#endif
