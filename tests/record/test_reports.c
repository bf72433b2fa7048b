/* SPDX-License-Identifier: BSD-3-Clause */
/* Each failure of tsanom_record_init() and tsanom_record_create() fills exec.fault. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/ask.h"
#include "support/check.h"
#include "support/faults.h"
#include "support/run_directory.h"

static test_report report;

static void set_up(void) {
  make_directory();
  test_report_init(&report);
}

TestSuite(record_reports, .init = set_up, .fini = remove_directory);

enum { BYTES = 256, PATH = DIRECTORY_CAPACITY + 64 };

/* Start a run all three ways; all must fail with this status, report the argument, and leave
 * nothing. */
static void check_all(const char *run, int32_t threads,
                      const tsanom_record_options *options, tsanom_status expected,
                      const char *argument) {
  unsigned char memory[BYTES];
  tsanom_record *r = NULL;
  CHECK_STATUS(tsanom_record_init(memory, BYTES, run, threads, options, &report.exec, &r),
               expected);
  cr_assert_eq(report.fault.status, expected);
  CHECK_FAULT(report, argument, TSANOM_NONE, TSANOM_NONE);
  CHECK_STATUS(tsanom_record_create(run, threads, options, &report.exec, &r), expected);
  cr_assert_eq(report.fault.status, expected);
  cr_assert(strncmp(report.fault.text, argument, strlen(argument)) == 0, "%s",
            report.fault.text);
  CHECK_FAULT(report, argument, TSANOM_NONE, TSANOM_NONE);
  cr_assert_null(r);
  CHECK_STATUS(tsanom_heartbeat_init(run, threads, options, &report.exec), expected);
  CHECK_FAULT(report, argument, TSANOM_NONE, TSANOM_NONE);
  cr_assert(rmdir(directory) == 0, "a rejected call left something behind");
  cr_assert(mkdir(directory, 0777) == 0);
}

static tsanom_record_options defaults(void) {
  tsanom_record_options options;
  CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
  return options;
}

Test(record_reports, the_rejected_argument) {
  check_all(NULL, 1, NULL, TSANOM_E_NULL, "directory");
  check_all(directory, 0, NULL, TSANOM_E_COUNT, "threads");
  check_all(directory, TSANOM_RECORD_STREAMS_MAX + 1, NULL, TSANOM_E_OPTION, "threads");
}

Test(record_reports, the_rejected_option) {
#define REJECTED_OPTION(field, value, status)                 \
  do {                                                        \
    tsanom_record_options bad = defaults();                   \
    bad.field = value;                                        \
    check_all(directory, 1, &bad, status, "options." #field); \
  } while (0)
  REJECTED_OPTION(clock, 3, TSANOM_E_OPTION);
  REJECTED_OPTION(helper, TSANOM_RECORD_HELPER_NONE + 1, TSANOM_E_OPTION);
  REJECTED_OPTION(channels, 0, TSANOM_E_OPTION);
  REJECTED_OPTION(channels, 4, TSANOM_E_OPTION);
  REJECTED_OPTION(vital_ms, TSANOM_RECORD_VITAL_OFF - 1, TSANOM_E_OPTION);
  REJECTED_OPTION(vital_most, -1, TSANOM_E_OPTION);
  REJECTED_OPTION(struct_size, 8, TSANOM_E_VERSION);
}

Test(record_reports, rejected_memory) {
  unsigned char memory[BYTES];
  size_t bytes;
  tsanom_record *r = NULL;
  CHECK_STATUS(tsanom_record_size(NULL, &bytes), TSANOM_OK);
  CHECK_STATUS(
      tsanom_record_init(memory, bytes - 1, directory, 1, NULL, &report.exec, &r),
      TSANOM_E_WORKSPACE);
  CHECK_FAULT(report, "bytes", TSANOM_NONE, TSANOM_NONE);
}

Test(record_reports, rejected_exec) {
  test_allocator allocator = {.fail_at = 1};
  tsanom_record *r = NULL;
  tsanom_exec exec = test_exec(&allocator);
  exec.fault = &report.fault;
  CHECK_STATUS(tsanom_record_create(directory, 1, NULL, &exec, &r), TSANOM_E_MEMORY);
  CHECK_FAULT(report, "exec.alloc", TSANOM_NONE, TSANOM_NONE);
  exec.dealloc = NULL;
  CHECK_STATUS(tsanom_record_create(directory, 1, NULL, &exec, &r), TSANOM_E_EXEC);
  CHECK_FAULT(report, "exec.dealloc", TSANOM_NONE, TSANOM_NONE);
}

Test(record_reports, the_size_of_an_object) {
  size_t bytes = 0, needed;
  tsanom_exec ask = ask_exec(&report.exec, &bytes);
  CHECK_STATUS(tsanom_record_create(NULL, 1, NULL, &ask, NULL), TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_record_size(NULL, &needed), TSANOM_OK);
  cr_assert(bytes == needed && bytes > 0);
  CHECK_STATUS(tsanom_spmd_recorder_create(3, 2, NULL, &ask, NULL), TSANOM_E_WORKSPACE);
  CHECK_STATUS(tsanom_spmd_recorder_size(3, 2, &needed), TSANOM_OK);
  cr_assert_eq(bytes, needed);
}

/* A failure whose fault is about a file of the directory, with `reason` in its text. */
static void check_file(const char *run, const tsanom_record_options *options,
                       const char *name, const char *reason) {
  tsanom_record *r = NULL;
  char expected[PATH];
  (void)snprintf(expected, sizeof expected, "%s/%s", directory, name);
  CHECK_STATUS(tsanom_record_create(run, 2, options, &report.exec, &r), TSANOM_E_IO);
  cr_assert_eq(report.fault.status, TSANOM_E_IO);
  cr_assert_str_eq(report.fault.file, expected);
  cr_assert(strstr(report.fault.text, reason), "%s", report.fault.text);
  CHECK_FAULT(report, "", TSANOM_NONE, TSANOM_NONE);
  if (options) return;
  report.fault.file[0] = report.fault.text[0] = '\0';
  CHECK_STATUS(tsanom_heartbeat_init(run, 2, NULL, &report.exec), TSANOM_E_IO);
  cr_assert_str_eq(report.fault.file, expected);
  cr_assert(strstr(report.fault.text, reason), "%s", report.fault.text);
}

static const char *path_of(const char *name) {
  static char path[PATH];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static void write_file(const char *name) {
  file_write(path_of(name), "", 0);
}

Test(record_reports, a_directory_that_cannot_be_made) {
  check_file(path_of("missing/run"), NULL, "missing/run", "No such file or directory");
  write_file("file");
  check_file(path_of("file"), NULL, "file", "Not a directory");
  tsanom_record_options regions = defaults();
  regions.channels = TSANOM_RECORD_REGIONS;
  check_file(path_of("missing/run"), &regions, "missing/run",
             "No such file or directory");
  check_file(path_of("file"), &regions, "file/regions", "Not a directory");
}

Test(record_reports, a_directory_with_a_run) {
  static const char reason[] = "File exists; give a directory without a run";
  tsanom_record_options both = defaults();
  both.channels = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS;
  write_file("heartbeat.run");
  check_file(directory, NULL, "heartbeat.run", reason);
  cr_assert(unlink(path_of("heartbeat.run")) == 0);
  write_file("heartbeat.00001");
  check_file(directory, NULL, "heartbeat.00001", reason);
  cr_assert(unlink(path_of("heartbeat.00001")) == 0);
  cr_assert(mkdir(path_of("regions"), 0777) == 0);
  write_file("regions/heartbeat.run");
  check_file(directory, &both, "regions/heartbeat.run", reason);
  cr_assert(access(path_of("heartbeat.run"), F_OK) != 0, "it was not removed");
}

Test(record_reports, a_link_to_nothing) {
  cr_assert(symlink("nothing", path_of("link")) == 0);
  check_file(path_of("link"), NULL, "link", "cannot open it: No such file or directory");
}

/* The number of threads is checked before the directory. */
Test(record_reports, as_many_threads_as_can_be_announced) {
  tsanom_record *r = NULL;
  CHECK_STATUS(tsanom_record_create(path_of("missing/run"), TSANOM_RECORD_STREAMS_MAX,
                                    NULL, &report.exec, &r),
               TSANOM_E_IO);
}

/* The path of the inner directory has 4095 bytes, and one more. */
Test(record_reports, a_path_that_is_too_long_is_not_cut) {
  enum { LONGEST = PATH_MAX - 1 - (sizeof "/regions" - 1) };
  tsanom_record_options regions = defaults();
  regions.channels = TSANOM_RECORD_REGIONS;
  cr_assert(chdir(directory) == 0);
  for (size_t length = LONGEST + 1; length >= LONGEST; length--) {
    char path[PATH_MAX];
    tsanom_record *r = NULL;
    memset(path, '/', length);
    path[0] = '.';
    path[length] = '\0';
    CHECK_STATUS(tsanom_record_create(path, 1, &regions, &report.exec, &r),
                 length > LONGEST ? TSANOM_E_IO : TSANOM_OK);
    cr_assert_eq(access("regions", F_OK), length > LONGEST ? -1 : 0);
    cr_assert(access("region", F_OK) != 0, "the name was cut");
    tsanom_record_destroy(r);
  }
}

/* Of a path that is too long for the fault, it has the end. */
Test(record_reports, a_long_path) {
  enum { LONG = 4000 };
  char path[LONG + 1];
  tsanom_record *r = NULL;
  memset(path, 'x', LONG);
  memcpy(path + LONG - 9, "/the-end", sizeof "/the-end");
  CHECK_STATUS(tsanom_record_create(path, 1, NULL, &report.exec, &r), TSANOM_E_IO);
  cr_assert(strstr(report.fault.file, "/the-end"), "%s", report.fault.file);
  cr_assert(strstr(report.fault.text, "File name too long"), "%s", report.fault.text);
}

Test(record_reports, no_free_channel) {
  tsanom_record *r[TSANOM_RECORD_CHANNELS_MAX], *more = NULL;
  char name[16];
  for (int i = 0; i < TSANOM_RECORD_CHANNELS_MAX; i++) {
    (void)snprintf(name, sizeof name, "%d", i);
    CHECK_STATUS(tsanom_record_create(path_of(name), 1, NULL, &report.exec, &r[i]),
                 TSANOM_OK);
  }
  cr_assert_eq(report.fault.status, TSANOM_OK);
  CHECK_STATUS(tsanom_record_create(path_of("more"), 1, NULL, &report.exec, &more),
               TSANOM_E_OVERFLOW);
  cr_assert(strstr(report.fault.text, "31 channels"), "%s", report.fault.text);
  CHECK_FAULT(report, "options.channels", TSANOM_NONE, TSANOM_NONE);
  for (int i = 0; i < TSANOM_RECORD_CHANNELS_MAX; i++) tsanom_record_destroy(r[i]);
}
