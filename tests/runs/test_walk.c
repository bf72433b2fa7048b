/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk over region events beside its definition, on random streams: ends without
 * begins, functions left by longjmp(), streams cut off anywhere, more open than are
 * followed. */
#include <criterion/criterion.h>
#include <math.h>

#include "runs/walk.h"
#include "support/random.h"

enum { EVENTS = 400, PLACES = 4 };

typedef struct {
  uint32_t tag[EVENTS];
  double time[EVENTS];
  size_t count;
} script;

static uint32_t tag(uint32_t kind, uint32_t place, uint32_t threads) {
  return kind | place << TSN_REGIONS_KIND_BITS | threads << 16;
}

static uint32_t random_event(uint64_t *seed, bool deepens) {
  uint32_t place = (uint32_t)random_between(seed, 0, PLACES - 1);
  switch (random_between(seed, 0, deepens ? 14 : 10)) {
    case 0:
      return tag(TSN_REGIONS_END, place, 2);
    case 1:
      return tag(TSN_REGIONS_BEGIN, place, 0);
    case 2:
      return tag(TSN_REGIONS_FUNCTION, place, TSN_REGIONS_LEFT);
    case 3:
      return tag(TSN_REGIONS_SHARE, place, 2);
    case 4:
      return tag(TSN_REGIONS_FUNCTION, place, TSN_REGIONS_DROPPED);
    case 5:
      return tag(TSN_REGIONS_TASK, place, 3);
    case 6:
      return TSN_REGIONS_CPU | (place + 1) << 8;
    case 7:
      return TSN_REGIONS_METRIC | place << 3 | (place + 5) << 11;
    case 8:
      return tag(TSN_REGIONS_WORK, place, 2);
    default:
      return tag(random_between(seed, 0, 1) ? TSN_REGIONS_BEGIN : TSN_REGIONS_FUNCTION,
                 place, TSN_REGIONS_ENTERED);
  }
}

static void fill(script *s, uint64_t *seed) {
  bool deepens = random_between(seed, 0, 1);
  s->count = (size_t)random_between(seed, 0, EVENTS);
  for (size_t i = 0; i < s->count; i++) {
    s->tag[i] = random_event(seed, deepens);
    s->time[i] = (double)i;
  }
}

/* What the definition has of a record that begins something. */
typedef struct {
  size_t from;
  int32_t place;
  bool is_function, is_shown, is_open;
} item;

typedef struct {
  item item[EVENTS];
  size_t items, unmatched;
  bool functions;
} definition;

static size_t shown(const definition *d, bool regions_only) {
  size_t count = 0;
  for (size_t k = 0; k < d->items; k++) {
    const item *x = &d->item[k];
    count += x->is_open && x->is_shown && !(regions_only && x->is_function);
  }
  return count;
}

/* The latest that is open, of those that fit; items: none. */
static size_t latest(const definition *d, bool is_function, bool is_shown) {
  for (size_t k = d->items; k-- > 0;) {
    const item *x = &d->item[k];
    if (x->is_open && x->is_function == is_function && x->is_shown == is_shown) return k;
  }
  return d->items;
}

/* One visit as a list of numbers, so that lists are compared. */
typedef struct {
  double kind, what, place, depth, regions, time, begin, known, cpu, part, count;
} seen;

static void put(seen *list, size_t *count, seen one) {
  cr_assert(*count < 4 * EVENTS);
  list[(*count)++] = one;
}

static void close(definition *d, size_t k, bool known, double time, const seen *usage,
                  seen *list, size_t *count) {
  item *x = &d->item[k];
  x->is_open = false;
  if (!x->is_shown) return;
  put(list, count,
      (seen){.kind = TSN_VISIT_END,
             .what = x->is_function ? TSN_WALK_FUNCTION : TSN_WALK_REGION,
             .place = x->place,
             .depth = (double)shown(d, false),
             .regions = (double)shown(d, true),
             .time = time,
             .begin = (double)x->from,
             .known = known,
             .cpu = usage->cpu,
             .part = usage->part});
}

/* The functions behind item k, the innermost first. */
static void leave(definition *d, size_t k, double time, const seen *usage, seen *list,
                  size_t *count) {
  for (size_t i = d->items; i-- > k + 1;) {
    if (d->item[i].is_open) close(d, i, false, time, usage, list, count);
  }
}

static void end_region(definition *d, double time, const seen *usage, seen *list,
                       size_t *count) {
  size_t hidden = latest(d, false, false), k = latest(d, false, true);
  if (hidden < d->items) {
    d->item[hidden].is_open = false;
  } else if (k < d->items) {
    for (size_t i = 0; i < d->items; i++) d->item[i].is_open &= d->item[i].is_shown;
    leave(d, k, time, usage, list, count);
    close(d, k, true, time, usage, list, count);
  } else {
    d->unmatched++;
  }
}

static void end_function(definition *d, int32_t place, double time, const seen *usage,
                         seen *list, size_t *count) {
  size_t hidden = latest(d, true, false), region = latest(d, false, true);
  size_t from = region < d->items ? region + 1 : 0, k = d->items;
  if (hidden < d->items) {
    d->item[hidden].is_open = false;
    return;
  }
  while (k > from && !(d->item[k - 1].is_open && d->item[k - 1].is_function &&
                       d->item[k - 1].place == place)) {
    k--;
  }
  if (k == from || latest(d, false, false) < d->items) {
    d->unmatched++;
    return;
  }
  leave(d, k - 1, time, usage, list, count);
  close(d, k - 1, true, time, usage, list, count);
}

/* Usage in front of record i: the processor times and counts directly before it. */
static seen usage_before(const script *s, size_t i) {
  seen u = {.cpu = NAN, .part = NAN};
  for (size_t k = i; k-- > 0;) {
    tsn_region_event e = tsn_region_decode(s->tag[k]);
    if (e.kind == TSN_REGIONS_CPU) {
      if (isnan(u.cpu)) {
        u.cpu = e.cpu_s;
      } else if (isnan(u.part)) {
        u.part = e.cpu_s;
      }
    } else if (e.kind != TSN_REGIONS_METRIC && e.kind != TSN_REGIONS_TASK &&
               e.kind != TSN_REGIONS_WORK) {
      break;
    }
  }
  return u;
}

static void take(definition *d, const script *s, size_t i, seen *list, size_t *count) {
  seen usage = usage_before(s, i);
  tsn_region_event e = tsn_region_decode(s->tag[i]);
  bool is_function = e.kind == TSN_REGIONS_FUNCTION;
  seen one = {.place = e.place,
              .depth = (double)shown(d, false),
              .regions = (double)shown(d, true),
              .time = (double)i,
              .cpu = usage.cpu,
              .part = usage.part};
  if (is_function && !d->functions) return;
  if (e.kind == TSN_REGIONS_BEGIN || (is_function && e.threads == TSN_REGIONS_ENTERED)) {
    bool fits = shown(d, false) < TSN_WALK_DEPTH && latest(d, false, false) == d->items;
    d->item[d->items++] = (item){i, e.place, is_function, fits, true};
    one.kind = TSN_VISIT_BEGIN;
    one.what = is_function ? TSN_WALK_FUNCTION : TSN_WALK_REGION;
    if (fits) put(list, count, one);
  } else if (e.kind == TSN_REGIONS_END) {
    end_region(d, (double)i, &usage, list, count);
  } else if (is_function && e.threads == TSN_REGIONS_LEFT) {
    end_function(d, e.place, (double)i, &usage, list, count);
  } else {
    one.kind = is_function                   ? TSN_VISIT_DROPPED
               : e.kind == TSN_REGIONS_SHARE ? TSN_VISIT_PART
               : e.kind == TSN_REGIONS_TASK  ? TSN_VISIT_TASKS
               : e.kind == TSN_REGIONS_WORK  ? TSN_VISIT_WORK
               : e.kind == TSN_REGIONS_CPU   ? TSN_VISIT_CPU
                                             : TSN_VISIT_METRIC;
    if (e.kind == TSN_REGIONS_METRIC) one.count = e.count;
    put(list, count, one);
  }
}

static size_t by_definition(const script *s, bool functions, seen *list,
                            size_t *unmatched) {
  static definition whole;
  definition *d = &whole;
  size_t count = 0;
  *d = (definition){.functions = functions};
  for (size_t i = 0; i < s->count; i++) take(d, s, i, list, &count);
  seen nothing = usage_before(s, s->count);
  for (size_t k = d->items; k-- > 0;) {
    if (d->item[k].is_open) close(d, k, false, 1e6, &nothing, list, &count);
  }
  *unmatched = d->unmatched;
  return count;
}

static seen seen_of(const tsn_visit *v) {
  bool ends = v->kind == TSN_VISIT_END, begins = v->kind == TSN_VISIT_BEGIN;
  return (seen){.kind = v->kind,
                .what = ends || begins ? v->what : 0,
                .place = v->place,
                .depth = (double)v->depth,
                .regions = (double)v->regions,
                .time = v->time,
                .begin = ends ? v->begin : 0,
                .known = v->known,
                .cpu = v->used->cpu,
                .part = v->last_part->cpu,
                .count = v->count};
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static void check(const seen *a, const seen *b, size_t i) {
  bool is_usage = b->kind == TSN_VISIT_CPU || b->kind == TSN_VISIT_METRIC;
  cr_assert(a->kind == b->kind && a->what == b->what && a->depth == b->depth &&
                a->regions == b->regions && a->time == b->time && a->begin == b->begin &&
                a->known == b->known && a->count == b->count &&
                (b->kind == TSN_VISIT_CPU || a->place == b->place),
            "visit %zu: kind %g at %g; expected %g at %g", i, a->kind, a->time, b->kind,
            b->time);
  cr_assert(is_usage || (same(a->cpu, b->cpu) && same(a->part, b->part)),
            "visit %zu: usage", i);
}

/* A reading that stops anywhere and goes on in a copy, as a refresh does. */
static size_t by_walk(script *s, bool functions, uint64_t *seed, seen *list,
                      size_t *unmatched) {
  tsn_stream stream = {.count = 0};
  tsn_walk walk = tsn_walk_begin(NULL, functions);
  tsn_visit v;
  size_t count = 0;
  while (stream.count < s->count) {
    stream.count += (size_t)random_between(seed, 1, 40);
    if (stream.count > s->count) stream.count = s->count;
    tsn_reader reader = {
        .stream = &stream, .time = s->time, .tag = s->tag, .end = stream.count};
    tsn_walk copy = walk;
    size_t before = count;
    while (tsn_walk_next(&walk, &reader, &v)) put(list, &count, seen_of(&v));
    for (size_t i = before; tsn_walk_next(&copy, &reader, &v); i++) {
      const seen again = seen_of(&v);
      check(&again, &list[i], i);
    }
  }
  while (tsn_walk_finish(&walk, 1e6, &v)) put(list, &count, seen_of(&v));
  *unmatched = walk.unmatched;
  return count;
}

Test(walk, is_that_of_the_definition) {
  static script s;
  static seen found[4 * EVENTS], expected[4 * EVENTS];
  uint64_t seed = 52;
  size_t deep = 0;
  for (int trial = 0; trial < 4000; trial++) {
    bool functions = trial % 3;
    size_t unmatched, lost;
    fill(&s, &seed);
    size_t count = by_walk(&s, functions, &seed, found, &unmatched);
    cr_assert(by_definition(&s, functions, expected, &lost) == count, "trial %d", trial);
    cr_assert(unmatched == lost, "trial %d: %zu unmatched, expected %zu", trial,
              unmatched, lost);
    for (size_t i = 0; i < count; i++) {
      check(&found[i], &expected[i], i);
      deep += found[i].depth == TSN_WALK_DEPTH;
    }
  }
  cr_assert(deep > 1000);
}
