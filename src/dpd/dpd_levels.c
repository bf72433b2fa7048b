/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything follows from how many events of kind b are between two events of kind a, in a
 * segment of a, whatever the order and the number of other events is:
 *
 *   same level   a ~ b: b is in nearly all segments of a, and a in nearly all of b. A level
 *                is a block of the program. Its anchor is its first kind of those that occur
 *                as often as most of its kinds.
 *   entries      of each run of events of one level, the first one: a kind of its own. A
 *                block that consists of inner loops has no other kind that comes once.
 *   containment  a > b: b is in nearly all segments of a, and a fifth more often than a. Then
 *                a is the loop around b, or an optional part in the loop of b.
 *   regularity   decides between these two (dpd_bits.c): a is an option if most of what its
 *                segments repeat is of a level whose trip counts look like chance, or takes
 *                turns with another part in the iterations of that.
 *
 *     x (a b b b c) (a b b c) (a b b b b c) y        {a, c} > {b}; x, y are no level
 *
 * "Nearly all" are 9/10, so that lost and inserted events, and parts of an iteration that
 * are left out, change nothing.
 *
 * With K kinds, L levels and the events of a kind in ascending order, two kinds are compared
 * in O(events), most of them in a few steps, since nine tenths are demanded: O(K L n / K)
 * for the levels, and O(L n log n) for what they contain. */
#include "dpd/dpd_levels.h"

#include <string.h>

#include "core/size.h"
#include "core/sort.h"

static const double more = 1.2; /* a loop has more iterations than the one around */
static const double dominant = 2 / 3.; /* share of the repeated events of a level */
static const double doubt = 4;         /* bits */
enum { LARGE_PART = 2 };               /* times the kinds of the loop */

void tsn_levels_layout(tsn_arena *arena, size_t n, tsn_levels *s) {
  s->kind = tsn_arena_take(arena, 2 * TSN_LEVEL_KINDS, sizeof *s->kind);
  s->level = tsn_arena_take(arena, 2 * TSN_LEVEL_KINDS, sizeof *s->level);
  s->of = tsn_arena_take(arena, n, sizeof *s->of);
  s->at = tsn_arena_take(arena, n, sizeof *s->at);
  s->entry = tsn_arena_take(arena, n, sizeof *s->entry);
  s->contains = tsn_arena_take(arena, TSN_LEVELS, sizeof *s->contains);
  s->is_loop = tsn_arena_take(arena, TSN_LEVELS, sizeof *s->is_loop);
  s->regularity = tsn_arena_take(arena, TSN_LEVELS, sizeof *s->regularity);
  s->weight = tsn_arena_take(arena, TSN_LEVELS, sizeof *s->weight);
  tsn_trips_layout(arena, n, &s->trips);
}

void tsn_levels_start(tsn_levels *s, const uint32_t *event, size_t n, bool goes_on) {
  s->event = event;
  s->goes_on = goes_on;
  s->n = n;
  s->kinds = s->levels = 0;
  tsn_trips_clear(&s->trips, n);
}

/* In steps that double. */
size_t tsn_levels_gallop(const uint32_t *at, size_t count, size_t from, size_t least) {
  size_t step = 1, low = from, high = from;
  while (high < count && at[high] < least) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = tsn_smaller(high, count);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (at[middle] < least) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool is_longer(const tsn_level_kind *a, const tsn_level_kind *b) {
  return a->span != b->span ? a->span > b->span : a->at[0] < b->at[0];
}

static void sort_by_span(tsn_level_kind *values, size_t count);
TSN_HEAPSORT(sort_by_span, tsn_level_kind, is_longer)

static bool comes_first(const tsn_level_kind *a, const tsn_level_kind *b) {
  return a->at[0] < b->at[0];
}

static void sort_by_begin(tsn_level_kind *values, size_t count);
TSN_HEAPSORT(sort_by_begin, tsn_level_kind, comes_first)

static bool has_more_events(const tsn_level *a, const tsn_level *b) {
  return a->events != b->events ? a->events > b->events : a->order < b->order;
}

static void sort_by_events(tsn_level *values, size_t count);
TSN_HEAPSORT(sort_by_events, tsn_level, has_more_events)

/* Twice as many are kept until the shorter half goes, so that one costs O(log K). */
void tsn_levels_add(tsn_levels *s, const tsn_level_kind *kind) {
  if (s->kinds == 2 * TSN_LEVEL_KINDS) {
    sort_by_span(s->kind, s->kinds);
    s->kinds = TSN_LEVEL_KINDS;
  }
  s->kind[s->kinds] = *kind;
  s->kind[s->kinds].is_entry = false;
  s->kinds++;
}

/* Whether nearly all segments of a have an event of b. */
static bool is_in_nearly_all(const tsn_level_kind *a, const tsn_level_kind *b) {
  size_t segments = a->count - 1, missing = 0;
  for (size_t i = 0, k = 0; i < segments; i++) {
    k = tsn_levels_seek(b->at, b->count, k, a->at[i]);
    missing += k == b->count || b->at[k] >= a->at[i + 1];
    if (10 * missing > segments) return false;
  }
  return true;
}

static bool is_same_level(const tsn_level_kind *a, const tsn_level_kind *b) {
  size_t fewer = tsn_smaller(a->count, b->count), most = tsn_larger(a->count, b->count);
  return 10 * (fewer + 1) >= 9 * most && is_in_nearly_all(a, b) && is_in_nearly_all(b, a);
}

/* Put kind k into the first level that it belongs to, or into one of its own. */
static void place_kind(tsn_levels *s, size_t k) {
  tsn_level_kind *kind = &s->kind[k];
  size_t i = 0;
  while (i < s->levels && !is_same_level(&s->kind[s->level[i].first], kind)) i++;
  tsn_level *level = &s->level[i];
  kind->next = TSN_LEVEL_NONE;
  if (i == s->levels) {
    *level = (tsn_level){.first = (uint16_t)k, .order = (uint32_t)i};
    s->levels++;
  } else {
    s->kind[level->last].next = (uint16_t)k;
  }
  level->last = (uint16_t)k;
  if (kind->is_entry) return;
  level->kinds++;
  level->events += kind->count;
}

/* Note the level of each event. */
static void mark_events(tsn_levels *s) {
  memset(s->of, 0xff, s->n * sizeof *s->of);
  for (size_t i = 0; i < s->levels; i++) {
    for (uint16_t k = s->level[i].first; k != TSN_LEVEL_NONE; k = s->kind[k].next) {
      const tsn_level_kind *kind = &s->kind[k];
      for (size_t e = 0; !kind->is_entry && e < kind->count; e++) {
        s->of[kind->at[e]] = (uint16_t)i;
      }
    }
  }
}

/* Whether event i is the first one of a run of its level. */
static bool is_entry(const tsn_levels *s, size_t i) {
  return s->of[i] != TSN_LEVEL_NONE && (i == 0 || s->of[i - 1] != s->of[i]);
}

/* Whether a level is entered less often than its first kind comes. */
static bool has_entries(const tsn_levels *s, const tsn_level *level) {
  return level->entries >= TSN_LEVEL_LEAST &&
         more * level->entries < s->kind[level->first].count;
}

/* Add the entries of all levels as further kinds. */
static void add_entries(tsn_levels *s) {
  size_t levels = s->levels, before = s->kinds;
  uint32_t used = 0;
  mark_events(s);
  for (size_t i = 0; i < s->n; i++) {
    if (is_entry(s, i)) s->level[s->of[i]].entries++;
  }
  for (size_t i = 0; i < levels; i++) {
    tsn_level *level = &s->level[i];
    if (!has_entries(s, level)) continue;
    uint32_t event = s->kind[level->first].event;
    s->kind[s->kinds++] = (tsn_level_kind){.at = s->entry + used,
                                           .event = event,
                                           .previous = s->kind[level->first].previous,
                                           .is_entry = true};
    level->from = (uint32_t)s->kinds - 1;
    used += level->entries;
  }
  if (s->kinds == before) return;
  for (size_t i = 0; i < s->n; i++) {
    if (!is_entry(s, i) || !has_entries(s, &s->level[s->of[i]])) continue;
    tsn_level_kind *kind = &s->kind[s->level[s->of[i]].from];
    s->entry[(size_t)(kind->at - s->entry) + kind->count++] = (uint32_t)i;
  }
  for (size_t k = before; k < s->kinds; k++) place_kind(s, k);
}

/* Whether a kind of a level may be its anchor: entries only if it has nothing else. */
static bool may_begin(const tsn_levels *s, const tsn_level *level, uint16_t k) {
  return !level->kinds || !s->kind[k].is_entry;
}

/* The votes of a kind for a number of occurrences: the most for its own, and nearly as many for one
 * more or less. */
static size_t votes_for(uint32_t count, uint32_t own) {
  enum { NEARLY = 2 * TSN_LEVEL_KINDS };
  if (own == count) return NEARLY + 1;
  return own == count + 1 || own + 1 == count ? NEARLY : 0;
}

/* How often most kinds of a level occur, once more or less, as some come in the setup, too; of
 * equally many, what most occur exactly; then the larger number. */
static uint32_t usual_count(const tsn_levels *s, const tsn_level *level) {
  uint32_t best = 0;
  size_t best_votes = 0;
  for (uint16_t k = level->first; k != TSN_LEVEL_NONE; k = s->kind[k].next) {
    size_t votes = 0;
    for (uint16_t i = level->first; i != TSN_LEVEL_NONE; i = s->kind[i].next) {
      if (may_begin(s, level, i)) votes += votes_for(s->kind[k].count, s->kind[i].count);
    }
    if (!may_begin(s, level, k) || votes < best_votes) continue;
    if (votes > best_votes || s->kind[k].count > best) best = s->kind[k].count;
    best_votes = votes;
  }
  return best;
}

/* Whether most kinds of a level come behind the last event of kind k, or are that: the last
 * iteration of a loop that begins with k is complete. */
static bool is_begin(const tsn_levels *s, const tsn_level *level, uint16_t k) {
  uint32_t last = s->kind[k].at[s->kind[k].count - 1];
  size_t kinds = 0, behind = 0;
  for (uint16_t i = level->first; i != TSN_LEVEL_NONE; i = s->kind[i].next) {
    behind += s->kind[i].at[s->kind[i].count - 1] >= last;
    kinds++;
  }
  return 2 * behind > kinds;
}

/* The anchor: the first kind of those that occur as often as most of the level, or once more
 * or less, and begin a complete last iteration. If the stream goes on, the first one of those
 * that occur as often, or once more: the next iteration may have begun. */
static uint16_t anchor_of(const tsn_levels *s, const tsn_level *level) {
  uint32_t usual = usual_count(s, level);
  uint16_t as_often = TSN_LEVEL_NONE;
  for (uint16_t k = level->first; k != TSN_LEVEL_NONE; k = s->kind[k].next) {
    uint32_t count = s->kind[k].count;
    if (!may_begin(s, level, k) || count > usual + 1 || count + !s->goes_on < usual) {
      continue;
    }
    if (s->goes_on || is_begin(s, level, k)) return k;
    if (as_often == TSN_LEVEL_NONE && count == usual) as_often = k;
  }
  return as_often;
}

/* The events of a kind in [at, to); *next: the first from `at` on, then from `to` on. */
static size_t count_until(const tsn_level_kind *kind, size_t to, size_t *next) {
  size_t from = *next;
  *next = tsn_levels_seek(kind->at, kind->count, from, to);
  return *next - from;
}

/* The numbers of events of b in each segment of a. */
static void count_trips(tsn_levels *s, size_t a, size_t b) {
  const tsn_level_kind *x = tsn_level_anchor(s, a), *y = tsn_level_anchor(s, b);
  size_t from = tsn_levels_seek(y->at, y->count, 0, x->at[0]);
  tsn_trips_start(&s->trips);
  for (size_t i = 1; i < x->count; i++) {
    tsn_trips_add(&s->trips, (uint32_t)count_until(y, x->at[i], &from));
  }
}

double tsn_levels_regularity(tsn_levels *s, size_t a, size_t b) {
  double *known = &s->regularity[a][b];
  if (*known != *known) {
    count_trips(s, a, b);
    *known = tsn_trips_regularity(&s->trips);
  }
  return *known;
}

double tsn_levels_usual(tsn_levels *s, size_t a, size_t b) {
  count_trips(s, a, b);
  return tsn_trips_usual(&s->trips);
}

/* Whether b is a loop in a. */
static bool is_inside(const tsn_levels *s, size_t a, size_t b) {
  return tsn_level_contains(s, a, b) && s->is_loop[b] && tsn_level_is_real(s, b);
}

size_t tsn_levels_inside(const tsn_levels *s, size_t a, uint16_t *inside) {
  size_t count = 0;
  for (size_t b = 0; b < s->levels; b++) {
    bool is_outermost = is_inside(s, a, b);
    for (size_t c = 0; c < s->levels && is_outermost; c++) {
      is_outermost = !(is_inside(s, a, c) && tsn_level_contains(s, c, b));
    }
    if (is_outermost) inside[count++] = (uint16_t)b;
  }
  return count;
}

size_t tsn_levels_options(const tsn_levels *s, size_t a, uint16_t *options) {
  size_t count = 0;
  for (size_t b = 0; b < s->levels; b++) {
    if (tsn_level_contains(s, b, a) && !s->is_loop[b] && tsn_level_is_real(s, b)) {
      options[count++] = (uint16_t)b;
    }
  }
  return count;
}

/* Whether b has more events than a, but not from its first to its last one: it was there before the
 * loop too. */
static bool has_more_outside(const tsn_level_kind *a, const tsn_level_kind *b) {
  if (b->count <= a->count || is_in_nearly_all(b, a)) return false;
  size_t from = tsn_levels_seek(b->at, b->count, 0, a->at[0]);
  return tsn_levels_seek(b->at, b->count, from, a->at[a->count - 1]) - from <= a->count;
}

/* Which level is in nearly all segments of which other one, and what the levels weigh. */
static void find_containment(tsn_levels *s) {
  for (size_t a = 0; a < s->levels; a++) {
    const tsn_level_kind *x = tsn_level_anchor(s, a);
    double events = (double)s->level[a].events;
    s->contains[a] = 0;
    for (size_t b = 0; b < s->levels; b++) {
      const tsn_level_kind *y = tsn_level_anchor(s, b);
      s->regularity[a][b] = __builtin_nan("");
      bool has_more = y->count > more * x->count || has_more_outside(x, y);
      if (!has_more || !is_in_nearly_all(x, y)) continue;
      s->contains[a] |= UINT64_C(1) << b;
      events += (double)s->level[b].events;
    }
    s->weight[a] = events > 1 ? events : 1;
  }
}

size_t tsn_levels_kinds_within(const tsn_levels *s, size_t a) {
  size_t kinds = s->level[a].kinds;
  for (size_t b = 0; b < s->levels; b++) {
    if (tsn_level_contains(s, a, b)) kinds += s->level[b].kinds;
  }
  return kinds;
}

/* If nearly all segments of b have one event of a or of c, and those with a come in succession: the
 * number of such runs; else 0. Of two such parts one is in each iteration, as where a step sweeps in
 * x, then in z, and the next one the other way round. What only begins an inner loop has no successor. */
static size_t turns_of(const tsn_levels *s, size_t a, size_t c, size_t b) {
  const tsn_level_kind *x = tsn_level_anchor(s, a), *z = tsn_level_anchor(s, c);
  const tsn_level_kind *y = tsn_level_anchor(s, b);
  size_t both = x->count + z->count, segments = y->count - 1, others = 0, runs = 0;
  if (10 * both < 9 * segments || 9 * both > 10 * (segments + 2)) return 0;
  size_t i = tsn_levels_seek(x->at, x->count, 0, y->at[0]), before = 0;
  size_t k = tsn_levels_seek(z->at, z->count, 0, y->at[0]);
  for (size_t e = 1; e <= segments && 10 * others <= segments; e++) {
    size_t count = count_until(x, y->at[e], &i);
    others += count + count_until(z, y->at[e], &k) != 1;
    runs += count && !before;
    before = count;
  }
  return 10 * others <= segments && 3 * runs <= 2 * x->count ? runs : 0;
}

/* The same of any c. */
static size_t turns_in(const tsn_levels *s, size_t a, size_t b) {
  size_t turns = 0;
  for (size_t c = 0; c < s->levels && !turns; c++) {
    if (c != a && tsn_level_contains(s, c, b) && tsn_level_is_real(s, c)) {
      turns = turns_of(s, a, c, b);
    }
  }
  return turns;
}

/* Whether a looks like an optional part in the loop of b. A part of many more kinds than the
 * loop has is unlikely: then its trip counts must look like chance beyond doubt. */
static bool is_option(tsn_levels *s, size_t a, size_t b) {
  bool is_large = s->level[a].kinds >= LARGE_PART * tsn_levels_kinds_within(s, b);
  return tsn_levels_regularity(s, a, b) <= (is_large ? -doubt : 0);
}

/* Parts that take turns count as what nearly all iterations have. */
static void add_part(tsn_levels *s, size_t b, size_t part, size_t turns) {
  s->level[b].turns = turns;
  s->level[b].in_turns += s->level[part].events;
  s->weight[b] += (double)s->level[part].events;
}

/* Whether a is a loop around what it contains, and no optional part of most of it. */
static bool is_loop(tsn_levels *s, size_t a) {
  uint16_t inside[TSN_LEVELS];
  double total = 0;
  size_t count = tsn_levels_inside(s, a, inside);
  for (size_t i = 0; i < count; i++) total += s->weight[inside[i]];
  for (size_t i = 0; i < count; i++) {
    size_t b = inside[i];
    if (s->weight[b] <= dominant * total) continue;
    size_t turns = turns_in(s, a, b);
    if (turns) add_part(s, b, a, turns);
    if (turns || is_option(s, a, b)) return false;
  }
  return true;
}

/* Inner levels first, since those around them depend on them. */
static void find_loops(tsn_levels *s) {
  bool is_known[TSN_LEVELS] = {false};
  memset(s->is_loop, 0, TSN_LEVELS * sizeof *s->is_loop);
  for (size_t i = 0; i < s->levels; i++) {
    size_t next = s->levels;
    for (size_t a = 0; a < s->levels; a++) {
      if (!is_known[a] && (next == s->levels || tsn_level_anchor(s, a)->count >
                                                    tsn_level_anchor(s, next)->count)) {
        next = a;
      }
    }
    is_known[next] = true;
    s->is_loop[next] = is_loop(s, next);
  }
}

void tsn_levels_find(tsn_levels *s) {
  if (s->kinds > TSN_LEVEL_KINDS) {
    sort_by_span(s->kind, s->kinds);
    s->kinds = TSN_LEVEL_KINDS;
  }
  sort_by_begin(s->kind, s->kinds);
  for (size_t k = s->kinds, i = 0; i < k; i++) place_kind(s, i);
  add_entries(s);
  sort_by_events(s->level, s->levels);
  s->levels = tsn_smaller(s->levels, TSN_LEVELS);
  mark_events(s);
  for (size_t i = 0; i < s->levels; i++) {
    s->level[i].anchor = anchor_of(s, &s->level[i]);
  }
  find_containment(s);
  find_loops(s);
}
