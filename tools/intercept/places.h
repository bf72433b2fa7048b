/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for code addresses, and the file that tells what they stand for. */
#ifndef TSN_INTERCEPT_PLACES_H
#define TSN_INTERCEPT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* Make the file in that folder. */
int icp_places_start(const char *folder);

/* The number of an address. A lookup without a lock, but for the first of each. */
uint32_t icp_place(uintptr_t address, int kind, bool is_call);

#endif
