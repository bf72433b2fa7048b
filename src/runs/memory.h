/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a run, from its exec's allocator, in two forms:
 *
 *   tsn_pool    many blocks, freed together      what is built once: names, matrices
 *   tsn_array   one block that doubles           streams, which grow at each refresh
 *
 * NULL or false: out of memory, or a size that exceeds the address space. A failure
 * changes nothing, so that the caller can go on with what it had. */
#ifndef TSN_RUNS_MEMORY_H
#define TSN_RUNS_MEMORY_H

#include <stdbool.h>
#include <tsanom/base.h>

typedef struct tsn_pool_block tsn_pool_block;

typedef struct {
  /* Outlives the pool; its allocator is used. */
  const tsanom_exec *exec;
  tsn_pool_block *block;
} tsn_pool;

/* Zeroed memory for at least one element, aligned for any type. */
void *tsn_pool_take(tsn_pool *pool, size_t count, size_t size);
/* A copy of a string, and a printed one. */
char *tsn_pool_copy(tsn_pool *pool, const char *text);
__attribute__((format(printf, 2, 3))) char *tsn_pool_print(tsn_pool *pool,
                                                           const char *format, ...);
void tsn_pool_free(tsn_pool *pool);

/* An array on its own; its bytes are not cleared. Zero it before use. The user keeps the
 * count of its elements, because arrays with the same count are grown together. */
typedef struct {
  void *data;
  size_t capacity; /* elements */
} tsn_array;

/* Space for `needed` elements of `size` bytes; the first `used` keep their values. The
 * data may move, and then the old block is freed: pointers into it end. */
bool tsn_array_reserve(tsn_array *array, const tsanom_exec *exec, size_t used,
                       size_t needed, size_t size);
void tsn_array_free(tsn_array *array, const tsanom_exec *exec);

#endif
