/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of a sequence of events: internal structure. See dpd_main_choose.c. */
#ifndef TSN_DPD_MAIN_H
#define TSN_DPD_MAIN_H

#include <stdbool.h>
#include <tsanom/dpd.h>

#include "dpd/dpd_levels.h"

/* What is known of a level that may be a loop. */
typedef struct {
  uint32_t first, end;         /* where its iterations are */
  uint32_t usual;              /* events that half of them have at least */
  double inside, events, time; /* events of it that the loop explains, as a share of those
                                  from first to end, and of all; the same time, of all */
  bool is_good;                /* it may be the main loop */
} tsn_main_extent;

typedef struct {
  tsanom_dpd_main_options options;
  tsanom_exec exec;
  const uint32_t *event;
  const double *time; /* NULL: event i is at i */
  size_t n;
  /* The events of number k are levels.at[start[k]], ..., levels.at[start[k+1] - 1]. */
  uint32_t *start, *slot;
  tsn_levels levels;
  tsn_main_extent *extent; /* by level */
  uint16_t chosen;         /* TSN_LEVEL_NONE: there is none */
  uint16_t related[TSANOM_DPD_RELATED];
  int32_t relation[TSANOM_DPD_RELATED];
  size_t relations;
  double *pause, *sorted, *distance, *place; /* scratch of tsn_main_fold() */
  /* Iterations go here. */
  tsanom_dpd_iteration *iterations;
  size_t capacity;
  tsanom_dpd_main found, *found_out; /* the result, and the caller's struct */
} tsn_main_search;

enum { TSN_MAIN_PAUSES = 4096 }; /* that tsn_main_fold() looks at */

static inline double tsn_main_time(const tsn_main_search *s, size_t event) {
  return s->time ? s->time[event] : (double)event;
}

/* Choose the main loop of the levels, and what is around it and in it: s->chosen, related.
 * `has_pairs`: kinds are two events in succession, of which more is demanded. */
void tsn_main_choose(tsn_main_search *s, bool has_pairs);

/* List what may be the main loop, where none was chosen. */
void tsn_main_list_candidates(tsn_main_search *s);

/* Of `count` begins, each how many is one of an iteration, by the times between them: begin[*phase] is
 * the first. 1: each is. See dpd_main_fold.c. */
size_t tsn_main_fold(tsn_main_search *s, const uint32_t *begin, size_t count,
                     size_t *phase);
void tsn_main_fold_layout(tsn_arena *arena, tsn_main_search *s);

/* The set of levels that loop a explains. */
uint64_t tsn_main_explained(const tsn_levels *l, size_t a);

#endif
