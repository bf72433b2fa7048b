/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance PERCENT: eight parallel regions of different length, the same for all
 * threads, except that the last thread does PERCENT of the work of the whole program
 * more, in one region. */
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

static double extra(int region, double percent) {
  int total = 0;
  for (int r = 0; r < REGIONS; r++) total += length[r];
  int last = omp_get_thread_num() == omp_get_num_threads() - 1;
  return region == 4 && last ? percent / 100 * total : 0;
}

/* Each is a function of its own, so that the recorder distinguishes them. */
#define DEFINE_REGION(R)                              \
  static double region_##R(double percent) {          \
    double sum = 0;                                   \
    _Pragma("omp parallel reduction(+ : sum)") sum += \
        work(length[R] + extra(R, percent));          \
    return sum;                                       \
  }
DEFINE_REGION(0)
DEFINE_REGION(1)
DEFINE_REGION(2)
DEFINE_REGION(3)
DEFINE_REGION(4)
DEFINE_REGION(5)
DEFINE_REGION(6)
DEFINE_REGION(7)

int main(int argc, char **argv) {
  double percent = argc > 1 ? atof(argv[1]) : 0, sum = 0;
  for (int step = 0; step < STEPS; step++) {
    sum += region_0(percent) + region_1(percent) + region_2(percent) + region_3(percent);
    sum += region_4(percent) + region_5(percent) + region_6(percent) + region_7(percent);
  }
  printf("%g\n", sum);
  return isnan(sum);
}
