/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenMP program that beats once per iteration, and then reads its own run. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/runs.h>

enum { ITERATIONS = 200, WINDOW = 20 };

static double work(void) {
  double sum = 0;
  for (int i = 1; i < 20000; i++) sum += sin(i);
  return sum;
}

static int print_rates(const char *directory) {
  tsanom_fault fault;
  tsanom_exec exec;
  tsanom_runs *run;
  const tsanom_hsa_run *beats = NULL;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  tsanom_status status = tsanom_runs_open(directory, NULL, &exec, &run);
  if (status < 0) {
    (void)fprintf(stderr, "%s, byte %llu: %s\n", fault.file,
                  (unsigned long long)fault.offset, fault.text);
    return EXIT_FAILURE;
  }
  status = tsanom_runs_hsa(run, &exec, &beats);
  for (size_t t = 0; status == TSANOM_OK && t < beats->thread_count; t++) {
    static double rates[ITERATIONS];
    const tsanom_hsa_series *series = &beats->threads[t];
    if (series->beats <= WINDOW || series->beats > ITERATIONS) continue;
    status = tsanom_runs_rate(series->time, series->beats, WINDOW, &exec, rates);
    if (status == TSANOM_OK) {
      printf("thread %zu: %zu beats, %.0f per second at the end\n", t, series->beats,
             rates[series->beats - WINDOW - 1]);
    }
  }
  tsanom_runs_destroy(run);
  return status == TSANOM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **argument) {
  if (count != 2) {
    (void)fprintf(stderr, "usage: %s DIRECTORY, which must not contain a run\n",
                  argument[0]);
    return EXIT_FAILURE;
  }
  tsanom_status status =
      tsanom_heartbeat_init(argument[1], omp_get_max_threads(), NULL, NULL);
  if (status < 0) {
    (void)fprintf(stderr, "%s: %s\n", argument[1], tsanom_status_text(status));
    return EXIT_FAILURE;
  }
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < ITERATIONS; i++) {
    sum += work();
    tsanom_heartbeat_beat(omp_get_thread_num(), (uint32_t)i);
  }
  status = tsanom_heartbeat_finish();
  printf("the sum is %.6f; the run was %s\n", sum, tsanom_status_text(status));
  return print_rates(argument[1]);
}
