/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reserve.h"
#include "rows.h"
#include "run_open.h"

/* A table of 60 bytes can state any number of ranks. */
enum { MOST_ABSENT = 1 << 16 };

/* Takes over the path; NULL: there was no memory for it. */
static int append(watch_list *list, char *path, const watched *like, failure *why) {
  if (!path || reserve(&list->run, &list->capacity, list->count + 1, sizeof *list->run)) {
    free(path);
    return fail(why, "out of memory");
  }
  list->run[list->count++] = (watched){
      .path = path, .rank = like->rank, .model = like->model, .hang = like->hang};
  return 0;
}

int watch_list_add(watch_list *list, const char *path, const owned_model *model,
                   double hang, failure *why) {
  watched like = {.rank = -1, .model = model, .hang = hang};
  return append(list, strdup(path), &like, why);
}

static int append_rank(watch_list *list, const watched *whole, int32_t rank,
                       failure *why) {
  char *path = run_rank_path(whole->path, rank);
  watched like = {.rank = rank, .model = whole->model, .hang = whole->hang};
  return append(list, path, &like, why);
}

int watch_list_expand(watch_list *list, size_t i, failure *why) {
  watched whole = list->run[i];
  int32_t *rank = NULL;
  size_t count = 0, size = 0;
  int failed = 0;
  if (whole.source || whole.rank >= 0 || !is_directory(whole.path) ||
      tsanom_runs_ranks(whole.path, NULL, NULL, 0, &count, &size) != TSANOM_OK ||
      (!count && !size)) {
    return 0;
  }
  size_t ranks = count > size ? count : size;
  if (ranks - count > MOST_ABSENT) {
    return fail(why,
                "%s: the run has %zu ranks, but directories of %zu; at most %d ranks "
                "without a directory are expected",
                file_title(whole.path), ranks, count, MOST_ABSENT);
  }
  if (!size) {
    rank = calloc(count, sizeof *rank);
    if (!rank) return fail(why, "%s: out of memory", file_title(whole.path));
    tsanom_runs_ranks(whole.path, NULL, rank, count, &ranks, &size);
    if (ranks > count) ranks = count;
  }
  memmove(list->run + i, list->run + i + 1, (--list->count - i) * sizeof *list->run);
  for (size_t k = 0; k < ranks && !failed; k++) {
    failed = append_rank(list, &whole, rank ? rank[k] : (int32_t)k, why);
  }
  free(rank);
  watched_close(&whole);
  return failed;
}

/* The ranks of a job follow each other. */
static int same_job(const watched *a, const watched *b) {
  const char *end_a = strrchr(a->path, '/'), *end_b = strrchr(b->path, '/');
  return a->rank >= 0 && b->rank >= 0 && end_a - a->path == end_b - b->path &&
         strncmp(a->path, b->path, (size_t)(end_a - a->path)) == 0;
}

int watch_list_judge(watch_list *list, failure *why) {
  size_t first = 0;
  if (reserve(&list->rank, &list->rank_capacity, list->count, sizeof *list->rank)) {
    return fail(why, "out of memory");
  }
  for (size_t i = 0; i < list->count; i++) {
    watched *w = &list->run[i];
    if (!same_job(&list->run[first], w)) first = i;
    list->rank[i] = w->judged;
    list->rank[i].watch = w->watch;
    list->rank[i].job = w->rank < 0 ? -1 : (int32_t)first;
    list->rank[i].start = w->start;
    list->rank[i].ended = w->ended;
  }
  tsanom_diagnosis_judge_job(list->rank, list->count, NULL, &list->slowest);
  for (size_t i = 0; i < list->count; i++) {
    list->run[i].judged = list->rank[i];
    watched_take(&list->run[i]);
  }
  return 0;
}

void watch_list_free(watch_list *list) {
  for (size_t i = 0; i < list->count; i++) watched_close(&list->run[i]);
  free(list->run);
  free(list->rank);
  *list = (watch_list){0};
}
