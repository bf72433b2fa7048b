/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors in a program that may close them, and disk space for a range of a file.
 * Each function is a few system calls, which are repeated after EINTR: the program's
 * signal handlers may be installed without SA_RESTART. */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/guard.h"

/* Above the program's limit of descriptors no number is taken from it. Only a process with
 * a higher limit gets one there; the limit of the program is not ours to change, since
 * other threads would see it. So a helper process does it, that shares the table of
 * descriptors and the memory, but has limits of its own:
 *
 *   program ──clone──▶ helper: setrlimit, openat or nothing, F_DUPFD, exit
 *
 * The calling thread is suspended meanwhile. The helper sends no signal when it ends, and
 * only __WCLONE finds it. It takes about 50 us. */
typedef struct {
  int directory, flags, descriptor, first, error;
  const char *name; /* NULL: the descriptor is there */
} request;

#define NOT_CHECKED __attribute__((no_sanitize("address", "thread")))

NOT_CHECKED static int serve(void *argument) {
  request *r = argument;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
  int file = r->name ? openat(r->directory, r->name, r->flags, 0666) : r->descriptor,
      moved = -1;
  if (file >= 0) moved = fcntl(file, F_DUPFD_CLOEXEC, r->first);
  r->error = moved < 0 ? errno : 0;
  if (file >= 0 && (r->name || moved >= 0)) (void)close(file);
  r->descriptor = moved;
  _exit(0);
}

/* Returns the new number, or -1 with an errno. Each helper has a stack of its own: the child of a
 * fork would find a lock on one that all share as another thread holds it. */
static int ask_helper(request *r) {
  enum { STACK = 8 << 10 };
  tsn_guard guard;
  tsn_guard_enter(&guard);
  unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  r->error = EAGAIN;
  if (stack != MAP_FAILED) {
    pid_t helper = __clone(serve, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_FILES, r),
          ended;
    do ended = helper < 0 ? 0 : waitpid(helper, NULL, (int)__WCLONE);
    while (ended < 0 && errno == EINTR);
    (void)munmap(stack, STACK);
  }
  tsn_guard_leave(&guard);
  errno = r->error;
  return r->error ? -1 : r->descriptor;
}

bool tsn_processes_are_few(void) {
  enum { FEW = 64 };
  struct rlimit most;
  return geteuid() != 0 && getrlimit(RLIMIT_NPROC, &most) == 0 && most.rlim_cur < FEW;
}

/* The first number above the limit. The table has a slot for each number up to the highest
 * in use, so that none is taken above a limit that would make it large. -1: there is none.
 */
static int first_number(void) {
  enum { MOST = 1 << 16 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max ||
      limit.rlim_cur > MOST || tsn_processes_are_few()) {
    return -1;
  }
  return (int)limit.rlim_cur;
}

/* Take ownership of a descriptor of a file of that type, 0: of any. */
static int keep(tsn_file *file, int descriptor, mode_t type) {
  struct stat facts;
  int error = fstat(descriptor, &facts) != 0 ? errno : 0;
  if (!error && type && (facts.st_mode & S_IFMT) != type) error = ESTALE;
  if (error) {
    close(descriptor);
    file->descriptor = -1;
    return error;
  }
  *file =
      (tsn_file){.descriptor = descriptor, .device = facts.st_dev, .inode = facts.st_ino};
  return 0;
}

int tsn_file_keep(tsn_file *file, int descriptor) {
  return keep(file, descriptor, 0);
}

bool tsn_file_settle(tsn_file *file, bool stays) {
  enum { LEAST = 256 };
  int first = first_number();
  if (!tsn_file_is_ours(file)) {
    file->descriptor = -1;
    return false;
  }
  if (first >= 0 && file->descriptor >= first) return true;
  request r = {.descriptor = file->descriptor, .first = first};
  int moved = first < 0 ? -1 : ask_helper(&r);
  if (moved >= 0) {
    file->descriptor = moved;
    return true;
  }
  if (!stays) {
    tsn_file_close(file);
    return false;
  }
  moved = file->descriptor < LEAST ? fcntl(file->descriptor, F_DUPFD_CLOEXEC, LEAST) : -1;
  if (moved >= 0) {
    close(file->descriptor);
    file->descriptor = moved;
  }
  return true;
}

int tsn_file_open(tsn_file *file, int directory, const char *name, int flags) {
  enum { ALWAYS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };
  int opened;
  file->descriptor = -1;
  do opened = openat(directory, name, flags | ALWAYS, 0666);
  while (opened < 0 && errno == EINTR);
  if (opened < 0 && errno == EMFILE && first_number() >= 0) {
    request r = {.directory = directory,
                 .name = name,
                 .flags = flags | ALWAYS,
                 .first = first_number()};
    opened = ask_helper(&r);
  }
  if (opened < 0) return errno;
  return keep(file, opened, flags & O_DIRECTORY ? S_IFDIR : S_IFREG);
}

bool tsn_file_is(const tsn_file *file, int descriptor) {
  struct stat facts;
  return descriptor >= 0 && fstat(descriptor, &facts) == 0 &&
         facts.st_dev == file->device && facts.st_ino == file->inode;
}

bool tsn_file_is_ours(const tsn_file *file) {
  return tsn_file_is(file, file->descriptor);
}

void tsn_file_close(tsn_file *file) {
  if (tsn_file_is_ours(file)) close(file->descriptor);
  file->descriptor = -1;
}

/* The kernel would send SIGXFSZ. */
bool tsn_file_fits(off_t end) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         (rlim_t)end <= limit.rlim_cur;
}

int tsn_file_write(const tsn_file *file, const void *bytes, size_t count, off_t offset) {
  const unsigned char *next = bytes;
  if (!tsn_file_fits(offset + (off_t)count)) return EFBIG;
  while (count) {
    ssize_t written = pwrite(file->descriptor, next, count, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    next += written;
    offset += written;
    count -= (size_t)written;
  }
  return 0;
}

/* Write zeros to [begin, end), in pieces that end at multiples of their size: so the
 * kernel sees whole aligned blocks of 64 KiB, for which it can make large pages. */
static int write_zeros(const tsn_file *file, off_t begin, off_t end) {
  enum { PIECE = 1 << 16 };
  static unsigned char zeros[PIECE]; /* not const: constants take space in the file */
  int error = 0;
  for (off_t next; begin < end && !error; begin = next) {
    next = (begin | (PIECE - 1)) + 1;
    if (next > end) next = end;
    error = tsn_file_write(file, zeros, (size_t)(next - begin), begin);
  }
  return error;
}

/* Three ways to give a range disk space, and which one is used:
 *
 *   fallocate(2)         reserves blocks; a full disk shows here, never as SIGBUS
 *   zeros by pwrite(2)   where fallocate is not supported: ramfs, NFS before version 4.2,
 *                        9p, many FUSE file systems
 *   posix_fallocate(3)   never: where the file system lacks fallocate, the C library
 *                        emulates it by reading and writing bytes, which overwrites beats
 *                        that arrive meanwhile
 *
 * Zeros go to the new range only: no beat reaches that before it is published. They are
 * also written where the space is reserved: pages that a write creates in the page cache
 * cost 1.1 us for each 256 records on ext4, page faults 2.5 us, since the kernel makes
 * large pages for a write. If that write fails, the faults create the pages, and nothing
 * is lost. */
int tsn_file_extend(const tsn_file *file, off_t begin, off_t end) {
  if (!tsn_file_fits(end)) return EFBIG;
  int failed;
  do failed = fallocate(file->descriptor, 0, begin, end - begin);
  while (failed && errno == EINTR);
  bool supported = !failed || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL);
  if (failed && supported) return errno;
  int error = write_zeros(file, begin, end);
  return supported ? 0 : error;
}
