/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools are lists of blocks, each of which is one allocation: the allocator of an exec
 * has no realloc, and blocks must not move, since structs point into them. Arrays grow
 * by doubling, so that n appended elements are copied O(n) times in all. */
#include "runs/memory.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "record/format.h"

/* max_align_t: what follows the link is aligned for any type. */
struct tsn_pool_block {
  tsn_pool_block *next;
  max_align_t start[];
};

void *tsn_pool_take(tsn_pool *pool, size_t count, size_t size) {
  size_t bytes = tsn_product(count ? count : 1, size);
  if (bytes > PTRDIFF_MAX - sizeof(tsn_pool_block)) return NULL;
  tsn_pool_block *block =
      pool->exec->alloc(pool->exec->alloc_user, sizeof *block + bytes);
  if (!block) return NULL;
  memset(block->start, 0, bytes);
  block->next = pool->block;
  pool->block = block;
  return block->start;
}

char *tsn_pool_copy(tsn_pool *pool, const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = tsn_pool_take(pool, bytes, 1);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* Most texts fit into the first buffer, and are formatted once. */
char *tsn_pool_print(tsn_pool *pool, const char *format, ...) {
  char first[512];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(first, sizeof first, format, values);
  va_end(values);
  if (length >= 0 && (size_t)length < sizeof first) return tsn_pool_copy(pool, first);
  char *text = length < 0 ? NULL : tsn_pool_take(pool, (size_t)length + 1, 1);
  if (!text) return NULL;
  va_start(values, format);
  (void)vsnprintf(text, (size_t)length + 1, format, values);
  va_end(values);
  return text;
}

void tsn_pool_free(tsn_pool *pool) {
  while (pool->block) {
    tsn_pool_block *next = pool->block->next;
    pool->exec->dealloc(pool->exec->alloc_user, pool->block);
    pool->block = next;
  }
}

/* Twice the capacity, or what is needed if that is more: a stream whose length is known
 * gets it exactly. */
bool tsn_array_reserve(tsn_array *array, const tsanom_exec *exec, size_t used,
                       size_t needed, size_t size) {
  if (needed <= array->capacity) return true;
  size_t capacity = array->capacity > SIZE_MAX / 2 ? needed : 2 * array->capacity;
  capacity = tsn_larger(capacity, needed);
  if (capacity > PTRDIFF_MAX / size) return false;
  void *grown = exec->alloc(exec->alloc_user, capacity * size);
  if (!grown) return false;
  if (used) memcpy(grown, array->data, used * size);
  tsn_array_free(array, exec);
  *array = (tsn_array){grown, capacity};
  return true;
}

void tsn_array_free(tsn_array *array, const tsanom_exec *exec) {
  if (array->data) exec->dealloc(exec->alloc_user, array->data);
  *array = (tsn_array){NULL, 0};
}

/* Open addressing with linear probing, at most half full, so that a search ends after a
 * few slots and always at a free one. The capacity is known in advance: the file has
 * that number of names, so the table need not grow. Nothing is removed.
 *
 * The hash is FNV-1a, which is at hand (record/format.h). It has no secret, so a hostile
 * file can contain names that collide; the capacity, at most the number of names in the
 * file, bounds the cost. */

bool tsn_names_create(tsn_names *names, tsn_pool *pool, size_t capacity) {
  *names = (tsn_names){.pool = pool, .capacity = capacity ? capacity : 1};
  names->name = (const char **)tsn_pool_take(pool, names->capacity, sizeof(char *));
  names->slot = tsn_pool_take(pool, tsn_product(names->capacity, 2), sizeof *names->slot);
  return names->name && names->slot;
}

/* The slot of the name, or the free one where it belongs. The upper half of the sum is
 * mixed in, because a modulus of few bits uses the lower ones only. */
static size_t slot_of(const tsn_names *names, const char *name) {
  size_t slots = 2 * names->capacity;
  uint64_t hash = tsn_checksum(name, strlen(name));
  size_t at = (size_t)((hash ^ hash >> 32) % slots);
  while (names->slot[at] && strcmp(names->name[names->slot[at] - 1], name) != 0) {
    at = at + 1 == slots ? 0 : at + 1;
  }
  return at;
}

size_t tsn_names_find(const tsn_names *names, const char *name) {
  size_t number = names->slot[slot_of(names, name)];
  return number ? number - 1 : TSANOM_NONE;
}

size_t tsn_names_number(tsn_names *names, const char *text) {
  size_t number = tsn_names_find(names, text);
  if (number != TSANOM_NONE || names->count == names->capacity) return number;
  const char *own = tsn_pool_copy(names->pool, text);
  if (!own) return TSANOM_NONE;
  tsn_names_add(names, own);
  return names->count - 1;
}

void tsn_names_add(tsn_names *names, const char *name) {
  size_t at = slot_of(names, name);
  names->name[names->count++] = name;
  names->slot[at] = names->count;
}

int32_t tsn_tree_within(tsn_tree *tree, int32_t parent, int32_t key) {
  size_t count = tree->count;
  int32_t at = parent < 0 ? -1 : tsn_tree_node_at(tree, parent)->inner;
  while (at >= 0 && tsn_tree_node_at(tree, at)->key != key) {
    at = tsn_tree_node_at(tree, at)->next;
  }
  if (at >= 0) return at;
  if (!tsn_array_reserve(&tree->node, tree->exec, count, count + 1,
                         sizeof(tsn_tree_node)) ||
      !tsn_array_reserve(&tree->data, tree->exec, count, count + 1, tree->bytes)) {
    return -1;
  }
  at = (int32_t)tree->count++;
  memset(tsn_tree_data(tree, at), 0, tree->bytes);
  tsn_tree_node *node = tsn_tree_node_at(tree, at);
  *node = (tsn_tree_node){.parent = parent, .key = key, .inner = -1, .next = -1};
  if (parent < 0) return at;
  tsn_tree_node *outer = tsn_tree_node_at(tree, parent);
  node->next = outer->inner;
  outer->inner = at;
  return at;
}

void tsn_tree_free(tsn_tree *tree) {
  tsn_array_free(&tree->node, tree->exec);
  tsn_array_free(&tree->data, tree->exec);
}
