/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the built command in a folder of the test's own. */
#ifndef TSANOM_TEST_RUN_H
#define TSANOM_TEST_RUN_H

#include <jansson.h>

typedef struct {
  int status;            /* exit status */
  char *out;             /* what it printed */
  char *err;             /* without the next: */
  const char *announced; /* by record: the line before the program runs; "": none */
} outcome;

/* Make an empty folder and go there; leave it and remove it. In it sh finds the built command,
 * which is in $TSANOM_BUILT. */
void enter_folder(void);
void leave_folder(void);

/* Write a file of the folder. */
void write_bytes(const char *name, const char *bytes, size_t count);
void write_text(const char *name, const char *text);

/* Files in the folder, hidden ones too. */
int count_files(void);

/* Run "tsanom ARGUMENTS" by sh, so that redirections work. The result lives
 * until the next run. */
__attribute__((format(printf, 1, 2))) outcome tsanom(const char *arguments, ...);

/* The same, which must end with 0. */
__attribute__((format(printf, 1, 2))) outcome tsanom_ok(const char *arguments, ...);

/* Run a line by sh; its exit status. Or the line must end with 0. */
__attribute__((format(printf, 1, 2))) int shell(const char *format, ...);
__attribute__((format(printf, 1, 2))) void shell_ok(const char *format, ...);

/* What the recorders inside of the programs of a run report, as a command prints it. */
const char *messages_of(const char *path);

/* The JSON that a run printed, which lives until leave_folder(); a run that fails fails the test. */
__attribute__((format(printf, 1, 2))) json_t *tsanom_json(const char *arguments, ...);

/* The objects of a file, which live until leave_folder(). */
const json_t *json_lines(const char *name);

/* A pseudoterminal: without /dev/pts the test is skipped. And all that others write to it, until
 * the next call; it is closed. */
int open_terminal(void);
char *read_terminal(int terminal);

/* A line of sh: the process whose number is in `pid` has stopped itself. */
#define UNTIL_STOPPED \
  "until grep -q '^State:.T' /proc/$(cat pid)/status; do sleep 0.01; done"

/* The run must end with `status`, and its message, which is one line, must contain every
 * one of the `pieces`, up to a NULL. */
void check_rejected(outcome o, int status, const char *const *pieces);
#define CHECK_REJECTED(outcome, status, ...) \
  check_rejected(outcome, status, (const char *const[]){__VA_ARGS__, NULL})

/* The run must end with `status`; and print no message. */
outcome check_status(outcome o, int status);
outcome check_quiet(outcome o, int status);

/* The run must end with 0, and print every one of the pieces; or have them in its messages. */
outcome check_prints(outcome o, const char *const *pieces);
outcome check_warns(outcome o, const char *const *pieces);
#define CHECK_PRINTS(outcome, ...) \
  check_prints(outcome, (const char *const[]){__VA_ARGS__, NULL})
#define CHECK_WARNS(outcome, ...) \
  check_warns(outcome, (const char *const[]){__VA_ARGS__, NULL})

/* The file is an SVG that gnuplot finished. */
void check_svg(const char *name);

/* The text of a file, to be freed. */
char *slurp(const char *name);

/* Whether a file of the folder has the text somewhere. */
int file_holds(const char *name, const char *text);

/* A number or a text of a JSON object, or a text of an array, which must be there. */
double number_of(const json_t *object, const char *key);
const char *text_of(const json_t *object, const char *key);
const char *text_at(const json_t *array, size_t i);

/* An item of an array of a JSON object, NULL: there is none; and the number of its items. */
json_t *item_of(const json_t *object, const char *key, size_t i);
size_t size_of(const json_t *object, const char *key);

#endif
