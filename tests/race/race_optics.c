/* SPDX-License-Identifier: BSD-3-Clause */
/* OPTICS on several threads, by a tree and by all distances, while polled. */
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/optics.h>

#include "race/levels.h"
#include "support/random.h"

/* Enough that threads share every step. */
enum { POINTS = 3000, DIMENSIONS = 24 };

static double point[POINTS * DIMENSIONS], reachability[2][POINTS];
static size_t order[2][POINTS];

static int32_t carry_on(void *user, uint64_t done, uint64_t total) {
  *(uint64_t *)user += done <= total;
  return 0;
}

static int run(const tsanom_exec *exec) {
  tsanom_optics_options options;
  tsanom_optics_options_init(&options, sizeof options);
  for (int way = 0; way < 2; way++) {
    options.search = way ? TSANOM_OPTICS_SEARCH_TREE : TSANOM_OPTICS_SEARCH_EXHAUSTIVE;
    tsanom_optics_ordering ordering = {.struct_size = sizeof ordering};
    ordering.order = order[way];
    ordering.reachability = reachability[way];
    if (tsanom_optics_order(point, POINTS, DIMENSIONS, DIMENSIONS, &options, exec,
                            &ordering) != TSANOM_OK) {
      return 1;
    }
  }
  for (size_t k = 0; k < POINTS; k++) {
    if (order[0][k] != order[1][k] || reachability[0][k] != reachability[1][k]) return 1;
  }
  return 0;
}

int main(void) {
  uint64_t seed = 1, polls = 0;
  for (size_t i = 0; i < POINTS * DIMENSIONS; i++) point[i] = random_unit(&seed);
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.threads = 4;
  exec.poll = carry_on;
  exec.poll_user = &polls;
  for (int k = 0; k < RACE_LEVELS; k++) {
    exec.isa = race_level[k];
    if (run(&exec)) return 1;
  }
  puts("no race");
  return polls == 0;
}
