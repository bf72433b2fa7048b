/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the runtime's functions. The usual way is the next definition behind this
 * library (RTLD_NEXT). A runtime that the program loaded by dlopen(), itself or with a
 * plugin, is not in that order; it is looked for by its name, among the libraries that
 * are loaded already. */
#include "runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

void *icp_runtime_function(const char *name) {
  static const char *const runtimes[] = {"libgomp.so.1", "libomp.so.5", "libomp.so",
                                         "libiomp5.so"};
  void *found = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++) {
    void *runtime = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
    if (runtime) found = dlsym(runtime, name);
  }
  return found;
}

/* Several threads may look for a function at the same time; they find the same address.
 */
void *icp_original(_Atomic(void *) *cache, const char *name) {
  void *found = icp_runtime_function(name);
  if (!found) {
    (void)fprintf(stderr, "tsanom record: this OpenMP runtime has no %s\n", name);
    abort();
  }
  atomic_store_explicit(cache, found, memory_order_release);
  return found;
}

icp_code icp_runtime_code, icp_own_code;

typedef struct {
  uintptr_t entry;
  icp_code *code;
} code_search;

/* Note the segment of a module that has the entry. */
static int note_code(struct dl_phdr_info *module, size_t size, void *search_) {
  const code_search *search = search_;
  (void)size;
  for (int i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
    uintptr_t begin = module->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD) continue;
    if (search->entry - begin >= segment->p_memsz) continue;
    *search->code = (icp_code){begin, segment->p_memsz};
    return 1;
  }
  return 0;
}

static void find_code(uintptr_t entry, icp_code *code) {
  code_search search = {entry, code};
  if (entry) (void)dl_iterate_phdr(note_code, &search);
}

/* The runtime's segment is the one that contains __kmpc_fork_call; GNU's runtime has
 * none; then no address counts as the runtime's. */
void icp_find_code(void) {
  find_code((uintptr_t)icp_runtime_function("__kmpc_fork_call"), &icp_runtime_code);
  find_code((uintptr_t)icp_find_code, &icp_own_code);
}
