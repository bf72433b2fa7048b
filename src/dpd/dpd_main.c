/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of a sequence of events whose iterations may differ: in the trip counts
 * of inner loops, and in parts that only some iterations have.
 *
 *   kinds of events -> levels (dpd_levels.c) -> main loop (dpd_main_choose.c) -> iterations
 *
 * If there is none, or it is in another one that has no kind of its own, the same with two
 * events in succession as kinds: functions that several parts of the program call come at
 * several places of an iteration,
 *
 *   a b c b d b  a b c b d b        ab, bc, cb, bd, db, ba come once each. */
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
                                        .anchor = TSANOM_NONE,
                                        .previous = TSANOM_NONE,
                                        .not_after = TSANOM_NONE};

static const tsn_versioned main_type = {.size = sizeof(tsanom_dpd_main),
                                        .first_size = sizeof(tsanom_dpd_main),
                                        .defaults = &no_loop};

tsanom_status tsanom_dpd_main_options_init(tsanom_dpd_main_options *options,
                                           size_t struct_size) {
  return tsn_versioned_init(&options_type, options, struct_size);
}

static tsanom_status read_call(tsn_main_search *s, size_t n,
                               const tsanom_dpd_main_options *options,
                               const tsanom_exec *exec) {
  memset(s, 0, sizeof *s);
  tsanom_status status = tsn_exec_read(&s->exec, exec);
  if (status < 0) return status;
  status = tsn_struct_read(&s->exec, &options_type, &s->options, options, "options");
  if (status < 0) return status;
  enum { BAD = TSANOM_E_OPTION };
  const tsanom_exec *own = &s->exec;
  const tsanom_dpd_main_options *o = &s->options;
  s->n = n;
  if ((status = tsn_require_size(own, BAD, "options.kinds", o->kinds, 1,
                                 UINT32_MAX - 1)) < 0) {
    return status;
  }
  if (o->anchor != TSANOM_NONE && o->anchor >= o->kinds) {
    return tsn_reject_size(own, BAD, "options.anchor", o->anchor, 0, o->kinds - 1);
  }
  if ((status = tsn_require_int(own, BAD, "options.ended", o->ended, 0, 1)) < 0 ||
      (status = tsn_require_int(own, BAD, "options.active", o->active, 0, 1)) < 0) {
    return status;
  }
  return tsn_require_size(own, TSANOM_E_OVERFLOW, "n", n, 0, UINT32_MAX - 1);
}

static void layout(tsn_arena *arena, void *context) {
  tsn_main_search *s = context;
  size_t kinds = s->options.kinds;
  s->start = tsn_arena_take(arena, kinds + 1, sizeof *s->start);
  s->slot = tsn_arena_take(arena, kinds, sizeof *s->slot);
  s->extent = tsn_arena_take(arena, TSN_LEVELS, sizeof *s->extent);
  tsn_levels_layout(arena, s->n, &s->levels);
  tsn_main_fold_layout(arena, s);
}

/* Sort the events by kind, by counting. */
static void index_events(tsn_main_search *s) {
  memset(s->start, 0, (s->options.kinds + 1) * sizeof *s->start);
  for (size_t i = 0; i < s->n; i++) s->start[s->event[i] + 1]++;
  for (size_t k = 0; k < s->options.kinds; k++) s->start[k + 1] += s->start[k];
  memcpy(s->slot, s->start, s->options.kinds * sizeof *s->slot);
  for (size_t i = 0; i < s->n; i++) {
    s->levels.at[s->slot[s->event[i]]++] = (uint32_t)i;
  }
}

/* Add the events at[0], ..., at[count - 1] as a kind, if there are enough. */
static void add_kind(tsn_main_search *s, const uint32_t *at, size_t count,
                     uint32_t previous) {
  if (count < TSN_LEVEL_LEAST) return;
  tsn_level_kind kind = {
      .at = at,
      .count = (uint32_t)count,
      .event = s->event[at[0]],
      .previous = previous,
      .span = tsn_main_time(s, at[count - 1]) - tsn_main_time(s, at[0])};
  tsn_levels_add(&s->levels, &kind);
}

static void add_events(tsn_main_search *s) {
  for (size_t k = 0; k < s->options.kinds; k++) {
    add_kind(s, s->levels.at + s->start[k], s->start[k + 1] - s->start[k], UINT32_MAX);
  }
}

/* Add the pairs of an event of kind k and the next event, each at the latter. The events are
 * sorted by kind; sorted by the kind of the event before, they are so by both. */
static void add_pairs(tsn_main_search *s) {
  uint32_t *at = s->levels.at, *sorted = s->levels.entry;
  memcpy(s->slot, s->start, s->options.kinds * sizeof *s->slot);
  for (size_t i = 0; i < s->n; i++) {
    if (at[i]) sorted[s->slot[s->event[at[i] - 1]]++] = at[i];
  }
  for (size_t k = 0; k < s->options.kinds; k++) {
    size_t first = s->start[k], end = s->slot[k];
    memcpy(at + first, sorted + first, (end - first) * sizeof *at);
    for (size_t from = first, to; from < end; from = to) {
      for (to = from + 1; to < end && s->event[at[to]] == s->event[at[from]];) to++;
      add_kind(s, at + from, to - from, (uint32_t)k);
    }
  }
}

/* A loop of pairs is around one of single events if it has this many times fewer iterations,
 * and explains this share of what that explains. */
enum { OUTER = 2 };
static const double of_single = .9;

/* A first segment that is this many times shorter than the next and the usual ones is a part of an
 * iteration: the residual before a solver's first one. */
enum { SHORT_FIRST = 4, SHORT_MOST = 4 };

/* What comes in at most one of this many segments is rare. */
enum { FEW = 8 };

/* What is listed. */
typedef struct {
  const uint32_t *begin; /* each `every`-th begins one of `count` iterations */
  size_t count, every;
  size_t level; /* TSN_LEVELS: none, the anchor was named */
  uint32_t usual, longest;
  size_t longest_run;
  size_t first;   /* segment of the run that goes on */
  uint64_t known; /* the levels that the loop explains */
  /* Events of the anchor of each level between the first and the last begin. */
  uint32_t like[TSN_LEVELS];
  /* Whether found->iterations and the list are written. */
  bool writes;
} lister;

static size_t begin_of(const lister *p, size_t i) {
  return p->begin[i * p->every];
}

/* How many kinds of the level of a lister are among events [from, to). */
static size_t count_kinds(const tsn_main_search *s, size_t level, size_t from,
                          size_t to) {
  const tsn_levels *l = &s->levels;
  size_t seen = 0;
  for (uint16_t k = l->level[level].first; k != TSN_LEVEL_NONE; k = l->kind[k].next) {
    seen += tsn_level_comes_in(&l->kind[k], from, to);
  }
  return seen;
}

static size_t kinds_of(const tsn_main_search *s, size_t level) {
  const tsn_levels *l = &s->levels;
  size_t kinds = 0;
  for (uint16_t k = l->level[level].first; k != TSN_LEVEL_NONE; k = l->kind[k].next) {
    kinds++;
  }
  return kinds;
}

/* Whether events [from, to) have one of the loops in a level, or it has none. */
static bool has_inner(const tsn_main_search *s, size_t level, size_t from, size_t to) {
  const tsn_levels *l = &s->levels;
  for (size_t i = 0; i < l->levels; i++) {
    if (!tsn_level_contains(l, level, i)) continue;
    if (tsn_level_comes_in(tsn_level_anchor(l, i), from, to)) return true;
  }
  return !l->contains[level];
}

/* Whether events [from, to) have at least half of the kinds of a level. */
static bool is_whole(const tsn_main_search *s, size_t level, size_t from, size_t to) {
  return 2 * count_kinds(s, level, from, to) >= kinds_of(s, level);
}

/* The rarest kinds have no level. */
static bool is_explained(const tsn_main_search *s, const lister *p, size_t i) {
  return s->levels.of[i] != TSN_LEVEL_NONE && p->known >> s->levels.of[i] & 1;
}

static size_t count_like(const tsn_main_search *s, const lister *p, size_t i) {
  return s->levels.of[i] == TSN_LEVEL_NONE ? 0 : p->like[s->levels.of[i]];
}

/* The end of segment [from, to): before what the loop does not explain at its end, or what
 * came only now, if that is rare or long. Otherwise it is a part of the iteration. */
static size_t end_of(const tsn_main_search *s, const lister *p, size_t from, size_t to) {
  size_t end = to;
  bool has_rare = false;
  if (p->level == TSN_LEVELS) return to;
  for (; end > from + 1; end--) {
    size_t count = count_like(s, p, end - 1);
    if (is_explained(s, p, end - 1) && count > 1) break;
    has_rare = has_rare || count <= tsn_larger(1, p->count / FEW);
  }
  return has_rare || 2 * (to - end) > p->usual ? end : to;
}

/* The end of the last iteration: behind the last event that the loop explains, unless other
 * ones came when three quarters of the level had been there; it is no longer than others. */
static size_t end_of_last(const tsn_main_search *s, const lister *p) {
  size_t from = begin_of(p, p->count - 1), end = from + 1;
  if (p->level == TSN_LEVELS) return s->n;
  size_t most = tsn_smaller(s->n, from + tsn_larger(p->longest, 1));
  size_t kinds = kinds_of(s, p->level);
  for (size_t i = from + 1; i < most; i++) {
    if (is_explained(s, p, i)) {
      end = i + 1;
    } else if (4 * count_kinds(s, p->level, from, i) >= 3 * kinds) {
      break;
    }
  }
  return end;
}

/* The segment behind up to SHORT_MOST in succession from `first` on that are much shorter than it, and
 * than usual: they are of the setup. */
static size_t behind_short(const lister *p, size_t first) {
  size_t to = first, longest = 0;
  for (; to < first + SHORT_MOST && to + 2 < p->count; to++) {
    size_t length = begin_of(p, to + 1) - begin_of(p, to);
    if (SHORT_FIRST * length >= p->usual) break;
    longest = tsn_larger(longest, length);
  }
  bool is_last = to + 1 >= p->count;
  return !is_last && SHORT_FIRST * longest < begin_of(p, to + 1) - begin_of(p, to)
             ? to
             : first;
}

/* The first segment from number `from` on that has half of the level, and a loop in it if `with_inner`. */
static size_t first_whole(const tsn_main_search *s, const lister *p, size_t from,
                          bool with_inner) {
  size_t i = from;
  for (; i + 2 < p->count; i++) {
    size_t begin = begin_of(p, i), end = begin_of(p, i + 1);
    if (is_whole(s, p->level, begin, end) &&
        (!with_inner || has_inner(s, p->level, begin, end))) {
      break;
    }
  }
  return i;
}

/* The segments that count: the first one with half of the level, and the last begun one if
 * it has as much, and the stream has ended or goes on with something else. Several without a
 * loop in front are of the setup, which has some of the kinds, too. */
static void find_segments(const tsn_main_search *s, const lister *p, size_t *first,
                          size_t *last) {
  *first = 0;
  *last = p->count - 1;
  if (p->level == TSN_LEVELS) {
    *last -= !s->options.ended;
    return;
  }
  *first = first_whole(s, p, 0, false);
  size_t with_inner = first_whole(s, p, *first, true);
  if (with_inner > *first + 1) *first = with_inner;
  *first = behind_short(p, *first);
  bool is_over = s->options.ended || end_of_last(s, p) < s->n;
  if (!is_over || !is_whole(s, p->level, begin_of(p, *last), s->n)) --*last;
}

static void write_iteration(tsn_main_search *s, size_t first, size_t end) {
  tsanom_dpd_main *found = &s->found;
  if (!found->iterations) found->first = first;
  if (found->iterations < s->capacity) {
    s->iterations[found->iterations] = (tsanom_dpd_iteration){first, end};
  }
  found->iterations++;
  found->end = end;
  found->covered += tsn_main_time(s, end) - tsn_main_time(s, first);
}

/* End a run: segments [p->first, to), the last of which ends before `end`. Fewer iterations
 * than a loop has, before all others, are a warm-up. */
static void end_run(tsn_main_search *s, lister *p, size_t to, size_t end) {
  size_t iterations = to - p->first;
  p->longest_run = tsn_larger(p->longest_run, iterations);
  bool counts = s->found.iterations || iterations >= TSN_LEVEL_LEAST ||
                iterations >= p->longest_run;
  for (size_t i = p->first; i < to && counts && p->writes; i++) {
    write_iteration(s, begin_of(p, i), i + 1 < to ? begin_of(p, i + 1) : end);
  }
  s->found.runs += counts && p->writes && iterations;
  p->first = to;
}

static void list_runs(tsn_main_search *s, lister *p) {
  size_t last;
  find_segments(s, p, &p->first, &last);
  for (size_t i = p->first; i <= last; i++) {
    bool is_open = i + 1 == p->count;
    size_t next = is_open ? s->n : begin_of(p, i + 1);
    size_t end = is_open ? end_of_last(s, p) : end_of(s, p, begin_of(p, i), next);
    if (end < next || i == last) end_run(s, p, i + 1, end);
  }
}

static size_t previous_of(const tsn_level_kind *anchor) {
  return anchor->previous == UINT32_MAX ? TSANOM_NONE : anchor->previous;
}

/* Of entries: the event before one of the same number that is none, in a run of its level. */
static size_t inside_of(const tsn_main_search *s, const tsn_level_kind *anchor) {
  const uint16_t *of = s->levels.of;
  if (!anchor->is_entry) return TSANOM_NONE;
  for (size_t i = anchor->at[0] + 1; i < s->n; i++) {
    if (s->event[i] == anchor->event && of[i] == of[i - 1]) return s->event[i - 1];
  }
  return TSANOM_NONE;
}

/* How many different numbers at least half of the segments have. */
static size_t count_places(tsn_main_search *s, const lister *p) {
  const tsn_levels *l = &s->levels;
  size_t places = 0;
  memset(s->slot, 0, s->options.kinds * sizeof *s->slot);
  for (size_t k = 0; k < l->kinds; k++) {
    const tsn_level_kind *kind = &l->kind[k];
    size_t segments = 0;
    for (size_t i = 0, at = 0; i + 1 < p->count && !kind->is_entry; i++) {
      at = tsn_levels_seek(kind->at, kind->count, at, begin_of(p, i));
      segments += at < kind->count && kind->at[at] < begin_of(p, i + 1);
    }
    if (!segments || 2 * segments + 1 < p->count || s->slot[kind->event]) continue;
    s->slot[kind->event] = 1;
    places++;
  }
  return places;
}

/* A lister of a level, or of the events of an anchor that was given; each `every`-th event, from
 * number `from` on, begins an iteration. The last one has at least half of them. */
static lister prepare(tsn_main_search *s, const tsn_level_kind *anchor, size_t level,
                      size_t every, size_t from) {
  lister p = {.begin = anchor->at + from,
              .count = (anchor->count - from + every / 2) / every,
              .every = every,
              .level = level};
  if (level == TSN_LEVELS) return p;
  p.usual = (uint32_t)every * s->extent[level].usual;
  p.known = tsn_main_explained(&s->levels, level);
  for (size_t a = 0; a < s->levels.levels; a++) {
    const tsn_level_kind *kind = tsn_level_anchor(&s->levels, a);
    size_t first = tsn_levels_seek(kind->at, kind->count, 0, begin_of(&p, 0));
    size_t last =
        tsn_levels_seek(kind->at, kind->count, first, begin_of(&p, p.count - 1));
    p.like[a] = (uint32_t)(last - first);
  }
  for (size_t i = 0; i + 1 < p.count; i++) {
    size_t end = end_of(s, &p, begin_of(&p, i), begin_of(&p, i + 1));
    p.longest = (uint32_t)tsn_larger(p.longest, end - begin_of(&p, i));
  }
  return p;
}

static void list_iterations(tsn_main_search *s, const tsn_level_kind *anchor,
                            size_t level) {
  size_t from = 0, every = 1;
  if (level != TSN_LEVELS) every = tsn_main_fold(s, anchor->at, anchor->count, &from);
  lister p = prepare(s, anchor, level, every, from);
  s->found = (tsanom_dpd_main){.struct_size = sizeof s->found,
                               .anchor = anchor->event,
                               .previous = previous_of(anchor),
                               .not_after = inside_of(s, anchor),
                               .every = every};
  list_runs(s, &p);
  p.writes = true;
  list_runs(s, &p);
  s->found.places = count_places(s, &p);
}

static void describe_related(tsn_main_search *s) {
  for (size_t i = 0; i < s->relations; i++) {
    size_t a = s->related[i], first, last;
    const tsn_level_kind *x = tsn_level_anchor(&s->levels, a);
    lister p = prepare(s, x, a, 1, 0);
    find_segments(s, &p, &first, &last);
    s->found.related[i] = (tsanom_dpd_related){.anchor = x->event,
                                               .previous = previous_of(x),
                                               .iterations = last + 1 - first,
                                               .first = s->extent[a].first,
                                               .end = s->extent[a].end,
                                               .relation = s->relation[i]};
  }
  s->found.relations = s->relations;
}

static bool is_inner(const tsanom_dpd_related *related, size_t anchor) {
  return related->relation == TSANOM_DPD_INSIDE && related->anchor == anchor;
}

/* List the loop `inner` as one in the main loop, in place of one from the same place. */
static void relate_inner(tsanom_dpd_main *found, const tsanom_dpd_main *inner) {
  size_t i = 0;
  while (i < found->relations && !is_inner(&found->related[i], inner->anchor)) i++;
  i = tsn_smaller(i, TSANOM_DPD_RELATED - 1);
  if (i == found->relations) found->relations++;
  found->related[i] = (tsanom_dpd_related){.anchor = inner->anchor,
                                           .previous = inner->previous,
                                           .iterations = inner->iterations,
                                           .first = inner->first,
                                           .end = inner->end,
                                           .relation = TSANOM_DPD_INSIDE};
}

/* List the events that times put together as a loop in their iterations. One around these events that has
 * more turns than the iterations is in them, too: the stages of a step. */
static void relate_parts(tsanom_dpd_main *found, size_t events) {
  for (size_t i = 0; i < found->relations; i++) {
    tsanom_dpd_related *other = &found->related[i];
    bool is_around = other->relation == TSANOM_DPD_AROUND;
    if (is_around && other->iterations > found->iterations + 1)
      other->relation = TSANOM_DPD_INSIDE;
  }
  tsanom_dpd_main parts = *found;
  parts.iterations = events;
  relate_inner(found, &parts);
}

/* The iterations of an anchor that was given: what is between two of its events. */
static tsanom_status list_named(tsn_main_search *s) {
  size_t k = s->options.anchor, first = s->start[k], count = s->start[k + 1] - first;
  s->found = no_loop;
  if (count + (s->options.ended != 0) < 2) return TSANOM_INFEASIBLE;
  tsn_level_kind anchor = {.at = s->levels.at + first,
                           .count = (uint32_t)count,
                           .event = (uint32_t)k,
                           .previous = UINT32_MAX};
  list_iterations(s, &anchor, TSN_LEVELS);
  return TSANOM_OK;
}

/* The levels of single events. */
typedef struct {
  double time, events; /* shares that the main loop explains; 0: there is none */
  size_t levels;
  uint32_t count[TSN_LEVELS]; /* of their anchors, without levels of entries */
  tsanom_dpd_main found;
} singles;

/* Whether a pair is rare enough to begin a loop around that of single events: without one, the
 * levels of pairs need not be found. */
static bool has_outer(const tsn_levels *l, const singles *single) {
  for (size_t k = 0; k < l->kinds; k++) {
    if (l->kind[k].count * OUTER <= single->found.iterations) return true;
  }
  return single->events <= 0;
}

/* Whether the main loop of pairs is the better one: it is around that of single events, and no
 * level of these is as frequent, of which it was known that it only groups iterations. */
static bool is_around(const tsn_main_search *s, const singles *single) {
  uint32_t count = tsn_level_anchor(&s->levels, s->chosen)->count;
  const tsn_main_extent *e = &s->extent[s->chosen];
  if (single->events <= 0) return true;
  for (size_t i = 0; i < single->levels; i++) {
    uint32_t least = single->count[i] - single->count[i] / FEW;
    if (count + 1 >= least && count <= single->count[i] + single->count[i] / FEW + 1) {
      return false;
    }
  }
  return count * OUTER <= single->found.iterations &&
         (e->time >= of_single * single->time || e->events >= of_single * single->events);
}

/* Find the levels of the kinds that were added, and the main loop; list its iterations unless
 * that of single events is the better one. */
static bool find_loop(tsn_main_search *s, const singles *single) {
  tsn_levels_find(&s->levels);
  tsn_main_choose(s, single != NULL);
  if (s->chosen == TSN_LEVEL_NONE || (single && !is_around(s, single))) return false;
  list_iterations(s, tsn_level_anchor(&s->levels, s->chosen), s->chosen);
  describe_related(s);
  if (s->found.every > 1)
    relate_parts(&s->found, tsn_level_anchor(&s->levels, s->chosen)->count);
  return true;
}

static void find_singles(tsn_main_search *s, singles *single) {
  bool has_loop = find_loop(s, NULL);
  if (!has_loop) {
    s->found = no_loop;
    tsn_main_list_candidates(s);
    describe_related(s);
  }
  single->time = has_loop ? s->extent[s->chosen].time : 0;
  single->events = has_loop ? s->extent[s->chosen].events : 0;
  single->levels = 0;
  for (size_t i = 0; i < s->levels.levels; i++) {
    if (!tsn_level_is_real(&s->levels, i)) continue;
    single->count[single->levels++] = tsn_level_anchor(&s->levels, i)->count;
  }
  single->found = s->found;
}

/* Pairs of events show a loop around the main loop if that has no kind of its own. */
static tsanom_status search(void *context) {
  tsn_main_search *s = context;
  tsn_levels *l = &s->levels;
  singles single;
  index_events(s);
  tsn_levels_start(l, s->event, s->n, !s->options.ended);
  add_events(s);
  if (s->options.anchor != TSANOM_NONE) return list_named(s);
  find_singles(s, &single);
  if (tsn_exec_stop(&s->exec, 1, 2)) return TSANOM_STOPPED;
  l->kinds = l->levels = 0;
  add_pairs(s);
  bool is_better = has_outer(l, &single) && find_loop(s, &single);
  if (is_better && single.events > 0) relate_inner(&s->found, &single.found);
  if (!is_better) s->found = single.found;
  return is_better || single.events > 0 ? TSANOM_OK : TSANOM_INFEASIBLE;
}

/* Whether times are finite and ascend: those between finite ones are finite. */
static bool is_ascending(const double *time, size_t n) {
  bool ascends = __builtin_isfinite(time[0]) && __builtin_isfinite(time[n - 1]);
  for (size_t i = 1; i < n; i++) ascends &= __builtin_islessequal(time[i - 1], time[i]);
  return ascends;
}

/* The arguments that a call without memory lacks; events are kinds, times ascend. */
static tsanom_status check(void *context) {
  const tsn_main_search *s = context;
  const tsanom_exec *exec = &s->exec;
  if (!s->event && s->n) return tsn_reject_null(exec, "events", s->n);
  if (!s->iterations && s->capacity) {
    return tsn_reject_null(exec, "iterations", s->capacity);
  }
  tsanom_status status = tsn_struct_check(exec, &main_type, s->found_out, "found");
  if (status < 0) return status;
  for (size_t i = 0; i < s->n; i++) {
    if (s->event[i] < s->options.kinds) continue;
    return tsn_reject_is(exec, TSANOM_E_INDEX, "events", i,
                         "%u; less than %zu, options.kinds, is expected", s->event[i],
                         s->options.kinds);
  }
  if (!s->time || is_ascending(s->time, s->n + 1)) return TSANOM_OK;
  for (size_t i = 0; i <= s->n; i++) {
    if (!__builtin_isfinite(s->time[i])) {
      return tsn_reject_value(exec, TSANOM_E_NONFINITE, "times", i, TSANOM_NONE,
                              s->time[i], "finite times are expected");
    }
    if (i && s->time[i] < s->time[i - 1]) {
      return tsn_reject_is(exec, TSANOM_E_ORDER, "times", i,
                           "%.9g; at least %.9g, the time before, is expected",
                           s->time[i], s->time[i - 1]);
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
  s.event = events;
  s.time = times;
  s.iterations = iterations;
  s.capacity = capacity;
  s.found_out = found;
  status = tsn_workspace_run(&s.exec, layout, check, search, &s);
  if (status < 0 || status == TSANOM_STOPPED) return status;
  tsn_versioned_write(&main_type, found, &s.found);
  return s.found.iterations > capacity && capacity ? TSANOM_PARTIAL : status;
}
