/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread has used since it began: processor time, and the metrics of --metrics. And which
 * visits of a region, and which computations between calls of MPI, have their processor time
 * measured: all, unless they are so short that this would take more than 0.3 % of their time. */
#ifndef TSN_INTERCEPT_USAGE_H
#define TSN_INTERCEPT_USAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/clock.h"
#include "record/regions.h"
#include "thread.h"

/* Take the list of metrics that was asked for. Returns whether there are any. */
bool icp_usage_start(void);

/* The calling thread's processor time in nanoseconds; and all that it used. */
static inline uint64_t icp_cpu_now(void) {
  return (uint64_t)tsn_cpu_clock_now();
}
icp_usage icp_usage_now(void);

/* An event of processor time, for the event that follows. */
void icp_record_cpu(uint64_t nanoseconds);

/* Events of what it used between two moments, or since one, for the event that follows.
 */
void icp_record_between(const icp_usage *from, const icp_usage *to);
void icp_record_usage(const icp_usage *since);

/* A thread ends, whose counters these are. */
void icp_usage_end(void *counters);

/* The network bytes alone, if they are counted. */
void icp_record_network(const icp_usage *from, const icp_usage *to);

/* The clock of the run: a counter of which a reading takes 10 ns, or CLOCK_MONOTONIC, 23 ns. */
extern int32_t icp_clock;

static inline uint64_t icp_ticks(void) {
  return tsn_clock_ticks(icp_clock);
}

/* Nanoseconds of a tick, by the time since the run began, which is 0.5 ms or more. */
double icp_tick_length(void);

/* Of a place. */
typedef struct {
  _Atomic uint32_t skip; /* visits until the next one that is measured */
  _Atomic uint32_t each; /* visits that one which is measured stands for; 0: itself */
  _Atomic uint32_t mean; /* ticks of a visit, of the latest that were measured */
} icp_visits;

extern icp_visits icp_visits_of[TSN_REGIONS_PLACES_MAX];

/* Ticks: what lasts so long is measured. */
extern uint64_t icp_enough;

/* Find out what a measurement takes. `all`: measure in any case. */
void icp_visits_start(bool all);

/* Something is not measured. */
void icp_note_sampling(void);

/* Whether the visit that begins is measured. The opener asks, for the whole team. */
static inline bool icp_is_measured(uint32_t place) {
  icp_visits *v = &icp_visits_of[place];
  uint32_t skip = atomic_load_explicit(&v->skip, memory_order_relaxed);
  if (skip == 0) return true;
  atomic_store_explicit(&v->skip, skip - 1, memory_order_relaxed);
  return false;
}

static inline uint16_t icp_weight_of(uint32_t place) {
  uint32_t each = atomic_load_explicit(&icp_visits_of[place].each, memory_order_relaxed);
  return each < UINT16_MAX ? (uint16_t)(each + !each) : UINT16_MAX;
}

/* A visit that was measured has ended, and lasted that long. */
void icp_visit_ended(uint32_t place, uint64_t ticks);

#endif
