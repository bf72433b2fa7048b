/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses, the name in front of messages, and the standard descriptors: what both
 * programs of the command have in common. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char name[64] = "tsanom";

/* If a standard descriptor is closed, the next file that is opened would take its place
 * and receive our messages. Occupy it by /dev/null, opened for the wrong direction so
 * that reads and writes still fail. A program that replaces this one sees the descriptor
 * closed, as without tsanom. */
static void hold_standard_descriptors(void) {
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++) {
    if (fcntl(d, F_GETFD) != -1) continue;
    int mode = d == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode | O_CLOEXEC) < 0) _exit(EXIT_INPUT);
  }
}

/* A full disk is detected when the buffer is flushed; exit() would ignore the error. */
static void check_standard_output(void) {
  int failed_before = ferror(stdout);
  const char *reason = NULL;
  if (fflush(stdout)) {
    reason = strerror(errno);
  } else if (failed_before) {
    reason = "a write failed";
  }
  if (!reason) return;
  fprintf(stderr, "%s: cannot write the standard output: %s\n", name, reason);
  _exit(EXIT_INPUT);
}

void prepare_output(void) {
  hold_standard_descriptors();
  atexit(check_standard_output);
}

char *set_subcommand(const char *subcommand) {
  (void)snprintf(name, sizeof name, "tsanom %s", subcommand);
  return name;
}

int report_failure(const failure *why) {
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", name, why->text);
  return EXIT_INPUT;
}

void warn(const failure *why) {
  fflush(stdout);
  fprintf(stderr, "%s: warning: %s\n", name, why->text);
}
