/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread has used since it began: processor time, and the metrics of --metrics. */
#ifndef TSN_INTERCEPT_USAGE_H
#define TSN_INTERCEPT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/cpu_clock.h"
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

#endif
