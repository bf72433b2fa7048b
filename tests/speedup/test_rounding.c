/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounding mode of the caller does not change results. */
#include <fenv.h>
#include <string.h>
#include <tsanom/speedup.h>

#include "support/check.h"
#include "support/random.h"

typedef struct {
  tsanom_speedup_loop loop;
  tsanom_speedup_prediction prediction;
} results;

static void compute(int mode, results *r) {
  memset(r, 0, sizeof *r);
  r->prediction = (tsanom_speedup_prediction){.struct_size = sizeof r->prediction};
  tsanom_speedup *analyzer = NULL;
  size_t count = 0;
  uint64_t seed = 3;
  double now = 0;
  cr_assert(tsanom_speedup_create(NULL, NULL, &analyzer) == TSANOM_OK);
  for (int i = 0; i < 900; i++) {
    double end = now + 0.1 + random_unit(&seed);
    tsanom_speedup_event event = {.region = (uint64_t)(i % 3),
                                  .begin = now,
                                  .end = end,
                                  .threads = i < 300 ? 1 : 2};
    now = end + 0.01;
    cr_assert(fesetround(mode) == 0);
    tsanom_speedup_push(analyzer, &event);
    cr_assert(fegetround() == mode && fesetround(FE_TONEAREST) == 0);
  }
  cr_assert(fesetround(mode) == 0);
  tsanom_speedup_finish(analyzer);
  tsanom_speedup_loops(analyzer, &r->loop, 1, &count);
  tsanom_speedup_predict(analyzer, 500, &r->prediction);
  cr_assert(fegetround() == mode && fesetround(FE_TONEAREST) == 0);
  cr_assert(count == 1);
  tsanom_speedup_destroy(analyzer);
}

Test(speedup_rounding, mode_of_the_caller_does_not_matter) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  results nearest, other;
  compute(FE_TONEAREST, &nearest);
  cr_assert(nearest.loop.iterations == 300 && nearest.prediction.remaining_s > 0);
  for (int m = 0; m < 3; m++) {
    compute(modes[m], &other);
    cr_assert(memcmp(&nearest, &other, sizeof other) == 0); /* NOLINT: compares bits */
  }
}
