/* SPDX-License-Identifier: BSD-3-Clause */
/* An iteration has three regions, each of which ends with a call that gcc -O2 makes a
 * jump: a barrier, the end of a dynamic loop, and a barrier again. */
enum { SIZE = 100, THREADS = 2 };

static double a[SIZE], b[THREADS], c[THREADS];

int omp_get_thread_num(void);

int main(void) {
  for (int it = 0; it < 30; it++) {
#pragma omp parallel num_threads(THREADS)
    {
      b[omp_get_thread_num()]++;
#pragma omp barrier
    }
#pragma omp parallel num_threads(THREADS)
    {
      b[omp_get_thread_num()]--;
#pragma omp for schedule(dynamic, 10)
      for (int i = 0; i < SIZE; i++) a[i]++;
    }
#pragma omp parallel num_threads(THREADS)
    {
      c[omp_get_thread_num()]++;
#pragma omp barrier
    }
  }
  return b[0] != 0;
}
