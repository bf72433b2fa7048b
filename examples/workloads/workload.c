/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording, anomalies, timing and the verdict of a workload. */
#include "workload.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/heartbeat.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* The share of the run, in planned beats, within which a shutdown falls. */
#define SHUTDOWN_EARLIEST 0.1
#define SHUTDOWN_LATEST 0.9

/* A block holds at least the pointer to the one before it. */
#define SMALLEST_BLOCK ((size_t)64)

/* Lives as long as the process, so that what leaks on purpose stays reachable
 * and a leak checker keeps quiet about it. */
static struct workload_thread team[WORKLOAD_MAX_THREADS];

uint64_t workload_random(uint64_t *state) {
  /* splitmix64 */
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

double workload_uniform(uint64_t *state, double low, double high) {
  return low + (high - low) * 0x1p-53 * (double)(workload_random(state) >> 11);
}

_Noreturn static void fail(const struct workload *w, int status, const char *what,
                           const char *detail) {
  (void)fprintf(stderr, "%s: %s%s%s\n", w->program->name, what, *detail ? ": " : "",
                detail);
  exit(status);
}

void *workload_allocate(const struct workload *w, size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) fail(w, WORKLOAD_FAILED, "no memory for the problem", "");
  return memory;
}

void *workload_allocate_lines(const struct workload *w, size_t count, size_t size) {
  void *memory = aligned_alloc(WORKLOAD_LINE, count * size);
  if (!memory) fail(w, WORKLOAD_FAILED, "no memory for the threads", "");
  return memset(memory, 0, count * size);
}

static void plan_leak(const struct workload *w, struct workload_thread *me,
                      uint64_t beats) {
  const size_t leaking =
      w->anomaly_thread == WORKLOAD_ALL_THREADS ? (size_t)w->threads : 1;
  me->leak_cap = w->leak_cap / leaking;
  me->leak_bytes = w->leak_rate ? w->leak_rate : me->leak_cap / beats;
  if (me->leak_bytes < SMALLEST_BLOCK) me->leak_bytes = SMALLEST_BLOCK;
}

/* Every draw depends on the seed alone, so that a seed's shutdown falls at the
 * same share of the run for any thread count. */
static void plan_anomaly(struct workload *w, uint64_t beats) {
  uint64_t state = w->seed ^ UINT64_C(0x616e6f6d616c79);
  const double moment = workload_uniform(&state, SHUTDOWN_EARLIEST, SHUTDOWN_LATEST);
  for (int t = 0; t < w->threads; ++t) {
    struct workload_thread *me = &w->team[t];
    if (w->anomaly == WORKLOAD_NORMAL ||
        (w->anomaly_thread != WORKLOAD_ALL_THREADS && w->anomaly_thread != t)) {
      continue;
    }
    if (w->anomaly == WORKLOAD_LEAK) {
      plan_leak(w, me, beats);
    } else {
      me->stop_at = 1 + (uint64_t)(moment * (double)beats);
      me->kills = w->anomaly == WORKLOAD_SHUTDOWN;
    }
  }
}

double workload_cpu_seconds(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) ? 0 : (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void workload_start(struct workload *w, int shares, uint64_t iterations) {
  if (w->threads > shares) {
    char detail[80];
    (void)snprintf(detail, sizeof detail, "at most %d threads at size %s", shares,
                   w->size_name);
    fail(w, WORKLOAD_USAGE, "too many threads", detail);
  }
  w->team = team;
  for (int t = 0; t < w->threads; ++t) {
    w->team[t].number = t;
    w->team[t].cycle = w->cycle;
    w->team[t].mark = w->record ? WORKLOAD_BEATING : WORKLOAD_SILENT;
  }
  const uint64_t beats = iterations / w->cycle;
  plan_anomaly(w, beats ? beats : 1);
  if (w->alternate && !workload_plan_turns(w, beats)) {
    fail(w, WORKLOAD_USAGE, "too few beats for a round of blocks at size", w->size_name);
  }
  if (w->record) {
    const tsanom_status status = tsanom_heartbeat_init(w->record, w->threads, NULL, NULL);
    if (status != TSANOM_OK) {
      fail(w, WORKLOAD_FAILED, w->record, tsanom_status_text(status));
    }
  }
  w->started = omp_get_wtime();
  w->started_cpu = workload_cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

struct workload_thread *workload_enter(struct workload *w) {
  struct workload_thread *me = &w->team[omp_get_thread_num()];
  me->team = omp_get_num_threads();
  if (me->entered == 0 && !pthread_getcpuclockid(pthread_self(), &me->clock)) {
    me->entered = workload_cpu_seconds(me->clock);
  }
  return me;
}

/* Allocates a block, touches every byte of it and chains it to the ones before. */
static void leak(struct workload_thread *me) {
  if (me->leak_bytes > me->leak_cap - me->leaked) return;
  void *block = malloc(me->leak_bytes);
  if (!block) return;
  memset(block, (int)(me->beats & 0xff), me->leak_bytes);
  memcpy(block, &me->blocks, sizeof me->blocks);
  me->blocks = block;
  me->leaked += me->leak_bytes;
}

/* The clock that beats read, unless the kernel distrusts the counter. */
static uint64_t read_clock(void) {
#if defined(__x86_64__)
  return __rdtsc();
#else
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_nsec;
#endif
}

void workload_beat(struct workload_thread *me, uint32_t tag) {
  if (me->mark == WORKLOAD_BEATING) {
    tsanom_heartbeat_beat(me->number, tag);
  } else if (me->mark == WORKLOAD_READING) {
    me->reading = read_clock();
  }
  ++me->beats;
  if (me->beats == me->turns.end) workload_take_turn(me);
  if (me->leak_bytes) leak(me);
  if (me->beats == me->stop_at) {
    if (me->kills) (void)raise(SIGKILL);
    me->stopped = true;
  }
}

void workload_stop(struct workload *w) {
  w->seconds = omp_get_wtime() - w->started;
  w->cpu_seconds = workload_cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - w->started_cpu;
  for (int t = 0; t < w->threads; ++t) {
    w->team_seconds += workload_cpu_seconds(w->team[t].clock) - w->team[t].entered;
  }
  if (w->record) {
    const tsanom_status status = tsanom_heartbeat_finish();
    if (status != TSANOM_OK) {
      fail(w, WORKLOAD_FAILED, w->record, tsanom_status_text(status));
    }
  }
}

static int print_verdict(const struct workload *w, double error, double limit) {
  const char *name = w->program->name;
  for (int t = 0; t < w->threads; ++t) {
    if (w->team[t].stopped) {
      printf("%s: answer VOID: thread %d was stopped after %llu beats\n", name, t,
             (unsigned long long)w->team[t].beats);
      return WORKLOAD_VOID;
    }
  }
  const bool right = error <= limit;
  printf("%s: answer %s: error %.3g (limit %.3g)\n", name, right ? "VERIFIED" : "WRONG",
         error, limit);
  return right ? WORKLOAD_VERIFIED : WORKLOAD_WRONG;
}

int workload_close(struct workload *w, double error, double limit) {
  uint64_t beats = 0;
  size_t leaked = 0;
  for (int t = 0; t < w->threads; ++t) {
    beats += w->team[t].beats;
    leaked += w->team[t].leaked;
  }
  printf("%s: size %s, %d points, %d steps, %d threads, seed %llu\n", w->program->name,
         w->size_name, w->size.points, w->size.steps, w->threads,
         (unsigned long long)w->seed);
  printf("%s: %.4f s, %llu beats, %.0f beats/s\n", w->program->name, w->seconds,
         (unsigned long long)beats, (double)beats / w->seconds);
  printf("%s: on a processor %.0f %% of the time\n", w->program->name,
         100 * w->cpu_seconds / (w->seconds * w->threads));
  if (w->alternate) workload_print_turns(w);
  if (w->anomaly == WORKLOAD_LEAK) {
    printf("%s: leaked %.1f MiB\n", w->program->name, (double)leaked / 1048576.0);
  }
  return print_verdict(w, error, limit);
}
