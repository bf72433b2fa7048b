/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/allocator.h"

#include <stdlib.h>

static void *counting_alloc(void *user, size_t bytes) {
  test_allocator *allocator = user;
  if (++allocator->calls == allocator->fail_at) return NULL;
  allocator->live++;
  return malloc(bytes);
}

static void counting_dealloc(void *user, void *block) {
  test_allocator *allocator = user;
  allocator->live--;
  free(block);
}

tsanom_exec test_exec(test_allocator *allocator) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.alloc = counting_alloc;
  exec.dealloc = counting_dealloc;
  exec.alloc_user = allocator;
  return exec;
}
