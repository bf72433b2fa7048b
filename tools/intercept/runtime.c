/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the runtime's functions. The usual way is the next definition behind this
 * library (RTLD_NEXT). A runtime that the program loaded by dlopen(), itself or with a
 * plugin, is not in that order; it is looked for by its name, among the libraries that
 * are loaded already. The loader would search all its directories for a library that is
 * not loaded: 120 system calls. */
#include "runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a library is an OpenMP runtime: libgomp.so.1, or libgomp-a34b3233.so.1.0.0 as
 * in packages of Python. */
static bool is_runtime(const char *path) {
  static const char *const runtimes[] = {"libgomp", "libomp", "libiomp5"};
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
    size_t length = strlen(runtimes[i]);
    if (strncmp(name, runtimes[i], length) != 0) continue;
    if (name[length] == '.' || name[length] == '-') return true;
  }
  return false;
}

typedef struct {
  size_t number; /* of the runtime among those that are loaded */
  char path[PATH_MAX];
} runtime_search;

static int note_runtime(struct dl_phdr_info *module, size_t size, void *search_) {
  runtime_search *search = search_;
  (void)size;
  if (!is_runtime(module->dlpi_name) || search->number-- > 0) return 0;
  (void)snprintf(search->path, sizeof search->path, "%s", module->dlpi_name);
  return 1;
}

/* The loader must not be called from within dl_iterate_phdr(). */
void *icp_runtime_function(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; !found; i++) {
    runtime_search search = {.number = i};
    if (!dl_iterate_phdr(note_runtime, &search)) break;
    void *runtime = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
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
