/* SPDX-License-Identifier: BSD-3-Clause */
/* The emitter, by what the reader finds of it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <tsanom/heartbeat_run.h>
#include <unistd.h>

#include "heartbeat/run_folder.h"
#include "support/check.h"

static char folder[FOLDER_ROOM];

static void make_folder(void) {
  folder_make(folder);
}

static void remove_folder(void) {
  folder_remove(folder);
}

TestSuite(heartbeat, .init = make_folder, .fini = remove_folder);

static tsanom_heartbeat_run *open_run(const char *path) {
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_run *run = NULL;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_status status = tsanom_heartbeat_run_open(path, NULL, &fault, &run);
  cr_assert(status == TSANOM_OK, "%s at %llu: %s", fault.file,
            (unsigned long long)fault.offset, fault.text);
  return run;
}

static tsanom_heartbeat_run_info describe(const tsanom_heartbeat_run *run) {
  tsanom_heartbeat_run_info info;
  CHECK_STATUS(tsanom_heartbeat_run_describe(run, &info, sizeof info), TSANOM_OK);
  return info;
}

static tsanom_heartbeat_stream_info describe_stream(const tsanom_heartbeat_run *run,
                                                    uint32_t stream) {
  tsanom_heartbeat_stream_info info;
  CHECK_STATUS(tsanom_heartbeat_run_stream(run, stream, &info, sizeof info), TSANOM_OK);
  return info;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Test(heartbeat, beats_only_within_a_run) {
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_init(folder, 1, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_init(folder, 1, NULL), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 7), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(-1, 7), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 0), TSANOM_E_STATE);
}

/* Each clock: tags come back, times are those of the beats. */
Test(heartbeat, comes_back_as_recorded) {
  enum { BEATS = 1000 };
  for (int32_t clock = TSANOM_HEARTBEAT_CLOCK_AUTO;
       clock <= TSANOM_HEARTBEAT_CLOCK_MONOTONIC; clock++) {
    static double expected[BEATS], times[BEATS];
    static uint32_t tags[BEATS];
    char path[FOLDER_ROOM + 16];
    (void)snprintf(path, sizeof path, "%s/run%d", folder, clock);
    tsanom_heartbeat_options options;
    CHECK_STATUS(tsanom_heartbeat_options_init(&options, sizeof options), TSANOM_OK);
    options.clock = clock;
    tsanom_status status = tsanom_heartbeat_init(path, 2, &options);
#if !defined(__x86_64__)
    if (clock == TSANOM_HEARTBEAT_CLOCK_TSC) {
      CHECK_STATUS(status, TSANOM_E_OPTION);
      continue;
    }
#endif
    CHECK_STATUS(status, TSANOM_OK);
    for (uint32_t i = 0; i < BEATS; i++) {
      expected[i] = seconds_now();
      CHECK_STATUS(tsanom_heartbeat_beat(1, i * i), TSANOM_OK);
      if (i % 100 == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
    tsanom_heartbeat_run *run = open_run(path);
    tsanom_heartbeat_run_info info = describe(run);
    cr_assert(info.beats == BEATS && info.streams == 2 && info.announced == 2);
    cr_assert(info.finished == 1 && info.dropped == 0 && info.pid == getpid());
    cr_assert(clock == TSANOM_HEARTBEAT_CLOCK_AUTO || info.clock == clock);
    CHECK_STATUS(tsanom_heartbeat_run_read(run, 1, 0, BEATS, times, tags, NULL),
                 TSANOM_OK);
    for (uint32_t i = 0; i < BEATS; i++) {
      cr_assert(tags[i] == i * i);
      double error = (times[i] - times[0]) - (expected[i] - expected[0]);
      /* Another process may take the processor between the two readings. */
      cr_assert(error > -0.05 && error < 0.05, "beat %u is off by %g s", i, error);
      cr_assert(i == 0 || times[i] > times[i - 1]);
    }
    cr_assert(describe_stream(run, 0).beats == 0);
    cr_assert(describe_stream(run, 1).first == times[0]);
    cr_assert(describe_stream(run, 1).last == times[BEATS - 1]);
    tsanom_heartbeat_run_close(run);
  }
}
