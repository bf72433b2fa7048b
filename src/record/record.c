/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder object: a few channels of one run directory.
 *
 * The object holds slots only. The channels themselves lie in mappings of the process
 * (see channel.h), since threads may look at their streams after the object is gone. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tsanom/record.h>

#include "core/versioned.h"
#include "record/align.h"
#include "record/channel.h"

enum { HEARTBEATS = 0, REGIONS, KINDS };

struct tsanom_record {
  uint32_t slot[KINDS]; /* TSN_NO_SLOT: no such channel */
  /* Of the block that tsanom_record_create() allocated; NULL: the caller's. */
  void *block;
  void (*dealloc)(void *alloc_user, void *block);
  void *alloc_user;
};

static const tsanom_record_options defaults = {.struct_size = sizeof defaults,
                                               .channels = TSANOM_RECORD_HEARTBEATS};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_record_options),
    .first_size = sizeof(tsanom_record_options),
    .defaults = &defaults,
};

tsanom_status tsanom_record_options_init(tsanom_record_options *options,
                                         size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

/* The fields of exec that this library uses; those after them may be of any version. */
static tsanom_status check_exec(const tsanom_exec *exec) {
  if (!exec) return TSANOM_OK;
  if (exec->struct_size < offsetof(tsanom_exec, poll)) return TSANOM_E_VERSION;
  return !exec->alloc == !exec->dealloc ? TSANOM_OK : TSANOM_E_EXEC;
}

static tsanom_status read_options(const tsanom_record_options *options,
                                  tsanom_record_options *own) {
  enum { ALL = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS };
  tsanom_status status = tsn_versioned_read(&options_type, own, options);
  if (status < 0) return status;
  return own->channels & ~ALL || !own->channels ? TSANOM_E_OPTION : TSANOM_OK;
}

tsanom_status tsanom_record_size(const tsanom_record_options *options, size_t *bytes) {
  tsanom_record_options own;
  if (!bytes) return TSANOM_E_NULL;
  tsanom_status status = read_options(options, &own);
  if (status < 0) return status;
  *bytes = sizeof(tsanom_record) + _Alignof(tsanom_record) - 1;
  return TSANOM_OK;
}

/* Open a channel in a slot of its own. */
static tsanom_status open_channel(const char *directory, int32_t threads,
                                  const tsn_channel_options *options, uint32_t *slot) {
  uint32_t reserved;
  tsanom_status status = tsn_channel_reserve(&reserved);
  if (status < 0) return status;
  status = tsn_channel_open(reserved, directory, threads, options);
  if (status < 0) {
    tsn_channel_release(reserved);
  } else {
    *slot = reserved;
  }
  return status;
}

static tsanom_status finish_channels(const tsanom_record *record) {
  tsanom_status worst = TSANOM_OK;
  for (int kind = KINDS - 1; kind >= 0; kind--) {
    if (record->slot[kind] == TSN_NO_SLOT) continue;
    tsanom_status status = tsn_channel_finish(record->slot[kind]);
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
 * channel has the vital signs. */
static tsanom_status open_channels(tsanom_record *record, const char *directory,
                                   int32_t threads, int32_t channels,
                                   tsn_channel_options options) {
  char inner[PATH_MAX];
  tsanom_status status = TSANOM_OK;
  int length = snprintf(inner, sizeof inner, "%s/regions", directory);
  if (length < 0 || (size_t)length >= sizeof inner) return TSANOM_E_IO;
  if (!(channels & TSANOM_RECORD_HEARTBEATS)) {
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) return TSANOM_E_IO;
  } else {
    status = open_channel(directory, threads, &options, &record->slot[HEARTBEATS]);
    options.vital_ms = TSANOM_HEARTBEAT_VITAL_OFF;
  }
  if (status >= 0 && channels & TSANOM_RECORD_REGIONS) {
    status = open_channel(inner, threads, &options, &record->slot[REGIONS]);
  }
  return status;
}

tsanom_status tsanom_record_init(void *memory, size_t bytes, const char *directory,
                                 int32_t threads, const tsanom_record_options *options,
                                 const tsanom_exec *exec, tsanom_record **record) {
  tsanom_record_options own;
  if (!memory || !record) return TSANOM_E_NULL;
  tsanom_status status = check_exec(exec);
  if (status >= 0) status = read_options(options, &own);
  if (status < 0) return status;
  tsn_channel_options how = {
      .clock = own.clock, .helper = own.helper, .vital_ms = own.vital_ms};
  status = tsn_channel_check(directory, threads, &how);
  if (status < 0) return status;
  size_t needed = 0;
  (void)tsanom_record_size(options, &needed);
  if (bytes < needed) return TSANOM_E_WORKSPACE;
  tsanom_record *r = tsn_align(memory, _Alignof(tsanom_record));
  *r = (tsanom_record){.slot = {TSN_NO_SLOT, TSN_NO_SLOT}};
  status = open_channels(r, directory, threads, own.channels, how);
  if (status < 0) {
    for (int kind = 0; kind < KINDS; kind++) tsn_channel_abandon(r->slot[kind]);
    release_channels(r);
    return status;
  }
  *record = r;
  return TSANOM_OK;
}

tsanom_status tsanom_record_create(const char *directory, int32_t threads,
                                   const tsanom_record_options *options,
                                   const tsanom_exec *exec, tsanom_record **record) {
  size_t bytes;
  if (!record) return TSANOM_E_NULL;
  tsanom_status status = check_exec(exec);
  if (status >= 0) status = tsanom_record_size(options, &bytes);
  if (status < 0) return status;
  bool own_heap = !exec || !exec->alloc;
  void *block = own_heap ? malloc(bytes) : exec->alloc(exec->alloc_user, bytes);
  if (!block) return TSANOM_E_MEMORY;
  status = tsanom_record_init(block, bytes, directory, threads, options, exec, record);
  if (status >= 0) {
    (*record)->block = block;
    (*record)->dealloc = own_heap ? NULL : exec->dealloc;
    (*record)->alloc_user = own_heap ? NULL : exec->alloc_user;
  } else if (own_heap) {
    free(block);
  } else {
    exec->dealloc(exec->alloc_user, block);
  }
  return status;
}

tsanom_status tsanom_record_beat(const tsanom_record *record, int32_t thread,
                                 uint32_t tag) {
  return record ? tsn_beat(record->slot[HEARTBEATS], thread, tag) : TSANOM_E_NULL;
}

tsanom_status tsanom_record_region(const tsanom_record *record, int32_t thread,
                                   uint32_t event) {
  return record ? tsn_beat(record->slot[REGIONS], thread, event) : TSANOM_E_NULL;
}

tsanom_status tsanom_record_finish(tsanom_record *record) {
  return record ? finish_channels(record) : TSANOM_E_NULL;
}

void tsanom_record_destroy(tsanom_record *record) {
  if (!record) return;
  (void)finish_channels(record);
  release_channels(record);
  if (!record->block) return;
  if (record->dealloc) {
    record->dealloc(record->alloc_user, record->block);
  } else {
    free(record->block);
  }
}
