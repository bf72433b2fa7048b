/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that appear complete or not at all. The contents are written to a temporary file
 * beside the final one, in the same directory and so on the same file system, which then
 * gets its name by rename(2), in one step:
 *
 *   DIR/.tsanom-XXXXXX ──rename──▶ DIR/NAME
 *
 * A reader sees the old file or the new one. After any failure the temporary file is
 * removed; only a signal that ends the program by another of its threads may leave it. Three
 * cases differ:
 *
 *   NAME is a link to a file   that is replaced, the link stays
 *   NAME is not a regular file (/dev/stdout, a FIFO)   written directly
 *   NAME exists                its permissions are kept, and must allow writing
 *
 * In a directory such as /tmp, where everybody may create files, a link or FIFO of another
 * user is rejected, as the kernel does with fs.protected_symlinks, which may be off. A
 * link that appears after this check is replaced, not followed.
 *
 * Nothing is synchronized to the disk: this is about other programs and signals, not
 * about power failures. */
#include "core/replace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each returns 0, or -1 with errno set. All bytes, in spite of signals. */
static int write_all(int descriptor, const char *text, size_t bytes) {
  while (bytes) {
    ssize_t written = write(descriptor, text, bytes);
    if (written < 0 && errno != EINTR) return -1;
    if (written < 0) continue;
    text += written;
    bytes -= (size_t)written;
  }
  return 0;
}

static int write_direct(const char *path, const char *text, size_t bytes) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  int failed = write_all(descriptor, text, bytes);
  return close(descriptor) || failed ? -1 : 0;
}

static bool is_trap(const char *path, const struct stat *about) {
  struct stat folder;
  char copy[PATH_MAX];
  (void)snprintf(copy, sizeof copy, "%s", path);
  return !S_ISREG(about->st_mode) && stat(dirname(copy), &folder) == 0 &&
         (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH) &&
         about->st_uid != geteuid() && about->st_uid != folder.st_uid;
}

/* The permissions of the finished file: those of the present one, or what open() would
 * give a new one, since mkostemp() creates it for the owner alone. umask() must be set
 * to be read; a file that another thread creates meanwhile is affected, a limit of the
 * interface. */
static mode_t final_mode(const char *final) {
  struct stat about;
  if (stat(final, &about) == 0) return about.st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/* The errno of the failure survives the clean-up. */
static int write_and_rename(const char *final, const char *text, size_t bytes) {
  static const char suffix[] = ".tsanom-XXXXXX";
  const char *slash = strrchr(final, '/');
  size_t directory = slash ? (size_t)(slash - final) + 1 : 0;
  char *name = malloc(directory + sizeof suffix);
  if (!name) return -1;
  memcpy(name, final, directory);
  memcpy(name + directory, suffix, sizeof suffix);
  int descriptor = mkostemp(name, O_CLOEXEC);
  if (descriptor < 0) {
    free(name);
    return -1;
  }
  int failed =
      fchmod(descriptor, final_mode(final)) || write_all(descriptor, text, bytes);
  failed |= close(descriptor);
  if (!failed) failed = rename(name, final);
  if (failed) {
    int error = errno;
    unlink(name);
    errno = error;
  }
  free(name);
  return failed;
}

/* No signal to this thread may end the program between the temporary file and its name; the
 * errno is not that of a handler which waits until then. */
static int write_beside(const char *final, const char *text, size_t bytes) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int failed = write_and_rename(final, text, bytes), error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return failed;
}

static const char *cannot_write(int *error) {
  *error = errno;
  return "cannot write";
}

const char *tsn_replace_file(const char *path, const void *bytes, size_t count,
                             int *error) {
  struct stat about, entry;
  *error = 0;
  int is_there = lstat(path, &entry) == 0, exists = stat(path, &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) return "is a directory: give the path of a file";
  if (is_there && is_trap(path, &entry)) {
    return "belongs to another user, in a directory that all may write";
  }
  if (exists && access(path, W_OK)) return cannot_write(error);
  int is_link = exists && S_ISLNK(entry.st_mode),
      is_direct = exists && !S_ISREG(about.st_mode);
  char *final = is_link && !is_direct ? realpath(path, NULL) : strdup(path);
  if (!final) return cannot_write(error);
  int failed = (is_direct ? write_direct : write_beside)(final, bytes, count);
  const char *why = failed ? cannot_write(error) : NULL;
  free(final);
  return why;
}
