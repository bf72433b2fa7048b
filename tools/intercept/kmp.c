/* SPDX-License-Identifier: BSD-3-Clause */
/* LLVM's runtime: its entry points, in front of the originals, as clang and flang call
 * them. Its tools interface (ompt.c) would tell the same, but costs twice as much: the
 * runtime keeps more books once there is a tool. It also calls some of its entry points
 * itself; what it does there is part of what the program called. */
#include <stdarg.h>
#include <string.h>

#include "intercept.h"
#include "kmp_stubs.h"
#include "runtime.h"

/* What the runtime calls a place in the source. */
typedef struct ident ident;

/* A region as its opener hands it to the team where no stub does (see kmp_stubs.h): one
 * cache line, which each thread has to fetch from the opener's processor. */
typedef struct {
  _Alignas(64) icp_region region;
  microtask *function;
  int32_t count;
  union {
    void *few[FEW];
    void **more; /* where there are more: MANY of them, or all */
  } values;
} call;

_Static_assert(sizeof(call) == 64, "one cache line");

typedef void microtask_of_many(int32_t *, int32_t *, TYPES_16, TYPES_16, TYPES_16,
                               TYPES_16);

/* For any number of values the runtime has a function of its own. */
static void invoke_by_runtime(const call *c, int32_t thread, int32_t number) {
  REAL(int, "__kmp_invoke_microtask", microtask *, int, int, int, void **, void **);
  void *frame = NULL;
  (void)real(c->function, thread, number, c->count, c->values.more, &frame);
}

static __attribute__((noinline)) void invoke_more(const call *c, int32_t *thread,
                                                  int32_t *number) {
  void **v = c->values.more;
  if (c->count <= SOME) {
    ((microtask_of_some *)c->function)(thread, number, VALUES_16(v));
  } else if (c->count <= MANY) {
    ((microtask_of_many *)c->function)(thread, number, VALUES_16(v), VALUES_16(v + 16),
                                       VALUES_16(v + 32), VALUES_16(v + 48));
  } else {
    invoke_by_runtime(c, *thread, *number);
  }
}

static inline void invoke(const call *c, int32_t *thread, int32_t *number) {
  if (ICP_LIKELY(c->count <= FEW)) {
    ((microtask_of_few *)c->function)(thread, number, VALUES_4(c->values.few));
  } else {
    invoke_more(c, thread, number);
  }
}

/* What a team's threads run instead of the region's own function. */
static void run_member(int32_t *thread, int32_t *number, const call *c) {
  int32_t own = *number;
  uint64_t cpu = 0;
  icp_state before = icp_enter(&c->region, own, icp_set.team_size(), &cpu);
  invoke(c, thread, number);
  icp_work_done(&c->region, own, cpu);
  icp_leave(before);
}

/* The same where only the opener is recorded, or nothing is. */
static void run_unrecorded(int32_t *thread, int32_t *number, const call *c) {
  invoke(c, thread, number);
}

/* The same for a region of the watched thread, run by the stub that stands for it. */
static void run_site(int32_t *thread, int32_t *number, PARAMETERS_16) {
  uint32_t stub = stub_run;
  const site *s = &sites[stub / STEPS];
  const icp_region region = {.place = stub / STEPS,
                             .iteration = base.iteration + stub % STEPS,
                             .watched = 1,
                             .recorded = 1};
  int32_t own = *number;
  uint64_t cpu = 0;
  icp_state before = icp_enter(&region, own, icp_set.team_size(), &cpu);
  if (ICP_LIKELY(s->count <= FEW)) {
    ((microtask_of_few *)s->function)(thread, number, v0, v1, v2, v3);
  } else {
    ((microtask_of_some *)s->function)(thread, number, ARGUMENTS_16);
  }
  icp_work_done(&region, own, cpu);
  icp_leave(before);
}

/* A region of the watched thread, of which there is one at a time, that no stub stands
 * for needs no argument either: the runtime takes longer to hand one on than the threads
 * to fetch this. */
static call watched_call;

static void run_watched(int32_t *thread, int32_t *number) {
  run_member(thread, number, &watched_call);
}

STUBS(DEFINE_STUB)
static microtask_of_some *const stubs[] = {STUBS(NAME_STUB)};
_Static_assert(sizeof stubs / sizeof *stubs == SITES * STEPS, "one each");

/* The stub for a region that the watched thread is about to hand on; NULL: none. */
static inline microtask *stub_of(const icp_region *region, int32_t count,
                                 microtask *function) {
  if (!region->watched || region->place >= SITES || count > SOME) return NULL;
  site *s = &sites[region->place];
  if (!ICP_LIKELY(s->function == function && s->count == count)) {
    *s = (site){.function = function, .count = count};
  }
  /* A team of one fetches nothing, and a function that changes is hard to foresee. */
  if (icp_me.left_team == 1 || region->iteration - base.iteration >= STEPS) {
    base.iteration = region->iteration;
  }
  return (microtask *)stubs[region->place * STEPS + region->iteration - base.iteration];
}

/* As a num_threads clause does, in whose place it comes. */
static __attribute__((noinline)) void ask_for_threads(ident *where, unsigned threads) {
  REAL(void, "__kmpc_push_num_threads", ident *, int32_t, int32_t);
  int32_t (*thread_of)(ident *) = NULL;
  TAKE(thread_of, "__kmpc_global_thread_num");
  if (thread_of) real(where, thread_of(where), (int32_t)threads);
}

static bool is_ours(const void *caller) {
  return !icp_in_runtime(caller);
}

/* The region is known by its function: optimisers merge the calls that open several, and
 * copy that which opens one. */
static inline icp_region open_region(const void *caller, microtask *function,
                                     ident *where) {
  unsigned threads = 0;
  const void *address;
  if (!is_ours(caller)) return (icp_region){.recorded = 0};
  memcpy(&address, &function, sizeof address);
  icp_region region = icp_open(address, false, &threads);
  if (!ICP_LIKELY(threads == 0)) ask_for_threads(where, threads);
  return region;
}

typedef void opener(ident *where, int32_t count, microtask *function, ...);

static inline void hand_on(opener *real, ident *where, const call *c) {
  if (c == &watched_call) {
    real(where, 0, (microtask *)run_watched);
  } else if (c->region.recorded) {
    real(where, 1, (microtask *)run_member, c);
  } else {
    real(where, 1, (microtask *)run_unrecorded, c);
  }
}

static __attribute__((noinline)) void hand_on_more(opener *real, ident *where, call *c,
                                                   va_list given) {
  void *values[c->count > MANY ? c->count : MANY];
  memset(values, 0, sizeof values);
  for (int32_t i = 0; i < c->count; i++) values[i] = va_arg(given, void *);
  c->values.more = values;
  hand_on(real, where, c);
}

static __attribute__((noinline)) void hand_on_call(opener *real, ident *where,
                                                   icp_region region, int32_t count,
                                                   microtask *function, va_list given) {
  call own, *c = region.watched ? &watched_call : &own;
  *c = (call){.region = region, .function = function, .count = count};
  if (count > FEW) {
    hand_on_more(real, where, c, given);
    return;
  }
  for (int32_t i = 0; i < count; i++) c->values.few[i] = va_arg(given, void *);
  hand_on(real, where, c);
}

static __attribute__((noinline)) void hand_on_some(opener *real, ident *where,
                                                   int32_t count, microtask *stub,
                                                   va_list given) {
  void *v[SOME] = {NULL};
  for (int32_t i = 0; i < count; i++) v[i] = va_arg(given, void *);
  real(where, count, stub, VALUES_16(v));
}

/* A region that the compiler hands as many values as there are. */
static inline void fork_region(opener *real, ident *where, icp_region region,
                               int32_t count, microtask *function, va_list given) {
  microtask *stub = stub_of(&region, count, function);
  if (!ICP_LIKELY(stub != NULL)) {
    hand_on_call(real, where, region, count, function, given);
    return;
  }
  if (!ICP_LIKELY(count <= FEW)) {
    hand_on_some(real, where, count, stub, given);
    return;
  }
  void *v[FEW] = {NULL};
  for (int32_t i = 0; i < count; i++) v[i] = va_arg(given, void *);
  real(where, count, stub, VALUES_4(v));
}

ENTRY void __kmpc_fork_call(ident *where, int32_t count, microtask *function, ...);
ENTRY void __kmpc_fork_call(ident *where, int32_t count, microtask *function, ...) {
  REAL(void, "__kmpc_fork_call", ident *, int32_t, microtask *, ...);
  icp_region region = open_region(__builtin_return_address(0), function, where);
  va_list given;
  va_start(given, function);
  fork_region(real, where, region, count, function, given);
  va_end(given);
  icp_close(&region);
}

/* The members of a league are no team: only the opener is recorded. */
ENTRY void __kmpc_fork_teams(ident *where, int32_t count, microtask *function, ...);
ENTRY void __kmpc_fork_teams(ident *where, int32_t count, microtask *function, ...) {
  REAL(void, "__kmpc_fork_teams", ident *, int32_t, microtask *, ...);
  icp_region region = open_region(__builtin_return_address(0), function, where);
  va_list given;
  va_start(given, function);
  fork_region(real, where, (icp_region){.recorded = 0}, count, function, given);
  va_end(given);
  icp_close(&region);
}

/* A region of an if clause, LLVM 17 and later: one value, or none. */
ENTRY void __kmpc_fork_call_if(ident *where, int32_t count, microtask *function,
                               int32_t condition, void *value);
ENTRY void __kmpc_fork_call_if(ident *where, int32_t count, microtask *function,
                               int32_t condition, void *value) {
  REAL(void, "__kmpc_fork_call_if", ident *, int32_t, microtask *, int32_t, void *);
  call c = {.region = open_region(__builtin_return_address(0), function, where),
            .function = function,
            .count = count,
            .values.few = {value}};
  real(where, 1, (microtask *)(c.region.recorded ? run_member : run_unrecorded),
       condition, &c);
  icp_close(&c.region);
}

/* Between these two the compiler itself calls the function of a region that its if
 * clause leaves to one thread. */
typedef struct {
  icp_region region;
  icp_state before;
  uint64_t cpu;
} alone;

enum { ALONE_MOST = 16 };
static _Thread_local alone alone_regions[ALONE_MOST] ICP_INITIAL_EXEC;
static _Thread_local unsigned alone_count ICP_INITIAL_EXEC;

ENTRY void __kmpc_serialized_parallel(ident *where, int32_t thread);
ENTRY void __kmpc_serialized_parallel(ident *where, int32_t thread) {
  REAL(void, "__kmpc_serialized_parallel", ident *, int32_t);
  const void *caller = __builtin_return_address(0);
  alone *a = NULL;
  unsigned threads = 0;
  if (is_ours(caller) && alone_count++ < ALONE_MOST) {
    a = &alone_regions[alone_count - 1];
    a->region = icp_open(caller, true, &threads);
    a->cpu = 0;
  }
  real(where, thread);
  if (a && a->region.recorded) a->before = icp_enter(&a->region, 0, 1, &a->cpu);
}

ENTRY void __kmpc_end_serialized_parallel(ident *where, int32_t thread);
ENTRY void __kmpc_end_serialized_parallel(ident *where, int32_t thread) {
  REAL(void, "__kmpc_end_serialized_parallel", ident *, int32_t);
  alone *a = NULL;
  if (is_ours(__builtin_return_address(0)) && alone_count && --alone_count < ALONE_MOST) {
    a = &alone_regions[alone_count];
  }
  if (a && a->region.recorded) {
    icp_work_done(&a->region, 0, a->cpu);
    icp_leave(a->before);
  }
  real(where, thread);
  if (a) icp_close(&a->region);
}

/* Worksharing: what ends with a barrier. */
ENTRY void __kmpc_barrier(ident *where, int32_t thread);
ENTRY void __kmpc_barrier(ident *where, int32_t thread) {
  REAL(void, "__kmpc_barrier", ident *, int32_t);
  if (!is_ours(__builtin_return_address(0))) {
    real(where, thread);
    return;
  }
  icp_share(__builtin_return_address(0));
  real(where, thread);
  icp_shared();
}

/* Tells whether the region was cancelled. */
ENTRY int32_t __kmpc_cancel_barrier(ident *where, int32_t thread);
ENTRY int32_t __kmpc_cancel_barrier(ident *where, int32_t thread) {
  REAL(int32_t, "__kmpc_cancel_barrier", ident *, int32_t);
  if (!is_ours(__builtin_return_address(0))) return real(where, thread);
  icp_share(__builtin_return_address(0));
  int32_t answer = real(where, thread);
  icp_shared();
  return answer;
}
