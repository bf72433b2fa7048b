/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs are handled as bytes: the caller's may be of a size, hence of a type, that this
 * library does not have. memcpy() is the access that C allows for that. */
#include "core/versioned.h"
#include "core/size.h"

tsanom_status tsn_versioned_init(const tsn_versioned *type, void *caller,
                                 size_t caller_size) {
  if (!caller) return TSANOM_E_NULL;
  if (caller_size < type->first_size) return TSANOM_E_VERSION;
  memset(caller, 0, caller_size);
  memcpy(caller, type->defaults, tsn_smaller(caller_size, type->size));
  memcpy(caller, &caller_size, sizeof caller_size);
  return TSANOM_OK;
}

tsanom_status tsn_versioned_convert(const tsn_versioned *type, void *own,
                                    const void *caller) {
  size_t caller_size = tsn_versioned_struct_size(caller);
  if (caller_size < type->first_size) return TSANOM_E_VERSION;
  const unsigned char *bytes = caller;
  for (size_t i = type->size; i < caller_size; i++) {
    if (bytes[i] != 0) return TSANOM_E_VERSION;
  }
  if (caller_size < type->size) memcpy(own, type->defaults, type->size);
  memcpy(own, caller, tsn_smaller(caller_size, type->size));
  memcpy(own, &type->size, sizeof type->size);
  return TSANOM_OK;
}

tsanom_status tsn_versioned_check(const tsn_versioned *type, const void *caller) {
  if (!caller) return TSANOM_E_NULL;
  return tsn_versioned_struct_size(caller) < type->first_size ? TSANOM_E_VERSION
                                                              : TSANOM_OK;
}

void tsn_versioned_write(const tsn_versioned *type, void *caller, const void *own) {
  size_t caller_size = tsn_versioned_struct_size(caller);
  size_t known = tsn_smaller(caller_size, type->size);
  memcpy(caller, own, known);
  memset((unsigned char *)caller + known, 0, caller_size - known);
  memcpy(caller, &caller_size, sizeof caller_size);
}
