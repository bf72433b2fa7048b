/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "utf8.h"

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
  size_t room = 0;
  ssize_t length = error ? -1 : getdelim(&text, &room, '\0', printed);
  fclose(printed);
  int ended = 0;
  while (!error && waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (length > 0 && ended == 0) return text;
  free(text);
  return NULL;
}

/* addr2line prints two lines: the function, and file:line, with a question mark for
 * what it does not know. */
static char *compose(char *text) {
  char *line = strchr(text, '\n');
  if (!line || text[0] == '?') return NULL;
  *line++ = '\0';
  line[strcspn(line, "\n ")] = '\0';
  const char *file = strrchr(line, '/');
  file = file ? file + 1 : line;
  char *name = NULL;
  size_t bad = 0;
  int printed = strchr(file, '?') ? asprintf(&name, "%s", text)
                                  : asprintf(&name, "%s (%s)", text, file);
  if (printed < 0) return NULL;
  if (utf8_valid(name, strlen(name), &bad)) return name;
  free(name);
  return NULL;
}

char *symbol_of(const char *module, uint64_t address) {
  char where[32], tool[] = "addr2line", functions[] = "-f", names[] = "-C", of[] = "-e";
  char *file = strdup(module), *name = NULL;
  if (!file) return NULL;
  (void)snprintf(where, sizeof where, "0x%" PRIx64, address);
  char *arguments[] = {tool, functions, names, of, file, where, NULL};
  char *text = output_of(arguments);
  if (text) name = compose(text);
  free(text);
  free(file);
  if (name) return name;
  const char *base = strrchr(module, '/');
  base = base ? base + 1 : module;
  size_t bad = 0;
  if (!utf8_valid(base, strlen(base), &bad)) base = "?";
  return asprintf(&name, "%s+%s", base, where) < 0 ? NULL : name;
}
