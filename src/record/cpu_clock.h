/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time of the calling thread, read in user space where the kernel allows it. */
#ifndef TSN_RECORD_CPU_CLOCK_H
#define TSN_RECORD_CPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds since an arbitrary instant; never less than the previous result. */
int64_t tsn_cpu_clock_now(void);

/* Whether this thread reads it in user space. */
bool tsn_cpu_clock_is_in_user_space(void);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t tsn_elapsed_now(void);

#endif
