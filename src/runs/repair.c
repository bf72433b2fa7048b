/* SPDX-License-Identifier: BSD-3-Clause */
/* Repair of a header in which one byte is damaged. FNV-1a takes byte after byte:
 *
 *   state[i+1] = (state[i] ^ byte[i]) * prime mod 2^64
 *
 * and the prime is odd, so each step can be undone by the inverse of the prime mod 2^64.
 * From the beginning the bytes before i give state[i], from the stored checksum the
 * bytes behind i give state[i+1]:
 *
 *   byte 0 ──▶ state[1] ──▶ ... state[i]  ?  state[i+1] ◀── ... ◀── stored checksum
 *
 * If the damage is in byte i, then state[i] ^ state[i+1] * prime^-1 is its true value,
 * below 256. Another byte passes that test by chance with probability 2^-56. If the
 * checksum itself is damaged, it differs from the true one in one byte.
 *
 * O(n^2) for n bytes as written, since each state[i] is computed from the beginning; n
 * is at most 248. */
#include <string.h>

#include "record/format.h"
#include "runs/salvage.h"

#define PRIME_INVERSE UINT64_C(0xCE965057AFF6957B) /* of 100000001B3 mod 2^64 */

enum { HEADER_MOST = sizeof(tsn_run_header) };

/* For a != b. */
static bool differs_in_one_byte(uint64_t a, uint64_t b) {
  uint64_t difference = a ^ b;
  int low = __builtin_ctzll(difference) / 8 * 8;
  return difference >> low <= UINT8_MAX;
}

/* The checksum's own damage is tried first, and then each byte from the end. */
bool tsn_repair(unsigned char *header, size_t bytes) {
  uint64_t before[HEADER_MOST], stored;
  size_t covered = bytes - sizeof stored;
  memcpy(&stored, header + covered, sizeof stored);
  uint64_t found = tsn_checksum(header, covered);
  if (found == stored) return false;
  if (differs_in_one_byte(found, stored)) {
    memcpy(header + covered, &found, sizeof found);
    return true;
  }
  for (size_t i = 0; i < covered; i++) before[i] = tsn_checksum(header, i);
  uint64_t after = stored;
  for (size_t i = covered; i-- > 0;) {
    uint64_t product = after * PRIME_INVERSE, value = before[i] ^ product;
    if (value <= UINT8_MAX) {
      header[i] = (unsigned char)value;
      return true;
    }
    after = product ^ header[i];
  }
  return false;
}
