/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and envelopes: arguments and workspace. The loops are in
 * lbkeogh_kernel.c. */
#include <tsanom/lbkeogh.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "lbkeogh/lbkeogh_internal.h"

static const tsanom_lbkeogh_options defaults = {
    .struct_size = sizeof defaults, .radius = SIZE_MAX, .cost = TSANOM_LBKEOGH_ABSOLUTE};

static const tsn_versioned options_type = {.size = sizeof(tsanom_lbkeogh_options),
                                           .first_size = sizeof(tsanom_lbkeogh_options),
                                           .defaults = &defaults};

tsanom_status tsanom_lbkeogh_options_init(tsanom_lbkeogh_options *options,
                                          size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsn_lbkeogh_read_options(tsanom_lbkeogh_options *own,
                                       const tsanom_lbkeogh_options *caller) {
  tsanom_status status = tsn_versioned_read(&options_type, own, caller);
  if (status < 0) return status;
  if (own->cost != TSANOM_LBKEOGH_ABSOLUTE && own->cost != TSANOM_LBKEOGH_SQUARED) {
    return TSANOM_E_OPTION;
  }
  return own->reserved0 == 0 ? TSANOM_OK : TSANOM_E_OPTION;
}

tsanom_status tsn_lbkeogh_read(tsanom_lbkeogh_options *own_options,
                               const tsanom_lbkeogh_options *options,
                               tsanom_exec *own_exec, const tsanom_exec *exec) {
  tsanom_status status = tsn_lbkeogh_read_options(own_options, options);
  return status < 0 ? status : tsn_exec_read(own_exec, exec);
}

void tsn_envelope_layout(tsn_arena *arena, size_t count, size_t radius,
                         tsn_envelope_scratch *scratch) {
  size_t length = radius < count / 2 ? 2 * radius + 1 : count;
  if (__builtin_add_overflow(length, TSN_ENVELOPE_SLACK, &length)) arena->overflow = true;
  scratch->lowest = tsn_arena_take(arena, length, sizeof(double));
  scratch->highest = tsn_arena_take(arena, length, sizeof(double));
}

tsanom_status tsanom_lbkeogh_envelope_workspace(size_t n,
                                                const tsanom_lbkeogh_options *options,
                                                const tsanom_exec *exec, size_t *bytes) {
  tsanom_lbkeogh_options own_options;
  tsanom_exec own_exec;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);
  if (status < 0) return status;
  if (n == 0) return TSANOM_E_COUNT;
  tsn_arena arena = tsn_arena_measure();
  tsn_envelope_scratch scratch;
  tsn_envelope_layout(&arena, n, tsn_lbkeogh_radius(own_options.radius, n), &scratch);
  return tsn_arena_bytes(&arena, bytes);
}

/* What the two precisions differ in. */
#define ENVELOPE(suffix, type)                                                         \
  tsanom_status tsanom_lbkeogh_envelope##suffix(                                       \
      const type *x, size_t n, const tsanom_lbkeogh_options *options,                  \
      const tsanom_exec *exec, void *work, size_t work_bytes, type *lower,             \
      type *upper) {                                                                   \
    tsanom_lbkeogh_options own_options;                                                \
    tsanom_exec own_exec;                                                              \
    if (!x || !lower || !upper) return TSANOM_E_NULL;                                  \
    tsanom_status status = tsn_lbkeogh_read(&own_options, options, &own_exec, exec);   \
    if (status < 0) return status;                                                     \
    if (n == 0) return TSANOM_E_COUNT;                                                 \
    size_t radius = tsn_lbkeogh_radius(own_options.radius, n);                         \
    tsn_arena measured = tsn_arena_measure();                                          \
    tsn_envelope_scratch scratch;                                                      \
    tsn_envelope_layout(&measured, n, radius, &scratch);                               \
    tsn_workspace workspace;                                                           \
    status = tsn_workspace_borrow(&workspace, &measured, &own_exec, work, work_bytes); \
    if (status < 0) return status;                                                     \
    const tsn_envelope_kernels *kernels = tsn_envelope_kernels_at(own_exec.isa);       \
    if (!kernels->finite##suffix(x, n)) {                                              \
      status = TSANOM_E_NONFINITE;                                                     \
    } else {                                                                           \
      tsn_envelope_layout(&workspace.arena, n, radius, &scratch);                      \
      kernels->envelope##suffix(x, n, radius, n, (type *)scratch.lowest,               \
                                (type *)scratch.highest, lower, upper);                \
    }                                                                                  \
    tsn_workspace_close(&workspace);                                                   \
    return status;                                                                     \
  }

ENVELOPE(, double)
ENVELOPE(_f32, float)
