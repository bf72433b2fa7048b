/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs of threads that sleep: what they wait for. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "record/vital.h"

/* Threads that sleep: until another one wakes them, and for input. */
static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
static int input[2];
static _Atomic int32_t sleeping[2];

static void *wait_for_thread(void *unused) {
  sleeping[0] = (int32_t)syscall(SYS_gettid);
  pthread_mutex_lock(&taken);
  pthread_mutex_unlock(&taken);
  return unused;
}

static void *wait_for_input(void *unused) {
  char byte;
  sleeping[1] = (int32_t)syscall(SYS_gettid);
  cr_assert(read(input[0], &byte, 1) == 1);
  return unused;
}

static int32_t sample_waits(int directory, int32_t task, uint32_t state) {
  tsn_vital_record record = {.task = task};
  for (int i = 0; i < 1000 && record.state != state; i++) {
    usleep(1000);
    tsn_proc_read_thread(directory, NULL, false, &record);
  }
  cr_assert(record.state == state, "%c", (char)record.state);
  return record.waits;
}

/* A kernel that does not name where a thread sleeps writes 0. */
static bool kernel_names_waits(int32_t task) {
  char path[64], name[64] = "0";
  (void)snprintf(path, sizeof path, "/proc/self/task/%d/wchan", (int)task);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  bool is_read = fgets(name, sizeof name, file) != NULL;
  (void)fclose(file);
  return is_read && *name != '0';
}

Test(vital_waits, what_a_thread_waits_for_is_known) {
  int directory = open("/proc/self", O_RDONLY | O_DIRECTORY);
  pthread_t thread[2];
  cr_assert(directory >= 0 && pipe(input) == 0);
  pthread_mutex_lock(&taken);
  cr_assert(pthread_create(&thread[0], NULL, wait_for_thread, NULL) == 0);
  cr_assert(pthread_create(&thread[1], NULL, wait_for_input, NULL) == 0);
  while (!sleeping[0] || !sleeping[1]) usleep(1000);
  int32_t own = sample_waits(directory, (int32_t)syscall(SYS_gettid), 'R');
  int32_t other = sample_waits(directory, sleeping[0], 'S');
  int32_t outside = sample_waits(directory, sleeping[1], 'S');
  bool known = kernel_names_waits(sleeping[1]);
  pthread_mutex_unlock(&taken);
  cr_assert(write(input[1], "", 1) == 1);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  (void)close(directory);
  cr_assert(own == TSANOM_HSA_WAITS_UNKNOWN);
  cr_assert(other == (known ? TSANOM_HSA_WAITS_THREAD : TSANOM_HSA_WAITS_UNKNOWN));
  cr_assert(outside == (known ? TSANOM_HSA_WAITS_OTHER : TSANOM_HSA_WAITS_UNKNOWN));
}
