/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time of the calling thread, read in user space where the kernel allows it.
 *
 * CPU time excludes what a thread waits: of a region it shows the work, not the wait for
 * others at its end. Asking the kernel takes a system call; see cpu_clock.c for how most
 * of them are avoided. A begin and end of a region by this clock takes 39.6 ns, by two
 * system calls 347 ns (docs/benchmarks.md). */
#ifndef TSN_RECORD_CPU_CLOCK_H
#define TSN_RECORD_CPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds since an arbitrary instant; never less than the previous result in this
 * thread. In the child of a fork it continues from the parent's value. */
int64_t tsn_cpu_clock_now(void);

/* Whether this thread reads it in user space. The first call in a process sleeps three
 * times for 20 us to find out. */
bool tsn_cpu_clock_is_in_user_space(void);

/* A number of the time that this thread has had its processor without a pause until now:
 * between two calls with the same result, CPU time has passed as elapsed time did. 0: the kernel
 * must be asked. */
int64_t tsn_cpu_clock_stretch(void);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t tsn_elapsed_now(void);

#endif
