/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel names a boot by a random number, and a namespace by an inode. A container has
 * the boot of its machine, and namespaces of its own. */
#include "record/identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static uint64_t namespace_of(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 ? facts.st_ino : 0;
}

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 hexadecimal digits, with dashes between some of them. */
static void read_boot(unsigned char boot[TSN_BOOT]) {
  char text[40];
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, text, sizeof text);
  close(file);
  size_t digits = 0;
  for (ssize_t i = 0; i < length && digits < 2 * TSN_BOOT; i++) {
    int value = digit(text[i]);
    if (value < 0) continue;
    boot[digits / 2] = (unsigned char)(boot[digits / 2] << 4 | value);
    digits++;
  }
}

void tsn_identify(tsn_run_header *header) {
  struct utsname system;
  memset(header->host, 0, sizeof header->host);
  memset(header->boot, 0, sizeof header->boot);
  if (uname(&system) == 0) {
    (void)snprintf(header->host, sizeof header->host, "%.*s", TSN_HOST_NAME - 1,
                   system.nodename);
  }
  read_boot(header->boot);
  header->pid_namespace = namespace_of("/proc/self/ns/pid");
  header->time_namespace = namespace_of("/proc/self/ns/time");
}

static bool is_same_boot(const tsn_run_header *run, const tsn_run_header *here) {
  static const unsigned char unknown[TSN_BOOT];
  return memcmp(run->boot, unknown, TSN_BOOT) != 0 &&
         memcmp(run->boot, here->boot, TSN_BOOT) == 0;
}

bool tsn_is_same_process_space(const tsn_run_header *run, const tsn_run_header *here) {
  return is_same_boot(run, here) && run->pid_namespace &&
         run->pid_namespace == here->pid_namespace;
}

/* A kernel without time namespaces (before Linux 5.6) has 0 for both. */
bool tsn_is_same_clock(const tsn_run_header *run, const tsn_run_header *here) {
  return is_same_boot(run, here) && run->time_namespace == here->time_namespace;
}
