/* SPDX-License-Identifier: BSD-3-Clause */
/* Which anomalies of a watched program are alarms. */
#include <criterion/criterion.h>
#include <math.h>

#include "alarm.h"

/* Beats are normally at most 2 s apart. */
static int slow(double seconds, double waited, double blocked, int32_t detail) {
  tsanom_hsa_anomaly a = {.cause = {.cause = TSANOM_HSA_SLOWDOWN,
                                    .detail = detail,
                                    .value = seconds,
                                    .range = {1, 2},
                                    .number = {waited, blocked}}};
  return is_alarm(&a);
}

Test(watch_alarm, others_that_take_the_processor_are_none) {
  const int32_t blocked = TSANOM_HSA_DETAIL_BLOCKED;
  cr_assert(slow(3, 0.1, 0, blocked) && !slow(3, 0.5, 0, blocked));
  cr_assert(slow(3, 0.5, 0.5, blocked)); /* 3 s * (1 - 0.25) */
  cr_assert(!slow(3, 0.7, 0.5, blocked));
  cr_assert(slow(3, NAN, NAN, blocked));
  cr_assert(slow(3, 0.5, 0, TSANOM_HSA_DETAIL_FAULTS));
}

Test(watch_alarm, causes_of_the_program_are_alarms) {
  for (int32_t cause = TSANOM_HSA_NORMAL + 1; cause < TSANOM_HSA_STATUSES; cause++) {
    tsanom_hsa_anomaly a = {.cause = {.cause = cause}};
    int expected = cause == TSANOM_HSA_MEMORY_LEAK || cause == TSANOM_HSA_SHUTDOWN ||
                   cause == TSANOM_HSA_SLOWDOWN || cause == TSANOM_HSA_IMBALANCE ||
                   cause == TSANOM_HSA_HANG;
    cr_assert(is_alarm(&a) == expected, "%s", tsanom_hsa_status_name(cause));
  }
}
