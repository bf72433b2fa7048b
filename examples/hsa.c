/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from five normal runs of one thread and diagnoses three others. The beats
 * are made up here; tsanom/runs.h reads recorded ones. */
#include <stdio.h>
#include <tsanom/hsa.h>

enum { NORMAL_RUNS = 5, BEATS = 1000 };

/* Beats every `period` seconds on average, by a small congruential generator; the
 * periods grow by the share `leak` in the course of the run. */
static tsanom_hsa_series make_beats(double *time, size_t count, double period,
                                    double leak, unsigned seed) {
  double now = 0;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    double jitter = 0.5 + (double)(seed >> 8) / (1 << 24);
    now += period * jitter * (1 + leak * (double)i / BEATS);
    time[i] = now;
  }
  return (tsanom_hsa_series){.time = time, .beats = count};
}

static int fail(tsanom_status status) {
  (void)fprintf(stderr, "hsa: %s\n", tsanom_status_text(status));
  return 1;
}

static tsanom_status print_diagnosis(const tsanom_hsa_model *model, const char *name,
                                     const tsanom_hsa_series *beats) {
  tsanom_hsa_run run = {.threads = beats, .thread_count = 1, .start = 0};
  tsanom_hsa_verdict verdict = {.struct_size = sizeof verdict};
  tsanom_status status = tsanom_hsa_diagnose(model, &run, NULL, &verdict, 1, NULL);
  if (status < 0) return status;
  printf("%s: %s\n", name, tsanom_hsa_status_name(verdict.status));
  for (int32_t i = 0; i < verdict.step_count; i++) {
    char text[512];
    if (tsanom_hsa_step_text(&verdict.step[i], text, sizeof text, NULL) == TSANOM_OK) {
      printf("  %s\n", text);
    }
  }
  return TSANOM_OK;
}

int main(void) {
  static double normal[NORMAL_RUNS][BEATS], other[3][BEATS];
  tsanom_hsa_series series[NORMAL_RUNS];
  tsanom_hsa_run runs[NORMAL_RUNS];
  for (unsigned i = 0; i < NORMAL_RUNS; i++) {
    double speed = 1 + 0.02 * (double)i;
    series[i] = make_beats(normal[i], BEATS, 0.001 * speed, 0, i + 1);
    runs[i] = (tsanom_hsa_run){.threads = &series[i], .thread_count = 1, .start = 0};
  }

  tsanom_hsa_model *model = NULL;
  tsanom_status status = tsanom_hsa_learn(runs, NORMAL_RUNS, NULL, NULL, &model);

  tsanom_hsa_series healthy = make_beats(other[0], BEATS, 0.00103, 0, 11);
  tsanom_hsa_series leaking = make_beats(other[1], BEATS, 0.001, 1.5, 12);
  tsanom_hsa_series killed = make_beats(other[2], 970, 0.001, 0, 13);
  if (status >= 0) status = print_diagnosis(model, "healthy", &healthy);
  if (status >= 0) status = print_diagnosis(model, "leaking", &leaking);
  if (status >= 0) status = print_diagnosis(model, "killed", &killed);
  tsanom_hsa_model_destroy(model);
  return status < 0 ? fail(status) : 0;
}
