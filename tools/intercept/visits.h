/* SPDX-License-Identifier: BSD-3-Clause */
/* Which visits of a region, and which computations between calls of MPI, have their
 * processor time measured: all, unless they are so short that this would take more than
 * 0.3 % of their time. See visits.c. */
#ifndef TSN_INTERCEPT_VISITS_H
#define TSN_INTERCEPT_VISITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/regions.h"

/* Of a place. */
typedef struct {
  _Atomic uint32_t skip; /* visits until the next one that is measured */
  _Atomic uint32_t each; /* visits that one which is measured stands for; 0: itself */
  _Atomic uint32_t mean; /* ticks of a visit, of the latest that were measured */
} icp_visits;

extern icp_visits icp_visits_of[TSN_REGIONS_PLACES_MAX];

/* Ticks: what lasts so long is measured. */
extern uint64_t icp_enough;

/* Find out what a measurement takes. `all`: measure in any case. */
void icp_visits_start(bool all);

/* Something is not measured. */
void icp_note_sampling(void);

/* Whether the visit that begins is measured. The opener asks, for the whole team. */
static inline bool icp_is_measured(uint32_t place) {
  icp_visits *v = &icp_visits_of[place];
  uint32_t skip = atomic_load_explicit(&v->skip, memory_order_relaxed);
  if (skip == 0) return true;
  atomic_store_explicit(&v->skip, skip - 1, memory_order_relaxed);
  return false;
}

static inline uint16_t icp_weight_of(uint32_t place) {
  uint32_t each = atomic_load_explicit(&icp_visits_of[place].each, memory_order_relaxed);
  return each < UINT16_MAX ? (uint16_t)(each + !each) : UINT16_MAX;
}

/* A visit that was measured has ended, and lasted that long. */
void icp_visit_ended(uint32_t place, uint64_t ticks);

#endif
