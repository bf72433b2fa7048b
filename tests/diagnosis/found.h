/* SPDX-License-Identifier: BSD-3-Clause */
/* Causes that are found in runs that never happened, with ranges learned from six normal
 * runs of the same program. */
#ifndef TSANOM_TEST_DIAGNOSIS_FOUND_H
#define TSANOM_TEST_DIAGNOSIS_FOUND_H

#include "diagnosis/living.h"

enum { RUNS = 6, ROUNDS = 40, CAPACITY = 4 * LIVING_THREADS + 8 };
enum {
  NUMBERS = TSANOM_DIAGNOSIS_LEDGER_RUN + TSANOM_DIAGNOSIS_LEDGER_THREAD * LIVING_THREADS
};
enum { RANGES = TSANOM_DIAGNOSIS_PARTS * TSANOM_DIAGNOSIS_SIGNS * LIVING_THREADS };

/* What was found in one run. */
typedef struct {
  size_t count;
  int32_t status, thread[LIVING_THREADS];
  tsanom_diagnosis_finding cause[CAPACITY];
} finding;

/* Learn from `count` runs of a kind, at most RUNS. The next call overwrites the ranges.
 */
tsanom_diagnosis_normal learn_from(const living_kind *kind, size_t count, uint64_t *seed,
                                   tsanom_status expected);

/* Learn from RUNS runs of living_normal(). */
tsanom_diagnosis_normal learn_two_threads(living_kind *kind);

/* Learn from other runs, RUNS in number, and take them back. */
void learn_again(tsanom_diagnosis_normal *normal, tsanom_hsa_run *runs);

/* Find the causes of a run, and check what holds for all: signs, strengths, sentences. */
finding find(const tsanom_diagnosis_normal *normal, const tsanom_hsa_run *run);
finding find_in(const tsanom_diagnosis_normal *normal, const living_kind *kind,
                uint64_t *seed);

/* The confidence of the first anomaly that a watch of the run finds. */
double confidence_in(const tsanom_diagnosis_normal *normal, const tsanom_hsa_run *run);

/* All of ROUNDS runs have the status, and the threads theirs. */
void expect(const tsanom_diagnosis_normal *normal, const living_kind *kind,
            int32_t status, const int32_t *threads, size_t count);

#define EXPECT(normal, kind, status, ...)                      \
  expect(normal, kind, status, (const int32_t[]){__VA_ARGS__}, \
         sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

#endif
