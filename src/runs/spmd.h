/* SPDX-License-Identifier: BSD-3-Clause */
/* Region times of processes, from four sources, each of which fills one tsn_spmd:
 *
 *   region file              one JSON file: any number of processes        region_json.c
 *   RUN/spmd/NAME.json       one file for each process, merged by name processes.c
 *   region events            the threads of one process are its rows       region_rows.c
 *   events of several runs   each is a process; merged by name             processes.c
 *                            by its computations, or its functions
 *
 * All matrices are row-major, processes by regions; metric m begins at m * processes *
 * regions. */
#ifndef TSN_RUNS_SPMD_H
#define TSN_RUNS_SPMD_H

#include <stdio.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

#include "runs/channel.h"
#include "runs/memory.h"
#include "runs/places.h"
#include "runs/profile.h"

/* Regions of a run, at most. Every process has a time for each of them, so a merged
 * matrix can be larger than its files together; this bounds it. */
enum { TSN_REGIONS_MOST = 1 << 14 };

/* Batches of the samples of a time, from which its standard error comes. */
enum { TSN_SPMD_BATCHES = 10 };

/* Arrays and names lie in the pool. Zero it and set the pool's exec before use; free the
 * pool after a failure too. */
typedef struct {
  tsn_pool pool;
  tsanom_spmd_data data;
  /* Names; process: NULL without names. */
  const char **region, **process, **metric;
  /* By region; TSANOM_SPMD_NONE: nested in none. */
  int32_t *parent;
  /* Seconds, and the values of the metrics: NaN where one was not measured. */
  double *time, *value;
  double *error; /* standard errors of the times: NaN where not known; NULL: of none */
  /* By region, of a part of one process: its samples, and their batches; NULL: none. */
  size_t *samples;
  double *batch;
  /* By process: seconds in MPI; NULL: not known. */
  double *waiting;
  /* By process: seconds of computations in which it had no processor; NULL: not known. */
  double *stalled;
  /* Functions that were left out, because they were called too often. */
  const char **dropped;
  size_t dropped_count;
  /* Files of a directory that cannot be read are left out, and runs are read up to their
   * damage; NULL: they must be intact. */
  tsanom_fault *damage;
  /* Of runs that are processes: what is not complete in one of them. */
  tsanom_runs_info incomplete;
} tsn_spmd;

/* Empty data. */
tsn_spmd tsn_spmd_empty(const tsanom_exec *memory);

/* Point data's arrays to the own ones. Callers get `data` only, whose pointers are to
 * constants. */
void tsn_spmd_complete(tsn_spmd *spmd);

/* Parse a region file. A part of a run names its processes, and may have no regions: a
 * process that entered none is a process of the run all the same. */
tsanom_status tsn_spmd_read_json(FILE *stream, const char *file, bool is_part,
                                 const tsanom_exec *exec, tsn_spmd *spmd);

/* Put together all region files of a directory. */
tsanom_status tsn_spmd_read_directory(const char *directory, const tsanom_exec *exec,
                                      tsn_spmd *spmd);

/* Bits of the metrics of which the run has events, also those that could not be counted.
 */
uint32_t tsn_metrics_of(const tsn_channel *channel);

/* Allocate names and values of "calls" and of the metrics. */
bool tsn_metrics_take(tsn_spmd *spmd, uint32_t metrics, size_t cells);

/* Set those of a cell of the matrices. */
void tsn_metrics_set(const tsn_spmd *spmd, uint32_t metrics, size_t cell, double calls,
                     const double count[TSN_REGIONS_METRICS]);

/* A process that counted a metric nowhere where it was has no count anywhere: it is
 * missing, not 0. */
void tsn_metrics_complete(const tsn_spmd *spmd);

/* A part of a whole: the data of one or a few processes. `path` is for messages. */
typedef struct {
  const char *path;
  tsn_spmd spmd;
  uint32_t *region, *metric; /* numbers of its regions and metrics in the whole */
} tsn_spmd_part;

/* There are more than TSN_REGIONS_MOST. */
tsanom_status tsn_reject_regions(const char *directory, const tsanom_exec *exec);

/* A run of several ranks: RUN/ranks.tsv, and an ordinary run RUN/rank.K for each rank
 * (docs/formats.md). */
#define TSN_RANKS_FILE "ranks.tsv"

/* Separate runs as processes, and the ranks of a run that has several. */
tsanom_status tsn_spmd_read_processes(const char *const *paths, size_t count,
                                      bool symbols, const tsanom_exec *exec,
                                      tsn_spmd *spmd);

/* The thread that began the run as a process (process_times.c): the computations between
 * its calls of MPI, and the parallel regions in them: from events, and from the totals
 * where they end. All places have names. The part's regions are numbers in `regions`, to
 * which new names are added; there are no names of its own. */
tsanom_status tsn_spmd_read_process(const tsn_channel *channel,
                                    const tsn_profile *profile, const tsn_places *places,
                                    tsn_names *regions, const tsanom_exec *exec,
                                    tsn_spmd_part *part);

/* The samples that each time of a matrix is the sum of, in batches. */
typedef struct {
  size_t *count, *seen; /* by cell */
  double *batch;        /* TSN_SPMD_BATCHES for each cell */
} tsn_spmd_samples;

/* Zero samples of each cell; false: out of memory. */
bool tsn_spmd_take_samples(tsn_spmd_samples *samples, tsn_pool *pool, size_t cells);

/* One more sample of a cell, whose count is final. */
static inline void tsn_spmd_add_sample(const tsn_spmd_samples *samples, size_t cell,
                                       double value) {
  size_t batch = samples->seen[cell]++ * TSN_SPMD_BATCHES / samples->count[cell];
  samples->batch[cell * TSN_SPMD_BATCHES + batch] += value;
}

/* The standard errors of the sums of the samples, rows by regions. */
void tsn_spmd_errors(const tsn_spmd_samples *samples, size_t rows, size_t regions,
                     double *error);

/* The name of a thread in its latest sample while it ran. */
typedef struct {
  char text[TSN_TASK_NAME];
  bool is_known;
} tsn_thread_name;

/* The processor of most samples of each thread, and 1, and its name, from the vital signs of
 * a directory; unchanged where there is none. False: out of memory. */
bool tsn_homes_read(const char *directory, const tsn_run_header *run, size_t threads,
                    tsn_pool *pool, uint32_t *home, tsn_thread_name *name);

/* Add to the standard errors what the homes of the rows explain; 0 is no home. False: out
 * of memory. */
bool tsn_spmd_add_processor_errors(const uint32_t *home, tsn_spmd *spmd, tsn_pool *pool);

/* Region events, and the totals by which they continue. */
typedef struct {
  const char
      *directory; /* of the run, which may have the vital signs; else the channel's has */
  const tsn_channel *channel;
  const tsn_profile *profile; /* NULL: without totals */
  tsn_places *places;
  bool symbols;
  /* The thread that began the run is a process, by the functions that it called and the
   * parallel regions in them; all places have names. Else each thread is one. */
  bool is_process;
} tsn_region_events;

tsanom_status tsn_spmd_read_events(const tsn_region_events *of, const tsanom_exec *exec,
                                   tsn_spmd *spmd);

#endif
