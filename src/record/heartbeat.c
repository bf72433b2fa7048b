/* SPDX-License-Identifier: BSD-3-Clause */
/* The default instance: heartbeats of the process, in the first slot. Its beats are in
 * beat.c.
 *
 * The program and the libraries that it uses share it, so that one process has one run
 * without passing a handle around. tsanom_record objects (record.c) use the other slots. */
#include <tsanom/heartbeat.h>

#include "core/exec.h"
#include "core/fault.h"
#include "record/channel.h"

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
