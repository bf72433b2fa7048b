/* SPDX-License-Identifier: BSD-3-Clause */
/* A beat makes no system call: threads beat under a seccomp filter by which any but
 * exit ends the thread. (The strict mode forbids the time-stamp counter.) A beat
 * allocates nothing: the heap's functions count, where no sanitizer has them. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/run_directory.h"
#include "support/sanitized.h"
#include "support/skip.h"

static _Atomic uint32_t progress;
static _Atomic unsigned long allocations;
static _Thread_local int counting;

#if !SANITIZED
/* glibc's own names of its heap functions. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void __libc_free(void *block);

void *malloc(size_t bytes) {
  allocations += (unsigned)counting;
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  allocations += (unsigned)counting;
  return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes) {
  allocations += (unsigned)counting;
  return __libc_realloc(block, bytes);
}

void free(void *block) {
  allocations += (unsigned)counting;
  __libc_free(block);
}
#endif

enum { BEATS = 16000, UNAVAILABLE = INT32_MAX };

static int forbid_system_calls(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
  };
  struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0;
}

static void *beat_in_silence(void *argument) {
  int32_t thread = (int32_t)(intptr_t)argument;
  if (forbid_system_calls()) {
    progress = UNAVAILABLE;
    return NULL;
  }
  counting = 1;
  for (uint32_t i = 0; i < BEATS; i++) {
    if (tsanom_heartbeat_beat(thread, i) != TSANOM_OK) break;
    progress = i + 1;
  }
  counting = 0;
  syscall(SYS_exit, 0);
  return NULL;
}

static void check_silence(int32_t clock) {
  tsanom_record_options options;
  make_directory();
  tsanom_record_options_init(&options, sizeof options);
  options.clock = clock;
  CHECK_STATUS(tsanom_heartbeat_init(directory, 1, &options, NULL), TSANOM_OK);
  pthread_t beater;
  progress = 0;
  cr_assert(pthread_create(&beater, NULL, beat_in_silence, (void *)0) == 0);
  pthread_join(beater, NULL);
  CHECK_STATUS(tsanom_heartbeat_finish(), TSANOM_OK);
  remove_directory();
  if (progress == UNAVAILABLE) SKIP_TEST("seccomp is not available here");
  cr_assert(progress == BEATS, "a system call in beat %u", progress);
  cr_assert(allocations == 0, "%lu calls of the heap in %d beats", allocations, BEATS);
}

Test(heartbeat_silence, beats_make_no_system_call_and_allocate_nothing) {
  check_silence(TSANOM_RECORD_CLOCK_AUTO);
}

/* Where the C library reads this clock without the kernel's help. */
#if defined(__x86_64__) || defined(__aarch64__)
Test(heartbeat_silence, nor_by_the_other_clock) {
  check_silence(TSANOM_RECORD_CLOCK_MONOTONIC);
}
#endif
