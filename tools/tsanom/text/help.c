/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a subcommand are described once, for argp: its help, the page of the manual
 * and the list for completion are printed from that. */
#include "help.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

error_t help_parse(int key, struct argp_state *state) {
  if (key == 'h' || key == '?') {
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
  } else if (key == HELP_USAGE) {
    argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
  }
  return ARGP_ERR_UNKNOWN;
}

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

void help_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
                     void *input) {
  if (argc == 2 && strcmp(argv[1], "--man") == 0) {
    print_man_page(argp, argv[0]);
    exit(0);
  }
  if (argc == 2 && strcmp(argv[1], "--complete") == 0) {
    print_options(argp);
    exit(0);
  }
  argp_parse(argp, argc, argv, flags | ARGP_NO_HELP, NULL, input);
}

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
