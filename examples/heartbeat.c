/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenMP program that beats once an iteration, and then reads its own run. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/heartbeat.h>
#include <tsanom/heartbeat_run.h>

enum { ITERATIONS = 200, WINDOW = 20 };

static double work(void) {
  double sum = 0;
  for (int i = 1; i < 20000; i++) sum += sin(i);
  return sum;
}

static int print_rates(const char *folder) {
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_run *run;
  tsanom_heartbeat_run_info info;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_status status = tsanom_heartbeat_run_open(folder, NULL, &fault, &run);
  if (status < 0) {
    (void)fprintf(stderr, "%s, byte %llu: %s\n", fault.file,
                  (unsigned long long)fault.offset, fault.text);
    return EXIT_FAILURE;
  }
  tsanom_heartbeat_run_describe(run, &info, sizeof info);
  for (uint32_t i = 0; i < info.streams && status == TSANOM_OK; i++) {
    static double times[ITERATIONS], rates[ITERATIONS];
    tsanom_heartbeat_stream_info stream;
    tsanom_heartbeat_run_stream(run, i, &stream, sizeof stream);
    size_t beats = (size_t)stream.beats;
    if (beats <= WINDOW || beats > ITERATIONS) continue;
    status = tsanom_heartbeat_run_read(run, i, 0, beats, times, NULL, &fault);
    if (status == TSANOM_OK) status = tsanom_heartbeat_rate(times, beats, WINDOW, rates);
    if (status == TSANOM_OK) {
      printf("thread %d: %zu beats, %.0f a second at the end\n", stream.thread, beats,
             rates[beats - WINDOW - 1]);
    }
  }
  tsanom_heartbeat_run_close(run);
  return status == TSANOM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **argument) {
  if (count != 2) {
    (void)fprintf(stderr, "usage: %s FOLDER, which must not hold a run yet\n",
                  argument[0]);
    return EXIT_FAILURE;
  }
  tsanom_status status = tsanom_heartbeat_init(argument[1], omp_get_max_threads(), NULL);
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
