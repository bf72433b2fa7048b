/* SPDX-License-Identifier: BSD-3-Clause */
/* The extent of the damage of a run that was opened with options.salvage, by stream, by
 * part, or in total. It is added up on request from what the parts noted when they were
 * read, so that an intact run costs nothing.
 *
 *   stream      ranges of records that were skipped, state of its header
 *   channel     its streams and its own file
 *   places      lines that could not be read, or places that no line describes
 *   spmd        region files that could not be read */
#include <stdio.h>

#include "core/size.h"
#include "core/versioned.h"
#include "runs/run.h"

static const tsanom_runs_damage no_damage = {.struct_size = sizeof no_damage};

static const tsn_versioned damage_type = {.size = sizeof(tsanom_runs_damage),
                                          .first_size = sizeof(tsanom_runs_damage),
                                          .defaults = &no_damage};

tsanom_status tsanom_runs_damage_init(tsanom_runs_damage *damage, size_t struct_size) {
  return tsn_versioned_init(&damage_type, damage, struct_size);
}

size_t tsanom_runs_damage_size(void) {
  return sizeof(tsanom_runs_damage);
}

/* The first damaged file is named. */
static void name_file(tsanom_runs_damage *sum, const char *directory, const char *name) {
  if (sum->file[0]) return;
  (void)snprintf(sum->file, sizeof sum->file, "%s%s", directory, name);
}

/* Add the damage of a stream, or of the run's own file. Counts add up; the header's
 * state is the worst; place and file are those of the first damage. */
static void add_damage(const tsn_channel *channel, const tsn_damage *own,
                       const char *name, tsanom_runs_damage *sum) {
  if (!own->ranges && !own->header) return;
  if (!sum->file[0]) {
    sum->first_record = own->first_record;
    sum->first_offset = own->first_offset;
  }
  name_file(sum, channel->is_regions ? "regions/" : "", name);
  sum->skipped += own->skipped;
  sum->ranges += own->ranges;
  if (own->header > sum->header) sum->header = own->header;
  sum->streams_lost += own->header == TSANOM_RUNS_HEADER_LOST;
}

static void add_stream(const tsn_channel *channel, size_t index,
                       tsanom_runs_damage *sum) {
  const tsn_stream *stream = tsn_channel_stream(channel, index);
  char name[TSN_FILE_NAME];
  (void)snprintf(name, sizeof name, TSN_STREAM_FILE, (unsigned)index);
  sum->kept += stream->count;
  add_damage(channel, &stream->damage, name, sum);
}

static void add_channel(const tsn_channel *channel, tsanom_runs_damage *sum) {
  const tsn_damage own = {.header = channel->header_state};
  add_damage(channel, &own, TSN_RUN_FILE, sum);
  for (size_t i = 0; i < channel->stream_count; i++) add_stream(channel, i, sum);
}

/* A line that cannot be read leaves its place unknown, but one line can hide several
 * places, and damage behind the last place hides none: the larger number is reported. */
static void add_part(const tsanom_runs *run, int32_t part, tsanom_runs_damage *sum) {
  const tsn_places *places = &run->parts.regions.places;
  const tsn_spmd *spmd = &run->parts.spmd;
  if (part == TSANOM_RUNS_BEATS) add_channel(&run->parts.beats.channel, sum);
  if (part == TSANOM_RUNS_REGIONS) {
    add_channel(&run->parts.regions.channel, sum);
    sum->places_skipped = tsn_larger(places->skipped, tsn_places_unknown(places));
    if (sum->places_skipped) name_file(sum, "regions/", "places.tsv");
  }
  if (part == TSANOM_RUNS_SPMD) {
    sum->files_skipped = spmd->skipped;
    if (spmd->skipped) name_file(sum, "spmd/", spmd->skipped_file);
  }
}

tsanom_status tsanom_runs_damage_at(const tsanom_runs *run, int32_t part, size_t stream,
                                    tsanom_runs_damage *damage) {
  if (!run) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_check(&damage_type, damage);
  if (status < 0) return status;
  tsanom_runs_damage sum = no_damage;
  if (stream == TSANOM_NONE) {
    const int32_t all[] = {TSANOM_RUNS_BEATS, TSANOM_RUNS_REGIONS, TSANOM_RUNS_SPMD};
    int32_t found = part == 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      if (part != 0 && part != all[i]) continue;
      add_part(run, all[i], &sum);
      found = 1;
    }
    if (!found) return TSANOM_E_OPTION;
  } else {
    const tsn_channel *channel = part == TSANOM_RUNS_REGIONS ? &run->parts.regions.channel
                                                             : &run->parts.beats.channel;
    if (part != TSANOM_RUNS_BEATS && part != TSANOM_RUNS_REGIONS) return TSANOM_E_OPTION;
    if (stream >= channel->stream_count) return TSANOM_E_INDEX;
    add_stream(channel, stream, &sum);
  }
  tsn_versioned_write(&damage_type, damage, &sum);
  return TSANOM_OK;
}
