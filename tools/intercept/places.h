/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for code addresses, and the file that lists the addresses. */
#ifndef TSN_INTERCEPT_PLACES_H
#define TSN_INTERCEPT_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tsanom/regions.h>

enum { ICP_SLOTS = 2 * TSANOM_REGIONS_PLACES_MAX };

typedef struct {
  _Atomic uintptr_t address; /* 0 or 1: free; written after the number */
  uint32_t number;
} icp_slot;

extern icp_slot icp_slots[ICP_SLOTS];

/* Create the file in that directory. */
int icp_places_start(const char *folder);

/* The number of an address that is not in its first slot. */
uint32_t icp_place_elsewhere(uintptr_t address, int kind, bool is_call);

/* Call it after code may have been unloaded: its addresses may be reused. */
void icp_places_forget_unloaded(void);

static inline uint32_t icp_slot_of(uintptr_t address) {
  return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >> 40) % ICP_SLOTS;
}

/* The number of an address. A lookup without a lock, but for the first of each. */
static inline uint32_t icp_place(uintptr_t address, int kind, bool is_call) {
  const icp_slot *slot = &icp_slots[icp_slot_of(address)];
  if (atomic_load_explicit(&slot->address, memory_order_acquire) == address) {
    return slot->number;
  }
  return icp_place_elsewhere(address, kind, is_call);
}

#endif
