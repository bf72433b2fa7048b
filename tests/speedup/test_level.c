/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between regions and worksharing. */
#include <math.h>
#include <tsanom/speedup.h>

#include "support/check.h"

static int32_t choose(double regions, double worksharing) {
  int32_t level = -1;
  CHECK_STATUS(tsanom_speedup_choose_level(regions, worksharing, &level), TSANOM_OK);
  return level;
}

Test(speedup_level, worksharing_takes_more_than_twice_the_time) {
  int32_t level = -1;
  cr_assert(choose(0, 0) == TSANOM_SPEEDUP_REGIONS);
  cr_assert(choose(300, 0) == TSANOM_SPEEDUP_REGIONS);
  cr_assert(choose(0, 500) == TSANOM_SPEEDUP_WORKSHARING);
  cr_assert(choose(300, 600) == TSANOM_SPEEDUP_REGIONS);
  cr_assert(choose(300, 601) == TSANOM_SPEEDUP_WORKSHARING);
  CHECK_STATUS(tsanom_speedup_choose_level(NAN, 1, &level), TSANOM_E_NONFINITE);
  CHECK_STATUS(tsanom_speedup_choose_level(1, INFINITY, &level), TSANOM_E_NONFINITE);
}
