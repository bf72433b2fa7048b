/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects in one block: where it came from, and how to make it. */
#ifndef TSN_DPD_OBJECT_H
#define TSN_DPD_OBJECT_H

#include "core/arena.h"

/* Take a block of `bytes` from exec (NULL: the C heap) and tell `owner` how it
 * goes back. */
tsanom_status tsn_object_allocate(const tsanom_exec *exec, size_t bytes,
                                  tsn_object *owner);

/* An arena over the caller's `bytes` of memory for what `measured` measured. */
tsanom_status tsn_object_arena(const tsn_arena *measured, void *memory, size_t bytes,
                               tsn_arena *arena);

#endif
