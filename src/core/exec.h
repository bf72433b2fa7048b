/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's tsanom_exec, checked and with every default filled in. Every public
 * function reads it first, since it receives the fault of all later checks; from then on
 * code uses the copy, in which threads, level and allocator are set. */
#ifndef TSN_CORE_EXEC_H
#define TSN_CORE_EXEC_H

#include <tsanom/base.h>

/* Fill `own` from the caller's exec (NULL: the defaults): threads >= 1, isa a
 * level that can run, alloc and dealloc set. */
tsanom_status tsn_exec_read(tsanom_exec *own, const tsanom_exec *caller);

/* The same without OpenMP and without ISA levels, which stay as they are: for libraries
 * that do not compute. */
tsanom_status tsn_exec_read_base(tsanom_exec *own, const tsanom_exec *caller);

/* What an object keeps of a checked exec: threads, ISA level and allocator, but not
 * poll, workspace and fault, which belong to one call. */
tsanom_exec tsn_exec_for_object(const tsanom_exec *checked);

/* Call the caller's poll, if any. Only the calling thread may do so. */
static inline int tsn_exec_stop(const tsanom_exec *exec, uint64_t done, uint64_t total) {
  return exec->poll && exec->poll(exec->poll_user, done, total) != 0;
}

#endif
