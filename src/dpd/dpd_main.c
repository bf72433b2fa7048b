/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of a sequence of events whose iterations may differ: in the trip counts
 * of inner loops, and in parts that only some iterations have.
 *
 *   kinds -> classes -> candidates, examined (dpd_main_loop.c) -> main loop
 *
 * An exact repetition (dpd_nest.h) breaks with every difference. Here a loop is a kind of
 * event, its anchor, that begins the iterations, and these are compared as sets of kinds.
 * Kinds that alternate, x y x y x y, are of one class: they begin the same iterations at
 * another phase, so only the first of a class is a candidate.
 *
 * Which candidate is the main loop:
 *
 *   0. One that covers less than a fifth of the time and of the events is none.
 *   1. Of those that cover at least 9/10 of what the best one covers, or that contain its
 *      kinds and cover 9/10 of what follows their own begin, the outermost: the one with
 *      the fewest iterations. The second condition is for loops that began a few
 *      iterations ago: before them, an inner loop may have run once.
 *   2. If another of these has nearly the same usual kinds (a third differs at most) and
 *      more iterations, take that one instead. So a step that is repeated ten times
 *      before an output is the iteration, not the ten steps; a solver of 3 kinds in a
 *      step of 11 is not.
 *
 * Examining a candidate takes three passes over the events. With c candidates, at most
 * 48, the cost is O(c (n + kinds)). */
#include <string.h>

#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/versioned.h"
#include "dpd/dpd_main.h"

static const double least_share = 0.9;

/* The same of a loop that covers what follows its own begin. */
static const double least_since = 0.5;

/* Parts that repeat by chance cover less of the sequence: at most 15 % of random
 * sequences of four kinds or more. */
static const double least_cover = 0.2;

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
  *loop = (tsn_main_loop){
      .anchor = anchor, .folds = folds, .named = s->options.anchor != TSANOM_NONE};
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

/* A kind that occurs twice in a row is two candidates: a loop of this kind alone, or one
 * that begins with an inner loop of it. */
static void try_candidate(tsn_main_search *s, uint32_t anchor) {
  bool has_inner = repeats(s, anchor);
  size_t before = s->loops;
  try_loop(s, anchor, false);
  if (!has_inner) return;
  if (s->loops > before && s->loop[before].size > 1) s->loops = before;
  try_loop(s, anchor, true);
}

/* The loop that covers most, SIZE_MAX: there is none. */
static size_t find_best(const tsn_main_search *s) {
  size_t best = TSANOM_NONE;
  for (size_t i = 0; i < s->loops; i++) {
    if (best == TSANOM_NONE || s->loop[i].reach > s->loop[best].reach) best = i;
  }
  return best;
}

/* Whether loop i has the usual kinds of loop k, but for a third of them. */
static bool contains(const tsn_main_search *s, size_t i, size_t k) {
  const uint64_t *a = s->set + i * s->words, *b = s->set + k * s->words;
  size_t missing = 0;
  for (size_t w = 0; w < s->words; w++) {
    missing += (size_t)__builtin_popcountll(b[w] & ~a[w]);
  }
  return TSN_MAIN_NEAR * missing <= s->loop[k].size;
}

/* Whether loop i covers enough to be the main loop. */
static bool covers_enough(const tsn_main_search *s, size_t i, size_t best) {
  const tsn_main_loop *one = &s->loop[i];
  double most = s->loop[best].reach;
  double since = tsn_main_time(s, s->n) - tsn_main_time(s, one->first);
  if (one->reach >= least_share * most) return true;
  return one->reach >= least_since * most && one->reach >= least_share * since &&
         contains(s, i, best);
}

/* Whether the usual kinds of two loops are nearly the same. */
static bool are_similar(const tsn_main_search *s, size_t i, size_t k) {
  const uint64_t *a = s->set + i * s->words, *b = s->set + k * s->words;
  size_t differ = 0, smaller = tsn_smaller(s->loop[i].size, s->loop[k].size);
  for (size_t w = 0; w < s->words; w++) {
    differ += (size_t)__builtin_popcountll(a[w] ^ b[w]);
  }
  return TSN_MAIN_NEAR * differ <= smaller;
}

/* Whether a loop is preferred to another one like it: it has more iterations, or
 * as many and begins earlier, as the same loop at another phase does. */
static bool is_better(const tsn_main_loop *one, const tsn_main_loop *other) {
  if (one->iterations != other->iterations) return one->iterations > other->iterations;
  return one->first < other->first;
}

/* Whether a loop is further out than another one; of as many iterations, whether it
 * covers more, or begins earlier. */
static bool is_outer(const tsn_main_loop *one, const tsn_main_loop *other) {
  if (one->iterations != other->iterations) return one->iterations < other->iterations;
  if (one->covered != other->covered) return one->covered > other->covered;
  return one->first < other->first;
}

/* The outermost of the loops that cover enough, then the finest of those like it. */
static size_t choose(const tsn_main_search *s, size_t best) {
  size_t chosen = TSANOM_NONE;
  for (size_t i = 0; i < s->loops; i++) {
    if (!covers_enough(s, i, best)) continue;
    if (chosen == TSANOM_NONE || is_outer(&s->loop[i], &s->loop[chosen])) chosen = i;
  }
  for (size_t from = TSANOM_NONE; from != chosen;) {
    from = chosen;
    for (size_t i = 0; i < s->loops; i++) {
      if (!covers_enough(s, i, best) || !are_similar(s, i, from)) continue;
      if (is_better(&s->loop[i], &s->loop[chosen])) chosen = i;
    }
  }
  return chosen;
}

/* Whether the best loop is likely chance. A short loop behind a long start of the program
 * is not: it has most of the events. */
static bool is_little(const tsn_main_search *s, size_t best) {
  const tsn_main_loop *loop = &s->loop[best];
  double time = tsn_main_time(s, s->n) - tsn_main_time(s, 0);
  if (s->options.active || s->options.anchor != TSANOM_NONE) return false;
  return loop->reach < least_cover * time &&
         (double)loop->events < least_cover * (double)s->n;
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
    double first = tsn_main_time(s, s->at[s->start[candidate[i]]]);
    double most = best == TSANOM_NONE ? 0 : s->loop[best].reach;
    if (tsn_main_time(s, s->n) - first < least_since * most) continue;
    try_candidate(s, candidate[i]);
    best = find_best(s);
  }
  s->chosen = best == TSANOM_NONE || is_little(s, best) ? TSANOM_NONE : choose(s, best);
  if (s->chosen == TSANOM_NONE) return TSANOM_INFEASIBLE;
  tsn_main_loop *loop = &s->loop[s->chosen];
  loop->iterations = loop->runs = loop->events = 0;
  loop->covered = loop->reach = 0;
  tsn_main_examine(s, loop);
  tsn_main_list(s, loop);
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
                         .folds = loop->folds};
  tsn_versioned_write(&main_type, found, &own);
  return loop->iterations > capacity && capacity ? TSANOM_PARTIAL : TSANOM_OK;
}
