/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files about summaries share; README.md lists them. */
#ifndef TSN_DIAGNOSIS_SUMMARY_H
#define TSN_DIAGNOSIS_SUMMARY_H

#include <stdbool.h>
#include <tsanom/diagnosis.h>

/* Time in which nobody ran, or none had a processor, is named from this share of all on, as
 * signs of the ledger are. */
#define TSN_SUMMARY_SHARE 0.1

/* Slow iterations are the answer if they lost more than this share, and where processors are
 * waited for more than the one above, as what runs beside the program slows some iterations
 * down; the page has them anyway. */
#define TSN_SUMMARY_LOSS 0.02

/* Threads or ranks that differ are the answer if they take longer by more than this share of
 * the time in which the run had processors; the page has them anyway. */
#define TSN_SUMMARY_EXCESS 0.05

static inline bool tsn_summary_has_failed(const tsanom_diagnosis_summary *s) {
  return s->exit_code || s->state == TSANOM_RUN_KILLED;
}

/* Slow iterations that the program makes, and not what runs beside it. */
bool tsn_summary_is_slow(const tsanom_diagnosis_summary *s);

bool tsn_summary_has_team(const tsanom_diagnosis_summary *s);

#endif
