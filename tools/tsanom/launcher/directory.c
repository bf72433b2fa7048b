/* SPDX-License-Identifier: BSD-3-Clause */
/* The run directory: its default name, and whether a run can be created in it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"
#include "ranks.h"

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
 * recorded. The fields are those of docs/formats.md. */
static int is_being_written(const char *directory) {
  enum { STATE = 24, RUNNING = 1, PROCESS = 48 };
  char file[PATH_MAX + sizeof "/heartbeat.run"];
  (void)snprintf(file, sizeof file, "%s/heartbeat.run", directory);
  int header = open(file, O_RDONLY | O_CLOEXEC);
  uint32_t state = 0;
  uint64_t process = 0;
  int read = header >= 0 && pread(header, &state, sizeof state, STATE) == sizeof state &&
             pread(header, &process, sizeof process, PROCESS) == sizeof process;
  if (header >= 0) close(header);
  if (!read || state != RUNNING || !process || process > INT_MAX) return 0;
  return kill((pid_t)process, 0) == 0 || errno == EPERM;
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
