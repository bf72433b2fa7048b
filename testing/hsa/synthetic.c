/* SPDX-License-Identifier: BSD-3-Clause */
#include "synthetic.h"

#include <math.h>
#include <stdlib.h>

#include "support/random.h"

static const double pi = 3.14159265358979323846;

synthetic_kind synthetic_steady(void) {
  return (synthetic_kind){
      .threads = 2, .beats = 1000, .period = 0.001, .noise = 0.2, .speed_spread = 0.03};
}

/* Box and Muller. */
double synthetic_gauss(uint64_t *seed) {
  double radius = sqrt(-2 * log(1 - random_unit(seed)));
  return radius * cos(2 * pi * random_unit(seed));
}

tsanom_hsa_run synthetic_run(const synthetic_kind *kind, uint64_t *seed) {
  double start = 100 * random_unit(seed);
  double pace = kind->period * exp(kind->speed_spread * synthetic_gauss(seed));
  size_t beats = kind->beats;
  if (kind->shutdown_at > 0) beats = (size_t)((double)beats * kind->shutdown_at);
  tsanom_hsa_series *threads = calloc(kind->threads, sizeof *threads);
  for (size_t t = 0; t < kind->threads; t++) {
    double *time = malloc((beats + 1) * sizeof *time);
    double now = start;
    for (size_t i = 0; i < beats; i++) {
      double progress = (double)i / (double)kind->beats;
      double step = pace * (1 + kind->leak * progress) *
                    (1 + kind->phase_depth * sin(4 * pi * progress));
      now += step * exp(kind->noise * synthetic_gauss(seed));
      time[i] = now;
    }
    threads[t] = (tsanom_hsa_series){.time = time, .beats = beats};
  }
  return (tsanom_hsa_run){
      .threads = threads, .thread_count = kind->threads, .start = start};
}

void synthetic_free(tsanom_hsa_run *run) {
  for (size_t t = 0; t < run->thread_count; t++) {
    free((void *)run->threads[t].time);
  }
  free((void *)run->threads);
}
