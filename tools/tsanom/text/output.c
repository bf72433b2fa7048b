/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each returns 0, or -1 with errno set. */

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

/* The permissions the finished file is to have. */
static mode_t final_mode(const char *final) {
  struct stat about;
  if (stat(final, &about) == 0) return about.st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static int write_beside(const char *final, const char *text, size_t bytes) {
  static const char suffix[] = ".tsanom-XXXXXX";
  const char *slash = strrchr(final, '/');
  size_t folder = slash ? (size_t)(slash - final) + 1 : 0;
  char *name = malloc(folder + sizeof suffix);
  if (!name) return -1;
  memcpy(name, final, folder);
  memcpy(name + folder, suffix, sizeof suffix);
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

int output_write(const char *path, const char *text, size_t bytes, failure *why) {
  struct stat about;
  int exists = stat(path, &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) {
    return fail(why, "%s: is a folder: a file is to be written", path);
  }
  if (exists && access(path, W_OK)) return fail_errno(why, path, "write");
  char *final = exists ? realpath(path, NULL) : strdup(path);
  if (!final) return fail_errno(why, path, "write");
  /* No signal may end the command between the temporary file and its name. */
  sigset_t ending, before;
  sigfillset(&ending);
  sigprocmask(SIG_BLOCK, &ending, &before);
  int status = exists && !S_ISREG(about.st_mode) ? write_direct(final, text, bytes)
                                                 : write_beside(final, text, bytes);
  if (status) fail_errno(why, path, "write");
  sigprocmask(SIG_SETMASK, &before, NULL);
  free(final);
  return status;
}
