/* SPDX-License-Identifier: BSD-3-Clause */
/* Heartbeats by thread number. */
#ifndef TSN_RUNS_BEATS_H
#define TSN_RUNS_BEATS_H

#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>

#include "runs/channel.h"

enum { TSN_THREADS_MOST = TSANOM_HEARTBEAT_STREAMS_MAX };

/* The beats of one thread number that has several streams. */
typedef struct {
  tsn_array time; /* sorted */
  size_t count;
  size_t waiting; /* beats of its streams that are not in `time` yet */
  size_t streams;
} tsn_merged;

typedef struct {
  tsn_array series; /* tsanom_hsa_series, by thread */
  tsn_array merged; /* tsn_merged, by thread */
  tsn_array taken;  /* size_t, by stream: beats that are in `merged` */
  size_t threads, threads_seen, streams, streams_seen;
  tsanom_hsa_run run;
} tsn_beats;

/* Take memory for what the channel has read; then the update cannot fail. */
tsanom_status tsn_beats_prepare(tsn_beats *beats, const tsn_channel *channel,
                                const tsanom_exec *exec);

/* Show what the channel has committed. */
void tsn_beats_update(tsn_beats *beats, const tsn_channel *channel);

/* After tsn_channel_discard(): forget what was prepared. */
void tsn_beats_discard(tsn_beats *beats, const tsn_channel *channel);

void tsn_beats_free(tsn_beats *beats, const tsanom_exec *memory);

/* Read a CSV file with the columns thread and time into memory of the pool. */
tsanom_status tsn_beats_read_csv(const char *path, const tsanom_exec *exec,
                                 tsn_pool *pool, tsanom_hsa_run *run);

#endif
