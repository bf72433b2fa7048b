/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/exec.h"

#include <omp.h>
#include <stdlib.h>

#include "core/versioned.h"

static void *heap_alloc(size_t bytes, void *user) {
  (void)user;
  return malloc(bytes);
}

static void heap_dealloc(void *block, void *user) {
  (void)user;
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

tsanom_status tsn_exec_read(tsanom_exec *own, const tsanom_exec *caller) {
  tsanom_status status = tsn_versioned_read(&exec_type, own, caller);
  if (status < 0) return status;
  if (own->threads < 0 || !own->alloc != !own->dealloc) return TSANOM_E_EXEC;
  if (own->isa == TSANOM_ISA_AUTO) own->isa = tsanom_isa_best();
  if (!tsanom_isa_available(own->isa)) return TSANOM_E_EXEC;
  if (own->threads == 0) own->threads = omp_get_max_threads();
  if (!own->alloc) {
    own->alloc = heap_alloc;
    own->dealloc = heap_dealloc;
  }
  return TSANOM_OK;
}
