/* SPDX-License-Identifier: BSD-3-Clause */
/* The moment by CLOCK_MONOTONIC, in nanoseconds. */
#ifndef TSN_INTERCEPT_NOW_H
#define TSN_INTERCEPT_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t icp_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
