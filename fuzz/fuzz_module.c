/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the file of a program whose code a run names: its identity and its symbols
 * are looked up, with any result. The corpus contains libraries. */
#include "files.h"
#include "runs/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const identities[] = {
      "build-id:0123456789abcdef", "build-id:", "build-id:zz", "file:1:2:3.4", ""};
  tsn_module module;
  uint64_t address = 0;
  char path[PATH];
  if (!*folder) make_folder();
  write_file("module", data, size);
  (void)snprintf(path, PATH, "%s/module", folder);
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
