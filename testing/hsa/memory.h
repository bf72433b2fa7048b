/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of the memory of calls (tsanom_exec::work, tsanom_exec::work_needed), for
 * tests that loop over the functions of a module. */
#ifndef TSANOM_TESTING_HSA_MEMORY_H
#define TSANOM_TESTING_HSA_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "support/allocator.h"
#include "support/ask.h"
#include "support/check.h"

/* A call of a function that computes. `output` NULL: all arrays, outputs and samples that
 * may be NULL to ask are. */
typedef struct {
  tsanom_status (*call)(const void *input, const tsanom_exec *exec, void *output);
  const void *input;
  const void *initial; /* bytes of the output before the call */
  size_t bytes;
} computing_call;

/* Asked, it tells a size. With it, nothing is allocated; with a byte less nothing is written
 * but that size; and without a workspace the result has the same bits. */
static inline void check_workspace(const computing_call *c) {
  size_t needed = 0, told = 0;
  tsanom_exec exec = ask_exec(NULL, &needed);
  CHECK_STATUS(c->call(c->input, &exec, NULL), TSANOM_E_WORKSPACE);
  cr_assert(needed >= 64);
  test_allocator allocator = {0};
  exec = test_exec(&allocator);
  unsigned char *block = malloc(needed + 1), *with = malloc(c->bytes),
                *without = malloc(c->bytes);
  memcpy(with, c->initial, c->bytes);
  memcpy(without, c->initial, c->bytes);
  exec.work = block + 1;
  exec.work_bytes = needed - 1;
  exec.work_needed = &told;
  CHECK_STATUS(c->call(c->input, &exec, with), TSANOM_E_WORKSPACE);
  cr_assert(told == needed && memcmp(with, c->initial, c->bytes) == 0);
  exec.work_bytes = needed;
  tsanom_status status = c->call(c->input, &exec, with);
  cr_assert(status >= 0 && allocator.calls == 0, "%s", tsanom_status_name(status));
  exec.work = NULL;
  exec.work_bytes = 0;
  allocator.fail_at = 1;
  CHECK_STATUS(c->call(c->input, &exec, without), TSANOM_E_MEMORY);
  cr_assert(memcmp(without, c->initial, c->bytes) == 0);
  CHECK_STATUS(c->call(c->input, &exec, without), status);
  cr_assert(allocator.calls == 2 && allocator.live == 0 && told == needed);
  cr_assert(memcmp(with, without, c->bytes) == 0);
  free(block);
  free(with);
  free(without);
}

/* A call that makes an object, and the one that releases it. `object` NULL: as above. */
typedef struct {
  tsanom_status (*create)(const void *input, const tsanom_exec *exec, void **object);
  void (*destroy)(void *object);
  const void *input;
} creating_call;

/* Gives one block, of the size that was told. */
typedef struct {
  size_t told, blocks;
} telling_allocator;

static inline void *take_told(void *user, size_t bytes) {
  telling_allocator *a = user;
  cr_assert(bytes == a->told && a->blocks == 0);
  a->blocks++;
  return malloc(bytes);
}

static inline void return_told(void *user, void *block) {
  ((telling_allocator *)user)->blocks--;
  free(block);
}

/* Asked, it tells the size of the one block that it takes. It rejects a workspace, and sets
 * nothing where it fails. */
static inline void check_creation(const creating_call *c) {
  size_t needed = 0;
  void *object = NULL;
  tsanom_exec exec = ask_exec(NULL, &needed);
  CHECK_STATUS(c->create(c->input, &exec, NULL), TSANOM_E_WORKSPACE);
  cr_assert(needed >= 64);
  exec.work_bytes = 1;
  CHECK_STATUS(c->create(c->input, &exec, &object), TSANOM_E_OPTION);
  test_allocator failing = {.fail_at = 1};
  exec = test_exec(&failing);
  CHECK_STATUS(c->create(c->input, &exec, NULL), TSANOM_E_NULL);
  CHECK_STATUS(c->create(c->input, &exec, &object), TSANOM_E_MEMORY);
  cr_assert(object == NULL && failing.live == 0);
  telling_allocator allocator = {0, 0};
  exec.alloc = take_told;
  exec.dealloc = return_told;
  exec.alloc_user = &allocator;
  exec.work_needed = &allocator.told;
  cr_assert(c->create(c->input, &exec, &object) >= 0);
  cr_assert(allocator.told == needed && allocator.blocks == 1);
  c->destroy(object);
  cr_assert(allocator.blocks == 0);
  c->destroy(NULL);
}

#endif
