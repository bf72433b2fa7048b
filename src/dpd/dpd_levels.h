/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of a sequence of events: which kinds of events are in one iteration of a loop,
 * and which loop is around which. See dpd_levels.c. */
#ifndef TSN_DPD_LEVELS_H
#define TSN_DPD_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "dpd/dpd_bits.h"

enum {
  TSN_LEVEL_KINDS =
      1024,            /* kinds that are looked at, of the longest time from the first to
                             the last of their events; as many entries */
  TSN_LEVELS = 64,     /* levels that are looked at, of the most events */
  TSN_LEVEL_LEAST = 3, /* iterations */
  TSN_LEVEL_NONE = 0xffff
};

/* A kind of event: a number of the sequence, two in succession, or the entries of a level,
 * which are the first events of its runs. */
typedef struct {
  const uint32_t *at; /* indices of its events, ascending */
  uint32_t count;
  uint32_t event,
      previous;  /* two in succession: previous, event; else UINT32_MAX, event */
  double span;   /* time from the first to the last of its events */
  double time;   /* that its events take; set by tsn_main_choose(), not of entries */
  uint16_t next; /* kind of its level; TSN_LEVEL_NONE: it is the last */
  bool is_entry;
} tsn_level_kind;

/* Kinds that come in turn. */
typedef struct {
  uint16_t first, last, anchor; /* kinds; the anchor begins the iterations */
  uint16_t kinds;               /* without entries */
  uint32_t order;               /* in which it was found */
  uint32_t entries, from; /* number of its entries, and where they are in s->entry */
  size_t events;          /* of these kinds */
  size_t in_turns;        /* of parts of which each iteration has one, */
  size_t turns;           /* which come in as many runs; 0: there are none */
} tsn_level;

typedef struct {
  const uint32_t *event;
  size_t n;
  bool goes_on;
  tsn_level_kind *kind;
  size_t kinds;
  tsn_level *level;
  size_t levels;
  uint16_t *of;         /* the level of each event; TSN_LEVEL_NONE */
  uint32_t *at, *entry; /* the events of each kind, one kind after the other */
  uint64_t *contains;   /* [a]: set of those in nearly all iterations of a */
  bool *is_loop;
  double (*regularity)[TSN_LEVELS]; /* NAN: not known yet */
  double *weight;                   /* events of it, of the levels in it, and in turns */
  tsn_trips trips;                  /* scratch */
} tsn_levels;

void tsn_levels_layout(tsn_arena *arena, size_t n, tsn_levels *s);

/* Start: no kinds. `goes_on`: the last iteration may be incomplete. */
void tsn_levels_start(tsn_levels *s, const uint32_t *event, size_t n, bool goes_on);

/* Add a kind of three events or more: its place, number, event and previous one, and span.
 * Beyond the capacity those of the shortest spans are lost. */
void tsn_levels_add(tsn_levels *s, const tsn_level_kind *kind);

/* Find everything from the kinds. */
void tsn_levels_find(tsn_levels *s);

/* The events of the anchor of a level, and their number. */
static inline const tsn_level_kind *tsn_level_anchor(const tsn_levels *s, size_t a) {
  return &s->kind[s->level[a].anchor];
}

/* Whether a level has kinds that are no entries. */
static inline bool tsn_level_is_real(const tsn_levels *s, size_t a) {
  return s->level[a].kinds != 0;
}

/* Whether b is in nearly all iterations of a. */
static inline bool tsn_level_contains(const tsn_levels *s, size_t a, size_t b) {
  return s->contains[a] >> b & 1;
}

/* A level and those that it contains. */
static inline uint64_t tsn_level_family(const tsn_levels *s, size_t a) {
  return s->contains[a] | UINT64_C(1) << a;
}

size_t tsn_levels_gallop(const uint32_t *at, size_t count, size_t from, size_t least);

/* The first of `count` ascending indices that is at least `least`, searched from `from` on:
 * most are near. */
static inline size_t tsn_levels_seek(const uint32_t *at, size_t count, size_t from,
                                     size_t least) {
  if (from >= count || at[from] >= least) return from;
  if (from + 1 >= count || at[from + 1] >= least) return from + 1;
  return tsn_levels_gallop(at, count, from + 2, least);
}

/* Whether a kind has an event in [from, to). */
static inline bool tsn_level_comes_in(const tsn_level_kind *kind, size_t from,
                                      size_t to) {
  size_t at = tsn_levels_seek(kind->at, kind->count, 0, from);
  return at < kind->count && kind->at[at] < to;
}

/* The bits by which the trip counts of b in a look like a loop; at most 0: like chance. */
double tsn_levels_regularity(tsn_levels *s, size_t a, size_t b);

/* The share of the iterations of a that have the usual number of iterations of b, within 1/64. */
double tsn_levels_usual(tsn_levels *s, size_t a, size_t b);

/* The kinds of a and of the levels in it, without entries. */
size_t tsn_levels_kinds_within(const tsn_levels *s, size_t a);

/* The loops in a that are in no other loop in a; their number. */
size_t tsn_levels_inside(const tsn_levels *s, size_t a, uint16_t *inside);

/* The parts that some iterations of a have by chance; their number. */
size_t tsn_levels_options(const tsn_levels *s, size_t a, uint16_t *options);

#endif
