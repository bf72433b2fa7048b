/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams for the tests of events. Random ones are noise of 1, 2 or 1000 kinds of events,
 * patterns that break off, or a loop with another one inside; recorded ones come from
 * tests/data/streams. */
#include "streams.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/random.h"

static void noise(uint64_t *event, size_t count, uint64_t kinds, uint64_t *seed) {
  for (size_t i = 0; i < count; i++) event[i] = random_bits(seed) % kinds;
}

static void broken_patterns(uint64_t *event, size_t count, uint64_t *seed) {
  size_t period = 1;
  for (size_t i = 0; i < count; i++) {
    if (random_bits(seed) % 64 == 0) period = random_between(seed, 1, 40);
    int fresh = i < period || random_bits(seed) % 64 == 0;
    event[i] = fresh ? random_bits(seed) % 5 : event[i - period];
  }
}

static void nested_loops(uint64_t *event, size_t count, uint64_t *seed) {
  size_t inner = random_between(seed, 1, 5), repeats = random_between(seed, 1, 9);
  size_t rest = random_between(seed, 0, 6), outer = inner * repeats + rest;
  for (size_t i = 0; i < count; i++) {
    size_t place = i % outer;
    event[i] = place < inner * repeats ? place % inner : 100 + place;
  }
}

void stream_random(uint64_t *event, size_t count, uint64_t *seed) {
  switch (random_bits(seed) % 5) {
    case 0:
      noise(event, count, 2, seed);
      break;
    case 1:
      noise(event, count, 1000, seed);
      break;
    case 2:
      noise(event, count, 1, seed);
      break;
    case 3:
      broken_patterns(event, count, seed);
      break;
    default:
      nested_loops(event, count, seed);
      break;
  }
}

uint64_t *stream_read(const char *name, size_t times, size_t *count) {
  char path[512];
  snprintf(path, sizeof path, "%s/streams/%s", TSANOM_TEST_DATA, name);
  FILE *file = fopen(path, "r");
  cr_assert(file != NULL, "%s", path);
  size_t capacity = 1 << 16;
  uint64_t *event = malloc(capacity * sizeof *event);
  unsigned long token;
  for (*count = 0; *count < capacity && fscanf(file, "%lu", &token) == 1; ++*count) {
    event[*count] = token;
  }
  fclose(file);
  size_t once = *count;
  cr_assert(once <= capacity / times, "%s", path);
  for (*count = 0; *count < once * times; ++*count) event[*count] = event[*count % once];
  return event;
}
