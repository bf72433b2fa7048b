/* SPDX-License-Identifier: BSD-3-Clause */
/* A main for a fuzzer where there is no libFuzzer: sparse random inputs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(void) {
  enum { INPUTS = 5000, LONGEST = 8192, CHANGES = 6 };
  static uint8_t data[LONGEST];
  uint64_t seed = 1;
  for (int i = 0; i < INPUTS; i++) {
    memset(data, 0, sizeof data);
    size_t size = random_between(&seed, 0, LONGEST);
    for (size_t k = random_between(&seed, 0, CHANGES); k > 0 && size > 0; k--) {
      size_t reach = random_bits(&seed) % 2 ? size : 1 + size / 16;
      data[random_between(&seed, 0, reach - 1)] = (uint8_t)random_bits(&seed);
    }
    if (LLVMFuzzerTestOneInput(data, size) != 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
