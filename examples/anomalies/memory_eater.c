/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes memory step by step, and keeps it until the end. */
#include <time.h>

#include "anomaly.h"

static struct anomaly eater = {
    .name = "memory_eater",
    .purpose = "Take memory up to --bytes at --rate, and keep it.",
    .uses = ANOMALY_FOR | ANOMALY_CPU | ANOMALY_BYTES | ANOMALY_RATE,
    .bytes = (size_t)1 << 30,
    .rate = (size_t)512 << 20};

enum { STEPS = 100 }; /* per second */

int main(int argc, char **argv) {
  anomaly_open(&eater, argc, argv);
  const struct timespec step = {.tv_nsec = 1000000000 / STEPS};
  size_t taken = 0;
  while (anomaly_lasts(&eater)) {
    const size_t rest = eater.bytes - taken;
    const size_t block = rest < eater.rate / STEPS + 1 ? rest : eater.rate / STEPS + 1;
    if (block) {
      (void)anomaly_memory(&eater, block); /* kept on purpose */
      taken += block;
    }
    (void)nanosleep(&step, NULL);
  }
  return anomaly_close(&eater, (double)taken, "bytes");
}
