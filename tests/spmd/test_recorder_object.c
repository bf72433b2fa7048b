/* SPDX-License-Identifier: BSD-3-Clause */
/* Region recorders as objects: memory, allocator, options, and what each
 * failure reports. */
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/directory.h"
#include "support/faults.h"
#include "support/skip.h"

enum { REGIONS = 3, DEPTH = 2, SHIFTS = 70 };

static test_report report;

static void prepare_report(void) {
  test_report_init(&report);
}

TestSuite(spmd_object, .init = prepare_report);

static void use(tsanom_spmd_recorder *r) {
  uint64_t calls[REGIONS];
  for (int i = 0; i < REGIONS; i++) {
    CHECK_STATUS(tsanom_spmd_begin(r, i), TSANOM_OK);
    CHECK_STATUS(tsanom_spmd_begin(r, REGIONS - 1), TSANOM_OK);
    CHECK_STATUS(tsanom_spmd_begin(r, 0), TSANOM_E_STATE);
    CHECK_STATUS(tsanom_spmd_end(r, REGIONS - 1), TSANOM_OK);
    CHECK_STATUS(tsanom_spmd_end(r, i), TSANOM_OK);
  }
  CHECK_STATUS(tsanom_spmd_recorder_read(r, NULL, calls, NULL), TSANOM_PARTIAL);
  cr_assert(calls[0] == 1 && calls[1] == 1 && calls[REGIONS - 1] == REGIONS + 1);
}

static void check_unchanged(const unsigned char *begin, const unsigned char *end) {
  for (; begin < end; begin++) cr_assert_eq(*begin, 0xA5);
}

Test(spmd_object, memory_of_any_alignment) {
  size_t bytes;
  CHECK_STATUS(tsanom_spmd_recorder_size(REGIONS, DEPTH, &bytes), TSANOM_OK);
  for (size_t shift = 0; shift < SHIFTS; shift++) {
    unsigned char *block = malloc(bytes + SHIFTS);
    tsanom_spmd_recorder *r = NULL;
    cr_assert_not_null(block);
    memset(block, 0xA5, bytes + SHIFTS);
    CHECK_STATUS(
        tsanom_spmd_recorder_init(block + shift, bytes, REGIONS, DEPTH, NULL, NULL, &r),
        TSANOM_OK);
    use(r);
    tsanom_spmd_recorder_destroy(r);
    check_unchanged(block, block + shift);
    check_unchanged(block + shift + bytes, block + bytes + SHIFTS);
    free(block);
  }
}

Test(spmd_object, uses_the_allocator_of_exec) {
  test_allocator allocator = {0};
  tsanom_exec exec = test_exec(&allocator);
  tsanom_spmd_recorder *r;
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, DEPTH, NULL, &exec, &r), TSANOM_OK);
  cr_assert(allocator.calls == 1 && allocator.live == 1);
  use(r);
  tsanom_spmd_recorder_destroy(r);
  cr_assert(allocator.calls == 1 && allocator.live == 0);
  tsanom_spmd_recorder_destroy(NULL);
}

/* The memory can be used again: no time and no visit is left. */
Test(spmd_object, starts_again) {
  long memory[64];
  uint64_t calls[1];
  double time[1];
  tsanom_spmd_recorder *r;
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(tsanom_spmd_recorder_init(memory, sizeof memory, 1, 1, NULL, NULL, &r),
                 TSANOM_OK);
    CHECK_STATUS(tsanom_spmd_recorder_read(r, time, calls, NULL), TSANOM_OK);
    cr_assert(calls[0] == 0 && time[0] == 0);
    CHECK_STATUS(tsanom_spmd_begin(r, 0), TSANOM_OK);
    CHECK_STATUS(tsanom_spmd_end(r, 0), TSANOM_OK);
  }
}

/* A recorder for these sizes and options must be rejected both ways. */
static void check_recorder(size_t regions, size_t depth,
                           const tsanom_spmd_recorder_options *options,
                           tsanom_status expected, const char *argument) {
  long memory[64];
  tsanom_spmd_recorder *r = NULL;
  CHECK_STATUS(tsanom_spmd_recorder_init(memory, sizeof memory, regions, depth, options,
                                         &report.exec, &r),
               expected);
  cr_assert_eq(report.fault.status, expected);
  CHECK_FAULT(report, argument, TSANOM_NONE, TSANOM_NONE);
  CHECK_STATUS(tsanom_spmd_recorder_create(regions, depth, options, &report.exec, &r),
               expected);
  cr_assert_eq(report.fault.status, expected);
  CHECK_FAULT(report, argument, TSANOM_NONE, TSANOM_NONE);
  cr_assert_null(r);
}

Test(spmd_object, the_rejected_size_is_reported) {
  size_t bytes;
  check_recorder(0, 1, NULL, TSANOM_E_COUNT, "regions");
  check_recorder((size_t)INT32_MAX + 1, 1, NULL, TSANOM_E_COUNT, "regions");
  check_recorder(1, 0, NULL, TSANOM_E_COUNT, "depth");
  check_recorder(1, (size_t)INT32_MAX + 1, NULL, TSANOM_E_COUNT, "depth");
  CHECK_STATUS(tsanom_spmd_recorder_size(1, INT32_MAX, &bytes), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_size(0, 1, &bytes), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_spmd_recorder_size(1, 0, &bytes), TSANOM_E_COUNT);
}

Test(spmd_object, the_rejected_option_is_reported) {
  tsanom_spmd_recorder_options options;
  CHECK_STATUS(tsanom_spmd_recorder_options_init(&options, 8), TSANOM_E_VERSION);
  CHECK_STATUS(tsanom_spmd_recorder_options_init(&options, sizeof options), TSANOM_OK);
  options.clock = 2;
  check_recorder(1, 1, &options, TSANOM_E_OPTION, "options.clock");
  options.clock = -1;
  check_recorder(1, 1, &options, TSANOM_E_OPTION, "options.clock");
  options.clock = 0;
  options.reserved0 = 1;
  check_recorder(1, 1, &options, TSANOM_E_OPTION, "options.reserved0");
}

Test(spmd_object, rejected_memory_is_reported) {
  long memory[64];
  size_t bytes;
  test_allocator allocator = {.fail_at = 1};
  tsanom_spmd_recorder *r = NULL;
  const tsanom_exec *exec = &report.exec;
  CHECK_STATUS(tsanom_spmd_recorder_size(1, 1, &bytes), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_init(memory, bytes - 1, 1, 1, NULL, exec, &r),
               TSANOM_E_WORKSPACE);
  CHECK_FAULT(report, "bytes", TSANOM_NONE, TSANOM_NONE);
  tsanom_exec failing = test_exec(&allocator);
  failing.fault = &report.fault;
  CHECK_STATUS(tsanom_spmd_recorder_create(1, 1, NULL, &failing, &r), TSANOM_E_MEMORY);
  CHECK_FAULT(report, "exec.alloc", TSANOM_NONE, TSANOM_NONE);
  cr_assert_null(r);
}

static tsanom_spmd_row good_row(void) {
  static const char *const names[REGIONS] = {"a", "b", "c"};
  tsanom_spmd_row row = {.struct_size = sizeof row};
  row.process = "rank-0";
  row.region = names;
  return row;
}

static void check_row(const tsanom_spmd_recorder *r, const tsanom_spmd_row *row,
                      tsanom_status expected, const char *argument, size_t element,
                      size_t second) {
  CHECK_STATUS(tsanom_spmd_recorder_write(r, "/nowhere", row, &report.exec), expected);
  cr_assert_eq(report.fault.status, expected);
  CHECK_FAULT(report, argument, element, second);
}

Test(spmd_object, rejected_rows_are_reported) {
  static const char *const hole[REGIONS] = {"a", NULL, "c"};
  static const double infinite[2 * REGIONS] = {1, 2, 3, 4, 5, INFINITY};
  tsanom_spmd_recorder *r;
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, DEPTH, NULL, NULL, &r), TSANOM_OK);
  static const char *const twice[REGIONS] = {"a", "b", "a"};
  static const char *const unnamed[REGIONS] = {"a", "", "b"};
  tsanom_spmd_row good = good_row(), row = good;
  row.process = NULL;
  check_row(r, &row, TSANOM_E_NULL, "row.process", TSANOM_NONE, TSANOM_NONE);
  row.process = "a/b";
  check_row(r, &row, TSANOM_E_VALUE, "row.process", TSANOM_NONE, TSANOM_NONE);
  row = good;
  row.region = NULL;
  check_row(r, &row, TSANOM_E_NULL, "row.region", TSANOM_NONE, TSANOM_NONE);
  row.region = hole;
  check_row(r, &row, TSANOM_E_NULL, "row.region", 1, TSANOM_NONE);
  row = good;
  row.metrics = 2;
  row.metric = hole;
  check_row(r, &row, TSANOM_E_NULL, "row.metric", 1, TSANOM_NONE);
  row.metric = good.region;
  check_row(r, &row, TSANOM_E_NULL, "row.value", TSANOM_NONE, TSANOM_NONE);
  row.value = infinite;
  check_row(r, &row, TSANOM_E_NONFINITE, "row.value", 1, 2);
  row = good;
  row.region = twice;
  use(r);
  check_row(r, &row, TSANOM_E_VALUE, "row.region", 2, TSANOM_NONE);
  row.region = unnamed;
  check_row(r, &row, TSANOM_E_VALUE, "row.region", 1, TSANOM_NONE);
  tsanom_spmd_recorder_destroy(r);
}

/* The temporary file has the longest path: of 4095 bytes, and one more. */
Test(spmd_object, paths_that_are_too_long_are_not_cut) {
  enum { LONGEST = PATH_MAX - 1 - (sizeof "/spmd/.rank-0.part" - 1) };
  char directory[DIRECTORY_CAPACITY];
  tsanom_spmd_recorder *r;
  tsanom_spmd_row row = good_row();
  cr_assert(new_directory(directory) && chdir(directory) == 0);
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, DEPTH, NULL, NULL, &r), TSANOM_OK);
  for (size_t length = LONGEST + 1; length >= LONGEST; length--) {
    char path[PATH_MAX];
    memset(path, '/', length);
    path[0] = '.';
    path[length] = '\0';
    CHECK_STATUS(tsanom_spmd_recorder_write(r, path, &row, &report.exec),
                 length > LONGEST ? TSANOM_E_IO : TSANOM_OK);
    cr_assert_eq(access("spmd/rank-0.json", F_OK), length > LONGEST ? -1 : 0);
  }
  cr_assert(remove("spmd/rank-0.json") == 0 && rmdir("spmd") == 0 &&
            rmdir(directory) == 0);
  tsanom_spmd_recorder_destroy(r);
}

/* Two bytes stand for the point in this locale. */
Test(spmd_object, numbers_have_a_point_whatever_the_locale) {
  static const char *const metric[] = {"flops"};
  const double value[] = {0.5, 0.001, -2.5};
  char directory[DIRECTORY_CAPACITY];
  tsanom_spmd_recorder *r;
  tsanom_spmd_row row = good_row();
  row.metrics = 1;
  row.metric = metric;
  row.value = value;
  cr_assert(new_directory(directory) && chdir(directory) == 0);
  bool is_there = system("localedef -i ps_AF -f UTF-8 ./ps_AF.UTF-8 2>/dev/null") == 0 &&
                  setenv("LOCPATH", ".", 1) == 0 && setlocale(LC_ALL, "ps_AF.UTF-8");
  if (is_there) {
    CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, DEPTH, NULL, NULL, &r), TSANOM_OK);
    use(r);
    CHECK_STATUS(tsanom_spmd_recorder_write(r, ".", &row, &report.exec), TSANOM_PARTIAL);
    is_there = system("grep -q '[[]0.5, 0.001, -2.5[]]' spmd/rank-0.json") == 0;
    tsanom_spmd_recorder_destroy(r);
    cr_assert(is_there);
  }
  cr_assert(system("rm -r \"$PWD\"") == 0);
  if (!is_there) SKIP_TEST("needs the Debian package locales");
}

/* The file or directory that cannot be written is in the fault, with the reason. */
Test(spmd_object, files_are_reported) {
  char directory[DIRECTORY_CAPACITY], path[DIRECTORY_CAPACITY + 32];
  tsanom_spmd_recorder *r;
  tsanom_spmd_row row = good_row();
  cr_assert_not_null(new_directory(directory));
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, DEPTH, NULL, NULL, &r), TSANOM_OK);
  (void)snprintf(path, sizeof path, "%s/no/run", directory);
  CHECK_STATUS(tsanom_spmd_recorder_write(r, path, &row, &report.exec), TSANOM_E_IO);
  cr_assert_str_eq(report.fault.file, path);
  cr_assert(strstr(report.fault.text, "No such file or directory"));
  CHECK_FAULT(report, "", TSANOM_NONE, TSANOM_NONE);
  struct rlimit limit;
  cr_assert(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const struct rlimit small = {.rlim_cur = 100, .rlim_max = limit.rlim_max};
  cr_assert(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_STATUS(tsanom_spmd_recorder_write(r, directory, &row, &report.exec), TSANOM_E_IO);
  cr_assert(strstr(report.fault.text, "File too large"), "%s", report.fault.text);
  cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  (void)snprintf(path, sizeof path, "%s/spmd", directory);
  cr_assert(rmdir(path) == 0, "a file was left");
  FILE *file = fopen(path, "w");
  cr_assert(file && fclose(file) == 0);
  (void)snprintf(path, sizeof path, "%s/spmd/rank-0.json", directory);
  CHECK_STATUS(tsanom_spmd_recorder_write(r, directory, &row, &report.exec), TSANOM_E_IO);
  cr_assert_str_eq(report.fault.file, path);
  cr_assert(strstr(report.fault.text, "Not a directory"));
  (void)snprintf(path, sizeof path, "%s/spmd", directory);
  cr_assert(remove(path) == 0 && remove(directory) == 0);
  tsanom_spmd_recorder_destroy(r);
}
