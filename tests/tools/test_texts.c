/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands print and draw, as a whole, is what texts.txt has. A command is a line
 * that begins with "$ "; it is run by sh with the functions of texts.sh. To write the file
 * again: TSANOM_TEXTS=FILE test_tools --filter 'texts/…'; then read what has changed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static void prepare(void) {
  char path[4096];
  enter_folder();
  write_text("gnuplot", "#!/bin/sh\ncat >script.txt\necho '<svg></svg>'\n");
  cr_assert(chmod("gnuplot", 0755) == 0);
  cr_assert(symlink(TSANOM_TEST_DATA, "data") == 0);
  (void)snprintf(path, sizeof path, "%s:%s", getcwd((char[1024]){0}, 1024),
                 getenv("PATH"));
  cr_assert(setenv("PATH", path, 1) == 0);
}

TestSuite(texts, .init = prepare, .fini = leave_folder, .timeout = 120);

/* What the command prints; to be freed. */
static char *output_of(const char *command) {
  FILE *file = fopen("command", "w");
  cr_assert(file &&
            fprintf(file, ". '%s/texts.sh'\ntsanom() { '%s' \"$@\"; }\n{ %s\n} >o 2>&1\n",
                    TSANOM_TEXTS, TSANOM_COMMAND, command) > 0);
  cr_assert(fclose(file) == 0 && system("sh ./command") >= 0);
  return slurp("o");
}

/* Up to the next command. */
static size_t expected_bytes(const char *text) {
  const char *end = text;
  while (*end && strncmp(end, "$ ", 2) != 0) {
    const char *line = strchr(end, '\n');
    end = line ? line + 1 : end + strlen(end);
  }
  return (size_t)(end - text);
}

Test(texts, are_those_that_are_stored) {
  char *stored = slurp(TSANOM_TEXTS "/texts.txt"), *text = stored;
  const char *written = getenv("TSANOM_TEXTS");
  FILE *again = written ? fopen(written, "w") : NULL;
  size_t commands = 0, different = 0;
  for (; !strncmp(text, "$ ", 2); commands++) {
    char *end = strchr(text, '\n');
    cr_assert(end);
    *end = '\0';
    size_t bytes = expected_bytes(end + 1);
    char *got = output_of(text + 2);
    if (again) (void)fprintf(again, "%s\n%s", text, got);
    if (strlen(got) != bytes || strncmp(got, end + 1, bytes) != 0) {
      cr_log_error("%s\n%.*s--- but now:\n%s", text, (int)bytes, end + 1, got);
      different++;
    }
    free(got);
    text = end + 1 + bytes;
  }
  if (again) (void)fclose(again);
  cr_assert(*text == '\0' && commands > 20);
  cr_assert(different == 0 || again, "%zu of %zu texts", different, commands);
  free(stored);
}
