/* SPDX-License-Identifier: BSD-3-Clause */
/* Both views have one layout (see the static assertions), so that the single-precision
 * functions read through the double-precision ones; only the size of an element differs.
 */
#include "core/series.h"

#include <stdbool.h>
#include <string.h>

#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"

_Static_assert(sizeof(tsanom_series) == sizeof(tsanom_series_f32), "one layout");
_Static_assert(offsetof(tsanom_series, stride) == offsetof(tsanom_series_f32, stride),
               "one layout");

static const tsanom_series defaults = {.struct_size = sizeof defaults};

static const tsn_versioned series_type = {
    .size = sizeof(tsanom_series),
    .first_size = sizeof(tsanom_series),
    .defaults = &defaults,
};

/* Whether `length` samples of the view fit the address space. */
static bool fits(const tsanom_series *own, size_t length, size_t bytes_each) {
  return tsn_array_fits(tsn_product(length, own->stride), bytes_each);
}

/* Reject no samples, and more than fit. */
static tsanom_status check_length(const tsanom_series *own, size_t element,
                                  size_t bytes_each, const char *name,
                                  const tsanom_exec *exec) {
  size_t length = own->lengths ? own->lengths[element] : own->length;
  if (length > 0 && fits(own, length, bytes_each)) return TSANOM_OK;
  return tsn_reject_field_is(exec, length ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT, name,
                             own->lengths ? "lengths" : "length", element,
                             "%zu; at least 1 and at most %zu is expected", length,
                             PTRDIFF_MAX / bytes_each / own->stride);
}

static tsanom_status read_rows(tsanom_series *own, size_t bytes_each, const char *name,
                               const tsanom_exec *exec) {
  if (own->lengths) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "lengths", TSANOM_NONE,
                               "set; NULL is expected where data is set");
  }
  tsanom_status status = check_length(own, TSANOM_NONE, bytes_each, name, exec);
  if (status < 0) return status;
  if (own->ld == 0) own->ld = own->length * own->stride;
  /* Neighbors may overlap: windows of one long series are rows with a short ld. */
  if (!tsn_array_fits(tsn_product(own->ld, own->count), bytes_each)) {
    return tsn_reject_field_is(exec, TSANOM_E_OVERFLOW, name, "ld", TSANOM_NONE,
                               "%zu; at most %zu is expected for %zu series", own->ld,
                               PTRDIFF_MAX / bytes_each / own->count, own->count);
  }
  return TSANOM_OK;
}

static tsanom_status read_pointers(const tsanom_series *own, size_t bytes_each,
                                   const char *name, const tsanom_exec *exec) {
  if (own->ld != 0) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "ld", TSANOM_NONE,
                               "%zu; 0 is expected where data is NULL", own->ld);
  }
  if (!tsn_array_fits(own->count, sizeof *own->pointers)) {
    return tsn_reject_field_is(exec, TSANOM_E_OVERFLOW, name, "count", TSANOM_NONE,
                               "%zu; at most %zu is expected", own->count,
                               PTRDIFF_MAX / sizeof *own->pointers);
  }
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < own->count && status == TSANOM_OK; i++) {
    status = check_length(own, i, bytes_each, name, exec);
  }
  return status;
}

static tsanom_status read_view(tsanom_series *own, const void *caller, size_t bytes_each,
                               const char *name, const tsanom_exec *exec) {
  if (!caller) return tsn_reject_null(exec, name, TSANOM_NONE);
  tsanom_status status = tsn_struct_read(exec, &series_type, own, caller, name);
  if (status < 0) return status;
  if (own->count == 0) {
    return tsn_reject_field_is(exec, TSANOM_E_COUNT, name, "count", TSANOM_NONE,
                               "0; at least 1 is expected");
  }
  if (own->dimensions == 0) own->dimensions = 1;
  if (own->stride == 0) own->stride = own->dimensions;
  if (own->stride < own->dimensions) {
    return tsn_reject_field_is(
        exec, TSANOM_E_OPTION, name, "stride", TSANOM_NONE,
        "%zu; at least %zu is expected, the components of a sample", own->stride,
        own->dimensions);
  }
  if (own->data && own->pointers) {
    return tsn_reject_field_is(exec, TSANOM_E_OPTION, name, "pointers", TSANOM_NONE,
                               "set; NULL is expected where data is set");
  }
  return own->data || !(own->pointers || own->lengths)
             ? read_rows(own, bytes_each, name, exec)
             : read_pointers(own, bytes_each, name, exec);
}

tsanom_status tsn_series_read(tsanom_series *own, const tsanom_series *caller,
                              const char *name, const tsanom_exec *exec) {
  return read_view(own, caller, sizeof(double), name, exec);
}

tsanom_status tsn_series_read_f32(tsanom_series_f32 *own, const tsanom_series_f32 *caller,
                                  const char *name, const tsanom_exec *exec) {
  tsanom_series read;
  tsanom_status status = read_view(&read, caller, sizeof(float), name, exec);
  if (status == TSANOM_OK) memcpy(own, &read, sizeof read);
  return status;
}

tsanom_status tsn_series_require(const tsanom_series *series, const char *name,
                                 const tsanom_exec *exec) {
  if (series->data) return TSANOM_OK;
  if (!series->pointers) {
    return tsn_reject_field_is(exec, TSANOM_E_NULL, name, "data", TSANOM_NONE,
                               "NULL; it or pointers is expected");
  }
  for (size_t i = 0; i < series->count; i++) {
    if (series->pointers[i]) continue;
    return tsn_reject_field_is(exec, TSANOM_E_NULL, name, "pointers", i,
                               "NULL; %zu samples are expected",
                               tsn_series_length(series, i));
  }
  return TSANOM_OK;
}

tsanom_status tsn_series_require_f32(const tsanom_series_f32 *series, const char *name,
                                     const tsanom_exec *exec) {
  tsanom_series same;
  memcpy(&same, series, sizeof same);
  return tsn_series_require(&same, name, exec);
}

static size_t longest(const size_t *lengths, size_t count, size_t length) {
  if (!lengths) return length;
  size_t most = 0;
  for (size_t i = 0; i < count; i++) most = tsn_larger(most, lengths[i]);
  return most;
}

size_t tsn_series_longest(const tsanom_series *series) {
  return longest(series->lengths, series->count, series->length);
}

size_t tsn_series_longest_f32(const tsanom_series_f32 *series) {
  return longest(series->lengths, series->count, series->length);
}
