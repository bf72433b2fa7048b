/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder object: several runs and channels at the same time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "record/inside.h"
#include "record/regions.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/run_directory.h"
#include "support/sanitized.h"

TestSuite(record, .init = make_directory, .fini = remove_directory);

enum { PATH = DIRECTORY_CAPACITY + 32 };

static const char *path_of(const char *name) {
  static char path[PATH];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static tsanom_record_options both_channels(void) {
  tsanom_record_options options;
  CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
  cr_assert(options.channels == TSANOM_RECORD_HEARTBEATS);
  options.channels |= TSANOM_RECORD_REGIONS;
  options.helper = TSANOM_RECORD_HELPER_NONE;
  return options;
}

/* The tags of stream 0, which must be first, first + 1 and so on. */
static void check_tags(const char *name, uint32_t first, uint64_t count) {
  tsanom_runs *run = open_run(path_of(name));
  cr_assert(describe(run).state == TSANOM_RUN_FINISHED &&
            describe_stream(run, 0).count == count);
  for (uint64_t k = 0; k < count; k++) {
    uint32_t tag;
    read_beats(run, 0, k, 1, NULL, &tag);
    cr_assert(tag == first + k);
  }
  tsanom_runs_destroy(run);
}

Test(record, channels_and_runs_are_independent) {
  enum { BEATS = 300 };
  tsanom_record_options options = both_channels();
  tsanom_record *a, *b;
  CHECK_STATUS(tsanom_record_create(path_of("a"), 1, &options, NULL, &a), TSANOM_OK);
  CHECK_STATUS(tsanom_record_create(path_of("b"), 1, &options, NULL, &b), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_init(path_of("default"), 1, NULL, NULL), TSANOM_OK);
  for (uint32_t i = 0; i < BEATS; i++) {
    CHECK_STATUS(tsanom_record_beat(a, 0, 1000 + i), TSANOM_OK);
    CHECK_STATUS(tsanom_record_region(a, 0, 2000 + i), TSANOM_OK);
    CHECK_STATUS(tsanom_record_beat(b, 0, 3000 + i), TSANOM_OK);
    CHECK_STATUS(tsanom_record_region(b, 0, 4000 + i), TSANOM_OK);
    CHECK_STATUS(tsanom_heartbeat_beat(0, 5000 + i), TSANOM_OK);
  }
  CHECK_STATUS(tsanom_record_finish(a), TSANOM_OK);
  CHECK_STATUS(tsanom_record_beat(a, 0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_record_region(a, 0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_record_finish(a), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_record_beat(b, 0, 3000 + BEATS), TSANOM_OK);
  tsanom_record_destroy(a);
  tsanom_record_destroy(b);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  check_tags("a", 1000, BEATS);
  check_tags("a/regions", 2000, BEATS);
  check_tags("b", 3000, BEATS + 1);
  check_tags("b/regions", 4000, BEATS);
  check_tags("default", 5000, BEATS);
}

Test(record, a_channel_that_is_not_open_rejects) {
  tsanom_record_options options = both_channels();
  tsanom_record *r;
  options.channels = TSANOM_RECORD_REGIONS;
  CHECK_STATUS(tsanom_record_create(path_of("run"), 1, &options, NULL, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_record_beat(r, 0, 0), TSANOM_E_STATE);
  CHECK_STATUS(tsanom_record_region(r, 0, 0), TSANOM_OK);
  CHECK_STATUS(tsanom_record_finish(r), TSANOM_OK);
  tsanom_record_destroy(r);
}

Test(record, exit_statuses_are_those_of_programs) {
  static const struct {
    int32_t exit;
    tsanom_status status;
  } cases[] = {{0, TSANOM_OK},
               {255, TSANOM_OK},
               {255 + TSANOM_EXIT_INSIDE, TSANOM_OK},
               {-1, TSANOM_E_VALUE},
               {256 + TSANOM_EXIT_INSIDE, TSANOM_E_VALUE},
               {INT32_MIN, TSANOM_E_VALUE},
               {INT32_MAX, TSANOM_E_VALUE}};
  tsanom_record *r;
  CHECK_STATUS(tsanom_record_create(path_of("run"), 1, NULL, NULL, &r), TSANOM_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_STATUS(tsanom_record_set_exit(r, cases[i].exit), cases[i].status);
  }
  tsanom_record_destroy(r);
}

/* Of one of `count` events of the first thread. */
static double time_of_event(const tsanom_runs *run, size_t at, size_t count) {
  tsanom_runs_stream stream;
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_REGIONS, 0, &stream), TSANOM_OK);
  cr_assert(stream.count == count);
  return stream.time[at];
}

/* Only the latest event of the thread itself, if it is that one and young enough. A reader of
 * the running program sees the time at which it was written again. */
Test(record, the_latest_event_may_be_taken_back) {
  const uint64_t any = UINT64_MAX;
  tsanom_record_options options = both_channels();
  tsanom_record *r;
  double first, second;
  CHECK_STATUS(tsanom_record_create(path_of("run"), 1, &options, NULL, &r), TSANOM_OK);
  cr_assert(!tsn_record_take_back(r, 0, 0, any));
  CHECK_STATUS(tsanom_record_region(r, 0, TSN_REGIONS_BEGIN), TSANOM_OK);
  CHECK_STATUS(tsanom_record_region(r, 0, TSN_REGIONS_END), TSANOM_OK);
  FILE *places = fopen(path_of("run/regions/places.tsv"), "w");
  cr_assert(places && fputs("tsanom places 3\n", places) >= 0 && fclose(places) == 0);
  tsanom_runs *run = open_run(path_of("run"));
  first = time_of_event(run, 1, 2);
  cr_assert(!tsn_record_take_back(r, 0, TSN_REGIONS_BEGIN, any));
  cr_assert(!tsn_record_take_back(r, 1, TSN_REGIONS_END, any));
  cr_assert(!tsn_record_take_back(r, 0, TSN_REGIONS_END, 0));
  cr_assert(tsn_record_take_back(r, 0, TSN_REGIONS_END, any));
  cr_assert(!tsn_record_take_back(r, 0, TSN_REGIONS_END, any));
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_record_region(r, 0, TSN_REGIONS_END), TSANOM_OK);
  CHECK_STATUS(tsanom_record_region(r, 0, TSN_REGIONS_BEGIN), TSANOM_OK);
  CHECK_STATUS(tsanom_runs_refresh(run, NULL, NULL), TSANOM_OK);
  second = time_of_event(run, 1, 3);
  cr_assert(second > first, "%.9f, %.9f", first, second);
  tsanom_runs_destroy(run);
  tsanom_record_destroy(r);
  check_tags("run", 0, 0);
}

/* A recorder that is destroyed leaves its slot to another one. */
Test(record, objects_follow_each_other) {
  for (int i = 0; i < 100; i++) {
    char name[16];
    tsanom_record *r;
    (void)snprintf(name, sizeof name, "%d", i);
    CHECK_STATUS(tsanom_record_create(path_of(name), 1, NULL, NULL, &r), TSANOM_OK);
    CHECK_STATUS(tsanom_record_beat(r, 0, (uint32_t)i), TSANOM_OK);
    tsanom_record_destroy(r);
    check_tags(name, (uint32_t)i, 1);
  }
}

Test(record, memory_of_any_alignment) {
  size_t bytes;
  CHECK_STATUS(tsanom_record_size(NULL, &bytes), TSANOM_OK);
  for (size_t shift = 0; shift < 16; shift++) {
    char name[16];
    tsanom_record *r = NULL;
    unsigned char *block = malloc(bytes + 16);
    cr_assert(block);
    memset(block, 0xA5, bytes + 16);
    (void)snprintf(name, sizeof name, "%zu", shift);
    CHECK_STATUS(
        tsanom_record_init(block + shift, bytes - 1, path_of(name), 1, NULL, NULL, &r),
        TSANOM_E_WORKSPACE);
    cr_assert(!r && access(path_of(name), F_OK) != 0);
    CHECK_STATUS(
        tsanom_record_init(block + shift, bytes, path_of(name), 1, NULL, NULL, &r),
        TSANOM_OK);
    cr_assert((uintptr_t)r % sizeof(void *) == 0);
    for (size_t i = 0; i < shift; i++) cr_assert(block[i] == 0xA5);
    for (size_t i = shift + bytes; i < bytes + 16; i++) cr_assert(block[i] == 0xA5);
    CHECK_STATUS(tsanom_record_finish(r), TSANOM_OK);
    tsanom_record_destroy(r);
    free(block);
  }
}

Test(record, uses_the_allocator_of_exec) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_record *r = NULL;
  CHECK_STATUS(tsanom_record_create(path_of("a"), 1, NULL, &exec, &r), TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 1);
  tsanom_record_destroy(r);
  cr_assert(allocator.live == 0);
  /* A run that cannot be started gives the block back. */
  CHECK_STATUS(tsanom_record_create(path_of("a"), 1, NULL, &exec, &r), TSANOM_E_IO);
  cr_assert(allocator.live == 0);
}

Test(record, channels_are_limited) {
  tsanom_record_options options = both_channels();
  tsanom_record *r[TSANOM_RECORD_CHANNELS_MAX / 2 + 1];
  int open = 0;
  tsanom_status status = TSANOM_OK;
  for (; status == TSANOM_OK && open < (int)(sizeof r / sizeof *r); open++) {
    char name[16];
    (void)snprintf(name, sizeof name, "%d", open);
    status = tsanom_record_create(path_of(name), 1, &options, NULL, &r[open]);
  }
  cr_assert(status == TSANOM_E_OVERFLOW && open == TSANOM_RECORD_CHANNELS_MAX / 2 + 1);
  /* Nothing of the last one is left, and the default instance has its own channel. */
  cr_assert(access(path_of("15"), F_OK) != 0);
  CHECK_STATUS(tsanom_heartbeat_init(path_of("default"), 1, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 1), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  for (int i = 0; i < open - 1; i++) tsanom_record_destroy(r[i]);
  CHECK_STATUS(tsanom_record_create(path_of("again"), 1, NULL, NULL, &r[0]), TSANOM_OK);
  tsanom_record_destroy(r[0]);
}

/* The child neither records into its parent's run nor gets it by a slot. AddressSanitizer
 * (before LLVM 17) gets no thread of the recorder: a fork while one begins leaves the lock that
 * it holds to the child, whose threads would wait for it for ever. */
Test(record, a_forked_child_has_no_run) {
  tsanom_record_options options = both_channels(), heartbeats;
  tsanom_record *r, *own;
  CHECK_STATUS(tsanom_record_create(path_of("parent"), 1, &options, NULL, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_record_beat(r, 0, 7), TSANOM_OK);
  CHECK_STATUS(tsanom_record_options_init(&heartbeats, sizeof heartbeats), TSANOM_OK);
  if (SANITIZED) heartbeats.helper = TSANOM_RECORD_HELPER_NONE;
  CHECK_STATUS(tsanom_heartbeat_init(path_of("default"), 1, &heartbeats, NULL),
               TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 3), TSANOM_OK);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    if (tsanom_record_beat(r, 0, 8) != TSANOM_E_STATE) _exit(1);
    if (tsanom_record_finish(r) != TSANOM_E_STATE) _exit(2);
    if (tsanom_record_create(path_of("child"), 1, &options, NULL, &own) < 0) _exit(3);
    if (tsanom_record_beat(own, 0, 9) != TSANOM_OK) _exit(4);
    if (tsanom_record_beat(r, 0, 8) != TSANOM_E_STATE) _exit(5);
    tsanom_record_destroy(r);
    tsanom_record_destroy(own);
    if (tsanom_heartbeat_beat(0, 4) != TSANOM_E_STATE) _exit(6);
    if (tsanom_heartbeat_finish() != TSANOM_E_STATE) _exit(7);
    if (tsanom_heartbeat_init(path_of("default child"), 1, NULL, NULL) < 0) _exit(8);
    if (tsanom_heartbeat_beat(0, 5) != TSANOM_OK) _exit(9);
    _exit(tsanom_heartbeat_finish() != TSANOM_OK);
  }
  int status;
  cr_assert(waitpid(child, &status, 0) == child && status == 0, "%#x", (unsigned)status);
  CHECK_STATUS(tsanom_record_beat(r, 0, 8), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_beat(0, 4), TSANOM_OK);
  tsanom_record_destroy(r);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  check_tags("parent", 7, 2);
  check_tags("child", 9, 1);
  check_tags("default", 3, 2);
  check_tags("default child", 5, 1);
}

static tsanom_record *shared;

static void *beat_twice(void *number) {
  int32_t thread = *(int32_t *)number;
  CHECK_STATUS(tsanom_record_beat(shared, thread, 0), TSANOM_OK);
  CHECK_STATUS(tsanom_record_region(shared, thread, 0), TSANOM_OK);
  return NULL;
}

/* A thread that ends leaves its stream of each channel to the next of its number. */
Test(record, streams_go_on_in_the_next_thread) {
  tsanom_record_options options = both_channels();
  CHECK_STATUS(tsanom_record_create(path_of("run"), 2, &options, NULL, &shared),
               TSANOM_OK);
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    int32_t number = i % 2;
    cr_assert(pthread_create(&thread, NULL, beat_twice, &number) == 0);
    pthread_join(thread, NULL);
  }
  tsanom_record_destroy(shared);
  static const char *const names[] = {"run", "run/regions"};
  for (int c = 0; c < 2; c++) {
    tsanom_runs *run = open_run(path_of(names[c]));
    cr_assert(describe(run).beat_streams == 2 && describe(run).beats == 20);
    tsanom_runs_destroy(run);
  }
}
