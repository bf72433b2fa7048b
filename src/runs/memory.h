/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a run, from its exec's allocator: pools that are freed as a whole, for what
 * is built once, and arrays that double, for streams. NULL or false: out of memory, or a
 * size that exceeds the address space. */
#ifndef TSN_RUNS_MEMORY_H
#define TSN_RUNS_MEMORY_H

#include <stdbool.h>
#include <tsanom/base.h>

typedef struct tsn_pool_block tsn_pool_block;

typedef struct {
  const tsanom_exec *exec; /* outlives the pool */
  tsn_pool_block *block;
} tsn_pool;

/* Zeroed memory for at least one element, aligned for any type. */
void *tsn_pool_take(tsn_pool *pool, size_t count, size_t size);
char *tsn_pool_copy(tsn_pool *pool, const char *text);
__attribute__((format(printf, 2, 3))) char *tsn_pool_print(tsn_pool *pool,
                                                           const char *format, ...);
void tsn_pool_free(tsn_pool *pool);

/* An array on its own; its bytes are not cleared. Zero it before use. */
typedef struct {
  void *data;
  size_t capacity; /* elements */
} tsn_array;

/* Space for `needed` elements of `size` bytes; the first `used` keep their values. */
bool tsn_array_reserve(tsn_array *array, const tsanom_exec *exec, size_t used,
                       size_t needed, size_t size);
void tsn_array_free(tsn_array *array, const tsanom_exec *exec);

#endif
