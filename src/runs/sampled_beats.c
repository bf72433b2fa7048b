/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a thread's beats follow each other, and the first has the place 0. Rows are
 * only ever added, so that the n-th such group is that of the same thread at each update.
 * A beat with a number that is shown already is not looked at again, though others may
 * have become known between those that are shown. */
#include "runs/sampled_beats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At most this many beats become new in one update, 256 MB while it is made. Of a run
 * with more the latest are shown. */
enum { FRESH_MOST = 1 << 24 };

typedef struct {
  uint64_t number, moment;
} slot;

/* The rows of one thread, and what they say. */
typedef struct {
  const tsn_regions_row *first, *thread;
  const slot *slot;
  size_t slots;
} group;

static size_t rows_of_group(const tsn_profile *profile, size_t at) {
  const tsn_regions_row *first = &profile->row[at];
  size_t rows = 1;
  while (at + rows < profile->count && first[rows].kind == TSN_REGIONS_ROW_BEATS &&
         first[rows].parent == first->parent && first[rows].place == rows) {
    rows++;
  }
  return rows;
}

static bool begins_group(const tsn_regions_row *row) {
  return row->kind == TSN_REGIONS_ROW_BEATS && row->place == 0;
}

static int by_number(const void *a, const void *b) {
  const slot *x = a, *y = b;
  return (x->number > y->number) - (x->number < y->number);
}

/* The slots in use, in order, each number once. */
static bool read_group(tsn_sampled_beats *s, const tsn_profile *profile, size_t at,
                       const tsanom_exec *memory, group *g) {
  size_t rows = rows_of_group(profile, at), used = 0, kept = 0;
  if (!tsn_array_reserve(&s->slots, memory, 0, 2 * rows, sizeof(slot))) return false;
  slot *slots = s->slots.data;
  for (size_t i = 0; i < rows; i++) {
    const tsn_regions_row *r = &profile->row[at + i];
    if (r->visits) slots[used++] = (slot){r->visits, r->elapsed};
    if (r->useful) slots[used++] = (slot){r->useful, r->waiting};
  }
  qsort(slots, used, sizeof *slots, by_number);
  for (size_t i = 0; i < used; i++) {
    if (kept == 0 || slots[i].number != slots[kept - 1].number) slots[kept++] = slots[i];
  }
  *g = (group){.first = &profile->row[at],
               .thread = &profile->row[profile->row[at].parent],
               .slot = slots,
               .slots = kept};
  return true;
}

static double seconds(uint64_t moment, uint64_t began) {
  return (double)(int64_t)(moment - began) * 1e-9;
}

/* A slot behind those that are shown, and what lies between. */
static bool show(tsn_sampled_beats *s, tsn_sampled_thread *t, const slot *beat,
                 double time, uint32_t thread, const tsanom_exec *memory) {
  uint64_t steps = t->number ? beat->number - t->number : 1;
  if (!tsn_array_reserve(&s->fresh, memory, s->fresh_count, s->fresh_count + steps,
                         sizeof(tsn_sampled_beat))) {
    return false;
  }
  tsn_sampled_beat *fresh = (tsn_sampled_beat *)s->fresh.data + s->fresh_count;
  double distance = (time - t->time) / (double)steps;
  for (uint64_t i = 1; i < steps; i++) {
    fresh[i - 1] = (tsn_sampled_beat){t->time + distance * (double)i, thread};
  }
  fresh[steps - 1] = (tsn_sampled_beat){time, thread};
  s->fresh_count += steps;
  s->next_interpolated += steps - 1;
  s->next_known++;
  t->number = beat->number;
  t->time = time;
  return true;
}

/* What is new of a thread, at most `most` beats. */
static bool take_group(tsn_sampled_beats *s, const group *g, tsn_sampled_thread *t,
                       uint64_t most, uint64_t began, const tsanom_exec *memory) {
  if (g->first->cpu != t->anew) {
    *t = (tsn_sampled_thread){.anew = g->first->cpu,
                              .from = seconds(g->first->cpu, began)};
    if (g->thread->place) s->next_from = fmax(s->next_from, t->from);
  }
  t->thread = g->thread->thread;
  if (!g->slots) return true;
  uint64_t last = g->slot[g->slots - 1].number, least = t->number;
  bool skips = last > t->number && last - t->number > most;
  if (skips) {
    least = last - most;
    t->number = 0;
  }
  for (size_t i = 0; i < g->slots; i++) {
    if (g->slot[i].number <= least) continue;
    double time = seconds(g->slot[i].moment, began);
    if (t->number && time <= t->time) continue;
    if (skips && !t->number) s->next_from = fmax(s->next_from, time);
    if (!show(s, t, &g->slot[i], time, g->thread->thread, memory)) return false;
  }
  return true;
}

bool tsn_sampled_beats_prepare(tsn_sampled_beats *s, const tsn_profile *profile,
                               uint64_t began, const tsanom_exec *memory) {
  size_t groups = 0, at = 0;
  tsn_sampled_beats_discard(s);
  for (size_t k = 1; k < profile->count; k++) groups += begins_group(&profile->row[k]);
  if (!groups) return true;
  if (!tsn_array_reserve(&s->next, memory, 0, groups, sizeof(tsn_sampled_thread)) ||
      !tsn_array_reserve(&s->shown, memory, s->shown_count, groups,
                         sizeof(tsn_sampled_thread))) {
    return false;
  }
  tsn_sampled_thread *next = s->next.data;
  for (size_t k = 1; k < profile->count; k++) {
    group g;
    if (!begins_group(&profile->row[k])) continue;
    next[at] = (tsn_sampled_thread){.number = 0};
    if (at < s->shown_count) next[at] = ((tsn_sampled_thread *)s->shown.data)[at];
    if (!read_group(s, profile, k, memory, &g) ||
        !take_group(s, &g, &next[at], FRESH_MOST / groups, began, memory)) {
      return false;
    }
    at++;
  }
  s->next_count = groups;
  return true;
}

void tsn_sampled_beats_commit(tsn_sampled_beats *s) {
  if (s->next_count) {
    memcpy(s->shown.data, s->next.data, s->next_count * sizeof(tsn_sampled_thread));
    s->shown_count = s->next_count;
  }
  s->from = s->next_from;
  s->interpolated = s->next_interpolated;
  s->known = s->next_known;
  tsn_sampled_beats_discard(s);
}

void tsn_sampled_beats_discard(tsn_sampled_beats *s) {
  s->next_count = s->fresh_count = 0;
  s->next_from = s->from;
  s->next_interpolated = s->interpolated;
  s->next_known = s->known;
}

void tsn_sampled_beats_free(tsn_sampled_beats *s, const tsanom_exec *memory) {
  tsn_array_free(&s->shown, memory);
  tsn_array_free(&s->next, memory);
  tsn_array_free(&s->fresh, memory);
  tsn_array_free(&s->slots, memory);
}
