/* SPDX-License-Identifier: BSD-3-Clause */
/* Which time without a processor is no contention: what the machine's own work takes now
 * and then, a tenth of a second.
 *
 * In a run of a fifth of a second, contention takes no more than that:
 *
 *   thread 0   =====---=====---==         = on a processor    - ready without one
 *   thread 1   ==---=====---=====
 *
 * A process that competes for all of a run takes one processor, for which all threads
 * wait in turn. What the team together lacked for a third of the run was not taken now
 * and then; but only if it is longer than a few turns of other programs, which last some
 * milliseconds each. A program that still runs will wait for longer. */
#include <math.h>

#include "diagnosis/causes.h"

static const double most = 0.15; /* seconds */
static const double turns = 0.05;
static const double lasting = 1.0 / 3; /* of the time of the run */

double tsn_hsa_disturbance(const tsanom_hsa_run *run) {
  double waited = 0, longest = 0, observed;
  for (size_t t = 0; t < run->thread_count; t++) {
    waited += tsn_hsa_waited(&run->threads[t], &observed);
    longest = fmax(longest, observed);
  }
  bool lasts = waited >= fmax(turns, lasting * longest);
  return lasts && run->state != TSANOM_HSA_STATE_RUNNING ? 0 : most;
}
