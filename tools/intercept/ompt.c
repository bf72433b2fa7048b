/* SPDX-License-Identifier: BSD-3-Clause */
/* LLVM's runtime, through OMPT: the OpenMP tools interface, OpenMP 5.1, chapter 4. The
 * runtime looks for ompt_start_tool() in the program and finds this one. For programs in
 * which nothing can stand in front of the runtime's entry points (kmp.c), because the
 * runtime is linked into them.
 *
 *   callback                     calls
 *   parallel_begin, _end         icp_open, icp_close        in the opener
 *   implicit_task begin, end     icp_enter, icp_leave       in each thread of the team
 *   sync_region begin            icp_work_done at the join, icp_share at other barriers
 *   sync_region end              icp_shared
 *
 * The runtime passes 8 bytes of a region from its opener to its team, so the region is
 * packed into them. They also come to a thread at the beginning only, hence the stack of
 * members. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "intercept.h"

/* What is used here of the OpenMP tools interface (OpenMP 5.1, sections 4.2 to 4.5).
 * Declared anew, because GCC has no <omp-tools.h>. The standard fixes all numbers and
 * layouts, so they hold for every runtime. */

/* What the runtime keeps for the tool with each region and task: the tool's to use. */
typedef union {
  uint64_t value;
  void *pointer;
} ompt_data;

typedef void (*ompt_any_callback)(void);
typedef ompt_any_callback ompt_lookup(const char *name);
typedef int ompt_set_callback(int event, ompt_any_callback callback);

typedef struct {
  int (*initialize)(ompt_lookup *lookup, int device, ompt_data *tool);
  void (*finalize)(ompt_data *tool);
  ompt_data tool;
} ompt_start_result;

enum { /* ompt_callbacks_t */
       OMPT_CALLBACK_PARALLEL_BEGIN = 3,
       OMPT_CALLBACK_PARALLEL_END = 4,
       OMPT_CALLBACK_IMPLICIT_TASK = 7,
       OMPT_CALLBACK_SYNC_REGION = 23
};

enum { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 }; /* ompt_scope_endpoint_t */
enum { OMPT_TASK_INITIAL = 1 };                    /* ompt_task_flag_t */

enum { /* ompt_sync_region_t */
       OMPT_SYNC_BARRIER_IMPLICIT = 2,
       OMPT_SYNC_BARRIER_EXPLICIT = 3,
       OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE = 8,
       OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL = 9
};

/* A region fits what the runtime keeps of it for a tool. From bit 0: iteration 32, place
 * 13, measured 1, depth 10, opener 6, watched 1, recorded 1. */
enum { DEEP = (1 << 10) - 1 };
static uint64_t pack(icp_region region) {
  return region.iteration | (uint64_t)region.place << 32 |
         (uint64_t)(region.recorded == ICP_MEASURED) << 45 |
         (uint64_t)(region.depth < DEEP ? region.depth : DEEP) << 46 |
         (uint64_t)region.opener << 56 | (uint64_t)region.watched << 62 |
         (uint64_t)(region.recorded != ICP_NOTHING) << 63;
}

static icp_region unpack(const ompt_data *data) {
  uint64_t value = data->value;
  uint32_t place = (uint32_t)(value >> 32) & 0x1fff;
  bool is_measured = value >> 63 && value >> 45 & 1;
  return (icp_region){.iteration = (uint32_t)value,
                      .place = (uint16_t)place,
                      .weight = is_measured ? icp_weight_of(place) : 0,
                      .depth = value >> 46 & DEEP,
                      .opener = value >> 56 & (TSN_REGIONS_OPENERS - 1),
                      .watched = (value >> 62 & 1) != 0,
                      .recorded = !(value >> 63) ? ICP_NOTHING
                                  : is_measured  ? ICP_MEASURED
                                                 : ICP_EVENTS,
                      .runtime = icp_place_runtime[place]};
}

/* The region that this thread works in, which the runtime passes at the beginning
 * only; and the state of the thread before. */
typedef struct {
  icp_region region;
  icp_state before;
  icp_usage began;
  int32_t number;
  bool working;
  const void *opened_at; /* of the opener; NULL: a worker */
} member;

/* Nested regions that are recorded. Deeper ones are counted, so that each end meets its
 * begin. */
enum { DEPTH_MOST = 16 };
typedef struct {
  unsigned depth;
  const void *opening; /* the region to be opened */
  member member[DEPTH_MOST];
} members;

/* NULL: there is no memory for the thread. */
static members *own_members(void) {
  return icp_own_part(ICP_OWN_OPEN, sizeof(members));
}

/* The requested threads cannot be changed here, so *threads is not used. */
static void parallel_begin(ompt_data *task, const void *frame, ompt_data *parallel,
                           unsigned requested, int flags, const void *return_address) {
  (void)task;
  (void)frame;
  (void)flags;
  unsigned threads = requested;
  members *own = own_members();
  if (own) own->opening = return_address;
  parallel->value = pack(icp_open(return_address, true, ICP_LLVM, &threads));
}

static void parallel_end(ompt_data *parallel, ompt_data *task, int flags,
                         const void *return_address) {
  (void)task;
  (void)flags;
  (void)return_address;
  icp_region region = unpack(parallel);
  icp_close(&region);
}

/* Once in each region: the join may be reported, or else the end of the task shows it. */
static void work_done(member *m) {
  if (m->working) icp_work_done(&m->region, m->number, &m->began);
  m->working = false;
}

/* The task of a thread in a team. Without `parallel` at its end, hence the own stack. */
static void implicit_task(int endpoint, ompt_data *parallel, ompt_data *task,
                          unsigned size, unsigned number, int flags) {
  (void)task;
  members *own = own_members();
  if (flags & OMPT_TASK_INITIAL || !own) return;
  if (endpoint == OMPT_SCOPE_BEGIN) {
    unsigned level = own->depth++;
    if (level >= DEPTH_MOST || !parallel) return;
    member *m = &own->member[level];
    m->region = unpack(parallel);
    m->number = (int32_t)number;
    m->opened_at = number == 0 ? own->opening : NULL;
    m->working = m->region.recorded;
    if (!m->region.recorded) return;
    m->before = icp_enter(&m->region, (int32_t)number, (int32_t)size, &m->began);
  } else if (own->depth) {
    unsigned level = --own->depth;
    member *m = &own->member[level];
    if (level >= DEPTH_MOST || !m->region.recorded) return;
    work_done(m);
    icp_leave(m->before);
  }
}

/* Whether a barrier is the end of the region. LLVM up to 15 gives it no kind of its
 * own, but workers come to it from nowhere and the opener from where it opened the
 * region. */
static bool is_join(int kind, const void *return_address, const member *m) {
  if (kind == OMPT_SYNC_BARRIER_IMPLICIT) return return_address == m->opened_at;
  return kind == OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL;
}

static void sync_region(int kind, int endpoint, ompt_data *parallel, ompt_data *task,
                        const void *return_address) {
  (void)parallel;
  (void)task;
  members *own = own_members();
  if (!own || own->depth == 0 || own->depth > DEPTH_MOST) return;
  member *m = &own->member[own->depth - 1];
  if (!m->region.recorded) return;
  bool shares = kind == OMPT_SYNC_BARRIER_IMPLICIT ||
                kind == OMPT_SYNC_BARRIER_EXPLICIT ||
                kind == OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE;
  if (is_join(kind, return_address, m)) {
    if (endpoint == OMPT_SCOPE_BEGIN) work_done(m);
  } else if (shares && endpoint == OMPT_SCOPE_BEGIN) {
    icp_share(return_address, ICP_BARRIER);
  } else if (shares) {
    icp_shared();
  }
}

/* The interface has one type for all callbacks. */
#define REGISTER(number, callback)        \
  do {                                    \
    ompt_any_callback any;                \
    void (*pointer)(void);                \
    pointer = (void (*)(void))(callback); \
    memcpy(&any, &pointer, sizeof any);   \
    (void)set_callback(number, any);      \
  } while (0)

/* Returns 0 if the runtime has no callbacks; then it works as without a tool. */
static int initialize(ompt_lookup *lookup, int device, ompt_data *tool) {
  (void)device;
  (void)tool;
  ompt_any_callback found = lookup("ompt_set_callback");
  if (!found) return 0;
  ompt_set_callback *set_callback = (ompt_set_callback *)found;
  REGISTER(OMPT_CALLBACK_PARALLEL_BEGIN, parallel_begin);
  REGISTER(OMPT_CALLBACK_PARALLEL_END, parallel_end);
  REGISTER(OMPT_CALLBACK_IMPLICIT_TASK, implicit_task);
  REGISTER(OMPT_CALLBACK_SYNC_REGION, sync_region);
  icp_set.by_ompt = true;
  return 1;
}

static void finalize(ompt_data *tool) {
  (void)tool;
}

__attribute__((visibility("default"))) ompt_start_result *ompt_start_tool(
    unsigned version, const char *runtime);
ompt_start_result *ompt_start_tool(unsigned version, const char *runtime) {
  static ompt_start_result result = {.initialize = initialize, .finalize = finalize};
  (void)version;
  (void)runtime;
  return &result;
}
