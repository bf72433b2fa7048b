/* SPDX-License-Identifier: BSD-3-Clause */
/* The wall time of a team, split into work, contention and time in which nobody ran.
 *
 *   thread 0  cccccccc rr cc ------        c  on a processor
 *   thread 1  cccc ------- cc ------       r  ready without one
 *   team      CCCCCCCC RR CC UUUUUU        -  off it: asleep, blocked, stopped
 *
 * P processors need C = max(max c_i, sum c_i / P) for the work: threads that meet wait for
 * the one that has most to do. R is at most what is left. While a thread runs or is ready,
 * not all sleep, so that U must be at most W - c_i - r_i for each i; it is, since C is not
 * below c_i, and R is the sum of r_i or leaves nothing. */
#include <math.h>

#include "diagnosis/ledger.h"

void tsn_ledger_add(tsn_ledger_sums *s, double cpu, double ready) {
  s->most = fmax(s->most, cpu);
  s->work += cpu;
  s->ready += ready;
}

tsn_ledger_entries tsn_ledger_split(const tsn_ledger_sums *s, double processors) {
  double cpu = fmin(s->wall, fmax(s->most, s->work / processors));
  double ready = fmin(s->ready, s->wall - cpu);
  return (tsn_ledger_entries){cpu, ready, s->wall - cpu - ready};
}
