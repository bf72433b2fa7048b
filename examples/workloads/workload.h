/* SPDX-License-Identifier: BSD-3-Clause */
/* What the workloads share: options, beats, anomalies, timing and the verdict.
 *
 * A workload is a real OpenMP program whose answer is known. Its loops call
 * workload_advance() for the iterations done; every `cycle` iterations make one
 * beat (by default as in Table 1 of the heartbeat paper), and an anomaly, when one was
 * asked for, strikes at beats, so that it depends on progress and never on the clock. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Exit statuses. */
enum {
  WORKLOAD_VERIFIED = 0,
  WORKLOAD_WRONG = 1,  /* the computed answer is not the known one */
  WORKLOAD_USAGE = 2,  /* bad command line */
  WORKLOAD_FAILED = 3, /* no memory, or the run could not be recorded */
  WORKLOAD_VOID = 4    /* a thread was stopped on request: no answer */
};

/* Two cache lines, since processors fetch them in pairs. */
enum { WORKLOAD_LINE = 128 };

enum { WORKLOAD_SIZES = 5, WORKLOAD_MAX_THREADS = 256 };

struct workload_size {
  int points; /* along one direction, or rows of a matrix */
  int steps;  /* outer iterations */
};

/* What a program says about itself. The sizes are tiny, short, small, medium and large. */
struct workload_program {
  const char *name;
  const char *purpose;
  const char *iteration; /* what one iteration is, for --help */
  uint32_t cycle;        /* iterations per beat */
  struct workload_size sizes[WORKLOAD_SIZES];
};

/* The first three in the order of --anomaly. */
enum { WORKLOAD_LEAK, WORKLOAD_SHUTDOWN, WORKLOAD_THREAD_SHUTDOWN, WORKLOAD_NORMAL };

/* What a thread does at a beat; WORKLOAD_READING reads the clock and no more. */
enum workload_mark {
  WORKLOAD_SILENT,
  WORKLOAD_BEATING,
  WORKLOAD_READING,
  WORKLOAD_MARKS
};

/* A thread's blocks with and without heartbeats, see turns.c. */
struct workload_turns {
  uint64_t beats;  /* of a block; 0: there are none */
  uint64_t end;    /* the beat that ends the block, or its warming part */
  bool warming;    /* beats that are not timed */
  uint64_t ended;  /* blocks */
  uint64_t rounds; /* capacity */
  uint64_t draws;  /* state: in which order the blocks of a round come */
  unsigned stride; /* from one mark of this round to the next */
  double began;
  double (*seconds)[WORKLOAD_MARKS]; /* processor time of the blocks of each round */
};

/* One thread's counters, on cache lines of its own. */
struct workload_thread {
  _Alignas(WORKLOAD_LINE) uint64_t beats;
  uint64_t pending;  /* iterations since the last beat */
  uint64_t stop_at;  /* the beat that kills the process or stops the thread; 0: none */
  size_t leak_bytes; /* allocated at each beat */
  size_t leak_cap;
  size_t leaked;
  void *blocks; /* the latest leaked block, which points to the one before */
  uint64_t cycle;
  int number;
  int team;        /* threads in the team */
  clockid_t clock; /* of the thread's processor time */
  double entered;  /* that time when it first entered; 0: it has not */
  struct workload_turns turns;
  enum workload_mark mark;
  uint64_t reading; /* of the clock */
  bool kills;       /* at stop_at: the process; otherwise this thread's work */
  bool stopped;     /* does no more work */
};

struct workload {
  const struct workload_program *program;
  const char *size_name;
  struct workload_size size; /* also by --steps and --points */
  int threads;
  uint64_t seed;
  uint64_t cycle;     /* iterations per beat */
  const char *record; /* run folder; NULL: no heartbeats */
  uint64_t alternate; /* beats of a block with or without heartbeats; 0: no blocks */
  int anomaly;        /* WORKLOAD_LEAK ... WORKLOAD_NORMAL */
  int anomaly_thread; /* WORKLOAD_ALL_THREADS, or one */
  size_t leak_rate;   /* bytes per beat; 0: spread over the run */
  size_t leak_cap;    /* bytes, all threads together */
  double started;
  double started_cpu;
  double seconds;      /* of the run, by the clock */
  double cpu_seconds;  /* processor time of all threads */
  double team_seconds; /* that of the team's */
  struct workload_thread *team;
};

enum { WORKLOAD_ALL_THREADS = -1, WORKLOAD_THREAD_UNSET = -2 };

/* Reads the command line; exits on --help and on bad usage. */
void workload_open(struct workload *w, const struct workload_program *program, int argc,
                   char **argv);

/* Starts recording and the clock. `shares` is how many equal parts the work can be
 * cut into: more threads are rejected. `iterations` is what a thread does with
 * the smallest share; it places the anomaly. */
void workload_start(struct workload *w, int shares, uint64_t iterations);

/* Stops the clock and the recording. */
void workload_stop(struct workload *w);

/* Prints the report and the verdict and returns the exit status.
 * The answer is right when `error` <= `limit`; a NaN is wrong. */
int workload_close(struct workload *w, double error, double limit);

/* Zeroed memory, or exits; leave with free(). The second form is for structs that fill
 * whole cache lines. */
void *workload_allocate(const struct workload *w, size_t count, size_t size);
void *workload_allocate_lines(const struct workload *w, size_t count, size_t size);

/* The larger of two errors; a NaN is the worst of all and stays. */
static inline double workload_worse(double a, double b) {
  return a > b || a != a ? a : b;
}
#pragma omp declare reduction(worse:double                                 \
                              : omp_out = workload_worse(omp_out, omp_in)) \
    initializer(omp_priv = 0)

double workload_cpu_seconds(clockid_t clock);

/* Cut the beats of each thread into blocks; the number of rounds, 0 if the beats do not
 * suffice. */
uint64_t workload_plan_turns(struct workload *w, uint64_t beats);
void workload_take_turn(struct workload_thread *me);
void workload_print_turns(const struct workload *w);

/* Numbers of a seed: the same on every machine. */
uint64_t workload_random(uint64_t *state);
double workload_uniform(uint64_t *state, double low, double high);

/* The calling thread's counters; inside a parallel region. */
struct workload_thread *workload_enter(struct workload *w);

/* This thread's contiguous part [first, last) of `count` items; none for a
 * stopped thread. */
struct workload_share {
  int first;
  int last;
};
static inline struct workload_share workload_share(const struct workload_thread *me,
                                                   int count) {
  const int64_t items = me->stopped ? 0 : count;
  return (struct workload_share){.first = (int)(items * me->number / me->team),
                                 .last = (int)(items * (me->number + 1) / me->team)};
}

void workload_beat(struct workload_thread *me, uint32_t tag);

/* Counts iterations done and beats when a cycle is full. False: stop working. */
static inline bool workload_advance(struct workload_thread *me, uint32_t iterations,
                                    uint32_t tag) {
  me->pending += iterations;
  while (me->pending >= me->cycle && !me->stopped) {
    me->pending -= me->cycle;
    workload_beat(me, tag);
  }
  return !me->stopped;
}

#endif
