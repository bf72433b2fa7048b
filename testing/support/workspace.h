/* SPDX-License-Identifier: BSD-3-Clause */
/* What is the same of all functions that use a workspace, and of all that create an object:
 * the size that they report suffices, one byte less does not, and asking needs no arrays and
 * changes nothing. */
#ifndef TSANOM_TEST_WORKSPACE_H
#define TSANOM_TEST_WORKSPACE_H

#include <stdlib.h>
#include <string.h>

#include "support/allocator.h"
#include "support/ask.h"
#include "support/check.h"

/* One call. Without a result all arrays, outputs and callbacks are NULL; otherwise all that
 * it returns goes to `result`. */
typedef tsanom_status workspace_call(const tsanom_exec *exec, void *result);

typedef struct {
  const char *name;
  workspace_call *call;
  size_t bytes; /* of the result */
} workspace_case;

enum { UNTOUCHED = 0xA5 };

static inline void expect_untouched(const workspace_case *c,
                                    const unsigned char *result) {
  for (size_t i = 0; i < c->bytes; i++) cr_assert(result[i] == UNTOUCHED, "%s", c->name);
}

/* The size that the call reports, the same with arrays as without. */
static inline size_t workspace_of(const workspace_case *c, const tsanom_exec *exec,
                                  unsigned char *result) {
  size_t bytes = 0, again = 0;
  tsanom_exec ask = ask_exec(exec, &bytes);
  cr_assert(c->call(&ask, NULL) == TSANOM_E_WORKSPACE, "%s", c->name);
  ask.work_needed = &again;
  cr_assert(c->call(&ask, result) == TSANOM_E_WORKSPACE, "%s", c->name);
  cr_assert(bytes >= 64 && again == bytes, "%s: %zu, %zu", c->name, bytes, again);
  expect_untouched(c, result);
  return bytes;
}

static inline void check_workspace(const workspace_case *c, int32_t threads) {
  unsigned char *result = malloc(c->bytes), *expected = malloc(c->bytes);
  memset(result, UNTOUCHED, c->bytes);
  memset(expected, UNTOUCHED, c->bytes);
  test_allocator allocator = {.fail_at = 1};
  tsanom_fault fault = {.struct_size = sizeof fault};
  tsanom_exec exec = test_exec(&allocator);
  exec.threads = threads;
  exec.fault = &fault;
  size_t bytes = workspace_of(c, &exec, result), needed = 0;
  cr_assert(c->call(&exec, result) == TSANOM_E_MEMORY, "%s", c->name);
  expect_untouched(c, result);
  tsanom_status status = c->call(&exec, expected);
  cr_assert(status >= 0 && allocator.calls == 2 && allocator.live == 0,
            "%s: %s, %zu blocks", c->name, fault.text, allocator.calls);
  unsigned char *block = malloc(bytes + 1);
  memset(block, 0xFF, bytes + 1); /* NaN: nothing is read before it is written */
  exec.work = block + 1;
  exec.work_bytes = bytes - 1;
  exec.work_needed = &needed;
  cr_assert(c->call(&exec, result) == TSANOM_E_WORKSPACE && needed == bytes, "%s",
            c->name);
  cr_assert(strcmp(fault.argument, "exec.work_bytes") == 0, "%s", c->name);
  expect_untouched(c, result);
  exec.work_bytes = bytes;
  cr_assert(c->call(&exec, result) == status && allocator.calls == 2, "%s", c->name);
  cr_assert(memcmp(result, expected, c->bytes) == 0, "%s", c->name);
  free(block);
  free(expected);
  free(result);
}

static inline void check_workspaces(const workspace_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int32_t threads = 1; threads <= 2; threads++) {
      check_workspace(&cases[i], threads);
    }
  }
}

/* An allocator with a limit. */
typedef struct {
  size_t most, blocks;
} limited_heap;

static inline void *limited_alloc(void *user, size_t bytes) {
  limited_heap *heap = user;
  heap->blocks++;
  return bytes <= heap->most ? malloc(bytes) : NULL;
}

static inline void limited_dealloc(void *user, void *block) {
  limited_heap *heap = user;
  heap->blocks--;
  free(block);
}

/* An object: without `inputs` its arrays are NULL, and `object` is. */
typedef tsanom_status object_create(const tsanom_exec *exec, bool inputs, void **object);

static inline void check_object(object_create *create, void (*destroy)(void *object)) {
  size_t bytes = 0;
  void *object = &bytes;
  tsanom_exec ask = ask_exec(NULL, &bytes), exec;
  CHECK_STATUS(create(&ask, false, NULL), TSANOM_E_WORKSPACE);
  cr_assert(bytes >= 64);
  ask.work = &ask;
  ask.work_bytes = sizeof ask;
  CHECK_STATUS(create(&ask, true, &object), TSANOM_E_OPTION);
  tsanom_exec_init(&exec, sizeof exec);
  limited_heap heap = {.most = bytes - 1};
  exec.alloc = limited_alloc;
  exec.dealloc = limited_dealloc;
  exec.alloc_user = &heap;
  CHECK_STATUS(create(&exec, true, &object), TSANOM_E_MEMORY);
  cr_assert(object == &bytes);
  heap = (limited_heap){.most = bytes};
  CHECK_STATUS(create(&exec, true, &object), TSANOM_OK);
  cr_assert(heap.blocks == 1);
  destroy(object);
  cr_assert(heap.blocks == 0);
}

#endif
