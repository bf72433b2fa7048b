/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a program unchanged, with a library preloaded (inject_library.c) that
 * causes an anomaly in it. */
#include "inject.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "anomaly.h"

static const char *const kinds[INJECT_KINDS] = {"leak",     "imbalance", "pause",
                                                "deadlock", "stall",     "thread-exit",
                                                "segv",     "kill",      "exit"};

static struct anomaly inject = {
    .name = "inject",
    .operands = "KIND PROGRAM [ARGUMENT...]",
    .purpose =
        "Run PROGRAM with an anomaly of a KIND:\v"
        "  leak         --thread allocates --rate bytes per second up to --bytes\n"
        "  imbalance    --thread is --factor times slower\n"
        "  pause        --thread waits --for seconds\n"
        "  deadlock     --thread and the next one lock two mutexes in opposite order; "
        "after --for seconds they give up\n"
        "  stall        --thread writes to a file in --folder and waits for the disk\n"
        "  thread-exit  --thread ends\n"
        "  segv         --thread causes a segmentation violation\n"
        "  kill         the process is killed (SIGKILL)\n"
        "  exit         a thread calls exit(3)\n\n"
        "It begins --after seconds and lasts at most --for seconds. A message on "
        "standard "
        "error says when it began. Processes that PROGRAM starts are not affected.",
    .uses = ANOMALY_FOR | ANOMALY_BYTES | ANOMALY_RATE | ANOMALY_FOLDER | ANOMALY_AFTER |
            ANOMALY_WHEN | ANOMALY_THREAD | ANOMALY_FACTOR | ANOMALY_PROCESSOR_TIME,
    .factor = 2,
    .bytes = (size_t)256 << 20,
    .rate = (size_t)256 << 20,
    .thread = 1,
    .folder = "."};

static int kind_of(const char *name) {
  for (int k = 0; k < INJECT_KINDS; ++k)
    if (!strcmp(name, kinds[k])) return k;
  (void)fprintf(stderr, "inject: %s: unknown kind; see --help\n", name);
  exit(ANOMALY_USAGE);
}

/* The library lies beside this program. */
static void preload(void) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  char *slash = length > 0 ? (path[length] = 0, strrchr(path, '/')) : NULL;
  const char *before = getenv("LD_PRELOAD");
  char *value = NULL;
  if (!slash ||
      asprintf(&value, "%.*s/" INJECT_LIBRARY "%s%s", (int)(slash - path), path,
               before ? ":" : "", before ? before : "") < 0 ||
      setenv("LD_PRELOAD", value, 1)) {
    anomaly_fail(inject.name, "LD_PRELOAD");
  }
  free(value);
}

int main(int argc, char **argv) {
  anomaly_open(&inject, argc, argv);
  const int kind = kind_of(inject.operand ? inject.operand[0] : "");
  if (!inject.operand || !inject.operand[1]) {
    (void)fprintf(stderr, "inject: no program; see --help\n");
    return ANOMALY_USAGE;
  }
  char plan[256];
  (void)snprintf(plan, sizeof plan, INJECT_FORMAT, kind, inject.thread, inject.after,
                 inject.seconds, inject.factor, inject.bytes, inject.rate,
                 inject.processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC);
  if (setenv(INJECT_PLAN, plan, 1) || setenv(INJECT_FOLDER, inject.folder, 1) ||
      (inject.when && setenv(INJECT_WHEN, inject.when, 1))) {
    anomaly_fail(inject.name, "environment");
  }
  preload();
  (void)execvp(inject.operand[1], inject.operand + 1);
  anomaly_fail(inject.name, inject.operand[1]);
}
