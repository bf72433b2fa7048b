/* SPDX-License-Identifier: BSD-3-Clause */
/* One region with 400,000 chunks, shared by the threads, then 300 iterations of a loop.
 */
static double sum[512];

static void work(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 512; i++) sum[i] += 1e-9 * i;
}

int main(void) {
  double all = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : all)
  for (int i = 0; i < 400000; i++) all += i;
  for (int step = 0; step < 300; step++) work();
  return all < 0;
}
