/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and checks that several functions of the module share, and the workspace of an
 * envelope, which is the same in both precisions. */
#include "lbkeogh/lbkeogh_arguments.h"

#include "core/versioned.h"

static const tsanom_lbkeogh_options defaults = {.struct_size = sizeof defaults,
                                                .radius = SIZE_MAX,
                                                .bands = 5,
                                                .cost = TSANOM_COST_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_lbkeogh_options),
                                           .first_size = sizeof(tsanom_lbkeogh_options),
                                           .defaults = &defaults};

tsanom_status tsanom_lbkeogh_options_init(tsanom_lbkeogh_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_lbkeogh_options_read(tsanom_lbkeogh_options *own,
                                       const tsanom_lbkeogh_options *caller,
                                       bool uses_bands, const tsanom_exec *exec) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return tsn_reject(exec, status, "options.struct_size");
  const char *field = NULL;
  if (own->cost != TSANOM_COST_ABSOLUTE && own->cost != TSANOM_COST_SQUARED) {
    field = "options.cost";
  } else if (!uses_bands && own->bands != defaults.bands) {
    field = "options.bands";
  } else if (own->reserved0 != 0) {
    field = "options.reserved0";
  }
  return field ? tsn_reject(exec, TSANOM_E_OPTION, field) : TSANOM_OK;
}

tsanom_status tsn_lbkeogh_check_finite(const tsanom_exec *exec, const double *x, size_t n,
                                       const char *name) {
  if (tsn_all_finite(x, n)) return TSANOM_OK;
  return tsn_reject_at(exec, TSANOM_E_NONFINITE, name, tsn_first_nonfinite(x, n));
}

/* A block has a window's length or the whole series, whichever is shorter; the slack
 * completes the rows at both ends. Floats use half of the doubles. */
void tsn_envelope_layout(tsn_arena *arena, size_t count, size_t radius,
                         tsn_envelope_scratch *scratch) {
  size_t length = radius < count / 2 ? 2 * radius + 1 : count;
  if (__builtin_add_overflow(length, TSN_ENVELOPE_SLACK, &length)) arena->overflow = true;
  scratch->lowest = tsn_arena_take(arena, length, sizeof(double));
  scratch->highest = tsn_arena_take(arena, length, sizeof(double));
}

typedef struct {
  size_t n, radius;
} envelope_size;

static void layout(tsn_arena *arena, void *context) {
  const envelope_size *size = context;
  tsn_envelope_scratch scratch;
  tsn_envelope_layout(arena, size->n, size->radius, &scratch);
}

tsanom_status tsanom_lbkeogh_envelope_workspace(size_t n, size_t radius,
                                                const tsanom_exec *exec, size_t *bytes) {
  tsanom_exec own;
  envelope_size size = {n, tsn_lbkeogh_radius(radius, n)};
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0) return status;
  if (!bytes) return tsn_reject(&own, TSANOM_E_NULL, "bytes");
  if ((status = tsn_lbkeogh_check_count(&own, n, "n")) < 0) return status;
  status = tsn_layout_bytes(layout, &size, bytes);
  return status < 0 ? tsn_reject(&own, status, "n") : TSANOM_OK;
}
