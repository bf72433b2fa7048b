/* SPDX-License-Identifier: BSD-3-Clause */
/* The default instance: heartbeats of the process, in the first slot. Its beats are in
 * beat.c.
 *
 * The program and the libraries that it uses share it, so that one process has one run
 * without passing a handle around. tsanom_record objects (record.c) use the other slots.
 * Its functions report failures by their status alone, since they have no exec. */
#include <tsanom/heartbeat.h>

#include "core/versioned.h"
#include "record/channel.h"

static const tsanom_heartbeat_options defaults = {.struct_size = sizeof defaults};

static const tsn_versioned options_type = {
    .size = sizeof(tsanom_heartbeat_options),
    .first_size = offsetof(tsanom_heartbeat_options, vital_ms),
    .defaults = &defaults,
};

tsanom_status tsanom_heartbeat_options_init(tsanom_heartbeat_options *options,
                                            size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

tsanom_status tsanom_heartbeat_init(const char *directory, int32_t threads,
                                    const tsanom_heartbeat_options *options) {
  tsanom_heartbeat_options own;
  tsanom_status status = tsn_versioned_read(&options_type, &own, options);
  if (status < 0) return status;
  if (own.reserved0) return TSANOM_E_OPTION;
  tsn_channel_options channel = {
      .clock = own.clock, .helper = own.helper, .vital_ms = own.vital_ms};
  status = tsn_channel_check(directory, threads, NULL, &channel);
  if (status < 0) return status;
  return tsn_channel_open(TSN_DEFAULT_SLOT, directory, threads, &channel, NULL);
}

tsanom_status tsanom_heartbeat_finish(void) {
  return tsn_channel_finish(TSN_DEFAULT_SLOT, false);
}
