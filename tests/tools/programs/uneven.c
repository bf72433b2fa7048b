/* SPDX-License-Identifier: BSD-3-Clause */
/* 100 iterations of two regions. In 60 to 69, thread 1 has 30 times the work in the
 * second one; with an argument it sleeps there. With two, there are 100 iterations in one
 * region, with 3 times the work in thread 1. Prints the processor time of each thread's
 * work. */
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double sum[2], worked[2];

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(int amount) {
  double s = 0, begin = cpu();
  for (int i = 0; i < amount; i++) s += 1 / (1.0 + i);
  sum[omp_get_thread_num() % 2] += s;
  worked[omp_get_thread_num() % 2] += cpu() - begin;
}

static void prepare(void) {
#pragma omp parallel
  work(400000);
}

static void compute(int is_slow, int sleeps) {
#pragma omp parallel
  {
    int is_mine = is_slow && omp_get_thread_num() == 1;
    if (is_mine && sleeps) usleep(60000);
    work(is_mine && !sleeps ? 12000000 : 400000);
  }
}

static void compute_in_one_region(void) {
#pragma omp parallel
  for (int i = 0; i < 100; i++) {
    work(omp_get_thread_num() == 1 ? 1200000 : 400000);
#pragma omp barrier
  }
}

int main(int argc, char **argv) {
  (void)argv;
  omp_set_num_threads(2);
  if (argc > 2) compute_in_one_region();
  for (int i = 0; argc <= 2 && i < 100; i++) {
    prepare();
    compute(i >= 60 && i < 70, argc == 2);
  }
  printf("%g %g s, sum %g\n", worked[0], worked[1], sum[0] + sum[1]);
  return 0;
}
