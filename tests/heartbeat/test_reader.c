/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader against damage, and the heart rate. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <tsanom/heartbeat_run.h>
#include <unistd.h>

#include "heartbeat/run_folder.h"
#include "record/format.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { BEATS = 20, FILES = 3, PATH = FOLDER_ROOM + 32 };

static char folder[FOLDER_ROOM];

static void make_folder(void) {
  folder_make(folder);
}

static void remove_folder(void) {
  folder_remove(folder);
}

TestSuite(heartbeat_reader, .init = make_folder, .fini = remove_folder);

static void record(bool finish) {
  CHECK_STATUS(tsanom_heartbeat_init(folder, 2, NULL), TSANOM_OK);
  for (uint32_t i = 0; i < BEATS; i++) tsanom_heartbeat_beat(0, i);
  if (finish) CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
}

/* A run whose process was killed. */
static void record_killed(void) {
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    record(false);
    kill(getpid(), SIGKILL);
  }
  cr_assert(waitpid(child, NULL, 0) == child);
}

static void file_path(int file, char path[PATH]) {
  if (file == 0) {
    (void)snprintf(path, PATH, "%s/" TSN_RUN_FILE, folder);
  } else {
    (void)snprintf(path, PATH, "%s/" TSN_STREAM_FILE, folder, (unsigned)file - 1);
  }
}

/* The run must be refused, with this file named, and nothing touched. */
static void check_refused(const char *path, uint64_t offset_at_most, const char *what,
                          size_t where) {
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  tsanom_heartbeat_run *const untouched = (tsanom_heartbeat_run *)&fault;
  tsanom_heartbeat_run *run = untouched;
  tsanom_status status = tsanom_heartbeat_run_open(folder, NULL, &fault, &run);
  cr_assert(status == TSANOM_E_FORMAT, "%s: %s %zu gave %s", path, what, where,
            tsanom_status_name(status));
  cr_assert(run == untouched);
  cr_assert(strcmp(fault.file, path) == 0, "%s named, not %s", fault.file, path);
  cr_assert(fault.text[0] != '\0' && fault.offset <= offset_at_most,
            "%s: %s %zu was placed at %llu", path, what, where,
            (unsigned long long)fault.offset);
}

static void check_every_flip(void) {
  for (int file = 0; file < FILES; file++) {
    char path[PATH];
    size_t bytes;
    file_path(file, path);
    unsigned char *whole = file_read(path, &bytes);
    /* Of the tail of a killed run, which is all zeros, only the first pages. */
    size_t last = bytes < 8192 ? bytes : 8192;
    FILE *stream = fopen(path, "r+b");
    cr_assert(stream);
    setvbuf(stream, NULL, _IONBF, 0);
    for (size_t bit = 0; bit < 8 * last; bit++) {
      if (file > 0 && bit >= 8 * 128 && bit < 8 * 4096 && bit % 61 != 0) continue;
      if (bit >= 8 * (4096 + 16 * (BEATS + 4)) && bit % 61 != 0) continue;
      unsigned char damaged = (unsigned char)(whole[bit / 8] ^ (1u << (bit % 8)));
      (void)fseek(stream, (long)(bit / 8), SEEK_SET);
      cr_assert(fputc(damaged, stream) != EOF);
      /* A record is named by its beginning, a header's field by the header. */
      check_refused(path, bit / 8 < 4096 ? 4096 : bit / 8, "flipped bit", bit);
      (void)fseek(stream, (long)(bit / 8), SEEK_SET);
      cr_assert(fputc(whole[bit / 8], stream) != EOF);
    }
    (void)fclose(stream);
    free(whole);
  }
  tsanom_heartbeat_run_close(open_run(folder));
}

Test(heartbeat_reader, finds_every_flipped_bit_of_a_finished_run) {
  record(true);
  check_every_flip();
}

Test(heartbeat_reader, finds_every_flipped_bit_of_a_killed_run) {
  record_killed();
  check_every_flip();
}

static void check_every_truncation(void) {
  for (int file = 0; file < FILES; file++) {
    char path[PATH];
    size_t bytes;
    file_path(file, path);
    unsigned char *whole = file_read(path, &bytes);
    for (size_t length = bytes; length-- > 0;) {
      if (length > 8192 && length % 1009 != 0 && bytes - length > 100) continue;
      cr_assert(truncate(path, (off_t)length) == 0);
      check_refused(path, length, "truncated to", length);
    }
    file_write(path, whole, bytes);
    free(whole);
  }
  tsanom_heartbeat_run_close(open_run(folder));
}

Test(heartbeat_reader, finds_every_truncation_of_a_finished_run) {
  record(true);
  check_every_truncation();
}

Test(heartbeat_reader, finds_every_truncation_of_a_killed_run) {
  record_killed();
  check_every_truncation();
}

Test(heartbeat_reader, names_files_that_are_missing_or_foreign) {
  tsanom_heartbeat_fault fault;
  tsanom_heartbeat_run *run = NULL;
  char path[PATH];
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, NULL, &fault, &run), TSANOM_E_IO);
  cr_assert(strstr(fault.file, TSN_RUN_FILE) && fault.text[0]);
  CHECK_STATUS(tsanom_heartbeat_run_open("/nonexistent", NULL, &fault, &run),
               TSANOM_E_IO);
  CHECK_STATUS(tsanom_heartbeat_run_open("", NULL, &fault, &run), TSANOM_E_IO);
  record(true);
  for (int file = 0; file < FILES; file++) {
    size_t bytes;
    file_path(file, path);
    unsigned char *whole = file_read(path, &bytes);
    cr_assert(unlink(path) == 0);
    CHECK_STATUS(tsanom_heartbeat_run_open(folder, NULL, &fault, &run), TSANOM_E_IO);
    cr_assert(strcmp(fault.file, path) == 0);
    static const char foreign[] = "time,value\n0.1,2\n";
    file_write(path, foreign, sizeof foreign);
    check_refused(path, sizeof foreign, "foreign", 0);
    file_write(path, whole, bytes);
    free(whole);
  }
}

Test(heartbeat_reader, finds_the_stream_of_another_run) {
  char other[PATH], path[PATH];
  size_t bytes;
  record(true);
  file_path(1, path);
  unsigned char *stream = file_read(path, &bytes);
  (void)snprintf(other, sizeof other, "%s/other", folder);
  CHECK_STATUS(tsanom_heartbeat_init(other, 1, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  strcat(other, "/heartbeat.00000");
  unsigned char *foreign = file_read(other, &bytes);
  file_write(path, foreign, bytes);
  check_refused(path, 4096, "another run's", 0);
  free(stream);
  free(foreign);
}

/* Random damage of all kinds: refused or harmless, never a crash. */
Test(heartbeat_reader, survives_random_damage) {
  uint64_t seed = 5;
  record(true);
  for (int trial = 0; trial < 3000; trial++) {
    char path[PATH];
    size_t bytes;
    file_path((int)random_between(&seed, 0, FILES - 1), path);
    unsigned char *whole = file_read(path, &bytes);
    unsigned char *damaged = malloc(bytes + 64);
    memset(damaged, 0, bytes + 64);
    memcpy(damaged, whole, bytes);
    for (size_t i = random_between(&seed, 1, 8); i > 0; i--) {
      damaged[random_between(&seed, 0, bytes - 1)] = (unsigned char)random_bits(&seed);
    }
    file_write(path, damaged, random_between(&seed, 0, bytes + 64));
    tsanom_heartbeat_run *run;
    if (tsanom_heartbeat_run_open(folder, NULL, NULL, &run) == TSANOM_OK) {
      tsanom_heartbeat_run_close(run);
    }
    file_write(path, whole, bytes);
    free(damaged);
    free(whole);
  }
}

Test(heartbeat_reader, the_check_of_a_record_sees_every_flip) {
  uint64_t seed = 6;
  for (int trial = 0; trial < 2000; trial++) {
    uint64_t time = random_bits(&seed) >> random_between(&seed, 0, 63);
    uint32_t tag = (uint32_t)(random_bits(&seed) >> random_between(&seed, 32, 63));
    uint32_t check = tsn_record_check(time, tag, 0);
    for (int bit = 0; bit < 64; bit++) {
      cr_assert(tsn_record_check(time ^ (UINT64_C(1) << bit), tag, 0) != check);
    }
    for (int bit = 0; bit < 32; bit++) {
      cr_assert(tsn_record_check(time, tag ^ (UINT32_C(1) << bit), 0) != check);
    }
  }
}

Test(heartbeat_reader, refuses_bad_arguments_and_touches_nothing) {
  tsanom_heartbeat_fault fault = {.struct_size = 1};
  tsanom_heartbeat_run *run = NULL;
  tsanom_heartbeat_run_info info;
  tsanom_heartbeat_stream_info stream;
  double times[BEATS + 1] = {-7};
  record(true);
  CHECK_STATUS(tsanom_heartbeat_fault_init(NULL, sizeof fault), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_fault_init(&fault, 8), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_heartbeat_run_open(NULL, NULL, NULL, &run), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, NULL, NULL, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, NULL, &fault, &run), TSANOM_E_VERSION);
  cr_assert(!run);
  run = open_run(folder);
  CHECK_STATUS(tsanom_heartbeat_run_describe(NULL, &info, sizeof info), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_run_describe(run, NULL, sizeof info), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_run_describe(run, &info, 8), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_heartbeat_run_stream(run, 2, &stream, sizeof stream),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_heartbeat_run_stream(run, 0, &stream, 8), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_heartbeat_run_stream(NULL, 0, &stream, sizeof stream),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_run_read(NULL, 0, 0, 1, times, NULL, NULL),
               TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_run_read(run, 2, 0, 1, times, NULL, NULL),
               TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_heartbeat_run_read(run, 0, 0, BEATS + 1, times, NULL, NULL),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_heartbeat_run_read(run, 0, UINT64_MAX, 2, times, NULL, NULL),
               TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_heartbeat_run_read(run, 0, BEATS, 0, times, NULL, NULL), TSANOM_OK);
  /* Damaged after it was opened. */
  char path[PATH];
  file_path(1, path);
  cr_assert(truncate(path, 4096 + 16 * (BEATS - 1)) == 0);
  tsanom_heartbeat_fault_init(&fault, sizeof fault);
  CHECK_STATUS(tsanom_heartbeat_run_read(run, 0, 0, BEATS, times, NULL, &fault),
               TSANOM_E_FORMAT);
  cr_assert(strcmp(fault.file, path) == 0);
  cr_assert(times[0] == -7);
  tsanom_heartbeat_run_close(run);
  tsanom_heartbeat_run_close(NULL);
}

static int32_t stop_at_once(void *user, uint64_t finished, uint64_t total) {
  (void)finished;
  (void)total;
  ++*(int *)user;
  return 1;
}

Test(heartbeat_reader, keeps_to_the_exec_it_is_given) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_heartbeat_run *run = NULL;
  int polls = 0;
  record(true);
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, &exec, NULL, &run), TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 1);
  double times[BEATS];
  CHECK_STATUS(tsanom_heartbeat_run_read(run, 0, 0, BEATS, times, NULL, NULL), TSANOM_OK);
  tsanom_heartbeat_run_close(run);
  cr_assert(allocator.calls == 1 && allocator.live == 0);
  run = NULL;
  allocator = (test_allocator){.fail_at = 1};
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, &exec, NULL, &run), TSANOM_E_MEMORY);
  allocator = (test_allocator){0};
  exec.poll = stop_at_once;
  exec.poll_user = &polls;
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, &exec, NULL, &run), TSANOM_STOPPED);
  cr_assert(polls == 1 && allocator.live == 0 && !run);
  exec.threads = -1;
  CHECK_STATUS(tsanom_heartbeat_run_open(folder, &exec, NULL, &run), TSANOM_E_EXEC);
}

Test(heartbeat_rate, equals_the_definition) {
  enum { N = 200 };
  uint64_t seed = 7;
  for (int trial = 0; trial < 2000; trial++) {
    double times[N], rates[N], time = random_unit(&seed) * 100 - 50;
    size_t n = random_between(&seed, 2, N), window = random_between(&seed, 1, n - 1);
    for (size_t i = 0; i < n; i++) times[i] = time += 1e-6 + random_unit(&seed);
    for (size_t i = 0; i < N; i++) rates[i] = -1;
    CHECK_STATUS(tsanom_heartbeat_rate(times, n, window, rates), TSANOM_OK);
    for (size_t i = window; i < n; i++) {
      cr_assert(rates[i - window] == (double)window / (times[i] - times[i - window]));
    }
    for (size_t i = n - window; i < N; i++) cr_assert(rates[i] == -1);
  }
}

Test(heartbeat_rate, refuses_what_has_no_rate) {
  double times[] = {0, 1, 2, 3}, rates[] = {-1, -1, -1, -1};
  CHECK_STATUS(tsanom_heartbeat_rate(NULL, 4, 1, rates), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_rate(times, 4, 1, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_heartbeat_rate(times, 4, 0, rates), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_heartbeat_rate(times, 4, 4, rates), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_heartbeat_rate(times, 0, 1, rates), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_heartbeat_rate(times, 1, SIZE_MAX, rates), TSANOM_E_COUNT);
  double bad[] = {0, 1, 1, 3};
  CHECK_STATUS(tsanom_heartbeat_rate(bad, 4, 3, rates), TSANOM_E_ORDER);
  bad[2] = 0.5;
  CHECK_STATUS(tsanom_heartbeat_rate(bad, 4, 1, rates), TSANOM_E_ORDER);
  bad[2] = NAN;
  CHECK_STATUS(tsanom_heartbeat_rate(bad, 4, 1, rates), TSANOM_E_NONFINITE);
  bad[2] = INFINITY;
  CHECK_STATUS(tsanom_heartbeat_rate(bad, 4, 1, rates), TSANOM_E_NONFINITE);
  for (int i = 0; i < 4; i++) cr_assert(rates[i] == -1);
}
