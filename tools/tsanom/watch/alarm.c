/* SPDX-License-Identifier: BSD-3-Clause */
#include "alarm.h"

/* Of a slow thread with normal processor time per beat, the numbers are the share w of
 * its active time in which it waited for a processor, and the share b of all time in
 * which it was blocked: its beats would be normal without the share w (1 - b) of all
 * time. */
static int waits_for_processor(const tsanom_hsa_cause *c) {
  double waited = c->number[0] * (1 - c->number[1]);
  return c->cause == TSANOM_HSA_SLOWDOWN && c->detail == TSANOM_HSA_DETAIL_BLOCKED &&
         c->value * (1 - waited) <= c->range.high;
}

int is_alarm(const tsanom_hsa_anomaly *a) {
  return a->cause.cause != TSANOM_HSA_CONTENTION &&
         a->cause.cause != TSANOM_HSA_WAITING && a->cause.cause != TSANOM_HSA_UNKNOWN &&
         a->cause.cause != TSANOM_HSA_NOT_COMPARABLE && !waits_for_processor(&a->cause);
}
