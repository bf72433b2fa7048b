/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a run, each of an iteration: its mean and median time; what the thread of the
 * iterations did in regions; the work of each thread and rank; signs of the process. A
 * region has the name of its function, without file and line, which another build of the
 * program changes. */
#include "run_numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/hsa.h>

#include "beats.h"
#include "reserve.h"
#include "rows.h"
#include "run_open.h"

int run_numbers_add(run_numbers *n, int32_t kind, const char *name, double value,
                    failure *why) {
  if (!isfinite(value)) return 0;
  for (size_t i = 0; i < n->count; i++) {
    if (n->item[i].kind != kind || strcmp(n->item[i].name, name) != 0) continue;
    n->item[i].value += value;
    return 0;
  }
  if (reserve(&n->item, &n->capacity, n->count + 1, sizeof *n->item)) {
    return fail(why, "out of memory");
  }
  run_number *one = &n->item[n->count++];
  *one = (run_number){.kind = kind, .value = value};
  (void)snprintf(one->name, sizeof one->name, "%s", name);
  return 0;
}

void run_numbers_free(run_numbers *n) {
  free(n->item);
  *n = (run_numbers){0};
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The upper median; sorts. */
static double median_of(double *x, size_t n) {
  qsort(x, n, sizeof *x, ascending);
  return x[n / 2];
}

/* One process of `ranks`; rank -1: the only one. */
typedef struct {
  const tsanom_hsa_run *run;
  const tsanom_runs_loop *loop;
  int32_t rank;
  run_numbers *n;
  failure *why;
} process;

/* "compute (slow.c:7)" without its end. */
static void cut_place(char *name) {
  char *end = strstr(name, " (");
  if (end) *end = '\0';
}

static int add_regions(const process *p) {
  static const char *const before[] = {[TSANOM_RUNS_ACTIVITY_BEFORE] = "the code before ",
                                       [TSANOM_RUNS_ACTIVITY_WAIT] = "waiting in "};
  char name[512];
  double count = (double)p->loop->iterations;
  for (size_t k = 0; k < p->loop->count; k++) {
    const tsanom_runs_activity *item = &p->loop->activity[k];
    const char *what = before[item->what];
    if (item->thread != p->loop->thread) continue;
    (void)snprintf(name, sizeof name, "%s%s", what ? what : "", item->name);
    cut_place(name);
    if (run_numbers_add(p->n, NUMBER_REGION, name, item->seconds[0] / count, p->why))
      return -1;
  }
  return 0;
}

/* The work of each thread of a team; of a rank, of its thread outside of MPI. */
static int add_workers(const process *p) {
  char name[32];
  double count = (double)p->loop->iterations;
  int is_rank = p->rank >= 0;
  for (size_t k = 0; k < p->loop->count; k++) {
    const tsanom_runs_activity *item = &p->loop->activity[k];
    int is_region = item->what == TSANOM_RUNS_ACTIVITY_REGION;
    if (!is_region && item->what != TSANOM_RUNS_ACTIVITY_BEFORE) continue;
    if (!is_rank && (!is_region || p->run->thread_count < 2)) continue;
    if (is_rank && item->thread != p->loop->thread) continue;
    (void)snprintf(name, sizeof name, "%s %d", is_rank ? "rank" : "thread",
                   is_rank ? (int)p->rank : (int)item->thread);
    if (run_numbers_add(p->n, is_rank ? NUMBER_RANK : NUMBER_THREAD, name,
                        item->seconds[0] / count, p->why))
      return -1;
  }
  return 0;
}

/* The last known value of a number of the process. */
static double last_of(const tsanom_hsa_run *run, size_t offset) {
  for (size_t i = run->vital_count; i-- > 0;) {
    double value;
    memcpy(&value, (const char *)&run->vital[i] + offset, sizeof value);
    if (!isnan(value)) return value;
  }
  return NAN;
}

static double most_memory(const tsanom_hsa_run *run) {
  double most = NAN;
  for (size_t i = 0; i < run->vital_count; i++) {
    most = fmax(most, run->vital[i].anonymous);
  }
  return most;
}

static int add_signs(const process *p) {
  const tsanom_hsa_run *run = p->run;
  double count = (double)p->loop->iterations, ready = 0;
  for (size_t t = 0; t < run->thread_count; t++) {
    const tsanom_hsa_series *s = &run->threads[t];
    for (size_t i = s->vital_count; i-- > 0;) {
      if (isnan(s->vital[i].wait_s)) continue;
      ready += s->vital[i].wait_s;
      break;
    }
  }
  return run_numbers_add(p->n, NUMBER_SIGN, "processor time, s",
                         last_of(run, offsetof(tsanom_hsa_vital, cpu_s)) / count,
                         p->why) ||
         run_numbers_add(p->n, NUMBER_SIGN, NUMBER_READY, ready / count, p->why) ||
         run_numbers_add(p->n, NUMBER_SIGN, "page faults",
                         last_of(run, offsetof(tsanom_hsa_vital, minor_faults)) / count,
                         p->why) ||
         run_numbers_add(p->n, NUMBER_SIGN, "anonymous memory, MiB",
                         most_memory(run) / (1 << 20), p->why);
}

static int add_loop(const process *p, double share) {
  size_t n = p->loop->iterations;
  const double *begin = p->loop->begin;
  double *seconds = calloc(n, sizeof *seconds);
  if (!seconds) return fail(p->why, "out of memory");
  for (size_t i = 0; i < n; i++) seconds[i] = begin[i + 1] - begin[i];
  int failed = run_numbers_add(p->n, NUMBER_LOOP, "an iteration",
                               share * (begin[n] - begin[0]) / (double)n, p->why) ||
               run_numbers_add(p->n, NUMBER_LOOP, "the median iteration",
                               share * median_of(seconds, n), p->why);
  free(seconds);
  return failed;
}

/* Open a process, whose beats must be of iterations. */
static int read_beats(const char *path, const tsanom_exec *exec, int salvage, beats *b,
                      failure *why) {
  if (beats_read_parts(path, 0, exec, salvage, b, why)) return -1;
  if (b->no_iterations) return fail(why, NO_ITERATIONS, file_title(path));
  return beats_most(b) > 1 ? 0 : fail(why, "%s: there are no iterations", path);
}

static int add_process(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t rank, double share, run_numbers *n, failure *why) {
  beats b = {0};
  double *begin = NULL;
  int32_t *class_of = NULL;
  int failed =
      read_beats(path, exec, salvage, &b, why) || !(begin = beats_iterations(&b, why));
  if (!failed && !(class_of = calloc(beats_most(&b), sizeof *class_of)))
    failed = fail(why, "out of memory");
  if (!failed) {
    tsanom_runs_loop loop = {.iterations = beats_most(&b) - 1,
                             .begin = begin,
                             .thread = (int32_t)beats_busiest(&b.run),
                             .class_of = class_of,
                             .classes = 1};
    process p = {&b.run, &loop, rank, n, why};
    tsanom_status status = tsanom_runs_activities(b.source, NULL, &loop);
    failed = status < 0 ? fail_status(why, "the region events", status)
                        : add_regions(&p) || add_workers(&p) || add_signs(&p) ||
                              add_loop(&p, share);
  }
  free(class_of);
  free(begin);
  beats_free(&b);
  return failed ? -1 : 0;
}

int run_numbers_read(const char *path, const tsanom_exec *exec, int salvage,
                     run_numbers *n, failure *why) {
  int32_t *ranks;
  size_t count;
  if (run_ranks(path, &ranks, &count, why)) return -1;
  if (!count) return add_process(path, exec, salvage, -1, 1, n, why);
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++) {
    char *own = run_rank_path(path, ranks[i]);
    failed = own ? add_process(own, exec, salvage, ranks[i], 1 / (double)count, n, why)
                 : fail(why, "out of memory");
    free(own);
  }
  free(ranks);
  return failed;
}
