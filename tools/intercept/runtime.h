/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP runtimes of the program, of which there may be several: plug-ins and packages
 * of Python bring their own. Each call goes to the runtime to which the loader would have
 * bound it (modules.c), or its team would not be that of the calls that are not wrapped.
 *
 *   call with the function of a region or task   the runtime of that function's module:
 *                                                found once, kept by place
 *   call without one, of a barrier for example   the runtime of the module to which it
 *                                                returns; if that is a runtime or we, the
 *                                                call was a jump (tail call): the runtime
 *                                                of the thread's innermost region
 *
 * A call with a function may be a jump too, so that its return address says nothing. */
#ifndef TSN_INTERCEPT_RUNTIME_H
#define TSN_INTERCEPT_RUNTIME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "modules.h"
#include "places.h"

/* A function that stands in front of another one; everything else is hidden. */
#define ENTRY __attribute__((visibility("default")))
/* Known to be in this library, so that its address needs no load. */
#define HIDDEN __attribute__((visibility("hidden")))

/* How entry points are called: as GNU's compilers do, or as LLVM's. A program may use
 * both, and LLVM's runtime has both. */
enum { ICP_GNU, ICP_LLVM, ICP_FAMILIES };

/* The runtime's functions that are called. */
#define ICP_GNU_ENTRIES(X)                         \
  X(GOMP_parallel)                                 \
  X(GOMP_parallel_sections)                        \
  X(GOMP_parallel_loop_static)                     \
  X(GOMP_parallel_loop_dynamic)                    \
  X(GOMP_parallel_loop_guided)                     \
  X(GOMP_parallel_loop_nonmonotonic_dynamic)       \
  X(GOMP_parallel_loop_nonmonotonic_guided)        \
  X(GOMP_parallel_loop_runtime)                    \
  X(GOMP_parallel_loop_nonmonotonic_runtime)       \
  X(GOMP_parallel_loop_maybe_nonmonotonic_runtime) \
  X(GOMP_parallel_reductions)                      \
  X(GOMP_teams_reg)                                \
  X(GOMP_parallel_start)                           \
  X(GOMP_parallel_loop_static_start)               \
  X(GOMP_parallel_loop_dynamic_start)              \
  X(GOMP_parallel_loop_guided_start)               \
  X(GOMP_parallel_loop_runtime_start)              \
  X(GOMP_parallel_sections_start)                  \
  X(GOMP_parallel_end)                             \
  X(GOMP_task)                                     \
  X(GOMP_barrier)                                  \
  X(GOMP_loop_end)                                 \
  X(GOMP_loop_end_nowait)                          \
  X(GOMP_sections_end)                             \
  X(GOMP_sections_end_nowait)                      \
  X(GOMP_barrier_cancel)                           \
  X(GOMP_loop_end_cancel)                          \
  X(GOMP_sections_end_cancel)                      \
  X(GOMP_loop_dynamic_next)                        \
  X(GOMP_loop_guided_next)                         \
  X(GOMP_loop_runtime_next)                        \
  X(GOMP_loop_nonmonotonic_dynamic_next)           \
  X(GOMP_loop_nonmonotonic_guided_next)            \
  X(GOMP_loop_nonmonotonic_runtime_next)           \
  X(GOMP_loop_maybe_nonmonotonic_runtime_next)     \
  X(GOMP_loop_ull_dynamic_next)                    \
  X(GOMP_loop_ull_guided_next)                     \
  X(GOMP_loop_ull_runtime_next)                    \
  X(GOMP_loop_ull_nonmonotonic_dynamic_next)       \
  X(GOMP_loop_ull_nonmonotonic_guided_next)        \
  X(GOMP_loop_ull_nonmonotonic_runtime_next)       \
  X(GOMP_loop_ull_maybe_nonmonotonic_runtime_next)
#define ICP_LLVM_ENTRIES(X)         \
  X(__kmpc_fork_call)               \
  X(__kmpc_fork_call_if)            \
  X(__kmpc_fork_teams)              \
  X(__kmpc_serialized_parallel)     \
  X(__kmpc_end_serialized_parallel) \
  X(__kmpc_push_num_threads)        \
  X(__kmpc_global_thread_num)       \
  X(__kmp_invoke_microtask)         \
  X(__kmpc_omp_task_alloc)          \
  X(__kmpc_barrier)                 \
  X(__kmpc_cancel_barrier)          \
  X(__kmpc_dispatch_next_4)         \
  X(__kmpc_dispatch_next_4u)        \
  X(__kmpc_dispatch_next_8)         \
  X(__kmpc_dispatch_next_8u)

#define ICP_NUMBER(name) ICP_##name,
enum { ICP_GNU_ENTRIES(ICP_NUMBER) ICP_LLVM_ENTRIES(ICP_NUMBER) ICP_ENTRIES };

/* A runtime. The functions that it lacks are NULL; those of OpenMP then are stand-ins. */
typedef struct {
  _Alignas(64) icp_code code; /* its calls of its own entry points come from there; of 0
                                 bytes if it lies in the module that uses it */
  bool is_doubtful;           /* its callers may be of another one: nothing is recorded */
  int (*thread_number)(void);
  int (*team_size)(void);
  int (*max_threads)(void);
  void (*set_threads)(int);
  void *entry[ICP_ENTRIES];
} icp_runtime;

_Static_assert(sizeof(icp_runtime) == 512, "a number becomes an address by a shift");

/* Runtimes by number. The first two have no entry points and are doubtful: calls are
 * looked for one by one. Number 0 stands for one that was not looked for, or for which
 * there is no number; ICP_ABSENT for one that is not in the scope of its caller, as where
 * it is linked into the program (ompt.c). */
enum { ICP_ABSENT = 1, ICP_RUNTIMES = 32 };
extern HIDDEN icp_runtime icp_runtimes[ICP_RUNTIMES];

/* The runtime of a region's or task's place; 0: not looked for yet, or doubtful. */
extern HIDDEN _Atomic uint16_t icp_place_runtime[TSN_REGIONS_PLACES_MAX];

/* A module that called, and its runtimes. */
typedef struct {
  icp_code code;
  _Atomic uint16_t runtime[ICP_FAMILIES]; /* 0: not looked for yet */
} icp_caller;

/* Element 0 contains no address. */
enum { ICP_CALLERS = 1 << 10 };
extern HIDDEN icp_caller icp_callers[ICP_CALLERS];

/* In place of a runtime's number: the module calls no function of the family, so that
 * calls which return to it came by jumps. */
enum { ICP_OF_REGION = ICP_RUNTIMES };

/* The runtime that the module at an address is bound to. */
uint16_t icp_runtime_at(const void *address, int family);

/* The same for a call that returns to `site`; sets *caller to the element of its module.
 * ICP_OF_REGION: that of the thread's innermost region. */
uint16_t icp_runtime_of_site(const void *site, int family, uint16_t *caller);

/* The runtime of the place of a function, and note it; sets *recorded to false if nothing
 * may be recorded of it: it is doubtful, or the function is the runtime's. What OMPT
 * reports may be recorded. */
uint16_t icp_runtime_of_place(uint32_t place, const void *function, int family,
                              bool *recorded);

/* What the global scope has is what runtime 0 answers. */
void icp_runtimes_start(void);

/* Call it after code may have been unloaded: its addresses may be reused. */
void icp_runtimes_forget_unloaded(void);

/* An entry point that a runtime lacks, for a call from the module at an address. There
 * must be one: without it nothing but abort() is left. */
void *icp_entry_elsewhere(unsigned entry, const void *address);

static inline void *icp_entry(unsigned runtime, unsigned entry, const void *address) {
  void *found = icp_runtimes[runtime].entry[entry];
  return __builtin_expect(found != NULL, 1) ? found : icp_entry_elsewhere(entry, address);
}

/* Whether an address lies in this library. The linker defines the two. */
static inline bool icp_is_own(const void *address) {
  extern HIDDEN const char icp_begin[] __asm__("__ehdr_start");
  extern HIDDEN const char icp_end[] __asm__("etext");
  return (uintptr_t)address - (uintptr_t)icp_begin <
         (uintptr_t)icp_end - (uintptr_t)icp_begin;
}

/* C does not convert pointers to functions to pointers to data. */
static inline const void *icp_address_of(void (*function)(void)) {
  const void *address;
  memcpy(&address, &function, sizeof address);
  return address;
}

#define ADDRESS_OF(function) icp_address_of((void (*)(void))(function))

/* Declare `real`, the runtime's function of that name, for a call from the module at
 * `address`. C does not convert pointers to data to pointers to functions. */
#define REAL(result, runtime, name, address, ...)                       \
  void *original_address = icp_entry((runtime), ICP_##name, (address)); \
  result (*real)(__VA_ARGS__);                                          \
  memcpy(&real, &original_address, sizeof real)

#endif
