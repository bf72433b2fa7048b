/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits are kept here, for all programs: the memory that is asked for is cut to a
 * share of what is available, and a program that starts no other one is killed when its
 * parent ends. One table has all options; a program gets those that it names in `uses`.
 */
#include "anomaly.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* At most this share of the available memory. */
#define MEMORY_SHARE 4
#define MOST_SECONDS 86400
#define MOST_FACTOR 100
#define MOST_THREADS 1024

static const struct argp_option all_options[] = {
    {"for", ANOMALY_FOR, "SECONDS", 0, "how long it lasts", 0},
    {"cpu", ANOMALY_CPU, "N", 0, "run on processor N only (default: on any)", 0},
    {"threads", ANOMALY_THREADS, "N", 0, "number of threads (default 1)", 0},
    {"bytes", ANOMALY_BYTES, "BYTES", 0,
     "memory, K, M and G understood; never more than a quarter of what is available", 0},
    {"rate", ANOMALY_RATE, "BYTES", 0, "bytes per second, K, M and G understood", 0},
    {"folder", ANOMALY_FOLDER, "FOLDER", 0, "where the file is (default: here)", 0},
    {"after", ANOMALY_AFTER, "SECONDS", 0, "when it begins (default 0)", 0},
    {"when", ANOMALY_WHEN, "PATH", 0, "count --after from the time at which PATH exists",
     0},
    {"thread", ANOMALY_THREAD, "N|all", 0,
     "thread of the program, in the order in which they were started; 0 is the first "
     "(default 1)",
     0},
    {"processor-time", ANOMALY_PROCESSOR_TIME, NULL, 0,
     "seconds of --after and --rate are of the program's processor time, so that they "
     "follow its progress",
     0},
    {"factor", ANOMALY_FACTOR, "F", 0, "how many times slower (default 2)", 0},
    {0}};

size_t anomaly_parse_bytes(const char *text, const char *option,
                           struct argp_state *state) {
  char *end = NULL;
  errno = 0;
  const uintmax_t number = strtoumax(text, &end, 10);
  const char *suffixes = "KMG";
  const char *suffix = *end ? strchr(suffixes, *end) : NULL;
  const int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
  if (errno || end == text || *text == '-' || (*end && (!suffix || end[1])) ||
      number == 0 || number > (SIZE_MAX >> shift)) {
    argp_error(state, "--%s %s: not a positive number of bytes, such as 4096 or 16K",
               option, text);
  }
  return (size_t)number << shift;
}

uint64_t anomaly_parse_count(const char *text, const char *option, uint64_t low,
                             uint64_t high, struct argp_state *state) {
  char *end = NULL;
  errno = 0;
  const uintmax_t number = strtoumax(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || number < low || number > high) {
    argp_error(state, "--%s %s: not a whole number from %" PRIu64 " to %" PRIu64, option,
               text, low, high);
  }
  return number;
}

static double parse_number(const char *text, const char *option, double low, double high,
                           struct argp_state *state) {
  char *end = NULL;
  const double number = strtod(text, &end);
  if (end == text || *end || !(number >= low && number <= high)) {
    argp_error(state, "--%s %s: not a number from %g to %g", option, text, low, high);
  }
  return number;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct anomaly *a = state->input;
  switch (key) {
    case ANOMALY_FOR:
      a->seconds = parse_number(arg, "for", 0, MOST_SECONDS, state);
      break;
    case ANOMALY_CPU:
      a->cpu = (int)anomaly_parse_count(arg, "cpu", 0, CPU_SETSIZE - 1, state);
      break;
    case ANOMALY_THREADS:
      a->threads = (int)anomaly_parse_count(arg, "threads", 1, MOST_THREADS, state);
      break;
    case ANOMALY_BYTES:
      a->bytes = anomaly_parse_bytes(arg, "bytes", state);
      break;
    case ANOMALY_RATE:
      a->rate = anomaly_parse_bytes(arg, "rate", state);
      break;
    case ANOMALY_FOLDER:
      a->folder = arg;
      break;
    case ANOMALY_AFTER:
      a->after = parse_number(arg, "after", 0, MOST_SECONDS, state);
      break;
    case ANOMALY_WHEN:
      a->when = arg;
      break;
    case ANOMALY_THREAD:
      a->thread = strcmp(arg, "all") ? (int)anomaly_parse_count(arg, "thread", 0,
                                                                MOST_THREADS - 1, state)
                                     : ANOMALY_ALL;
      break;
    case ANOMALY_PROCESSOR_TIME:
      a->processor_time = true;
      break;
    case ANOMALY_FACTOR:
      a->factor = parse_number(arg, "factor", 1, MOST_FACTOR, state);
      break;
    case ARGP_KEY_ARG:
      if (!a->operands) {
        argp_error(state, "unexpected argument %s", arg);
      }
      a->operand = state->argv + state->next - 1;
      state->next = state->argc;
      break;
    case ARGP_KEY_NO_ARGS:
      if (a->operands) {
        argp_usage(state);
      }
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static size_t read_number(const char *path, const char *format) {
  FILE *file = fopen(path, "r");
  size_t number = 0;
  if (!file) {
    return SIZE_MAX;
  }
  char line[128];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    found = sscanf(line, format, &number) == 1;
  }
  (void)fclose(file);
  return found ? number : SIZE_MAX;
}

size_t anomaly_memory_available(void) {
  const size_t kib = read_number("/proc/meminfo", "MemAvailable: %zu kB");
  const size_t most = read_number("/sys/fs/cgroup/memory.max", "%zu");
  const size_t used = read_number("/sys/fs/cgroup/memory.current", "%zu");
  const size_t machine = kib < (SIZE_MAX >> 10) ? kib << 10 : (size_t)1 << 30;
  const size_t group = most == SIZE_MAX || used == SIZE_MAX ? SIZE_MAX
                       : most > used                        ? most - used
                                                            : 0;
  return machine < group ? machine : group;
}

void anomaly_fail(const char *name, const char *what) {
  (void)fprintf(stderr, "%s: %s: %s\n", name, what, strerror(errno));
  exit(ANOMALY_FAILED);
}

static void pin(const struct anomaly *a) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)a->cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set)) {
    anomaly_fail(a->name, "--cpu");
  }
}

void anomaly_open(struct anomaly *a, int argc, char **argv) {
  struct argp_option options[sizeof all_options / sizeof all_options[0]] = {{0}};
  size_t count = 0;
  for (const struct argp_option *o = all_options; o->name; ++o) {
    if (a->uses & ANOMALY_USES(o->key)) {
      options[count++] = *o;
    }
  }
  const struct argp argp = {options, parse, a->operands, a->purpose, NULL, NULL, NULL};
  argp_err_exit_status = ANOMALY_USAGE;
  if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, a)) {
    exit(ANOMALY_USAGE);
  }
  const size_t safe = anomaly_memory_available() / MEMORY_SHARE;
  a->bytes = a->bytes < safe ? a->bytes : safe;
  if (a->uses & ANOMALY_USES(ANOMALY_CPU) && a->cpu != ANOMALY_ANY) {
    pin(a);
  }
  if (!a->operands) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  a->started = anomaly_clock();
}

double anomaly_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool anomaly_lasts(const struct anomaly *a) {
  return anomaly_clock() - a->started < a->seconds;
}

void *anomaly_memory(const struct anomaly *a, size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) {
    anomaly_fail(a->name, "memory");
  }
  return memset(memory, 1, bytes);
}

int anomaly_close(const struct anomaly *a, double amount, const char *unit) {
  printf("%s: %.2f s, processor %.2f s, %.3g %s\n", a->name, anomaly_clock() - a->started,
         (double)clock() / CLOCKS_PER_SEC, amount, unit);
  return 0;
}
