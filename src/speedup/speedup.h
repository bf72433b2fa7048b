/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of an analyzer. */
#ifndef TSN_SPEEDUP_SPEEDUP_H
#define TSN_SPEEDUP_SPEEDUP_H

#include <stdbool.h>
#include <tsanom/dpd.h>
#include <tsanom/speedup.h>

enum { TSN_LIVE_MAX = 64 }; /* loops followed at once */

/* So many medians an iteration counts for at most where the next ones are predicted:
 * what interrupts a program for long is seldom what it goes on with. */
#define TSN_USUAL 1.5

/* What the analyzer keeps of a past event. */
typedef struct {
  uint64_t region;
  double begin, end;
  double parallel; /* seconds in regions before it, since the first */
  int32_t threads;
} tsn_past_event;

/* The iterations of a loop that ran with one number of threads, and the latest of them.
 */
typedef struct {
  int32_t threads;
  uint32_t next; /* where in `seconds` the next goes */
  uint64_t count;
  double usual;       /* seconds of all, each bounded by TSN_USUAL medians */
  double usual_at[2]; /* when `count` came to the two latest powers of two */
  double seconds[TSANOM_SPEEDUP_RECENT];
  double sorted[TSANOM_SPEEDUP_RECENT]; /* the same by size */
} tsn_team;

/* The median of the latest iterations of a team that has some. */
double tsn_team_median(const tsn_team *team);

/* A loop over all its runs. */
typedef struct {
  uint64_t start;
  size_t period;
  uint64_t iterations, runs, last_run;
  double first, last, total, parallel;
  double between; /* seconds from the end of a run to the beginning of the next, in all */
  int32_t current_threads;
  uint32_t teams;
  tsn_team team[TSANOM_SPEEDUP_TEAMS];
} tsn_loop;

/* A run of a loop that is going on. */
typedef struct {
  size_t period;
  uint64_t first; /* as the detector tells it: with the period, which one it is */
  uint64_t begun; /* index of the event that began the iteration under way */
  uint64_t iterations;
  tsn_loop *loop;
} tsn_live;

struct tsanom_speedup {
  void *block; /* from the allocator below; NULL: the memory is the caller's */
  void (*dealloc)(void *alloc_user, void *block);
  void *user;
  tsanom_speedup_options options;
  tsanom_dpd_nest *nest;
  tsn_past_event *past; /* a ring */
  uint64_t past_mask;
  uint64_t events;
  double parallel; /* seconds in all regions */
  tsn_loop *loops;
  size_t loop_count;
  bool lost; /* a loop found no room */
  bool finished;
  size_t live_count;
  tsn_live live[TSN_LIVE_MAX];
};

#endif
