/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats by thread number: the series that tsanom_hsa_run points to; see beats.c. */
#ifndef TSN_RUNS_BEATS_H
#define TSN_RUNS_BEATS_H

#include <tsanom/hsa.h>
#include <tsanom/record.h>
#include <tsanom/runs.h>

#include "runs/channel.h"
#include "runs/profile.h"
#include "runs/vital.h"

/* What was taken of a stream: records, and the latest of them. */
typedef struct {
  size_t taken;
  double time;
  uint32_t tag;
} tsn_stream_beats;

/* A thread whose events are added up. Of its beats the recorder keeps the latest and a
 * sample, with their numbers (docs/formats.md, "Totals"). Those between two that are
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
} tsn_sampled_thread;

/* A program of one parallel region with a static loop shows no progress but the processor
 * time of its threads, which the vital signs have. Beat k of a thread is at the moment at
 * which it had used 50 ms * k since its first sample:
 *
 *   processor time   0        70        140 ms
 *   samples          |---------|---------|
 *   beats                  1        2             linear between two samples
 *
 * Another thread may continue the number; its time before its first sample does not
 * count, nor does the time since the last sample of the one before. */
typedef struct {
  uint64_t cpu;   /* ns, of the task, in the latest sample */
  uint64_t total; /* ns, of all tasks since their first samples */
  int32_t task;   /* 0: there was no sample */
  double time;    /* of the latest sample */
} tsn_used_time;

/* The beats of a thread number, in an array of times: those from `first` on, which are
 * sorted up to `sorted`. Those before `from` are not shown. */
typedef struct {
  size_t first, sorted, count;
  size_t streams;
  size_t more; /* that are in its streams and not in the array */
  double from;
  double restart; /* of its one stream */
  bool is_sampled;
  tsn_used_time used;
} tsn_thread_beats;

/* All that decides what is shown. */
typedef struct {
  /* tsn_stream_beats; tsn_thread_beats; tsn_sampled_thread, in the order of their rows. */
  tsn_array stream, thread, sampled;
  struct {
    size_t streams, threads, sampled;
    size_t samples; /* vital signs that became beats */
    /* Beats before are not shown: those of a loop inside of the main loop, or more than
     * fit. `sampled_from`: by sampled beats alone. */
    double from, sampled_from;
    /* Sampled beats that were kept, and those in between; beats by processor time. */
    uint64_t known, interpolated, timed;
    bool by_time;                   /* processor time replaces the beats */
    bool has_steps, has_iterations; /* of `tsanom record`, by their tags */
    bool recorded;                  /* recorded or sampled beats were taken */
    bool drops; /* beats are not shown that were, or others are before the latest */
  } of;
} tsn_beat_state;

typedef struct tsn_beats {
  /* Tags number the iterations of a recorded program's main loop. */
  bool is_numbered;
  /* Processor time replaces the beats: it was recorded without, or those that there are belong to
   * no main loop. */
  bool wants_time;
  size_t leader; /* stream of thread 0, the first */
  tsn_beat_state shown, next;
  /* tsn_array of double, by thread: behind the `count` beats that are shown, those that
   * are next. */
  tsn_array times;
  size_t arrays;
  /* tsanom_hsa_series, by thread. */
  tsn_array series;
  /* uint64_t in pairs: number and moment of the beats of one thread. */
  tsn_array slots;
  tsanom_hsa_run run;
} tsn_beats;

/* Read what is new in a channel and in the profile into the next state. Rejects thread
 * numbers that no recorder writes. */
tsanom_status tsn_beats_read(tsn_beats *beats, const tsn_channel *channel,
                             const tsn_profile *profile, const tsanom_exec *exec);

/* The same of processor time, behind tsn_beats_read() of a channel that has no beats. */
tsanom_status tsn_beats_read_time(tsn_beats *beats, const tsn_channel *channel,
                                  const tsn_vitals *vitals, const tsanom_exec *exec);

/* Replace the state that is shown by the next one, and show it; cannot fail. Returns whether
 * beats changed that were shown before. */
bool tsn_beats_commit(tsn_beats *beats);

/* Point the series to the beats: reading may have moved them. */
void tsn_beats_show(tsn_beats *beats);

void tsn_beats_free(tsn_beats *beats, const tsanom_exec *memory);

/* Read a CSV file with the columns thread and time into memory of the pool. */
tsanom_status tsn_beats_read_csv(const char *path, const tsanom_exec *exec,
                                 tsn_pool *pool, tsanom_hsa_run *run);

#endif
