/* SPDX-License-Identifier: BSD-3-Clause */
/* DTW on four threads: one pair as a wavefront, matrices of pairs of one length and
 * of several, one series against many, each to its end and stopped on the way. */
#include <math.h>
#include <stdio.h>
#include <tsanom/dtw.h>

#include "support/random.h"

enum { LONG = 3000, SERIES = 40, SHORT = 60 };

static double long_x[LONG], long_y[LONG], samples[SERIES][SHORT];

static int32_t stop_in_time(void *user, uint64_t done, uint64_t total) {
  int *asked = user;
  (void)done, (void)total;
  return ++*asked > 3;
}

static void draw(void) {
  uint64_t seed = 1;
  for (size_t i = 0; i < LONG; i++) {
    long_x[i] = random_unit(&seed);
    long_y[i] = random_unit(&seed);
  }
  for (size_t k = 0; k < SERIES * SHORT; k++) {
    samples[k / SHORT][k % SHORT] = random_unit(&seed);
  }
}

/* Whether the status is that of a whole run, or of one that the poll may stop. */
static int is_good(tsanom_status status, const tsanom_exec *exec) {
  return status == TSANOM_OK || (exec->poll && status == TSANOM_STOPPED);
}

static tsanom_status distance_within(double cutoff, size_t radius,
                                     const tsanom_exec *exec, double *distance) {
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  options.cutoff = cutoff;
  options.radius = radius;
  return tsanom_dtw_distance(long_x, LONG, long_y, LONG, &options, exec, distance);
}

/* Cut-offs that no row exceeds, that the first rows exceed, and that the first columns of
 * each row exceed, which then are examined one after the other. */
static int run_pair(const tsanom_exec *exec, double whole, int number) {
  double distance;
  double cutoff = number == 0 ? 1e300 : number == 1 ? whole / 100 : whole;
  tsanom_status status = distance_within(cutoff, TSANOM_NONE, exec, &distance);
  return is_good(status, exec) || (cutoff < whole && status == TSANOM_CUTOFF);
}

/* Without a cut-off, as a chain where the processor has one. */
static int run_chains(const tsanom_exec *exec) {
  double distance;
  return is_good(distance_within(INFINITY, TSANOM_NONE, exec, &distance), exec) &&
         is_good(distance_within(INFINITY, LONG / 4, exec, &distance), exec);
}

static int run_many(const tsanom_exec *exec, int one_length) {
  static double condensed[SERIES * SERIES], cross[SERIES * SERIES], row[SERIES];
  static double average[SHORT];
  const double *pointers[SERIES];
  size_t lengths[SERIES], computed;
  for (size_t k = 0; k < SERIES; k++) {
    pointers[k] = samples[k];
    lengths[k] = one_length ? SHORT : SHORT - k;
  }
  tsanom_series set = {.struct_size = sizeof set};
  set.pointers = pointers;
  set.lengths = lengths;
  set.count = SERIES;
  return is_good(tsanom_dtw_condensed(&set, NULL, exec, condensed, &computed), exec) &&
         is_good(tsanom_dtw_cross(&set, &set, NULL, exec, cross, SERIES, &computed),
                 exec) &&
         is_good(tsanom_dtw_one_to_many(samples[0], lengths[0], &set, NULL, exec, row,
                                        &computed),
                 exec) &&
         is_good(
             tsanom_dtw_barycenter(&set, SHORT, 1000, 1e-3, NULL, exec, average, NULL),
             exec);
}

int main(void) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = 4;
  draw();
  double whole;
  if (distance_within(1e300, TSANOM_NONE, NULL, &whole) != TSANOM_OK) return 1;
  for (int repeat = 0; repeat < 12; repeat++) {
    int asked = 0;
    exec.isa = repeat < 6 ? TSANOM_ISA_BASE : TSANOM_ISA_AUTO;
    exec.poll = repeat % 2 ? stop_in_time : NULL;
    exec.poll_user = &asked;
    if (!run_pair(&exec, whole, repeat % 3)) return 1;
    asked = 0;
    if (!run_chains(&exec)) return 1;
    asked = 0;
    if (!run_many(&exec, repeat / 2 % 2)) return 1;
  }
  /* A row is examined in a moment: other threads seldom use it just then. */
  exec.isa = TSANOM_ISA_BASE;
  exec.poll = NULL;
  for (int repeat = 0; repeat < 12; repeat++) {
    if (!run_pair(&exec, whole, 2)) return 1;
  }
  puts("no race");
  return 0;
}
