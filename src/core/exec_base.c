/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of tsanom_exec that needs only the C library: libraries without OpenMP and
 * without kernels use it alone. */
#include <stdlib.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/versioned.h"

static void *heap_alloc(void *alloc_user, size_t bytes) {
  (void)alloc_user;
  return malloc(bytes);
}

static void heap_dealloc(void *alloc_user, void *block) {
  (void)alloc_user;
  free(block);
}

static const tsanom_exec defaults = {
    .struct_size = sizeof defaults, .threads = 1, .isa = TSANOM_ISA_AUTO};

static const tsn_versioned exec_type = {
    .size = sizeof(tsanom_exec),
    .first_size = sizeof(tsanom_exec),
    .defaults = &defaults,
};

tsanom_status tsanom_exec_init(tsanom_exec *exec, size_t struct_size) {
  return tsn_versioned_init(&exec_type, exec, struct_size);
}

/* The fault is checked first: rejections of the other fields are reported to it. */
tsanom_status tsn_exec_read_base(tsanom_exec *own, const tsanom_exec *caller) {
  tsanom_status status = tsn_versioned_read(&exec_type, own, caller);
  if (status < 0) return status;
  if (own->fault && !tsn_fault_is_prepared(own->fault)) {
    own->fault = NULL;
    return TSANOM_E_VERSION;
  }
  status =
      tsn_require_int(own, TSANOM_E_EXEC, "exec.threads", own->threads, 0, INT32_MAX);
  if (status < 0) return status;
  if (!own->alloc != !own->dealloc) {
    return tsn_reject_is(own, TSANOM_E_EXEC, own->alloc ? "exec.dealloc" : "exec.alloc",
                         TSANOM_NONE, "NULL; both functions are expected, or neither");
  }
  if (!own->work && own->work_bytes) {
    return tsn_reject_is(own, TSANOM_E_NULL, "exec.work", TSANOM_NONE,
                         "NULL; %zu bytes are expected", own->work_bytes);
  }
  if (!own->alloc) {
    own->alloc = heap_alloc;
    own->dealloc = heap_dealloc;
  }
  return TSANOM_OK;
}

tsanom_exec tsn_exec_for_object(const tsanom_exec *checked) {
  tsanom_exec own = *checked;
  own.poll = NULL;
  own.poll_user = NULL;
  own.work = NULL;
  own.work_bytes = 0;
  own.fault = NULL;
  own.work_needed = NULL;
  return own;
}

tsanom_exec tsn_exec_asking(const tsanom_exec *checked, size_t *bytes) {
  static char none;
  tsanom_exec own = tsn_exec_for_object(checked);
  own.work = &none;
  own.work_needed = bytes;
  return own;
}
