/* SPDX-License-Identifier: BSD-3-Clause */
/* The body of a call in its workspace. Apart from arena.c, which libtsanom-record contains as
 * well: the cleanup of what a poll throws through needs the runtime of gcc, and the recorder
 * needs only the C library. */
#include "core/arena.h"
#include "core/environment.h"
#include "core/fault.h"

/* What a call borrowed of its allocator. */
typedef struct {
  const tsanom_exec *exec;
  void *block;
} loan;

static void give_back(const loan *borrowed) {
  if (borrowed->block)
    borrowed->exec->dealloc(borrowed->exec->alloc_user, borrowed->block);
}

/* A caller's workspace is laid out at once, before its size is known to suffice: in a
 * small call a second layout takes as long as the checks of the arguments. */
tsanom_status tsn_workspace_run(const tsanom_exec *exec, tsn_layout *layout,
                                tsn_body *check, tsn_body *body, void *context) {
  tsn_arena arena =
      exec->work ? tsn_arena_in(exec->work, exec->work_bytes) : tsn_arena_measure();
  layout(&arena, context);
  size_t needed;
  TSN_CLEANUP(give_back) loan borrowed = {exec, NULL};
  tsanom_status status = tsn_arena_bytes(&arena, &needed);
  if (status < 0) return tsn_reject(exec, status, "exec.work_bytes");
  if (exec->work_needed) *exec->work_needed = needed;
  if (exec->work && exec->work_bytes < needed) {
    return tsn_reject_size(exec, TSANOM_E_WORKSPACE, "exec.work_bytes", exec->work_bytes,
                           needed, SIZE_MAX);
  }
  if (check && (status = check(context)) < 0) return status;
  if (!exec->work) {
    borrowed.block = exec->alloc(exec->alloc_user, needed);
    if (!borrowed.block) return tsn_reject_memory(exec, needed);
    arena = tsn_arena_in(borrowed.block, needed);
    layout(&arena, context);
  }
  TSN_IN_ENVIRONMENT(before);
  return body(context);
}
