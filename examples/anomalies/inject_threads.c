/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of the program, in the order in which the kernel lists them, which is that
 * of their start. Threads that block the signal, such as the recorder's and the library's
 * own, do not count. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"

static int blocks_signal(const char *thread, int signal) {
  char path[64];
  char line[256];
  (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
  FILE *file = fopen(path, "re");
  unsigned long long blocked = ~0ULL; /* a thread that ended meanwhile */
  while (file && fgets(line, sizeof line, file)) {
    if (!strncmp(line, "SigBlk:", strlen("SigBlk:"))) {
      blocked = strtoull(line + strlen("SigBlk:"), NULL, 16);
    }
  }
  if (file) {
    (void)fclose(file);
  }
  return blocked >> (signal - 1) & 1;
}

int inject_find_threads(pid_t *threads, int most, int signal) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  const struct dirent *entry = NULL;
  while (tasks && count < most && (entry = readdir(tasks))) {
    if (entry->d_name[0] != '.' && !blocks_signal(entry->d_name, signal)) {
      threads[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
    }
  }
  if (tasks) {
    (void)closedir(tasks);
  }
  return count;
}
