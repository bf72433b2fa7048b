/* SPDX-License-Identifier: BSD-3-Clause */
/* One update of a run. For each part that is there:
 *
 *   stale?  no:  new records are read behind those that are shown, and then committed
 *           yes: the part is read anew into `fresh`, which then takes its place
 *
 * A part that was not there before is read into `fresh` too, and so are files: a CSV or
 * JSON file has no check for each record, so nothing shows that its beginning is
 * unchanged.
 *
 * The time of an update is proportional to the new records, unless a part is stale:
 * a restart of the clock, a new measurement of the tick, or the end of the run (see
 * channel.c).
 *
 * `fresh` is on the stack of the update. Committing swaps the replaced parts into it, so
 * that one call frees both what was replaced and, after a failure, what was read in
 * vain. */
#include "runs/parts.h"

#include <string.h>
#include <unistd.h>

#include "core/exec.h"
#include "runs/life.h"
#include "runs/ranks.h"

/* What replaces parts. */
typedef struct {
  tsn_parts parts;
  bool beats, regions; /* these are replaced, not extended */
} fresh_parts;

static tsn_beat_part empty_beats(const tsn_place_of_run *place) {
  return (tsn_beat_part){.channel = {.directory = place->path,
                                     .memory = place->memory,
                                     .damage = place->damage}};
}

static tsn_region_part empty_regions(const tsn_place_of_run *place) {
  return (tsn_region_part){.channel = {.directory = place->regions,
                                       .memory = place->memory,
                                       .is_regions = true,
                                       .damage = place->damage},
                           .places = {.pool = {.exec = place->memory},
                                      .shared = place->shared,
                                      .damage = place->damage}};
}

static void free_beats(tsn_beat_part *part) {
  tsn_beats_free(&part->beats, part->channel.memory);
  tsn_channel_free(&part->channel);
}

static void free_regions(tsn_region_part *part) {
  tsn_places_free(&part->places);
  tsn_channel_free(&part->channel);
}

tsn_parts tsn_parts_empty(const tsn_place_of_run *place) {
  return (tsn_parts){.beats = empty_beats(place),
                     .regions = empty_regions(place),
                     .vitals = {.memory = place->memory},
                     .profile = {.pool = {.exec = place->memory}},
                     .csv = {.pool = {.exec = place->memory}},
                     .spmd = tsn_spmd_empty(place->memory)};
}

void tsn_parts_free(tsn_parts *parts) {
  free_beats(&parts->beats);
  free_regions(&parts->regions);
  tsn_vitals_free(&parts->vitals);
  tsn_pool_free(&parts->profile.pool);
  tsn_pool_free(&parts->csv.pool);
  tsn_pool_free(&parts->spmd.pool);
}

static uint64_t channel_records(const tsn_channel *channel) {
  uint64_t records = 0;
  for (size_t i = 0; i < channel->stream_count; i++) {
    records += tsn_channel_stream(channel, i)->count;
  }
  return records;
}

uint64_t tsn_parts_records(const tsn_parts *parts) {
  uint64_t records =
      channel_records(&parts->beats.channel) + channel_records(&parts->regions.channel) +
      parts->beats.beats.shown.of.known + parts->beats.beats.shown.of.timed;
  for (size_t t = 0; t < parts->csv.run.thread_count; t++) {
    records += parts->csv.run.threads[t].beats;
  }
  return records;
}

static bool file_exists(const char *directory, const char *name) {
  tsn_source source = tsn_source_named(NULL, directory, "%s", name);
  return access(source.path, F_OK) == 0;
}

static bool has_ranks(const tsn_place_of_run *place) {
  return place->processes || (!place->shared && file_exists(place->path, TSN_RANKS_FILE));
}

/* The parts to read: those that are wanted, or else those that are there. Several
 * processes have region times in common, and nothing else. */
static int32_t parts_of_directory(const tsn_place_of_run *place, bool has_processes) {
  int32_t parts = place->wanted & ~TSANOM_RUNS_REGION_TIMES;
  if (has_processes) return parts ? parts : TSANOM_RUNS_SPMD;
  if (place->wanted & TSANOM_RUNS_REGION_TIMES) {
    parts |= tsn_is_directory(place->spmd) ? TSANOM_RUNS_SPMD : TSANOM_RUNS_REGIONS;
  }
  if (parts) return parts;
  if (file_exists(place->path, TSN_RUN_FILE)) parts |= TSANOM_RUNS_BEATS;
  if (file_exists(place->regions, TSN_RUN_FILE) &&
      file_exists(place->regions, "places.tsv")) {
    parts |= TSANOM_RUNS_REGIONS;
  }
  if (tsn_is_directory(place->spmd)) parts |= TSANOM_RUNS_SPMD;
  return parts;
}

/* A recorded program that has no beats shows its progress by processor time. One that
 * still runs may get beats, unless it was recorded without. */
static bool beats_by_time(const tsn_beat_part *part, const tsn_vitals *vitals) {
  bool has_beats = part->beats.next.of.known > 0;
  for (size_t i = 0; i < part->channel.streams_seen; i++) {
    has_beats |= tsn_channel_stream(&part->channel, i)->seen > 0;
  }
  return part->beats.is_numbered && !has_beats &&
         (part->beats.wants_time || tsn_life_is_over(vitals, &part->channel));
}

/* Beats that replace those by processor time are read anew. */
static tsanom_status read_beats(tsn_beat_part *part, const tsn_profile *profile,
                                const tsn_vitals *vitals, const tsanom_exec *exec,
                                bool *stale) {
  tsanom_status status = tsn_channel_read(&part->channel, exec, stale);
  if (status == TSANOM_OK && !*stale) {
    status = tsn_beats_read(&part->beats, &part->channel, profile, exec);
  }
  if (status != TSANOM_OK || *stale) return status;
  if (beats_by_time(part, vitals)) {
    return tsn_beats_read_time(&part->beats, &part->channel, vitals, exec);
  }
  *stale = part->beats.shown.of.by_time;
  return TSANOM_OK;
}

/* Places first, so that every event that is read names one of them, unless it was
 * written in between. */
static tsanom_status read_regions(tsn_region_part *part, const tsanom_exec *exec,
                                  bool *stale) {
  tsanom_status status = tsn_places_read(&part->places, part->channel.directory, exec);
  return status == TSANOM_OK ? tsn_channel_read(&part->channel, exec, stale) : status;
}

static tsanom_status read_both_channels(tsn_parts *parts, fresh_parts *fresh,
                                        const tsanom_exec *exec) {
  tsanom_status status = TSANOM_OK;
  bool stale = false;
  if (fresh->parts.present & TSANOM_RUNS_BEATS) {
    const tsn_profile *profile = &fresh->parts.profile;
    const tsn_vitals *vitals = &parts->vitals;
    status = read_beats(&parts->beats, profile, vitals, exec, &stale);
    fresh->beats = stale;
    if (stale) status = read_beats(&fresh->parts.beats, profile, vitals, exec, &stale);
  }
  if (status == TSANOM_OK && (fresh->parts.present & TSANOM_RUNS_REGIONS)) {
    stale = false;
    status = read_regions(&parts->regions, exec, &stale);
    fresh->regions = stale;
    if (stale) status = read_regions(&fresh->parts.regions, exec, &stale);
  }
  return status;
}

/* The directory of the channel that has the vital signs; NULL: there is no channel. */
static const char *vital_directory(const tsn_place_of_run *place, int32_t present) {
  if (present & TSANOM_RUNS_BEATS) return place->path;
  return present & TSANOM_RUNS_REGIONS ? place->regions : NULL;
}

/* A run that was replaced by another is reported by its channels. */
static tsanom_status read_channels(tsn_parts *parts, const tsn_place_of_run *place,
                                   fresh_parts *fresh, const tsanom_exec *exec) {
  const char *directory = vital_directory(place, fresh->parts.present);
  if (!directory) return TSANOM_OK;
  tsanom_status vital =
      place->shared ? TSANOM_OK : tsn_vitals_read(&parts->vitals, directory, exec);
  tsanom_status status = read_both_channels(parts, fresh, exec);
  if (status != TSANOM_OK) return status;
  if (vital < 0) return vital;
  bool of_beats = fresh->parts.present & TSANOM_RUNS_BEATS;
  bool again = of_beats ? fresh->beats : fresh->regions;
  const tsn_parts *host = again ? &fresh->parts : parts;
  return tsn_vitals_prepare(&parts->vitals,
                            of_beats ? &host->beats.channel : &host->regions.channel,
                            again, exec);
}

static tsanom_status read_region_file(const tsn_place_of_run *place,
                                      const tsanom_exec *exec, tsn_spmd *spmd) {
  FILE *stream;
  tsanom_status status = tsn_stream_open(place->path, exec, &stream);
  if (status < 0) return status;
  status = tsn_spmd_read_json(stream, tsn_path_title(place->path), false, exec, spmd);
  tsn_stream_close(stream);
  return status;
}

/* Other parts than region times are those of each rank. */
static tsanom_status read_ranks(const tsn_place_of_run *place, fresh_parts *fresh,
                                const tsanom_exec *exec) {
  if (fresh->parts.present != TSANOM_RUNS_SPMD) {
    tsn_file_place where = {.file = place->path};
    return tsn_reject_file(exec, TSANOM_E_STATE, &where,
                           "a run of several ranks: open that of one, in rank.0");
  }
  const char *const *path = place->processes ? place->process : &place->path;
  return tsn_spmd_read_processes(path, place->processes ? place->processes : 1,
                                 place->symbols, exec, &fresh->parts.spmd);
}

static tsanom_status read_directory(tsn_parts *parts, const tsn_place_of_run *place,
                                    fresh_parts *fresh, const tsanom_exec *exec) {
  bool has_processes = has_ranks(place);
  fresh->parts.present = parts_of_directory(place, has_processes);
  if (!fresh->parts.present) {
    tsn_file_place where = {.file = place->path};
    return tsn_reject_file(exec, TSANOM_E_IO, &where,
                           "not a run: the directory has neither " TSN_RUN_FILE
                           ", regions/, nor spmd/");
  }
  fresh->parts.spmd.damage = parts->vitals.damage = place->damage;
  if (has_processes) return read_ranks(place, fresh, exec);
  if (fresh->parts.present & TSANOM_RUNS_BEATS) {
    /* Only `tsanom record` writes places. */
    parts->beats.beats.is_numbered = fresh->parts.beats.beats.is_numbered =
        file_exists(place->regions, "places.tsv");
    parts->beats.beats.wants_time = fresh->parts.beats.beats.wants_time =
        file_exists(place->regions, "time-beats");
  }
  tsanom_status status = TSANOM_OK;
  if (fresh->parts.present & (TSANOM_RUNS_BEATS | TSANOM_RUNS_REGIONS)) {
    status = tsn_profile_read(place->regions, place->damage, exec, &fresh->parts.profile);
  }
  if (status == TSANOM_OK) status = read_channels(parts, place, fresh, exec);
  if (status == TSANOM_OK && (fresh->parts.present & TSANOM_RUNS_SPMD)) {
    status = tsn_spmd_read_directory(place->spmd, exec, &fresh->parts.spmd);
  }
  return status;
}

static tsanom_status read_new(tsn_parts *parts, const tsn_place_of_run *place,
                              fresh_parts *fresh, const tsanom_exec *exec) {
  if (place->is_directory) return read_directory(parts, place, fresh, exec);
  if (place->is_json) {
    fresh->parts.present = TSANOM_RUNS_SPMD;
    return read_region_file(place, exec, &fresh->parts.spmd);
  }
  fresh->parts.present = TSANOM_RUNS_BEATS;
  return tsn_beats_read_csv(place->path, exec, &fresh->parts.csv.pool,
                            &fresh->parts.csv.run);
}

static void swap_bytes(void *a, void *b, size_t size) {
  unsigned char *x = a, *y = b;
  for (size_t i = 0; i < size; i++) {
    unsigned char byte = x[i];
    x[i] = y[i];
    y[i] = byte;
  }
}

/* Show what was read; what it replaces is left in `fresh`. */
static void commit(tsn_parts *parts, fresh_parts *fresh, bool has_channels) {
  bool drops = false;
  parts->present = fresh->parts.present;
  if (fresh->beats) swap_bytes(&parts->beats, &fresh->parts.beats, sizeof parts->beats);
  if (fresh->regions) {
    swap_bytes(&parts->regions, &fresh->parts.regions, sizeof parts->regions);
  }
  swap_bytes(&parts->profile, &fresh->parts.profile, sizeof parts->profile);
  swap_bytes(&parts->csv, &fresh->parts.csv, sizeof parts->csv);
  swap_bytes(&parts->spmd, &fresh->parts.spmd, sizeof parts->spmd);
  if (has_channels && (parts->present & TSANOM_RUNS_BEATS)) {
    (void)tsn_channel_commit(&parts->beats.channel);
    drops = tsn_beats_commit(&parts->beats.beats);
  }
  if (has_channels && (parts->present & TSANOM_RUNS_REGIONS)) {
    (void)tsn_channel_commit(&parts->regions.channel);
    tsn_places_commit(&parts->regions.places);
  }
  bool of_beats = parts->present & TSANOM_RUNS_BEATS;
  bool again = drops || (of_beats ? fresh->beats : fresh->regions);
  tsn_vitals_update(&parts->vitals,
                    of_beats ? &parts->beats.channel : &parts->regions.channel,
                    &parts->beats.beats.run, again);
  tsn_life_show(&parts->vitals, &parts->beats.channel, &parts->beats.beats);
}

static void discard(tsn_parts *parts) {
  tsn_channel_discard(&parts->beats.channel);
  tsn_beats_show(&parts->beats.beats);
  tsn_channel_discard(&parts->regions.channel);
  tsn_places_discard(&parts->regions.places);
  tsn_vitals_discard(&parts->vitals);
  tsn_life_show(&parts->vitals, &parts->beats.channel, &parts->beats.beats);
}

static tsanom_status update_once(tsn_parts *parts, const tsn_place_of_run *place,
                                 const tsanom_exec *exec) {
  fresh_parts fresh = {.parts = tsn_parts_empty(place)};
  tsanom_status status = read_new(parts, place, &fresh, exec);
  if (status == TSANOM_OK) {
    commit(parts, &fresh, place->is_directory);
  } else {
    discard(parts);
  }
  tsn_parts_free(&fresh.parts);
  return status;
}

/* A program may end between the reading of its header and the look at its process: what it
 * wrote last, its end among it, is read then. If that fails, what was read first remains,
 * and the next call tries again. */
tsanom_status tsn_parts_update(tsn_parts *parts, const tsn_place_of_run *place,
                               const tsanom_exec *exec) {
  tsanom_status status = update_once(parts, place, exec);
  if (status != TSANOM_OK || parts->is_whole || place->damage ||
      parts->beats.beats.run.state != TSANOM_RUN_KILLED) {
    return status;
  }
  parts->is_whole = update_once(parts, place, exec) == TSANOM_OK;
  return TSANOM_OK;
}
