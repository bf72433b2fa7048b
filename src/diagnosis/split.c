/* SPDX-License-Identifier: BSD-3-Clause */
/* The wall time of a team, split into work, contention and time in which nobody ran.
 *
 *   thread 0  cccccccc rr cc ------        c  on a processor
 *   thread 1  cccc ------- cc ------       r  ready without one
 *   team      CCCCCCCC RR CC UUUUUU        -  off it: asleep, blocked, stopped
 *
 * P processors need max(max c_i, sum c_i / P) for the work: threads that meet wait for the one
 * that has most to do. U is what the samples say, in which nobody ran and nobody was ready:
 *
 *   samples  o    o    o    o    o
 *   states   RS   RR   SS   RS   TT        U: here two of five cells
 *
 * and at most W - c_i - r_i for each i. R is at most what is left; then C, work and
 * processors that idle since it lies on too few threads. Where the samples do not know the
 * states, U is what R leaves: then threads that wait for each other's processor look as if
 * nobody ran. */
#include <math.h>

#include "diagnosis/ledger.h"

tsn_ledger_sums tsn_ledger_begin(double wall, double nobody) {
  return (tsn_ledger_sums){.wall = wall, .off = wall, .nobody = nobody};
}

void tsn_ledger_add(tsn_ledger_sums *s, double cpu, double ready) {
  s->most = fmax(s->most, cpu);
  s->work += cpu;
  s->ready += ready;
  s->off = fmin(s->off, fmax(0, s->wall - cpu - ready));
}

tsn_ledger_entries tsn_ledger_split(const tsn_ledger_sums *s, double processors,
                                    double ready) {
  double least = fmin(s->wall, fmax(s->most, s->work / processors));
  double rest = s->wall - least;
  double nobody = fmin(rest, s->off);
  nobody = fmin(nobody, isnan(s->nobody) ? fmax(0, rest - ready) : s->nobody);
  ready = fmin(ready, rest - nobody);
  return (tsn_ledger_entries){s->wall - ready - nobody, ready, nobody};
}
