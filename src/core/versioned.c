/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/versioned.h"
#include "core/size.h"

#include <string.h>

tsanom_status tsn_versioned_init(const tsn_versioned *type, void *caller,
                                 size_t caller_size) {
  if (!caller) return TSANOM_E_NULL;
  if (caller_size < type->first_size) return TSANOM_E_VERSION;
  memset(caller, 0, caller_size);
  memcpy(caller, type->defaults, tsn_smaller(caller_size, type->size));
  memcpy(caller, &caller_size, sizeof caller_size);
  return TSANOM_OK;
}

tsanom_status tsn_versioned_read(const tsn_versioned *type, void *own,
                                 const void *caller) {
  if (!caller) {
    memcpy(own, type->defaults, type->size);
    return TSANOM_OK;
  }
  size_t caller_size;
  memcpy(&caller_size, caller, sizeof caller_size);
  if (caller_size < type->first_size) return TSANOM_E_VERSION;
  const unsigned char *bytes = caller;
  for (size_t i = type->size; i < caller_size; i++) {
    if (bytes[i] != 0) return TSANOM_E_VERSION;
  }
  if (caller_size < type->size) memcpy(own, type->defaults, type->size);
  memcpy(own, caller, tsn_smaller(caller_size, type->size));
  return TSANOM_OK;
}
