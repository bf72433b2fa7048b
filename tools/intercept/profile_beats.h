/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats in constant space, for threads whose events are added up. */
#ifndef TSN_INTERCEPT_PROFILE_BEATS_H
#define TSN_INTERCEPT_PROFILE_BEATS_H

#include <stdbool.h>
#include <stdint.h>

/* A beat, at that moment of CLOCK_MONOTONIC, of the thread that owns the row `root`.
 * False: there is no space for its beats. */
bool icp_sample_beat(uint32_t root, uint64_t moment);

/* The thread that owns the row begins to count anew, because its beats until now were of
 * a loop inside of the main loop. The beginning is between the last of them and the
 * moment. */
void icp_sample_anew(uint32_t root, uint64_t moment);

#endif
