/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests whose recorder meets faults: a child process beats, and counts in shared
 * memory which beats were accepted, until it ends or is killed. The run must then have as
 * many beats, with rising tags. */
#include "record/beating.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/sanitized.h"

beat_counts *new_counts(void) {
  beat_counts *counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert(counts != MAP_FAILED);
  counts->finish = 1000;
  return counts;
}

static bool all_but_this_sleep(void) {
  bool sleep = true;
  DIR *tasks = opendir("/proc/self/task");
  cr_assert(tasks);
  for (struct dirent *task; sleep && (task = readdir(tasks));) {
    char path[300], state = 'S';
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
    int other = atoi(task->d_name); /* 0: "." and ".." */
    FILE *stat = other == 0 || other == (int)gettid() ? NULL : fopen(path, "r");
    if (stat) sleep = fscanf(stat, "%*d (%*[^)]) %c", &state) == 1 && state == 'S';
    if (stat) (void)fclose(stat);
  }
  (void)closedir(tasks);
  return sleep;
}

/* AddressSanitizer allocates as helper threads start, under a lock that a child forked
 * just then would find taken for good. So it is forked when they have started. */
int in_child(int (*body)(void)) {
  int status;
  while (SANITIZED && !all_but_this_sleep()) (void)usleep(1000);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  cr_assert(waitpid(child, &status, 0) == child);
  return status;
}

static bool write_text(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  if (!file) return false;
  bool written = fputs(text, file) >= 0;
  return fclose(file) == 0 && written;
}

bool leave_mount_namespace(void) {
  char users[64], groups[64];
  (void)snprintf(users, sizeof users, "0 %u 1\n", (unsigned)geteuid());
  (void)snprintf(groups, sizeof groups, "0 %u 1\n", (unsigned)getegid());
  if (unshare(CLONE_NEWNS) != 0 && (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
                                    !write_text("/proc/self/setgroups", "deny") ||
                                    !write_text("/proc/self/uid_map", users) ||
                                    !write_text("/proc/self/gid_map", groups))) {
    return false;
  }
  return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void beat(beat_counts *counts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t tag = (uint32_t)(counts->recorded + counts->rejected);
    if (tsanom_heartbeat_beat(0, tag) == TSANOM_OK) {
      counts->recorded++;
    } else {
      counts->rejected++;
    }
  }
}

int record_beats(beat_counts *counts, const char *path, int32_t helper, uint32_t count) {
  tsanom_record_options options;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.helper = helper;
  tsanom_status status = tsanom_heartbeat_init(path, 1, &options, NULL);
  if (status < 0) return status == TSANOM_E_IO || status == TSANOM_E_MEMORY ? 0 : 1;
  counts->started = 1;
  beat(counts, count);
  counts->finish = status = tsanom_heartbeat_finish();
  if (status == TSANOM_E_IO) return 0;
  return status == (counts->rejected ? TSANOM_PARTIAL : TSANOM_OK) ? 0 : 2;
}

void check_beats(const beat_counts *counts, const char *path) {
  tsanom_runs *run = open_run(path);
  uint64_t beats = describe_stream(run, 0).count;
  cr_assert(beats == counts->recorded, "%s: %llu beats, but %llu were recorded", path,
            (unsigned long long)beats, (unsigned long long)counts->recorded);
  uint32_t before = 0;
  for (uint64_t k = 0; k < beats; k++) {
    uint32_t tag;
    read_beats(run, 0, k, 1, NULL, &tag);
    cr_assert(k == 0 || tag > before);
    if (!counts->rejected) cr_assert(tag == k);
    before = tag;
    k += beats / 512;
  }
  tsanom_runs_destroy(run);
}
