/* SPDX-License-Identifier: BSD-3-Clause */
/* LLVM's runtime: its entry points, in front of the originals, as clang and flang call
 * them.
 *
 *   program   __kmpc_fork_call(where, n, f, v1, ..., vn)
 *   here      __kmpc_fork_call(where, 1, run_member, &c)      c = {region, f, n, values}
 *   or, watched thread, outermost region:
 *             __kmpc_fork_call(where, 0, run_watched)         c is static
 *   each thread of the team: ──▶ f(&thread, &number, v1, ..., vn)
 *
 * The values travel as variadic arguments and must be handed on in the same way. A few
 * are copied into the one cache line of `call`, and called with a fixed number of
 * arguments (see FEW); for more than 64 the runtime's own function is used.
 *
 * Its tools interface (ompt.c) would report the same, but costs twice as much: the
 * runtime keeps more records once there is a tool, which alone takes 15 ns a region. The
 * runtime also calls some of its entry points itself; what it does there is part of what
 * the program called, so calls from its code are passed on unrecorded. */
#include <stdarg.h>
#include <string.h>

#include "intercept.h"

/* What the runtime calls a place in the source. */
typedef struct ident ident;

/* A region's outlined function, to be cast. Its arguments are pointers to the thread's
 * numbers in the program and in the team, and then pointers of its own. */
typedef void microtask(void);

/* A function may be called with more arguments than it takes: where they lie does not
 * depend on how many follow, by the calling conventions of x86-64 and AArch64. So three
 * functions with 4, 16 and 64 values serve for every number up to 64. Four fill the
 * cache line of a `call`. */
enum { FEW = 4, SOME = 16, MANY = 64 };

#define TYPES_4 void *, void *, void *, void *
#define TYPES_16 TYPES_4, TYPES_4, TYPES_4, TYPES_4
#define VALUES_4(v) (v)[0], (v)[1], (v)[2], (v)[3]
#define VALUES_16(v) VALUES_4(v), VALUES_4((v) + 4), VALUES_4((v) + 8), VALUES_4((v) + 12)
typedef void microtask_of_few(int32_t *, int32_t *, TYPES_4);
typedef void microtask_of_some(int32_t *, int32_t *, TYPES_16);
typedef void microtask_of_many(int32_t *, int32_t *, TYPES_16, TYPES_16, TYPES_16,
                               TYPES_16);

/* A region as its opener hands it to the team: one cache line, which each thread has to
 * fetch from the opener's processor. */
typedef struct {
  _Alignas(64) icp_region region;
  microtask *function;
  int32_t count;
  union {
    void *few[FEW];
    void **more; /* more than FEW: an array of MANY, or of all */
  } values;
} call;

_Static_assert(sizeof(call) == 64, "one cache line");

/* For any number of values the runtime has a function of its own. */
static void invoke_by_runtime(const call *c, int32_t thread, int32_t number) {
  REAL(int, c->region.runtime, __kmp_invoke_microtask, ADDRESS_OF(c->function),
       microtask *, int, int, int, void **, void **);
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
  icp_usage began;
  began.cpu = 0;
  int32_t size = icp_runtimes[c->region.runtime].team_size();
  icp_state before = icp_enter(&c->region, own, size, &began);
  invoke(c, thread, number);
  icp_work_done(&c->region, own, &began);
  icp_leave(before);
}

/* The same where only the opener is recorded, or nothing is. */
static void run_unrecorded(int32_t *thread, int32_t *number, const call *c) {
  uint16_t before = icp_me.state.runtime;
  icp_me.state.runtime = c->region.runtime;
  invoke(c, thread, number);
  icp_me.state.runtime = before;
}

/* The watched thread has one region at a time. It needs no argument: the runtime takes
 * longer to hand one on than the threads take to fetch this. */
static call watched_call;

static void run_watched(int32_t *thread, int32_t *number) {
  run_member(thread, number, &watched_call);
}

/* As a num_threads clause does, in whose place it comes: the request is for the next
 * region only. */
static __attribute__((noinline)) void ask_for_threads(uint16_t runtime, ident *where,
                                                      unsigned threads) {
  int32_t (*thread_of)(ident *);
  void (*push)(ident *, int32_t, int32_t);
  const icp_runtime *r = &icp_runtimes[runtime];
  if (!r->entry[ICP___kmpc_global_thread_num] || !r->entry[ICP___kmpc_push_num_threads]) {
    return;
  }
  memcpy(&thread_of, &r->entry[ICP___kmpc_global_thread_num], sizeof thread_of);
  memcpy(&push, &r->entry[ICP___kmpc_push_num_threads], sizeof push);
  push(where, thread_of(where), (int32_t)threads);
}

/* Whether the program called, and not the runtime itself. */
static bool is_ours(uint16_t runtime, const void *site) {
  return !icp_is_in(&icp_runtimes[runtime].code, site);
}

/* The region is known by its function: optimizers merge the calls that open several, and
 * copy that which opens one, so that the address of the call is not one place. */
static inline icp_region open_region(const void *site, microtask *function,
                                     ident *where) {
  unsigned threads = 0;
  const void *address = ADDRESS_OF(function);
  if (!ICP_LIKELY(!icp_is_own(address))) {
    return (icp_region){.runtime = icp_runtime_of_call(site, ICP_LLVM)};
  }
  icp_region region = icp_open(address, false, ICP_LLVM, &threads);
  if (!ICP_LIKELY(threads == 0)) ask_for_threads(region.runtime, where, threads);
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

/* Copy the values onto the opener's stack, where they stay until the region has ended.
 * At least MANY of them, since the function is called with that number. */
static __attribute__((noinline)) void hand_on_more(opener *real, ident *where, call *c,
                                                   va_list given) {
  void *values[c->count > MANY ? c->count : MANY];
  memset(values, 0, sizeof values);
  for (int32_t i = 0; i < c->count; i++) values[i] = va_arg(given, void *);
  c->values.more = values;
  hand_on(real, where, c);
}

/* A region to which the compiler hands `count` values. */
static inline void fork_region(opener *real, ident *where, icp_region region,
                               int32_t count, microtask *function, va_list given) {
  call own, *c = region.watched ? &watched_call : &own;
  *c = (call){.region = region, .function = function, .count = count};
  if (!ICP_LIKELY(count <= FEW)) {
    hand_on_more(real, where, c, given);
    return;
  }
  for (int32_t i = 0; i < count; i++) c->values.few[i] = va_arg(given, void *);
  hand_on(real, where, c);
}

ENTRY void __kmpc_fork_call(ident *where, int32_t count, microtask *function, ...);
ENTRY void __kmpc_fork_call(ident *where, int32_t count, microtask *function, ...) {
  icp_region region = open_region(__builtin_return_address(0), function, where);
  REAL(void, region.runtime, __kmpc_fork_call, ADDRESS_OF(function), ident *, int32_t,
       microtask *, ...);
  va_list given;
  va_start(given, function);
  fork_region(real, where, region, count, function, given);
  va_end(given);
  icp_close(&region);
}

/* The members of a league are no team: only the opener is recorded. */
ENTRY void __kmpc_fork_teams(ident *where, int32_t count, microtask *function, ...);
ENTRY void __kmpc_fork_teams(ident *where, int32_t count, microtask *function, ...) {
  icp_region region = open_region(__builtin_return_address(0), function, where);
  icp_region of_members = {.runtime = region.runtime};
  REAL(void, region.runtime, __kmpc_fork_teams, ADDRESS_OF(function), ident *, int32_t,
       microtask *, ...);
  va_list given;
  va_start(given, function);
  fork_region(real, where, of_members, count, function, given);
  va_end(given);
  icp_close(&region);
}

/* A region of an if clause, LLVM 17 and later: one value, or none. */
ENTRY void __kmpc_fork_call_if(ident *where, int32_t count, microtask *function,
                               int32_t condition, void *value);
ENTRY void __kmpc_fork_call_if(ident *where, int32_t count, microtask *function,
                               int32_t condition, void *value) {
  call c = {.region = open_region(__builtin_return_address(0), function, where),
            .function = function,
            .count = count,
            .values.few = {value}};
  REAL(void, c.region.runtime, __kmpc_fork_call_if, ADDRESS_OF(function), ident *,
       int32_t, microtask *, int32_t, void *);
  real(where, 1, (microtask *)(c.region.recorded ? run_member : run_unrecorded),
       condition, &c);
  icp_close(&c.region);
}

/* Between these two the compiler itself calls the function of a region that its if
 * clause leaves to one thread. */
typedef struct {
  icp_region region;
  icp_state before;
  icp_usage began;
} alone;

/* Such regions that may be open in a thread; deeper ones are counted and not recorded. */
enum { ALONE_MOST = 16 };
typedef struct {
  unsigned count;
  alone region[ALONE_MOST];
} alone_regions;

static alone *begin_alone(void) {
  alone_regions *own = icp_own_part(ICP_OWN_ALONE, sizeof *own);
  return own && own->count++ < ALONE_MOST ? &own->region[own->count - 1] : NULL;
}

static alone *end_alone(void) {
  alone_regions *own = icp_own_part(ICP_OWN_ALONE, sizeof *own);
  return own && own->count && --own->count < ALONE_MOST ? &own->region[own->count] : NULL;
}

ENTRY void __kmpc_serialized_parallel(ident *where, int32_t thread);
ENTRY void __kmpc_serialized_parallel(ident *where, int32_t thread) {
  const void *site = __builtin_return_address(0);
  uint16_t runtime = icp_runtime_of_call(site, ICP_LLVM);
  REAL(void, runtime, __kmpc_serialized_parallel, site, ident *, int32_t);
  alone *a = is_ours(runtime, site) ? begin_alone() : NULL;
  unsigned threads = 0;
  if (a) a->region = icp_open(site, true, ICP_LLVM, &threads);
  real(where, thread);
  if (a && a->region.recorded) a->before = icp_enter(&a->region, 0, 1, &a->began);
}

ENTRY void __kmpc_end_serialized_parallel(ident *where, int32_t thread);
ENTRY void __kmpc_end_serialized_parallel(ident *where, int32_t thread) {
  const void *site = __builtin_return_address(0);
  uint16_t runtime = icp_runtime_of_call(site, ICP_LLVM);
  alone *a = is_ours(runtime, site) ? end_alone() : NULL;
  if (a) runtime = a->region.runtime; /* the call may be a jump */
  REAL(void, runtime, __kmpc_end_serialized_parallel, site, ident *, int32_t);
  if (a && a->region.recorded) {
    icp_work_done(&a->region, 0, &a->began);
    icp_leave(a->before);
  }
  real(where, thread);
  if (a) icp_close(&a->region);
}

/* An explicit task, or the pattern for those of a taskloop. */
typedef int32_t task_function(int32_t thread, void *task);
ENTRY void *__kmpc_omp_task_alloc(ident *where, int32_t thread, int32_t flags,
                                  size_t bytes, size_t shared_bytes,
                                  task_function *function);
ENTRY void *__kmpc_omp_task_alloc(ident *where, int32_t thread, int32_t flags,
                                  size_t bytes, size_t shared_bytes,
                                  task_function *function) {
  const void *site = __builtin_return_address(0), *address = ADDRESS_OF(function);
  uint16_t runtime = icp_runtime_of_call(site, ICP_LLVM);
  if (is_ours(runtime, site)) runtime = icp_task(address, ICP_LLVM);
  REAL(void *, runtime, __kmpc_omp_task_alloc, address, ident *, int32_t, int32_t, size_t,
       size_t, task_function *);
  return real(where, thread, flags, bytes, shared_bytes, function);
}

/* Worksharing: what ends with a barrier. */
ENTRY void __kmpc_barrier(ident *where, int32_t thread);
ENTRY void __kmpc_barrier(ident *where, int32_t thread) {
  const void *site = __builtin_return_address(0);
  uint16_t runtime = icp_runtime_of_call(site, ICP_LLVM);
  REAL(void, runtime, __kmpc_barrier, site, ident *, int32_t);
  if (!is_ours(runtime, site)) {
    real(where, thread);
    return;
  }
  icp_share(site, ICP_BARRIER);
  real(where, thread);
  icp_shared();
}

/* Returns whether the region was cancelled. */
ENTRY int32_t __kmpc_cancel_barrier(ident *where, int32_t thread);
ENTRY int32_t __kmpc_cancel_barrier(ident *where, int32_t thread) {
  const void *site = __builtin_return_address(0);
  uint16_t runtime = icp_runtime_of_call(site, ICP_LLVM);
  REAL(int32_t, runtime, __kmpc_cancel_barrier, site, ident *, int32_t);
  if (!is_ours(runtime, site)) return real(where, thread);
  icp_share(site, ICP_BARRIER);
  int32_t answer = real(where, thread);
  icp_shared();
  return answer;
}

/* The next chunk of a loop, if there is one. Threads take the chunks of a static schedule
 * without the runtime. */
#define NEXT(name, word)                                                             \
  ENTRY int32_t name(ident *where, int32_t thread, int32_t *last, word *first,       \
                     word *end, word *step);                                         \
  ENTRY int32_t name(ident *where, int32_t thread, int32_t *last, word *first,       \
                     word *end, word *step) {                                        \
    const void *site = __builtin_return_address(0);                                  \
    REAL(int32_t, icp_runtime_of_call(site, ICP_LLVM), name, site, ident *, int32_t, \
         int32_t *, word *, word *, word *);                                         \
    int32_t is_taken = real(where, thread, last, first, end, step);                  \
    if (is_taken) icp_chunk();                                                       \
    return is_taken;                                                                 \
  }

NEXT(__kmpc_dispatch_next_4, int32_t)
NEXT(__kmpc_dispatch_next_4u, uint32_t)
NEXT(__kmpc_dispatch_next_8, int64_t)
NEXT(__kmpc_dispatch_next_8u, uint64_t)
