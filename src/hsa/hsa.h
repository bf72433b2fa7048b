/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the HSA module; README.md lists the files. */
#ifndef TSN_HSA_HSA_H
#define TSN_HSA_HSA_H

#include <stdbool.h>
#include <tsanom/hsa.h>
#include <tsanom/polyfit.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"

/* --- features.c --- */

/* The checked options and exec of a call, and its buffers. */
typedef struct {
  tsanom_hsa_options options;
  tsanom_exec exec; /* the caller's */
  tsanom_exec
      inner;     /* for the functions of polyfit, dtw and lbkeogh: one thread, no poll,
                        no fault; they use its workspace one after the other */
  double *x, *y; /* times and rates that a polynomial is fitted to */
  double *target, *reference;  /* two aligned series */
  double *lower, *upper;       /* the envelope of the reference */
  tsanom_polyfit_model *model; /* has 3.6 KB, which is much for a stack */
} tsn_hsa_context;

/* Read options and exec; `name` is that of the options in the caller's arguments. Sets
 * inner.work_bytes to what the largest of the inner calls needs. */
tsanom_status tsn_hsa_context_read(tsn_hsa_context *context,
                                   const tsanom_hsa_options *options, const char *name,
                                   const tsanom_exec *exec);

/* Lay out its buffers, with the workspace of the inner calls. */
void tsn_hsa_context_layout(tsn_arena *arena, tsn_hsa_context *context);

/* Only the options. */
tsanom_status tsn_hsa_options_read(tsanom_hsa_options *own,
                                   const tsanom_hsa_options *caller, const char *name,
                                   const tsanom_exec *exec);

/* Where a series stands in the caller's arguments, for faults. */
typedef struct {
  const tsanom_exec *exec;
  const char *name; /* "run.threads", or "runs" */
  size_t run;       /* index in runs; TSANOM_NONE: not one of several runs */
  size_t thread;    /* index in its array of threads */
} tsn_hsa_place;

/* Reject a series that the features are not defined for. One without a beat is valid. */
tsanom_status tsn_hsa_check_series(const tsn_hsa_place *place,
                                   const tsanom_hsa_series *series, double start,
                                   size_t window);

/* Reject a run whose own fields are not valid. `name` is "runs", with the index `i`, or
 * "run", with TSANOM_NONE. */
tsanom_status tsn_hsa_check_run(const tsanom_hsa_run *run, const char *name, size_t i,
                                const tsanom_exec *exec);

/* The same for each of some runs. */
tsanom_status tsn_hsa_check_runs(const tsanom_hsa_run *runs, size_t count,
                                 const tsanom_exec *exec);

/* What the features of a pair of series are computed from, and a model stores, with its
 * arrays: they have capacity for max_windows windows and max_degree + 1 coefficients. */
typedef struct {
  tsanom_hsa_reference content;
  double *time, *rate, *window_rate, *coefficient;
} tsn_hsa_digest;

void tsn_hsa_digest_layout(tsn_arena *arena, const tsanom_hsa_options *options,
                           tsn_hsa_digest *digest);

/* How the series of one thread are divided into windows. */
typedef struct {
  size_t window;       /* beats of a heart rate */
  size_t local_window; /* beats of the windows of LTR and LHR: a multiple of window */
} tsn_hsa_windows;

/* Digest a checked series of at least one beat. */
tsanom_status tsn_hsa_digest_series(const tsn_hsa_context *context,
                                    const tsanom_hsa_series *series, double start,
                                    const tsn_hsa_windows *windows,
                                    tsn_hsa_digest *digest);

/* The features of one digest against another; those that need a heart rate are undefined
 * if the target has none. */
tsanom_status tsn_hsa_compare(const tsn_hsa_context *context,
                              const tsanom_hsa_reference *target,
                              const tsanom_hsa_reference *reference,
                              tsanom_hsa_features *features);

static inline bool tsn_hsa_is_defined(const tsanom_hsa_features *features,
                                      int32_t feature) {
  return (features->defined >> feature & 1) != 0;
}

static inline void tsn_hsa_define(tsanom_hsa_features *features, int32_t feature,
                                  double value) {
  features->value[feature] = value;
  features->defined |= UINT64_C(1) << feature;
}

/* --- model.c --- */

struct tsanom_hsa_model {
  tsn_object owner;
  tsanom_hsa_options options;
  size_t thread_count, run_count;
  tsanom_hsa_reference *references; /* by thread */
  double *numbers;                  /* the arrays of the references, one behind another */
  size_t threads_added, numbers_used;
};

/* --- diagnose.c --- */

/* The tree that `rule` names, applied to features. */
void tsn_hsa_decide(const tsanom_hsa_features *features, const tsanom_hsa_range *range,
                    int32_t rule, tsanom_hsa_verdict *verdict);

#endif
