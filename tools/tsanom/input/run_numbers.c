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

#include "iterations.h"
#include "reserve.h"
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

/* The upper median; sorts. */
static double median_of(double *x, size_t n) {
  sort_seconds(x, n);
  return x[n / 2];
}

/* One process of `ranks`; rank -1: the only one. */
typedef struct {
  const iterations *it;
  const activities *a;
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
  char text[ACTIVITY_BYTES], name[ACTIVITY_BYTES + 16];
  double count = (double)p->it->count;
  for (size_t k = 0; k < p->a->count; k++) {
    const activity *item = &p->a->item[k];
    if (item->thread != (int32_t)p->it->thread) continue;
    (void)snprintf(name, sizeof name, "%s%s",
                   item->what == ACTIVITY_WAIT ? "waiting in " : "",
                   activity_name(p->it, item, text));
    cut_place(name);
    if (run_numbers_add(p->n, NUMBER_REGION, name, p->a->seconds[k] / count, p->why))
      return -1;
  }
  return 0;
}

/* The work of each thread of a team; of a rank, of its thread outside of MPI. */
static int add_workers(const process *p) {
  char name[32];
  double count = (double)p->it->count;
  int is_rank = p->rank >= 0;
  for (size_t k = 0; k < p->a->count; k++) {
    const activity *item = &p->a->item[k];
    if (item->what == ACTIVITY_CALL || item->what == ACTIVITY_WAIT) continue;
    if (!is_rank && (item->what != ACTIVITY_REGION || p->it->beats->thread_count < 2))
      continue;
    if (is_rank && item->thread != (int32_t)p->it->thread) continue;
    (void)snprintf(name, sizeof name, "%s %d", is_rank ? "rank" : "thread",
                   is_rank ? (int)p->rank : (int)item->thread);
    if (run_numbers_add(p->n, is_rank ? NUMBER_RANK : NUMBER_THREAD, name,
                        p->a->seconds[k] / count, p->why))
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
  const tsanom_hsa_run *run = p->it->beats;
  double count = (double)p->it->count, ready = 0;
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

static int add_process(const char *path, const tsanom_exec *exec, int salvage,
                       int32_t rank, double share, run_numbers *n, failure *why) {
  iterations it = {0};
  activities a = {0};
  process p = {&it, &a, rank, n, why};
  int32_t *class_of = NULL;
  int failed = iterations_read(path, exec, salvage, &it, why);
  if (!failed && !it.count) failed = fail(why, "%s: there are no iterations", path);
  if (!failed && !(class_of = calloc(it.count + 1, sizeof *class_of))) {
    failed = fail(why, "out of memory");
  }
  failed = failed || activities_read(&it, SECONDS_PASSED, class_of, 1, &a, why) ||
           add_regions(&p) || add_workers(&p) || add_signs(&p) ||
           run_numbers_add(n, NUMBER_LOOP, "an iteration",
                           share * (it.begin[it.count] - it.begin[0]) / (double)it.count,
                           why) ||
           run_numbers_add(n, NUMBER_LOOP, "the median iteration",
                           share * median_of(it.seconds, it.count), why);
  free(class_of);
  activities_free(&a);
  iterations_free(&it);
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
