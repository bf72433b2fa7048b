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

enum { SMALL = 2 };

static const char *const sizes[] = {"tiny", "short", "small", "medium", "large", NULL};
static const char *const anomalies[] = {"leak", "shutdown", "thread-shutdown", NULL};

/* The command line, besides what the workload has. */
struct input {
  struct workload w;
  int size, steps, points; /* of the latter two, 0: those of the size */
  bool silent;
};

#define FIELD(name) offsetof(struct input, name)

static const struct anomaly_option options[] = {
    {"size", "NAME",
     "tiny, short, small (default), medium or large: from the blink of an eye over half "
     "a second, one and ten seconds to a minute",
     OPTION_NAME, .field = FIELD(size), .names = sizes},
    {"steps", "N", "outer iterations, instead of those of the size", OPTION_INT,
     .field = FIELD(steps), .low = 1, .high = INT_MAX},
    {"points", "N",
     "points along one direction or rows of a matrix, instead of those of the size; from "
     "those of tiny to those of large",
     OPTION_INT, .field = FIELD(points), .low = 1, .high = INT_MAX},
    {"threads", "N", "threads (default: what OpenMP gives)", OPTION_INT,
     .field = FIELD(w.threads), .low = 1, .high = WORKLOAD_MAX_THREADS},
    {"seed", "N", "seed of the problem and of the anomaly (default 1)", OPTION_COUNT,
     .field = FIELD(w.seed), .high = UINT64_MAX},
    {"record", "FOLDER", "record heartbeats into a run folder", OPTION_TEXT,
     .field = FIELD(w.record), .group = 1},
    {"cycle", "N", "iterations between two beats of a thread (default: see below)",
     OPTION_COUNT, .field = FIELD(w.cycle), .low = 1, .high = UINT32_MAX, .group = 1},
    {"no-heartbeat", NULL,
     "make no heartbeat even with --record: the other half of an overhead pair",
     OPTION_FLAG, .field = FIELD(silent), .group = 1},
    {"alternate", "BEATS",
     "with --record: of every three blocks of this many beats of a thread one makes "
     "heartbeats, one only reads the clock, one does neither, in an order drawn for each "
     "round; prints the processor time of each",
     OPTION_COUNT, .field = FIELD(w.alternate), .low = 1, .high = UINT32_MAX, .group = 1},
    {"anomaly", "KIND",
     "leak (memory is allocated and touched at every beat and never freed), shutdown "
     "(SIGKILL at a seeded beat within 10 to 90 % of the run) or thread-shutdown (one "
     "thread stops working there)",
     OPTION_NAME, .field = FIELD(w.anomaly), .group = 2, .names = anomalies},
    {"anomaly-thread", "T|all",
     "the thread that misbehaves (default: all for leak, otherwise the last)",
     OPTION_INT_OR_ALL, .field = FIELD(w.anomaly_thread),
     .high = WORKLOAD_MAX_THREADS - 1, .group = 2},
    {"leak-rate", "BYTES",
     "bytes per beat of a leaking thread, K, M and G understood (default: spread so "
     "that the cap is reached at the end of the run)",
     OPTION_BYTES, .field = FIELD(w.leak_rate), .group = 2},
    {"leak-cap", "BYTES",
     "all that may leak (default 2G; never more than a quarter of the memory available)",
     OPTION_BYTES, .field = FIELD(w.leak_cap), .group = 2}};

/* The chosen size with other steps or points. */
static void choose_size(struct input *input, struct argp_state *state) {
  const struct workload_program *program = input->w.program;
  const int least = program->sizes[0].points;
  const int most = program->sizes[WORKLOAD_SIZES - 1].points;
  input->w.size = program->sizes[input->size];
  input->w.size_name = sizes[input->size];
  if (input->steps) input->w.size.steps = input->steps;
  if (!input->points) return;
  if (input->points < least || input->points > most) {
    argp_error(state, "--points %d: not a whole number from %d to %d", input->points,
               least, most);
  }
  input->w.size.points = input->points;
}

/* What one option alone cannot decide. */
static void settle(void *target, struct argp_state *state) {
  struct input *input = target;
  struct workload *w = &input->w;
  choose_size(input, state);
  if (input->silent) w->record = NULL;
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
                       sizes[s], one->points, one->steps);
  }
}

void workload_open(struct workload *w, const struct workload_program *program, int argc,
                   char **argv) {
  char manual[2048];
  describe(program, manual, sizeof manual);
  struct input input = {.w = {.program = program,
                              .threads = omp_get_max_threads(),
                              .seed = 1,
                              .cycle = program->cycle,
                              .anomaly = WORKLOAD_NORMAL,
                              .anomaly_thread = WORKLOAD_THREAD_UNSET,
                              .leak_cap = LEAK_CAP},
                        .size = SMALL};
  const struct command_line line = {.manual = manual,
                                    .options = options,
                                    .count = sizeof options / sizeof *options,
                                    .target = &input,
                                    .settle = settle};
  anomaly_parse(&line, argc, argv);
  *w = input.w;
  const size_t safe = anomaly_memory_available() / LEAK_SHARE;
  w->leak_cap = w->leak_cap < safe ? w->leak_cap : safe;
}
