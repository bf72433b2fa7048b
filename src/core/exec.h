/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's tsanom_exec, checked and with every default filled in. Every public
 * function reads it first, since it receives the fault of all later checks; from then on
 * code uses the copy, in which threads, level and allocator are set. */
#ifndef TSN_CORE_EXEC_H
#define TSN_CORE_EXEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/base.h>

#include "core/cleanup.h"

/* Fill `own` from the caller's exec (NULL: the defaults): threads >= 1, isa a
 * level that can run, alloc and dealloc set. */
tsanom_status tsn_exec_read(tsanom_exec *own, const tsanom_exec *caller);

/* The same without OpenMP and without ISA levels, which stay as they are: for libraries
 * that do not compute. */
tsanom_status tsn_exec_read_base(tsanom_exec *own, const tsanom_exec *caller);

/* Whether this process, or an ancestor since the last exec, was forked from a process
 * that had several threads: fork() copies only the thread that calls it. GNU's OpenMP runtime
 * then believes in a pool of threads that fork() did not copy, and hangs in the first parallel
 * region of more than one thread, so that a call computes on one. */
bool tsn_fork_of_threads(void);

/* What an object keeps of a checked exec: threads, ISA level and allocator, but not
 * poll, workspace and fault, which belong to one call. */
tsanom_exec tsn_exec_for_object(const tsanom_exec *checked);

/* What a call with this exec returns if it gets so far: TSANOM_E_WORKSPACE, and in `bytes`
 * the size of the workspace, or of the object, that it needs. */
tsanom_exec tsn_exec_asking(const tsanom_exec *checked, size_t *bytes);

static inline tsanom_status tsn_asked(tsanom_status status) {
  return status == TSANOM_E_WORKSPACE ? TSANOM_OK : status;
}

/* Call the caller's poll, if any. Only the calling thread may do so. */
static inline int tsn_exec_stop(const tsanom_exec *exec, uint64_t done, uint64_t total) {
  return exec->poll && exec->poll(exec->poll_user, done, total) != 0;
}

typedef struct {
  _Atomic int *stop;
  int wanted;
} tsn_exec_answer;

static inline void tsn_exec_publish(const tsn_exec_answer *answer) {
  if (answer->wanted) atomic_store_explicit(answer->stop, 1, memory_order_relaxed);
}

/* The same where other threads read `stop`. It is set if the poll asks to stop, and if it
 * throws. */
static inline int tsn_exec_stop_all(const tsanom_exec *exec, uint64_t done,
                                    uint64_t total, _Atomic int *stop) {
  TSN_CLEANUP(tsn_exec_publish) tsn_exec_answer answer = {stop, exec->poll != NULL};
  answer.wanted = tsn_exec_stop(exec, done, total);
  return answer.wanted;
}

#endif
