/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <tsanom/dtw.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { COUNT = 9, LENGTH = 50 };

typedef struct {
  double samples[COUNT][LENGTH];
  const double *series[COUNT];
  size_t lengths[COUNT];
} family;

/* One shape, shifted and noisy. */
static void draw(family *f, uint64_t *seed) {
  for (size_t k = 0; k < COUNT; k++) {
    double shift = 4 * random_unit(seed);
    f->lengths[k] = random_between(seed, LENGTH - 10, LENGTH);
    f->series[k] = f->samples[k];
    for (size_t i = 0; i < LENGTH; i++) {
      f->samples[k][i] = sin(((double)i + shift) / 5) + 0.1 * random_unit(seed);
    }
  }
}

static double sum_to(const family *f, const double *x, size_t n,
                     const tsanom_dtw_options *options) {
  double sum = 0, d;
  for (size_t k = 0; k < COUNT; k++) {
    CHECK_STATUS(tsanom_dtw_distance(x, n, f->series[k], f->lengths[k], options, NULL,
                                     NULL, 0, &d),
                 TSANOM_OK);
    sum += d;
  }
  return sum;
}

Test(dtw_barycentre, the_medoid_has_the_least_sum) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 50; trial++) {
    family f;
    draw(&f, &seed);
    double least = INFINITY, sum;
    size_t expected = 0, medoid = COUNT;
    for (size_t a = 0; a < COUNT; a++) {
      double own = sum_to(&f, f.series[a], f.lengths[a], NULL);
      if (own < least) least = own, expected = a;
    }
    CHECK_STATUS(
        tsanom_dtw_medoid(f.series, f.lengths, COUNT, NULL, NULL, NULL, 0, &medoid, &sum),
        TSANOM_OK);
    cr_assert(medoid == expected && fabs(sum - least) <= 1e-12 * least);
  }
}

Test(dtw_barycentre, averaging_brings_the_sum_down_and_ends) {
  uint64_t seed = 2;
  for (int trial = 0; trial < 40; trial++) {
    family f;
    draw(&f, &seed);
    tsanom_dtw_options options;
    tsanom_dtw_options_init(&options, sizeof options);
    options.cost = trial % 2;
    double average[LENGTH], before, after, last = INFINITY;
    for (size_t i = 0; i < LENGTH; i++) average[i] = f.samples[0][i];
    before = sum_to(&f, average, LENGTH, &options);
    for (int round = 0; round < 4; round++) {
      tsanom_status status =
          tsanom_dtw_barycentre(f.series, f.lengths, COUNT, LENGTH, 1, 0, &options, NULL,
                                NULL, 0, average, &after);
      cr_assert(status == TSANOM_OK || status == TSANOM_PARTIAL);
      cr_assert(after <= last * (1 + 1e-12) && after <= before * (1 + 1e-12));
      cr_assert(after == sum_to(&f, average, LENGTH, &options));
      last = after;
    }
    CHECK_STATUS(tsanom_dtw_barycentre(f.series, f.lengths, COUNT, LENGTH, 100, 1e-9,
                                       &options, NULL, NULL, 0, average, &after),
                 TSANOM_OK);
    cr_assert(after < before);
  }
}

Test(dtw_barycentre, one_iteration_is_the_mean_or_median_of_what_is_aligned) {
  double a[] = {0, 0, 4}, b[] = {2, 8}, c[] = {1, 6};
  const double *series[] = {a, b, c};
  size_t lengths[] = {3, 2, 2};
  tsanom_dtw_options options;
  tsanom_dtw_options_init(&options, sizeof options);
  double mean[] = {0, 5}, median[] = {0, 5};
  options.cost = TSANOM_DTW_SQUARED;
  tsanom_dtw_barycentre(series, lengths, 3, 2, 1, 0, &options, NULL, NULL, 0, mean, NULL);
  cr_assert(mean[0] == 0.75 && mean[1] == 6); /* of 0 0 2 1 and of 4 8 6 */
  options.cost = TSANOM_DTW_ABSOLUTE;
  tsanom_dtw_barycentre(series, lengths, 3, 2, 1, 0, &options, NULL, NULL, 0, median,
                        NULL);
  cr_assert(median[0] == 0 && median[1] == 6);
}

Test(dtw_barycentre, threads_change_nothing_and_a_workspace_means_no_allocation) {
  uint64_t seed = 3;
  family f;
  draw(&f, &seed);
  double sums[3], averages[3][LENGTH];
  for (int32_t threads = 1; threads <= 3; threads++) {
    test_allocator allocator = {0};
    tsanom_exec exec = test_exec(&allocator);
    exec.threads = threads;
    size_t bytes = 0;
    CHECK_STATUS(
        tsanom_dtw_barycentre_workspace(LENGTH, COUNT, LENGTH, NULL, &exec, &bytes),
        TSANOM_OK);
    void *work = malloc(bytes);
    double *average = averages[threads - 1];
    for (size_t i = 0; i < LENGTH; i++) average[i] = f.samples[0][i];
    tsanom_status status =
        tsanom_dtw_barycentre(f.series, f.lengths, COUNT, LENGTH, 5, 0, NULL, &exec, work,
                              bytes - 1, average, NULL);
    CHECK_STATUS(status, TSANOM_E_WORKSPACE);
    status = tsanom_dtw_barycentre(f.series, f.lengths, COUNT, LENGTH, 5, 0, NULL, &exec,
                                   work, bytes, average, &sums[threads - 1]);
    cr_assert(status >= 0 && allocator.calls == 0);
    cr_assert(sums[threads - 1] == sums[0]);
    for (size_t i = 0; i < LENGTH; i++) cr_assert(average[i] == averages[0][i]);
    free(work);
  }
}

Test(dtw_barycentre, bad_arguments_are_refused_and_leave_the_output) {
  double a[] = {0, 1}, bad[] = {0, NAN}, average[] = {7, 7};
  const double *series[] = {a, a}, *broken[] = {a, bad};
  size_t lengths[] = {2, 2}, medoid = 9;
  CHECK_STATUS(tsanom_dtw_barycentre(series, lengths, 2, 2, 0, 0, NULL, NULL, NULL, 0,
                                     average, NULL),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_dtw_barycentre(series, lengths, 2, 2, 1, -1, NULL, NULL, NULL, 0,
                                     average, NULL),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_dtw_barycentre(series, lengths, 2, 0, 1, 0, NULL, NULL, NULL, 0,
                                     average, NULL),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_dtw_barycentre(broken, lengths, 2, 2, 1, 0, NULL, NULL, NULL, 0,
                                     average, NULL),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_dtw_medoid(broken, lengths, 2, NULL, NULL, NULL, 0, &medoid, NULL),
               TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_dtw_medoid(series, lengths, 0, NULL, NULL, NULL, 0, &medoid, NULL),
               TSANOM_E_COUNT);
  cr_assert(average[0] == 7 && average[1] == 7 && medoid == 9);
}
