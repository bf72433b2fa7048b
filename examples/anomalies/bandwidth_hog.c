/* SPDX-License-Identifier: BSD-3-Clause */
/* Competes for the bandwidth of memory: writes a block that no cache holds, over and
 * over. */
#include <stdlib.h>
#include <string.h>

#include "anomaly.h"

static struct anomaly hog = {.name = "bandwidth_hog",
                             .purpose = "Write a block of memory over and over.",
                             .uses = ANOMALY_FOR | ANOMALY_CPU | ANOMALY_BYTES,
                             .bytes = (size_t)256 << 20};

int main(int argc, char **argv) {
  anomaly_open(&hog, argc, argv);
  char *block = anomaly_memory(&hog, hog.bytes);
  double written = 0;
  int value = 0;
  do {
    memset(block, value & 0x7f, hog.bytes);
    value = block[hog.bytes / 2] + 1; /* so that no write is superfluous */
    written += (double)hog.bytes;
  } while (anomaly_lasts(&hog));
  free(block);
  return anomaly_close(&hog, written, "bytes");
}
