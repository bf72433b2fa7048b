/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations shared by the files of the online diagnosis; README.md lists them. */
#ifndef TSN_DIAGNOSIS_WATCH_H
#define TSN_DIAGNOSIS_WATCH_H

#include <tsanom/diagnosis.h>

#include "diagnosis/causes.h"

enum {
  TSN_WATCH_RING = TSANOM_DIAGNOSIS_WATCH_INTERVALS + 1, /* latest beats */
  TSN_WATCH_MARKS = 1024 /* beats whose times are kept of the whole run */
};

/* What is kept of a thread. */
typedef struct {
  double ring[TSN_WATCH_RING], mark[TSN_WATCH_MARKS];
  tsn_gap gap[TSN_GAPS_EACH];
  tsanom_hsa_vital sample[TSANOM_DIAGNOSIS_WATCH_SAMPLES];
} tsn_watch_store;

/* Samples of a run of any length: each stride-th, and behind them the latest one. */
typedef struct {
  tsanom_hsa_vital *kept; /* of TSANOM_DIAGNOSIS_WATCH_SAMPLES */
  size_t count;
  uint64_t seen, stride;
} tsn_watch_samples;

/* Time of a silent thread without a processor. */
typedef struct {
  tsanom_hsa_vital latest; /* sample; task 0: none */
  double seconds;          /* of the silence, until the latest sample */
  double queued;           /* of `seconds` or before: not in the wait_s of the sample */
  double share; /* of the time before the latest sample, if it was ready then; else 0 */
  double cpu;   /* processor time of the silence, at least */
} tsn_watch_wait;

/* What iterations of a thread cost; of the window that goes on the lower part. */
typedef struct {
  double most;          /* processor time of an iteration, at most */
  uint64_t iterations;  /* that `most` is of */
  int32_t task;         /* of the latest sample; 0: none */
  double cpu_s;         /* of the latest sample */
  double before;        /* processor time of the window before; infinity: there is none */
  double used, longest; /* of this one, and its longest iteration */
  uint64_t ended;       /* iterations in it */
} tsn_watch_cost;

typedef struct {
  tsanom_diagnosis_pulse pulse;
  double *ring; /* times of the latest beats; beat i at i % TSN_WATCH_RING */
  double *mark; /* times of each stride-th beat */
  size_t marks;
  tsn_gaps gaps;
  tsn_watch_samples vital;
  tsn_watch_wait wait;
  tsn_watch_cost cost;
  bool computes;  /* no iteration took as much processor time as its silence */
  double limit;   /* of a silence, by its own intervals; infinity: not known */
  double since;   /* when its silence began; NaN: not known */
  double silence; /* seconds since then that no missing processor explains */
  double woke;    /* the beat that ended its last silence without a processor; 0: none */
  double resumed; /* time of the beat that ended its last hang; 0: none */
  uint64_t learned;   /* beats that the limit follows from */
  uint64_t before;    /* beats before this update */
  const double *next; /* beat of this update that was not added yet, and their number */
  size_t left;
  uint64_t until_late; /* beats soon after the latest point */
  size_t next_sample;  /* of this update, that was not added yet */
} tsn_watch_thread;

struct tsanom_diagnosis_watch {
  tsn_object owner;
  tsanom_diagnosis_watch_options options;
  tsanom_diagnosis_normal normal; /* thread_count 0: none */
  uint64_t stride;                /* beats between two marks */
  double point;                   /* time of the latest; -infinity: none */
  uint64_t next_point;            /* beats of all threads, if it is not late */
  size_t next_sample;             /* of the process and of this update */
  size_t capacity;                /* of threads */
  size_t threads;                 /* that updates had */
  tsn_watch_thread *thread;
  tsn_watch_samples vital; /* of the process; beats: those of the busiest thread */
  double first, last;      /* first and last beat of all threads */
  double now;
  double *scratch; /* of TSANOM_DIAGNOSIS_WATCH_INTERVALS */
  tsanom_hsa_series *series;
  tsn_search search; /* its causes are those of the latest point */
  tsanom_diagnosis_anomaly *anomaly;
  size_t anomalies;
  bool
      waits; /* its hangs wait for another run of its job (job.c), until the next update */
  const tsanom_diagnosis_pulse
      *silent; /* of a run of a job: its first silent thread; NULL: none */
};

/* The status of a thread, as of the job. */
static inline int32_t tsn_watch_status(const tsanom_diagnosis_watch *w, size_t thread) {
  int32_t status = w->thread[thread].pulse.status;
  return w->waits && status == TSANOM_HSA_HANG ? TSANOM_HSA_WAITING : status;
}

/* --- watch.c --- */

/* The thread with most beats; of equal ones the first. */
size_t tsn_watch_busiest(const tsanom_diagnosis_watch *w);

/* The sizes of a watch, and its memory. */
typedef struct {
  size_t threads;
  tsanom_diagnosis_normal normal; /* the caller's; thread_count 0: none */
  tsanom_diagnosis_watch own;     /* what it begins with besides normal ranges */
  tsanom_diagnosis_watch *watch;
  tsn_watch_store *store;
} tsn_watch_frame;

/* A tsn_layout. */
void tsn_watch_layout(tsn_arena *arena, void *frame);

/* Check a run, and take its number of threads. */
tsanom_status tsn_watch_check_run(tsn_watch_frame *frame, const tsanom_hsa_run *run,
                                  const tsanom_exec *exec);

/* Begin a watch, and give it what is known of a run. */
tsanom_diagnosis_watch *tsn_watch_whole(tsn_watch_frame *frame,
                                        const tsanom_hsa_run *run);

/* The longest gaps of a run, of which the watch has all beats, none of them inside of another;
 * at most TSN_GAPS. */
size_t tsn_watch_gaps(tsanom_diagnosis_watch *w, const tsanom_hsa_run *run, tsn_gap *gap);

/* --- job.c --- */

/* The time of `iterations` more of a thread; NaN before. */
void tsn_watch_predict(const tsanom_hsa_series *series, double iterations, double now,
                       tsanom_diagnosis_remaining *remaining);

#endif
