/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/arena.h"

tsn_arena tsn_arena_measure(void) {
  return (tsn_arena){.base = NULL, .used = 0, .overflow = false};
}

void *tsn_arena_take(tsn_arena *arena, size_t count, size_t size) {
  size_t bytes, rounded, used;
  if (__builtin_mul_overflow(count, size, &bytes) ||
      __builtin_add_overflow(bytes, TSN_ARENA_ALIGN - 1, &rounded)) {
    arena->overflow = true;
    return NULL;
  }
  rounded -= rounded % TSN_ARENA_ALIGN;
  if (__builtin_add_overflow(arena->used, rounded, &used)) {
    arena->overflow = true;
    return NULL;
  }
  void *piece = arena->base ? arena->base + arena->used : NULL;
  arena->used = used;
  return piece;
}

tsanom_status tsn_arena_bytes(const tsn_arena *measured, size_t *bytes) {
  size_t sum;
  if (measured->overflow ||
      __builtin_add_overflow(measured->used, TSN_ARENA_ALIGN - 1, &sum) ||
      sum > PTRDIFF_MAX) {
    return TSANOM_E_OVERFLOW;
  }
  *bytes = sum;
  return TSANOM_OK;
}

tsanom_status tsn_workspace_open(tsn_workspace *workspace, const tsn_arena *measured,
                                 const tsanom_exec *exec, void *work, size_t work_bytes) {
  size_t needed;
  tsanom_status status = tsn_arena_bytes(measured, &needed);
  if (status < 0) return status;
  *workspace = (tsn_workspace){.exec = exec};
  if (!work) {
    work = exec->alloc(needed, exec->alloc_user);
    if (!work) return TSANOM_E_MEMORY;
    workspace->borrowed = work;
  } else if (work_bytes < needed) {
    return TSANOM_E_WORKSPACE;
  }
  uintptr_t misalignment = (uintptr_t)work % TSN_ARENA_ALIGN;
  size_t skip = misalignment ? TSN_ARENA_ALIGN - misalignment : 0;
  workspace->arena.base = (unsigned char *)work + skip;
  return TSANOM_OK;
}

void tsn_workspace_close(tsn_workspace *workspace) {
  if (workspace->borrowed) {
    workspace->exec->dealloc(workspace->borrowed, workspace->exec->alloc_user);
    workspace->borrowed = NULL;
  }
}
