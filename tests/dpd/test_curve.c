/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <tsanom/dpd.h>

#include "streams.h"
#include "support/check.h"
#include "support/random.h"

enum { EVENTS = 300, LONGEST = 70 };

Test(dpd_curve, runs_are_those_of_the_definition) {
  uint64_t seed = 1;
  for (int trial = 0; trial < 300; trial++) {
    uint64_t event[EVENTS];
    stream_random(event, EVENTS, &seed);
    size_t max_period = random_between(&seed, 1, LONGEST), bytes = 0;
    CHECK_STATUS(tsanom_dpd_curve_size(max_period, &bytes), TSANOM_OK);
    unsigned char *block = malloc(bytes);
    FOR_EACH_ISA (isa) {
      tsanom_exec exec;
      tsanom_exec_init(&exec, sizeof exec);
      exec.isa = isa;
      tsanom_dpd_curve *curve = NULL;
      CHECK_STATUS(tsanom_dpd_curve_init(max_period, &exec, block, bytes, &curve),
                   TSANOM_OK);
      for (size_t i = 0; i < EVENTS; i++) {
        uint32_t runs[LONGEST];
        CHECK_STATUS(tsanom_dpd_curve_push(curve, event[i]), TSANOM_OK);
        CHECK_STATUS(tsanom_dpd_curve_runs(curve, runs, max_period), TSANOM_OK);
        for (size_t m = 1; m <= max_period; m++) {
          uint32_t expected = 0;
          while (expected + m <= i && event[i - expected] == event[i - expected - m]) {
            expected++;
          }
          cr_assert(runs[m - 1] == expected, "run of %zu at %zu: %u, not %u", m, i,
                    runs[m - 1], expected);
        }
      }
    }
    free(block);
  }
}

Test(dpd_curve, bad_arguments_are_refused) {
  size_t bytes = 3;
  CHECK_STATUS(tsanom_dpd_curve_size(0, &bytes), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_dpd_curve_size((size_t)TSANOM_DPD_WINDOW_MAX + 1, &bytes),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_dpd_curve_size(5, NULL), TSANOM_E_NULL);
  cr_assert(bytes == 3);
  unsigned char block[64];
  tsanom_dpd_curve *curve = NULL;
  CHECK_STATUS(tsanom_dpd_curve_init(50, NULL, block, sizeof block, &curve),
               TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_dpd_curve_push(NULL, 1), TSANOM_E_NULL);
  cr_assert(curve == NULL);
}
