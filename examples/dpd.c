/* SPDX-License-Identifier: BSD-3-Clause */
/* A program repeats the parallel regions 7 8 8 8 8 8 8 8 8 9: find its loops while it
 * runs, and predict the next regions. */
#include <stdio.h>
#include <tsanom/dpd.h>

static uint64_t region_at(size_t i) {
  static const uint64_t prologue[] = {1, 2, 3},
                        iteration[] = {7, 8, 8, 8, 8, 8, 8, 8, 8, 9};
  return i < 3 ? prologue[i] : iteration[(i - 3) % 10];
}

int main(void) {
  tsanom_dpd_nest *nest = NULL;
  tsanom_dpd_event *detector = NULL;
  if (tsanom_dpd_nest_create(NULL, NULL, &nest) != TSANOM_OK) return 1;
  tsanom_dpd_event_options options;
  tsanom_dpd_event_options_init(&options, sizeof options);
  options.window = 16;
  if (tsanom_dpd_event_create(&options, NULL, &detector) != TSANOM_OK) return 1;

  for (size_t i = 0; i < 100; i++) {
    tsanom_dpd_report report;
    tsanom_dpd_nest_push(nest, region_at(i), NULL);
    tsanom_dpd_event_push(detector, region_at(i), &report);
    if (report.change == TSANOM_DPD_LOCKED) {
      printf("region %zu: the last 16 regions were seen %zu before\n", i, report.period);
    }
  }

  tsanom_dpd_period period[8];
  size_t count = 0;
  tsanom_dpd_nest_periods(nest, period, 8, &count);
  for (size_t k = 0; k < count; k++) {
    printf("level %zu: %zu regions an iteration, %llu loops\n", period[k].level,
           period[k].period, (unsigned long long)period[k].loops);
  }

  uint64_t next[3];
  if (tsanom_dpd_event_predict(detector, next, 3) != TSANOM_OK) return 1;
  printf("next: %llu %llu %llu\n", (unsigned long long)next[0],
         (unsigned long long)next[1], (unsigned long long)next[2]);
  tsanom_dpd_event_destroy(detector);
  tsanom_dpd_nest_destroy(nest);
  return next[0] == region_at(100) && count == 2 ? 0 : 1;
}
