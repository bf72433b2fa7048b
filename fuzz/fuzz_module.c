/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the file of a program whose code a run names: its identity and its symbols
 * are looked up, with any result. The corpus contains libraries. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/module.h"
#include "support/directory.h"

enum { PATH = DIRECTORY_CAPACITY + 16 };

static char folder[DIRECTORY_CAPACITY], path[PATH];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean_up(void) {
  (void)unlink(path);
  (void)rmdir(folder);
}

static void write_module(const uint8_t *data, size_t size) {
  if (!*path) {
    if (!new_directory(folder)) abort();
    (void)snprintf(path, sizeof path, "%s/module", folder);
    (void)atexit(clean_up);
  }
  FILE *file = fopen(path, "we");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const identities[] = {
      "build-id:0123456789abcdef", "build-id:", "build-id:zz", "file:1:2:3.4", ""};
  tsn_module module;
  uint64_t address = 0;
  write_module(data, size);
  if (!tsn_module_open(&module, path)) return 0;
  if (!tsn_module_is(&module, "-")) abort();
  for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
    (void)tsn_module_is(&module, identities[i]);
  }
  if (size >= sizeof address)
    memcpy(&address, data + size - sizeof address, sizeof address);
  (void)tsn_module_covers(&module, address);
  tsn_module_close(&module);
  return 0;
}
