/* SPDX-License-Identifier: BSD-3-Clause */
#include "task_counts.h"

#include <stdio.h>
#include <stdlib.h>

#include "json_value.h"

typedef struct {
  size_t place;
  unsigned long long count;
} task_count;

static int32_t add(void *user, const tsanom_runs_visit *v) {
  task_count *of = user;
  if (v->kind == TSANOM_RUNS_VISIT_TASKS) {
    of[v->place].count += (unsigned long long)v->threads;
  }
  return 0;
}

static int by_count(const void *a, const void *b) {
  const task_count *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return x->place < y->place ? -1 : x->place > y->place;
}

/* The functions of tasks, most tasks first; *count of them. NULL, and none: out of
 * memory. */
static task_count *read_counts(const tsanom_runs *run, size_t *count) {
  task_count *of = calloc(TSANOM_RUNS_PLACES_MAX, sizeof *of);
  const tsanom_runs_visitor visitor = {add, of};
  *count = 0;
  if (!of) return NULL;
  for (size_t i = 0; tsanom_runs_visits(run, i, NULL, &visitor) == TSANOM_OK; i++)
    continue;
  for (size_t k = 0; k < TSANOM_RUNS_PLACES_MAX; k++) {
    if (of[k].count) of[(*count)++] = (task_count){k, of[k].count};
  }
  qsort(of, *count, sizeof *of, by_count);
  return of;
}

void task_counts_print(region_stream *s) {
  size_t count;
  task_count *of = read_counts(s->run, &count);
  if (count) printf("tasks:\n");
  for (size_t i = 0; i < count; i++) {
    printf("%12llu  %s\n", of[i].count, region_stream_name(s, of[i].place));
  }
  if (count) printf("\n");
  free(of);
}

json_t *task_counts_json(region_stream *s) {
  size_t count;
  char place[PLACE_BYTES];
  task_count *of = read_counts(s->run, &count);
  json_t *tasks = json_array();
  for (size_t i = 0; i < count; i++) {
    json_array_append_new(
        tasks,
        json_pack("{so ss sI}", "name", json_name(region_stream_name(s, of[i].place)),
                  "place", region_stream_place(s, of[i].place, place), "count",
                  (json_int_t)of[i].count));
  }
  free(of);
  return tasks;
}
