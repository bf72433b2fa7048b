/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of a sequence of events: internal structure. See dpd_main.c. */
#ifndef TSN_DPD_MAIN_H
#define TSN_DPD_MAIN_H

#include <stdbool.h>
#include <tsanom/dpd.h>

#include "core/arena.h"

/* Candidates that are examined, of the longest time from their first to their last
 * event. */
enum { TSN_MAIN_CANDIDATES = 24 };

/* An iteration may differ from the usual one in this part of the usual kinds of events:
 * 1 / TSN_MAIN_NEAR. */
enum { TSN_MAIN_NEAR = 3 };

/* What a segment, from one begin to the next, is. */
enum {
  TSN_MAIN_NEAR_COPY = 1, /* it differs in few kinds */
  TSN_MAIN_USUAL = 2,     /* it has all usual kinds in the usual order */
  TSN_MAIN_CLEAN = 4,     /* usual, and its other kinds are in other segments too */
  TSN_MAIN_EXTENDED = 8,  /* it lacks few usual kinds; its other kinds, which may be more
                             than those of a near copy, are in other segments too */
  TSN_MAIN_OTHERS = 16,   /* it has other kinds */
  TSN_MAIN_REPLACES = 32  /* others are in the place of usual kinds: it lacks some, and
                             goes  on with usual ones behind the others */
};

/* A loop whose iterations begin with the events of one kind. */
typedef struct {
  uint32_t anchor;
  bool folds; /* the anchors of an inner loop are one begin: its iterations have only
                 the kinds of `inner` */
  tsanom_dpd_iteration inner;
  bool named; /* by the caller: what begins with the anchor is an iteration */
  bool accepted;
  size_t size; /* usual kinds of an iteration */
  size_t iterations, runs;
  size_t by_others[2], events_by[2]; /* iterations without and with other kinds, and the
                                        events of these */
  size_t odd;        /* iterations that are extended, but no near copies */
  size_t replacing;  /* of these, the ones that replace usual kinds */
  size_t first, end; /* events of the first and the last run */
  size_t events;     /* of all runs */
  double covered;    /* the same in time */
  double reach;      /* `covered`, and the begun iteration behind the last run */
} tsn_main_loop;

typedef struct {
  tsanom_dpd_main_options options;
  tsanom_exec exec;
  const uint32_t *event;
  const double *time; /* NULL: event i is at i */
  size_t n;
  /* The events of kind k are at[start[k]], ..., at[start[k+1] - 1]. */
  uint32_t *start, *at;
  /* By kind: the segment that has it last; segments with it; its place in the order of
   * the usual kinds, TSN_MAIN_OTHER of others; scratch. */
  uint32_t *stamp, *seen, *rank, *slot;
  uint32_t next_stamp;
  /* Of the candidate that is examined: its begins, and what the segments are. */
  uint32_t *begin;
  unsigned char *fit;
  size_t begins;
  /* The usual kinds of each candidate, by bits. */
  uint64_t *set;
  size_t words;
  tsn_main_loop loop[2 * TSN_MAIN_CANDIDATES];
  size_t loops;
  /* The iterations of the chosen one. */
  tsanom_dpd_iteration *iterations;
  size_t capacity;
  size_t chosen; /* TSANOM_NONE: there is none */
} tsn_main_search;

#define TSN_MAIN_OTHER UINT32_MAX

/*/* Examine the loop of loop->anchor and loop->folds: fill the other fields, and the
 * usual kinds in s->rank. */
void tsn_main_examine(tsn_main_search *s, tsn_main_loop *loop);

/* Whether 9/10 of the iterations of the other loop, but for one that may have been cut,
 * have the same number of events of the anchor of one, at least ten. */
bool tsn_main_has_equal_groups(tsn_main_search *s, const tsn_main_loop *one,
                               const tsn_main_loop *other);

/* Store the iterations of an examined loop, at most s->capacity. */
void tsn_main_list(tsn_main_search *s, const tsn_main_loop *loop);

/* The loop that covers most; TSANOM_NONE: there is none. */
size_t tsn_main_best(const tsn_main_search *s);

/* Whether a candidate comes too late to cover enough beside the best loop so far. */
bool tsn_main_is_late(const tsn_main_search *s, uint32_t kind, size_t best);

/* The main loop, beside the best one; TSANOM_NONE: there is none. */
size_t tsn_main_choose(tsn_main_search *s, size_t best);

static inline double tsn_main_time(const tsn_main_search *s, size_t event) {
  return s->time ? s->time[event] : (double)event;
}

#endif
