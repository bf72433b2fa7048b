/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder object: a few channels of one run directory.
 *
 *   RUN/heartbeat.run, .00000, ...           HEARTBEATS
 *   RUN/regions/heartbeat.run, .00000, ...   REGIONS
 *
 * The object holds slots only. The channels themselves lie in mappings of the process
 * (see channel.h), since threads may look at their streams after the object is gone. So
 * the object may lie in memory of the caller, whose lifetime the recorder does not know.
 *
 * Creation is all or nothing: if a channel cannot be opened, those opened before are
 * removed with their files. A new kind of channel needs a constant, a slot and a
 * directory here, and nothing in the beat. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>

#include "core/arena.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/versioned.h"
#include "record/channel.h"
#include "record/inside.h"

enum { HEARTBEATS = 0, REGIONS, KINDS };

struct tsanom_record {
  tsn_object owner;
  uint32_t slot[KINDS]; /* TSN_NO_SLOT: no such channel */
};

static const tsanom_record_options defaults = {.struct_size = sizeof defaults,
                                               .channels = TSANOM_RECORD_HEARTBEATS};
static const tsn_versioned options_type = {
    sizeof defaults, offsetof(tsanom_record_options, vital_most), &defaults};

tsanom_status tsanom_record_options_init(tsanom_record_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_options(const tsanom_record_options *options,
                                  const tsanom_exec *exec, tsanom_record_options *own) {
  enum { ALL = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS };
  tsanom_status status = tsn_struct_read(exec, &options_type, own, options, "options");
  if (status < 0) return status;
  status = tsn_require_int(exec, TSANOM_E_OPTION, "options.channels", own->channels,
                           TSANOM_RECORD_HEARTBEATS, ALL);
  if (status < 0) return status;
  return tsn_require_int(exec, TSANOM_E_OPTION, "options.reserved0", own->reserved0, 0,
                         0);
}

/* What a run is started with, and the object that layout() finds. */
typedef struct {
  tsanom_record *object;
  const char *directory;
  tsanom_record **record;
  const tsanom_exec *exec;
} beginning;

static void layout(tsn_arena *arena, void *context) {
  beginning *b = context;
  b->object = tsn_arena_take(arena, 1, sizeof *b->object);
}

static tsanom_status check_pointers(void *context) {
  const beginning *b = context;
  tsanom_status status = tsn_require(b->exec, b->record, "record");
  return status < 0 ? status : tsn_require(b->exec, b->directory, "directory");
}

tsanom_status tsanom_record_size(const tsanom_record_options *options, size_t *bytes) {
  tsanom_record_options own;
  beginning b;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = read_options(options, NULL, &own);
  return status < 0 ? status : tsn_layout_bytes(layout, &b, bytes);
}

/* Open a channel in a slot of its own. */
static tsanom_status open_channel(const char *directory, int32_t threads,
                                  const tsn_channel_options *options,
                                  const tsanom_exec *exec, uint32_t *slot) {
  uint32_t reserved;
  tsanom_status status = tsn_channel_reserve(exec, &reserved);
  if (status < 0) return status;
  status = tsn_channel_open(reserved, directory, threads, options, exec);
  if (status < 0) {
    tsn_channel_release(reserved);
  } else {
    *slot = reserved;
  }
  return status;
}

static tsanom_status finish_channels(const tsanom_record *record, bool last) {
  tsanom_status worst = TSANOM_OK;
  for (int kind = KINDS - 1; kind >= 0; kind--) {
    if (record->slot[kind] == TSN_NO_SLOT) continue;
    tsanom_status status = tsn_channel_finish(record->slot[kind], last);
    if (worst >= 0 && status != TSANOM_OK) worst = status;
  }
  return worst;
}

static void release_channels(tsanom_record *record) {
  for (int kind = 0; kind < KINDS; kind++) {
    tsn_channel_release(record->slot[kind]);
    record->slot[kind] = TSN_NO_SLOT;
  }
}

/* Heartbeats first: their file decides which of several processes has the run. The first
 * channel has the vital signs, also of threads that have region events and no beats. */
static tsanom_status open_channels(tsanom_record *record, const char *directory,
                                   int32_t threads, int32_t channels,
                                   tsn_channel_options options, const tsanom_exec *exec) {
  char inner[PATH_MAX];
  tsanom_status status = TSANOM_OK;
  int length = snprintf(inner, sizeof inner, "%s/regions", directory);
  if (length < 0 || (size_t)length >= sizeof inner) {
    return tsn_reject_path(exec, "create", directory, ENAMETOOLONG);
  }
  if (!(channels & TSANOM_RECORD_HEARTBEATS)) {
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
      return tsn_reject_path(exec, "create", directory, errno);
    }
  } else {
    status = open_channel(directory, threads, &options, exec, &record->slot[HEARTBEATS]);
    options.vital_ms = TSANOM_RECORD_VITAL_OFF;
    if (status >= 0)
      options.first = tsn_channel_at(record->slot[HEARTBEATS])->header.first;
  }
  if (status >= 0 && channels & TSANOM_RECORD_REGIONS) {
    options.is_inner = true;
    status = open_channel(inner, threads, &options, exec, &record->slot[REGIONS]);
  }
  if (status >= 0 && channels == (TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS)) {
    tsn_vital_share(tsn_channel_at(record->slot[REGIONS]),
                    tsn_channel_at(record->slot[HEARTBEATS]));
  }
  return status;
}

tsanom_status tsn_record_read_options(int32_t threads,
                                      const tsanom_record_options *options,
                                      const tsanom_exec *exec, int32_t *channels,
                                      tsn_channel_options *how) {
  tsanom_record_options own;
  tsanom_status status = read_options(options, exec, &own);
  if (status < 0) return status;
  *channels = own.channels;
  *how = (tsn_channel_options){.clock = own.clock,
                               .helper = own.helper,
                               .vital_ms = own.vital_ms,
                               .vital_most = own.vital_most};
  return tsn_channel_check(threads, exec, how);
}

static tsanom_status start(void *memory, size_t bytes, int32_t threads,
                           const tsanom_record_options *options, beginning b) {
  tsn_channel_options how;
  int32_t channels;
  tsn_object owner;
  tsanom_status status =
      tsn_record_read_options(threads, options, b.exec, &channels, &how);
  if (status < 0) return status;
  if ((status = tsn_object_place(b.exec, layout, check_pointers, &b, memory, bytes,
                                 &owner)) < 0)
    return status;
  tsanom_record *r = b.object;
  *r = (tsanom_record){.owner = owner, .slot = {TSN_NO_SLOT, TSN_NO_SLOT}};
  status = open_channels(r, b.directory, threads, channels, how, b.exec);
  if (status < 0) {
    for (int kind = 0; kind < KINDS; kind++) tsn_channel_abandon(r->slot[kind]);
    release_channels(r);
    tsn_object_release(&owner);
    return status;
  }
  *b.record = r;
  return TSANOM_OK;
}

tsanom_status tsanom_record_init(void *memory, size_t bytes, const char *directory,
                                 int32_t threads, const tsanom_record_options *options,
                                 const tsanom_exec *exec, tsanom_record **record) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  if ((status = tsn_require(&own, memory, "memory")) < 0) return status;
  beginning b = {.directory = directory, .record = record, .exec = &own};
  return start(memory, bytes, threads, options, b);
}

tsanom_status tsanom_record_create(const char *directory, int32_t threads,
                                   const tsanom_record_options *options,
                                   const tsanom_exec *exec, tsanom_record **record) {
  tsanom_exec own;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  beginning b = {.directory = directory, .record = record, .exec = &own};
  return start(NULL, 0, threads, options, b);
}

tsanom_status tsanom_record_beat(const tsanom_record *record, int32_t thread,
                                 uint32_t tag) {
  return record ? tsn_beat(record->slot[HEARTBEATS], thread, tag) : TSANOM_E_NULL;
}

void tsn_record_enter(const tsanom_record *record, int32_t thread) {
  tsn_beat_enter(record->slot[HEARTBEATS], thread);
}

tsanom_status tsanom_record_region(const tsanom_record *record, int32_t thread,
                                   uint32_t event) {
  return record ? tsn_beat(record->slot[REGIONS], thread, event) : TSANOM_E_NULL;
}

bool tsn_record_take_back(const tsanom_record *record, int32_t thread, uint32_t event,
                          uint64_t age) {
  return tsn_beat_take_back(record->slot[REGIONS], thread, event, age);
}

int32_t tsn_record_clock(const tsanom_record *record, tsn_moment *first) {
  const tsn_channel *channel = tsn_channel_at(record->slot[REGIONS]);
  *first = channel->header.first;
  return channel->clock;
}

static tsn_channel *events_of(const tsanom_record *record) {
  return tsn_channel_at(record->slot[REGIONS]);
}

void tsn_record_set_cpu_times(const tsanom_record *record, uint32_t which) {
  tsn_channel_set_cpu_times(events_of(record), which);
}

int tsn_record_create_file(const tsanom_record *record, tsn_file *file,
                           const char *name) {
  return tsn_storage_create_other(events_of(record), file, name);
}

int tsn_record_use_file(const tsanom_record *record, tsn_file *file, const char *name) {
  return tsn_storage_use_other(events_of(record), file, name);
}

void tsn_record_settle(const tsanom_record *record, tsn_file *file) {
  tsn_storage_settle(events_of(record), file);
}

tsn_team_thread *tsn_record_team(const tsanom_record *record, uint32_t thread) {
  tsn_channel *channel = events_of(record);
  tsn_vital_board *board = channel ? atomic_load(&channel->vital.entered) : NULL;
  return board && thread < TSN_TEAM_MOST ? &board->team[thread] : NULL;
}

tsanom_status tsanom_record_set_exit(const tsanom_record *record, int32_t status) {
  if (!record) return TSANOM_E_NULL;
  for (int kind = 0; kind < KINDS; kind++) {
    tsn_channel *channel = tsn_channel_at(record->slot[kind]);
    if (channel) channel->vital.exit = status;
  }
  return TSANOM_OK;
}

tsanom_status tsanom_record_finish(tsanom_record *record) {
  return record ? finish_channels(record, false) : TSANOM_E_NULL;
}

tsanom_status tsn_record_end(const tsanom_record *record) {
  return finish_channels(record, true);
}

void tsanom_record_destroy(tsanom_record *record) {
  if (!record) return;
  (void)finish_channels(record, false);
  release_channels(record);
  tsn_object owner = record->owner;
  tsn_object_release(&owner);
}

/* ---- the default instance
 *
 * The default instance: heartbeats of the process, in the first slot. Its beats are in
 * beat.c.
 *
 * The program and the libraries that it uses share it, so that one process has one run
 * without passing a handle around. tsanom_record objects (record.c) use the other slots. */

tsanom_status tsanom_heartbeat_init(const char *directory, int32_t threads,
                                    const tsanom_record_options *options,
                                    const tsanom_exec *exec) {
  tsanom_exec own;
  tsn_channel_options channel;
  int32_t channels;
  tsanom_status status = tsn_exec_read_base(&own, exec);
  if (status < 0) return status;
  status = tsn_record_read_options(threads, options, &own, &channels, &channel);
  if (status < 0) return status;
  status = tsn_require_int(&own, TSANOM_E_OPTION, "options.channels", channels,
                           TSANOM_RECORD_HEARTBEATS, TSANOM_RECORD_HEARTBEATS);
  if (status < 0) return status;
  if ((status = tsn_require(&own, directory, "directory")) < 0) return status;
  return tsn_channel_open(TSN_DEFAULT_SLOT, directory, threads, &channel, &own);
}

tsanom_status tsanom_heartbeat_finish(void) {
  return tsn_channel_finish(TSN_DEFAULT_SLOT, false);
}
