/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals instead of events: once a process has written the events that it may write, its
 * threads add their further events to rows of the file RUN/regions/profile (struct
 * tsn_regions_row), whose size depends on the number of regions, not on the time. */
#ifndef TSN_INTERCEPT_PROFILE_H
#define TSN_INTERCEPT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether threads add up their events. */
extern _Atomic bool icp_has_totals;

/* The calling thread adds up its events from now on, as the thread of that number.
 * `watched`: its calls of MPI end computations. It is in `count` regions, of these places
 * from the outermost on. Returns false if there is no file, for lack of disk space or
 * memory. */
bool icp_profile_start(uint32_t number, bool watched, const uint16_t *open,
                       uint32_t count);

/* An event of such a thread, and processor time, as TSN_REGIONS_CPU has it. */
void icp_profile_event(uint32_t kind, uint32_t place);
void icp_profile_cpu(uint64_t nanoseconds);

/* The call of that place continues, if it was the latest event of the thread and ended less
 * than `age` ticks ago. */
bool icp_profile_continue(uint32_t place, uint64_t age);

/* A beat of such a thread is counted, and may be kept. `anew`: those before were of a
 * loop inside of the main loop. False: there is no space for beats. */
bool icp_profile_beat(bool anew);

#endif
