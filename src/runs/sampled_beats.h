/* SPDX-License-Identifier: BSD-3-Clause */
/* Beats of threads whose events are added up. Of these the recorder keeps the latest and
 * a sample, with their numbers (docs/formats.md, "Totals"). Those between two that are
 * known are taken to be at equal distances:
 *
 *   kept       1       3       5   6   7
 *   shown      1   2   3   4   5   6   7
 */
#ifndef TSN_RUNS_SAMPLED_BEATS_H
#define TSN_RUNS_SAMPLED_BEATS_H

#include "runs/profile.h"

typedef struct {
  double time;
  uint32_t thread;
} tsn_sampled_beat;

typedef struct {
  uint64_t number;   /* of the last beat that is shown; 0: none */
  uint64_t anew;     /* the moment at which the numbers began anew, or 0 */
  double time, from; /* of that beat; of that moment */
  uint32_t thread;
} tsn_sampled_thread;

typedef struct {
  /* tsn_sampled_thread: what is shown of each thread that has rows of beats, in the order
   * of these rows; and what will be, if the update does not fail. */
  tsn_array shown, next;
  size_t shown_count, next_count;
  /* tsn_sampled_beat: those that are not shown yet. */
  tsn_array fresh;
  size_t fresh_count;
  /* uint64_t in pairs: number and moment of the beats of one thread. */
  tsn_array slots;
  /* Beats before are not shown: those of a loop inside of the main loop, or more than
   * fit. */
  double from, next_from;
  /* Beats in between, and those that were kept. */
  uint64_t interpolated, next_interpolated, known, next_known;
} tsn_sampled_beats;

/* Find what is new in the profile, of a run that began at that moment of CLOCK_MONOTONIC.
 * False: out of memory. */
bool tsn_sampled_beats_prepare(tsn_sampled_beats *sampled, const tsn_profile *profile,
                               uint64_t began, const tsanom_exec *memory);

/* The fresh beats are shown, or forgotten. */
void tsn_sampled_beats_commit(tsn_sampled_beats *sampled);
void tsn_sampled_beats_discard(tsn_sampled_beats *sampled);

void tsn_sampled_beats_free(tsn_sampled_beats *sampled, const tsanom_exec *memory);

#endif
