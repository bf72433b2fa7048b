/* SPDX-License-Identifier: BSD-3-Clause */
/* A watch of threads that never ran, on a scheduler whose decisions are known. */
#ifndef TSANOM_TEST_DIAGNOSIS_SCHEDULED_H
#define TSANOM_TEST_DIAGNOSIS_SCHEDULED_H

#include <tsanom/diagnosis.h>

enum { THREADS = 2, BEATS = 40, SAMPLES = 4000 };
enum { ASLEEP, QUEUED, RUNS };

/* Seconds: between beats, of a decision, between samples, the least limit of a silence.
 */
static const double interval = 0.01, step = 0.001, every = 0.05, limit = 1;

/* What the scheduler knows of a thread. */
typedef struct {
  double beat[BEATS];
  tsanom_hsa_vital sample[SAMPLES];
  size_t beats, samples;
  double cpu, wait, queued; /* `queued`: not in `wait` yet */
  double waited;            /* since the latest beat */
  int state;
} scheduled;

extern scheduled of[THREADS];
extern double now;

/* Of the latest look. */
extern const tsanom_diagnosis_anomaly *found;
extern size_t anomalies;

/* Create the watch; `hang` as in its options. */
void start(double hang);
void stop(void);

void set_state(scheduled *t, int state);
void pass(double seconds);
void beat(size_t i);
void take_sample(size_t i, int letter);
void sample_all(void);

/* Give the watch what is new. */
void look(void);

tsanom_diagnosis_pulse pulse_of(size_t i);
int32_t status_of(size_t i);

/* Both threads beat on processors of their own; thread `ahead` beats once more. */
void begin(size_t ahead);

#endif
