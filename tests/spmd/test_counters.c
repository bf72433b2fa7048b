/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: events that are there, events that no machine has, both at once. What the
 * machine allows is not known beforehand; page faults are counted where anything is. */
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <tsanom/spmd.h>
#include <unistd.h>

#include "support/check.h"

enum { OUTER, INNER, IDLE, REGIONS, PAGES = 50 };

/* A type of event that no kernel gives a number to. */
static const tsanom_spmd_event nowhere = {.config = 1, .type = 0x7ffffff0};

static tsanom_spmd_event named(const char *name) {
  tsanom_spmd_event event;
  CHECK_STATUS(tsanom_spmd_event_named(name, &event), TSANOM_OK);
  return event;
}

static tsanom_spmd_counters *counters_of(const tsanom_spmd_event *event, size_t events,
                                         tsanom_status *status) {
  tsanom_spmd_counters *c = NULL;
  *status = tsanom_spmd_counters_create(event, events, REGIONS, NULL, &c);
  cr_assert(*status >= 0);
  return c;
}

/* Every page that is touched first is a fault. */
static void touch_pages(size_t count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  volatile char *bytes = mmap(NULL, count * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert((const void *)bytes != MAP_FAILED);
  madvise((void *)bytes, count * page, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < count; i++) bytes[i * page] = 1;
  munmap((void *)bytes, count * page);
}

/* Two visits of OUTER, in each INNER twice. */
static void record(tsanom_spmd_counters *c) {
  tsanom_spmd_recorder *r;
  CHECK_STATUS(tsanom_spmd_recorder_create(REGIONS, 2, NULL, NULL, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_count(r, c), TSANOM_OK);
  for (int i = 0; i < 2; i++) {
    tsanom_spmd_begin(r, OUTER);
    CHECK_STATUS(tsanom_spmd_recorder_count(r, NULL), TSANOM_E_STATE);
    touch_pages(PAGES);
    for (int j = 0; j < 2; j++) {
      tsanom_spmd_begin(r, INNER);
      touch_pages(PAGES);
      tsanom_spmd_end(r, INNER);
    }
    tsanom_spmd_end(r, OUTER);
  }
  tsanom_spmd_recorder_destroy(r);
}

static void check_absent(const tsanom_spmd_counters *c, size_t event) {
  double value[REGIONS];
  CHECK_STATUS(tsanom_spmd_counters_read(c, event, value), TSANOM_PARTIAL);
  for (int k = 0; k < REGIONS; k++) cr_assert(isnan(value[k]));
}

static void check_faults(const tsanom_spmd_counters *c, size_t event) {
  double value[REGIONS];
  CHECK_STATUS(tsanom_spmd_counters_read(c, event, value), TSANOM_OK);
  cr_assert(value[INNER] >= 4 * PAGES && value[INNER] < 4 * PAGES + 100, "%g",
            value[INNER]);
  cr_assert(value[OUTER] >= value[INNER] + 2 * PAGES, "%g", value[OUTER]);
  cr_assert_eq(value[IDLE], 0, "a region that was not entered had none");
}

Test(spmd_counters, an_event_that_is_not_there_is_absent) {
  tsanom_status status;
  tsanom_spmd_counters *c = counters_of(&nowhere, 1, &status);
  cr_assert_eq(status, TSANOM_PARTIAL);
  record(c);
  check_absent(c, 0);
  tsanom_spmd_counters_close(c);
  check_absent(c, 0);
  tsanom_spmd_counters_destroy(c);
}

Test(spmd_counters, page_faults_are_counted_by_region) {
  tsanom_status status;
  tsanom_spmd_event faults = named("page-faults");
  tsanom_spmd_counters *c = counters_of(&faults, 1, &status);
  record(c);
  if (status == TSANOM_OK) {
    check_faults(c, 0);
  } else {
    check_absent(c, 0);
  }
  tsanom_spmd_counters_destroy(c);
}

Test(spmd_counters, absent_events_leave_the_others_right) {
  const tsanom_spmd_event event[] = {nowhere, named("page-faults"), nowhere,
                                     named("context-switches"), nowhere};
  tsanom_status status, alone;
  tsanom_spmd_counters *single = counters_of(&event[1], 1, &alone);
  tsanom_spmd_counters_destroy(single);
  tsanom_spmd_counters *c = counters_of(event, 5, &status);
  cr_assert_eq(status, TSANOM_PARTIAL);
  record(c);
  for (size_t e = 0; e < 5; e += 2) check_absent(c, e);
  if (alone == TSANOM_OK) check_faults(c, 1);
  tsanom_spmd_counters_close(c);
  if (alone == TSANOM_OK) check_faults(c, 1);
  tsanom_spmd_counters_destroy(c);
}

/* Hardware that is there counts something; that which is not is no zero. */
Test(spmd_counters, hardware_is_there_or_absent) {
  static const char *const name[] = {
      "instructions", "cycles",        "cache-references",      "cache-misses",
      "branches",     "branch-misses", "L1-dcache-load-misses", "LLC-load-misses"};
  for (size_t e = 0; e < sizeof name / sizeof *name; e++) {
    tsanom_status status;
    tsanom_spmd_event event = named(name[e]);
    tsanom_spmd_counters *c = counters_of(&event, 1, &status);
    double value[REGIONS];
    record(c);
    if (status == TSANOM_PARTIAL) {
      check_absent(c, 0);
    } else if (tsanom_spmd_counters_read(c, 0, value) == TSANOM_OK) {
      cr_assert(value[OUTER] >= value[INNER], "%s", name[e]);
      cr_assert(value[OUTER] > 0 || strstr(name[e], "load-misses"), "%s", name[e]);
    }
    tsanom_spmd_counters_destroy(c);
  }
}

/* Misses of a cache, as perf_event_open(2) encodes them: cache | operation << 8 | result
 * << 16. */
Test(spmd_counters, misses_have_the_kernels_numbers) {
  tsanom_spmd_event first = named("L1-dcache-load-misses");
  tsanom_spmd_event last = named("LLC-load-misses");
  cr_assert(first.type == 3 && first.config == 0x10000);
  cr_assert(last.type == 3 && last.config == 0x10002);
}

Test(spmd_counters, misuse_is_rejected) {
  tsanom_spmd_event event = nowhere;
  tsanom_spmd_counters *c = NULL;
  tsanom_spmd_recorder *r = NULL;
  double value[REGIONS];
  CHECK_STATUS(tsanom_spmd_event_named("no such event", &event), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_spmd_event_named(NULL, &event), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_event_named("cycles", NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_counters_create(&nowhere, 1, 1, NULL, &c), TSANOM_PARTIAL);
  CHECK_STATUS(tsanom_spmd_counters_read(c, 1, value), TSANOM_E_OPTION);
  CHECK_STATUS(tsanom_spmd_counters_read(c, 0, NULL), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_counters_read(NULL, 0, value), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_recorder_create(2, 1, NULL, NULL, &r), TSANOM_OK);
  CHECK_STATUS(tsanom_spmd_recorder_count(r, c), TSANOM_E_COUNT);
  CHECK_STATUS(tsanom_spmd_recorder_count(NULL, c), TSANOM_E_NULL);
  CHECK_STATUS(tsanom_spmd_recorder_count(r, NULL), TSANOM_OK);
  tsanom_spmd_recorder_destroy(r);
  tsanom_spmd_counters_destroy(c);
  tsanom_spmd_counters_close(NULL);
}
