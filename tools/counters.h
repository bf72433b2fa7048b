/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters of one thread, read in user space. */
#ifndef TSANOM_TOOLS_COUNTERS_H
#define TSANOM_TOOLS_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct perf_event_mmap_page counter_page;

/* Count an event, a TSN_REGIONS_* metric of the processor, in the calling thread.
 * Returns 0 or an errno; close *page by counter_close(). */
int counter_open(int metric, const counter_page **page);

/* By that thread. False: the kernel has not counted all the time. */
bool counter_read(const counter_page *page, uint64_t *count);

/* The same with the instruction that reads counter i of the processor, for tests. */
bool counter_read_by(const counter_page *page, uint64_t (*read_hardware)(uint32_t i),
                     uint64_t *count);

/* NULL: nothing happens. */
void counter_close(const counter_page *page);

#endif
