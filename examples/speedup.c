/* SPDX-License-Identifier: BSD-3-Clause */
/* Analyze a program with two parallel regions per iteration, of which the first three
 * iterations use one thread. The times are synthetic, so that the result is known. */
#include <stdio.h>
#include <tsanom/speedup.h>

int main(void) {
  tsanom_speedup *analyzer = NULL;
  tsanom_speedup_loop loop;
  tsanom_speedup_prediction prediction = {.struct_size = sizeof prediction};
  size_t count = 0;
  double now = 0;
  if (tsanom_speedup_create(NULL, NULL, &analyzer) != TSANOM_OK) return 1;
  for (int iteration = 0; iteration < 25; iteration++) {
    int32_t threads = iteration < 3 ? 1 : 4;
    for (uint64_t region = 0; region < 2; region++) {
      now += 0.1; /* serial */
      tsanom_speedup_event event = {
          .region = region, .begin = now, .end = now + 0.9 / threads, .threads = threads};
      if (tsanom_speedup_push(analyzer, &event) != TSANOM_OK) return 1;
      now = event.end;
    }
  }
  if (tsanom_speedup_loops(analyzer, &loop, 1, &count) != TSANOM_OK) return 1;
  printf("an iteration of %zu regions takes %.3f s on %d threads, %.3f s on %d\n",
         loop.period, loop.current_s, (int)loop.current_threads, loop.baseline_s,
         (int)loop.baseline_threads);
  printf("speedup %.2f, efficiency %.2f, serial fraction %.2f\n", loop.speedup,
         loop.efficiency, loop.serial_fraction);
  if (tsanom_speedup_predict(analyzer, 100, &prediction) == TSANOM_OK) {
    printf("of 100 iterations %.1f s are to go\n", prediction.remaining_s);
  }
  tsanom_speedup_destroy(analyzer);
  return 0;
}
