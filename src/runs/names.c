/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing with linear probing, at most half full, so that a search ends after a
 * few slots and always at a free one. The capacity is known in advance: the file has
 * that number of names, so the table need not grow. Nothing is removed.
 *
 * The hash is FNV-1a, which is at hand (record/format.h). It has no secret, so a hostile
 * file can contain names that collide; the capacity, at most the number of names in the
 * file, bounds the cost. */
#include "runs/names.h"

#include <string.h>

#include "record/format.h"

bool tsn_names_create(tsn_names *names, tsn_pool *pool, size_t capacity) {
  size_t slots = 0;
  *names = (tsn_names){.pool = pool, .capacity = capacity ? capacity : 1};
  if (__builtin_mul_overflow(names->capacity, 2, &slots)) return false;
  names->name = (const char **)tsn_pool_take(pool, names->capacity, sizeof(char *));
  names->slot = tsn_pool_take(pool, slots, sizeof *names->slot);
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

size_t tsn_names_number(tsn_names *names, tsn_pool *pool, const char *text) {
  size_t number = tsn_names_find(names, text);
  if (number != TSANOM_NONE || names->count == names->capacity) return number;
  const char *own = tsn_pool_copy(pool, text);
  if (!own) return TSANOM_NONE;
  tsn_names_add(names, own);
  return names->count - 1;
}

void tsn_names_add(tsn_names *names, const char *name) {
  size_t at = slot_of(names, name);
  names->name[names->count++] = name;
  names->slot[at] = names->count;
}
