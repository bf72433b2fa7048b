/* SPDX-License-Identifier: BSD-3-Clause */
/* The parallel loop: chunks are handed out, counted and stopped from several
 * threads; each item is written by exactly one. */
#include <stdio.h>

#include "core/exec.h"
#include "core/parallel.h"

enum { ITEMS = 20000 };

static double item[ITEMS];

static void write_items(void *context, size_t begin, size_t end, int thread) {
  (void)context, (void)thread;
  for (size_t i = begin; i < end; i++) item[i] += (double)i;
}

static int32_t stop_late(void *user, uint64_t done, uint64_t total) {
  (void)user;
  return done > total - total / 4;
}

int main(void) {
  tsanom_exec exec;
  if (tsn_exec_read(&exec, NULL) != TSANOM_OK) return 1;
  exec.threads = 4;
  for (int repeat = 0; repeat < 50; repeat++) {
    exec.poll = repeat % 2 ? stop_late : NULL;
    size_t finished = 0;
    tsn_parallel_for(&exec, ITEMS, 7, write_items, NULL, &finished);
    if (!exec.poll && finished != ITEMS) return 1;
  }
  puts("no race");
  return 0;
}
