/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's struct of an order, and its checks. */
#include <math.h>

#include "core/fault.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

static const tsanom_optics_ordering defaults = {.struct_size = sizeof defaults};

static const tsn_versioned ordering_type = {.size = sizeof(tsanom_optics_ordering),
                                            .first_size = sizeof(tsanom_optics_ordering),
                                            .defaults = &defaults};

tsanom_status tsanom_optics_ordering_init(tsanom_optics_ordering *ordering,
                                          size_t struct_size) {
  return tsn_versioned_init(&ordering_type, ordering, struct_size);
}

size_t tsanom_optics_ordering_size(void) {
  return sizeof(tsanom_optics_ordering);
}

tsanom_status tsn_optics_check_count(size_t n, const char *name,
                                     const tsanom_exec *exec) {
  if (n == 0) return tsn_reject(exec, TSANOM_E_COUNT, name);
  return n > INT32_MAX ? tsn_reject(exec, TSANOM_E_OVERFLOW, name) : TSANOM_OK;
}

tsanom_status tsn_optics_ordering_read(tsanom_optics_ordering *own,
                                       const tsanom_optics_ordering *caller,
                                       const tsanom_exec *exec) {
  if (!caller) return tsn_reject(exec, TSANOM_E_NULL, "ordering");
  tsanom_status status = tsn_versioned_read(&ordering_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "ordering.struct_size");
  if (!own->order) return tsn_reject(exec, TSANOM_E_NULL, "ordering.order");
  if (!own->reachability) return tsn_reject(exec, TSANOM_E_NULL, "ordering.reachability");
  return TSANOM_OK;
}

void tsn_optics_ordering_write(tsanom_optics_ordering *caller,
                               const tsanom_optics_ordering *own) {
  tsn_versioned_write(&ordering_type, caller, own);
}

tsanom_status tsn_optics_check_heights(const double *values, size_t n, const char *name,
                                       const tsanom_exec *exec) {
  for (size_t i = 0; i < n; i++) {
    if (values[i] >= 0) continue;
    return tsn_reject_at(exec, isnan(values[i]) ? TSANOM_E_NONFINITE : TSANOM_E_VALUE,
                         name, i);
  }
  return TSANOM_OK;
}

tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        const tsanom_exec *exec) {
  size_t n = ordering->n;
  for (size_t k = 0; k < n; k++) {
    if (ordering->order[k] < n) continue;
    return tsn_reject_at(exec, TSANOM_E_INDEX, "ordering.order", k);
  }
  return tsn_optics_check_heights(ordering->reachability, n, "ordering.reachability",
                                  exec);
}
