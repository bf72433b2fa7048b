/* SPDX-License-Identifier: BSD-3-Clause */
/* The interception library: its front ends (gomp.c, kmp.c, ompt.c) report the program's
 * parallel regions to the recorder (record.c).
 *
 *   program ──GOMP_parallel──▶ gomp.c ──icp_open──▶ BEGIN, an iteration?
 *                                │
 *                                ▼ the runtime's own GOMP_parallel
 *                      each thread of the team:
 *                                icp_enter       BEGIN (members), a beat
 *                                the region's code; at its barriers icp_share, icp_shared
 *                                                SHARE; with CPU times of each thread
 *                                icp_work_done   CPU, END (members)
 *                                icp_leave
 *                                │
 *                                ▼
 *                              icp_close         END of the opener
 *
 * A region costs a program little more than two readings of the clock. Therefore the
 * work for each region is inline; data that all threads read is on other cache lines
 * than data that one of them writes; and a value is read in the size in which it was
 * written, because a load that is wider than the store before it waits until the store
 * has reached the cache.
 *
 * The program must not notice: errno is kept, nothing is allocated from its heap, and a
 * failure turns the recording off instead of the program.
 *
 * Threads and regions are followed by state in thread-local storage, of the initial-exec
 * model, so that no access calls the loader. icp_enter() returns the state before, and
 * the front end keeps it where the region's own data are, so that nesting needs no stack
 * here. */
#ifndef TSN_INTERCEPT_INTERCEPT_H
#define TSN_INTERCEPT_INTERCEPT_H

#include "events.h"
#include "runtime.h"

/* A region as its opener began it. The team reads it and never writes. */
typedef struct {
  uint32_t iteration; /* of the program */
  uint16_t place;
  uint16_t depth;   /* of the opener; beyond 65535 the same */
  uint16_t weight;  /* visits that it stands for; 0: it is not measured */
  uint16_t runtime; /* its number */
  uint8_t opener;   /* number of the thread that opened the outermost region */
  uint8_t watched;  /* opened by the watched thread outside of any region */
  uint8_t recorded; /* ICP_NOTHING, ... */
} icp_region;

/* What is recorded of a visit: the events, and with processor times. */
enum { ICP_NOTHING = 0, ICP_EVENTS, ICP_MEASURED };

/* For CPU times of the parts of regions. */
icp_usage icp_begin_parts(void);

/* The program has left regions by longjmp(), if a region is opened at a frame above that
 * of the outermost one. Ends them. */
void icp_end_left_regions(const char *here);

uint64_t icp_record_work(const icp_usage *began); /* returns the processor time now */

/* A thread comes to the end of a worksharing construct, and has passed it. Iterations
 * are counted before the barrier and beats come after it, so that the time between two
 * beats contains the waiting. */
enum {
  ICP_BARRIER = 0,
  ICP_LOOP_END,
  ICP_LOOP_END_NOWAIT,
  ICP_SECTIONS_END,
  ICP_SECTIONS_END_NOWAIT
};
void icp_share(const void *return_address, int construct);
void icp_shared(void);

/* The same at a function of the program, of which the run begins with the runtime. */
static inline bool icp_recording_at(const void *function, int family) {
  return icp_is_recorded() ||
         (icp_may_record() && icp_start(icp_runtime_at(function, family)));
}

/* The runtime of a call without a function that returns to `site`. */
static inline uint16_t icp_runtime_of_call(const void *site, int family) {
  const icp_caller *caller = &icp_callers[icp_me.caller];
  uint16_t runtime = ICP_OF_REGION;
  if (ICP_LIKELY(icp_is_in(&caller->code, site))) {
    runtime = atomic_load_explicit(&caller->runtime[family], memory_order_acquire);
    if (ICP_LIKELY(runtime - 1u < ICP_RUNTIMES - 1u)) return runtime;
  }
  if (!icp_is_own(site)) runtime = icp_runtime_of_site(site, family, &icp_me.caller);
  return runtime == ICP_OF_REGION ? icp_me.state.runtime : runtime;
}

/* The runtime of a function's place. Returns whether it may be recorded. */
static inline bool icp_use_runtime(uint32_t place, const void *function, int family,
                                   uint16_t *runtime) {
  bool recorded = true;
  *runtime = atomic_load_explicit(&icp_place_runtime[place], memory_order_acquire);
  if (ICP_LIKELY(*runtime != 0)) return true;
  *runtime = icp_runtime_of_place(place, function, family, &recorded);
  return recorded;
}

/* The watched thread opens an outermost region; false: it is watched no more. */
static inline bool icp_watch_begins(void) {
  uint32_t visits = atomic_load_explicit(&icp_watched.visits, memory_order_relaxed) + 2;
  atomic_store_explicit(&icp_watched.visits, visits | 1, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
  if (ICP_LIKELY(atomic_load_explicit(&icp_watched.owner, memory_order_relaxed) ==
                 &icp_me)) {
    return true;
  }
  atomic_store_explicit(&icp_watched.visits, visits & ~1u, memory_order_relaxed);
  icp_me.watched = false;
  return false;
}

/* Another thread opens one; true: it is watched from now on. */
bool icp_watch_moves(void);

/* The calling thread, which is at a region of that runtime, is watched first. */
void icp_watch_start(uint16_t runtime);

/* Let the sampler know the calling thread by its number in the team of an opener but the first. */
void icp_sample_me(void);

/* ---- waiting for the team, as the sampler is shown it */

static inline void icp_show_waiting(icp_waiting *w, uint32_t state) {
  atomic_store_explicit(&w->shown->state, state, memory_order_relaxed);
}

static inline void icp_show_spun(icp_waiting *w) {
  uint64_t spun = w->base + w->inside + w->outside;
  if (spun > atomic_load_explicit(&w->shown->spun, memory_order_relaxed)) {
    atomic_store_explicit(&w->shown->spun, spun, memory_order_relaxed);
  }
}

/* Whether the thread may write what it shows: the child of a fork may not. */
static inline bool icp_is_shown(const icp_waiting *w) {
  return w->shown &&
         atomic_load_explicit(&icp_set.phase, memory_order_relaxed) == ICP_RECORDING;
}

/* `weight`: 0: the visit is not measured, and `cpu` not known. */
static inline void icp_work_begins(uint32_t number, uint32_t weight, uint64_t cpu) {
  icp_waiting *w = &icp_me.own->waiting;
  w->weight = weight;
  if (!ICP_LIKELY(w->number == number + 1)) {
    *w = (icp_waiting){.shown = tsn_record_team(icp_set.record, number),
                       .number = number + 1,
                       .first = cpu,
                       .since = cpu,
                       .weight = weight};
    if (w->shown) w->base = atomic_load(&w->shown->spun);
  }
  if (!icp_is_shown(w)) return;
  icp_show_waiting(w, TSN_TEAM_WORKS);
  if (weight && !w->first) w->first = cpu;
  if (weight && !number) w->inside += weight * (cpu - w->since);
  if (weight && number && cpu - w->first > w->worked) {
    w->outside = cpu - w->first - w->worked;
    icp_show_spun(w);
  }
}

static inline void icp_work_ends(bool is_opener, uint64_t used, uint64_t cpu) {
  icp_waiting *w = &icp_me.own->waiting;
  if (!icp_is_shown(w)) return;
  if (w->weight && !is_opener) w->worked += w->weight * used;
  w->since = cpu;
  icp_show_waiting(w, TSN_TEAM_WAITS);
}

/* A thread comes to a barrier inside of its visit, or the opener to its team, of which not
 * all may have come back from the region before. */
static inline void icp_waits(void) {
  icp_waiting *w = &icp_me.own->waiting;
  if (!icp_is_shown(w)) return;
  if (w->weight) w->since = icp_cpu_now();
  icp_show_waiting(w, TSN_TEAM_WAITS);
}

/* It has passed the barrier, or the opener has joined its team. */
static inline void icp_waited(void) {
  icp_waiting *w = &icp_me.own->waiting;
  if (!icp_is_shown(w)) return;
  icp_show_waiting(w, TSN_TEAM_WORKS);
  if (!w->weight) return;
  w->inside += w->weight * (icp_cpu_now() - w->since);
  icp_show_spun(w);
}

/* The opener, before and after the runtime's work. *threads is what was asked for, 0:
 * nothing; the recorder may change it to measure a baseline. `is_call`: the address is
 * one to return to, else that of a function. The region has a runtime even if it is not
 * recorded. Iterations are found in the outermost regions of one thread only: those of
 * others would interleave by chance. */
static inline icp_region icp_open(const void *address, bool is_call, int family,
                                  unsigned *threads) {
  icp_region region = {.recorded = 0};
  if (!icp_recording_at(address, family)) {
    region.runtime = icp_runtime_at(address, family);
    return region;
  }
  if (!ICP_LIKELY(icp_me.state.depth == 0))
    icp_end_left_regions(__builtin_frame_address(0));
  region.depth =
      icp_me.state.depth < UINT16_MAX ? (uint16_t)icp_me.state.depth : UINT16_MAX;
  if (!ICP_LIKELY(icp_me.watched) && !region.depth && !icp_me.own->opener)
    icp_own_opener();
  region.opener = (uint8_t)(icp_me.state.number >> TSN_REGIONS_OPENER_SHIFT);
  region.place = (uint16_t)icp_place((uintptr_t)address, TSN_REGIONS_BEGIN, is_call);
  if (!icp_use_runtime(region.place, address, family, &region.runtime)) return region;
  icp_record(TSN_REGIONS_BEGIN, region.place, 0);
  region.recorded = icp_is_measured(region.place) ? ICP_MEASURED : ICP_EVENTS;
  if (region.recorded == ICP_MEASURED && region.depth < ICP_DEPTH_MOST) {
    icp_me.own->opened[region.depth] = icp_ticks();
    region.weight = icp_weight_of(region.place);
  }
  if (region.depth == 0 &&
      (ICP_LIKELY(icp_me.watched) ? icp_watch_begins() : icp_watch_moves())) {
    region.watched = 1;
    icp_me.own->waiting.weight = region.weight;
    icp_waits();
    icp_watched.region = (uintptr_t)address;
    icp_watched.place = region.place;
    if (!ICP_LIKELY(!icp_watched.special)) {
      icp_open_specially(region.place, threads);
    } else if (icp_iterations_push(&icp_watched.of_regions, region.place)) {
      icp_begin_iteration(&icp_watched.of_regions);
    }
    region.iteration = icp_iteration();
  }
  return region;
}

/* `left_team` is from the opener's own icp_leave(): it is a member of its team. */
static inline void icp_close(const icp_region *region) {
  if (!region->recorded) return;
  if (region->watched) {
    icp_waited();
    icp_me.own->waiting.weight = 0;
    atomic_store_explicit(
        &icp_watched.visits,
        atomic_load_explicit(&icp_watched.visits, memory_order_relaxed) & ~1u,
        memory_order_release);
  }
  if (region->recorded == ICP_MEASURED && region->depth < ICP_DEPTH_MOST) {
    icp_visit_ended(region->place, icp_ticks() - icp_me.own->opened[region->depth]);
  }
  icp_record(TSN_REGIONS_END, region->place, icp_me.left_team);
}

/* Each thread of the team: before the region's code; when the code is done and the
 * thread waits for the others; and when it leaves the team, with the state that
 * icp_enter() returned. `began` is of the region. */
static inline icp_state icp_enter(const icp_region *region, int32_t number, int32_t size,
                                  icp_usage *began) {
  icp_state before = icp_me.state;
  if (!ICP_LIKELY(icp_me.own != NULL)) icp_own_make();
  if (ICP_LIKELY(before.depth == 0)) {
    icp_me.frame = __builtin_frame_address(0);
    icp_me.own->outside = before;
  }
  bool keeps_number = region->depth != 0 && number == 0;
  icp_me.state = (icp_state){
      .number = keeps_number ? before.number
                             : (uint32_t)region->opener << TSN_REGIONS_OPENER_SHIFT |
                                   (uint32_t)number,
      .team = (uint32_t)size,
      .depth = region->depth + 1,
      .role = !region->watched ? ICP_OTHER
              : number == 0    ? ICP_LEADER
                               : ICP_MEMBER,
      .runtime = region->runtime,
  };
  if (!ICP_LIKELY(!region->opener)) icp_sample_me();
  /* The opener has begun the region already, and ends it when it is closed. */
  if (number != 0) icp_record(TSN_REGIONS_BEGIN, region->place, 0);
  if (region->watched) {
    icp_me.chunks = 0;
    icp_beat(region->iteration);
  }
  if (region->recorded == ICP_MEASURED) {
    if (ICP_LIKELY(!icp_set.want_cpu)) {
      began->cpu = icp_cpu_now();
    } else {
      *began = icp_begin_parts();
    }
  }
  if (region->watched) icp_work_begins(icp_me.state.number, region->weight, began->cpu);
  return before;
}

/* Only the thread of that number writes. */
static inline void icp_add_work(const icp_region *region, uint64_t used) {
  _Atomic uint64_t *sum = &icp_openers[region->opener].cpu;
  used = atomic_load_explicit(sum, memory_order_relaxed) + region->weight * used;
  atomic_store_explicit(sum, used, memory_order_relaxed);
}

/* The END of the opener comes when its team has ended, so that its own work has an event
 * of its own; where CPU times are measured their event shows it. */
static inline void icp_work_done(const icp_region *region, int32_t number,
                                 const icp_usage *began) {
  uint32_t kind = number ? TSN_REGIONS_END : TSN_REGIONS_WORK;
  uint64_t now = 0;
  if (region->recorded == ICP_MEASURED) {
    if (ICP_LIKELY(!icp_set.want_cpu)) {
      now = icp_cpu_now();
      icp_record_cpu(now - began->cpu);
    } else {
      now = icp_record_work(began);
    }
    if (number == 0 && region->depth == 0) icp_add_work(region, now - began->cpu);
  }
  if (region->watched) icp_work_ends(number == 0, now - began->cpu, now);
  if (region->recorded == ICP_MEASURED && number == 0) return;
  if (number != 0 || icp_me.state.team > 1) {
    icp_record(kind, region->place, icp_me.state.team);
  }
}

static inline void icp_leave(icp_state before) {
  icp_me.left_team = icp_me.state.team;
  icp_me.state = before;
}

/* ---- explicit tasks and chunks of loops */

/* The calling thread creates a task of this function. Returns the number of its runtime.
 */
uint16_t icp_task(const void *function, int family);

/* The calling thread takes a chunk of a loop that the runtime distributes. */
void icp_chunk(void);

#endif
