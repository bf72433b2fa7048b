/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged streams and headers; the heart rate. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <tsanom/runs.h>
#include <tsanom/speedup.h>
#include <unistd.h>

#include "record/format.h"
#include "support/allocator.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/polls.h"
#include "support/random.h"
#include "support/run_directory.h"
#include "support/skip.h"

enum { BEATS = 20, VITAL = 3, FILES, PATH = DIRECTORY_CAPACITY + 32 };

TestSuite(runs_damage, .init = make_directory, .fini = remove_directory);

static void record(bool finish) {
  CHECK_STATUS(tsanom_heartbeat_init(directory, 2, NULL, NULL), TSANOM_OK);
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
    (void)snprintf(path, PATH, "%s/" TSN_RUN_FILE, directory);
  } else if (file == VITAL) {
    (void)snprintf(path, PATH, "%s/" TSN_VITAL_FILE, directory);
  } else {
    (void)snprintf(path, PATH, "%s/" TSN_STREAM_FILE, directory, (unsigned)file - 1);
  }
}

static tsanom_status open_with(const char *path, tsanom_fault *fault, tsanom_runs **run) {
  tsanom_exec exec = exec_reporting(fault);
  return tsanom_runs_open(path, NULL, &exec, run);
}

/* The run must be rejected, with this file named, and without touching the output. */
static void check_rejected(const char *path, uint64_t offset_at_most, const char *what,
                           size_t where) {
  tsanom_fault fault;
  tsanom_runs *const untouched = (tsanom_runs *)&fault;
  tsanom_runs *run = untouched;
  tsanom_status status = open_with(directory, &fault, &run);
  cr_assert(status == TSANOM_E_FORMAT, "%s: %s %zu gave %s", path, what, where,
            tsanom_status_name(status));
  cr_assert(run == untouched && fault.status == status);
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
    /* An odd step meets each bit of a byte. */
    for (size_t bit = 0; bit < 8 * last; bit += 2 * ONE_CASE_IN - 1) {
      if (file > 0 && file < VITAL && bit >= 8 * 128 && bit < 8 * 4096 && bit % 61 != 0)
        continue;
      if (bit >= 8 * (4096 + 16 * (BEATS + 4)) && bit % 61 != 0) continue;
      unsigned char damaged = (unsigned char)(whole[bit / 8] ^ (1u << (bit % 8)));
      (void)fseek(stream, (long)(bit / 8), SEEK_SET);
      cr_assert(fputc(damaged, stream) != EOF);
      /* A record is named by its beginning, a header's field by the header. */
      check_rejected(path, bit / 8 < 4096 ? 4096 : bit / 8, "flipped bit", bit);
      (void)fseek(stream, (long)(bit / 8), SEEK_SET);
      cr_assert(fputc(whole[bit / 8], stream) != EOF);
    }
    (void)fclose(stream);
    free(whole);
  }
  tsanom_runs_destroy(open_run(directory));
}

Test(runs_damage, finds_every_flipped_bit_of_a_finished_run) {
  record(true);
  check_every_flip();
}

Test(runs_damage, finds_every_flipped_bit_of_a_killed_run) {
  record_killed();
  check_every_flip();
}

static void check_every_truncation(int files) {
  for (int file = 0; file < files; file++) {
    char path[PATH];
    size_t bytes;
    file_path(file, path);
    unsigned char *whole = file_read(path, &bytes);
    for (size_t length = bytes; length-- > 0;) {
      if (length > 8192 && length % 1009 != 0 && bytes - length > 100) continue;
      if (length % ONE_CASE_IN != 0) continue;
      cr_assert(truncate(path, (off_t)length) == 0);
      check_rejected(path, length, "truncated to", length);
    }
    file_write(path, whole, bytes);
    free(whole);
  }
  tsanom_runs_destroy(open_run(directory));
}

Test(runs_damage, finds_every_truncation_of_a_finished_run) {
  record(true);
  check_every_truncation(FILES);
}

Test(runs_damage, finds_every_truncation_of_a_killed_run) {
  record_killed();
  check_every_truncation(VITAL);
}

Test(runs_damage, names_files_that_are_missing_or_foreign) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  char path[PATH];
  CHECK_STATUS(open_with(directory, &fault, &run), TSANOM_E_IO);
  cr_assert(strcmp(fault.file, directory) == 0 && strstr(fault.text, TSN_RUN_FILE));
  CHECK_STATUS(open_with("/nonexistent", &fault, &run), TSANOM_E_IO);
  CHECK_STATUS(open_with("", &fault, &run), TSANOM_E_IO);
  record(true);
  for (int file = 1; file < VITAL; file++) {
    size_t bytes;
    file_path(file, path);
    unsigned char *whole = file_read(path, &bytes);
    cr_assert(unlink(path) == 0);
    CHECK_STATUS(open_with(directory, &fault, &run), TSANOM_E_IO);
    cr_assert(strcmp(fault.file, path) == 0);
    static const char foreign[] = "time,value\n0.1,2\n";
    file_write(path, foreign, sizeof foreign);
    check_rejected(path, sizeof foreign, "foreign", 0);
    file_write(path, whole, bytes);
    free(whole);
  }
}

/* Whatever stands in place of a file is opened without waiting, and rejected. */
Test(runs_damage, fifos_and_devices_are_rejected_at_once) {
  tsanom_fault fault;
  tsanom_runs *run = NULL;
  char path[PATH];
  record(true);
  for (int file = 0; file < FILES; file++) {
    size_t bytes;
    file_path(file, path);
    unsigned char *whole = file_read(path, &bytes);
    cr_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK_STATUS(open_with(directory, &fault, &run), TSANOM_E_IO);
    cr_assert(strcmp(fault.file, path) == 0 && strstr(fault.text, "regular file"));
    cr_assert(unlink(path) == 0 && symlink("/dev/zero", path) == 0);
    CHECK_STATUS(open_with(directory, &fault, &run), TSANOM_E_IO);
    cr_assert(unlink(path) == 0);
    file_write(path, whole, bytes);
    free(whole);
  }
  tsanom_runs_destroy(open_run(directory));
}

/* A stream of a killed run, 20 GB long and almost all of it a hole: reading it took 54 s.
 */
Test(runs_damage, holes_of_sparse_files_are_not_read) {
  const off_t huge = (off_t)20 << 30;
  char path[PATH];
  record_killed();
  file_path(1, path);
  if (truncate(path, huge) != 0) SKIP_TEST("the file system has no large files");
  tsanom_runs *run = open_run(directory);
  cr_assert(describe(run).beats == BEATS);
  tsanom_runs_destroy(run);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  cr_assert(file >= 0 && pwrite(file, "x", 1, huge - 1) == 1 && close(file) == 0);
  check_rejected(path, (uint64_t)huge - 1, "byte behind a hole", 0);
}

Test(runs_damage, finds_the_stream_of_another_run) {
  char path[PATH];
  size_t bytes;
  record(true);
  file_path(1, path);
  unsigned char *stream = file_read(path, &bytes);
  CHECK_STATUS(tsanom_heartbeat_init(in_directory("other"), 1, NULL, NULL), TSANOM_OK);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  unsigned char *foreign = file_read(in_directory("other/heartbeat.00000"), &bytes);
  file_write(path, foreign, bytes);
  check_rejected(path, 4096, "another run's", 0);
  free(stream);
  free(foreign);
}

Test(runs_damage, the_check_of_a_record_sees_every_flip) {
  uint64_t seed = 6;
  for (int trial = 0; trial < CASES(2000); trial++) {
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

Test(runs_damage, bad_arguments_are_named) {
  tsanom_fault fault;
  tsanom_exec exec = exec_reporting(&fault);
  tsanom_runs *run = NULL;
  tsanom_runs_stream stream;
  tsanom_runs_options options;
  record(true);
  CHECK_STATUS(tsanom_runs_options_init(&options, sizeof options), TSANOM_OK);
  options.parts = 64;
  CHECK_STATUS(tsanom_runs_open(directory, &options, &exec, &run), TSANOM_E_OPTION);
  cr_assert(strcmp(fault.argument, "options.parts") == 0);
  options.parts = TSANOM_RUNS_BEATS;
  options.symbols = 2;
  CHECK_STATUS(tsanom_runs_open(directory, &options, &exec, &run), TSANOM_E_OPTION);
  cr_assert(strcmp(fault.argument, "options.symbols") == 0 && !run);
  run = open_run(directory);
  CHECK_STATUS(tsanom_runs_stream_at(run, 3, 0, &stream), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, 2, &stream), TSANOM_E_INDEX);
  CHECK_STATUS(tsanom_runs_stream_at(run, TSANOM_RUNS_REGIONS, 0, &stream),
               TSANOM_E_INDEX);
  size_t count;
  CHECK_STATUS(tsanom_runs_events(run, 0, 0, &exec, NULL, 0, &count), TSANOM_E_STATE);
  cr_assert(strcmp(fault.file, directory) == 0);
  CHECK_STATUS(tsanom_runs_events(run, 2, 0, &exec, NULL, 0, &count), TSANOM_E_OPTION);
  tsanom_runs_destroy(run);
  tsanom_runs_destroy(NULL);
}

static tsanom_status open_directory(const tsanom_exec *exec, tsanom_runs **run) {
  return tsanom_runs_open(directory, NULL, exec, run);
}

Test(runs_damage, memory_comes_from_the_exec_and_poll_can_stop) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_runs *run = NULL;
  test_polls polls = {.stop_at = 1};
  record(true);
  check_allocations(open_directory);
  exec.poll = test_poll;
  exec.poll_user = &polls;
  CHECK_STATUS(open_directory(&exec, &run), TSANOM_STOPPED);
  cr_assert(polls.calls == 1 && allocator.live == 0 && !run);
}

Test(runs_rate, equals_the_definition) {
  enum { N = 200 };
  uint64_t seed = 7;
  for (int trial = 0; trial < CASES(2000); trial++) {
    double times[N], rates[N], time = random_unit(&seed) * 100 - 50;
    size_t n = random_between(&seed, 2, N), window = random_between(&seed, 1, n - 1);
    for (size_t i = 0; i < n; i++) times[i] = time += 1e-6 + random_unit(&seed);
    for (size_t i = 0; i < N; i++) rates[i] = -1;
    CHECK_STATUS(tsanom_runs_rate(times, n, window, NULL, rates), TSANOM_OK);
    for (size_t i = window; i < n; i++) {
      cr_assert(rates[i - window] == (double)window / (times[i] - times[i - window]));
    }
    for (size_t i = n - window; i < N; i++) cr_assert(rates[i] == -1);
  }
}

/* A file of another version, with a checksum that fits. */
static void write_version(int file, uint32_t version, size_t checksum) {
  char path[PATH];
  unsigned char header[sizeof(tsn_run_header)] = {0};
  file_path(file, path);
  int opened = open(path, O_RDWR);
  cr_assert(opened >= 0 && pread(opened, header, sizeof header, 0) > 0);
  memcpy(header + offsetof(tsn_run_header, version), &version, sizeof version);
  uint64_t sum = tsn_checksum(header, checksum);
  cr_assert(pwrite(opened, &version, sizeof version, offsetof(tsn_run_header, version)) >
            0);
  cr_assert(pwrite(opened, &sum, sizeof sum, (off_t)checksum) > 0);
  close(opened);
}

/* A run of version 1 had a file of 256 bytes. */
Test(runs_damage, a_run_of_an_earlier_version_is_to_be_recorded_again) {
  enum { EARLIER = 256 };
  static const size_t checksum[FILES] = {[0] = offsetof(tsn_run_header, checksum),
                                         [1] = offsetof(tsn_stream_header, checksum),
                                         [2] = offsetof(tsn_stream_header, checksum),
                                         [VITAL] = offsetof(tsn_vital_header, checksum)};
  static const int files[] = {VITAL, 2, 1, 0};
  record(true);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[PATH];
    tsanom_fault fault;
    tsanom_runs *run;
    file_path(files[i], path);
    write_version(files[i], TSN_FORMAT_VERSION - 1, checksum[files[i]]);
    if (files[i] == 0) cr_assert(truncate(path, EARLIER) == 0);
    CHECK_STATUS(open_with(directory, &fault, &run), TSANOM_E_FORMAT);
    cr_assert(
        strcmp(fault.file, path) == 0 && strstr(fault.text, "record the program again"),
        "%s: %s", fault.file, fault.text);
    write_version(files[i], TSN_FORMAT_VERSION + 1, checksum[files[i]]);
    CHECK_STATUS(open_with(directory, &fault, &run), TSANOM_E_FORMAT);
    cr_assert(strstr(fault.text, "this library reads version"), "%s", fault.text);
    write_version(files[i], TSN_FORMAT_VERSION, checksum[files[i]]);
  }
}

Test(runs_rate, what_has_no_rate_is_rejected) {
  double times[] = {0, 1, 2, 3}, rates[] = {-1, -1, -1, -1};
  CHECK_STATUS(tsanom_runs_rate(times, 4, 0, NULL, rates), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_runs_rate(times, 4, 4, NULL, rates), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_runs_rate(times, 0, 1, NULL, rates), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_runs_rate(times, 1, SIZE_MAX, NULL, rates), TSANOM_E_COUNT);
  double bad[] = {0, 1, 1, 3};
  CHECK_STATUS(tsanom_runs_rate(bad, 4, 3, NULL, rates), TSANOM_E_ORDER);
  bad[2] = 0.5;
  CHECK_STATUS(tsanom_runs_rate(bad, 4, 1, NULL, rates), TSANOM_E_ORDER);
  bad[2] = NAN;
  CHECK_STATUS(tsanom_runs_rate(bad, 4, 1, NULL, rates), TSANOM_E_NONFINITE);
  bad[2] = INFINITY;
  CHECK_STATUS(tsanom_runs_rate(bad, 4, 1, NULL, rates), TSANOM_E_NONFINITE);
  for (int i = 0; i < 4; i++) cr_assert(rates[i] == -1);
}
