/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share: checked options, and the scratch of an
 * envelope. */
#ifndef TSN_LBKEOGH_INTERNAL_H
#define TSN_LBKEOGH_INTERNAL_H

#include <tsanom/lbkeogh.h>

#include "core/arena.h"
#include "lbkeogh/lbkeogh_kernel.h"

tsanom_status tsn_lbkeogh_read_options(tsanom_lbkeogh_options *own,
                                       const tsanom_lbkeogh_options *caller);

/* Read both; what every function of the room begins with. */
tsanom_status tsn_lbkeogh_read(tsanom_lbkeogh_options *own_options,
                               const tsanom_lbkeogh_options *options,
                               tsanom_exec *own_exec, const tsanom_exec *exec);

typedef struct {
  double *lowest, *highest;
} tsn_envelope_scratch;

/* Scratch for the envelope of n samples at `count` positions, a radius that
 * tsn_lbkeogh_radius() gave. */
void tsn_envelope_layout(tsn_arena *arena, size_t count, size_t radius,
                         tsn_envelope_scratch *scratch);

/* A radius beyond the last position admits no more than one that reaches it. */
static inline size_t tsn_lbkeogh_radius(size_t radius, size_t longest) {
  return radius < longest ? radius : longest;
}

#endif
