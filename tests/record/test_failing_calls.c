/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injection: the n-th call of one system function fails, for every n and every
 * function that the recorder uses to make, grow and finish a run. Whatever fails, the
 * program goes on, and the run has exactly the beats whose call returned TSANOM_OK. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "record/beating.h"
#include "support/check.h"
#include "support/random.h"

enum { BEATS = 120000 };

/* Which calls fail: `times` of them, from call `first` on. */
static struct {
  bool armed;
  const char *name;
  int error; /* 0: the call does half of its work */
  int first, times;
} plan;
static int calls;
static int *calls_seen;
static char path[RUN_PATH];
static int32_t helper;
static beat_counts *counts;

static bool fails(const char *name) {
  if (!plan.armed || strcmp(name, plan.name) != 0) return false;
  int call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  *calls_seen = call + 1;
  errno = plan.error;
  return call >= plan.first && call < plan.first + plan.times;
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return fails("open") ? -1 : __real_open(name, flags, mode);
}

int __real_openat(int at, const char *name, int flags, ...);
int __wrap_openat(int at, const char *name, int flags, ...);
int __wrap_openat(int at, const char *name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return fails("openat") ? -1 : __real_openat(at, name, flags, mode);
}

/* The files of /proc are opened by this function. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
/* Like the C library's, it reads six arguments, also where fewer are given. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...) {
  enum { MOST = 6 };
  va_list rest;
  long argument[MOST];
  va_start(rest, number);
  for (int i = 0; i < MOST; i++) argument[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_openat && fails("proc")) return -1;
  return __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
                        argument[4], argument[5]);
}

ssize_t __real_pwrite(int file, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset) {
  if (!fails("pwrite")) return __real_pwrite(file, bytes, count, offset);
  return plan.error ? -1 : __real_pwrite(file, bytes, (count + 1) / 2, offset);
}

int __real_fallocate(int file, int mode, off_t offset, off_t length);
int __wrap_fallocate(int file, int mode, off_t offset, off_t length);
int __wrap_fallocate(int file, int mode, off_t offset, off_t length) {
  return fails("fallocate") ? -1 : __real_fallocate(file, mode, offset, length);
}

int __real_ftruncate(int file, off_t length);
int __wrap_ftruncate(int file, off_t length);
int __wrap_ftruncate(int file, off_t length) {
  return fails("ftruncate") ? -1 : __real_ftruncate(file, length);
}

void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  return fails("mmap") ? MAP_FAILED : __real_mmap(at, bytes, access, flags, file, offset);
}

int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice) {
  return fails("madvise") ? -1 : __real_madvise(at, bytes, advice);
}

static int record_failing(void) {
  plan.armed = true;
  return record_beats(counts, path, helper, BEATS);
}

/* One run with the plan; false when it has fewer calls than the plan fails. */
static bool try_plan(int number) {
  (void)snprintf(path, sizeof path, "%s/%s.%d", directory, plan.name, number);
  counts = new_counts();
  *calls_seen = 0;
  int status = in_child(record_failing);
  cr_assert(status == 0, "%s, call %d, %d times, error %d: ended with %#x", plan.name,
            plan.first, plan.times, plan.error, (unsigned)status);
  if (counts->started) {
    check_beats(counts, path);
    /* A failure that passes costs few beats. */
    cr_assert(
        plan.times > 1 || helper == TSANOM_RECORD_HELPER_THREAD || counts->rejected < 8,
        "%s, call %d, error %d: %llu beats were dropped", plan.name, plan.first,
        plan.error, (unsigned long long)counts->rejected);
  } else {
    cr_assert(plan.times > 1 || access(path, F_OK) != 0,
              "%s, call %d, error %d: no run, but files of one", plan.name, plan.first,
              plan.error);
  }
  directory_remove(path);
  munmap(counts, sizeof *counts);
  return plan.first < *calls_seen;
}

static void sweep(const char *name, int error, int times) {
  make_directory();
  calls_seen = mmap(NULL, sizeof *calls_seen, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  plan.name = name;
  plan.error = error;
  plan.times = times;
  int number = 0;
  for (plan.first = 0; try_plan(number); plan.first += ONE_CASE_IN) number++;
  cr_assert(number > 0, "%s is never called", name);
  remove_directory();
}

static void sweep_all(const char *name, int error) {
  static const int times[] = {1, 50};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) sweep(name, error, times[i]);
}

Test(failing_calls, without_a_helper, .timeout = 240) {
  helper = TSANOM_RECORD_HELPER_NONE;
  sweep_all("open", EMFILE);
  sweep_all("openat", EMFILE);
  sweep_all("pwrite", EIO);
  sweep_all("pwrite", EINTR);
  sweep_all("pwrite", 0);
  sweep_all("fallocate", ENOSPC);
  sweep_all("fallocate", EOPNOTSUPP);
  sweep_all("ftruncate", EIO);
  sweep_all("mmap", ENOMEM);
  sweep_all("madvise", EINVAL);
}

Test(failing_calls, with_a_helper, .timeout = 240) {
  helper = TSANOM_RECORD_HELPER_THREAD;
  sweep_all("open", EMFILE);
  sweep_all("openat", EMFILE);
  sweep_all("pwrite", EIO);
  sweep_all("mmap", ENOMEM);
  sweep_all("fallocate", EOPNOTSUPP);
  sweep_all("ftruncate", EIO);
  sweep_all("madvise", EINVAL);
}

enum { LOST = 20000, NEXT_TRY = 65536 };

/* Beats of a thread without a stream, while none can be made, and until it has one. The system
 * is asked less and less often. */
static int beat_without_a_stream(void) {
  enum { MOST_CALLS = 300 }; /* of 20000 beats */
  tsanom_record_options options;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.helper = helper;
  if (tsanom_heartbeat_init(path, 1, &options, NULL) != TSANOM_OK) return 1;
  plan.armed = true;
  for (uint32_t i = 0; i < LOST; i++) {
    if (tsanom_heartbeat_beat(1, i) != TSANOM_E_IO) return 2;
  }
  plan.armed = false;
  if (*calls_seen > MOST_CALLS) return 3;
  uint32_t more = 0;
  while (more <= NEXT_TRY && tsanom_heartbeat_beat(1, more) != TSANOM_OK) more++;
  if (more > NEXT_TRY) return 4;
  counts->rejected = LOST + more;
  if (tsanom_heartbeat_beat(2, 0) != TSANOM_OK) return 5;
  return tsanom_heartbeat_finish() == TSANOM_PARTIAL ? 0 : 6;
}

Test(failing_calls, a_thread_without_a_stream) {
  static const char *const names[] = {"openat", "fallocate", "mmap"};
  static const int32_t helpers[] = {TSANOM_RECORD_HELPER_NONE,
                                    TSANOM_RECORD_HELPER_THREAD};
  calls_seen = mmap(NULL, sizeof *calls_seen, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
    make_directory();
    plan.name = names[i / 2];
    plan.error = ENOSPC;
    plan.times = INT_MAX;
    helper = helpers[i % 2];
    (void)snprintf(path, sizeof path, "%s/run", directory);
    counts = new_counts();
    int status = in_child(beat_without_a_stream);
    cr_assert(status == 0, "%s, helper %d: ended with %#x after %d calls", plan.name,
              helper, (unsigned)status, *calls_seen);
    tsanom_runs *run = open_run(path);
    cr_assert(describe(run).beats == 2 &&
              describe(run).beats_dropped == counts->rejected);
    tsanom_runs_destroy(run);
    remove_directory();
  }
}

/* What cannot be read is not known, and the run says that nothing sampled it. */
Test(failing_calls, without_proc) {
  make_directory();
  calls_seen = mmap(NULL, sizeof *calls_seen, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  helper = TSANOM_RECORD_HELPER_THREAD;
  plan.name = "proc";
  plan.error = ENOENT;
  plan.times = INT_MAX;
  (void)snprintf(path, sizeof path, "%s/run", directory);
  counts = new_counts();
  cr_assert(in_child(record_failing) == 0 && counts->finish == TSANOM_OK);
  tsanom_runs *run = open_run(path);
  const tsanom_hsa_vital *sample;
  size_t count;
  cr_assert(describe(run).vital == TSANOM_RUNS_VITAL_ENDS);
  CHECK_STATUS(tsanom_runs_vitals(run, TSANOM_RUNS_PROCESS, NULL, &sample, &count),
               TSANOM_OK);
  cr_assert(count == 2);
  for (size_t i = 0; i < count; i++) {
    cr_assert(isnan(sample[i].resident) && isnan(sample[i].anonymous));
    cr_assert(isnan(sample[i].cpu_s) && isnan(sample[i].threads) && !sample[i].state);
  }
  CHECK_STATUS(tsanom_runs_vitals(run, 0, NULL, &sample, &count), TSANOM_OK);
  cr_assert(count == 1 && isnan(sample[0].wait_s) && isnan(sample[0].minor_faults));
  cr_assert(sample[0].beats == counts->recorded);
  tsanom_runs_destroy(run);
  remove_directory();
}
