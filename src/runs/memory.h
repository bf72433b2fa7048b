/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a run, from its exec's allocator, in two forms, and what is made of them:
 *
 *   tsn_pool    many blocks, freed together      what is built once: names, matrices
 *   tsn_array   one block that doubles           streams, which grow at each refresh
 *   tsn_names   numbers of names                 in a pool
 *   tsn_tree    nodes of keys within each other  in arrays
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

/* A set of names, numbered in the order in which they were added. Finding one takes O(1)
 * expected time: region files can contain tens of thousands, and comparing each name
 * with all others took 25 s for 60,000 of them instead of less than one. */
typedef struct {
  /* Of the table, and of names that are copied; others must live as long. */
  tsn_pool *pool;
  /* By number. */
  const char **name;
  size_t count, capacity;
  /* 2 * capacity of them: number + 1; 0: free. So zeroed memory is an empty table. */
  size_t *slot;
} tsn_names;

/* A set for at most `capacity` names; false: out of memory. */
bool tsn_names_create(tsn_names *names, tsn_pool *pool, size_t capacity);

/* The number of a name; TSANOM_NONE: not there. */
size_t tsn_names_find(const tsn_names *names, const char *name);

/* The number of a name, of which a copy in the pool is added if it is new. TSANOM_NONE: the
 * set is full, or there is no memory. */
size_t tsn_names_number(tsn_names *names, const char *text);

/* Add a name that is not there; the set must have space for it. */
void tsn_names_add(tsn_names *names, const char *name);

/* A node has a key that no other one within its parent has. `inner` is the latest node in
 * it, and `next` the one beside it: a list for each node, because most have few. -1: none. */
typedef struct {
  int32_t parent, key, inner, next;
} tsn_tree_node;

/* Nodes by number, each behind its parent; 0 is the root. Set exec, and the bytes of data
 * that each node has, and zero the rest. */
typedef struct {
  const tsanom_exec *exec;
  size_t bytes;
  tsn_array node, data;
  size_t count;
} tsn_tree;

static inline tsn_tree_node *tsn_tree_node_at(const tsn_tree *tree, int32_t at) {
  return (tsn_tree_node *)tree->node.data + at;
}

/* Zero at first. It moves when a node is added. */
static inline void *tsn_tree_data(const tsn_tree *tree, int32_t at) {
  return (char *)tree->data.data + (size_t)at * tree->bytes;
}

/* The node of a key within another, added if needed; the root has the parent -1 and is added
 * first. -1: out of memory. */
int32_t tsn_tree_within(tsn_tree *tree, int32_t parent, int32_t key);

void tsn_tree_free(tsn_tree *tree);

#endif
