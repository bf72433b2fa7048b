/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats by thread number: the series that tsanom_hsa_run points to. A thread number
 * with one stream has no copy of its own; see beats.c. */
#ifndef TSN_RUNS_BEATS_H
#define TSN_RUNS_BEATS_H

#include <tsanom/hsa.h>
#include <tsanom/record.h>
#include <tsanom/runs.h>

#include "runs/channel.h"
#include "runs/profile.h"

enum { TSN_THREADS_MOST = TSANOM_RECORD_STREAMS_MAX };

/* Beats of threads whose events are added up. Of these the recorder keeps the latest and
 * a sample, with their numbers (docs/formats.md, "Totals"). Those between two that are
 * known are taken to be at equal distances:
 *
 *   kept       1       3       5   6   7
 *   shown      1   2   3   4   5   6   7
 *
 * The rows of a thread's beats follow each other, and the first has the place 0. Rows are
 * only ever added, so that the n-th such group is that of the same thread at each update.
 * A beat with a number that is shown already is not looked at again, though others may
 * have become known between those that are shown. */
typedef struct {
  uint64_t number;   /* of the last beat that is shown; 0: none */
  uint64_t anew;     /* the moment at which the numbers began anew, or 0 */
  double time, from; /* of that beat; of that moment */
  uint32_t thread;
} tsn_sampled_thread;

typedef struct {
  /* tsn_sampled_thread: what is shown of each thread that has rows of beats, in the order
   * of these rows. */
  tsn_array thread;
  size_t count;
  /* Beats before are not shown: those of a loop inside of the main loop, or more than
   * fit. */
  double from;
  /* Beats in between, and those that were kept. */
  uint64_t interpolated, known;
} tsn_sampled_beats;

/* The beats of one thread number that has several streams. */
typedef struct {
  /* double, sorted; beyond `count`, space for the beats that are merged next. */
  tsn_array time;
  size_t count;
  /* Beats of its streams that are not in `time` yet. */
  size_t waiting;
  size_t streams;
  bool is_sampled;
  /* Of a sampled thread with one stream: when it was restarted; and beats before `from`
   * are dropped. */
  double restart, from;
} tsn_merged;

/* A stream of a recorded program: the beats before `first` are those of a loop inside the
 * main loop, by what was recorded at the time `at`. */
typedef struct {
  size_t scanned, first;
  double at;
} tsn_restart;

typedef struct {
  /* Tags number the iterations of a recorded program's main loop. */
  bool is_numbered;
  /* It was recorded without beats, which processor time replaces. */
  bool wants_time;
  /* tsn_restart, by stream. */
  tsn_array restart;
  /* Beats before are dropped. */
  double from;
  /* tsanom_hsa_series, by thread. */
  tsn_array series;
  /* tsn_merged, by thread; used for threads with two streams or more. */
  tsn_array merged;
  /* size_t, by stream: beats that are in `merged`. */
  tsn_array taken;
  /* By which threads continue whose events are added up; and what will be shown of these,
   * if the update does not fail. */
  tsn_sampled_beats sampled, sampled_next;
  /* uint64_t in pairs: number and moment of the beats of one thread. */
  tsn_array slots;
  size_t threads, threads_seen, streams, streams_seen;
  tsanom_hsa_run run;
} tsn_beats;

/* Take memory for what the channel has read and not committed, and for what is new in the
 * profile; then the update cannot fail. Rejects thread numbers that no recorder writes.
 */
tsanom_status tsn_beats_prepare(tsn_beats *beats, const tsn_channel *channel,
                                const tsn_profile *profile, const tsanom_exec *exec);

/* Show what the channel has committed, and what is new in the profile that was prepared.
 * Returns whether beats were dropped that were shown before. */
bool tsn_beats_update(tsn_beats *beats, const tsn_channel *channel,
                      const tsn_profile *profile);

/* After tsn_channel_discard(): forget what was prepared. Arrays of the channel may have
 * moved; the series follow them. */
void tsn_beats_discard(tsn_beats *beats, const tsn_channel *channel);

void tsn_beats_free(tsn_beats *beats, const tsanom_exec *memory);

/* Read a CSV file with the columns thread and time into memory of the pool. */
tsanom_status tsn_beats_read_csv(const char *path, const tsanom_exec *exec,
                                 tsn_pool *pool, tsanom_hsa_run *run);

#endif
