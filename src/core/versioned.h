/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs that begin with `size_t struct_size` and only ever grow. A caller built
 * against an older or a newer header passes fewer or more fields than this library
 * knows:
 *
 *   older caller   | fields it knows |             input: the others have their defaults
 *   this library   | fields it knows | new |
 *   newer caller   | fields it knows | new | 0 |   input: the others must be zero
 *
 * A field unknown here that is not zero is a request that this library would ignore, so
 * it is rejected. Output is copied as far as both reach, and the
 * rest of the caller's struct is zero. */
#ifndef TSN_CORE_VERSIONED_H
#define TSN_CORE_VERSIONED_H

#include <string.h>
#include <tsanom/base.h>

/* What this library knows of one such struct. */
typedef struct {
  size_t size;          /* its sizeof here */
  size_t first_size;    /* its sizeof in the first release */
  const void *defaults; /* an instance of this size with every field at its default */
} tsn_versioned;

/* Write the defaults into the caller's struct of `caller_size` bytes; fields
 * that are unknown here become zero. */
tsanom_status tsn_versioned_init(const tsn_versioned *type, void *caller,
                                 size_t caller_size);

/* The same as tsn_versioned_read() for a caller's struct of any size. */
tsanom_status tsn_versioned_convert(const tsn_versioned *type, void *own,
                                    const void *caller);

static inline size_t tsn_versioned_struct_size(const void *caller) {
  size_t caller_size;
  memcpy(&caller_size, caller, sizeof caller_size);
  return caller_size;
}

/* Input: fill `own`, a struct of type->size bytes, from the caller's; NULL means the
 * defaults. A field unknown here is accepted only if it is zero. own's struct_size is
 * type->size: it may be passed on as a caller's. A struct of the size known here is
 * copied inline, since reading structs takes much of a small call. */
static inline tsanom_status tsn_versioned_read(const tsn_versioned *type, void *own,
                                               const void *caller) {
  if (!caller) caller = type->defaults;
  if (tsn_versioned_struct_size(caller) != type->size) {
    return tsn_versioned_convert(type, own, caller);
  }
  memcpy(own, caller, type->size);
  return TSANOM_OK;
}

/* Output: TSANOM_E_NULL or TSANOM_E_VERSION unless the caller initialized its struct. */
tsanom_status tsn_versioned_check(const tsn_versioned *type, const void *caller);

/* Output: copy `own` to the caller's checked struct, as far as the caller's struct_size
 * reaches. Fields unknown here become zero; struct_size keeps its value. */
void tsn_versioned_write(const tsn_versioned *type, void *caller, const void *own);

#endif
