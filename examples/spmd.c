/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on a triangle, distributed by equal numbers of rows, then by instructions.
 *
 * Row i of a lower triangular product takes i + 1 steps, so threads with the same number
 * of rows have different work. The analysis names the region and the metric that discern
 * the threads. A distribution by that metric makes them similar. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/record.h>
#include <tsanom/spmd.h>

enum { THREADS = 4, ROWS = 2000, SWEEPS = 12 };
enum { SETUP, SOLVE, TRIANGLE, REGIONS };
enum { INSTRUCTIONS, BYTES, METRICS };

static const char *const region_names[REGIONS] = {"setup", "solve", "triangle"};
static const char *const metric_names[METRICS] = {"instructions", "bytes"};
static const int32_t parents[REGIONS] = {TSANOM_SPMD_NONE, TSANOM_SPMD_NONE, SOLVE};

typedef struct {
  double time[THREADS][REGIONS];
  double metric[METRICS][THREADS][REGIONS];
} measured;

/* y = L x over rows [begin, end) of a triangle that is computed on the fly. */
static double triangle(const double *x, double *y, int begin, int end) {
  double steps = 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    for (int i = begin; i < end; i++) {
      double sum = 0;
      for (int j = 0; j <= i; j++) sum += x[j] / (1 + (double)((i + j) & 7));
      y[i] = sum;
      steps += i + 1;
    }
  }
  return steps;
}

/* One thread's part: rows [begin, end), with the CPU time of its regions. */
static void work(measured *m, int thread, const double *x, double *y, int begin,
                 int end) {
  tsanom_spmd_recorder_options options;
  tsanom_spmd_recorder *recorder;
  tsanom_spmd_recorder_options_init(&options, sizeof options);
  options.clock = TSANOM_SPMD_CLOCK_CPU;
  if (tsanom_spmd_recorder_create(REGIONS, REGIONS, &options, NULL, &recorder) < 0) {
    abort();
  }
  tsanom_spmd_begin(recorder, SETUP);
  for (int i = begin; i < end; i++) y[i] = 0;
  tsanom_spmd_end(recorder, SETUP);
  tsanom_spmd_begin(recorder, SOLVE);
  tsanom_spmd_begin(recorder, TRIANGLE);
  double steps = triangle(x, y, begin, end);
  tsanom_spmd_end(recorder, TRIANGLE);
  tsanom_spmd_end(recorder, SOLVE);
  tsanom_spmd_recorder_read(recorder, m->time[thread], NULL, NULL);
  tsanom_spmd_recorder_destroy(recorder);
  m->metric[INSTRUCTIONS][thread][TRIANGLE] = steps;
  m->metric[BYTES][thread][TRIANGLE] = sizeof *x * ROWS;
}

static void run(measured *m, const int *bound, const double *x, double *y) {
  *m = (measured){0};
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
  for (int t = 0; t < THREADS; t++) work(m, t, x, y, bound[t], bound[t + 1]);
}

/* Analyze and print; returns the time of the slowest thread, or -1. */
static double report(const measured *m) {
  tsanom_spmd_data data;
  tsanom_spmd_options options;
  tsanom_spmd_report r;
  int32_t class_of[THREADS];
  uint64_t cause = 0;
  data = (tsanom_spmd_data){.struct_size = sizeof data};
  tsanom_spmd_options_init(&options, sizeof options);
  r = (tsanom_spmd_report){.struct_size = sizeof r};
  data.processes = THREADS;
  data.regions = REGIONS;
  data.metrics = METRICS;
  data.parent = parents;
  data.time = &m->time[0][0];
  data.metric = &m->metric[0][0][0];
  options.tolerance = 0.15; /* other programs may disturb this one */
  r.class_of = class_of;
  r.reduct = &cause;
  r.reduct_capacity = 1;
  tsanom_status status = tsanom_spmd_analyze(&data, &options, NULL, &r);
  if (status < 0) {
    (void)fprintf(stderr, "%s\n", tsanom_status_text(status));
    return -1;
  }
  printf("kinds of threads: %zu, severity %.3f\n", r.classes, r.severity);
  for (int t = 0; t < THREADS; t++) {
    printf("  thread %d: kind %d, %.4f s\n", t, class_of[t], m->time[t][SOLVE]);
  }
  if (r.verdict_region >= 0) printf("CCCR: %s\n", region_names[r.verdict_region]);
  for (int k = 0; r.reducts && k < METRICS; k++) {
    if (cause >> k & 1) printf("root cause: %s\n", metric_names[k]);
  }
  printf("ideal balance would run in %.0f %% less time\n\n", 100 * r.verdict_saving);
  return r.max_total;
}

int main(void) {
  static measured m;
  static double x[ROWS], y[ROWS];
  int bound[THREADS + 1];
  for (int i = 0; i < ROWS; i++) x[i] = sin(i);

  printf("As many rows for each thread:\n");
  for (int t = 0; t <= THREADS; t++) bound[t] = ROWS * t / THREADS;
  run(&m, bound, x, y);
  double before = report(&m);

  printf("As many instructions for each thread:\n");
  for (int t = 0; t <= THREADS; t++) {
    bound[t] = (int)lround(ROWS * sqrt((double)t / THREADS));
  }
  run(&m, bound, x, y);
  double after = report(&m);
  if (before < 0 || after <= 0) return EXIT_FAILURE;
  printf("The slowest thread takes %.4f s instead of %.4f s: %.2f times as fast.\n",
         after, before, before / after);
  return EXIT_SUCCESS;
}
