/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines by tables. A command lists its options as rows, each with its limits and
 * with the field of the request that receives it; parse_command() checks and stores them.
 * Rows that several commands have are macros below, so that they read alike everywhere.
 * A request begins with its shared_options. */
#ifndef TSANOM_COMMAND_OPTIONS_H
#define TSANOM_COMMAND_OPTIONS_H

#include <argp.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <tsanom/base.h>

enum { OPTION_FLAG, OPTION_TEXT, OPTION_COUNT, OPTION_NUMBER, OPTION_WORD, OPTION_CALL };
enum { LOW_OPEN = 1, HIGH_OPEN = 2, ARGUMENT_OPTIONAL = 4 };

/* The first four are given by position, the others by one of the macros below. */
typedef struct option_row {
  const char *name;     /* after "--" */
  int letter;           /* after "-"; 0: none */
  const char *argument; /* as help shows it; NULL: none */
  const char *help;     /* whole sentences: help is sorted by name within a group */
  size_t field;         /* offset in the request */
  size_t given; /* offset of an int that becomes 1 if the option is given; 0: none */
  int kind;     /* of the field: int, const char *, size_t, double, or int32_t */
  int group;
  int value; /* of OPTION_FLAG: what is stored; 0 stands for 1 */
  /* Ends of OPTION_NUMBER that do not belong to the range; whether the argument may be left out,
   * and is NULL then. */
  int flags;
  size_t least, most; /* of OPTION_COUNT; most 0: no limit */
  double low, high;   /* of OPTION_NUMBER */
  const char *words;  /* of OPTION_WORD: by value, "A|B|C"; NULL: those of `argument` */
  /* Of OPTION_CALL: takes the text. */
  void (*call)(struct argp_state *state, char *text, void *request);
} option_row;

#define FLAG(member) .kind = OPTION_FLAG, .field = offsetof(request, member)
#define TEXT(member) .kind = OPTION_TEXT, .field = offsetof(request, member)
#define COUNT(member, from, to) \
  .kind = OPTION_COUNT, .field = offsetof(request, member), .least = (from), .most = (to)
#define NUMBER(member, from, to, ends)                                      \
  .kind = OPTION_NUMBER, .field = offsetof(request, member), .low = (from), \
  .high = (to), .flags = (ends)
#define WORD(member) .kind = OPTION_WORD, .field = offsetof(request, member)
#define CALL(function) .kind = OPTION_CALL, .call = (function)
#define GIVEN(member) .given = offsetof(request, member)

/* Rows that several commands have. */
#define RADIUS_ROW(member)                                                    \
  {                                                                           \
    "radius", 'r', "R", "Pair samples at most R places apart (default: any)", \
        COUNT(member, 0, 0)                                                   \
  }
#define COST_ROW(member) \
  { "cost", 0, "absolute|squared", "Cost of a pair (default: absolute)", WORD(member) }
#define COLUMN_ROW(member) \
  { "column", 0, "NAME", "Read this column of CSV files with a header", TEXT(member) }
#define SALVAGE_ROW \
  { "salvage", 0, NULL, "Read damaged runs up to the damage", FLAG(shared.salvage) }
#define CHECK_ROW(member, what) \
  { "check", 0, NULL, "Exit with status 1 if " what, FLAG(member) }

/* Options of all commands, and the other arguments. */
typedef struct {
  int json;
  const char *plot; /* NULL: no picture */
  size_t threads;
  int salvage;      /* of commands that have SALVAGE_ROW */
  int brief;        /* print only the sentence that answers: one of several ranks */
  tsanom_exec exec; /* threads as requested, progress on a terminal */
  char **argument;
  size_t arguments;
} shared_options;

typedef struct {
  const option_row *row;
  size_t rows;
  const char *arguments; /* in the usage line */
  const char *help;      /* "before the options\vafter the options" */
  const char *expected;  /* "one run": what the arguments are */
  size_t least, most;    /* arguments; most 0: no limit */
  int no_plot;           /* 1: the command has no --plot */
  int one_plot;          /* 1: --plot is of one argument */
  int in_order;          /* 1: options end where the arguments begin */
  /* Rejects combinations by argp_error(). May be NULL. */
  void (*check)(struct argp_state *state, void *request);
} syntax;

#define ROWS(table) .row = (table), .rows = sizeof(table) / sizeof *(table)

/* Parse a command line into the request `into`, whose fields have their defaults, by the
 * rows of the syntax and those that commands share; ends the program with EXIT_USAGE, or
 * after --help. Two first arguments end it, too:
 *   --man       prints the man page
 *   --complete  a line for each option: "--NAME", what it does, and its argument,
 *               separated by tabs */
void parse_rows(const syntax *s, const option_row *shared, size_t shared_rows, int argc,
                char **argv, void *into);

/* A count that is the argument of an option; else the program ends with EXIT_USAGE. */
size_t count_argument(struct argp_state *state, const char *option, const char *text);

#endif
