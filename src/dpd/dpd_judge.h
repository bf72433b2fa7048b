/* SPDX-License-Identifier: BSD-3-Clause */
/* The period of a stream of values by significance: dpd_find.c on the newest samples, from
 * time to time. */
#ifndef TSN_DPD_JUDGE_H
#define TSN_DPD_JUDGE_H

#include "dpd/dpd_find.h"

typedef struct {
  double significance; /* 0: there is no judge */
  tsanom_exec exec;
  uint64_t due;  /* samples at the next judgment */
  size_t before; /* period of the latest one, 0: none */
  size_t period; /* that of the two latest ones, 0: none */
  double dip;
  tsn_find find;
} tsn_judge;

/* Take the memory for windows and periods of up to those of the options. */
void tsn_judge_layout(tsn_arena *arena, const tsanom_dpd_value_options *options,
                      tsn_judge *judge);

/* Start at the next sample. */
void tsn_judge_start(tsn_judge *judge, uint64_t count);

/* The period at sample `count` of the stream. Of samples[0 ... most), newest first, the
 * first `count` exist. */
size_t tsn_judge_period(tsn_judge *judge, const double *samples, size_t most,
                        uint64_t count, size_t max_period);

#endif
