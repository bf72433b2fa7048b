/* SPDX-License-Identifier: BSD-3-Clause */
/* For the thread sanitizer, which cannot run inside Criterion: threads that
 * come and go, share numbers, outgrow their streams and beat across the end of
 * runs. Fails by the sanitizer's exit status. */
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

#include "support/directory.h"

enum { THREADS = 4, BEATS = 30000, RUNS = 6 };

static _Atomic int stop;

static void *beat_some(void *number) {
  for (uint32_t i = 0; i < BEATS; i++) {
    (void)tsanom_heartbeat_beat((int32_t)(intptr_t)number, i);
  }
  return NULL;
}

static void *beat_until_stop(void *number) {
  while (!stop) (void)tsanom_heartbeat_beat((int32_t)(intptr_t)number, 0);
  return NULL;
}

static int remove_one(const char *path, const struct stat *facts, int kind,
                      struct FTW *where) {
  (void)facts;
  (void)kind;
  (void)where;
  return remove(path);
}

static int record_run(const char *path) {
  pthread_t thread[THREADS];
  if (tsanom_heartbeat_init(path, 2, NULL, NULL) != TSANOM_OK) return 1;
  for (int team = 0; team < 2; team++) {
    for (intptr_t i = 0; i < THREADS; i++) {
      if (pthread_create(&thread[i], NULL, beat_some, (void *)(i % 3)) != 0) return 1;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  }
  return tsanom_heartbeat_finish() != TSANOM_OK;
}

int main(void) {
  enum { DESCRIPTORS = 8 };
  char directory[DIRECTORY_CAPACITY], path[DIRECTORY_CAPACITY + 12];
  pthread_t straggler;
  int failed = !new_directory(directory) ||
               pthread_create(&straggler, NULL, beat_until_stop, (void *)1) != 0;
  for (int i = 0; i < RUNS && !failed; i++) {
    (void)snprintf(path, sizeof path, "%s/%d", directory, i);
    failed = record_run(path);
  }
  stop = 1;
  pthread_join(straggler, NULL);
  (void)nftw(directory, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
  return failed;
}
