/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions in the worksharing of a region: threads 1 and 3 do eight times the work of
 * the others in hard(). deep() calls itself, tiny() is called too often to be recorded.
 * -DTERMS=N is the work. Another thread calls functions, too. */
#include <pthread.h>
#include <stdio.h>

enum { STEPS = 10, THREADS = 4 };

static double sum[THREADS][8];

__attribute__((noinline)) static double tiny(double x) {
  return x * 1.0000001 + 1;
}

__attribute__((noinline)) static double work(int terms) {
  double x = 0;
  for (int i = 0; i < terms; i++) x = tiny(x);
  return x;
}

__attribute__((noinline)) static double hard(int terms) {
  return work(terms) + 1;
}

__attribute__((noinline)) static double deep(int levels, int terms) {
  return levels ? deep(levels - 1, terms) + 1 : work(terms);
}

static void step(void) {
#pragma omp parallel num_threads(THREADS)
  {
#pragma omp for schedule(static, 1)
    for (int t = 0; t < THREADS; t++) sum[t][0] += work(TERMS);
#pragma omp for schedule(static, 1)
    for (int t = 0; t < THREADS; t++) sum[t][0] += hard(t % 2 ? 8 * TERMS : TERMS);
#pragma omp for schedule(static, 1)
    for (int t = 0; t < THREADS; t++) sum[t][0] += deep(40, TERMS);
  }
}

/* Outside of regions. */
static void *alone(void *terms) {
  sum[0][1] = hard(*(int *)terms);
  return NULL;
}

int main(void) {
  int terms = 100;
  pthread_t thread;
  pthread_create(&thread, NULL, alone, &terms);
  pthread_join(thread, NULL);
  for (int i = 0; i < STEPS; i++) step();
  printf("%g\n", sum[0][0]);
  return 0;
}
