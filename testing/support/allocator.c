/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/allocator.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sanitized.h"

/* In front of a block its size, behind it bytes that must not change. AddressSanitizer
 * guards blocks itself, against reading too. */
typedef struct {
  alignas(max_align_t) size_t bytes;
} header;

#if SANITIZED
enum { GUARD_BYTES = 0 };
#else
enum { GUARD_BYTES = 64 };
#endif
enum { GUARD = 0xA5 };

static void *counting_alloc(void *user, size_t bytes) {
  test_allocator *allocator = user;
  if (++allocator->calls == allocator->fail_at) return NULL;
  if (bytes > PTRDIFF_MAX - sizeof(header) - GUARD_BYTES) return NULL;
  header *block = malloc(sizeof *block + bytes + GUARD_BYTES);
  if (!block) return NULL;
  block->bytes = bytes;
  memset((unsigned char *)(block + 1) + bytes, GUARD, GUARD_BYTES);
  allocator->live++;
  return block + 1;
}

static void counting_dealloc(void *user, void *given) {
  test_allocator *allocator = user;
  allocator->live--;
  header *block = (header *)given - 1;
  const unsigned char *guard = (unsigned char *)given + block->bytes;
  for (size_t i = GUARD_BYTES; i-- > 0;) {
    if (guard[i] == GUARD) continue;
    (void)fprintf(stderr, "byte %zu behind a block of %zu was written\n", i,
                  block->bytes);
    abort();
  }
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
