/* SPDX-License-Identifier: BSD-3-Clause */
/* The place that `tsanom record --loop` names: MODULE+0xADDRESS, or a function of the
 * program by its name, as nm(1) of the GNU binary utilities lists it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"
#include "process.h"

static int is_place(const char *text) {
  const char *plus = strrchr(text, '+');
  char *end = NULL;
  if (!plus || plus == text || strncmp(plus, "+0x", 3) != 0) return 0;
  (void)strtoull(plus + 1, &end, 16);
  return end > plus + 3 && *end == '\0';
}

/* The length of a name without " (FILE:LINE)", which tsanom speedup adds to it. */
static size_t name_length(const char *text) {
  size_t length = strlen(text);
  const char *site = NULL;
  for (const char *at = strstr(text, " ("); at; at = strstr(at + 1, " (")) site = at;
  int is_site = site && text[length - 1] == ')' && strchr(site, ':');
  return is_site ? (size_t)(site - text) : length;
}

/* Whether a line "ADDRESS KIND NAME" is that of the function; *address receives it. */
static int is_function(const char *line, size_t line_length, const char *name,
                       size_t length, unsigned long long *address) {
  char *end = NULL;
  *address = strtoull(line, &end, 16);
  if (end == line || strncmp(end, " t ", 3) * strncmp(end, " T ", 3) != 0) return 0;
  size_t before = (size_t)(end - line) + 3;
  return line_length == before + length && memcmp(line + before, name, length) == 0;
}

/* How many functions have the name; *first and *last are their addresses. */
static size_t count_functions(const char *lines, const char *name, size_t length,
                              unsigned long long *first, unsigned long long *last) {
  size_t count = 0;
  while (*lines) {
    size_t line = strcspn(lines, "\n");
    if (is_function(lines, line, name, length, last) && !count++) *first = *last;
    lines += line + (lines[line] == '\n');
  }
  return count;
}

int find_loop(const char *program, const char *text, char place[LOOP_BYTES],
              failure *why) {
  char tool[] = "nm", demangled[] = "-C", defined[] = "--defined-only", *file = NULL;
  char shown[QUOTED_BYTES];
  unsigned long long address = 0, other = 0;
  const char *name = strrchr(program, '/');
  name = name ? name + 1 : program;
  if (is_place(text)) {
    if (snprintf(place, LOOP_BYTES, "%s", text) < LOOP_BYTES) return 0;
    return fail(why, "--loop: %s: too long", quoted(shown, text));
  }
  if (!(file = strdup(program))) return fail(why, "out of memory");
  char *lines = output_of((char *[]){tool, demangled, defined, file, NULL});
  free(file);
  size_t count =
      lines ? count_functions(lines, text, name_length(text), &address, &other) : 0;
  free(lines);
  if (count == 1) {
    if (snprintf(place, LOOP_BYTES, "%s+0x%llx", name, address) < LOOP_BYTES) return 0;
    return fail(why, "%s: the name is too long for --loop", program);
  }
  if (count) {
    return fail(
        why,
        "--loop: %s has %zu functions %s, such as %s+0x%llx; expected one of their "
        "addresses",
        program, count, quoted(shown, text), name, address);
  }
  return fail(
      why,
      "--loop: nm lists no function %s of %s; expected a name or MODULE+0xADDRESS, "
      "as tsanom speedup prints them",
      quoted(shown, text), program);
}
