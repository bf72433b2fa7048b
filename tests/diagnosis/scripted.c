/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats at equal distances, and samples whose times are sums over the letters of a script
 * up to the sample: on a processor, ready without one, spinning. So a test reads the
 * right answer from its script. */
#include "scripted.h"

#include <math.h>
#include <string.h>

static const double letter_s = 0.1;

/* Seconds that a script has of a letter until a time. */
static double seconds_of(const char *script, char letter, double time) {
  double sum = 0;
  for (size_t i = 0; script[i]; i++) {
    double part = fmin(letter_s, time - letter_s * (double)i);
    if (script[i] == letter && part > 0) sum += part;
  }
  return sum;
}

void scripted_make(scripted_run *made, const char *const *scripts, size_t threads,
                   double beats_per_s, double every) {
  memset(made, 0, sizeof *made);
  double end = letter_s * (double)strlen(scripts[0]);
  size_t beats = (size_t)(end * beats_per_s + 0.5), samples = (size_t)(end / every + 1.5);
  for (size_t t = 0; t < threads; t++) {
    for (size_t i = 0; i < beats; i++) made->time[t][i] = (double)(i + 1) / beats_per_s;
    for (size_t i = 0; i < samples; i++) {
      double time = fmin(end, every * (double)i);
      made->vital[t][i] =
          (tsanom_hsa_vital){.time = time,
                             .cpu_s = 5 + seconds_of(scripts[t], 'c', time) +
                                      seconds_of(scripts[t], 'w', time),
                             .spun_s = seconds_of(scripts[t], 'w', time),
                             .wait_s = 3 + seconds_of(scripts[t], 'r', time),
                             .beats = (uint64_t)(time * beats_per_s),
                             .thread = (int32_t)t,
                             .task = 100 + (int32_t)t};
    }
    made->series[t] = (tsanom_hsa_series){.time = made->time[t],
                                          .beats = beats,
                                          .vital = made->vital[t],
                                          .vital_count = samples};
  }
  made->run = (tsanom_hsa_run){.threads = made->series,
                               .thread_count = threads,
                               .state = TSANOM_RUN_FINISHED,
                               .machine = "2 x processor"};
}

/* At the end of a letter that one is over. */
void scripted_know_states(scripted_run *made, const char *const *scripts) {
  for (size_t t = 0; t < made->run.thread_count; t++) {
    for (size_t i = 0; i < made->series[t].vital_count; i++) {
      tsanom_hsa_vital *v = &made->vital[t][i];
      size_t at = (size_t)(v->time / letter_s + 1e-9);
      char now = at < strlen(scripts[t]) ? scripts[t][at] : '-';
      v->state = now == '-' || now == 'b' ? 'S' : 'R';
      if (now == 'b') v->waits = TSANOM_HSA_WAITS_OTHER;
      if (now == 'w') v->waits = TSANOM_HSA_WAITS_TEAM;
    }
  }
}
