/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <tsanom/heartbeat.h>

#include "support/check.h"

Test(heartbeat, beats_only_within_a_run) {
  char folder[] = "/tmp/tsanom-test-XXXXXX";
  cr_assert(mkdtemp(folder));
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_init(folder, 1, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_init(folder, 1, NULL), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 7), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(-1, 7), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_init(folder, 1, NULL), TSANOM_E_IO);
}
