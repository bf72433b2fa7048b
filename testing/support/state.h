/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved states of objects that are wrong on purpose. */
#ifndef TSANOM_TEST_STATE_H
#define TSANOM_TEST_STATE_H

#include <string.h>
#include <tsanom/base.h>

#include "core/checksum.h"
#include "support/check.h"
#include "support/random.h"

/* Change one field, or one byte, after the header of a saved state, and make its checksum
 * valid again. */
static inline void damage_state(unsigned char *state, size_t bytes, uint64_t *seed) {
  enum { HEADER = 24, CHECKSUM = 8 };
  const uint64_t not_a_number = UINT64_C(0x7FF8) << 48, infinite = UINT64_C(0x7FF) << 52;
  const uint64_t extreme[] = {
      0, 1, 2, INT32_MAX, INT64_MAX, UINT64_MAX, not_a_number, infinite};
  size_t words = (bytes - HEADER - CHECKSUM) / sizeof(uint64_t);
  /* Small fields are at the beginning and at the end of most states. */
  size_t most = words < 64 || random_bits(seed) % 2 ? words : 64;
  size_t word = random_between(seed, 0, most - 1);
  if (random_bits(seed) % 4 == 0) word = words - 1 - word;
  unsigned char *at = state + HEADER + word * sizeof(uint64_t);
  uint64_t value = random_bits(seed);
  switch (random_bits(seed) % 4) {
    case 0:
      at[value % sizeof value] ^= (unsigned char)(1 + value / 256 % 255);
      break;
    case 1:
      memcpy(at, &value, sizeof value);
      break;
    case 2:
      value %= 4096;
      memcpy(at, &value, sizeof value);
      break;
    default:
      memcpy(at, &extreme[value % (sizeof extreme / sizeof *extreme)], sizeof value);
  }
  uint64_t checksum = tsn_checksum(state, bytes - CHECKSUM);
  memcpy(state + bytes - CHECKSUM, &checksum, sizeof checksum);
}

/* Whether a damaged copy of the state is restored; `copy` is as long. */
static inline bool restore_damaged(void *object, const unsigned char *state,
                                   unsigned char *copy, size_t bytes, uint64_t *seed) {
  memcpy(copy, state, bytes);
  damage_state(copy, bytes, seed);
  tsanom_status status = tsanom_restore(object, copy, bytes, NULL);
  cr_assert(status == TSANOM_OK || status == TSANOM_E_FORMAT || status == TSANOM_E_OPTION,
            "%s", tsanom_status_name(status));
  return status == TSANOM_OK;
}

#endif
