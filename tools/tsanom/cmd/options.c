/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of command lines. argp(3) parses the line; the rows of a command
 * (options.h) determine what each option stores:
 *
 *   row: name, kind, limits, offset ──▶ argp_option ──key──▶ row ──▶ field of the request
 *
 * A row without a letter gets a key beyond the range of characters, KEY_FIRST and its
 * index, so that the row is found again by its key. The rows of the command come first,
 * the shared ones behind them.
 *
 * Wrong arguments end the program by argp_error(), with status 2, before any file is
 * read. */
#include "options.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"
#include "help.h"
#include "number.h"
#include "plot.h"
#include "report.h"
#include "reserve.h"

enum { BAR = 30, SECONDS_SILENT = 2 };

/* A bar, the share, and the time left if the rest takes as long as what is done. Without
 * a total, which the end of a pipe does not have: MiB read. */
static void write_progress(char *text, size_t bytes, uint64_t done, uint64_t total,
                           double seconds) {
  static const char bar[] = "##############################";
  static const char gap[] = "..............................";
  _Static_assert(sizeof bar == BAR + 1 && sizeof gap == BAR + 1, "a bar of BAR marks");
  if (!total) {
    (void)snprintf(text, bytes, "%llu MiB read", (unsigned long long)(done >> 20));
    return;
  }
  double part = (double)done / (double)total;
  int marks = (int)(part * BAR);
  int used = snprintf(text, bytes, "[%.*s%.*s] %3.0f %%", marks, bar, BAR - marks, gap,
                      100 * part);
  if (used < 0 || (size_t)used >= bytes || !done || done == total) return;
  double left = seconds * (1 - part) / part;
  if (left < 90) {
    (void)snprintf(text + used, bytes - (size_t)used, ", %.0f s left", left);
  } else {
    (void)snprintf(text + used, bytes - (size_t)used, ", %.0f min left", left / 60);
  }
}

/* Poll of an execution: shows progress on standard error, from the third second on and
 * then once per second. */
static int32_t progress_show(void *user, uint64_t done, uint64_t total) {
  (void)user;
  static time_t start, shown;
  time_t now = time(NULL);
  if (!start) start = now;
  if (now - start < SECONDS_SILENT || now == shown) return 0;
  shown = now;
  char text[128];
  write_progress(text, sizeof text, done, total, difftime(now, start));
  print_bar(text);
  return 0;
}

enum { KEY_FIRST = 0x200, SHARED_GROUP = 90, THREADS_MOST = 4096 };

/* A name with the extension of another format is a mistake, as is an option that was
 * taken for a name. */
static void take_picture(struct argp_state *state, char *text, void *into) {
  char shown[QUOTED_BYTES];
  if (text[0] == '-' || !plot_format_known(text)) {
    argp_error(state, "--plot: %s: FILE.svg or FILE.png is expected",
               quoted(shown, text));
  }
  ((shared_options *)into)->plot = text;
}

typedef shared_options request;

/* The plot is the last row: some commands have none. */
static const option_row shared_rows[] = {
    {"json", 0, NULL, "Print JSON", FLAG(json), .group = SHARED_GROUP},
    {"threads", 0, "N", "Compute with N threads; 0: all (default: 1)",
     COUNT(threads, 0, THREADS_MOST), .group = SHARED_GROUP},
    {"plot", 0, "FILE",
     "Draw a plot: SVG or PNG, by the name of the file (needs gnuplot)",
     CALL(take_picture), .group = SHARED_GROUP},
};

enum { SHARED_ROWS = sizeof shared_rows / sizeof *shared_rows };

static size_t shared_rows_of(const syntax *s) {
  return s->no_plot ? SHARED_ROWS - 1 : SHARED_ROWS;
}

typedef struct {
  const syntax *syntax;
  void *request;
} parsing;

/* The command's rows, then the shared ones. */
static const option_row *row_at(const syntax *s, size_t index) {
  return index < s->rows ? &s->row[index] : &shared_rows[index - s->rows];
}

static void *field_of(const parsing *p, size_t offset) {
  return (char *)p->request + offset;
}

/* A whole number within the row's limits; else the program ends with a message that
 * names them. */
static size_t take_count(struct argp_state *state, const option_row *row,
                         const char *text) {
  char name[64];
  (void)snprintf(name, sizeof name, "--%s", row->name);
  size_t value = count_argument(state, name, text);
  if (row->most && (value < row->least || value > row->most)) {
    argp_error(state, "%s: from %zu to %zu is expected", name, row->least, row->most);
  }
  if (value < row->least) {
    argp_error(state, "%s: at least %zu is expected", name, row->least);
  }
  return value;
}

/* A number within the row's interval, whose ends may be excluded. */
static double take_number(struct argp_state *state, const option_row *row,
                          const char *text) {
  double value = 0;
  const char *wrong = number_parse(text, &value);
  char shown[QUOTED_BYTES], upper[64] = "";
  if (wrong) argp_error(state, "--%s: %s %s", row->name, quoted(shown, text), wrong);
  int is_low = row->open & LOW_OPEN ? !(value > row->low) : !(value >= row->low);
  int is_high = row->open & HIGH_OPEN ? !(value < row->high) : !(value <= row->high);
  if (!is_low && !is_high) return value;
  if (isfinite(row->high)) {
    (void)snprintf(upper, sizeof upper, " and %s %g",
                   row->open & HIGH_OPEN ? "below" : "at most", row->high);
  }
  argp_error(state, "--%s: a number %s %g%s is expected", row->name,
             row->open & LOW_OPEN ? "above" : "of at least", row->low, upper);
  return value;
}

/* The value of a word; an argument that is none of them ends the program. */
static int32_t take_word(struct argp_state *state, const option_row *row,
                         const char *text) {
  char list[256] = "", shown[QUOTED_BYTES];
  int32_t value = 0;
  for (const char *word = row->words ? row->words : row->argument; *word; value++) {
    size_t bytes = strcspn(word, "|"), used = strlen(list);
    int is_last = !word[bytes];
    if (strncmp(word, text, bytes) == 0 && !text[bytes]) return value;
    (void)snprintf(list + used, sizeof list - used, "%s%.*s",
                   value == 0 ? ""
                   : is_last  ? " or "
                              : ", ",
                   (int)bytes, word);
    word += bytes + !is_last;
  }
  argp_error(state, "--%s: %s: %s is expected", row->name, quoted(shown, text), list);
  return 0;
}

static void take_option(struct argp_state *state, const parsing *p, const option_row *row,
                        char *text) {
  void *field = field_of(p, row->field);
  if (row->given) *(int *)field_of(p, row->given) = 1;
  switch (row->kind) {
    case OPTION_FLAG:
      *(int *)field = row->value ? row->value : 1;
      break;
    case OPTION_TEXT:
      *(const char **)field = text;
      break;
    case OPTION_COUNT:
      *(size_t *)field = take_count(state, row, text);
      break;
    case OPTION_NUMBER:
      *(double *)field = take_number(state, row, text);
      break;
    case OPTION_WORD:
      *(int32_t *)field = take_word(state, row, text);
      break;
    default:
      row->call(state, text, p->request);
  }
}

/* After the last argument: their number, and what only the command can check. */
static void check_end(struct argp_state *state, const parsing *p) {
  const syntax *s = p->syntax;
  shared_options *shared = p->request;
  if (shared->arguments < s->least || (s->most && shared->arguments > s->most)) {
    argp_error(state, "%s expected", s->expected);
  }
  if (s->one_plot && shared->plot && shared->arguments > 1) {
    argp_error(state, "--plot: of one run");
  }
  shared->exec.threads = (int32_t)shared->threads;
  if (s->check) s->check(state, p->request);
}

static error_t parse(int key, char *text, struct argp_state *state) {
  const parsing *p = state->input;
  shared_options *shared = p->request;
  size_t rows = p->syntax->rows + shared_rows_of(p->syntax);
  switch (key) {
    case ARGP_KEY_ARGS:
      shared->argument = state->argv + state->next;
      shared->arguments = (size_t)(state->argc - state->next);
      return 0;
    case ARGP_KEY_END:
      check_end(state, p);
      return 0;
    default:
      break;
  }
  for (size_t i = 0; i < rows; i++) {
    const option_row *row = row_at(p->syntax, i);
    if (key != (row->letter ? row->letter : KEY_FIRST + (int)i)) continue;
    take_option(state, p, row, text);
    return 0;
  }
  return help_parse(key, state);
}

/* The request begins with its shared_options, whose address is therefore that of `into`.
 * Progress is shown only if a person can see it: standard error is a terminal. */
void parse_command(const syntax *s, int argc, char **argv, void *into) {
  size_t rows = s->rows + shared_rows_of(s);
  shared_options *shared = into;
  static const struct argp_option help_rows[] = {HELP_ROWS};
  struct argp_option *options = allocate(rows + HELP_ROW_COUNT, sizeof *options);
  for (size_t i = 0; i < rows; i++) {
    const option_row *row = row_at(s, i);
    options[i] =
        (struct argp_option){.name = row->name,
                             .key = row->letter ? row->letter : KEY_FIRST + (int)i,
                             .arg = row->argument,
                             .doc = row->help,
                             .group = row->group};
  }
  memcpy(options + rows, help_rows, sizeof help_rows);
  tsanom_exec_init(&shared->exec, sizeof shared->exec);
  shared->threads = 1;
  if (isatty(STDERR_FILENO)) shared->exec.poll = progress_show;
  struct argp argp = {
      .options = options, .parser = parse, .args_doc = s->arguments, .doc = s->help};
  parsing p = {s, into};
  help_argp_parse(&argp, argc, argv, 0, &p);
  free(options);
}
