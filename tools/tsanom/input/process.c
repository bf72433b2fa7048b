/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a program. All of it is read before the child is awaited, so that it never
 * waits for a full pipe. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void redirect(posix_spawn_file_actions_t *actions, int descriptor, int to,
                     int mode) {
  if (descriptor < 0) {
    posix_spawn_file_actions_addopen(actions, to, "/dev/null", mode, 0);
  } else {
    posix_spawn_file_actions_adddup2(actions, descriptor, to);
  }
}

/* All bytes, with a NUL behind them; an errno. */
static int read_all(int descriptor, char **text, size_t *length) {
  enum { ROOM = 1 << 16 };
  for (size_t capacity = 0;;) {
    if (*length + 1 >= capacity) {
      capacity = capacity ? 2 * capacity : ROOM;
      char *grown = realloc(*text, capacity);
      if (!grown) return ENOMEM;
      *text = grown;
    }
    ssize_t got = read(descriptor, *text + *length, capacity - *length - 1);
    if (got < 0 && errno != EINTR) return errno;
    if (got > 0) *length += (size_t)got;
    (*text)[*length] = '\0';
    if (!got) return 0;
  }
}

int run_program(char *const arguments[], char *const environment[], int input, int errors,
                char **text, size_t *length) {
  int ends[2], ended = 0;
  pid_t child = 0;
  *text = NULL;
  *length = 0;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(&actions, input, STDIN_FILENO, O_RDONLY);
  redirect(&actions, ends[1], STDOUT_FILENO, O_WRONLY);
  redirect(&actions, errors, STDERR_FILENO, O_WRONLY);
  int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environment);
  int is_started = !error;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (is_started) error = read_all(ends[0], text, length);
  close(ends[0]);
  while (is_started && waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return !error && ended ? -1 : error;
}
