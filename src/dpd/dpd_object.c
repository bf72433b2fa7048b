/* SPDX-License-Identifier: BSD-3-Clause */
#include "dpd/dpd_object.h"

#include "core/exec.h"

tsanom_status tsn_object_allocate(const tsanom_exec *exec, size_t bytes,
                                  tsn_object *owner) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  owner->block = own.alloc(own.alloc_user, bytes);
  owner->dealloc = own.dealloc;
  owner->alloc_user = own.alloc_user;
  return owner->block ? TSANOM_OK : TSANOM_E_MEMORY;
}

tsanom_status tsn_object_arena(const tsn_arena *measured, void *memory, size_t bytes,
                               tsn_arena *arena) {
  if (!memory) return TSANOM_E_NULL;
  tsn_workspace workspace;
  tsanom_status status = tsn_workspace_borrow(&workspace, measured, NULL, memory, bytes);
  if (status == TSANOM_OK) *arena = workspace.arena;
  return status;
}
