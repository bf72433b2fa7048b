/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files about the ledger share; README.md lists them. */
#ifndef TSN_DIAGNOSIS_LEDGER_H
#define TSN_DIAGNOSIS_LEDGER_H

#include <stdbool.h>
#include <tsanom/diagnosis.h>

/* --- trace.c: numbers of a thread at given times --- */

/* Without the processor time in which the thread waited for its team. */
enum { TSN_LEDGER_CPU, TSN_LEDGER_READY };

/* Whether the thread has two samples that know the number, and at which times its first
 * and last one are. */
bool tsn_ledger_span(const tsanom_hsa_series *series, int number, double span[2]);

/* Samples that are not after a time. O(log count). */
size_t tsn_samples_until(const tsanom_hsa_vital *vital, size_t count, double time);

/* A number at `count` times that do not decrease, counted from the last sample until the first of
 * them that knows it. O(log samples + samples from there on + count). */
void tsn_ledger_trace(const tsanom_hsa_series *series, int number, const double *time,
                      size_t count, double *value);

/* Until each of `count` times, the time in which each thread slept, was stopped or waited for
 * its team, by their states in the samples; NaN: these are not known.
 * O(threads samples log samples + count). */
void tsn_ledger_nobody(const tsanom_hsa_run *run, const double *time, size_t count,
                       double *value);

/* The thread with most samples. */
const tsanom_hsa_series *tsn_best_sampled(const tsanom_hsa_run *run);

/* The time from which on all threads that have samples of their processor time are known,
 * and until which one is. Returns their number; `knows_ready`: whether all of them know how
 * long they were ready. */
size_t tsn_ledger_ends(const tsanom_hsa_run *run, double *begin, double *end,
                       bool *knows_ready);

/* Between the first and the last of its TSANOM_DIAGNOSIS_WINDOWS elements, `cut` gets the times at which a
 * thread has made the eighths of `total` beats. */
void tsn_ledger_cut(const tsanom_hsa_series *series, double total, double *cut);

/* Samples after times[0] and until times[1] that know the processor time. */
uint64_t tsn_ledger_samples(const tsanom_hsa_series *series, const double times[2]);

/* Beats of a thread until a time, and between two of them in proportion to the time. */
double tsn_ledger_beats_at(const tsanom_hsa_series *series, double time);

/* The time at which a thread has made 1, 2.5, ... of its beats, less than all of them. */
double tsn_ledger_time_of(const tsanom_hsa_series *series, double beats);

/* --- split.c --- */

/* Seconds of a team in a window: the most and the sum of its threads' c, the sum of their r,
 * the least of what remains, and by the samples, in which nobody ran or was ready (NaN: not
 * known). */
typedef struct {
  double wall, most, work, ready, off, nobody;
} tsn_ledger_sums;

/* What the wall time of a team is made of. */
typedef struct {
  double cpu, ready, nobody;
} tsn_ledger_entries;

tsn_ledger_sums tsn_ledger_begin(double wall, double nobody);
/* Add a thread's c and r. */
void tsn_ledger_add(tsn_ledger_sums *sums, double cpu, double ready);

/* Split the wall time among `processors`, of which at most `ready` is contention. */
tsn_ledger_entries tsn_ledger_split(const tsn_ledger_sums *sums, double processors,
                                    double ready);

#endif
