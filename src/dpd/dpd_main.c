/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of a sequence of events whose iterations may differ: in the trip counts
 * of inner loops, and in parts that only some iterations have.
 *
 *   kinds -> classes -> candidates, examined (dpd_main_loop.c) -> main loop
 *                                                                 (dpd_main_choose.c)
 *
 * An exact repetition (dpd_nest.h) breaks with every difference. Here a loop is a kind of
 * event, its anchor, that begins the iterations, and these are compared as sets of kinds.
 * Kinds that alternate, x y x y x y, are of one class: they begin the same iterations at
 * another phase, so only the first of a class is a candidate. Each is examined twice: as
 * the begin of an iteration, and as the begin of an inner loop with which iterations
 * begin, (x y) (x y) (x y) z.
 *
 * Examining a candidate takes five passes over the events. With c candidates, at most
 * 48, the cost is O(c (n + kinds)). */
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"
#include "dpd/dpd_main.h"

static const tsanom_dpd_main_options defaults = {
    .struct_size = sizeof defaults, .anchor = TSANOM_NONE, .ended = 1};

static const tsn_versioned options_type = {.size = sizeof(tsanom_dpd_main_options),
                                           .first_size = sizeof(tsanom_dpd_main_options),
                                           .defaults = &defaults};

static const tsanom_dpd_main no_loop = {.struct_size = sizeof no_loop,
                                        .anchor = TSANOM_NONE};

static const tsn_versioned main_type = {.size = sizeof(tsanom_dpd_main),
                                        .first_size = sizeof(tsanom_dpd_main),
                                        .defaults = &no_loop};

tsanom_status tsanom_dpd_main_options_init(tsanom_dpd_main_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

size_t tsanom_dpd_main_options_size(void) {
  return sizeof(tsanom_dpd_main_options);
}

tsanom_status tsanom_dpd_main_init(tsanom_dpd_main *found, size_t struct_size) {
  return tsn_versioned_init(&main_type, found, struct_size);
}

size_t tsanom_dpd_main_size(void) {
  return sizeof(tsanom_dpd_main);
}

static tsanom_status read_call(tsn_main_search *s, size_t n,
                               const tsanom_dpd_main_options *options,
                               const tsanom_exec *exec) {
  memset(s, 0, sizeof *s);
  tsanom_status status = tsn_exec_read(&s->exec, exec);
  if (status < 0) return status;
  status = tsn_versioned_read(&options_type, &s->options, options);
  if (status < 0) return tsn_reject(&s->exec, status, "options");
  const tsanom_dpd_main_options *o = &s->options;
  if (o->kinds < 1 || o->kinds >= TSN_MAIN_OTHER) {
    return tsn_reject(&s->exec, TSANOM_E_OPTION, "options.kinds");
  }
  if (o->anchor != TSANOM_NONE && o->anchor >= o->kinds) {
    return tsn_reject(&s->exec, TSANOM_E_OPTION, "options.anchor");
  }
  if (o->ended < 0 || o->ended > 1) {
    return tsn_reject(&s->exec, TSANOM_E_OPTION, "options.ended");
  }
  if (o->active < 0 || o->active > 1) {
    return tsn_reject(&s->exec, TSANOM_E_OPTION, "options.active");
  }
  if (n >= UINT32_MAX) return tsn_reject(&s->exec, TSANOM_E_OVERFLOW, "n");
  s->n = n;
  return TSANOM_OK;
}

static void layout(tsn_arena *arena, void *context) {
  tsn_main_search *s = context;
  size_t n = s->n, kinds = s->options.kinds;
  s->words = (kinds + 63) / 64;
  s->start = tsn_arena_take(arena, kinds + 1, sizeof *s->start);
  s->stamp = tsn_arena_take(arena, kinds, sizeof *s->stamp);
  s->seen = tsn_arena_take(arena, kinds, sizeof *s->seen);
  s->rank = tsn_arena_take(arena, kinds, sizeof *s->rank);
  s->slot = tsn_arena_take(arena, kinds, sizeof *s->slot);
  s->at = tsn_arena_take(arena, n, sizeof *s->at);
  s->begin = tsn_arena_take(arena, n, sizeof *s->begin);
  s->fit = tsn_arena_take(arena, n, sizeof *s->fit);
  s->set = tsn_arena_take(arena, 2 * TSN_MAIN_CANDIDATES * s->words, sizeof *s->set);
}

/* Sort the events by kind, by counting. */
static void index_events(tsn_main_search *s) {
  memset(s->start, 0, (s->options.kinds + 1) * sizeof *s->start);
  for (size_t i = 0; i < s->n; i++) s->start[s->event[i] + 1]++;
  for (size_t k = 0; k < s->options.kinds; k++) s->start[k + 1] += s->start[k];
  memcpy(s->slot, s->start, s->options.kinds * sizeof *s->slot);
  for (size_t i = 0; i < s->n; i++) s->at[s->slot[s->event[i]]++] = (uint32_t)i;
}

static size_t count_of(const tsn_main_search *s, uint32_t kind) {
  return s->start[kind + 1] - s->start[kind];
}

/* Whether the events of two kinds alternate, beginning with one of `a`. */
static bool alternate(const tsn_main_search *s, uint32_t a, uint32_t b) {
  const uint32_t *x = s->at + s->start[a], *y = s->at + s->start[b];
  size_t count = count_of(s, a);
  for (size_t i = 0; i < count; i++) {
    if (y[i] < x[i] || (i + 1 < count && y[i] > x[i + 1])) return false;
  }
  return true;
}

/* The time from the first to the last event of a kind: about what its loop covers. */
static double span_of(const tsn_main_search *s, uint32_t kind) {
  return tsn_main_time(s, s->at[s->start[kind + 1] - 1]) -
         tsn_main_time(s, s->at[s->start[kind]]);
}

/* Keep the candidates of the longest span, in descending order; of equal spans the one
 * that came first. */
static void add_candidate(tsn_main_search *s, uint32_t kind, uint32_t *best,
                          size_t *count) {
  size_t at = *count;
  while (at > 0 && span_of(s, kind) > span_of(s, best[at - 1])) at--;
  if (at == TSN_MAIN_CANDIDATES) return;
  if (*count < TSN_MAIN_CANDIDATES) ++*count;
  memmove(best + at + 1, best + at, (*count - at - 1) * sizeof *best);
  best[at] = kind;
}

/* One kind of each class, in the order of first events. A class is compared only with the
 * latest one of as many events, s->slot by that number: a class that is examined twice
 * costs time and changes nothing. */
static size_t find_candidates(tsn_main_search *s, uint32_t *best) {
  size_t count = 0, kinds = tsn_larger(s->options.kinds, 1);
  for (size_t k = 0; k < kinds; k++) s->slot[k] = TSN_MAIN_OTHER;
  for (size_t i = 0; i < s->n; i++) {
    uint32_t kind = s->event[i];
    if (s->at[s->start[kind]] != i || count_of(s, kind) < 2) continue;
    uint32_t *latest = &s->slot[count_of(s, kind) % kinds];
    if (*latest != TSN_MAIN_OTHER && count_of(s, *latest) == count_of(s, kind) &&
        alternate(s, *latest, kind)) {
      continue;
    }
    *latest = kind;
    add_candidate(s, kind, best, &count);
  }
  return count;
}

/* Examine a candidate, and keep it if it is a loop. */
static void try_loop(tsn_main_search *s, uint32_t anchor, bool folds) {
  tsn_main_loop *loop = &s->loop[s->loops];
  loop->anchor = anchor;
  loop->folds = folds;
  tsn_main_examine(s, loop);
  if (!loop->accepted) return;
  uint64_t *set = s->set + s->loops++ * s->words;
  memset(set, 0, s->words * sizeof *set);
  for (size_t k = 0; k < s->options.kinds; k++) {
    if (s->rank[k] != TSN_MAIN_OTHER) set[k / 64] |= (uint64_t)1 << k % 64;
  }
}

static bool repeats(const tsn_main_search *s, uint32_t kind) {
  for (uint32_t i = s->start[kind]; i + 1 < s->start[kind + 1]; i++) {
    if (s->at[i] + 1 == s->at[i + 1]) return true;
  }
  return false;
}

/* A kind is two candidates: the loop that it begins, or one that begins with that loop.
 * If it occurs twice in a row, its loop has no other kinds. */
static void try_candidate(tsn_main_search *s, uint32_t anchor) {
  size_t before = s->loops;
  try_loop(s, anchor, false);
  if (s->options.anchor != TSANOM_NONE && !repeats(s, anchor)) return;
  if (repeats(s, anchor) && s->loops > before && s->loop[before].size > 1) {
    s->loops = before;
  }
  try_loop(s, anchor, true);
}

static tsanom_status search(void *context) {
  tsn_main_search *s = context;
  uint32_t candidate[TSN_MAIN_CANDIDATES];
  size_t best = TSANOM_NONE;
  memset(s->stamp, 0, s->options.kinds * sizeof *s->stamp);
  index_events(s);
  size_t count = 0;
  if (s->options.anchor == TSANOM_NONE) {
    count = find_candidates(s, candidate);
  } else if (count_of(s, (uint32_t)s->options.anchor)) {
    candidate[count++] = (uint32_t)s->options.anchor;
  }
  for (size_t i = 0; i < count; i++) {
    if (tsn_exec_stop(&s->exec, i, count)) return TSANOM_STOPPED;
    if (tsn_main_is_late(s, candidate[i], best)) continue;
    try_candidate(s, candidate[i]);
    best = tsn_main_best(s);
  }
  s->chosen = tsn_main_choose(s, best);
  if (s->chosen == TSANOM_NONE) return TSANOM_INFEASIBLE;
  tsn_main_examine(s, &s->loop[s->chosen]);
  tsn_main_list(s, &s->loop[s->chosen]);
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_main_loop_workspace(size_t n,
                                             const tsanom_dpd_main_options *options,
                                             const tsanom_exec *exec, size_t *bytes) {
  tsn_main_search s;
  tsanom_status status = read_call(&s, n, options, exec);
  return status < 0 ? status : tsn_workspace_query(&s.exec, layout, &s, bytes);
}

/* The sequence is valid: events are kinds, times ascend. */
static tsanom_status check_sequence(const tsn_main_search *s) {
  for (size_t i = 0; i < s->n; i++) {
    if (s->event[i] >= s->options.kinds) {
      return tsn_reject_at(&s->exec, TSANOM_E_INDEX, "events", i);
    }
  }
  for (size_t i = 0; s->time && i <= s->n; i++) {
    if (!__builtin_isfinite(s->time[i])) {
      return tsn_reject_at(&s->exec, TSANOM_E_NONFINITE, "times", i);
    }
    if (i && s->time[i] < s->time[i - 1]) {
      return tsn_reject_at(&s->exec, TSANOM_E_ORDER, "times", i);
    }
  }
  return TSANOM_OK;
}

tsanom_status tsanom_dpd_main_loop(const uint32_t *events, const double *times, size_t n,
                                   const tsanom_dpd_main_options *options,
                                   const tsanom_exec *exec, tsanom_dpd_main *found,
                                   tsanom_dpd_iteration *iterations, size_t capacity) {
  tsn_main_search s;
  tsanom_status status = read_call(&s, n, options, exec);
  if (status < 0) return status;
  if (!events && n) return tsn_reject(&s.exec, TSANOM_E_NULL, "events");
  if (!iterations && capacity) return tsn_reject(&s.exec, TSANOM_E_NULL, "iterations");
  status = tsn_versioned_check(&main_type, found);
  if (status < 0) return tsn_reject(&s.exec, status, "found");
  s.event = events;
  s.time = times;
  s.iterations = iterations;
  s.capacity = capacity;
  if ((status = check_sequence(&s)) < 0) return status;
  status = tsn_workspace_run(&s.exec, layout, search, &s);
  if (status != TSANOM_OK) return status;
  const tsn_main_loop *loop = &s.loop[s.chosen];
  tsanom_dpd_main own = {.struct_size = sizeof own,
                         .anchor = loop->anchor,
                         .iterations = loop->iterations,
                         .runs = loop->runs,
                         .places = loop->size,
                         .first = loop->first,
                         .end = loop->end,
                         .covered = loop->covered,
                         .folds = loop->folds,
                         .inner = loop->inner};
  tsn_versioned_write(&main_type, found, &own);
  return loop->iterations > capacity && capacity ? TSANOM_PARTIAL : TSANOM_OK;
}
