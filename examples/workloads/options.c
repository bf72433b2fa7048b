/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of a workload. */
#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anomaly.h"
#include "workload.h"

/* A leak takes at most this much, and at most this share of the memory that
 * is available when the program starts, so that no machine is harmed. */
#define LEAK_CAP ((size_t)2 << 30)
#define LEAK_SHARE 4

enum {
  OPTION_SIZE = 0x100,
  OPTION_STEPS,
  OPTION_POINTS,
  OPTION_THREADS,
  OPTION_RECORD,
  OPTION_NO_HEARTBEAT,
  OPTION_ANOMALY,
  OPTION_ANOMALY_THREAD,
  OPTION_LEAK_RATE,
  OPTION_LEAK_CAP,
  OPTION_SEED,
  OPTION_CYCLE,
  OPTION_ALTERNATE
};

static const struct argp_option options[] = {
    {"size", OPTION_SIZE, "NAME", 0,
     "tiny, short, small (default), medium or large: from the blink of an eye over half "
     "a "
     "second, one and ten seconds to a minute",
     0},
    {"steps", OPTION_STEPS, "N", 0, "outer iterations, instead of those of the size", 0},
    {"points", OPTION_POINTS, "N", 0,
     "points along one direction or rows of a matrix, instead of those of the size; from "
     "those of tiny to those of large",
     0},
    {"threads", OPTION_THREADS, "N", 0, "threads (default: what OpenMP gives)", 0},
    {"seed", OPTION_SEED, "N", 0, "seed of the problem and of the anomaly (default 1)",
     0},
    {"record", OPTION_RECORD, "FOLDER", 0, "record heartbeats into a run folder", 1},
    {"cycle", OPTION_CYCLE, "N", 0,
     "iterations between two beats of a thread (default: see below)", 1},
    {"no-heartbeat", OPTION_NO_HEARTBEAT, NULL, 0,
     "make no heartbeat even with --record: the other half of an overhead pair", 1},
    {"alternate", OPTION_ALTERNATE, "BEATS", 0,
     "with --record: of every three blocks of this many beats of a thread one makes "
     "heartbeats, one only reads the clock, one does neither, in an order drawn for each "
     "round; prints the processor time of each",
     1},
    {"anomaly", OPTION_ANOMALY, "KIND", 0,
     "leak (memory is allocated and touched at every beat and never freed), shutdown "
     "(SIGKILL at a seeded beat within 10 to 90 % of the run) or thread-shutdown (one "
     "thread stops working there)",
     2},
    {"anomaly-thread", OPTION_ANOMALY_THREAD, "T|all", 0,
     "the thread that misbehaves (default: all for leak, otherwise the last)", 2},
    {"leak-rate", OPTION_LEAK_RATE, "BYTES", 0,
     "bytes per beat of a leaking thread, K, M and G understood (default: spread so "
     "that the cap is reached at the end of the run)",
     2},
    {"leak-cap", OPTION_LEAK_CAP, "BYTES", 0,
     "all that may leak (default 2G; never more than a quarter of the memory available)",
     2},
    {0}};

static const struct workload_size *parse_size(const struct workload *w, const char *text,
                                              struct argp_state *state) {
  for (int s = 0; s < WORKLOAD_SIZES; ++s) {
    if (!strcmp(text, w->program->sizes[s].name)) {
      return &w->program->sizes[s];
    }
  }
  argp_error(state, "--size %s: not one of tiny, short, small, medium, large", text);
  return NULL;
}

static enum workload_anomaly parse_anomaly(const char *text, struct argp_state *state) {
  static const char *const names[] = {"", "leak", "shutdown", "thread-shutdown"};
  for (int a = WORKLOAD_LEAK; a <= WORKLOAD_THREAD_SHUTDOWN; ++a) {
    if (!strcmp(text, names[a])) {
      return (enum workload_anomaly)a;
    }
  }
  argp_error(state, "--anomaly %s: not one of leak, shutdown, thread-shutdown", text);
  return WORKLOAD_NORMAL;
}

struct parse {
  struct workload *w;
  bool heartbeat;
  const char *steps;
  const char *points;
};

/* The chosen size with other steps or points. */
static void change_size(const struct parse *p, struct argp_state *state) {
  struct workload *w = p->w;
  const struct workload_size *sizes = w->program->sizes;
  w->changed_size = *w->size;
  if (p->steps) {
    w->changed_size.steps =
        (int)anomaly_parse_count(p->steps, "steps", 1, INT_MAX, state);
  }
  if (p->points) {
    w->changed_size.points =
        (int)anomaly_parse_count(p->points, "points", (uint64_t)sizes[0].points,
                                 (uint64_t)sizes[WORKLOAD_SIZES - 1].points, state);
  }
  w->size = &w->changed_size;
}

/* What one option alone cannot decide. */
static void settle(const struct parse *p, struct argp_state *state) {
  struct workload *w = p->w;
  change_size(p, state);
  if (!p->heartbeat) {
    w->record = NULL;
  }
  if (w->alternate && !w->record) {
    argp_error(state, "--alternate: takes turns with heartbeats, so --record is needed");
  }
  if (w->anomaly_thread == WORKLOAD_THREAD_UNSET) {
    w->anomaly_thread =
        w->anomaly == WORKLOAD_LEAK ? WORKLOAD_ALL_THREADS : w->threads - 1;
  }
  if (w->anomaly_thread >= w->threads) {
    argp_error(state, "--anomaly-thread %d: the threads are numbered 0 to %d",
               w->anomaly_thread, w->threads - 1);
  }
  if (w->anomaly_thread == WORKLOAD_ALL_THREADS && w->anomaly != WORKLOAD_LEAK &&
      w->anomaly != WORKLOAD_NORMAL) {
    argp_error(state, "--anomaly-thread all: only a leak strikes all threads at once");
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct parse *p = state->input;
  struct workload *w = p->w;
  switch (key) {
    case OPTION_SIZE:
      w->size = parse_size(w, arg, state);
      break;
    case OPTION_STEPS:
      p->steps = arg;
      break;
    case OPTION_POINTS:
      p->points = arg;
      break;
    case OPTION_THREADS:
      w->threads =
          (int)anomaly_parse_count(arg, "threads", 1, WORKLOAD_MAX_THREADS, state);
      break;
    case OPTION_RECORD:
      w->record = arg;
      break;
    case OPTION_NO_HEARTBEAT:
      p->heartbeat = false;
      break;
    case OPTION_ANOMALY:
      w->anomaly = parse_anomaly(arg, state);
      break;
    case OPTION_ANOMALY_THREAD:
      w->anomaly_thread = !strcmp(arg, "all")
                              ? WORKLOAD_ALL_THREADS
                              : (int)anomaly_parse_count(arg, "anomaly-thread", 0,
                                                         WORKLOAD_MAX_THREADS - 1, state);
      break;
    case OPTION_LEAK_RATE:
      w->leak_rate = anomaly_parse_bytes(arg, "leak-rate", state);
      break;
    case OPTION_LEAK_CAP:
      w->leak_cap = anomaly_parse_bytes(arg, "leak-cap", state);
      break;
    case OPTION_SEED:
      w->seed = anomaly_parse_count(arg, "seed", 0, UINT64_MAX, state);
      break;
    case OPTION_CYCLE:
      w->cycle = (uint32_t)anomaly_parse_count(arg, "cycle", 1, UINT32_MAX, state);
      break;
    case OPTION_ALTERNATE:
      w->alternate = anomaly_parse_count(arg, "alternate", 1, UINT32_MAX, state);
      break;
    case ARGP_KEY_ARG:
      argp_error(state, "unexpected argument %s", arg);
      break;
    case ARGP_KEY_END:
      settle(p, state);
      break;
    default:
      return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* What --help prints besides the options. */
static void describe(const struct workload_program *program, char *text, size_t size) {
  int length = snprintf(
      text, size,
      "%s\vOne beat every %" PRIu32
      " iteration%s; an iteration is %s.\n\n"
      "Exit status: 0 answer verified, 1 answer wrong, 2 bad usage, 3 no memory or "
      "no recording, 4 answer void because a thread was stopped on request.\n\n",
      program->purpose, program->cycle, program->cycle == 1 ? "" : "s",
      program->iteration);
  for (int s = 0; s < WORKLOAD_SIZES; ++s) {
    const struct workload_size *one = &program->sizes[s];
    length += snprintf(text + length, size - (size_t)length, "%s: %d points, %d steps\n",
                       one->name, one->points, one->steps);
  }
}

void workload_open(struct workload *w, const struct workload_program *program, int argc,
                   char **argv) {
  char manual[2048];
  describe(program, manual, sizeof manual);
  *w = (struct workload){.program = program,
                         .size = &program->sizes[2],
                         .threads = omp_get_max_threads(),
                         .seed = 1,
                         .cycle = program->cycle,
                         .anomaly_thread = WORKLOAD_THREAD_UNSET,
                         .leak_cap = LEAK_CAP};
  struct parse input = {.w = w, .heartbeat = true};
  const struct argp argp = {options, parse, NULL, manual, NULL, NULL, NULL};
  argp_err_exit_status = WORKLOAD_USAGE;
  if (argp_parse(&argp, argc, argv, 0, NULL, &input)) {
    exit(WORKLOAD_USAGE);
  }
  const size_t safe = anomaly_memory_available() / LEAK_SHARE;
  w->leak_cap = w->leak_cap < safe ? w->leak_cap : safe;
}
