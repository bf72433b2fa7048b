/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of command lines. argp(3) parses the line; the rows of a command
 * (options.h) determine what each option stores:
 *
 *   row: name, kind, limits, offset ──▶ argp_option ──key──▶ row ──▶ field of the request
 *                                            │
 *                                            ▼
 *                          --help, the man page, the completion of shells
 *
 * A row without a letter gets a key beyond the range of characters, KEY_FIRST and its
 * index, so that the row is found again by its key. The rows of the command come first,
 * the shared ones behind them.
 *
 * Wrong arguments end the program by argp_error(), with status 2, before any file is
 * read. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "number.h"
#include "reserve.h"

enum { KEY_USAGE = 0x1f0, KEY_FIRST = 0x200, HELP_GROUP = 95 };

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

/* ---- arguments of options */

/* A whole number in [0, SIZE_MAX]; what is wrong as number_parse() says it. */
static const char *count_parse(const char *text, size_t *value) {
  if (!*text || strspn(text, "0123456789") != strlen(text))
    return "is not a count: a whole number from 0 up is expected";
  errno = 0;
  unsigned long long parsed = strtoull(text, NULL, 10);
  if (errno || parsed > SIZE_MAX) return "is too large";
  *value = (size_t)parsed;
  return NULL;
}

size_t count_argument(struct argp_state *state, const char *option, const char *text) {
  size_t value = 0;
  const char *wrong = count_parse(text, &value);
  char shown[QUOTED_BYTES];
  if (wrong) argp_error(state, "%s: %s %s", option, quoted(shown, text), wrong);
  return value;
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
  int is_low = row->flags & LOW_OPEN ? !(value > row->low) : !(value >= row->low);
  int is_high = row->flags & HIGH_OPEN ? !(value < row->high) : !(value <= row->high);
  if (!is_low && !is_high) return value;
  if (isfinite(row->high)) {
    (void)snprintf(upper, sizeof upper, " and %s %g",
                   row->flags & HIGH_OPEN ? "below" : "at most", row->high);
  }
  argp_error(state, "--%s: a number %s %g%s is expected", row->name,
             row->flags & LOW_OPEN ? "above" : "of at least", row->low, upper);
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

/* ---- the man page, and the list for completion */

static int is_end(const struct argp_option *o) {
  return !o->name && !o->key;
}

/* Text in roff: hyphens stay hyphens, and no line is a request. */
static void put_roff(const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    int starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) fputs("\\&", stdout);
    if (text[i] == '\\') {
      fputs("\\e", stdout);
    } else if (text[i] == '-') {
      fputs("\\-", stdout);
    } else {
      putchar(text[i]);
    }
  }
}

static void put_option(const struct argp_option *o) {
  printf(".TP\n");
  if (o->key < 0x80 && isalnum(o->key))
    printf("\\fB\\-%c\\fR%s", o->key, o->name ? ", " : "");
  if (o->name) {
    printf("\\fB\\-\\-");
    put_roff(o->name, strlen(o->name));
    printf("\\fR");
  }
  if (o->arg) {
    printf("%s\\fI", o->name ? "=" : " ");
    put_roff(o->arg, strlen(o->arg));
    printf("\\fR");
  }
  putchar('\n');
  put_roff(o->doc, strlen(o->doc));
  printf(".\n");
}

/* "tsanom fit" in the name of its page: "tsanom-fit". */
static void put_page_name(const char *command, int upper) {
  for (; *command; command++) {
    int letter = *command == ' ' ? '-' : (unsigned char)*command;
    if (letter == '-') putchar('\\');
    putchar(upper ? toupper(letter) : letter);
  }
}

static void print_man_page(const struct argp *argp, const char *command) {
  const char *more = strchr(argp->doc, '\v');
  size_t summary = more ? (size_t)(more - argp->doc) : strlen(argp->doc);
  printf(".\\\" SPDX-License-Identifier: BSD-3-Clause\n.TH ");
  put_page_name(command, 1);
  printf(" 1 \"\" \"libtsanom\" \"User Commands\"\n.SH NAME\n");
  put_page_name(command, 0);
  printf(" \\- ");
  /* The line of NAME ends without the period of the summary. */
  put_roff(argp->doc, summary && argp->doc[summary - 1] == '.' ? summary - 1 : summary);
  printf("\n.SH SYNOPSIS\n\\fB%s\\fR [\\fIOPTION\\fR...] ", command);
  put_roff(argp->args_doc, strlen(argp->args_doc));
  printf("\n.SH DESCRIPTION\n");
  put_roff(argp->doc, summary);
  if (more) {
    printf("\n.PP\n");
    put_roff(more + 1, strlen(more + 1));
  }
  printf("\n.SH OPTIONS\n");
  for (const struct argp_option *o = argp->options; !is_end(o); o++) {
    if (!(o->flags & OPTION_HIDDEN)) put_option(o);
  }
  printf(".SH EXIT STATUS\nSee \\fBtsanom\\fR(1).\n.SH SEE ALSO\n\\fBtsanom\\fR(1)\n");
}

static void print_options(const struct argp *argp) {
  for (const struct argp_option *o = argp->options; !is_end(o); o++) {
    if (o->name && !(o->flags & OPTION_HIDDEN))
      printf("--%s\t%s\t%s\n", o->name, o->doc, o->arg ? o->arg : "");
  }
}

/* ---- the line */

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
  if (key == 'h' || key == '?') {
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
  } else if (key == KEY_USAGE) {
    argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
  }
  return ARGP_ERR_UNKNOWN;
}

/* The request begins with its shared_options, whose address is therefore that of `into`. */
void parse_rows(const syntax *s, const option_row *shared, size_t shared_rows, int argc,
                char **argv, void *into) {
  static const struct argp_option help_rows[] = {
      {"help", 'h', NULL, 0, "Print this help", HELP_GROUP},
      {NULL, '?', NULL, OPTION_HIDDEN, NULL, HELP_GROUP},
      {"usage", KEY_USAGE, NULL, 0, "Print a short usage message", HELP_GROUP},
      {0}};
  parsing p = {s, shared, s->rows + shared_rows, into};
  struct argp_option *options =
      allocate(p.rows + sizeof help_rows / sizeof *help_rows, sizeof *options);
  for (size_t i = 0; i < p.rows; i++) {
    const option_row *row = row_at(&p, i);
    options[i] = (struct argp_option){
        .name = row->name,
        .key = key_of(row, i),
        .arg = row->argument,
        .flags = row->flags & ARGUMENT_OPTIONAL ? OPTION_ARG_OPTIONAL : 0,
        .doc = row->help,
        .group = row->group};
  }
  memcpy(options + p.rows, help_rows, sizeof help_rows);
  struct argp argp = {
      .options = options, .parser = parse, .args_doc = s->arguments, .doc = s->help};
  if (argc == 2 && strcmp(argv[1], "--man") == 0) {
    print_man_page(&argp, argv[0]);
    exit(0);
  }
  if (argc == 2 && strcmp(argv[1], "--complete") == 0) {
    print_options(&argp);
    exit(0);
  }
  argp_parse(&argp, argc, argv, (s->in_order ? ARGP_IN_ORDER : 0) | ARGP_NO_HELP, NULL,
             &p);
  free(options);
}
