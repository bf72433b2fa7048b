/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the levels (dpd_levels.c) is the main loop.
 *
 * A loop explains what its iterations repeat: its own level, those in it, and the parts that
 * one of these has by chance. Those parts come in one order: with n_ij iterations that have
 * both i and j, and k_ij of them in the rarer order,
 *
 *   disorder = sum (k_ij + 1/2) / sum (n_ij + 1).
 *
 * The evidence for a loop, in bits, is what its order, that of the kinds of its level, and
 * the regular trip counts in it save against chance. Random segments of fixed pieces
 * compress as well as a loop; order and containment tell them apart.
 *
 *   1. A loop may be the main loop if it explains 7/10 of what is between its first and last
 *      event and a fifth of all, its disorder is at most a fifth, and its evidence 10 bits,
 *      unless it has 9/10 of the events. Fewer than 8 iterations with loops in them take a fifth
 *      of the time.
 *   2. Of those that explain 9/10 of what the best one explains, in time, the outermost. One
 *      around the best one may explain as much of the events instead, or half of them, if a
 *      quarter of the events in it come nowhere else: a solver after its setup.
 *   3. But a loop that only groups equal numbers of iterations of another one, as an output
 *      in each tenth step does, is not the main loop: the steps are. The same holds for what comes
 *      in the middle of each tenth step, or instead of a part of it.
 *   4. If other loops come in few turns between its iterations, it is an inner loop of a cycle
 *      that was seen only a few times: there is no main loop, unless more may come.
 *
 *        (a b) (a b) (a b) (c b) (c b) (c b)  (a b) (a b) (a b) (c b) (c b) (c b)
 *
 * If there is none, loops that explain half of what is between their ends are candidates. */
#include <string.h>

#include "core/logarithm.h"
#include "core/size.h"
#include "dpd/dpd_main.h"

static const double least_inside = .7, least_share = .2, least_of_best = .9;
static const double least_of_inner = .5;
static const double most_disorder = .2, nearly = .9;
static const double least_evidence = 10 - 1e-6; /* sums of logarithms are rounded */
static const double least_of_pairs = .8;        /* share that a loop of pairs explains */
static const double doubt = 4;                  /* bits: what may be a loop is listed */
static const double least_of_candidate =
    .5; /* what it explains from its first to last event */

/* What groups another loop has this share of its events from it, as many of its iterations
 * in nearly all of its own, or all but one, and a quarter of its kinds more, or one. Of one or
 * two kinds a smaller share, as that one more takes: what is less alternates with another loop. */
static const double least_grouped = .9, least_short_grouped = .7;
static const double least_group = 4.2, least_short_group = 2.5;
enum { GROUP_KINDS = 4, SHORT = 3 };

enum { FEW = 4, LEAST_CLEAR = 8 };

/* Turns of another loop: how many, iterations in each, segments of the loop for each, and the
 * events in all of them. */
enum { LEAST_TURNS = 2, MOST_TURNS = 8, IN_TURN = 3, BETWEEN_TURNS = 4 };
static const double least_in_turns = .2;

enum { PARTS = 16 }; /* whose order is looked at, of the most events */

/* The length that half of the segments of a level have at least. */
static uint32_t usual_length(tsn_main_search *s, size_t a) {
  const tsn_level_kind *x = tsn_level_anchor(&s->levels, a);
  tsn_trips *lengths = &s->levels.trips;
  tsn_trips_start(lengths);
  for (size_t i = 1; i < x->count; i++) {
    tsn_trips_add(lengths, x->at[i] - x->at[i - 1]);
  }
  return tsn_trips_median(lengths);
}

/* Whether level p is around a, or around a level in a. */
static bool is_around_part(const tsn_levels *l, size_t a, size_t p) {
  return (l->contains[p] & tsn_level_family(l, a)) != 0;
}

uint64_t tsn_main_explained(const tsn_levels *l, size_t a) {
  uint64_t known = tsn_level_family(l, a);
  for (size_t p = 0; p < l->levels; p++) {
    known |= (uint64_t)is_around_part(l, a, p) << p;
  }
  return known;
}

/* Whether nothing shows that a loop has ended: its last iteration began two usual ones ago
 * at most. */
static bool is_active(const tsn_main_search *s, const tsn_level_kind *x, uint32_t usual) {
  uint32_t last = x->at[x->count - 1], before = last - x->at[x->count - 2];
  return s->n - last <= 2 * (size_t)tsn_larger(usual, before);
}

/* The events before its first anchor that belong to the first iteration of a loop: an inner
 * loop with which it begins, if that is a small part of its kinds. Otherwise these events
 * may as well be steps, before the first output of several ones. */
static uint32_t begun_before(const tsn_levels *l, size_t a, uint32_t usual) {
  size_t inside = tsn_levels_kinds_within(l, a) - l->level[a].kinds;
  uint32_t first = tsn_level_anchor(l, a)->at[0];
  return 2 * inside > l->level[a].kinds ? 0 : (uint32_t)tsn_smaller(first, usual);
}

static double time_of_events(const tsn_main_search *s, const uint32_t *at, size_t count) {
  double time = 0;
  for (size_t i = 0; i < count; i++) {
    time += tsn_main_time(s, at[i] + 1) - tsn_main_time(s, at[i]);
  }
  return time;
}

static void sum_times(tsn_main_search *s) {
  for (size_t k = 0; k < s->levels.kinds; k++) {
    tsn_level_kind *kind = &s->levels.kind[k];
    if (!kind->is_entry) kind->time = time_of_events(s, kind->at, kind->count);
  }
}

/* Count the events of a kind from number `first` to `end`, and their time; of all but these
 * if they are the fewer ones. */
static size_t count_between(const tsn_main_search *s, const tsn_level_kind *kind,
                            size_t first, size_t end, double *time) {
  const uint32_t *at = kind->at;
  size_t from = tsn_levels_seek(at, kind->count, 0, first), to = kind->count;
  if (at[to - 1] >= end) to = tsn_levels_seek(at, to, from, end);
  bool is_most = 2 * (to - from) > kind->count;
  *time += is_most ? kind->time - time_of_events(s, at, from) -
                         time_of_events(s, at + to, kind->count - to)
                   : time_of_events(s, at + from, to - from);
  return to - from;
}

/* The same of all kinds of a set of levels. */
static size_t count_known(const tsn_main_search *s, uint64_t known, size_t first,
                          size_t end, double *time) {
  const tsn_levels *l = &s->levels;
  size_t count = 0;
  for (size_t p = 0; p < l->levels; p++) {
    if (!(known >> p & 1)) continue;
    for (uint16_t k = l->level[p].first; k != TSN_LEVEL_NONE; k = l->kind[k].next) {
      if (!l->kind[k].is_entry) count += count_between(s, &l->kind[k], first, end, time);
    }
  }
  return count;
}

/* The last event in [first, end) of a set of levels; none: `first`. */
static size_t last_known(const tsn_levels *l, uint64_t known, size_t first, size_t end) {
  size_t last = end - 1;
  while (last > first && (l->of[last] == TSN_LEVEL_NONE || !(known >> l->of[last] & 1))) {
    last--;
  }
  return last;
}

/* By how much what follows event `last` of a loop, its last one, is longer than each of its iterations:
 * that is what the program does behind the loop. */
static double time_behind(const tsn_main_search *s, const tsn_level_kind *x,
                          size_t last) {
  double behind = tsn_main_time(s, last + 1) - tsn_main_time(s, last), longest = 0;
  for (size_t i = 1; i < x->count && longest < behind; i++) {
    double iteration = tsn_main_time(s, x->at[i]) - tsn_main_time(s, x->at[i - 1]);
    if (iteration > longest) longest = iteration;
  }
  return longest < behind ? behind - longest : 0;
}

/* Where a loop is, and how much of the events and of the time it explains. */
static tsn_main_extent measure(tsn_main_search *s, size_t a) {
  const tsn_levels *l = &s->levels;
  const tsn_level_kind *x = tsn_level_anchor(l, a);
  tsn_main_extent e = {.first = x->at[0], .usual = usual_length(s, a)};
  double time = 0, all = tsn_main_time(s, s->n) - tsn_main_time(s, 0);
  e.end = (uint32_t)tsn_smaller(s->n, (size_t)x->at[x->count - 1] + e.usual);
  uint64_t known = tsn_main_explained(l, a);
  size_t begun = begun_before(l, a, e.usual), before = 0;
  size_t inside = count_known(s, known, e.first, e.end, &time);
  time -= time_behind(s, x, last_known(l, known, e.first, e.end));
  if (begun) before = count_known(s, known, e.first - begun, e.first, &time);
  e.inside = (double)inside / (double)tsn_larger(1, e.end - e.first);
  e.events = (double)(before + inside) / (double)s->n;
  e.time = all > 0 ? time / all : e.events;
  e.is_good = e.inside >= least_inside;
  if (s->options.active && !is_active(s, x, e.usual)) e.is_good = false;
  return e;
}

/* The order of first events in the iterations of a loop. */
typedef struct {
  size_t parts;
  uint16_t part[2 * TSN_LEVELS];
  uint32_t both[PARTS][PARTS],
      before[PARTS][PARTS]; /* iterations with i and j; i first */
} order;

/* Add one iteration: `first`: of each part, UINT32_MAX: it lacks. */
static void add_order(order *o, const uint32_t *first) {
  for (size_t i = 0; i < o->parts; i++) {
    for (size_t j = 0; j < i && first[i] != UINT32_MAX; j++) {
      if (first[j] == UINT32_MAX) continue;
      o->both[i][j]++;
      o->before[i][j] += first[i] < first[j];
    }
  }
}

static void find_order(const tsn_levels *l, size_t a, order *o) {
  const tsn_level_kind *x = tsn_level_anchor(l, a);
  size_t next[PARTS] = {0};
  memset(o, 0, sizeof *o);
  o->parts = tsn_levels_inside(l, a, o->part);
  o->parts += tsn_levels_options(l, a, o->part + o->parts);
  o->parts = tsn_smaller(o->parts, PARTS);
  for (size_t i = 0; i + 1 < x->count; i++) {
    uint32_t first[PARTS];
    for (size_t k = 0; k < o->parts; k++) {
      const tsn_level_kind *y = tsn_level_anchor(l, o->part[k]);
      next[k] = tsn_levels_seek(y->at, y->count, next[k], x->at[i]);
      bool has = next[k] < y->count && y->at[next[k]] <= x->at[i + 1];
      first[k] = has ? y->at[next[k]] : UINT32_MAX;
    }
    add_order(o, first);
  }
}

/* The share of pairs in the rarer order, with half an iteration each way. Parts that are
 * rarely in the same iteration tell nothing. */
static double disorder(const order *o) {
  double rare = 0, total = 0;
  for (size_t i = 0; i < o->parts; i++) {
    for (size_t j = 0; j < i; j++) {
      uint32_t both = o->both[i][j], before = o->before[i][j];
      if (both < FEW) continue;
      rare += (double)tsn_smaller(before, both - before) + .5;
      total += both + 1.;
    }
  }
  return total > 0 ? rare / total : 0;
}

/* The bits that a common order saves. The p (p - 1) / 2 pairs of p parts depend on each
 * other: an order of them all takes log2 p! bits. */
static double bits_of_order(const order *o) {
  double bits = 0, p = (double)o->parts;
  if (o->parts < 2) return 0;
  for (size_t i = 0; i < o->parts; i++) {
    for (size_t j = 0; j < i; j++) {
      uint32_t both = o->both[i][j];
      if (both) bits += both - tsn_bits_choices(both, o->before[i][j]);
    }
  }
  return bits * tsn_log2_gamma(p + 1) / (p * (p - 1) / 2);
}

/* The bits that the order of the k kinds of a level saves: of n events each there are
 * (k n)! / n!^k orders. The kinds have to be named. */
static double bits_of_level(const tsn_levels *l, size_t a) {
  double k = l->level[a].kinds, n = tsn_level_anchor(l, a)->count;
  if (k < 2) return 0;
  return tsn_log2_gamma(k * n + 1) - k * tsn_log2_gamma(n + 1) -
         k * tsn_log2((double)l->kinds + 1);
}

/* The same of the anchor and one kind that comes once between two of it, for each kind of
 * level b: it was there before the loop too. */
static double bits_of_once(tsn_levels *l, size_t a, size_t b) {
  double n = tsn_level_anchor(l, a)->count, kinds = l->level[b].kinds;
  if (tsn_levels_usual(l, a, b) < nearly || tsn_trips_median(&l->trips) != 1) return 0;
  return kinds * (tsn_log2_gamma(2 * n + 1) - 2 * tsn_log2_gamma(n + 1) -
                  tsn_log2((double)l->kinds + 1));
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* The cheap parts first: no part takes away from those before it. */
static bool has_evidence(tsn_levels *l, size_t a, const order *o) {
  uint16_t part[TSN_LEVELS];
  double bits = bits_of_order(o) + larger(0, bits_of_level(l, a));
  size_t options = tsn_levels_options(l, a, part);
  for (size_t i = 0; i < options && bits < least_evidence; i++) {
    bits += larger(0, bits_of_level(l, part[i]));
  }
  size_t inside = tsn_levels_inside(l, a, part);
  for (size_t i = 0; i < inside && bits < least_evidence; i++) {
    bits += larger(0, bits_of_once(l, a, part[i]));
    if (bits < least_evidence) bits += larger(0, tsn_levels_regularity(l, a, part[i]));
  }
  return bits >= least_evidence;
}

/* Whether a level may be the main loop. */
static bool is_good(tsn_main_search *s, size_t a, bool has_pairs) {
  tsn_levels *l = &s->levels;
  const tsn_main_extent *e = &s->extent[a];
  order o;
  if (!l->is_loop[a] || !tsn_level_is_real(l, a) || !e->is_good) return false;
  find_order(l, a, &o);
  if (disorder(&o) > most_disorder) return false;
  if (has_pairs && bits_of_level(l, a) < least_evidence) return false;
  size_t own = l->level[a].events + l->level[a].in_turns;
  return (double)own >= nearly * (e->end - e->first) || has_evidence(l, a, &o);
}

/* Whether a loop that is looked at explains so little that it is likely chance. */
static bool is_little(const tsn_main_search *s, const tsn_main_extent *e,
                      bool has_pairs) {
  double least = has_pairs ? least_of_pairs : s->options.active ? 0 : least_share;
  return larger(e->time, e->events) < least;
}

/* Whether it is not clear which of the loops in a loop is the main one: that follows from their times,
 * and these are a small part of all, of a few iterations. */
static bool is_unclear(const tsn_main_search *s, size_t a) {
  uint16_t inside[TSN_LEVELS];
  return !s->options.active && s->extent[a].time < least_share &&
         tsn_level_anchor(&s->levels, a)->count < LEAST_CLEAR &&
         tsn_levels_inside(&s->levels, a, inside) != 0;
}

/* Whether the kinds of level p are parts of the iterations of a. */
static bool is_part(const tsn_levels *l, size_t a, size_t p) {
  return p == a || tsn_level_contains(l, a, p) ||
         (!l->is_loop[p] && is_around_part(l, a, p));
}

/* Whether an event that iterations of b have once comes in [from, to): what is before it is in the
 * middle of an iteration. */
static bool goes_on(const tsn_levels *l, size_t b, size_t from, size_t to) {
  uint32_t usual = tsn_level_anchor(l, b)->count;
  for (uint16_t k = l->level[b].first; k != TSN_LEVEL_NONE; k = l->kind[k].next) {
    const tsn_level_kind *kind = &l->kind[k];
    bool is_once = kind->count + 1 >= usual && kind->count <= usual + 1;
    if (kind->is_entry && tsn_level_is_real(l, b)) continue;
    if ((kind->is_entry || is_once) && tsn_level_comes_in(kind, from, to)) return true;
  }
  return false;
}

/* Whether [from, to) has all kinds of b. */
static bool is_complete(const tsn_levels *l, size_t b, size_t from, size_t to) {
  uint16_t k = l->level[b].first;
  while (k != TSN_LEVEL_NONE && tsn_level_comes_in(&l->kind[k], from, to))
    k = l->kind[k].next;
  return k == TSN_LEVEL_NONE;
}

/* Whether it is known where the iterations of b begin: kinds that came earlier than its anchor are
 * of the setup too, since there their first segment is no iteration. */
static bool is_begin_known(const tsn_levels *l, size_t b) {
  for (uint16_t k = l->level[b].first; k != l->level[b].anchor; k = l->kind[k].next) {
    const tsn_level_kind *kind = &l->kind[k];
    if (is_complete(l, b, kind->at[0], kind->at[1])) return false;
  }
  return true;
}

/* What comes in the iterations of a loop is no loop around it. */
typedef struct {
  bool is_known; /* where the iterations begin: what is in the middle of them counts */
  bool replaces; /* what comes in one that lacks a part counts */
} within;

/* Whether nearly all events x come so in the iterations of b. */
static bool come_within(const tsn_levels *l, const tsn_level_kind *x, size_t b,
                        within how) {
  const tsn_level_kind *y = tsn_level_anchor(l, b);
  size_t others = 0, all = 0;
  for (size_t i = 0, next = 0; i < x->count && 10 * others <= x->count; i++) {
    next = tsn_levels_seek(y->at, y->count, next, x->at[i]);
    if (next == y->count && i + 1 == x->count) break;
    size_t from = next ? y->at[next - 1] : 0, to = next < y->count ? y->at[next] : l->n;
    others += !(how.is_known && goes_on(l, b, x->at[i], to)) &&
              !(how.replaces && !is_complete(l, b, from, to));
    all++;
  }
  return 10 * others <= all;
}

/* Whether a kind of a comes in the middle of the iterations of b, or instead of a part of them if b
 * is most of a: an inner loop may end in the middle of its last iteration. */
static bool comes_within(const tsn_levels *l, size_t a, size_t b) {
  within how = {.is_known = is_begin_known(l, b),
                .replaces = l->weight[b] >= least_grouped * l->weight[a]};
  uint16_t k = l->level[a].first;
  while (k != TSN_LEVEL_NONE && !come_within(l, &l->kind[k], b, how)) k = l->kind[k].next;
  return k != TSN_LEVEL_NONE;
}

/* The kinds of b and of the loops in it; *further: those that a has besides. */
static size_t count_kinds(const tsn_levels *l, size_t a, size_t b, size_t *further) {
  size_t own = 0;
  *further = 0;
  for (size_t p = 0; p < l->levels; p++) {
    if (is_part(l, b, p)) {
      own += l->level[p].kinds;
    } else if (is_part(l, a, p)) {
      *further += l->level[p].kinds;
    }
  }
  return own;
}

/* Whether nearly all iterations of a have the usual number of those of b, by 1/64: an output comes
 * in each second of a simulated time whose steps differ. */
static bool are_equal(tsn_levels *l, size_t a, size_t b, double others) {
  double segments = tsn_level_anchor(l, a)->count - 1.;
  return segments * (1 - tsn_levels_usual(l, a, b)) <=
         larger(others, (1 - nearly) * segments);
}

/* Whether each iteration of a has a turn or two of the parts of b, down and up in a multigrid: it is
 * their cycle. */
static bool has_turns(const tsn_levels *l, size_t a, size_t b) {
  size_t turns = l->level[b].turns;
  return turns && turns <= 2 * (size_t)tsn_level_anchor(l, a)->count;
}

/* Whether a only groups equal numbers of iterations of b. What comes in the middle of these
 * is no loop around them, whatever its size is: a mesh is adapted in each fifth step. */
static bool groups(tsn_levels *l, size_t a, size_t b) {
  size_t further, own = count_kinds(l, a, b, &further);
  bool is_short = own < SHORT;
  double ratio = (double)tsn_level_anchor(l, b)->count / tsn_level_anchor(l, a)->count;
  if (ratio < (is_short ? least_short_group : least_group)) return false;
  if (comes_within(l, a, b)) return true;
  if (further > tsn_larger(1, own / GROUP_KINDS) || has_turns(l, a, b)) return false;
  double least = is_short ? least_short_grouped : least_grouped;
  return l->weight[b] >= least * l->weight[a] && are_equal(l, a, b, 1.5);
}

/* Whether it groups iterations that have one kind and that only times tell (dpd_main_fold.c): each
 * exchange in one counts as a kind, of which a may have a third more. One group may be of the setup. */
static bool groups_folded(tsn_main_search *s, size_t a, size_t b) {
  tsn_levels *l = &s->levels;
  const tsn_level_kind *y = tsn_level_anchor(l, b);
  size_t further, phase;
  if (l->level[b].kinds != 1 || tsn_levels_kinds_within(l, b) != 1 ||
      l->weight[b] < least_grouped * l->weight[a] || !are_equal(l, a, b, 2)) {
    return false;
  }
  (void)count_kinds(l, a, b, &further);
  size_t every = tsn_main_fold(s, y->at, y->count, &phase);
  double ratio = (double)y->count / (double)every / tsn_level_anchor(l, a)->count;
  return every > 1 && ratio >= least_group && further <= tsn_larger(1, every / 3);
}

/* The loop that explains most of the time; TSN_LEVEL_NONE. */
static uint16_t find_best(const tsn_main_search *s) {
  uint16_t best = TSN_LEVEL_NONE;
  for (size_t a = 0; a < s->levels.levels; a++) {
    const tsn_main_extent *e = &s->extent[a];
    if (!e->is_good || (best != TSN_LEVEL_NONE && e->time <= s->extent[best].time))
      continue;
    best = (uint16_t)a;
  }
  return best;
}

/* Whether a quarter of the events in loop a are of kinds that come only from its begin to its
 * end: what is before and after it is another part of the program, although some of its kinds
 * come there too. */
static bool begins_most(const tsn_main_search *s, size_t a) {
  const tsn_levels *l = &s->levels;
  const tsn_main_extent *e = &s->extent[a];
  size_t all = 0, only = 0;
  for (size_t b = 0; b < l->levels; b++) {
    if (!tsn_level_contains(l, a, b)) continue;
    const tsn_level_kind *y = tsn_level_anchor(l, b);
    size_t first = tsn_levels_seek(y->at, y->count, 0, e->first);
    size_t count = tsn_levels_seek(y->at, y->count, first, e->end) - first;
    all += l->level[b].events;
    only += 50 * (y->count - count) <= y->count ? l->level[b].events : 0;
  }
  return 4 * only > all;
}

/* Whether loop a explains nearly as much as the best one. The program may be busy for long
 * behind the first event of a loop in it: then it explains as many of the events. */
static bool explains_enough(const tsn_main_search *s, size_t a, size_t best) {
  const tsn_main_extent *e = &s->extent[a], *most = &s->extent[best];
  return e->time >= least_of_best * most->time ||
         (tsn_level_contains(&s->levels, a, best) &&
          (e->events >= least_of_best * most->events ||
           (e->events >= least_of_inner * most->events && begins_most(s, a))));
}

/* The outermost of those that explain enough. */
static uint16_t choose_outermost(const tsn_main_search *s) {
  const tsn_levels *l = &s->levels;
  uint16_t chosen = TSN_LEVEL_NONE, best = find_best(s);
  for (size_t a = 0; a < l->levels && best != TSN_LEVEL_NONE; a++) {
    if (!s->extent[a].is_good || !explains_enough(s, a, best)) continue;
    uint32_t count = tsn_level_anchor(l, a)->count;
    uint32_t least = chosen == TSN_LEVEL_NONE ? 0 : tsn_level_anchor(l, chosen)->count;
    if (chosen == TSN_LEVEL_NONE || count < least ||
        (count == least && s->extent[a].time > s->extent[chosen].time)) {
      chosen = (uint16_t)a;
    }
  }
  return chosen;
}

/* The loop in a that a only groups, of the most events; TSN_LEVEL_NONE. */
static uint16_t grouped_by(tsn_main_search *s, size_t a) {
  tsn_levels *l = &s->levels;
  uint16_t found = TSN_LEVEL_NONE;
  for (size_t b = 0; b < l->levels; b++) {
    if (!tsn_level_contains(l, a, b) || !l->is_loop[b] ||
        !(groups(l, a, b) || groups_folded(s, a, b)))
      continue;
    if (found == TSN_LEVEL_NONE || l->weight[b] > l->weight[found] ||
        (l->weight[b] == l->weight[found] &&
         tsn_level_anchor(l, b)->count < tsn_level_anchor(l, found)->count)) {
      found = (uint16_t)b;
    }
  }
  return found;
}

/* The events that loop p takes in few turns between the iterations of a, beyond those of usual
 * iterations; 0: it takes none, or many. */
static size_t events_in_turns(const tsn_main_search *s, size_t a, size_t p) {
  const tsn_main_extent *e = &s->extent[a];
  const tsn_level_kind *x = tsn_level_anchor(&s->levels, a);
  const tsn_level_kind *y = tsn_level_anchor(&s->levels, p);
  size_t from = tsn_levels_seek(y->at, y->count, 0, x->at[0]), turns = 0, events = 0;
  size_t end = tsn_levels_seek(y->at, y->count, from, e->end);
  for (size_t i = from, segment = 0, before = 0; i < end; i++, before = segment) {
    segment = tsn_levels_seek(x->at, x->count, segment, y->at[i]);
    if (segment == before) continue;
    size_t to = segment < x->count ? x->at[segment] : e->end;
    events += tsn_larger(to - x->at[segment - 1], e->usual) - e->usual;
    turns++;
  }
  bool are_few = turns >= LEAST_TURNS && turns <= MOST_TURNS &&
                 end - from >= IN_TURN * turns && x->count >= BETWEEN_TURNS * turns;
  return are_few ? events : 0;
}

/* Whether a is an inner loop of a cycle that was seen only a few times: another loop, neither
 * around nor in it, takes turns with it. */
static bool is_in_few(const tsn_main_search *s, size_t a) {
  const tsn_levels *l = &s->levels;
  const tsn_main_extent *e = &s->extent[a];
  double least = least_in_turns * (e->end - e->first);
  for (size_t p = 0; p < l->levels; p++) {
    bool is_apart = !(tsn_level_family(l, a) >> p & 1) && !tsn_level_contains(l, p, a);
    if (is_apart && tsn_level_is_real(l, p) &&
        (double)events_in_turns(s, a, p) >= least && !comes_within(l, p, a)) {
      return true;
    }
  }
  return false;
}

/* Whether level a is listed, or, as the same relation, another one that begins at the same place: an
 * inner loop and its entries do. */
static bool is_related(const tsn_main_search *s, size_t a, int32_t relation) {
  uint32_t event = tsn_level_anchor(&s->levels, a)->event;
  for (size_t i = 0; i < s->relations; i++) {
    if (s->related[i] == a ||
        (s->relation[i] == relation &&
         tsn_level_anchor(&s->levels, s->related[i])->event == event)) {
      return true;
    }
  }
  return false;
}

static void relate(tsn_main_search *s, size_t a, int32_t relation) {
  if (s->relations == TSANOM_DPD_RELATED) return;
  s->related[s->relations] = (uint16_t)a;
  s->relation[s->relations++] = relation;
}

/* Whether level a may be a loop around the main loop. */
static bool may_be_around(tsn_main_search *s, size_t a) {
  return tsn_level_contains(&s->levels, a, s->chosen) &&
         (s->extent[a].is_good ||
          (s->extent[a].inside >= nearly &&
           tsn_levels_regularity(&s->levels, a, s->chosen) > -doubt));
}

/* The level that is not yet listed and has `wanted`, of the greatest `value`. */
static void relate_best(tsn_main_search *s, int32_t relation,
                        bool (*wanted)(tsn_main_search *, size_t),
                        double (*value)(const tsn_main_search *, size_t)) {
  size_t best = s->levels.levels;
  for (size_t a = 0; a < s->levels.levels; a++) {
    if (a == s->chosen || is_related(s, a, relation) || !wanted(s, a)) continue;
    if (best == s->levels.levels || value(s, a) > value(s, best)) best = a;
  }
  if (best < s->levels.levels) relate(s, best, relation);
}

static bool is_in_it(tsn_main_search *s, size_t a) {
  return tsn_level_contains(&s->levels, s->chosen, a);
}

static bool is_beside(tsn_main_search *s, size_t a) {
  return s->extent[a].is_good && !tsn_level_contains(&s->levels, a, s->chosen) &&
         !is_in_it(s, a);
}

static double count_of(const tsn_main_search *s, size_t a) {
  return tsn_level_anchor(&s->levels, a)->count;
}

static double weight_of(const tsn_main_search *s, size_t a) {
  return s->levels.weight[a];
}

static double time_of(const tsn_main_search *s, size_t a) {
  return s->extent[a].time;
}

/* List up to two loops around the main loop, the next ones first, one beside it, and as
 * many in it as still fit. */
static void list_related(tsn_main_search *s) {
  for (int i = 0; i < 2; i++) {
    relate_best(s, TSANOM_DPD_AROUND, may_be_around, count_of);
  }
  relate_best(s, TSANOM_DPD_BESIDE, is_beside, time_of);
  for (int i = 0; i < TSANOM_DPD_RELATED; i++) {
    relate_best(s, TSANOM_DPD_INSIDE, is_in_it, weight_of);
  }
}

static bool is_candidate(tsn_main_search *s, size_t a) {
  const tsn_main_extent *e = &s->extent[a];
  return s->levels.is_loop[a] && tsn_level_is_real(&s->levels, a) &&
         e->inside >= least_of_candidate && !is_little(s, e, false);
}

void tsn_main_list_candidates(tsn_main_search *s) {
  for (int i = 0; i < TSANOM_DPD_RELATED; i++) {
    relate_best(s, TSANOM_DPD_CANDIDATE, is_candidate, time_of);
  }
}

void tsn_main_choose(tsn_main_search *s, bool has_pairs) {
  tsn_levels *l = &s->levels;
  s->chosen = TSN_LEVEL_NONE;
  s->relations = 0;
  sum_times(s);
  for (size_t a = 0; a < l->levels; a++) {
    s->extent[a] = measure(s, a);
    s->extent[a].is_good = is_good(s, a, has_pairs);
  }
  uint16_t outer = choose_outermost(s);
  if (outer == TSN_LEVEL_NONE || is_little(s, &s->extent[outer], has_pairs) ||
      is_unclear(s, outer)) {
    return;
  }
  for (uint16_t a = outer; a != TSN_LEVEL_NONE; a = grouped_by(s, a)) s->chosen = a;
  if (!s->options.active && is_in_few(s, s->chosen)) {
    s->chosen = TSN_LEVEL_NONE;
    return;
  }
  if (s->chosen != outer) relate(s, outer, TSANOM_DPD_AROUND);
  list_related(s);
}
