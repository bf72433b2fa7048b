/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance PERCENT REGIONS: up to eight parallel regions of different length, the same
 * for all threads, except that the last thread does PERCENT of the work of the whole
 * program more, in one region. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 40, REGIONS = 8, UNIT = 20000 };

static const int length[REGIONS] = {5, 2, 8, 3, 6, 1, 4, 7};

/* Units of work on values that stay in registers. */
static double work(double units) {
  double x = 0.5;
  for (long i = (long)(units * UNIT); i > 0; i--) x = x * x - 1.25 + 1e-9 * (double)i;
  return x;
}

/* Units of one step in a program of the first `regions` regions. */
static double units_of(int regions) {
  int total = 0;
  for (int r = 0; r < regions; r++) total += length[r];
  return total;
}

static double extra(int region, int regions, double percent) {
  int last = omp_get_thread_num() == omp_get_num_threads() - 1;
  return region == regions / 2 && last ? percent / 100 * units_of(regions) : 0;
}

/* Each is a function of its own, so that the recorder distinguishes them. */
#define DEFINE_REGION(R)                                  \
  static double region_##R(int regions, double percent) { \
    double sum = 0;                                       \
    _Pragma("omp parallel reduction(+ : sum)") sum +=     \
        work(length[R] + extra(R, regions, percent));     \
    return sum;                                           \
  }
DEFINE_REGION(0)
DEFINE_REGION(1)
DEFINE_REGION(2)
DEFINE_REGION(3)
DEFINE_REGION(4)
DEFINE_REGION(5)
DEFINE_REGION(6)
DEFINE_REGION(7)

typedef double function(int regions, double percent);
static function *const all[REGIONS] = {region_0, region_1, region_2, region_3,
                                       region_4, region_5, region_6, region_7};

/* A program of fewer regions has more steps, so that it runs as long. */
int main(int argc, char **argv) {
  double percent = argc > 1 ? atof(argv[1]) : 0, sum = 0;
  int regions = argc > 2 ? atoi(argv[2]) : REGIONS;
  if (regions < 1 || regions > REGIONS) return 2;
  double steps = STEPS * units_of(REGIONS) / units_of(regions);
  for (int step = 0; step < steps; step++) {
    for (int r = 0; r < regions; r++) sum += all[r](regions, percent);
  }
  printf("%g\n", sum);
  return isnan(sum);
}
