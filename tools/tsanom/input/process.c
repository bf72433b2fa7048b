/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a program, without a shell, as text. Standard input and standard error
 * are /dev/null. All of the output is read before the child is awaited, so that it never
 * waits for a full pipe. NULL if the program cannot be started, fails, or prints
 * nothing. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

char *output_of(char *const arguments[]) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return NULL;
  FILE *printed = fdopen(ends[0], "r");
  if (!printed) {
    close(ends[0]);
    close(ends[1]);
    return NULL;
  }
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char *text = NULL;
  size_t size = 0;
  ssize_t length = error ? -1 : getdelim(&text, &size, '\0', printed);
  fclose(printed);
  int ended = 0;
  while (!error && waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (length > 0 && ended == 0) return text;
  free(text);
  return NULL;
}
