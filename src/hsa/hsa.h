/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the HSA room share. */
#ifndef TSN_HSA_HSA_H
#define TSN_HSA_HSA_H

#include <stdbool.h>
#include <tsanom/dtw.h>
#include <tsanom/hsa.h>
#include <tsanom/lbkeogh.h>

#include "core/arena.h"

/* The arguments that every function of the room reads first. */
typedef struct {
  tsanom_hsa_options options;
  tsanom_exec exec;  /* the caller's */
  tsanom_exec inner; /* the same for other rooms' functions: one thread, no poll */
} tsn_hsa_context;

tsanom_status tsn_hsa_context_read(tsn_hsa_context *context,
                                   const tsanom_hsa_options *options,
                                   const tsanom_exec *exec);

/* --- digest.c: a series of any length in bounded memory --- */

/* Everything that the features need to know of one series. The arrays have room
 * for max_windows windows and max_degree + 1 coefficients. */
typedef struct {
  size_t beats;
  size_t windows; /* full windows, at most max_windows */
  size_t degree;
  double completion, mean_rate, interval, r2;
  double domain[2];
  double unit, center, scale; /* of the polynomial */
  double *time, *rate, *window_rate, *coefficient;
} tsn_hsa_digest;

/* How the series of one thread are cut into windows. */
typedef struct {
  size_t window;       /* beats of a heart rate */
  size_t local_window; /* beats of the windows of LTR and LHR: a multiple */
} tsn_hsa_windows;

/* The windows for a thread whose longest normal series has so many beats. */
tsn_hsa_windows tsn_hsa_choose_windows(size_t beats, const tsanom_hsa_options *options);

/* Refuse what the features are not defined for; a series without a beat is
 * fine. */
tsanom_status tsn_hsa_check_series(const tsanom_hsa_series *series, double start,
                                   size_t window);

void tsn_hsa_digest_layout(tsn_arena *arena, const tsanom_hsa_options *options,
                           tsn_hsa_digest *digest);

/* Of the n intervals between beats, whose times never fall, the one of rank (n - 1) / 4,
 * rounded down, from 0; 0 without any. O(beats). */
double tsn_hsa_quartile_interval(const double *time, size_t beats);

/* Scratch of tsn_hsa_digest_series(). */
typedef struct {
  double *x, *y;
  void *fit;
  size_t fit_bytes;
} tsn_hsa_fit_scratch;

tsanom_status tsn_hsa_fit_layout(tsn_arena *arena, const tsn_hsa_context *context,
                                 tsn_hsa_fit_scratch *scratch);

/* Digest a checked series of more beats than the window. */
tsanom_status tsn_hsa_digest_series(const tsn_hsa_context *context,
                                    const tsanom_hsa_series *series, double start,
                                    const tsn_hsa_windows *windows,
                                    const tsn_hsa_fit_scratch *scratch,
                                    tsn_hsa_digest *digest);

/* --- compare.c: the features of one series against another --- */

typedef struct {
  double *target, *reference, *lower, *upper;
  void *dtw, *envelope;
  size_t dtw_bytes, envelope_bytes;
} tsn_hsa_pair_scratch;

tsanom_status tsn_hsa_pair_layout(tsn_arena *arena, const tsn_hsa_context *context,
                                  tsn_hsa_pair_scratch *scratch);

/* All features. The distances are relative, whatever options.normalise. */
tsanom_status tsn_hsa_compare_digests(const tsn_hsa_context *context,
                                      const tsn_hsa_digest *target,
                                      const tsn_hsa_digest *reference,
                                      const tsn_hsa_pair_scratch *scratch,
                                      tsanom_hsa_features *features);

/* What a relative distance is multiplied with to give eq. 9's or 13's sum, if
 * options ask for that; else, and for all other features, 1. */
double tsn_hsa_scale(int32_t feature, double target_rate, double reference_rate,
                     const tsanom_hsa_options *options);

/* What it takes to compare targets with a reference, one after the other. */
typedef struct {
  tsn_hsa_digest target; /* room for a target's digest */
  tsn_hsa_fit_scratch fit;
  tsn_hsa_pair_scratch pair;
} tsn_hsa_comparer;

tsanom_status tsn_hsa_comparer_layout(tsn_arena *arena, const tsn_hsa_context *context,
                                      tsn_hsa_comparer *comparer);

/* The features, as the public interface shows them, of a checked series of at
 * least one beat; those that need a heart rate stay undefined without one. */
tsanom_status tsn_hsa_compare_series(const tsn_hsa_context *context,
                                     const tsanom_hsa_series *series, double start,
                                     const tsn_hsa_windows *windows,
                                     const tsn_hsa_digest *reference,
                                     tsn_hsa_comparer *comparer,
                                     tsanom_hsa_features *features);

static inline bool tsn_hsa_is_defined(const tsanom_hsa_features *features,
                                      int32_t feature) {
  return (features->defined >> feature & 1) != 0;
}

static inline void tsn_hsa_define(tsanom_hsa_features *features, int32_t feature,
                                  double value) {
  features->value[feature] = value;
  features->defined |= (int32_t)1 << feature;
}

/* --- range.c, student.c --- */

/* The t with P(T <= t) = p for Student's distribution of so many degrees of
 * freedom; 0.5 <= p < 1, freedom >= 1. */
double tsn_hsa_student_quantile(double p, size_t freedom);

/* The normal range of a feature from samples, which get sorted. The margin of a
 * distance is in multiples of `unit`. Sets *partial if there are too few samples
 * for what options asks. */
tsanom_hsa_range tsn_hsa_learn_range(int32_t feature, double *samples, size_t count,
                                     double unit, const tsanom_hsa_options *options,
                                     bool *partial);

/* --- model.c --- */

/* The model's memory until it is whole; only then do the public functions accept
 * it. Arguments have been checked. */
void tsn_hsa_model_open(tsanom_hsa_model *model, size_t thread_count, size_t run_count,
                        const tsanom_hsa_options *options);
void tsn_hsa_model_close(tsanom_hsa_model *model);

/* Copy what is known of a thread into a model. */
void tsn_hsa_model_store(tsanom_hsa_model *model, size_t thread,
                         const tsanom_hsa_reference *reference);

/* A digest as the public interface shows it, and back; the ranges and the counts
 * of runs are zero. The arrays are shared. */
tsanom_hsa_reference tsn_hsa_reference_of(const tsn_hsa_digest *digest,
                                          const tsn_hsa_windows *windows);
tsn_hsa_digest tsn_hsa_digest_of(const tsanom_hsa_reference *reference);

/* Whether memory aligned as for double, of so many bytes, can hold a model. */
tsanom_status tsn_hsa_model_memory(const tsanom_hsa_model *model, size_t model_bytes,
                                   size_t thread_count,
                                   const tsanom_hsa_options *options);

/* --- tree.c --- */

/* Append a step that asks about numbers rather than features. */
void tsn_hsa_ask_count(tsanom_hsa_verdict *verdict, int32_t question, bool answer,
                       size_t first, size_t second);

#endif
