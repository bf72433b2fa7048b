/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of arguments, and the scratch of an envelope. */
#ifndef TSN_LBKEOGH_ARGUMENTS_H
#define TSN_LBKEOGH_ARGUMENTS_H

#include <tsanom/lbkeogh.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "lbkeogh/lbkeogh_kernel.h"

/* TSANOM_E_COUNT or _E_OVERFLOW unless an array can have n elements. */
static inline tsanom_status tsn_lbkeogh_check_count(const tsanom_exec *exec, size_t n,
                                                    const char *name) {
  if (n == 0) return tsn_reject_size(exec, TSANOM_E_COUNT, name, n, 1, SIZE_MAX);
  return tsn_require_size(exec, TSANOM_E_OVERFLOW, name, n, 1,
                          PTRDIFF_MAX / sizeof(double));
}

/* Extremes of the block before, from each of its rows to its end. */
typedef struct {
  real *lowest, *highest;
} tsn_envelope_scratch;

/* Scratch of an envelope at `count` positions; the radius is from tsn_lbkeogh_radius(). A
 * block has a window's length or the whole series, whichever is shorter; the slack
 * completes the rows at both ends. */
static inline void tsn_envelope_layout(tsn_arena *arena, size_t count, size_t radius,
                                       tsn_envelope_scratch *scratch) {
  size_t length =
      tsn_sum(radius < count / 2 ? 2 * radius + 1 : count, TSN_ENVELOPE_SLACK);
  scratch->lowest = tsn_arena_take(arena, length, sizeof(real));
  scratch->highest = tsn_arena_take(arena, length, sizeof(real));
}

/* A radius beyond the last position admits no more than one that reaches it. */
static inline size_t tsn_lbkeogh_radius(size_t radius, size_t longest) {
  return radius < longest ? radius : longest;
}

#endif
