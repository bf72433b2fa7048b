/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a run, and their update as one transaction. An update first reads all
 * that is new, beside what is shown; only if everything succeeded it becomes visible, so
 * that a failure changes nothing:
 *
 *   read     beats │ regions, places │ csv │ spmd      any failure: discard, as before
 *   commit   beats │ regions, places │ csv │ spmd      cannot fail: memory is there
 *
 * Each part knows how to do both steps. A part is either extended (new records behind
 * the shown ones) or replaced by one that was read anew. */
#ifndef TSN_RUNS_PARTS_H
#define TSN_RUNS_PARTS_H

#include "runs/beats.h"
#include "runs/places.h"
#include "runs/profile.h"
#include "runs/spmd.h"
#include "runs/vital.h"
#include "runs/walk.h"

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

/* No parts. */
tsn_parts tsn_parts_empty(const tsn_place_of_run *place);
void tsn_parts_free(tsn_parts *parts);

/* Records of all parts. */
uint64_t tsn_parts_records(const tsn_parts *parts);

/* Read what is new, and show it. After an error the parts are as before. */
tsanom_status tsn_parts_update(tsn_parts *parts, const tsn_place_of_run *place,
                               const tsanom_exec *exec);

#endif
