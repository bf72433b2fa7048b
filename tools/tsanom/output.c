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

/* The temporary file of the moment, for the signal handler. */
static char *volatile unfinished;

static void remove_unfinished(int signal_number) {
  if (unfinished) unlink(unfinished);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void watch_signals(void) {
  static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
    struct sigaction now;
    struct sigaction watch = {.sa_handler = remove_unfinished};
    sigemptyset(&watch.sa_mask);
    if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
      sigaction(ending[i], &watch, NULL);
  }
}

static void forget(output_file *o) {
  unfinished = NULL;
  free(o->final);
  free(o->temporary);
  *o = (output_file){.descriptor = -1};
}

/* The permissions the finished file is to have. */
static mode_t final_mode(const char *final) {
  struct stat about;
  if (stat(final, &about) == 0) return about.st_mode & 0777;
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static int open_temporary(output_file *o, failure *why) {
  const char *slash = strrchr(o->final, '/');
  int folder = slash ? (int)(slash - o->final) + 1 : 0;
  if (asprintf(&o->temporary, "%.*s.tsanom-XXXXXX", folder, o->final) < 0) {
    o->temporary = NULL;
    return fail(why, "%s: out of memory", o->path);
  }
  o->descriptor = mkostemp(o->temporary, O_CLOEXEC);
  if (o->descriptor < 0) {
    free(o->temporary);
    o->temporary = NULL;
    return fail_errno(why, o->path, "write");
  }
  unfinished = o->temporary;
  watch_signals();
  if (fchmod(o->descriptor, final_mode(o->final)))
    return fail_errno(why, o->path, "write");
  return 0;
}

int output_open(output_file *o, const char *path, failure *why) {
  *o = (output_file){.path = path, .descriptor = -1};
  struct stat about;
  int exists = stat(path, &about) == 0;
  if (exists && S_ISDIR(about.st_mode))
    return fail(why, "%s: is a folder: a file is to be written", path);
  o->final = exists ? realpath(path, NULL) : strdup(path);
  int status = 0;
  if (!o->final) {
    status = fail_errno(why, path, "write");
  } else if (exists && !S_ISREG(about.st_mode)) {
    o->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (o->descriptor < 0) status = fail_errno(why, path, "write");
  } else if (exists && access(path, W_OK)) {
    status = fail_errno(why, path, "write");
  } else {
    status = open_temporary(o, why);
  }
  if (status) output_discard(o);
  return status;
}

int output_commit(output_file *o, failure *why) {
  int descriptor = o->descriptor;
  o->descriptor = -1;
  if (close(descriptor) || (o->temporary && rename(o->temporary, o->final))) {
    int status = fail_errno(why, o->path, "write");
    output_discard(o);
    return status;
  }
  forget(o);
  return 0;
}

void output_discard(output_file *o) {
  if (o->descriptor >= 0) close(o->descriptor);
  if (o->temporary) unlink(o->temporary);
  forget(o);
}

int output_write(const char *path, const char *text, size_t bytes, failure *why) {
  output_file o;
  if (output_open(&o, path, why)) return -1;
  for (size_t done = 0; done < bytes;) {
    ssize_t written = write(o.descriptor, text + done, bytes - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      fail_errno(why, path, "write");
      output_discard(&o);
      return -1;
    }
    done += (size_t)written;
  }
  return output_commit(&o, why);
}
