/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for code addresses, and the file that lists the addresses. Events have a
 * number of 13 bits for each place in the code; RUN/regions/places.tsv has its meaning.
 * A lookup without a lock takes one hash and one comparison. */
#ifndef TSN_INTERCEPT_PLACES_H
#define TSN_INTERCEPT_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/regions.h"

enum { ICP_SLOTS = 2 * TSN_REGIONS_PLACES_MAX };

typedef struct {
  /* 0 or 1: free. Written after the number, with release: who finds the address may read
   * the number. */
  _Atomic uintptr_t address;
  uint32_t number;
} icp_slot;

extern icp_slot icp_slots[ICP_SLOTS];

/* The place that icp_places_expect() named; ICP_NO_PLACE: it has not been met. */
#define ICP_NO_PLACE UINT32_MAX
extern _Atomic uint32_t icp_expected_place;

/* Before the first place: "MODULE+0xADDRESS", the file name of the module and the address
 * as linked. */
void icp_places_expect(const char *text);

/* Create the file. Returns 0, or an errno. */
int icp_places_start(void);

/* A kind of places that no event has: the function with which a thread starts. */
enum { ICP_PLACE_THREAD = 1 << TSN_REGIONS_KIND_BITS };

/* The number of an address that is not in its first slot. Adds it to the table and to
 * the file if it is new; the last number stands for all places beyond the table. */
uint32_t icp_place_elsewhere(uintptr_t address, int kind, bool is_call);

/* The number of a call of that function of MPI, with the number of its communicator. It
 * has no slot. */
uint32_t icp_place_of_call(uintptr_t address, const char *function,
                           uint32_t communicator);

/* Whether a number is that of a call of MPI. */
bool icp_place_is_call(uint32_t number);

/* Call it after code may have been unloaded: its addresses may be reused. */
void icp_places_forget_unloaded(void);

/* Multiplicative hashing by the golden ratio: bits from 40 up depend on all lower bits
 * of the address. */
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
