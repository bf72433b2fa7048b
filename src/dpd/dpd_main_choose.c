/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the loops that were examined is the main loop:
 *
 *   0. One that covers less than a fifth of the time and of the events is none.
 *   1. Of those that cover at least 9/10 of what the best one covers, or that contain its
 *      kinds and cover 9/10 of what follows their own begin, the outermost: the one with
 *      the fewest iterations. The second condition is for loops that began a few
 *      iterations ago: before them, an inner loop may have run once. Such a loop also
 *      covers half of that time, or 9/10 as many events.
 *   2. If another of these has nearly the same usual kinds (a third differs at most),
 *      more iterations, and 9/10 of the events, take that one instead. So a step that is
 *      repeated ten times before an output is the iteration, not the ten steps; a solver
 *      of 3 kinds in a step of 11 is not. The same if some of its iterations replace
 *      usual kinds by others. But a loop some of whose iterations are much longer is none
 *      of equal steps: the levels of a multigrid cycle are not iterations. */
#include <string.h>

#include "core/size.h"
#include "dpd/dpd_main.h"

static const double least_share = 0.9;

/* The same of a loop that covers what follows its own begin. */
static const double least_since = 0.5;

/* Parts that repeat by chance cover less of the sequence: at most 15 % of random
 * sequences of four kinds or more. */
static const double least_cover = 0.2;

/* Iterations with other kinds of events have, in the mean, at most this multiple of the
 * events of iterations without: 2.2 times where particles are sorted, 3.2 and more in a
 * multigrid method. */
static const double lengths_most = 2.5;

size_t tsn_main_best(const tsn_main_search *s) {
  size_t best = TSANOM_NONE;
  for (size_t i = 0; i < s->loops; i++) {
    if (best == TSANOM_NONE || s->loop[i].reach > s->loop[best].reach) best = i;
  }
  return best;
}

bool tsn_main_is_late(const tsn_main_search *s, uint32_t kind, size_t best) {
  if (best == TSANOM_NONE) return false;
  size_t first = s->at[s->start[kind]];
  double left = tsn_main_time(s, s->n) - tsn_main_time(s, first);
  return left < least_since * s->loop[best].reach &&
         (double)(s->n - first) < least_share * (double)s->loop[best].events;
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
  if (one->reach < least_share * since || !contains(s, i, best)) return false;
  return one->reach >= least_since * most ||
         (double)one->events >= least_share * (double)s->loop[best].events;
}

/* Whether the usual kinds of two loops are nearly the same: also if one has one or two,
 * and the other one kind more for equal numbers of iterations of the first. */
static bool are_similar(tsn_main_search *s, size_t i, size_t k) {
  const uint64_t *a = s->set + i * s->words, *b = s->set + k * s->words;
  size_t differ = 0, smaller = tsn_smaller(s->loop[i].size, s->loop[k].size);
  for (size_t w = 0; w < s->words; w++) {
    differ += (size_t)__builtin_popcountll(a[w] ^ b[w]);
  }
  if (TSN_MAIN_NEAR * differ <= smaller) return true;
  return differ == 1 && s->loop[i].size < TSN_MAIN_NEAR && !s->loop[i].folds &&
         s->loop[k].size > s->loop[i].size &&
         tsn_main_has_equal_groups(s, &s->loop[i], &s->loop[k]);
}

/* Whether all iterations of a loop are much the same: those that have other kinds of
 * events are not much longer. One level of a multigrid method may have few more kinds
 * than the others, and has many more events. */
static bool is_even(const tsn_main_loop *loop) {
  const size_t *events = loop->events_by, *count = loop->by_others;
  return (double)events[1] * (double)count[0] <=
         lengths_most * (double)events[0] * (double)count[1];
}

/* Whether loop i begins before all others that have its usual kinds: as the program
 * enters it. */
static bool begins_first(const tsn_main_search *s, size_t i) {
  const uint64_t *set = s->set + i * s->words;
  for (size_t k = 0; k < s->loops; k++) {
    if (s->loop[k].first < s->loop[i].first &&
        !memcmp(set, s->set + k * s->words, s->words * sizeof *set)) {
      return false;
    }
  }
  return true;
}

/* Whether the iterations of loop i are those that loop k groups: they have nearly all of
 * its events, too. Time alone does not tell: an interruption between two runs of an inner
 * loop may seem to be in it. At least half of those
 * that are no near copies replace usual kinds by others. If there are such, loop k may
 * have many more kinds: every 20th step sorts the particles instead of exchanging some.
 * From another place on, a solver that is left in the middle of an iteration looks the
 * same. */
static bool is_grouped(tsn_main_search *s, size_t i, size_t k) {
  const tsn_main_loop *loop = &s->loop[i];
  if (!is_even(loop) || 2 * loop->replacing < loop->odd) return false;
  if ((double)loop->events < least_share * (double)s->loop[k].events) return false;
  if (are_similar(s, i, k)) return true;
  return loop->odd && contains(s, k, i) && begins_first(s, i);
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

/* Whether the best loop is likely chance. A short loop behind a long start of the program
 * is not: it has most of the events. */
static bool is_little(const tsn_main_search *s, size_t best) {
  const tsn_main_loop *loop = &s->loop[best];
  double time = tsn_main_time(s, s->n) - tsn_main_time(s, 0);
  if (s->options.active || s->options.anchor != TSANOM_NONE) return false;
  return loop->reach < least_cover * time &&
         (double)loop->events < least_cover * (double)s->n;
}

/* The outermost of the loops that cover enough, then the finest of those like it. */
size_t tsn_main_choose(tsn_main_search *s, size_t best) {
  size_t chosen = TSANOM_NONE;
  if (best == TSANOM_NONE || is_little(s, best)) return TSANOM_NONE;
  for (size_t i = 0; i < s->loops; i++) {
    if (!covers_enough(s, i, best)) continue;
    if (chosen == TSANOM_NONE || is_outer(&s->loop[i], &s->loop[chosen])) chosen = i;
  }
  for (size_t from = TSANOM_NONE; from != chosen;) {
    from = chosen;
    for (size_t i = 0; i < s->loops; i++) {
      if (!covers_enough(s, i, best) || !is_grouped(s, i, from)) continue;
      if (is_better(&s->loop[i], &s->loop[chosen])) chosen = i;
    }
  }
  return chosen;
}
