/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics by recorded texts of the kernel and by pages of counters that the test fills:
 * few machines have all of them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"
#include "metrics.h"
#include "record/regions.h"

/* What perf_event_open() does: fail, or return a file. */
static int open_error, open_file;
static struct perf_event_attr opened;

/* The linker puts it in place of syscall(). */
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

/* Like the C library's, it reads six arguments, also where fewer are given. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...) {
  long given[5];
  va_list arguments;
  va_start(arguments, number);
  void *first = va_arg(arguments, void *);
  for (int i = 0; i < 5; i++) given[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number != SYS_perf_event_open) {
    return __real_syscall(number, first, given[0], given[1], given[2], given[3],
                          given[4]);
  }
  memcpy(&opened, first, sizeof opened);
  errno = open_error;
  return open_error ? -1 : dup(open_file);
}

/* The kernel of a container, of a laptop, and of a machine without network. */
static const char head[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets "
    "errs drop fifo colls carrier compressed\n";
static const char loopback[] =
    "    lo: 104831508  259457    0    0    0     0          0         0 104831508  "
    "259457    0    0    0     0       0          0\n";
static const char devices[] =
    "  eth0: 284041159    8206    0    0    0     0          0         0   468317    "
    "5876    0    0    0     0       0          0\n"
    "wlp2s0:1000 1 0 0 0 0 0 7 20 1 0 0 0 0 0 0\n"
    "   log: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n";

Test(metrics, network_bytes_are_those_of_all_devices) {
  char text[2048];
  uint64_t bytes = 1;
  (void)snprintf(text, sizeof text, "%s%s%s", head, loopback, devices);
  cr_assert_eq(metrics_parse_network(text, &bytes), 0);
  cr_assert_eq(bytes, 284041159u + 468317 + 1000 + 20 + 1 + 2);
}

Test(metrics, network_bytes_are_missing_not_zero) {
  char text[2048];
  uint64_t bytes = 1;
  (void)snprintf(text, sizeof text, "%s%s", head, loopback);
  cr_assert_eq(metrics_parse_network(text, &bytes), ENODEV);
  cr_assert_eq(metrics_parse_network("", &bytes), ENODEV);
  (void)snprintf(text, sizeof text, "%s  eth0: 284041159 8206 0\n%s", head, loopback);
  cr_assert_eq(metrics_parse_network(text, &bytes), EBADMSG);
  cr_assert_eq(metrics_parse_network("eth0: x", &bytes), EBADMSG);
  cr_assert_eq(metrics_read_network("/nonexistent/dev", &bytes), ENOENT);
  cr_assert_eq(metrics_read_network("/proc/self/cmdline/dev", &bytes), ENOTDIR);
  cr_assert_eq(metrics_read_network("/", &bytes), EISDIR);
  cr_assert_eq(metrics_read_network("/dev/zero", &bytes), EFBIG);
  cr_assert_eq(bytes, 1);
}

Test(metrics, lists) {
  cr_assert_eq(metrics_of_list("auto"), 31);
  cr_assert_eq(metrics_of_list("instructions"), 1);
  cr_assert_eq(metrics_of_list("network-bytes,L2-misses"), 20);
  cr_assert_eq(metrics_of_list("L1-misses,disk-bytes,L1-misses"), 10);
  static const char *const wrong[] = {
      "",    "instruction",        "instructions,", ",", "auto,L1-misses",
      "All", "L1-misses L2-misses"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cr_assert_eq(metrics_of_list(wrong[i]), 0, "%s", wrong[i]);
  }
}

static uint64_t hardware; /* what the counter of the processor has */
static uint32_t asked;
static struct perf_event_mmap_page page;

static uint64_t read_hardware(uint32_t i) {
  asked = i;
  return hardware;
}

/* A counter of 48 bits that the kernel set to a negative value, as it does. */
Test(metrics, counts_are_sums_of_two_parts) {
  uint64_t count = 0;
  page = (struct perf_event_mmap_page){.index = 3, .pmc_width = 48, .offset = 1000};
  page.time_enabled = page.time_running = 77;
  hardware = 5;
  cr_assert(counter_read_by(&page, read_hardware, &count));
  cr_assert(count == 1005 && asked == 2);
  hardware = ((uint64_t)1 << 48) - 10;
  cr_assert(counter_read_by(&page, read_hardware, &count));
  cr_assert_eq(count, 990);
  page.pmc_width = 64;
  hardware = (uint64_t)-1;
  cr_assert(counter_read_by(&page, read_hardware, &count));
  cr_assert_eq(count, 999);
}

Test(metrics, counters_that_are_lent_have_no_count) {
  uint64_t count = 7;
  page = (struct perf_event_mmap_page){.pmc_width = 48, .offset = 1000};
  cr_assert_not(counter_read_by(&page, read_hardware, &count));
  page.index = 1;
  page.time_enabled = 2;
  page.time_running = 1;
  cr_assert_not(counter_read_by(&page, read_hardware, &count));
  page.time_running = 2;
  page.pmc_width = 0;
  cr_assert_not(counter_read_by(&page, read_hardware, &count));
  cr_assert_eq(count, 7);
}

/* The kernel moves the event to another counter while it is read. */
static uint64_t move(uint32_t i) {
  if (i == 0) {
    page.lock++;
    page.index = 2;
    page.offset = 500;
    return 1;
  }
  return 20;
}

Test(metrics, a_reading_that_the_kernel_disturbs_is_repeated) {
  uint64_t count = 0;
  page = (struct perf_event_mmap_page){.index = 1, .pmc_width = 48, .offset = 1000};
  cr_assert(counter_read_by(&page, move, &count));
  cr_assert_eq(count, 520);
}

Test(metrics, the_kernel_explains_missing_counters) {
  static const int errors[] = {ENOENT, EACCES, EPERM, EOPNOTSUPP, ENOSYS};
  const counter_page *mapped = NULL;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    open_error = errors[i];
    cr_assert_eq(counter_open(TSN_REGIONS_INSTRUCTIONS, &mapped), errors[i]);
    cr_assert_eq(metrics_check(TSN_REGIONS_L1_MISSES), errors[i]);
  }
  cr_assert_null(mapped);
  cr_assert_eq(opened.config, 0x10000);
  cr_assert_eq(opened.type, PERF_TYPE_HW_CACHE);
  cr_assert(opened.exclude_kernel && opened.exclude_hv);
  counter_close(NULL);
}

/* A kernel that lets programs read its counters, and one that does not. */
Test(metrics, counters_are_mapped) {
  const counter_page *mapped = NULL;
  uint64_t count = 0;
  page = (struct perf_event_mmap_page){.index = 1, .pmc_width = 48, .offset = 1000};
  open_file = memfd_create("page", 0);
  cr_assert(open_file >= 0 && ftruncate(open_file, sysconf(_SC_PAGESIZE)) == 0);
  cr_assert(pwrite(open_file, &page, sizeof page, 0) == sizeof page);
  cr_assert_eq(counter_open(TSN_REGIONS_INSTRUCTIONS, &mapped), EOPNOTSUPP);
  page.cap_user_rdpmc = 1;
  cr_assert(pwrite(open_file, &page, sizeof page, 0) == sizeof page);
  cr_assert_eq(counter_open(TSN_REGIONS_INSTRUCTIONS, &mapped), 0);
  close(open_file);
  hardware = 3;
  cr_assert(counter_read_by(mapped, read_hardware, &count));
  cr_assert_eq(count, 1003);
  counter_close(mapped);
}
