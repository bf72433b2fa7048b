/* SPDX-License-Identifier: BSD-3-Clause */
/* The envelope, in both precisions. The loops are in envelope_kernel.c.
 *
 * All samples are checked before any result is written, since a rejected call must not
 * modify its outputs: one more pass over x, whose cost docs/lbkeogh.md includes. */
#include "lbkeogh/lbkeogh_arguments.h"

typedef struct {
  const tsanom_exec *exec;
  const real *x;
  size_t n, radius;
  real *lower, *upper;
  tsn_envelope_scratch scratch;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  tsn_envelope_layout(arena, c->n, c->radius, &c->scratch);
}

static tsanom_status check(void *context) {
  const call *c = context;
  tsanom_status status = tsn_require_array(c->exec, c->x, c->n, "x");
  if (status < 0 || (status = tsn_require_array(c->exec, c->lower, c->n, "lower")) < 0) {
    return status;
  }
  return tsn_require_array(c->exec, c->upper, c->n, "upper");
}

/* The kernel looks at samples as numbers, hence not in check(), which runs in the caller's
 * floating-point environment. */
static tsanom_status run(void *context) {
  call *c = context;
  const tsn_envelope_kernels *kernels = tsn_envelope_kernels_at(c->exec->isa);
  if (!kernels->all_finite(c->x, c->n)) {
    size_t at = tsn_first_nonfinite(c->x, c->n);
    return tsn_reject_value(c->exec, TSANOM_E_NONFINITE, "x", at, TSANOM_NONE,
                            (double)c->x[at], TSN_FINITE);
  }
  kernels->envelope(c->x, c->n, c->radius, c->n, c->scratch.lowest, c->scratch.highest,
                    c->lower, c->upper);
  return TSANOM_OK;
}

tsanom_status tsanom_lbkeogh_envelope(const real *x, size_t n, size_t radius,
                                      const tsanom_exec *exec, real *lower, real *upper) {
  tsanom_exec own;
  call c = {.exec = &own,
            .x = x,
            .n = n,
            .radius = tsn_lbkeogh_radius(radius, n),
            .lower = lower,
            .upper = upper};
  tsanom_status status = tsn_exec_read(&own, exec);
  if (status < 0 || (status = tsn_lbkeogh_check_count(&own, n, "n")) < 0) return status;
  return tsn_workspace_run(&own, layout, check, run, &c);
}
