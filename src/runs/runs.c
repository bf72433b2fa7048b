/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of a run, the update of its parts as one transaction, and whether its
 * program still runs.
 *
 *   open       find_parts() ──▶ update_parts()      all or nothing
 *   refresh    update_parts()                       or the run stays as it was
 *   describe, stream_at                             read what was committed */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "core/exec.h"
#include "core/versioned.h"
#include "record/identity.h"
#include "record/vital_proc.h"
#include "runs/run.h"

/* An update first reads all that is new, beside what is shown; only if everything succeeded
 * it becomes visible, so that a failure changes nothing:
 *
 *   read     beats │ regions, places │ csv │ spmd      any failure: discard, as before
 *   commit   beats │ regions, places │ csv │ spmd      cannot fail: memory is there
 *
 * For each part that is there:
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

/* What replaces parts. */
typedef struct {
  tsn_parts parts;
  bool beats, regions; /* these are replaced, not extended */
} fresh_parts;

static tsn_parts empty_parts(const tsn_place_of_run *place) {
  const tsanom_exec *memory = place->memory;
  return (tsn_parts){.beats = {.channel = {.directory = place->path,
                                           .memory = memory,
                                           .damage = place->damage}},
                     .regions = {.channel = {.directory = place->regions,
                                             .memory = memory,
                                             .is_regions = true,
                                             .damage = place->damage},
                                 .places = {.pool = {.exec = memory},
                                            .shared = place->shared,
                                            .damage = place->damage}},
                     .vitals = {.memory = memory},
                     .profile = {.pool = {.exec = memory}},
                     .csv = {.pool = {.exec = memory}},
                     .spmd = tsn_spmd_empty(memory)};
}

static void free_parts(tsn_parts *parts) {
  tsn_beats_free(&parts->beats.beats, parts->beats.channel.memory);
  tsn_channel_free(&parts->beats.channel);
  tsn_places_free(&parts->regions.places);
  tsn_channel_free(&parts->regions.channel);
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

static uint64_t csv_beats(const tsanom_hsa_run *run) {
  uint64_t beats = 0;
  for (size_t t = 0; t < run->thread_count; t++) beats += run->threads[t].beats;
  return beats;
}

static uint64_t records_of(const tsn_parts *parts) {
  return channel_records(&parts->beats.channel) +
         channel_records(&parts->regions.channel) + parts->beats.beats.shown.of.known +
         parts->beats.beats.shown.of.timed + csv_beats(&parts->csv.run);
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

/* ---- the state of the program
 *
 * A run that is not finished is one that still runs if its process does. A process number
 * is used again: the process must have begun before the run did.
 *
 * The kernel is asked only where the number means the same process: on the same boot of
 * the machine and in the same namespace of processes, which the header of the run names.
 * Elsewhere (outside of a container, on another host) the program runs if it has written
 * lately: its sampler writes several samples a second, and clocks of hosts differ by
 * little. For the same reason the age of a record is by CLOCK_MONOTONIC only where that is
 * the clock of the run, and otherwise by the time of day. */

static double now_on(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The child of a fork may be in another namespace. */
const tsn_run_header *tsn_run_here(void) {
  static _Thread_local tsn_run_header here;
  if (here.pid != (uint64_t)getpid()) {
    tsn_identify(&here);
    here.pid = (uint64_t)getpid();
  }
  return &here;
}

/* Seconds since the run began, as its own machine counts them or the time of day. */
static double seconds_since_begin(const tsn_run_header *header) {
  if (tsn_is_same_clock(header, tsn_run_here())) {
    return now_on(CLOCK_MONOTONIC) - (double)header->first.nanoseconds * 1e-9;
  }
  return now_on(CLOCK_REALTIME) - (double)header->start * 1e-9;
}

/* By a clock that is not set while the program runs, where there is one. */
static bool is_alive(const tsn_run_header *header) {
  enum { SLACK_S = 2 };
  return tsn_proc_age(header->pid) + SLACK_S >= seconds_since_begin(header);
}

/* Whether the program has written lately. One that nothing samples, as process 1 of a
 * container, may be silent for longer: for a hundred times its mean time between records. */
static bool wrote_lately(const tsn_vitals *vitals, const tsn_channel *channel,
                         const tsn_run_header *header) {
  const double lately = 5, times = 100;
  const tsn_vital_record *record = vitals->record.data;
  double latest = tsn_channel_last(channel), most = 1;
  for (size_t i = 0; i < channel->stream_count; i++) {
    most = fmax(most, (double)tsn_channel_stream(channel, i)->count);
  }
  if (vitals->seen) {
    latest = fmax(latest, tsn_channel_seconds(channel, record[vitals->seen - 1].time));
  }
  bool is_sampled = vitals->present && vitals->header_seen.sampler != TSN_VITAL_BY_ENDS;
  double limit = is_sampled ? lately : fmax(lately, times * latest / most);
  return seconds_since_begin(header) - latest < limit;
}

static int32_t state_by(const tsn_run_header *header, const tsn_vitals *vitals,
                        const tsn_channel *channel) {
  if (header->state == TSN_FINISHED) return TSANOM_RUN_FINISHED;
  bool runs = tsn_is_same_process_space(header, tsn_run_here())
                  ? is_alive(header)
                  : wrote_lately(vitals, channel, header);
  return runs ? TSANOM_RUN_RUNNING : TSANOM_RUN_KILLED;
}

static void show_samples(const tsn_vitals *vitals, tsn_beats *beats) {
  tsanom_hsa_series *series = beats->series.data;
  for (size_t i = 0; vitals->present && i < vitals->series_count; i++) {
    const tsn_vital_series *s = tsn_vitals_series(vitals, i);
    if (i == 0) {
      beats->run.vital = s->sample.data;
      beats->run.vital_count = s->count;
      beats->run.peak = vitals->peak;
    } else if (i <= beats->run.thread_count) {
      series[i - 1].vital = s->sample.data;
      series[i - 1].vital_count = s->count;
    }
  }
}

/* Of a program that has ended, the last sample of the process knows how. */
static int32_t exit_code_of(const tsn_vitals *vitals) {
  const tsn_vital_record *record = vitals->record.data;
  size_t i = vitals->present ? vitals->count : 0;
  while (i && record[i - 1].stream != TSN_VITAL_PROCESS) i--;
  return i ? record[i - 1].exit : 0;
}

/* After beats and vital signs were shown, or what was read of them was discarded, which may move
 * them: let the run refer to them. */
static void show_life(const tsn_vitals *vitals, const tsn_channel *channel,
                      tsn_beats *beats) {
  const tsn_run_header *header = &channel->header;
  if (!channel->has_data) return;
  show_samples(vitals, beats);
  beats->run.program = header->program;
  beats->run.machine = *header->machine ? header->machine : NULL;
  beats->run.state = state_by(header, vitals, channel);
  beats->run.exit_code = exit_code_of(vitals);
  beats->run.before_s = (double)header->age * 1e-9;
  bool is_finished = header->state == TSN_FINISHED;
  beats->run.children_s = is_finished ? (double)header->children * 1e-9 : 0;
  beats->run.end = 0;
  if (beats->run.state == TSANOM_RUN_RUNNING && !channel->restarts) {
    beats->run.end = seconds_since_begin(header);
  }
}

/* ---- reading */

/* A recorded program that has no beats shows its progress by processor time. One that
 * still runs may get beats, unless it was recorded without, or has taken them back. */
static bool beats_by_time(const tsn_beat_part *part, const tsn_vitals *vitals) {
  bool has_beats = part->beats.next.of.known > 0;
  if (part->beats.wants_time) return part->beats.is_numbered;
  for (size_t i = 0; i < part->channel.streams_seen; i++) {
    has_beats |= tsn_channel_stream(&part->channel, i)->seen > 0;
  }
  return part->beats.is_numbered && !has_beats &&
         state_by(&part->channel.header_seen, vitals, &part->channel) !=
             TSANOM_RUN_RUNNING;
}

/* Beats that replace those by processor time are read anew, and the other way round. */
static tsanom_status read_beats(tsn_beat_part *part, tsn_profile *profile,
                                const tsn_vitals *vitals, const tsanom_exec *exec,
                                bool *stale) {
  tsanom_status status = tsn_channel_read(&part->channel, exec, stale);
  tsn_profile_number(profile, part->channel.header_seen.opener);
  if (status == TSANOM_OK && !*stale) {
    status = tsn_beats_read(&part->beats, &part->channel, profile, exec);
  }
  if (status != TSANOM_OK || *stale) return status;
  bool by_time = beats_by_time(part, vitals);
  *stale = by_time ? part->beats.shown.of.recorded : part->beats.shown.of.by_time;
  return by_time && !*stale
             ? tsn_beats_read_time(&part->beats, &part->channel, vitals, exec)
             : TSANOM_OK;
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
    tsn_profile *profile = &fresh->parts.profile;
    const tsn_vitals *vitals = &parts->vitals;
    status = read_beats(&parts->beats, profile, vitals, exec, &stale);
    fresh->beats = stale;
    if (stale) status = read_beats(&fresh->parts.beats, profile, vitals, exec, &stale);
  }
  if (status == TSANOM_OK && (fresh->parts.present & TSANOM_RUNS_REGIONS)) {
    stale = false;
    status = read_regions(&parts->regions, exec, &stale);
    tsn_profile_number(&fresh->parts.profile, parts->regions.channel.header_seen.opener);
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
    int32_t first;
    size_t count = 0, size = 0;
    tsanom_status status = tsanom_runs_ranks(place->path, exec, &first, 1, &count, &size);
    if (status < 0) return status;
    if (!count)
      return tsn_path_fault(exec, TSANOM_E_STATE, place->path, "no rank recorded a run");
    return tsn_path_fault(
        exec, TSANOM_E_STATE, place->path,
        "a run of several ranks: open that of one, such as rank.%" PRId32, first);
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
    return tsn_path_fault(exec, TSANOM_E_IO, place->path,
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
    tsn_channel_commit(&parts->beats.channel);
    drops = tsn_beats_commit(&parts->beats.beats);
  }
  if (has_channels && (parts->present & TSANOM_RUNS_REGIONS)) {
    tsn_channel_commit(&parts->regions.channel);
    tsn_places_commit(&parts->regions.places);
  }
  bool of_beats = parts->present & TSANOM_RUNS_BEATS;
  bool again = drops || (of_beats ? fresh->beats : fresh->regions);
  tsn_vitals_update(&parts->vitals,
                    of_beats ? &parts->beats.channel : &parts->regions.channel,
                    &parts->beats.beats.run, again);
  show_life(&parts->vitals, &parts->beats.channel, &parts->beats.beats);
}

static void discard(tsn_parts *parts) {
  tsn_channel_discard(&parts->beats.channel);
  tsn_beats_show(&parts->beats.beats);
  tsn_channel_discard(&parts->regions.channel);
  tsn_vitals_discard(&parts->vitals);
  show_life(&parts->vitals, &parts->beats.channel, &parts->beats.beats);
}

static tsanom_status update_once(tsn_parts *parts, const tsn_place_of_run *place,
                                 const tsanom_exec *exec) {
  fresh_parts fresh = {.parts = empty_parts(place)};
  tsanom_status status = read_new(parts, place, &fresh, exec);
  if (status == TSANOM_OK) {
    commit(parts, &fresh, place->is_directory);
  } else {
    discard(parts);
  }
  free_parts(&fresh.parts);
  return status;
}

/* A program may end between the reading of its header and the look at its process: what it
 * wrote last, its end among it, is read then. If that fails, what was read first remains,
 * and the next call tries again. */
static tsanom_status update_parts(tsn_parts *parts, const tsn_place_of_run *place,
                                  const tsanom_exec *exec) {
  tsanom_status status = update_once(parts, place, exec);
  if (status != TSANOM_OK || parts->is_whole || place->damage ||
      parts->beats.beats.run.state != TSANOM_RUN_KILLED) {
    return status;
  }
  parts->is_whole = update_once(parts, place, exec) == TSANOM_OK;
  return TSANOM_OK;
}

/* ---- public functions */

static const tsanom_runs_options default_options = {.struct_size = sizeof default_options,
                                                    .symbols = 1};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_runs_options),
    .first_size = offsetof(tsanom_runs_options, salvage),
    .defaults = &default_options};

static const tsanom_runs_info no_info = {.struct_size = sizeof no_info};

static const tsn_versioned info_type = {.size = sizeof(tsanom_runs_info),
                                        .first_size = offsetof(tsanom_runs_info, skipped),
                                        .defaults = &no_info};

tsanom_status tsanom_runs_options_init(tsanom_runs_options *options, size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* Flags are 0 or 1: other values are kept for later versions. */
static tsanom_status read_options(const tsanom_runs_options *caller,
                                  const tsanom_exec *exec, tsanom_runs_options *own) {
  const int32_t all = TSANOM_RUNS_BEATS | TSANOM_RUNS_REGIONS | TSANOM_RUNS_SPMD |
                      TSANOM_RUNS_REGION_TIMES;
  tsanom_status status = tsn_struct_read(exec, &options_type, own, caller, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.parts", own->parts, 0, all);
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.symbols", own->symbols, 0, 1);
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.salvage", own->salvage, 0, 1);
  if (status < 0) return status;
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

/* Call update_parts() with a fault of its own: attempts that fail before one that
 * succeeds leave no trace in the caller's. Memory is from the run's allocator, since it
 * outlives the call; poll is the caller's. */
static tsanom_status update(tsanom_runs *run, const tsanom_exec *exec) {
  tsanom_fault found;
  tsanom_exec own = *exec;
  found = (tsanom_fault){.struct_size = sizeof found};
  own.alloc = run->exec.alloc;
  own.dealloc = run->exec.dealloc;
  own.alloc_user = run->exec.alloc_user;
  own.fault = &found;
  run->damage_seen = (tsanom_fault){.struct_size = sizeof run->damage_seen};
  tsanom_status status = update_parts(&run->parts, &run->place, &own);
  if (status == TSANOM_OK) run->damage = run->damage_seen;
  if (status < 0) tsn_fault_forward(exec, &found);
  return status;
}

/* By the parts that are wanted, or else by the name: a pipe cannot be looked into. */
static bool is_json(const char *path, int32_t parts) {
  size_t length = strlen(path);
  return (parts & (TSANOM_RUNS_SPMD | TSANOM_RUNS_REGION_TIMES)) ||
         (length > 5 && strcasecmp(path + length - 5, ".json") == 0);
}

/* A file has one part. For other parts the path is taken for a directory, so that faults
 * name the file that is missing there. Empty parts take 6 KB of the stack, as in the caller:
 * gcc 16 would add them. */
__attribute__((noinline)) static tsanom_status find_parts(tsanom_runs *run,
                                                          const char *path,
                                                          const tsanom_exec *exec) {
  tsn_place_of_run *place = &run->place;
  place->wanted = run->options.parts;
  place->damage = run->options.salvage == 1 ? &run->damage_seen : NULL;
  place->symbols = run->options.symbols == 1;
  place->is_json = is_json(path, place->wanted);
  int32_t of_file =
      place->is_json ? TSANOM_RUNS_SPMD | TSANOM_RUNS_REGION_TIMES : TSANOM_RUNS_BEATS;
  place->is_directory =
      (place->wanted & ~of_file) || (strcmp(path, "-") != 0 && tsn_is_directory(path));
  place->path = tsn_pool_copy(&run->pool, path);
  place->regions = tsn_pool_print(&run->pool, "%s/regions", path);
  place->spmd = tsn_pool_print(&run->pool, "%s/spmd", path);
  if (place->path && place->regions && place->spmd) {
    run->parts = empty_parts(place);
    return TSANOM_OK;
  }
  return tsn_reject(exec, TSANOM_E_MEMORY, "exec.alloc");
}

/* The paths of processes, copied. */
static tsanom_status find_processes(tsanom_runs *run, const char *const *paths,
                                    size_t count, const tsanom_exec *exec) {
  const char **own = (const char **)tsn_pool_take(&run->pool, count, sizeof *own);
  for (size_t i = 0; own && i < count; i++) {
    own[i] = tsn_pool_copy(&run->pool, paths[i]);
    if (!own[i]) own = NULL;
  }
  if (!own) return tsn_reject(exec, TSANOM_E_MEMORY, "exec.alloc");
  run->place.process = own;
  run->place.processes = count;
  run->place.is_directory = true;
  return TSANOM_OK;
}

tsanom_status tsn_run_open(const char *const *paths, size_t processes,
                           const tsanom_runs_options *options, tsn_known_places *shared,
                           const tsanom_exec *exec, tsanom_runs **run) {
  tsanom_runs *made = exec->alloc(exec->alloc_user, sizeof *made);
  if (!made) return tsn_reject_memory(exec, sizeof *made);
  *made = (tsanom_runs){.exec = tsn_exec_for_object(exec), .options = *options};
  made->pool.exec = made->place.memory = &made->exec;
  made->place.shared = shared;
  made->parts = empty_parts(&made->place);
  made->from_events = tsn_spmd_empty(&made->exec);
  tsanom_status status = find_parts(made, paths[0], exec);
  if (status == TSANOM_OK && processes) {
    status = find_processes(made, paths, processes, exec);
  }
  if (status == TSANOM_OK) status = update(made, exec);
  if (status == TSANOM_OK) {
    *run = made;
  } else {
    tsanom_runs_destroy(made);
  }
  return status;
}

tsanom_status tsanom_runs_open(const char *path, const tsanom_runs_options *options,
                               const tsanom_exec *exec, tsanom_runs **run) {
  tsanom_exec own;
  tsanom_runs_options how;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status == TSANOM_OK) status = read_options(options, &own, &how);
  if (status < 0) return status;
  if (!path) return tsn_reject_null(&own, "path", TSANOM_NONE);
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  return tsn_run_open(&path, 0, &how, NULL, &own, run);
}

tsanom_status tsanom_runs_open_processes(const char *const *paths, size_t count,
                                         const tsanom_runs_options *options,
                                         const tsanom_exec *exec, tsanom_runs **run) {
  tsanom_exec own;
  tsanom_runs_options how;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  status = read_options(options, &own, &how);
  if (status < 0) return status;
  if (!paths) return tsn_reject_null(&own, "paths", count);
  if (!run) return tsn_reject_null(&own, "run", TSANOM_NONE);
  status = tsn_require_size(&own, count ? TSANOM_E_OVERFLOW : TSANOM_E_COUNT, "count",
                            count, 1, PTRDIFF_MAX / sizeof *paths);
  if (status < 0) return status;
  for (size_t i = 0; i < count; i++) {
    if (paths[i]) continue;
    return tsn_reject_is(&own, TSANOM_E_NULL, "paths", i, "NULL; a path is expected");
  }
  if (how.parts & ~(TSANOM_RUNS_SPMD | TSANOM_RUNS_REGION_TIMES)) {
    return tsn_reject_is(&own, TSANOM_E_OPTION, "options.parts", TSANOM_NONE,
                         "%d; 0, %d or %d is expected of several processes", how.parts,
                         TSANOM_RUNS_SPMD, TSANOM_RUNS_REGION_TIMES);
  }
  return tsn_run_open(paths, count, &how, NULL, &own, run);
}

void tsanom_runs_destroy(tsanom_runs *run) {
  if (!run) return;
  tsanom_exec exec = run->exec;
  tsn_pool_free(&run->from_events.pool);
  tsn_array_free(&run->activities.item, &exec);
  tsn_array_free(&run->activities.sums, &exec);
  tsn_array_free(&run->activities.index, &exec);
  free_parts(&run->parts);
  tsn_pool_free(&run->pool);
  exec.dealloc(exec.alloc_user, run);
}

/* Region times that were computed from the events before the refresh. */
static void forget_spmd(tsanom_runs *run) {
  tsn_pool_free(&run->from_events.pool);
  run->from_events = tsn_spmd_empty(&run->exec);
}

tsanom_status tsn_run_enter(const tsanom_exec *exec, const tsanom_runs *run,
                            const void *output, const char *name, tsanom_exec *own) {
  tsanom_status status = tsn_exec_read_base(own, exec);
  if (status < 0) return status;
  status = tsn_require(own, run, "run");
  return status < 0 ? status : tsn_require(own, output, name);
}

tsanom_status tsn_run_reject(const tsanom_exec *exec, const tsanom_runs *run,
                             const char *text) {
  return tsn_path_fault(exec, TSANOM_E_STATE, tsn_path_title(run->place.path), "%s",
                        text);
}

/* `added` is 0 if there are fewer records now, as after salvage of a file that was
 * damaged before its run finished. */
tsanom_status tsanom_runs_refresh(tsanom_runs *run, const tsanom_exec *exec,
                                  uint64_t *added) {
  tsanom_exec own;
  tsanom_status status = tsn_run_enter(exec, run, run, "run", &own);
  if (status < 0) return status;
  if (strcmp(run->place.path, "-") == 0) {
    return tsn_reject_text(&own, TSANOM_E_STATE, "run", TSANOM_NONE,
                           "standard input cannot be read again");
  }
  uint64_t before = records_of(&run->parts);
  status = update(run, &own);
  if (status != TSANOM_OK) return status;
  forget_spmd(run);
  uint64_t after = records_of(&run->parts);
  if (added) *added = after > before ? after - before : 0;
  return TSANOM_OK;
}

/* Records and drops of a channel, what it lost, and the time of its latest record. */
static void add_channel(const tsn_channel *channel, tsanom_runs_info *info,
                        uint64_t *records, uint64_t *dropped) {
  if (channel->restarts > info->restarts) info->restarts = channel->restarts;
  *dropped += channel->header.lost;
  if (!info->error) info->error = channel->header.error;
  for (size_t i = 0; i < channel->stream_count; i++) {
    const tsn_stream *stream = tsn_channel_stream(channel, i);
    *records += stream->count;
    *dropped += stream->dropped;
    if (!info->error) info->error = stream->error;
    info->skipped += stream->missing;
  }
  double last = tsn_channel_last(channel);
  if (last > info->last) info->last = last;
  if (channel->is_regions) info->last_event = last;
}

/* Both channels have a header; that of the beats is added last and decides. */
static void add_header(const tsn_channel *channel, tsanom_runs_info *info) {
  const tsn_run_header *header = &channel->header;
  info->start = (int64_t)header->start;
  info->pid = (int64_t)header->pid;
  info->tick = channel->tick;
  info->clock = (int32_t)header->clock;
  info->announced = header->announced;
  memcpy(info->program, header->program, sizeof info->program);
}

/* When the last beat was, since the run began. */
static double last_beat(const tsanom_hsa_run *run) {
  double last = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *series = &run->threads[t];
    if (series->beats) last = fmax(last, series->time[series->beats - 1] - run->start);
  }
  return last;
}

/* Beats by which threads continue where their streams end. */
static void add_sampled(const tsn_beats *beats, tsanom_runs_info *info) {
  info->beats += beats->shown.of.known;
  info->beats_interpolated = beats->shown.of.interpolated;
  info->beats_by_time = beats->shown.of.timed;
  bool is_of_steps = beats->shown.of.has_steps && !beats->shown.of.has_iterations;
  info->beats_of_steps = is_of_steps && !beats->wants_time ? info->beats : 0;
  if (beats->shown.of.known) info->last = fmax(info->last, last_beat(&beats->run));
}

static void add_vitals(const tsn_vitals *vitals, tsanom_runs_info *info) {
  if (!vitals->present) return;
  info->vital = (int32_t)vitals->header.sampler;
  info->vital_period_s = (double)vitals->header.period * 1e-9;
  info->vital_samples = vitals->count;
  info->vital_lost = vitals->header.lost + vitals->left_out;
  info->vital_threads = vitals->series_count ? vitals->series_count - 1 : 0;
}

tsanom_status tsanom_runs_describe(const tsanom_runs *run, tsanom_runs_info *info) {
  if (!run) return TSANOM_E_NULL;
  tsanom_status status = tsn_versioned_check(&info_type, info);
  if (status < 0) return status;
  const tsn_channel *beats = &run->parts.beats.channel;
  const tsn_channel *regions = &run->parts.regions.channel;
  tsanom_runs_info own = run->parts.spmd.incomplete; /* of several processes, or zeros */
  own.parts = run->parts.present;
  own.beat_streams = beats->stream_count;
  own.event_streams = regions->stream_count;
  own.totals = run->parts.profile.count ? run->parts.profile.count - 1 : 0;
  own.places = run->parts.regions.places.count;
  if (regions->has_data) add_header(regions, &own);
  if (beats->has_data) add_header(beats, &own);
  bool beats_decide =
      beats->has_data && (beats->header.state != TSN_FINISHED || !regions->has_data);
  const tsn_channel *deciding = beats_decide ? beats : regions;
  if (deciding->has_data) {
    own.state = state_by(&deciding->header, &run->parts.vitals, deciding);
  }
  add_channel(beats, &own, &own.beats, &own.beats_dropped);
  add_sampled(&run->parts.beats.beats, &own);
  add_channel(regions, &own, &own.events, &own.events_dropped);
  add_vitals(&run->parts.vitals, &own);
  if (!run->place
           .is_directory) { /* a CSV file has no header: its threads are its streams */
    own.beat_streams = run->parts.csv.run.thread_count;
    own.beats = csv_beats(&run->parts.csv.run);
    own.last = last_beat(&run->parts.csv.run);
  }
  tsn_versioned_write(&info_type, info, &own);
  return TSANOM_OK;
}

tsanom_status tsanom_runs_first_damage(const tsanom_runs *run, tsanom_fault *damage) {
  if (!run || !damage) return TSANOM_E_NULL;
  if (!tsn_fault_is_prepared(damage)) return TSANOM_E_VERSION;
  const tsanom_exec exec = {.fault = damage};
  tsn_fault_forward(&exec, &run->damage);
  return TSANOM_OK;
}

tsanom_status tsanom_runs_stream_at(const tsanom_runs *run, int32_t part, size_t index,
                                    tsanom_runs_stream *stream) {
  if (!run || !stream) return TSANOM_E_NULL;
  if (part != TSANOM_RUNS_BEATS && part != TSANOM_RUNS_REGIONS) return TSANOM_E_OPTION;
  const tsanom_hsa_run *csv = &run->parts.csv.run;
  if (part == TSANOM_RUNS_BEATS && csv->thread_count) {
    if (index >= csv->thread_count) return TSANOM_E_INDEX;
    *stream = (tsanom_runs_stream){.time = csv->threads[index].time,
                                   .count = csv->threads[index].beats,
                                   .thread = (int32_t)index};
    return TSANOM_OK;
  }
  const tsn_channel *channel =
      part == TSANOM_RUNS_BEATS ? &run->parts.beats.channel : &run->parts.regions.channel;
  if (index >= channel->stream_count) return TSANOM_E_INDEX;
  tsanom_status status = tsn_channel_store(channel, index, &run->exec);
  if (status < 0) return status;
  const tsn_stream *own = tsn_channel_stream(channel, index);
  *stream = (tsanom_runs_stream){.time = own->time.data,
                                 .tag = own->tag.data,
                                 .count = own->count,
                                 .dropped = own->dropped,
                                 .thread = own->thread};
  return TSANOM_OK;
}
