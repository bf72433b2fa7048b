/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "utf8.h"

/* addr2line prints two lines: the function, and file:line, with a question mark for
 * a name it cannot find. */
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
