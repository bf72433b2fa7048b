/* SPDX-License-Identifier: BSD-3-Clause */
/* The run directory: its default name, and whether a run can be created in it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"
#include "rank_file.h"
#include "record/identity.h"
#include "record/messages.h"

enum { RUNS_MOST = 100000 };

const char *default_directory(const char *program, char path[PATH_MAX]) {
  const char *slash = strrchr(program, '/');
  const char *name = slash && slash[1] ? slash + 1 : program;
  (void)snprintf(path, PATH_MAX, "%s.run", name);
  rank_identity rank;
  if (rank_from_environment(&rank)) return path;
  for (int i = 2; i < RUNS_MOST && access(path, F_OK) == 0; i++) {
    (void)snprintf(path, PATH_MAX, "%s.run-%d", name, i);
  }
  return path;
}

int is_rank(void) {
  rank_identity own;
  (void)rank_from_environment(&own);
  return own.rank >= 0;
}

/* Whether the run is being written by another process of this machine. Then this one may
 * be one of several that share it, and must run: the recorder reports that it is not
 * recorded. */
static int is_being_written(const char *directory) {
  tsn_run_header run, here;
  char path[PATH_MAX + sizeof "/" TSN_RUN_FILE];
  (void)snprintf(path, sizeof path, "%s/" TSN_RUN_FILE, directory);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int is_read = file >= 0 && pread(file, &run, sizeof run, 0) == sizeof run;
  if (file >= 0) close(file);
  if (!is_read || run.version != TSN_FORMAT_VERSION || run.state != TSN_RUNNING ||
      !run.pid || run.pid > INT_MAX) {
    return 0;
  }
  tsn_identify(&here);
  if (!tsn_is_same_process_space(&run, &here)) return 1;
  return kill((pid_t)run.pid, 0) == 0 || errno == EPERM;
}

/* A run that is there already is not written again. A rank has a directory of its own in
 * the run, which must be that of this job. */
static int check_free(const char *directory, failure *why) {
  char file[PATH_MAX];
  rank_identity own;
  int has_rank = rank_from_environment(&own);
  int ranks = ranks_compare(directory, &own);
  if (ranks == RANKS_OTHER || (ranks == RANKS_SAME && !has_rank)) {
    return fail(
        why, "%s: contains the run of another job; remove it or give another directory",
        directory);
  }
  int length = has_rank ? snprintf(file, sizeof file, "%s/rank.%d", directory, own.rank)
                        : snprintf(file, sizeof file, "%s", directory);
  if (length < 0 || (size_t)length + sizeof "/regions/heartbeat.run" > sizeof file) {
    return fail(why, "%s: path too long; give a shorter one", directory);
  }
  if (!ranks_has_run(file) && (!has_rank || !ranks_has_run(directory))) return 0;
  if (!has_rank && is_being_written(file)) return 0;
  return fail(why, "%s: contains a run already; remove it or give another directory",
              directory);
}

/* A pipe without a reader would end this process, and a full one stop it, where the
 * program does not write at all. */
static void print_line(const char *directory, int is_plain) {
  struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&out, 1, 0) != 1 || out.revents & (POLLERR | POLLNVAL)) return;
  void (*before)(int) = signal(SIGPIPE, SIG_IGN);
  (void)dprintf(
      STDERR_FILENO,
      "tsanom record: recording to %s: %s; afterwards: tsanom summary %s\n", directory,
      is_plain ? "vital signs, threads and beats of processor time, without regions and "
                 "calls, as the program uses neither OpenMP nor MPI"
               : "parallel regions, calls of MPI, heartbeats and vital signs",
      directory);
  (void)signal(SIGPIPE, before);
}

void announce(const char *directory, int is_plain) {
  rank_identity own;
  failure why;
  int has_rank = rank_from_environment(&own);
  int error = tsn_messages_create(directory, !has_rank && !ranks_has_run(directory));
  if (error) {
    fail(&why, "%s: no page for messages of the recorder: %s", directory,
         strerror(error));
    warn(&why);
  }
  if (has_rank && own.rank > 0) return;
  print_line(directory, is_plain);
}

/* The run is created by the first parallel region, too late to report that it cannot be;
 * so check now. */
int check_directory(const char *directory, char path[PATH_MAX], failure *why) {
  struct stat about;
  if (stat(directory, &about) != 0) {
    if (errno != ENOENT) return fail_errno(why, directory, "use");
    if (mkdir(directory, 0777) && errno != EEXIST)
      return fail_errno(why, directory, "create");
  } else if (!S_ISDIR(about.st_mode)) {
    return fail(why, "%s: not a directory; give the path of a run directory to create",
                directory);
  }
  if (!realpath(directory, path)) return fail_errno(why, directory, "use");
  if (check_free(path, why)) return -1;
  return access(path, W_OK | X_OK) ? fail_errno(why, directory, "write into") : 0;
}
