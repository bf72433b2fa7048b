/* SPDX-License-Identifier: BSD-3-Clause */
/* GNU's runtime: its entry points, in front of the originals, as gcc calls them; LLVM's
 * runtime has them too. Their arguments are those of libgomp's ABI (GOMP_1.0 to
 * GOMP_5.0). A definition without a version satisfies references to any.
 *
 * gcc compiles the body of a region to a function, which it hands to the runtime with a
 * pointer to its data:
 *
 *   program   GOMP_parallel(f, data, threads, flags)
 *   here      GOMP_parallel(run_member, &c, threads, flags)     c = {f, data, region}
 *   each thread of the team: run_member(&c) ──▶ f(data)
 *
 * So each thread of the team passes through run_member(), and `c` lives on the opener's
 * stack until the region has ended.
 *
 * The place of a region is its function: it is the same for all calls, and its address
 * has line information. */
#include "intercept.h"

typedef void outlined(void *data);

/* A region as its opener hands it to the team: one cache line, for each thread has to
 * fetch it from the opener's processor. */
typedef struct {
  _Alignas(64) outlined *function;
  void *data;
  icp_region region;
} call;

/* What a team's threads run instead of the region's own function. The runtime is asked
 * for number and size, because the team may be smaller than what was asked for. */
static void run_member(void *argument) {
  const call *c = argument;
  icp_usage began;
  began.cpu = 0;
  const icp_runtime *runtime = &icp_runtimes[c->region.runtime];
  int32_t number = runtime->thread_number();
  icp_state before = icp_enter(&c->region, number, runtime->team_size(), &began);
  c->function(c->data);
  icp_work_done(&c->region, number, &began);
  icp_leave(before);
}

/* The same where nothing is recorded: calls without a function still belong to the region's
 * runtime. */
static void run_unrecorded(void *argument) {
  const call *c = argument;
  uint16_t before = icp_me.state.runtime;
  icp_me.state.runtime = c->region.runtime;
  c->function(c->data);
  icp_me.state.runtime = before;
}

/* The part of an entry point before the runtime's. */
static inline call begin(outlined *function, void *data, unsigned *threads) {
  const void *address = ADDRESS_OF(function);
  return (call){.function = function,
                .data = data,
                .region = icp_open(address, false, ICP_GNU, threads)};
}

/* A region whose function and data the runtime hands on untouched: the team runs
 * `member`, with &c. */
#define REGION(name, parameters, types, arguments)                      \
  ENTRY void name parameters;                                           \
  ENTRY void name parameters {                                          \
    call c = begin(function, data, &threads);                           \
    REAL(void, c.region.runtime, name, ADDRESS_OF(function), types);    \
    outlined *member = c.region.recorded ? run_member : run_unrecorded; \
    real arguments;                                                     \
    icp_close(&c.region);                                               \
  }

#define TYPES(...) __VA_ARGS__

REGION(GOMP_parallel, (outlined * function, void *data, unsigned threads, unsigned flags),
       TYPES(outlined *, void *, unsigned, unsigned), (member, &c, threads, flags))

REGION(GOMP_parallel_sections,
       (outlined * function, void *data, unsigned threads, unsigned count,
        unsigned flags),
       TYPES(outlined *, void *, unsigned, unsigned, unsigned),
       (member, &c, threads, count, flags))

/* Loops with a chunk size, and those whose schedule is known only at run time. */
#define CHUNKED_LOOP(name)                                                         \
  REGION(name,                                                                     \
         (outlined * function, void *data, unsigned threads, long first, long end, \
          long step, long chunk, unsigned flags),                                  \
         TYPES(outlined *, void *, unsigned, long, long, long, long, unsigned),    \
         (member, &c, threads, first, end, step, chunk, flags))

#define RUNTIME_LOOP(name)                                                         \
  REGION(name,                                                                     \
         (outlined * function, void *data, unsigned threads, long first, long end, \
          long step, unsigned flags),                                              \
         TYPES(outlined *, void *, unsigned, long, long, long, unsigned),          \
         (member, &c, threads, first, end, step, flags))

CHUNKED_LOOP(GOMP_parallel_loop_static)
CHUNKED_LOOP(GOMP_parallel_loop_dynamic)
CHUNKED_LOOP(GOMP_parallel_loop_guided)
CHUNKED_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
RUNTIME_LOOP(GOMP_parallel_loop_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* The runtime reads the data of these two, so that the opener alone is recorded. */
ENTRY unsigned GOMP_parallel_reductions(outlined *function, void *data, unsigned threads,
                                        unsigned flags);
ENTRY unsigned GOMP_parallel_reductions(outlined *function, void *data, unsigned threads,
                                        unsigned flags) {
  call c = begin(function, data, &threads);
  REAL(unsigned, c.region.runtime, GOMP_parallel_reductions, ADDRESS_OF(function),
       outlined *, void *, unsigned, unsigned);
  unsigned size = real(function, data, threads, flags);
  icp_close(&c.region);
  return size;
}

ENTRY void GOMP_teams_reg(outlined *function, void *data, unsigned teams, unsigned limit,
                          unsigned flags);
ENTRY void GOMP_teams_reg(outlined *function, void *data, unsigned teams, unsigned limit,
                          unsigned flags) {
  unsigned threads = 0;
  call c = begin(function, data, &threads);
  REAL(void, c.region.runtime, GOMP_teams_reg, ADDRESS_OF(function), outlined *, void *,
       unsigned, unsigned, unsigned);
  real(function, data, teams, limit, flags);
  icp_close(&c.region);
}

/* Before GCC 4.9 the opener called the region's function itself, between two calls; the
 * library does, too. So the opener enters the region at the end of the one and leaves it at
 * the beginning of the other. Regions that are open in a thread are on a stack; beyond 64
 * they are counted only. */
enum { OPEN_MOST = 64 };
typedef struct {
  call call;
  icp_state before;
  icp_usage began;
} open_region;
typedef struct {
  _Alignas(64) open_region region[OPEN_MOST];
  unsigned count;
} open_regions;

/* Its call stays until the region ends; NULL: the stack is full. */
static open_region *start(outlined *function, void *data, unsigned *threads,
                          uint16_t *runtime) {
  call c = begin(function, data, threads);
  open_regions *open = icp_own_part(ICP_OWN_OPEN, sizeof *open);
  *runtime = c.region.runtime;
  if (!open || open->count++ >= OPEN_MOST) return NULL;
  open_region *region = &open->region[open->count - 1];
  region->call = c;
  return region;
}

static outlined *member_of(const open_region *region, outlined *function) {
  return region && region->call.region.recorded ? run_member : function;
}

/* The opener's code begins, which the caller of the entry point calls: what has left the
 * region is above the entry point's frame. */
static void enter(open_region *region, const void *frame) {
  if (!region || !region->call.region.recorded) return;
  const icp_region *r = &region->call.region;
  region->began.cpu = 0;
  region->before = icp_enter(r, 0, icp_runtimes[r->runtime].team_size(), &region->began);
  if (region->before.depth == 0) icp_me.frame = frame;
}

#define START(name, parameters, types, arguments)                    \
  ENTRY void name parameters;                                        \
  ENTRY void name parameters {                                       \
    uint16_t runtime;                                                \
    open_region *region = start(function, data, &threads, &runtime); \
    outlined *member = member_of(region, function);                  \
    void *argument = member == function ? data : &region->call;      \
    REAL(void, runtime, name, ADDRESS_OF(function), types);          \
    real arguments;                                                  \
    enter(region, __builtin_frame_address(0));                       \
  }

START(GOMP_parallel_start, (outlined * function, void *data, unsigned threads),
      TYPES(outlined *, void *, unsigned), (member, argument, threads))

#define CHUNKED_START(name)                                                       \
  START(name,                                                                     \
        (outlined * function, void *data, unsigned threads, long first, long end, \
         long step, long chunk),                                                  \
        TYPES(outlined *, void *, unsigned, long, long, long, long),              \
        (member, argument, threads, first, end, step, chunk))

CHUNKED_START(GOMP_parallel_loop_static_start)
CHUNKED_START(GOMP_parallel_loop_dynamic_start)
CHUNKED_START(GOMP_parallel_loop_guided_start)

START(GOMP_parallel_loop_runtime_start,
      (outlined * function, void *data, unsigned threads, long first, long end,
       long step),
      TYPES(outlined *, void *, unsigned, long, long, long),
      (member, argument, threads, first, end, step))

START(GOMP_parallel_sections_start,
      (outlined * function, void *data, unsigned threads, unsigned count),
      TYPES(outlined *, void *, unsigned, unsigned), (member, argument, threads, count))

ENTRY void GOMP_parallel_end(void);
ENTRY void GOMP_parallel_end(void) {
  const void *site = __builtin_return_address(0);
  open_regions *open = icp_own_part(ICP_OWN_OPEN, sizeof *open);
  unsigned count = open ? open->count : 0;
  open_region *region = count && count <= OPEN_MOST ? &open->region[count - 1] : NULL;
  const icp_region *r = region ? &region->call.region : NULL;
  REAL(void, r ? r->runtime : icp_runtime_of_call(site, ICP_GNU), GOMP_parallel_end, site,
       void);
  if (r && r->recorded) {
    icp_work_done(r, 0, &region->began);
    icp_leave(region->before);
  }
  real();
  if (count) open->count--;
  if (r) icp_close(r);
}

/* An explicit task. Tasks nest as deep as the stack allows, because the runtime executes
 * one at once if many wait: the call of the original is the last one, a jump, and takes
 * no stack. Older compilers pass fewer arguments; then the last ones have no meaning. */
ENTRY void GOMP_task(outlined *function, void *data, void (*copy)(void *, void *),
                     long bytes, long alignment, bool is_deferred, unsigned flags,
                     void **depend, int priority, void *detach);
ENTRY void GOMP_task(outlined *function, void *data, void (*copy)(void *, void *),
                     long bytes, long alignment, bool is_deferred, unsigned flags,
                     void **depend, int priority, void *detach) {
  const void *address = ADDRESS_OF(function);
  REAL(void, icp_task(address, ICP_GNU), GOMP_task, address, outlined *, void *,
       void (*)(void *, void *), long, long, bool, unsigned, void **, int, void *);
  real(function, data, copy, bytes, alignment, is_deferred, flags, depend, priority,
       detach);
}

/* Worksharing. A loop of a static schedule leaves only its closing barrier, and so does
 * a single block. Critical and ordered sections are no events: how often a thread
 * comes to them is up to the data. */
#define WORKSHARING(name, construct)                                  \
  ENTRY void name(void);                                              \
  ENTRY void name(void) {                                             \
    const void *site = __builtin_return_address(0);                   \
    REAL(void, icp_runtime_of_call(site, ICP_GNU), name, site, void); \
    icp_share(site, construct);                                       \
    real();                                                           \
    icp_shared();                                                     \
  }

WORKSHARING(GOMP_barrier, ICP_BARRIER)
WORKSHARING(GOMP_loop_end, ICP_LOOP_END)
WORKSHARING(GOMP_loop_end_nowait, ICP_LOOP_END_NOWAIT)
WORKSHARING(GOMP_sections_end, ICP_SECTIONS_END)
WORKSHARING(GOMP_sections_end_nowait, ICP_SECTIONS_END_NOWAIT)

/* Those that answer whether the region was cancelled. */
#define ANSWERING(name, construct)                                    \
  ENTRY bool name(void);                                              \
  ENTRY bool name(void) {                                             \
    const void *site = __builtin_return_address(0);                   \
    REAL(bool, icp_runtime_of_call(site, ICP_GNU), name, site, void); \
    icp_share(site, construct);                                       \
    bool answer = real();                                             \
    icp_shared();                                                     \
    return answer;                                                    \
  }

ANSWERING(GOMP_barrier_cancel, ICP_BARRIER)
ANSWERING(GOMP_loop_end_cancel, ICP_LOOP_END)
ANSWERING(GOMP_sections_end_cancel, ICP_SECTIONS_END)

/* The next chunk of a loop, if there is one. Threads take the chunks of a static schedule
 * without the runtime. */
#define NEXT(name, word)                                                        \
  ENTRY bool name(word *first, word *end);                                      \
  ENTRY bool name(word *first, word *end) {                                     \
    const void *site = __builtin_return_address(0);                             \
    REAL(bool, icp_runtime_of_call(site, ICP_GNU), name, site, word *, word *); \
    bool is_taken = real(first, end);                                           \
    if (is_taken) icp_chunk();                                                  \
    return is_taken;                                                            \
  }

NEXT(GOMP_loop_dynamic_next, long)
NEXT(GOMP_loop_guided_next, long)
NEXT(GOMP_loop_runtime_next, long)
NEXT(GOMP_loop_nonmonotonic_dynamic_next, long)
NEXT(GOMP_loop_nonmonotonic_guided_next, long)
NEXT(GOMP_loop_nonmonotonic_runtime_next, long)
NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next, long)
NEXT(GOMP_loop_ull_dynamic_next, unsigned long long)
NEXT(GOMP_loop_ull_guided_next, unsigned long long)
NEXT(GOMP_loop_ull_runtime_next, unsigned long long)
NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next, unsigned long long)
NEXT(GOMP_loop_ull_nonmonotonic_guided_next, unsigned long long)
NEXT(GOMP_loop_ull_nonmonotonic_runtime_next, unsigned long long)
NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next, unsigned long long)
