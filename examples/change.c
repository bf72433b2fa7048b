/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of a program that becomes 12 % slower after the 150th, found in the whole
 * series and while it runs; and two sets of runs. The times are synthetic. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <tsanom/change.h>

enum { ITERATIONS = 300, SLOWER = 150 };

/* Seconds of an iteration: 0.1, slower from SLOWER on, with 4 % of noise; each 40th writes
 * a checkpoint and takes twice as long. */
static void iterations(double *seconds) {
  uint32_t state = 1;
  for (int i = 0; i < ITERATIONS; i++) {
    double noise = 0;
    for (int k = 0; k < 12; k++) {
      state = state * 1664525u + 1013904223u;
      noise += state / 4294967296.0 - 0.5; /* twelve of these: about normal */
    }
    seconds[i] = 0.1 * (i < SLOWER ? 1 : 1.12) * (1 + 0.04 * noise);
    if (i % 40 == 39) seconds[i] *= 2;
  }
}

static void print(const char *when, const tsanom_change_point *p) {
  printf("%s: since iteration %d (%d to %d) %+.0f %% (%+.0f to %+.0f)\n", when,
         (int)p->at, (int)p->low, (int)p->high, 100 * p->size / p->before,
         100 * p->size_low / p->before, 100 * p->size_high / p->before);
}

/* While the program runs: the detector learns from 100 iterations. */
static int follow(const double *seconds) {
  tsanom_change_detector *detector = NULL;
  tsanom_change_options options;
  tsanom_change_point point;
  size_t found = 0, taken;
  tsanom_change_options_init(&options, sizeof options);
  options.reference = 100;
  if (tsanom_change_create(&options, NULL, &detector) != TSANOM_OK) return 1;
  for (int i = 0; i < ITERATIONS && !found; i++) {
    tsanom_change_push(detector, &seconds[i], 1, &point, 1, &found, &taken);
    if (found) printf("reported after iteration %d\n", i);
  }
  if (found) print("online", &point);
  tsanom_change_destroy(detector);
  return !found;
}

int main(void) {
  double seconds[ITERATIONS];
  tsanom_change_point points[8];
  size_t count = 0;
  iterations(seconds);
  if (tsanom_change_find(seconds, ITERATIONS, NULL, NULL, points, 8, &count) < 0)
    return 1;
  for (size_t i = 0; i < count; i++) print("afterwards", &points[i]);
  if (follow(seconds)) return 1;

  /* Medians of five runs of each version, as logarithms: differences are ratios. */
  double before[] = {10.1, 10.3, 9.9, 10.0, 10.2},
         after[] = {10.9, 10.6, 11.1, 10.8, 10.7};
  for (int i = 0; i < 5; i++) {
    before[i] = log(before[i]);
    after[i] = log(after[i]);
  }
  tsanom_change_comparison c = {.struct_size = sizeof c};
  if (tsanom_change_compare(before, 5, after, 5, NULL, NULL, &c) != TSANOM_OK) return 1;
  printf("runs: %+.1f %% (%+.1f to %+.1f), significance %.3f, detectable %.1f %%\n",
         100 * expm1(c.difference), 100 * expm1(c.low), 100 * expm1(c.high),
         c.significance, 100 * expm1(c.detectable));
  return 0;
}
