/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of one parallel region with a static loop shows no progress but the processor
 * time of its threads, which the vital signs have. Beat k of a thread is at the moment at
 * which it had used 50 ms * k since its first sample:
 *
 *   processor time   0        70        140 ms
 *   samples          |---------|---------|
 *   beats                  1        2             linear between two samples
 *
 * Another thread may continue the number; its time before its first sample does not
 * count, nor does the time since the last sample of the one before. */
#include "runs/time_beats.h"

/* PERIOD is that of the samples by default, ns. A damaged sample must not take much
 * memory: between two samples are at most MOST beats, 200 s. */
enum { PERIOD = 50000000, MOST = 1 << 12 };

size_t tsn_time_advance(tsn_time_state *state, const tsn_vital_record *record) {
  if (record->cpu == TSN_UNAVAILABLE) return 0;
  bool continues = state->task == record->task && record->cpu >= state->cpu;
  uint64_t used = continues ? record->cpu - state->cpu : 0;
  uint64_t most = (uint64_t)MOST * PERIOD - PERIOD;
  uint64_t before = state->total / PERIOD;
  state->total += used < most ? used : most;
  state->cpu = record->cpu;
  state->task = record->task;
  return (size_t)(state->total / PERIOD - before);
}

void tsn_time_beats_add(tsn_time_beats *beats, const tsn_vital_record *record,
                        double time) {
  uint64_t before = beats->at.total;
  size_t fresh = tsn_time_advance(&beats->at, record);
  double used = (double)(beats->at.total - before), distance = time - beats->latest;
  if (record->cpu == TSN_UNAVAILABLE) return;
  for (size_t i = 0; i < fresh && distance >= 0; i++) {
    uint64_t since = (before / PERIOD + i + 1) * PERIOD - before;
    ((double *)beats->time.data)[beats->count++] =
        beats->latest + distance * (double)since / used;
  }
  beats->latest = time;
}
