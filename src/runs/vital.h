/* SPDX-License-Identifier: BSD-3-Clause */
/* The vital signs of a run: the file of one channel, verified and in memory, and the
 * samples by thread. They are read before the channel, so that a sample finds all beats
 * that were before it. */
#ifndef TSN_RUNS_VITAL_H
#define TSN_RUNS_VITAL_H

#include <math.h>
#include <tsanom/hsa.h>

#include "runs/channel.h"

/* The samples of the process or of one thread number. */
typedef struct {
  tsn_array sample; /* tsanom_hsa_vital */
  size_t count;
  size_t more; /* that are read and not converted */
} tsn_vital_series;

typedef struct {
  const tsanom_exec *memory; /* the allocator */
  bool present, present_seen;
  tsanom_fault *damage; /* keep what is in front of it; NULL: reject it */
  uint64_t left_out;    /* samples from the first damaged one on */
  tsn_vital_header header, header_seen;
  tsn_array record; /* tsn_vital_record, in the order of their numbers */
  tsn_array slot;   /* tsn_vital_record: a file without order, while it is read */
  size_t count;     /* records that are committed */
  size_t seen;      /* records that are read; >= count */
  tsn_array series; /* tsn_vital_series; the process, then by thread number */
  size_t series_count, series_seen;
  double peak; /* the most bytes that the process had; 0: not known */
} tsn_vitals;

/* Read what is new in the file of a channel, if there is one. */
tsanom_status tsn_vitals_read(tsn_vitals *vitals, const char *directory,
                              const tsanom_exec *exec);

/* After the channel was read: verify that both are of one run; take memory, so that the
 * update cannot fail. `again`: for samples that were converted already, too. */
tsanom_status tsn_vitals_prepare(tsn_vitals *vitals, const tsn_channel *channel,
                                 bool again, const tsanom_exec *exec);

/* Show what was read, with the times of the channel. */
void tsn_vitals_update(tsn_vitals *vitals, const tsn_channel *channel,
                       const tsanom_hsa_run *beats, bool again);

/* The name in a sample of a thread of a program, if it has one, as text; else unchanged. */
void tsn_vitals_name(const tsn_vital_record *record, const char *program,
                     char name[TSN_TASK_NAME]);

/* When a sample was taken; NaN: not known. */
static inline double tsn_vitals_time(const tsn_vital_record *record,
                                     const tsn_channel *channel) {
  return channel->restarts ? NAN : tsn_channel_seconds(channel, record->time);
}

/* Forget what was read and not shown. */
void tsn_vitals_discard(tsn_vitals *vitals);

void tsn_vitals_free(tsn_vitals *vitals);

static inline tsn_vital_series *tsn_vitals_series(const tsn_vitals *vitals,
                                                  size_t index) {
  return (tsn_vital_series *)vitals->series.data + index;
}

#endif
