/* SPDX-License-Identifier: BSD-3-Clause */
/* The lower quartile of the intervals between beats: the pace of a thread while it runs.
 * A thread that is kept from its processor now and then, or waits for another, has some
 * long intervals and the same quartile; one whose every beat has become slower has
 * another. */
#include <string.h>

#include "hsa/hsa.h"

/* Selection by digits of the bit patterns, which for numbers >= 0 order like the
 * numbers: exact, in memory that does not depend on the length. */
enum { DIGIT_BITS = 11, DIGITS = 6, VALUES = 1 << DIGIT_BITS };

static uint64_t interval_bits(const double *time, size_t i) {
  double interval = time[i + 1] - time[i];
  uint64_t bits;
  memcpy(&bits, &interval, sizeof bits);
  return bits;
}

/* How many intervals that begin with `prefix` have each value of the next digit. */
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
