/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files about the ledger share; README.md lists them. */
#ifndef TSN_DIAGNOSIS_LEDGER_H
#define TSN_DIAGNOSIS_LEDGER_H

#include <stdbool.h>
#include <tsanom/diagnosis.h>

/* --- trace.c: numbers of a thread at given times --- */

enum { TSN_LEDGER_CPU, TSN_LEDGER_READY, TSN_LEDGER_NUMBERS };

/* Whether the thread has two samples that know the number, and at which times its first
 * and last one are. */
bool tsn_ledger_span(const tsanom_hsa_series *series, int number, double span[2]);

/* A number, counted from the first sample that knows it, at `count` times that do not
 * decrease. O(samples + count). */
void tsn_ledger_trace(const tsanom_hsa_series *series, int number, const double *time,
                      size_t count, double *value);

/* Samples after times[0] and until times[1] that know the processor time. */
uint64_t tsn_ledger_samples(const tsanom_hsa_series *series, const double times[2]);

/* Beats of a thread until a time, and between two of them in proportion to the time. */
double tsn_ledger_beats_at(const tsanom_hsa_series *series, double time);

/* The time at which a thread has made 1, 2.5, ... of its beats, less than all of them. */
double tsn_ledger_time_of(const tsanom_hsa_series *series, double beats);

/* --- split.c --- */

/* Seconds of a team in a window: the most and the sum of its threads' c, and the sum of
 * their r. */
typedef struct {
  double wall, most, work, ready;
} tsn_ledger_sums;

/* What the wall time of a team is made of. */
typedef struct {
  double cpu, ready, nobody;
} tsn_ledger_entries;

/* Add a thread's c and r. The sums begin with `wall` alone. */
void tsn_ledger_add(tsn_ledger_sums *sums, double cpu, double ready);

/* Split the wall time among `processors`. */
tsn_ledger_entries tsn_ledger_split(const tsn_ledger_sums *sums, double processors);

#endif
