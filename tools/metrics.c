/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel counts the bytes that a thread causes to be read from storage or written to
 * it (the read_bytes and write_bytes of /proc/TID/io). getrusage() reports them in units
 * of 512 by one system call, without a file that would have to stay open.
 *
 * Linux has no network bytes of a process. /proc/net/dev has those of the devices that
 * the process sees, of which a line is
 *
 *   eth0: bytes packets errs drop fifo frame compressed multicast bytes packets ...
 *         received                                                sent */
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "counters.h"
#include "record/regions.h"

enum { ALL = (1 << TSN_REGIONS_METRICS) - 1, UNIT = 512, SENT = 8 };

const char *metrics_name(int metric, size_t *length) {
  const char *name = TSN_REGIONS_METRIC_NAMES;
  for (; metric > 0; metric--) name += strcspn(name, ",") + 1;
  *length = strcspn(name, ",");
  return name;
}

static int metric_named(const char *text, size_t length) {
  for (int m = 0; m < TSN_REGIONS_METRICS; m++) {
    size_t own;
    const char *name = metrics_name(m, &own);
    if (own == length && memcmp(name, text, length) == 0) return m;
  }
  return -1;
}

uint32_t metrics_of_list(const char *list) {
  uint32_t set = 0;
  if (strcmp(list, "auto") == 0) return ALL;
  for (const char *at = list;; at++) {
    size_t length = strcspn(at, ",");
    int metric = metric_named(at, length);
    if (metric < 0) return 0;
    set |= 1u << metric;
    at += length;
    if (!*at) return set;
  }
}

uint64_t metrics_disk_bytes(void) {
  struct rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) return 0;
  return UNIT * ((uint64_t)used.ru_inblock + (uint64_t)used.ru_oublock);
}

/* A kernel that does not count would report 0. */
static int check_disk(void) {
  return access("/proc/self/io", F_OK) == 0 ? 0 : errno;
}

/* The bytes of one device; `numbers` follow its name. */
static int device_bytes(const char *numbers, uint64_t *bytes) {
  for (int i = 0; i <= SENT; i++) {
    char *end;
    uint64_t value = strtoull(numbers, &end, 10);
    if (end == numbers || memchr(numbers, '\n', (size_t)(end - numbers))) return EBADMSG;
    if (i == 0 || i == SENT) *bytes += value;
    numbers = end;
  }
  return 0;
}

int metrics_parse_network(const char *text, uint64_t *bytes) {
  uint64_t sum = 0;
  size_t devices = 0;
  while (*text) {
    size_t length = strcspn(text, "\n");
    const char *colon = memchr(text, ':', length);
    const char *name = text + strspn(text, " ");
    if (colon && !(colon - name == 2 && memcmp(name, "lo", 2) == 0)) {
      int error = device_bytes(colon + 1, &sum);
      if (error) return error;
      devices++;
    }
    text += length + (text[length] != '\0');
  }
  if (!devices) return ENODEV;
  *bytes = sum;
  return 0;
}

int metrics_read_network(const char *path, uint64_t *bytes) {
  static char text[1 << 16];
  size_t length = 0;
  ssize_t more = 1;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  while (more > 0 && length < sizeof text - 1) {
    more = read(file, text + length, sizeof text - 1 - length);
    if (more > 0) length += (size_t)more;
  }
  int error = more < 0 ? errno : more > 0 ? EFBIG : 0;
  close(file);
  text[length] = '\0';
  return error ? error : metrics_parse_network(text, bytes);
}

int metrics_network_bytes(uint64_t *bytes) {
  return metrics_read_network("/proc/self/net/dev", bytes);
}

int metrics_check(int metric) {
  const counter_page *page = NULL;
  uint64_t bytes;
  if (metric == TSN_REGIONS_DISK_BYTES) return check_disk();
  if (metric == TSN_REGIONS_NETWORK_BYTES) return metrics_network_bytes(&bytes);
  int error = counter_open(metric, &page);
  counter_close(page);
  return error;
}
