/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording where the surroundings are hostile: file systems without fallocate(2),
 * directories that are replaced, exhausted limits, signal handlers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

#include "record/beating.h"
#include "record/fuse_memory.h"
#include "support/check.h"
#include "support/sanitized.h"
#include "support/skip.h"

enum { BEATS = 400000, UNAVAILABLE = 77 };

static char path[RUN_PATH];
static int32_t helper;
static beat_counts *counts;

static void set_up(void) {
  make_directory();
  (void)snprintf(path, sizeof path, "%s/run", directory);
  counts = new_counts();
  helper = TSANOM_RECORD_HELPER_NONE;
}

TestSuite(hostile, .init = set_up, .fini = remove_directory, .timeout = 120);

/* Run the body in a child process, which must end well. */
static void check_child(int (*body)(void)) {
  int status = in_child(body);
  if (WIFEXITED(status) && WEXITSTATUS(status) == UNAVAILABLE) {
    SKIP_TEST("this needs privileges or a feature that is not available here");
  }
  cr_assert(status == 0, "the child ended with %#x", (unsigned)status);
}

static int start(int32_t threads) {
  tsanom_record_options options;
  (void)tsanom_record_options_init(&options, sizeof options);
  options.helper = helper;
  return tsanom_heartbeat_init(path, threads, &options, NULL) != TSANOM_OK;
}

/* From here on fallocate() fails with EOPNOTSUPP, as on ramfs and NFSv3, and so does
 * pread(), by which the C library's emulation would race with beats. */
static int lose_fallocate(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0;
}

static int record_without_fallocate(void) {
  if (lose_fallocate()) return UNAVAILABLE;
  int failed = record_beats(counts, path, helper, 5 * BEATS);
  return failed ? failed : counts->rejected != 0;
}

static void check_without_fallocate(void) {
  check_child(record_without_fallocate);
  cr_assert(counts->finish == TSANOM_OK);
  check_beats(counts, path);
}

Test(hostile, no_fallocate) {
  check_without_fallocate();
}

/* The grower extends the file while the program beats into it. */
Test(hostile, no_fallocate_with_a_helper) {
  helper = TSANOM_RECORD_HELPER_THREAD;
  check_without_fallocate();
}

static int record_in_directory(void) {
  int failed = record_beats(counts, path, helper, BEATS);
  if (failed || counts->finish != TSANOM_OK || counts->rejected) return 1;
  check_beats(counts, path);
  return 0;
}

static int record_on_ramfs(void) {
  if (!leave_mount_namespace() || mount("none", directory, "ramfs", 0, NULL) != 0) {
    return UNAVAILABLE;
  }
  return record_in_directory();
}

Test(hostile, ramfs) {
  helper = TSANOM_RECORD_HELPER_THREAD;
  check_child(record_on_ramfs);
}

static bool lacks_fallocate(void) {
  char name[RUN_PATH];
  (void)snprintf(name, sizeof name, "%s/probe", directory);
  int file = open(name, O_RDWR | O_CREAT, 0600);
  bool lacks = file >= 0 && fallocate(file, 0, 0, 4096) != 0 && errno == EOPNOTSUPP;
  (void)close(file);
  return lacks && unlink(name) == 0;
}

static int record_on_fuse(void) {
  if (!leave_mount_namespace() || !fuse_memory_mount(directory)) return UNAVAILABLE;
  return lacks_fallocate() ? record_in_directory() : 1;
}

Test(hostile, fuse) {
  check_child(record_on_fuse);
}

Test(hostile, fuse_with_a_helper) {
  helper = TSANOM_RECORD_HELPER_THREAD;
  check_child(record_on_fuse);
}

/* The file of stream 0 in `path`. */
static const char *stream_file(void) {
  static char name[RUN_PATH + 24];
  (void)snprintf(name, sizeof name, "%s/heartbeat.00000", path);
  return name;
}

static beat_counts *second;

static int record_second(void) {
  return record_beats(second, path, helper, BEATS);
}

static int outlive_the_directory(void) {
  second = new_counts();
  if (start(1)) return 1;
  beat(counts, 10);
  directory_remove(path);
  int status = in_child(record_second);
  if (status != 0) return 2;
  beat(counts, 2 * BEATS);
  /* An unannounced thread needs a new file, which must not appear in the second run. */
  if (tsanom_heartbeat_beat(5, 0) == TSANOM_OK) return 3;
  (void)tsanom_heartbeat_finish();
  check_beats(second, path);
  return second->rejected ? 4 : 0;
}

Test(hostile, directory_deleted_and_created_again) {
  check_child(outlive_the_directory);
}

Test(hostile, directory_deleted_and_created_again_with_a_helper) {
  helper = TSANOM_RECORD_HELPER_THREAD;
  check_child(outlive_the_directory);
}

/* Close all descriptors but the usual ones, as daemons do. */
static void close_all(void) {
  for (int i = 3; i < 8192; i++) close(i);
}

static int swap_for_a_link(bool closing) {
  static char before[3000000];
  char victim[RUN_PATH];
  size_t bytes;
  memset(before, 'v', sizeof before);
  (void)snprintf(victim, sizeof victim, "%s/victim", directory);
  file_write(victim, before, sizeof before);
  if (start(1)) return 1;
  beat(counts, 10);
  if (unlink(stream_file()) != 0 || symlink(victim, stream_file()) != 0) return 2;
  if (closing) close_all();
  beat(counts, BEATS);
  (void)tsanom_heartbeat_finish();
  unsigned char *after = file_read(victim, &bytes);
  int changed = bytes != sizeof before || memcmp(before, after, bytes) != 0;
  free(after);
  return changed ? 3 : 0;
}

static int swap_file(void) {
  return swap_for_a_link(false);
}

static int swap_file_and_close(void) {
  return swap_for_a_link(true);
}

Test(hostile, stream_replaced_by_a_link) {
  check_child(swap_file);
}

Test(hostile, stream_replaced_by_a_link_after_descriptors_were_closed) {
  check_child(swap_file_and_close);
}

/* The program's own files take the numbers that the recorder had. */
static int take_all_descriptors(void) {
  char name[RUN_PATH];
  size_t bytes;
  if (start(1)) return 1;
  beat(counts, 10);
  close_all();
  (void)snprintf(name, sizeof name, "%s/own", directory);
  file_write(name, "own", 3);
  int file = open(name, O_RDWR | O_CLOEXEC);
  while (dup(file) >= 0) continue;
  for (int i = 3; i < 10; i++) close(i);
  beat(counts, BEATS);
  if (tsanom_heartbeat_finish() != TSANOM_OK || counts->rejected) return 2;
  unsigned char *own = file_read(name, &bytes);
  if (bytes != 3 || memcmp(own, "own", 3) != 0) return 3;
  free(own);
  return 0;
}

Test(hostile, descriptors_closed_and_taken_by_the_program) {
  check_child(take_all_descriptors);
  check_beats(counts, path);
}

static int run_out_of_descriptors(void) {
  struct rlimit limit = {.rlim_cur = 64, .rlim_max = 4096};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || start(2)) return 1;
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  beat(counts, BEATS);
  if (counts->rejected) return 2;
  /* New streams, too. */
  for (int32_t thread = 1; thread < 5; thread++) {
    if (tsanom_heartbeat_beat(thread, 0) != TSANOM_OK) return 3;
  }
  return tsanom_heartbeat_finish() == TSANOM_OK ? 0 : 4;
}

Test(hostile, no_descriptors_left) {
  check_child(run_out_of_descriptors);
  check_beats(counts, path);
}

static size_t address_space(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1) return 0;
  (void)fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* What 16 threads take must leave the program its memory. */
static int limit_address_space(void) {
  enum { THREADS = 16, LIMIT = 512 << 20, OWN = 256 << 20 };
  size_t now = address_space();
  struct rlimit limit = {.rlim_cur = now + LIMIT, .rlim_max = now + LIMIT};
  if (!now || SANITIZED || setrlimit(RLIMIT_AS, &limit) != 0) return UNAVAILABLE;
  if (start(THREADS)) return 1;
  void *own = mmap(NULL, OWN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) return 2;
  for (int32_t thread = 0; thread < THREADS; thread++) {
    if (tsanom_heartbeat_beat(thread, 0) != TSANOM_OK) return 3;
  }
  return tsanom_heartbeat_finish() == TSANOM_OK ? 0 : 4;
}

Test(hostile, little_address_space) {
  check_child(limit_address_space);
}

/* Windows become smaller where the large ones do not fit. */
static int exhaust_address_space(void) {
  enum { LEFT = 3 << 20 };
  if (SANITIZED || start(1)) return SANITIZED ? UNAVAILABLE : 1;
  size_t now = address_space();
  struct rlimit limit = {.rlim_cur = now + LEFT, .rlim_max = now + LEFT};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return UNAVAILABLE;
  beat(counts, 5 * BEATS);
  return tsanom_heartbeat_finish() == TSANOM_OK && !counts->rejected ? 0 : 2;
}

Test(hostile, no_address_space_for_large_windows) {
  check_child(exhaust_address_space);
  check_beats(counts, path);
}

static volatile sig_atomic_t handled, dropped, wrong;

static void beat_in_handler(int signal) {
  (void)signal;
  tsanom_status status = tsanom_heartbeat_beat(0, UINT32_MAX);
  handled++;
  if (status == TSANOM_E_STATE) {
    dropped++;
  } else if (status != TSANOM_OK) {
    wrong++;
  }
}

/* Signals interrupt beats again and again, those that need a new window among them. */
static int beat_and_be_interrupted(void) {
  enum { LEAST = 20, MOST = 4000000 };
  struct itimerval timer = {{.tv_usec = 50}, {.tv_usec = 50}};
  struct sigaction action = {.sa_handler = beat_in_handler};
  if (start(1) || tsanom_heartbeat_beat(0, 0) != TSANOM_OK) return 1;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  uint64_t beats = 1;
  for (; beats < MOST && (dropped < LEAST || beats < BEATS); beats++) {
    if (tsanom_heartbeat_beat(0, 0) != TSANOM_OK) return 2;
  }
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  counts->recorded = beats + (uint64_t)(handled - dropped);
  counts->rejected = (uint64_t)dropped;
  if (wrong) return 3;
  return tsanom_heartbeat_finish() == (dropped ? TSANOM_PARTIAL : TSANOM_OK) ? 0 : 4;
}

Test(hostile, beats_in_a_signal_handler) {
  check_child(beat_and_be_interrupted);
  tsanom_runs *run = open_run(path);
  cr_assert(describe(run).beats == counts->recorded);
  cr_assert(describe(run).beats_dropped == counts->rejected && counts->rejected > 0);
  tsanom_runs_destroy(run);
}
