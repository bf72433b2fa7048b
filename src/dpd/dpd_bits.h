/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of codes, in bits: how much shorter the numbers of iterations of an inner loop
 * become if they are coded as what a loop makes, and not as chance. See dpd_bits.c. */
#ifndef TSN_DPD_BITS_H
#define TSN_DPD_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"

/* How many times each number occurred. From 4096 on, numbers share a bin if they agree in
 * their first 12 bits. */
typedef struct {
  uint32_t *count, *used; /* by bin; the bins that are not empty */
  size_t distinct;
  uint64_t total;
} tsn_histogram;

/* Numbers of events of one kind between events of another one, one after the other. */
typedef struct {
  tsn_histogram counts; /* those that are not zero */
  uint64_t zeros;
  tsn_histogram rises, falls; /* changes from one that is not zero to the next */
  uint32_t first, last;       /* ones that are not zero; 0: none yet */
} tsn_trips;

/* Memory for numbers up to `most`; tsn_trips_start() empties it, at the cost of what it
 * contains, and tsn_trips_clear() whatever the memory was. */
void tsn_trips_layout(tsn_arena *arena, size_t most, tsn_trips *trips);
void tsn_trips_clear(tsn_trips *trips, size_t most);
void tsn_trips_start(tsn_trips *trips);
void tsn_trips_add(tsn_trips *trips, uint32_t count);

/* Bits that a code for loops saves against the geometric law, that of parts that are left
 * by chance; negative: none. O(distinct numbers). */
double tsn_trips_regularity(const tsn_trips *trips);

/* The share of numbers that are the median within 1/64. */
double tsn_trips_usual(const tsn_trips *trips);

/* The number that half of the numbers are at most; 0 of none. O(different bins). */
uint32_t tsn_trips_median(const tsn_trips *trips);

/* Bits of n choices between two, of which one was made k times, in the adaptive code of
 * Krichevsky and Trofimov. */
double tsn_bits_choices(uint64_t n, uint64_t k);

#endif
