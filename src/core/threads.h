/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_CORE_THREADS_H
#define TSN_CORE_THREADS_H

/* How many threads of a region of `wanted` the system allows: `wanted`, or fewer, at least
 * one. */
int tsn_threads_that_start(int wanted);

#endif
