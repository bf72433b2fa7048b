/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs that cause anomalies share: options, limits of memory and time, and a
 * report. docs/anomalies.md describes the programs.
 *
 * No program harms the machine: it ends by itself after --for seconds, and with the
 * program that started it; it takes at most a quarter of the memory that is available. */
#ifndef ANOMALY_H
#define ANOMALY_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the text of an option becomes a field of a struct. */
enum option_kind {
  OPTION_FLAG,       /* bool; has no text */
  OPTION_TEXT,       /* const char * */
  OPTION_NUMBER,     /* double */
  OPTION_INT,        /* int */
  OPTION_INT_OR_ALL, /* int; ANOMALY_ALL for "all" */
  OPTION_COUNT,      /* uint64_t */
  OPTION_BYTES,      /* size_t, with K, M and G as powers of 1024; not 0 */
  OPTION_NAME        /* int: the place in `names` */
};

struct anomaly_option {
  const char *name, *argument, *help;
  enum option_kind kind;
  size_t field;             /* its offset */
  uint64_t low, high;       /* of numbers */
  int group;                /* in which --help shows it */
  const char *const *names; /* of OPTION_NAME; ends with NULL */
};

/* A command line: `count` options whose fields are those of `target`. */
struct command_line {
  const char *manual;
  const struct anomaly_option *options;
  size_t count;
  void *target;
  const char *operands; /* for --help; NULL: there are none */
  char ***operand;      /* receives them; they end with NULL */
  void (*settle)(void *target, struct argp_state *state); /* at the end; NULL: nothing */
};

/* Exits on --help and wrong usage. */
void anomaly_parse(const struct command_line *line, int argc, char **argv);

/* Options of the programs here, as a set, in the order of their table. */
enum {
  ANOMALY_FOR = 1 << 0,
  ANOMALY_CPU = 1 << 1,
  ANOMALY_THREADS = 1 << 2,
  ANOMALY_BYTES = 1 << 3,
  ANOMALY_RATE = 1 << 4,
  ANOMALY_FOLDER = 1 << 5,
  ANOMALY_AFTER = 1 << 6,
  ANOMALY_WHEN = 1 << 7,
  ANOMALY_THREAD = 1 << 8,
  ANOMALY_PROCESSOR_TIME = 1 << 9,
  ANOMALY_FACTOR = 1 << 10
};

enum { ANOMALY_USAGE = 2, ANOMALY_FAILED = 3, ANOMALY_ALL = -1, ANOMALY_ANY = -1 };

struct anomaly {
  const char *name;
  const char *operands; /* for --help; NULL: there are none */
  const char *purpose;
  unsigned uses;  /* set of options */
  double seconds; /* 10 by default */
  double after;
  double factor;
  size_t bytes;
  size_t rate; /* bytes per second; 0: no limit */
  int cpu;     /* processor to run on, or ANOMALY_ANY, the default */
  int threads;
  int thread; /* of the program, or ANOMALY_ALL */
  bool processor_time;
  const char *folder;
  const char *when;
  char **operand; /* ends with NULL */
  double started; /* by anomaly_clock() */
};

/* Replaces the fields by the options of the command line; exits on --help and wrong
 * usage. Then it limits `bytes`, pins the process, and starts the clock. */
void anomaly_open(struct anomaly *a, int argc, char **argv);

/* Monotonic time in seconds. */
double anomaly_clock(void);

/* Whether --for seconds are not over. */
bool anomaly_lasts(const struct anomaly *a);

/* `bytes` of memory that are all written; exits without memory. */
void *anomaly_memory(const struct anomaly *a, size_t bytes);

/* Prints duration, processor time and `amount` of `unit`; the exit status. */
int anomaly_close(const struct anomaly *a, double amount, const char *unit);

/* Prints `name: what: text of errno` and exits with ANOMALY_FAILED. */
_Noreturn void anomaly_fail(const char *name, const char *what);

/* Bytes that can be had without swapping, within a control group's limit. */
size_t anomaly_memory_available(void);

#endif
