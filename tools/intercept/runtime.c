/* SPDX-License-Identifier: BSD-3-Clause */
/* Three tables, each of which is only appended to:
 *
 *   icp_runtimes        libraries, with their functions
 *   icp_callers         modules that called, and the runtimes that they are bound to
 *   icp_place_runtime   the same by place, for a lookup by one load
 *
 * The second serves where no places are kept (nothing is recorded), and for calls without
 * a function. A module that is unloaded leaves an element of 0 bytes, which is used again
 * if it comes back to its address with the same runtimes. A runtime stays loaded once it
 * was found. When a table is full, calls are looked for one by one, and not recorded.
 *
 * All entry points of a runtime are looked for when it is found: members of a team must
 * not ask the loader, which would wait if the region was opened in a constructor. */
#include "runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "modules.h"
#include "section.h"
#include "thread.h"

/* Stand for functions of a runtime that lacks them. */
static int one(void) {
  return 1;
}

static int none(void) {
  return 0;
}

static void ignore(int threads) {
  (void)threads;
}

#define STAND_INS \
  .thread_number = none, .team_size = one, .max_threads = one, .set_threads = ignore

icp_runtime icp_runtimes[ICP_RUNTIMES] = {{.is_doubtful = true, STAND_INS},
                                          {.is_doubtful = true, STAND_INS}};
_Atomic uint16_t icp_place_runtime[TSN_REGIONS_PLACES_MAX];
icp_caller icp_callers[ICP_CALLERS];

/* What belongs to the elements, and how many there are, with the empty ones. */
static const void *library[ICP_RUNTIMES];
static uint16_t runtimes = ICP_ABSENT + 1;
static struct {
  uintptr_t base;
  uint64_t module; /* its hash */
} identity[ICP_CALLERS];
static _Atomic uint16_t callers = 1;

#define NAME(name) #name,
static const char *const names[] = {ICP_GNU_ENTRIES(NAME) ICP_LLVM_ENTRIES(NAME)};

static const struct {
  const char *prefix, *opener; /* each runtime has it */
} families[ICP_FAMILIES] = {{"GOMP_", "GOMP_parallel"}, {"__kmpc_", "__kmpc_fork_call"}};

static int family_of(unsigned entry) {
  return entry < ICP___kmpc_fork_call ? ICP_GNU : ICP_LLVM;
}

/* dlsym() gives functions as pointers to data; POSIX has them convertible. */
#define TAKE(pointer, handle, name)                         \
  do {                                                      \
    void *found = dlsym(handle, name);                      \
    if (found) memcpy(&(pointer), &found, sizeof(pointer)); \
  } while (0)

static void take_functions(icp_runtime *r, void *handle) {
  TAKE(r->thread_number, handle, "omp_get_thread_num");
  TAKE(r->team_size, handle, "omp_get_num_threads");
  TAKE(r->max_threads, handle, "omp_get_max_threads");
  TAKE(r->set_threads, handle, "omp_set_num_threads");
}

void icp_runtimes_start(void) {
  take_functions(&icp_runtimes[0], RTLD_NEXT);
}

typedef struct {
  const void *address;
  unsigned entry;
  int family;
  void *found;
  uint16_t caller, number;
} request;

static void find_entry(void *argument) {
  request *r = argument;
  bool doubtful = false;
  const char *prefix = families[family_of(r->entry)].prefix;
  r->found = icp_bound(r->address, names[r->entry], prefix, &doubtful);
  /* A jump, of which nothing shows the caller. */
  for (unsigned i = ICP_RUNTIMES - 1; !r->found && i > ICP_ABSENT; i--) {
    r->found = icp_runtimes[i].entry[r->entry];
  }
}

void *icp_entry_elsewhere(unsigned entry, const void *address) {
  request r = {.address = address, .entry = entry};
  icp_section(find_entry, &r);
  if (r.found) return r.found;
  ICP_REPORT(0, "the program ends: its OpenMP runtime has no %s", names[entry]);
  abort();
}

/* Element of the module at an address; 0: it has none. */
static uint16_t known_caller(const void *address) {
  uint16_t count = atomic_load_explicit(&callers, memory_order_acquire);
  uint16_t i = 1;
  while (i < count && !icp_is_in(&icp_callers[i].code, address)) i++;
  return i < count ? i : 0;
}

/* An unloaded module that is back, or a new element; 0: the table is full. */
static uint16_t vacant_caller(icp_code code, const icp_module *module) {
  uint16_t i = 1, count = atomic_load(&callers);
  for (; i < count; i++) {
    if (icp_callers[i].code.begin == code.begin && identity[i].base == module->base &&
        identity[i].module == module->hash && !atomic_load(&icp_callers[i].code.bytes)) {
      break;
    }
  }
  return i < ICP_CALLERS ? i : 0;
}

/* The element of the module at an address, which is added; 0: there is no module, as at
 * generated code, or the table is full. An element that is used again forgets its
 * runtimes. */
static uint16_t caller_at(const void *address) {
  icp_module module;
  uint16_t i = known_caller(address);
  if (i) return i;
  icp_module_at((uintptr_t)address, &module);
  icp_code code = icp_code_at(address);
  uintptr_t bytes = atomic_load(&code.bytes);
  if (!bytes) return 0;
  pthread_mutex_lock(&icp_set.runtimes_lock);
  i = known_caller(address);
  if (!i && (i = vacant_caller(code, &module)) != 0) {
    icp_callers[i].code.begin = code.begin;
    identity[i].base = module.base;
    identity[i].module = module.hash;
    for (int f = 0; f < ICP_FAMILIES; f++) atomic_store(&icp_callers[i].runtime[f], 0);
    atomic_store_explicit(&icp_callers[i].code.bytes, bytes, memory_order_release);
    if (i == atomic_load(&callers)) atomic_store(&callers, (uint16_t)(i + 1));
  }
  pthread_mutex_unlock(&icp_set.runtimes_lock);
  return i;
}

/* The number of a library that has a function; 0: there are too many. `user`: the module
 * that calls it. The library stays loaded. */
static uint16_t runtime_with(void *function, const void *user, bool is_doubtful) {
  Dl_info about;
  struct link_map *map = NULL, *of_user = NULL;
  icp_runtime new = {.is_doubtful = is_doubtful, STAND_INS};
  if (!dladdr1(function, &about, (void **)&map, RTLD_DL_LINKMAP) || !map) return 0;
  void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return 0;
  (void)dladdr1(user, &about, (void **)&of_user, RTLD_DL_LINKMAP);
  if (map != of_user) new.code = icp_code_at(function);
  take_functions(&new, handle);
  bool has_llvm = dlsym(handle, families[ICP_LLVM].opener) != NULL;
  for (unsigned e = 0; e < ICP_ENTRIES; e++) {
    if (family_of(e) == ICP_GNU || has_llvm) new.entry[e] = dlsym(handle, names[e]);
  }
  pthread_mutex_lock(&icp_set.runtimes_lock);
  uint16_t i = ICP_ABSENT + 1;
  while (i < runtimes &&
         (library[i] != map || icp_runtimes[i].is_doubtful != is_doubtful)) {
    i++;
  }
  if (i == runtimes && i < ICP_RUNTIMES) {
    library[i] = map;
    icp_runtimes[i] = new;
    runtimes++;
  }
  pthread_mutex_unlock(&icp_set.runtimes_lock);
  return i < ICP_RUNTIMES ? i : 0;
}

/* The first time that a module calls. The runtime's own calls are its own. */
static uint16_t look_for(const void *address, int family) {
  bool is_doubtful = false;
  void *opener =
      icp_bound(address, families[family].opener, families[family].prefix, &is_doubtful);
  uint16_t number = opener ? runtime_with(opener, address, is_doubtful) : ICP_ABSENT;
  if (atomic_load(&icp_runtimes[number].code.bytes)) {
    icp_caller *own = &icp_callers[caller_at(opener)];
    for (int f = 0; own != icp_callers && f < ICP_FAMILIES; f++) {
      uint16_t unknown = 0;
      (void)atomic_compare_exchange_strong(&own->runtime[f], &unknown, number);
    }
  }
  return number;
}

static void note_runtime(uint16_t caller, int family, uint16_t number) {
  if (!caller) return;
  atomic_store_explicit(&icp_callers[caller].runtime[family], number,
                        memory_order_release);
}

static void find_runtime(void *argument) {
  request *r = argument;
  uint16_t c = caller_at(r->address);
  r->number =
      atomic_load_explicit(&icp_callers[c].runtime[r->family], memory_order_acquire);
  if (r->number == 0 || r->number == ICP_OF_REGION) {
    r->number = look_for(r->address, r->family);
    note_runtime(c, r->family, r->number);
  }
}

/* Each region of a process that is not recorded comes here: known ones take no system call. */
uint16_t icp_runtime_at(const void *address, int family) {
  request r = {.address = address, .family = family};
  const icp_caller *caller = &icp_callers[known_caller(address)];
  uint16_t known = atomic_load_explicit(&caller->runtime[family], memory_order_acquire);
  if (known - 1u < ICP_RUNTIMES - 1u) return known;
  icp_section(find_runtime, &r);
  return r.number;
}

static void find_of_site(void *argument) {
  request *r = argument;
  r->caller = caller_at(r->address);
  r->number = atomic_load_explicit(&icp_callers[r->caller].runtime[r->family],
                                   memory_order_acquire);
  if (!r->number && !icp_imports(r->address, families[r->family].prefix)) {
    r->number = ICP_OF_REGION;
    note_runtime(r->caller, r->family, r->number);
  }
  if (!r->number) find_runtime(r);
}

uint16_t icp_runtime_of_site(const void *site, int family, uint16_t *caller) {
  request r = {.address = site, .family = family};
  icp_section(find_of_site, &r);
  *caller = r.caller;
  return r.number;
}

/* Once in a process: the second and later modules have the same cause. */
static void report_doubt(const void *function) {
  static atomic_flag is_reported = ATOMIC_FLAG_INIT;
  Dl_info about;
  if (atomic_flag_test_and_set(&is_reported)) return;
  const char *path = dladdr(function, &about) && about.dli_fname ? about.dli_fname : "?";
  const char *slash = strrchr(path, '/');
  ICP_REPORT(
      0,
      "regions of %.80s are not recorded: its calls may be of either of two OpenMP "
      "runtimes",
      slash ? slash + 1 : path);
}

uint16_t icp_runtime_of_place(uint32_t place, const void *function, int family,
                              bool *recorded) {
  uint16_t number = icp_runtime_at(function, family);
  const icp_runtime *r = &icp_runtimes[number];
  *recorded = icp_set.by_ompt || (!r->is_doubtful && !icp_is_in(&r->code, function));
  if (!*recorded && r->is_doubtful && number > ICP_ABSENT) report_doubt(function);
  if (*recorded && place != TSN_REGIONS_PLACES_MAX - 1) {
    atomic_store_explicit(&icp_place_runtime[place], number, memory_order_release);
  }
  return number;
}

/* A module is gone if its code has no module now, or another one, or the same at another
 * base. */
static void forget_unloaded(void *unused) {
  icp_module now;
  (void)unused;
  for (uint16_t i = 1; i < atomic_load(&callers); i++) {
    pthread_mutex_lock(&icp_set.runtimes_lock);
    icp_caller *caller = &icp_callers[i];
    uintptr_t begin = atomic_load(&caller->code.bytes) ? caller->code.begin : 0;
    uintptr_t base = identity[i].base;
    uint64_t hash = identity[i].module;
    pthread_mutex_unlock(&icp_set.runtimes_lock);
    if (!begin) continue;
    icp_module_at(begin, &now);
    if (now.base != base || now.hash != hash) atomic_store(&caller->code.bytes, 0);
  }
}

void icp_runtimes_forget_unloaded(void) {
  icp_section(forget_unloaded, NULL);
}
