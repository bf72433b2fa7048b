/* SPDX-License-Identifier: BSD-3-Clause */
/* Competes for the last cache: reads the lines of a block of its size in a random order.
 * The order is one cycle through all lines (S. Sattolo's shuffle), so each line is used
 * as often as every other. */
#include <stdlib.h>
#include <unistd.h>

#include "anomaly.h"

enum { LINE = 64, BATCH = 100000 };

static struct anomaly hog = {
    .name = "cache_hog",
    .purpose = "Read a block of memory of the size of the last cache in a random order.",
    .uses = ANOMALY_FOR | ANOMALY_CPU | ANOMALY_BYTES,
    .bytes = (size_t)8 << 20};

struct line {
  size_t next;
  char rest[LINE - sizeof(size_t)];
};

int main(int argc, char **argv) {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  hog.bytes = cache > 0 ? (size_t)cache : hog.bytes;
  anomaly_open(&hog, argc, argv);
  const size_t lines = hog.bytes / LINE + 1;
  struct line *block = anomaly_memory(&hog, lines * sizeof *block);
  for (size_t i = 0; i < lines; ++i) block[i].next = i;
  for (size_t i = lines - 1; i > 0; --i) {
    const size_t other = (size_t)random() % i;
    const size_t next = block[i].next;
    block[i].next = block[other].next;
    block[other].next = next;
  }
  double reads = 0;
  volatile size_t at = 0;
  do {
    size_t here = at;
    for (int i = 0; i < BATCH; ++i) here = block[here].next;
    at = here; /* so that the reads are not removed */
    reads += BATCH;
  } while (anomaly_lasts(&hog));
  free(block);
  return anomaly_close(&hog, reads, "reads");
}
