/* SPDX-License-Identifier: BSD-3-Clause */
/* The test is the scheduler: it decides when a thread runs, is ready without a processor,
 * or sleeps. Beats and samples for the watch follow from that. `waited` is the truth; the
 * samples have a wait only after its end, as those of the kernel do. */
#include "scheduled.h"

#include <criterion/criterion.h>
#include <string.h>

#include "support/check.h"

scheduled of[THREADS];
double now;
static tsanom_diagnosis_watch *watch;
const tsanom_diagnosis_anomaly *found;
size_t anomalies;

void start(double hang) {
  tsanom_diagnosis_watch_options options;
  CHECK_STATUS(tsanom_diagnosis_watch_options_init(&options, sizeof options), TSANOM_OK);
  options.hang = hang;
  CHECK_STATUS(tsanom_diagnosis_watch_create(THREADS, NULL, &options, NULL, &watch),
               TSANOM_OK);
  memset(of, 0, sizeof of);
  now = 0;
}

void stop(void) {
  tsanom_diagnosis_watch_destroy(watch);
}

/* The kernel counts waiting when the thread gets a processor. */
void set_state(scheduled *t, int state) {
  if (state == RUNS) {
    t->wait += t->queued;
    t->queued = 0;
  }
  t->state = state;
}

void pass(double seconds) {
  now += seconds;
  for (size_t i = 0; i < THREADS; i++) {
    if (of[i].state == RUNS) of[i].cpu += seconds;
    if (of[i].state != QUEUED) continue;
    of[i].queued += seconds;
    of[i].waited += seconds;
  }
}

void beat(size_t i) {
  of[i].beat[of[i].beats++] = now;
  of[i].waited = 0;
}

void take_sample(size_t i, int letter) {
  of[i].sample[of[i].samples++] = (tsanom_hsa_vital){.time = now,
                                                     .cpu_s = of[i].cpu,
                                                     .wait_s = of[i].wait,
                                                     .beats = of[i].beats,
                                                     .thread = (int32_t)i,
                                                     .task = 100 + (int32_t)i,
                                                     .state = letter};
}

void sample_all(void) {
  for (size_t i = 0; i < THREADS; i++) take_sample(i, of[i].state == ASLEEP ? 'S' : 'R');
}

void look(void) {
  tsanom_hsa_series news[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    news[i] = (tsanom_hsa_series){.time = of[i].beat,
                                  .beats = of[i].beats,
                                  .vital = of[i].sample,
                                  .vital_count = of[i].samples};
    of[i].beats = of[i].samples = 0;
  }
  tsanom_hsa_run run = {
      .threads = news, .thread_count = THREADS, .end = now, .state = TSANOM_RUN_RUNNING};
  CHECK_STATUS(tsanom_diagnosis_watch_update(watch, &run, NULL, &found, &anomalies),
               TSANOM_OK);
}

tsanom_diagnosis_pulse pulse_of(size_t i) {
  tsanom_diagnosis_pulse pulse;
  CHECK_STATUS(tsanom_diagnosis_watch_pulse(watch, i, &pulse), TSANOM_OK);
  return pulse;
}

int32_t status_of(size_t i) {
  return pulse_of(i).status;
}

void begin(size_t ahead) {
  for (size_t k = 0; k < BEATS / 2; k++) {
    for (size_t i = 0; i < THREADS; i++) {
      set_state(&of[i], RUNS);
      beat(i);
    }
    pass(interval);
  }
  if (ahead < THREADS) beat(ahead);
  sample_all();
  look();
}
