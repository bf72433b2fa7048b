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

/* Options, as keys of argp and, by 1 << (key - ANOMALY_FOR), as a set. */
enum {
  ANOMALY_FOR = 0x200,
  ANOMALY_CPU,
  ANOMALY_THREADS,
  ANOMALY_BYTES,
  ANOMALY_RATE,
  ANOMALY_FOLDER,
  ANOMALY_AFTER,
  ANOMALY_WHEN,
  ANOMALY_THREAD,
  ANOMALY_FACTOR,
  ANOMALY_PROCESSOR_TIME
};
#define ANOMALY_USES(key) (1U << ((key)-ANOMALY_FOR))

enum { ANOMALY_USAGE = 2, ANOMALY_FAILED = 3, ANOMALY_ALL = -1, ANOMALY_ANY = -1 };

struct anomaly {
  const char *name;
  const char *operands; /* for --help; NULL: there are none */
  const char *purpose;
  unsigned uses; /* set of options */
  double seconds;
  double after;
  double factor;
  size_t bytes;
  size_t rate; /* bytes per second; 0: no limit */
  int cpu;     /* processor to run on, or ANOMALY_ANY */
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

/* Values of options: K, M and G multiply bytes by powers of 1024. */
size_t anomaly_parse_bytes(const char *text, const char *option,
                           struct argp_state *state);
uint64_t anomaly_parse_count(const char *text, const char *option, uint64_t low,
                             uint64_t high, struct argp_state *state);

/* Bytes that can be had without swapping, within a control group's limit. */
size_t anomaly_memory_available(void);

#endif
