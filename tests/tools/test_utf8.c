/* SPDX-License-Identifier: BSD-3-Clause */
/* Text files are UTF-8, by its definition: the bits of a character, of which no shorter
 * form exists. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "support/random.h"

TestSuite(utf8, .init = enter_folder, .fini = leave_folder, .timeout = 120);

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

/* All characters that are no control character, one in each line. */
Test(utf8, every_character_is_read) {
  FILE *events = fopen("events", "w");
  cr_assert(events);
  for (uint32_t value = 0xa1; value <= 0x10ffff; value++) {
    unsigned char byte[4] = {0};
    size_t length = value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    if (value >= 0xd800 && value < 0xe000) continue;
    byte[0] = (unsigned char)((0xf00 >> length & 0xff) | value >> 6 * (length - 1));
    for (size_t i = 1; i < length; i++) {
      byte[i] = (unsigned char)(0x80 | (value >> 6 * (length - 1 - i) & 0x3f));
    }
    cr_assert(character(byte, length) == length, "%x", value);
    (void)fprintf(events, "e%.*s\n", (int)length, (const char *)byte);
  }
  cr_assert(fclose(events) == 0);
  check_quiet(tsanom("period --events events"), 0);
}

/* Bytes at the limits of the forms, and random ones, behind valid characters. */
Test(utf8, the_first_wrong_character_is_reported) {
  enum { TRIALS = CASES(400), MOST = 24 };
  static const unsigned char edge[] = {0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                       0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                                       0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
  uint64_t seed = 7;
  int wrong = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    char text[MOST + 1], place[64];
    size_t bytes = 0, begin = 0, at = random_between(&seed, 0, 3 * MOST / 2);
    while (bytes < MOST) {
      unsigned char next[4];
      for (int k = 0; k < 4; k++)
        next[k] = (unsigned char)random_between(&seed, '!', 255);
      size_t length = character(next, 4);
      if (bytes >= at) {
        for (int k = 0; k < 4; k++)
          next[k] = edge[random_between(&seed, 0, sizeof edge - 1)];
        length = 4;
      }
      if (bytes + length > MOST) next[0] = '-', length = 1;
      memcpy(text + bytes, next, length);
      bytes += length;
    }
    text[MOST] = '\n';
    write_bytes("events", text, sizeof text);
    for (size_t length; begin < MOST; begin += length) {
      length = character((const unsigned char *)text + begin, MOST - begin);
      if (length == 0) break;
    }
    outcome o = tsanom("period --events events");
    (void)snprintf(place, sizeof place, "events:1: byte %zu (0x%02x) is not UTF-8",
                   begin + 1, (unsigned char)text[begin]);
    if (begin < MOST) {
      cr_assert(o.status == 3 && strstr(o.err, place), "%s: %s", place, o.err);
      wrong++;
    } else {
      cr_assert(!strstr(o.err, "UTF-8"), "%s", o.err);
    }
  }
  cr_assert(wrong > TRIALS / 4 && wrong < TRIALS - TRIALS / 8);
}

/* Wherever the output is divided into pieces, a terminal gets text without control characters. */
Test(utf8, no_control_character_reaches_a_terminal) {
  enum { PHASES = 8, TIMES = 6000 };
  for (int phase = 0; phase < PHASES; phase++) {
    FILE *file = fopen("c1.json", "w");
    cr_assert(file &&
              fprintf(file, "{\"regions\":[{\"name\":\"%.*s", phase, "abcdefgh") > 0);
    for (int i = 0; i < TIMES; i++) (void)fputs("\xc2\x9bxy", file);
    cr_assert(fputs("\"}],\"time\":[[1.0],[2.0]]}\n", file) >= 0 && fclose(file) == 0);
    int terminal = open_terminal(), turned = 0;
    shell_ok("tsanom similar c1.json >%s 2>&1 &", ptsname(terminal));
    const char *text = read_terminal(terminal);
    for (size_t at = 0, length = strlen(text), step; at < length; at += step) {
      step = character((const unsigned char *)text + at, length - at);
      cr_assert(step, "%d: %zu", phase, at);
      unsigned char first = (unsigned char)text[at], second = (unsigned char)text[at + 1];
      cr_assert(first != 0xc2 || second >= 0xa0, "%d: %zu", phase, at);
      turned += first == 0xc2 && second == 0xbf;
    }
    cr_assert(turned >= TIMES, "%d: %d", phase, turned);
  }
}
