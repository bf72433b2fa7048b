/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "number.h"

enum { KEY_JSON = 0x100, KEY_PLOT, KEY_THREADS };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "Print JSON", 90},
    {"plot", KEY_PLOT, "FILE.svg", 0, "Draw a picture (needs gnuplot)", 90},
    {"threads", KEY_THREADS, "N", 0, "Compute with N threads; 0: all (default: 1)", 90},
    {0}};

/* Progress on the standard error, from the second second on. Only a file that is read
 * has an end that is not known, as a pipe: how much of it was read is told. */
static int32_t show_progress(void *user, uint64_t done, uint64_t total) {
  (void)user;
  static time_t start, shown;
  time_t now = time(NULL);
  int at_end = total && done == total;
  if (!start) start = now;
  if (now - start < 2 || (now == shown && !at_end)) return 0;
  shown = now;
  if (total) {
    fprintf(stderr, "\r%3.0f %%%s", 100 * (double)done / (double)total,
            at_end ? "\n" : "");
  } else {
    fprintf(stderr, "\r%llu MiB", (unsigned long long)(done >> 20));
  }
  return 0;
}

/* Where to draw: a name that promises something else than SVG is a mistake, as is an
 * option that was taken for one. */
static const char *picture_argument(struct argp_state *state, const char *text) {
  const char *slash = strrchr(text, '/'), *dot = strrchr(slash ? slash + 1 : text, '.');
  char shown[QUOTED_BYTES];
  if (text[0] == '-' || (dot && dot[1] && strcasecmp(dot, ".svg") != 0)) {
    argp_error(state, "--plot: %s: pictures are SVG, so FILE.svg is expected",
               quoted(shown, text));
  }
  return text;
}

static error_t parse(int key, char *text, struct argp_state *state) {
  shared_options *shared = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      *shared = (shared_options){0};
      tsanom_exec_init(&shared->exec, sizeof shared->exec);
      if (isatty(STDERR_FILENO)) shared->exec.poll = show_progress;
      return 0;
    case KEY_JSON:
      shared->json = 1;
      return 0;
    case KEY_PLOT:
      shared->plot = picture_argument(state, text);
      return 0;
    case KEY_THREADS: {
      size_t threads = count_argument(state, "--threads", text);
      if (threads > 4096) argp_error(state, "--threads: at most 4096");
      shared->exec.threads = (int32_t)threads;
      return 0;
    }
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

const struct argp shared_argp = {.options = options, .parser = parse};

size_t count_argument(struct argp_state *state, const char *option, const char *text) {
  size_t value = 0;
  const char *wrong = count_parse(text, &value);
  char shown[QUOTED_BYTES];
  if (wrong) argp_error(state, "%s: %s %s", option, quoted(shown, text), wrong);
  return value;
}

int32_t word_argument(struct argp_state *state, const char *option, const char *text,
                      const char *const *words) {
  for (int32_t k = 0; words[k]; k++) {
    if (strcmp(words[k], text) == 0) return k;
  }
  char shown[QUOTED_BYTES];
  argp_error(state, "%s: %s: %s%s%s%s%s is expected", option, quoted(shown, text),
             words[0], words[2] ? ", " : "", words[2] ? words[1] : "", " or ",
             words[2] ? words[2] : words[1]);
  return 0;
}

double number_argument(struct argp_state *state, const char *option, const char *text) {
  double value = 0;
  const char *wrong = number_parse(text, &value);
  char shown[QUOTED_BYTES];
  if (wrong) argp_error(state, "%s: %s %s", option, quoted(shown, text), wrong);
  return value;
}

int print_json(json_t *value) {
  int failed = !value || json_dumpf(value, stdout, JSON_FORMAT);
  putchar('\n');
  json_decref(value);
  if (!failed || ferror(stdout)) return EXIT_DONE; /* a failed write is told at exit */
  failure why;
  fail(&why, "the result cannot be written as JSON: out of memory");
  return refuse(&why);
}
