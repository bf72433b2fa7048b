/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the threads that paused or became silent at the same time made the others
 * wait:
 *
 *   thread 0   |   |   |                  |   |     beats before a barrier, and waits
 *   thread 1   |   |               |   |   |        paused first: the cause
 *
 * A thread that waits actively used its processor in the gap: one that was blocked
 * meanwhile is the cause, whichever gap began first. Gaps that began within half of an
 * interval of each other say nothing, as where threads beat behind their barriers. */
#include <math.h>

#include "hsa/causes.h"

/* Whether the thread of `c` waited for that of `other`. */
static bool waited(const tsanom_hsa_run *run, const tsanom_hsa_signs *signs,
                   const tsanom_hsa_cause *c, const tsanom_hsa_cause *other) {
  bool silent = c->sign == TSANOM_HSA_SIGN_SILENCE;
  if (silent != (other->sign == TSANOM_HSA_SIGN_SILENCE)) return false;
  tsn_hsa_gap own = tsn_hsa_gap_of(&run->threads[c->thread], c->sign);
  tsn_hsa_gap its = tsn_hsa_gap_of(&run->threads[other->thread], other->sign);
  if (own.begin > its.end || its.begin > own.end) return false;
  if (c->sign != other->sign) return other->sign == TSANOM_HSA_SIGN_BLOCKED_GAP;
  return its.begin < own.begin - 0.5 * signs[c->thread].value[TSANOM_HSA_SIGN_INTERVAL];
}

/* A thread for which others wait may wait itself. */
void tsn_hsa_settle_pauses(const tsanom_hsa_run *run, const tsanom_hsa_signs *signs,
                           tsanom_hsa_cause *cause, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (cause[i].cause != TSANOM_HSA_HANG) continue;
    for (size_t j = 0; j < count; j++) {
      bool hung =
          cause[j].cause == TSANOM_HSA_HANG || cause[j].cause == TSANOM_HSA_WAITING;
      if (hung && waited(run, signs, &cause[i], &cause[j])) {
        cause[i].cause = TSANOM_HSA_WAITING;
        break;
      }
    }
  }
}
