/* SPDX-License-Identifier: BSD-3-Clause */
/* The run object: what tsanom_runs_open() creates and tsanom_runs_refresh() continues.
 *
 *   tsanom_runs ── place     where it is, and which parts are wanted
 *              ├── parts     what was read and committed
 *              ├── from_events   region times computed from events, on request
 *              └── activities    what the last call of tsanom_runs_activities() returned
 *
 * Callers get pointers into `parts`. They are valid until the next refresh or close,
 * because a refresh may move or replace the arrays. */
#ifndef TSN_RUNS_RUN_H
#define TSN_RUNS_RUN_H

#include "runs/beats.h"
#include "runs/places.h"
#include "runs/profile.h"
#include "runs/spmd.h"
#include "runs/vital.h"
#include "runs/walk.h"

/* The parts of a run. An update either extends a part by new records behind those that are
 * shown, or replaces it by one that was read anew (runs.c). */
typedef struct {
  tsn_channel channel;
  tsn_beats beats;
} tsn_beat_part;

typedef struct {
  tsn_channel channel;
  tsn_places places;
  tsn_level level[TSN_LEVELS];
} tsn_region_part;

typedef struct {
  tsn_pool pool;
  tsanom_hsa_run run;
} tsn_csv_part;

typedef struct {
  int32_t present; /* TSANOM_RUNS_BEATS, ... */
  tsn_beat_part beats;
  tsn_region_part regions;
  tsn_vitals vitals;   /* of the heartbeats; without them, of the regions */
  tsn_profile profile; /* of the regions, where their events end */
  tsn_csv_part csv;    /* beats of a file; no threads: none */
  tsn_spmd spmd;       /* of region files; no processes: none */
  bool is_whole;       /* read since the program was seen to have ended */
} tsn_parts;

/* Where a run's parts are. */
typedef struct {
  const tsanom_exec *memory;
  const char *path;
  bool is_directory;
  bool is_json;
  tsanom_fault *damage;       /* passed over, and the first of it kept; NULL: rejected */
  const char *regions, *spmd; /* subdirectories */
  int32_t wanted;             /* tsanom_runs_options.parts */
  bool symbols;               /* of names that are looked up while reading */
  /* Runs that are processes of one program; else `processes` is 0. */
  const char *const *process;
  size_t processes;
  /* The run is one of these, whose region times are wanted: the places of the others. */
  struct tsn_known_places *shared;
} tsn_place_of_run;

/* Items, their sums, and the index of an item plus 1 by place and kind. */
typedef struct {
  tsn_array item, sums, index;
  size_t count;
} tsn_activities;

struct tsanom_runs {
  /* A copy of the caller's, without work, fault and poll: its allocator serves the whole
   * life of the run, while the other members belong to one call. */
  tsanom_exec exec;
  /* Of the paths in `place`. */
  tsn_pool pool;
  tsanom_runs_options options;
  tsn_place_of_run place;
  tsn_parts parts;
  /* The first damage that salvage passed over; `damage_seen` while the run is read. */
  tsanom_fault damage, damage_seen;
  /* Computed on request and kept until the run changes; no processes: not yet. */
  tsn_spmd from_events;
  tsn_activities activities;
};

/* Open a run, or as many processes as `processes` says; 0: a run by itself. `shared`,
 * unless NULL: the run is a process whose region times are wanted, so that vital signs
 * are not read; its places are added to those of other processes, which must last as long
 * as the run. */
tsanom_status tsn_run_open(const char *const *paths, size_t processes,
                           const tsanom_runs_options *options, tsn_known_places *shared,
                           const tsanom_exec *exec, tsanom_runs **run);

/* What functions with an exec begin with: read it, and reject NULL for the run or for an
 * output of that name. */
tsanom_status tsn_run_enter(const tsanom_exec *exec, const tsanom_runs *run,
                            const void *output, const char *name, tsanom_exec *own);

/* The run is valid, but lacks what the caller asks for. */
tsanom_status tsn_run_reject(const tsanom_exec *exec, const tsanom_runs *run,
                             const char *text);

/* The host, boot and namespaces of this process, which are asked once in each thread. */
const tsn_run_header *tsn_run_here(void);

#endif
