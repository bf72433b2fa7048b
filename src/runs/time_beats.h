/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats from time: one for each 50 ms of processor time of a thread, by its vital signs.
 */
#ifndef TSN_RUNS_TIME_BEATS_H
#define TSN_RUNS_TIME_BEATS_H

#include <stdbool.h>
#include <tsanom/hsa.h>

#include "record/format.h"
#include "runs/memory.h"

/* Processor time of a thread number until a sample. */
typedef struct {
  uint64_t cpu;   /* ns, of the task */
  uint64_t total; /* ns, of all tasks since their first samples */
  int32_t task;   /* 0: there was no sample */
} tsn_time_state;

typedef struct {
  tsn_array time; /* double */
  size_t count;
  tsn_time_state at;
  double latest; /* time of the sample */
} tsn_time_beats;

/* Go to a sample; returns the beats since the one before. */
size_t tsn_time_advance(tsn_time_state *state, const tsn_vital_record *record);

/* The beats until a sample, at a time that may be NaN. The array has space for them. */
void tsn_time_beats_add(tsn_time_beats *beats, const tsn_vital_record *record,
                        double time);

#endif
