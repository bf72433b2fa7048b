/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that monitors itself: its threads beat, and thread 0 watches them. Here
 * thread 1 hangs, and goes on when it was found. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tsanom/diagnosis.h>

enum { THREADS = 2, MOST = 4096, ITERATIONS = 60 };

/* Beats of a thread: it writes, thread 0 reads. */
static double beat[THREADS][MOST];
static atomic_size_t beats[THREADS];
static atomic_int hang_found, recovered;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void iterate(int thread) {
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  size_t i = atomic_load(&beats[thread]);
  if (i == MOST) return;
  beat[thread][i] = now();
  atomic_store(&beats[thread], i + 1);
}

/* Give the watch the beats since the last call, and print what began or recovered. */
static tsanom_status look(tsanom_diagnosis_watch *watch, size_t *fed) {
  tsanom_hsa_series news[THREADS];
  for (size_t t = 0; t < THREADS; t++) {
    size_t until = atomic_load(&beats[t]);
    news[t] = (tsanom_hsa_series){.time = beat[t] + fed[t], .beats = until - fed[t]};
    fed[t] = until;
  }
  tsanom_hsa_run run = {.threads = news, .thread_count = THREADS, .end = now()};
  const tsanom_diagnosis_anomaly *found;
  size_t count = 0;
  tsanom_status status = tsanom_diagnosis_watch_update(watch, &run, NULL, &found, &count);
  for (size_t i = 0; i < count; i++) {
    char text[512];
    if (found[i].phase == TSANOM_DIAGNOSIS_ANOMALY_LASTS) continue;
    tsanom_diagnosis_cause_text(&found[i].cause, TSANOM_DIAGNOSIS_CAUSE_EVIDENCE, text,
                                sizeof text, NULL);
    if (found[i].phase == TSANOM_DIAGNOSIS_ANOMALY_BEGAN) {
      printf("thread %d: %s since iteration %llu (confidence %.2f): %s\n",
             found[i].cause.thread, tsanom_hsa_status_name(found[i].cause.cause),
             (unsigned long long)found[i].iteration, found[i].confidence, text);
      atomic_store(&hang_found, 1);
    } else {
      printf("thread %d: recovered\n", found[i].cause.thread);
      atomic_store(&recovered, 1);
    }
  }
  return status;
}

int main(void) {
  tsanom_diagnosis_watch *watch = NULL;
  tsanom_status status = tsanom_diagnosis_watch_create(THREADS, NULL, NULL, NULL, &watch);
  if (status < 0) return EXIT_FAILURE;
#pragma omp parallel num_threads(THREADS)
  {
    size_t fed[THREADS] = {0};
    int thread = omp_get_thread_num();
    for (int i = 0; thread == 1 && i < ITERATIONS; i++) {
      while (i == ITERATIONS / 2 && !atomic_load(&hang_found)) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
      }
      iterate(1);
    }
    while (thread == 0 && status >= 0 && !atomic_load(&recovered)) {
      iterate(0);
      status = look(watch, fed);
    }
  }
  tsanom_diagnosis_watch_destroy(watch);
  return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
