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

#include "failure.h"
#include "help.h"
#include "number.h"
#include "reserve.h"

enum { KEY_FIRST = 0x200 };

typedef struct {
  const syntax *syntax;
  const option_row *shared;
  size_t rows; /* of both */
  void *request;
} parsing;

/* The command's rows, then the shared ones. */
static const option_row *row_at(const parsing *p, size_t index) {
  size_t own = p->syntax->rows;
  return index < own ? &p->syntax->row[index] : &p->shared[index - own];
}

static int key_of(const option_row *row, size_t index) {
  return row->letter ? row->letter : KEY_FIRST + (int)index;
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
  if (s->check) s->check(state, p->request);
}

static error_t parse(int key, char *text, struct argp_state *state) {
  const parsing *p = state->input;
  shared_options *shared = p->request;
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
  for (size_t i = 0; i < p->rows; i++) {
    const option_row *row = row_at(p, i);
    if (key != key_of(row, i)) continue;
    take_option(state, p, row, text);
    return 0;
  }
  return help_parse(key, state);
}

/* The request begins with its shared_options, whose address is therefore that of `into`. */
void parse_rows(const syntax *s, const option_row *shared, size_t shared_rows, int argc,
                char **argv, void *into) {
  static const struct argp_option help_rows[] = {HELP_ROWS};
  parsing p = {s, shared, s->rows + shared_rows, into};
  struct argp_option *options = allocate(p.rows + HELP_ROW_COUNT, sizeof *options);
  for (size_t i = 0; i < p.rows; i++) {
    const option_row *row = row_at(&p, i);
    options[i] = (struct argp_option){.name = row->name,
                                      .key = key_of(row, i),
                                      .arg = row->argument,
                                      .flags = row->optional ? OPTION_ARG_OPTIONAL : 0,
                                      .doc = row->help,
                                      .group = row->group};
  }
  memcpy(options + p.rows, help_rows, sizeof help_rows);
  struct argp argp = {
      .options = options, .parser = parse, .args_doc = s->arguments, .doc = s->help};
  help_argp_parse(&argp, argc, argv, s->in_order ? ARGP_IN_ORDER : 0, &p);
  free(options);
}
