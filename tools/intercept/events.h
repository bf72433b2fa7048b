/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a thread: events of regions and calls, and beats at iterations. They go to the
 * streams of the run until the process has written what it may, and then to totals (profile.c). */
#ifndef TSN_INTERCEPT_EVENTS_H
#define TSN_INTERCEPT_EVENTS_H

#include "places.h"
#include "thread.h"
#include "usage.h"

/* Take the limits that were asked for. */
void icp_quota_start(void);
/* Take the space of what `threads` streams need besides from that of the events. */
void icp_quota_share(int threads);
/* Most samples of the vital signs; 0: any number. */
int32_t icp_quota_vitals(void);

/* End the run; false: it has ended already. */
bool icp_end_recording(void);

/* State of the beats, whatever was written, that they are those of processor time ("time-beats"), or to
 * be taken from the events ("recount"): an empty file in the run. */
void icp_mark_run(const char *name);

/* The program ends: correct the iterations that its events as a whole do not show. */
void icp_watch_last(void);

/* An event of a thread for which the events are over. Returns whether it is dealt with:
 * added up, or left out. */
bool icp_record_total(uint32_t kind, uint32_t place);

/* Its processor time, as TSN_REGIONS_CPU has it, once the thread adds up. */
void icp_profile_cpu(uint64_t nanoseconds);

/* The call of that place continues, if it was the latest event of a thread that adds up and ended
 * less than `age` ticks ago. */
bool icp_profile_continue(uint32_t place, uint64_t age);

/* Whether threads add up their events. */
extern _Atomic bool icp_has_totals;

/* A beat of such a thread; `anew`: those before do not count. */
bool icp_beat_total(bool anew);

/* The tag of an event. A team of more than 65535 threads is shown as 65535. */
static inline uint32_t icp_event(uint32_t kind, uint32_t place, uint32_t threads) {
  uint32_t shown = threads > UINT16_MAX ? UINT16_MAX : threads;
  return kind | place << TSN_REGIONS_KIND_BITS | shown << 16;
}

static inline void icp_note_begin(uint32_t place) {
  if (ICP_LIKELY(icp_me.open < ICP_DEPTH_MOST)) {
    icp_me.own->place[icp_me.open] = (uint16_t)place;
  }
  icp_me.open++;
}

/* An event of this thread. */
static inline void icp_record(uint32_t kind, uint32_t place, uint32_t threads) {
  if (!ICP_LIKELY(!icp_me.is_over) && icp_record_total(kind, place)) return;
  if (kind == TSN_REGIONS_BEGIN) icp_note_begin(place);
  if (kind == TSN_REGIONS_END) icp_me.open--;
  if (!icp_may_write()) return;
  (void)tsanom_record_region(icp_set.record, (int32_t)icp_me.state.number,
                             icp_event(kind, place, threads));
}

static inline uint32_t icp_iteration(void) {
  return atomic_load_explicit(&icp_watched.iteration, memory_order_relaxed);
}

/* Only the watched thread writes it. */
static inline void icp_next_iteration(void) {
  atomic_store_explicit(&icp_watched.iteration, icp_iteration() + 1,
                        memory_order_relaxed);
}

/* The loop that is followed from now on contains the one before, whose iterations were
 * not those of the main loop: number iterations anew, by which readers know that earlier
 * beats do not count, and measure the baseline again. */
void icp_restart(icp_iterations *iterations);

/* In front of a thread's beat at the first iteration that was counted: beats of those
 * before it. */
void icp_write_early(uint32_t iteration);

/* What icp_settings and icp_watch say is rare: regions are counted, or a baseline is measured. */
void icp_open_specially(uint32_t place, unsigned *threads);

/* An iteration of the loop that `iterations` follows. */
static inline void icp_begin_iteration(icp_iterations *iterations) {
  if (!ICP_LIKELY(!iterations->restarts)) icp_restart(iterations);
  icp_next_iteration();
}

/* A tag that is not greater than the one before begins anew: the beats until now were of
 * a loop inside of the main loop (icp_restart()), or of no loop. */
static inline void icp_write_beat(uint32_t tag) {
  bool anew = tag <= icp_me.tag;
  icp_me.tag = tag;
  if (!ICP_LIKELY(!icp_me.is_over) && icp_beat_total(anew)) return;
  if (!icp_may_write()) return;
  (void)tsanom_record_beat(icp_set.record, (int32_t)icp_me.state.number, tag);
}

/* One beat an iteration for each thread, however many regions the iteration has. */
static inline void icp_beat(uint32_t iteration) {
  if (ICP_LIKELY(iteration == icp_me.beaten)) return;
  icp_me.beaten = iteration;
  if (!ICP_LIKELY(iteration > 2)) icp_write_early(iteration); /* icp_restart() */
  icp_write_beat(iteration);
}

#endif
