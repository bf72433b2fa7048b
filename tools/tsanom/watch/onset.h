/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not normal in a watched run, from its onset to its end. */
#ifndef TSANOM_COMMAND_ONSET_H
#define TSANOM_COMMAND_ONSET_H

#include "model.h"
#include "watched.h"

enum { EVIDENCE_BYTES = 512 };
enum { ANOMALY_ENDED, ANOMALY_GOES_ON, ANOMALY_NEW };

typedef struct {
  int32_t cause;  /* TSANOM_HSA_MEMORY_LEAK... */
  int32_t thread; /* TSANOM_HSA_PROCESS: the run */
  int phase;      /* ANOMALY_* as of the last look */
  int by_model;
  double onset;     /* seconds, on the clock of the run */
  size_t iteration; /* at the onset */
  double strength;  /* value over limit; infinity: a fact */
  char evidence[EVIDENCE_BYTES];
} anomaly;

typedef struct {
  const owned_model *model; /* NULL: only hangs and the end of the run are judged */
  anomaly *found;
  size_t count, capacity;
  double next; /* when the model judges again, on the clock of the watcher */
} onsets;

/* Judge the run after a look. Anomalies that had ended at the last call are dropped. */
int onsets_update(onsets *o, const watched *w, failure *why);

void onsets_free(onsets *o);

/* Whether it is one of the program: contention comes from others, and a run that waits,
 * or that cannot be judged, is not the cause of anything. */
int is_alarm(const anomaly *a);

#endif
