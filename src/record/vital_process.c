/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that samples a program which must not have a helper thread.
 *
 *   program ──clone──▶ intermediate ──clone──▶ sampler ──execve──▶ tsanom-sampler
 *                      ends at once            belongs to init
 *
 * The clones share the program's memory until they end or execute another program, while
 * the calling thread is suspended: nothing is copied, however large the program is. The
 * intermediate sends no signal when it ends, and only __WCLONE finds it: the program's
 * wait() does not. After execve() it would, so that another process executes.
 *
 * The sampler shares the board, and has the read end of a pipe of which the program has
 * the write end: the pipe breaks when the program ends or executes another program. Where
 * the program has no number to spare for it, the sampler waits for the process itself. It
 * has no other descriptor of the program, a session of its own, and all signals
 * blocked. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/file.h"
#include "record/inside.h"
#include "record/sampler.h"
#include "record/vital.h"

/* The number of all architectures; the headers of glibc 2.31 do not have it. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { STACK = 16 << 10 };

typedef struct {
  const char *path;
  int given[TSN_SAMPLER_END];
  volatile bool failed;
  _Alignas(16) unsigned char stack[2][STACK]; /* of both processes */
} request;

/* A thread sanitizer intercepts clone(), and ends the program. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's other name of clone() */
extern int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);

#define NOT_CHECKED __attribute__((no_sanitize("address", "thread")))

static char sampler_path[PATH_MAX];
static bool is_found;

/* `sampler_path` becomes directory/way/tsanom-sampler; whether it can be executed. */
static bool is_sampler(const char *directory, int length, const char *way) {
  int written = snprintf(sampler_path, sizeof sampler_path, "%.*s/%s/tsanom-sampler",
                         length, directory, way);
  return written < PATH_MAX && access(sampler_path, X_OK) == 0;
}

/* The environment variable is set by `tsanom record`, and is ignored in set-user-ID
 * programs. Without it the place of the file that contains this variable leads to the
 * sampler, so that an installation may be moved: the way is that of the installation, or
 * none in the build tree. A program that contains the archive may be anywhere: then the
 * sampler is where it was to be installed. */
static void find_sampler(void) {
  const char *path = secure_getenv("TSANOM_RECORD_SAMPLER"), *end = NULL;
  Dl_info place;
  if (path && strlen(path) < sizeof sampler_path) {
    memcpy(sampler_path, path, strlen(path) + 1);
    return;
  }
  if (dladdr(sampler_path, &place)) {
    end = strrchr(place.dli_fname, '/');
  }
  int length = end ? (int)(end - place.dli_fname) : 0;
  if ((end && is_sampler(place.dli_fname, length, TSN_TO_SAMPLER)) ||
      (end && is_sampler(place.dli_fname, length, "."))) {
    return;
  }
  (void)is_sampler("", 0, TSN_SAMPLER_DIRECTORY);
}

void tsn_vital_find_sampler(void) {
  find_sampler();
  is_found = true;
}

/* Lay out the descriptors and execute; returns on failure. */
NOT_CHECKED static void execute_sampler(const request *r) {
  char *const arguments[] = {(char[]){"tsanom-sampler"}, (char[]){TSN_SAMPLER_VERSION},
                             NULL};
  char *const environment[] = {NULL};
  int high[TSN_SAMPLER_END];
  for (int i = 0; i < TSN_SAMPLER_END; i++) {
    high[i] = fcntl(r->given[i], F_DUPFD, TSN_SAMPLER_END);
    if (high[i] < 0) return;
  }
  for (int i = 0; i < TSN_SAMPLER_END; i++) {
    if (dup2(high[i], i) != i) return;
  }
  if (syscall(SYS_close_range, (unsigned)TSN_SAMPLER_END, ~0U, 0U) == 0) {
    (void)execve(r->path, arguments, environment);
  }
}

NOT_CHECKED static int become_sampler(void *argument) {
  request *r = argument;
  execute_sampler(r);
  r->failed = true;
  _exit(1);
}

NOT_CHECKED static int start_sampler(void *argument) {
  request *r = argument;
  if (__clone(become_sampler, r->stack[1] + STACK, CLONE_VM | CLONE_VFORK, r) < 0) {
    r->failed = true;
  }
  _exit(0);
}

/* Of the program's children it would be the only one that the program did not start. */
static bool would_be_adopted(void) {
  int adopts = 0;
  return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) != 0 || adopts;
}

static bool start_processes(request *r) {
  sigset_t all, before;
  int error = errno;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pid_t intermediate =
      __clone(start_sampler, r->stack[0] + STACK, CLONE_VM | CLONE_VFORK, r);
  pid_t ended = -1;
  do ended = intermediate < 0 ? -1 : waitpid(intermediate, NULL, (int)__WCLONE);
  while (ended < 0 && intermediate >= 0 && errno == EINTR);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return ended >= 0 && !r->failed;
}

bool tsn_vital_start_process(tsn_vital *vital) {
  int life[2];
  if (!is_found) find_sampler();
  if (access(sampler_path, X_OK) != 0 || would_be_adopted() || tsn_processes_are_few() ||
      !tsn_file_is_ours(&vital->memory) || pipe2(life, O_CLOEXEC) != 0) {
    return false;
  }
  bool is_kept =
      tsn_file_keep(&vital->life, life[1]) == 0 && tsn_file_settle(&vital->life, false);
  request *r =
      mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int null = openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
  int directory = tsn_proc_open(0);
  bool started = false;
  if (r != MAP_FAILED && null >= 0 && directory >= 0) {
    r->path = sampler_path;
    for (int i = 0; i < TSN_SAMPLER_FILE; i++) r->given[i] = null;
    r->given[TSN_SAMPLER_FILE] = vital->file.descriptor;
    r->given[TSN_SAMPLER_BOARD] = vital->memory.descriptor;
    r->given[TSN_SAMPLER_PROC] = directory;
    r->given[TSN_SAMPLER_LIFE] = is_kept ? life[0] : null;
    started = start_processes(r);
  }
  if (r != MAP_FAILED) (void)munmap(r, sizeof *r);
  if (null >= 0) (void)close(null);
  tsn_proc_close(directory);
  (void)close(life[0]);
  if (!started) tsn_file_close(&vital->life);
  return started;
}

/* At the address of the mapping before, which a thread may be looking at. */
tsn_vital_board *tsn_vital_map_shared(tsn_vital *vital) {
  size_t bytes = sizeof *vital->shared;
  int memory = tsn_file_fits((off_t)bytes) ? memfd_create("tsanom", MFD_CLOEXEC) : -1;
  if (memory < 0) return NULL;
  if (tsn_file_keep(&vital->memory, memory) != 0) return NULL;
  int flags = MAP_SHARED | (vital->shared ? MAP_FIXED : 0);
  void *board = MAP_FAILED;
  if (ftruncate(vital->memory.descriptor, (off_t)bytes) == 0) {
    board = mmap(vital->shared, bytes, PROT_READ | PROT_WRITE, flags,
                 vital->memory.descriptor, 0);
  }
  if (board != MAP_FAILED && madvise(board, bytes, MADV_DONTFORK) == 0) {
    return vital->shared = board;
  }
  if (board != MAP_FAILED && !vital->shared) (void)munmap(board, bytes);
  tsn_file_close(&vital->memory);
  return NULL;
}
