/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits are kept here, for all programs: the memory that is asked for is cut to a
 * share of what is available, and a program that starts no other one is killed when its
 * parent ends. One table has all options; a program gets those that it names in `uses`. */
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
enum { MEMORY_SHARE = 4 };
enum {
  DEFAULT_SECONDS = 10,
  MOST_SECONDS = 86400,
  MOST_FACTOR = 100,
  MOST_THREADS = 1024
};
enum { OPTIONS_MOST = 16, FIRST_KEY = 0x200 };

#define FIELD(name) offsetof(struct anomaly, name)

static const struct anomaly_option all_options[] = {
    {"for", "SECONDS", "how long it lasts", OPTION_NUMBER, .field = FIELD(seconds),
     .high = MOST_SECONDS},
    {"cpu", "N", "run on processor N only (default: on any)", OPTION_INT,
     .field = FIELD(cpu), .high = CPU_SETSIZE - 1},
    {"threads", "N", "number of threads (default 1)", OPTION_INT, .field = FIELD(threads),
     .low = 1, .high = MOST_THREADS},
    {"bytes", "BYTES",
     "memory, K, M and G understood; never more than a quarter of what is available",
     OPTION_BYTES, .field = FIELD(bytes)},
    {"rate", "BYTES", "bytes per second, K, M and G understood", OPTION_BYTES,
     .field = FIELD(rate)},
    {"folder", "FOLDER", "where the file is (default: here)", OPTION_TEXT,
     .field = FIELD(folder)},
    {"after", "SECONDS", "when it begins (default 0)", OPTION_NUMBER,
     .field = FIELD(after), .high = MOST_SECONDS},
    {"when", "PATH", "count --after from the time at which PATH exists", OPTION_TEXT,
     .field = FIELD(when)},
    {"thread", "N|all",
     "thread of the program, in the order in which they were started; 0 is the first "
     "(default 1)",
     OPTION_INT_OR_ALL, .field = FIELD(thread), .high = MOST_THREADS - 1},
    {"processor-time", NULL,
     "seconds of --after and --rate are of the program's processor time, so that they "
     "follow its progress",
     OPTION_FLAG, .field = FIELD(processor_time)},
    {"factor", "F", "how many times slower (default 2)", OPTION_NUMBER,
     .field = FIELD(factor), .low = 1, .high = MOST_FACTOR}};

enum { OPTIONS = sizeof all_options / sizeof *all_options };

static size_t parse_bytes(const struct anomaly_option *o, const char *text,
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
               o->name, text);
  }
  return (size_t)number << shift;
}

static uint64_t parse_count(const struct anomaly_option *o, const char *text,
                            struct argp_state *state) {
  char *end = NULL;
  errno = 0;
  const uintmax_t number = strtoumax(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || number < o->low ||
      number > o->high) {
    argp_error(state, "--%s %s: not a whole number from %" PRIu64 " to %" PRIu64, o->name,
               text, o->low, o->high);
  }
  return number;
}

static double parse_number(const struct anomaly_option *o, const char *text,
                           struct argp_state *state) {
  char *end = NULL;
  const double number = strtod(text, &end);
  if (end == text || *end || !(number >= (double)o->low && number <= (double)o->high)) {
    argp_error(state, "--%s %s: not a number from %" PRIu64 " to %" PRIu64, o->name, text,
               o->low, o->high);
  }
  return number;
}

static int parse_name(const struct anomaly_option *o, const char *text,
                      struct argp_state *state) {
  char list[128];
  size_t length = 0;
  for (int n = 0; o->names[n]; ++n) {
    if (!strcmp(text, o->names[n])) return n;
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", n ? ", " : "",
                               o->names[n]);
  }
  argp_error(state, "--%s %s: not one of %s", o->name, text, list);
  return 0;
}

static void read_option(const struct anomaly_option *o, char *text, char *target,
                        struct argp_state *state) {
  void *field = target + o->field;
  switch (o->kind) {
    case OPTION_FLAG:
      *(bool *)field = true;
      break;
    case OPTION_TEXT:
      *(const char **)field = text;
      break;
    case OPTION_NUMBER:
      *(double *)field = parse_number(o, text, state);
      break;
    case OPTION_INT_OR_ALL:
    case OPTION_INT: {
      const bool all = o->kind == OPTION_INT_OR_ALL && !strcmp(text, "all");
      *(int *)field = all ? ANOMALY_ALL : (int)parse_count(o, text, state);
      break;
    }
    case OPTION_COUNT:
      *(uint64_t *)field = parse_count(o, text, state);
      break;
    case OPTION_BYTES:
      *(size_t *)field = parse_bytes(o, text, state);
      break;
    case OPTION_NAME:
      *(int *)field = parse_name(o, text, state);
      break;
  }
}

static error_t parse(int key, char *text, struct argp_state *state) {
  const struct command_line *line = state->input;
  if (key >= FIRST_KEY && key < FIRST_KEY + (int)line->count) {
    read_option(&line->options[key - FIRST_KEY], text, line->target, state);
  } else if (key == ARGP_KEY_ARG) {
    if (!line->operands) argp_error(state, "unexpected argument %s", text);
    *line->operand = state->argv + state->next - 1;
    state->next = state->argc;
  } else if (key == ARGP_KEY_NO_ARGS) {
    if (line->operands) argp_usage(state);
  } else if (key == ARGP_KEY_END) {
    if (line->settle) line->settle(line->target, state);
  } else {
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

void anomaly_parse(const struct command_line *line, int argc, char **argv) {
  struct argp_option options[OPTIONS_MOST + 1] = {{0}};
  for (size_t i = 0; i < line->count; i++) {
    const struct anomaly_option *o = &line->options[i];
    options[i] = (struct argp_option){
        o->name, FIRST_KEY + (int)i, o->argument, 0, o->help, o->group};
  }
  const struct argp argp = {options, parse, line->operands, line->manual, NULL,
                            NULL,    NULL};
  argp_err_exit_status = ANOMALY_USAGE;
  if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, (void *)line)) {
    exit(ANOMALY_USAGE);
  }
}

static size_t read_number(const char *path, const char *format) {
  FILE *file = fopen(path, "r");
  size_t number = 0;
  if (!file) return SIZE_MAX;
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
  if (sched_setaffinity(0, sizeof set, &set)) anomaly_fail(a->name, "--cpu");
}

void anomaly_open(struct anomaly *a, int argc, char **argv) {
  struct anomaly_option options[OPTIONS];
  struct command_line line = {.manual = a->purpose,
                              .options = options,
                              .target = a,
                              .operands = a->operands,
                              .operand = &a->operand};
  for (int i = 0; i < OPTIONS; i++) {
    if (a->uses >> i & 1) options[line.count++] = all_options[i];
  }
  a->seconds = DEFAULT_SECONDS;
  a->cpu = ANOMALY_ANY;
  anomaly_parse(&line, argc, argv);
  const size_t safe = anomaly_memory_available() / MEMORY_SHARE;
  a->bytes = a->bytes < safe ? a->bytes : safe;
  if (a->uses & ANOMALY_CPU && a->cpu != ANOMALY_ANY) pin(a);
  if (!a->operands) (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
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
  if (!memory) anomaly_fail(a->name, "memory");
  return memset(memory, 1, bytes);
}

int anomaly_close(const struct anomaly *a, double amount, const char *unit) {
  printf("%s: %.2f s, processor %.2f s, %.3g %s\n", a->name, anomaly_clock() - a->started,
         (double)clock() / CLOCKS_PER_SEC, amount, unit);
  return 0;
}
