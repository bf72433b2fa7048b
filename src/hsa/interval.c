/* SPDX-License-Identifier: BSD-3-Clause */
/* The lower quartile of the intervals between beats: the pace of a thread while it runs.
 * A thread that is preempted, or waits for another thread, has some long intervals and an
 * unchanged quartile; a slowdown of every beat changes the quartile.
 *
 * The quartile is selected by the digits of the bit patterns, most significant first: eight
 * passes that each count the values of one byte among the intervals with the bytes found
 * before. O(beats), and 2 KiB whatever the length. */
#include <string.h>

#include "hsa/hsa.h"

/* Bit patterns of numbers >= 0 have the order of the numbers, so that the selection is
 * exact. */
enum { DIGIT_BITS = 8, DIGITS = 8, VALUES = 1 << DIGIT_BITS };

static uint64_t interval_bits(const double *time, size_t i) {
  double interval = time[i + 1] - time[i];
  uint64_t bits;
  memcpy(&bits, &interval, sizeof bits);
  return bits;
}

/* Count, for each value of the next digit, the intervals that begin with `prefix`. */
static void count_digit(const double *time, size_t intervals, unsigned shift,
                        uint64_t prefix, size_t *count) {
  memset(count, 0, VALUES * sizeof *count);
  for (size_t i = 0; i < intervals; i++) {
    uint64_t head = interval_bits(time, i) >> shift;
    count[head % VALUES] += head / VALUES == prefix;
  }
}

double tsn_hsa_quartile_interval(const double *time, size_t beats) {
  if (beats < 2) return 0;
  size_t count[VALUES], rank = (beats - 2) / 4;
  uint64_t prefix = 0;
  for (unsigned digit = DIGITS; digit-- > 0;) {
    count_digit(time, beats - 1, digit * DIGIT_BITS, prefix, count);
    size_t value = 0;
    while (rank >= count[value]) rank -= count[value++];
    prefix = prefix * VALUES + value;
  }
  double quartile;
  memcpy(&quartile, &prefix, sizeof quartile);
  return quartile;
}
