/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that may load OpenMP or MPI later, or start the program that uses them: python3,
 * perl, sh, env. Its run begins when it is loaded, in a directory of its own, and gives way:
 *
 *   RUN/program/  ──it comes to a region────▶ RUN/program.1; RUN begins, with regions
 *                 ──it executes another one─▶ RUN/program.1; RUN/program begins anew
 *                 ──exit, and RUN is free───▶ RUN
 *                 ──exit, a child has it or goes on─▶ stays there
 *
 * So RUN is always of the process that comes to a region first, and of the program itself if
 * none does. A program that is killed, or calls _exit(), leaves its run in
 * RUN/program, where tsanom summary finds it. */
#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asked.h"
#include "rank_file.h"
#include "record/file.h"
#include "record/format.h"

/* A path of the run. */
typedef struct {
  char text[PATH_MAX + 64];
} path_text;

static path_text path_of(const char *folder, const char *name) {
  path_text path;
  (void)snprintf(path.text, sizeof path.text, "%s%s%s", icp_asked.run, folder, name);
  return path;
}

#define FOLDER "/" ENVIRONMENT_PLAIN_DIRECTORY
static const char head[] = TSN_RUN_FILE;

/* Another process may record into the same run. */
static bool is_of_this_process(void) {
  tsn_run_header run = {.pid = 0};
  tsn_file file;
  if (tsn_file_open(&file, AT_FDCWD, path_of(FOLDER "/", head).text, O_RDONLY) != 0) {
    return false;
  }
  bool is_read = pread(file.descriptor, &run, sizeof run, 0) == sizeof run;
  tsn_file_close(&file);
  return is_read && run.pid == (uint64_t)getpid();
}

void icp_plain_put_aside(void) {
  enum { MOST = 100 };
  if (!is_of_this_process()) return;
  path_text path = path_of(FOLDER, "");
  bool is_moved = false;
  for (int i = 1; i < MOST && !is_moved; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, FOLDER ".%d", i);
    is_moved = rename(path.text, path_of(name, "").text) == 0;
  }
}

bool icp_plain_directory(char directory[PATH_MAX]) {
  int length = snprintf(directory, PATH_MAX, "%s" FOLDER, icp_asked.run);
  errno = ENAMETOOLONG;
  return length < PATH_MAX && mkdir(directory, 0777) == 0;
}

static bool move(const char *name) {
  path_text from = path_of(FOLDER "/", name), to = path_of("/", name);
  return rename(from.text, to.text) == 0;
}

/* Children that go on may come to a region. */
static bool has_children(void) {
  siginfo_t facts;
  return waitid(P_ALL, 0, &facts, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* A link is made by one process only: it decides whose the run is. */
void icp_plain_publish(void) {
  rank_identity ranks;
  path_text from = path_of(FOLDER "/", head), to = path_of("/", head);
  if (has_children() || ranks_read(icp_asked.run, &ranks) != RANKS_NONE ||
      link(from.text, to.text) != 0) {
    return;
  }
  (void)unlink(from.text);
  (void)move("heartbeat.vital");
  (void)move("regions");
  bool is_moved = true;
  for (int i = 0; is_moved; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "heartbeat.%05d", i);
    is_moved = move(name);
  }
  (void)rmdir(path_of(FOLDER, "").text);
}
