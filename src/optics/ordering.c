/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's struct of an order, and its checks. The struct is input and output: the
 * order functions write to the arrays that it names, and cut, split and xi read them. An
 * array that a function does not need may be NULL. */
#include <math.h>
#include <stddef.h>

#include "core/fault.h"
#include "core/versioned.h"
#include "optics/optics_internal.h"

static const tsanom_optics_ordering defaults = {.struct_size = sizeof defaults,
                                                .eps = INFINITY};

static const tsn_versioned ordering_type = {
    .size = sizeof(tsanom_optics_ordering),
    .first_size = offsetof(tsanom_optics_ordering, eps),
    .defaults = &defaults};

tsanom_status tsn_optics_check_count(size_t n, const char *name,
                                     const tsanom_exec *exec) {
  if (n == 0) return tsn_reject(exec, TSANOM_E_COUNT, name);
  return n > INT32_MAX ? tsn_reject(exec, TSANOM_E_OVERFLOW, name) : TSANOM_OK;
}

tsanom_status tsn_optics_ordering_read(tsanom_optics_ordering *own,
                                       const tsanom_optics_ordering *caller,
                                       const tsanom_exec *exec) {
  tsanom_status status = tsn_versioned_read(&ordering_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "ordering.struct_size");
  if (!isgreaterequal(own->eps, 0)) {
    return tsn_reject(exec, TSANOM_E_OPTION, "ordering.eps");
  }
  if (own->eps == 0) own->eps = INFINITY;
  return TSANOM_OK;
}

tsanom_status tsn_optics_plot_read(tsanom_optics_ordering *own,
                                   const tsanom_optics_ordering *caller,
                                   const tsanom_exec *exec) {
  if (!caller) return tsn_reject(exec, TSANOM_E_NULL, "ordering");
  tsanom_status status = tsn_optics_ordering_read(own, caller, exec);
  return status < 0 ? status : tsn_optics_check_count(own->n, "ordering.n", exec);
}

tsanom_status tsn_optics_ordering_arrays(const tsanom_optics_ordering *ordering,
                                         const tsanom_exec *exec) {
  if (!ordering->order) return tsn_reject(exec, TSANOM_E_NULL, "ordering.order");
  return tsn_require(exec, ordering->reachability, "ordering.reachability");
}

void tsn_optics_ordering_write(tsanom_optics_ordering *caller,
                               const tsanom_optics_ordering *own) {
  tsn_versioned_write(&ordering_type, caller, own);
}

tsanom_status tsn_optics_check_heights(const double *values, size_t n, const char *name,
                                       const tsanom_exec *exec) {
  /* Without an exit from the loop, which vectors do not allow: with it, a cut of 100
   * points took 196 ns in place of 167 ns. The fault is sought only if there is one. */
  bool valid = true;
  for (size_t i = 0; i < n; i++) valid &= values[i] >= 0;
  if (valid) return TSANOM_OK;
  size_t at = 0;
  while (values[at] >= 0) at++;
  return tsn_reject_at(exec, isnan(values[at]) ? TSANOM_E_NONFINITE : TSANOM_E_VALUE,
                       name, at);
}

tsanom_status tsn_optics_ordering_check(const tsanom_optics_ordering *ordering,
                                        const tsanom_exec *exec) {
  tsanom_status status = tsn_optics_ordering_arrays(ordering, exec);
  if (status < 0) return status;
  const size_t *order = ordering->order;
  size_t n = ordering->n, at = 0;
  while (at < n && order[at] < n) at++;
  if (at < n) return tsn_reject_at(exec, TSANOM_E_INDEX, "ordering.order", at);
  return tsn_optics_check_heights(ordering->reachability, n, "ordering.reachability",
                                  exec);
}
