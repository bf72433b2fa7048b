/* SPDX-License-Identifier: BSD-3-Clause */
/* Five times, regions of one thread each, nested 20 deep. clang calls the runtime before
 * and after the body of such a region. So did gcc before 4.9 for every region; libgomp
 * still has these functions. Fails if a region has not ended when its body has. */
#include <omp.h>
#include <stdlib.h>

enum { DEEP = 20 };

static void nest(int depth);

#ifdef __clang__
static void nest(int depth) {
  if (depth == DEEP) return;
#pragma omp parallel if (0)
  nest(depth + 1);
}
#else
void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);

static void body(void *data) {
  nest(*(const int *)data + 1);
}

static void nest(int depth) {
  if (depth == DEEP) return;
  GOMP_parallel_start(body, &depth, 1);
  body(&depth);
  GOMP_parallel_end();
}
#endif

int main(void) {
  for (int i = 0; i < 5; i++) {
    nest(0);
    if (omp_get_level() != 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
