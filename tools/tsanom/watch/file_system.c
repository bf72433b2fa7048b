/* SPDX-License-Identifier: BSD-3-Clause */
#include "file_system.h"

#include <stddef.h>

const char *network_file_system(unsigned long type) {
  static const struct {
    unsigned long type;
    const char *name;
  } known[] = {{0x6969, "NFS"},      {0x517B, "SMB"},       {0xFF534D42, "CIFS"},
               {0xFE534D42, "SMB2"}, {0x65735546, "FUSE"},  {0x01021997, "9P"},
               {0x5346414F, "AFS"},  {0x19830326, "BeeGFS"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (known[i].type == (type & 0xFFFFFFFF)) return known[i].name;
  }
  return NULL;
}
