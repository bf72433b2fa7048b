/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts on runs, and what several commands say of them. */
#ifndef TSANOM_COMMAND_DIAGNOSIS_H
#define TSANOM_COMMAND_DIAGNOSIS_H

#include <jansson.h>
#include <tsanom/diagnosis.h>

#include "beats.h"
#include "model.h"

/* Of a sentence of the library. */
enum { SENTENCE_BYTES = 512 };

typedef struct {
  const char *path;
  size_t threads;              /* of the run and the model together */
  tsanom_hsa_verdict *verdict; /* by the features; and the status of each thread */
  int32_t status;              /* of the run */
  int32_t state;               /* TSANOM_RUN_* */
  /* If the model has ranges of signs, these decide: the signs of the run's own threads,
   * and the causes. */
  tsanom_diagnosis_signs *signs; /* NULL: the tree of the model decides */
  size_t signs_count;
  tsanom_diagnosis_finding *cause;
  size_t causes;
  uint64_t run_beats;
  uint64_t normal_beats; /* of each normal run; 0: not another number, or not known */
  /* Where the time went: of the run's own threads, by window and thread. */
  tsanom_diagnosis_ledger ledger;
  tsanom_diagnosis_share *share;
  size_t share_threads;
  beats b; /* if they were to be kept */
} diagnosis;

/* Only the signs and causes of an open run, by a model that has ranges of signs. The path
 * of `d` is used in messages; the rest of it must be zero. */
int diagnosis_causes(const owned_model *m, const tsanom_hsa_run *run,
                     const tsanom_exec *exec, diagnosis *d, failure *why);

void diagnosis_free(diagnosis *d);

/* {cause, thread, name, sign, value, most, limit, lost_s, begin, end, iteration, evidence,
 * next} */
json_t *finding_to_json(const tsanom_diagnosis_finding *f);

/* Digits of "%.*g": three, or as many as a number has before its point, without an exponent. */
int digits_of(double number);

/* The word for a TSANOM_RUN_*. */
const char *state_name(int32_t state);

/* Where the time went: {wall_s, cpu_s, ready_s, nobody_s, parts[], threads[]}; null without
 * vital signs. */
json_t *ledger_to_json(const diagnosis *d);

#endif
