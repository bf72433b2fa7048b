/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs that begin with `size_t struct_size` and only ever grow: a caller
 * built against an older or a newer header hands us fewer or more fields. */
#ifndef TSN_CORE_VERSIONED_H
#define TSN_CORE_VERSIONED_H

#include <tsanom/base.h>

/* What this library knows of one such struct. */
typedef struct {
  size_t size;          /* its sizeof here */
  size_t first_size;    /* its sizeof in the first release */
  const void *defaults; /* an instance with every field at its default */
} tsn_versioned;

/* Write the defaults into the caller's struct of `caller_size` bytes; fields
 * that are unknown here become zero. */
tsanom_status tsn_versioned_init(const tsn_versioned *type, void *caller,
                                 size_t caller_size);

/* Fill `own`, a struct of type->size bytes, from the caller's; NULL means the
 * defaults. A field unknown here is accepted only while it is zero. */
tsanom_status tsn_versioned_read(const tsn_versioned *type, void *own,
                                 const void *caller);

#endif
