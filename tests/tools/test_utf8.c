/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 by the definition: the bits of a character, of which no shorter form exists. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/random.h"
#include "utf8.h"

/* Bytes of the character at the beginning of `byte`; 0: there is none. */
static size_t character(const unsigned char *byte, size_t bytes) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = 0;
  while (length < 5 && (byte[0] << length & 0x80)) length++;
  if (length == 0) return 1;
  if (length == 1 || length == 5 || length > bytes) return 0;
  uint32_t value = byte[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((byte[i] & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte[i] & 0x3f);
  }
  bool is_surrogate = value >= 0xd800 && value < 0xe000;
  return value < least[length] || value > 0x10ffff || is_surrogate ? 0 : length;
}

static void check(const unsigned char *byte, size_t bytes) {
  size_t begin = 0, bad = SIZE_MAX;
  for (size_t length; begin < bytes; begin += length) {
    if ((length = character(byte + begin, bytes - begin)) == 0) break;
  }
  bool is_valid = utf8_valid((const char *)byte, bytes, &bad);
  if (is_valid != (begin == bytes) || (!is_valid && bad != begin)) {
    cr_assert(false, "%zu bytes, %02x %02x %02x %02x: %d, at %zu instead of %zu", bytes,
              byte[0], byte[1], byte[2], byte[3], is_valid, bad, begin);
  }
}

/* All strings of up to three bytes, and those of four whose last two are at a limit. */
Test(utf8, short_strings_are_judged_as_by_the_definition) {
  static const unsigned char edge[] = {0x00, 0x7f, 0x80, 0x81, 0x8f, 0x90,
                                       0x9f, 0xa0, 0xbe, 0xbf, 0xc0, 0xff};
  for (uint32_t i = 0; i < 1u << 24; i++) {
    unsigned char byte[4] = {i >> 16 & 0xff, i >> 8 & 0xff, i & 0xff, 0};
    check(byte, 3);
    if (byte[2] != 0) continue;
    check(byte, 2);
    if (byte[1] == 0) check(byte, 1);
    for (size_t k = 0; k < sizeof edge; k++) {
      for (size_t l = 0; l < sizeof edge; l++) {
        byte[2] = edge[k], byte[3] = edge[l];
        check(byte, 4);
      }
    }
  }
}

/* Valid characters, with an error somewhere or none. */
Test(utf8, the_first_wrong_character_is_reported) {
  enum { TRIALS = 200000, MOST = 24 };
  uint64_t seed = 7;
  for (int trial = 0; trial < TRIALS; trial++) {
    unsigned char byte[MOST + 4] = {0};
    size_t bytes = 0;
    while (bytes < MOST - 4) {
      unsigned char next[4];
      for (int k = 0; k < 4; k++) next[k] = (unsigned char)random_between(&seed, 0, 255);
      size_t length = character(next, 4);
      memcpy(byte + bytes, next, length);
      bytes += length;
    }
    size_t at = random_between(&seed, 0, bytes - 1);
    if (trial % 2) byte[at] = (unsigned char)(byte[at] ^ 1u << (trial / 2 % 8));
    check(byte, bytes - (size_t)trial / 16 % 4);
  }
}
