/* SPDX-License-Identifier: BSD-3-Clause */
/* Two states, looking and settled, and the moves between them:
 *
 *   looking ──many events of the loop's places──────────▶ settled: events are compared
 *       ▲                                                  │
 *       └──────────── an event of another place ───────────┘
 *
 * The events of a settled loop are not kept. Whole iterations that are left out shorten the
 * inner loop of a longer one, but do not change which events are in its iterations.
 *
 * When to look: where a place has its fourth event, three iterations may be complete; and
 * where a quarter of the events is new, or half of them if all these are of the places of the
 * loop that is followed, and the latest look found no other one. No two looks are closer than
 * an eighth of the events, so that all of them together cost a few passes over the history. If
 * a whole history had no loop, the next ones are looked at when they are full, and only number
 * 2, 4, 8, ... of them: events that do not repeat cost most.
 *
 * The loop that was found is left for another one only if that contains it, if two looks find
 * one with more iterations, or if it has ended: no iteration has begun for four times the
 * longest.
 *
 * A loop that goes on counts on less evidence than one that has ended, since more may come. So when
 * the program ends, a last look at a history that has all events says which main loop they show as a
 * whole. If it is another one, its iterations replace those that were counted; if there is none, these
 * are taken back. */
#include "iterations.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <tsanom/dpd.h>

#include "record/clock.h"
#include "section.h"

static const icp_begins no_loop = {.anchor = ICP_NO_ANCHOR,
                                   .previous = ICP_NO_ANCHOR,
                                   .not_after = ICP_NO_ANCHOR,
                                   .every = 1,
                                   .latest = ICP_NO_ANCHOR};

enum { THIRD_DONE = 4, ENDED_AFTER = 4, ENDED_LEAST = 16 };

/* Shared by all streams: the watched thread alone looks. */
static void *work;
static size_t work_bytes;

static void *take(size_t bytes) {
  void *taken =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return taken == MAP_FAILED ? NULL : taken;
}

static tsanom_dpd_main_options options_of(uint32_t kinds) {
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = kinds;
  options.ended = 0;
  options.active = 1;
  return options;
}

int icp_iterations_start(icp_iterations *iterations) {
  tsanom_dpd_main_options options = options_of(TSN_REGIONS_PLACES_MAX);
  memset(iterations, 0, sizeof *iterations);
  iterations->begin = iterations->other = no_loop;
  if (!work) {
    tsanom_exec ask;
    tsanom_exec_init(&ask, sizeof ask);
    ask.work = &work;
    ask.work_needed = &work_bytes;
    if (tsanom_dpd_main_loop(NULL, NULL, ICP_HISTORY, &options, &ask, NULL, NULL, 0) !=
        TSANOM_E_WORKSPACE) {
      return EINVAL;
    }
    work = take(work_bytes);
  }
  iterations->history = take(ICP_HISTORY * sizeof *iterations->history);
  iterations->moment = take((ICP_HISTORY + 1) * sizeof *iterations->moment);
  iterations->seen = take(TSN_REGIONS_PLACES_MAX);
  return work && iterations->history && iterations->moment && iterations->seen ? 0
                                                                               : ENOMEM;
}

enum { SET_BYTES = TSN_REGIONS_PLACES_MAX / 8 };

/* The places of events [first, end) of the history. */
static void set_places(const icp_iterations *iterations, size_t first, size_t end,
                       uint64_t *set) {
  memset(set, 0, SET_BYTES);
  for (size_t i = first; i < end; i++) {
    uint32_t event = iterations->history[i];
    set[event / 64] |= (uint64_t)1 << event % 64;
  }
}

void icp_iterations_name(icp_iterations *iterations, uint32_t anchor) {
  bool is_known = anchor != ICP_NO_ANCHOR;
  iterations->begin.anchor = anchor;
  iterations->named = true;
  iterations->settled = is_known;
  memset(iterations->member, is_known ? 0xff : 0, SET_BYTES);
}

/* Whether the loop that is followed has ended. */
static bool has_ended(const icp_iterations *iterations) {
  return iterations->begin.anchor != ICP_NO_ANCHOR &&
         iterations->since > ENDED_AFTER * iterations->longest + ENDED_LEAST;
}

static uint32_t event_of(size_t event) {
  return event == TSANOM_NONE ? ICP_NO_ANCHOR : (uint32_t)event;
}

/* The begins of the loop that was found, before its first event. */
static icp_begins begins_of(const tsanom_dpd_main *found) {
  return (icp_begins){.anchor = event_of(found->anchor),
                      .previous = event_of(found->previous),
                      .not_after = event_of(found->not_after),
                      .every = (uint32_t)found->every,
                      .count = (uint32_t)found->every - 1,
                      .latest = event_of(found->previous)};
}

/* How many iterations of the loop that is followed began since the first of the loop that was
 * found. */
static size_t count_since(const icp_iterations *iterations,
                          const tsanom_dpd_main *found) {
  icp_begins begin = iterations->begin;
  size_t count = 0;
  for (size_t i = found->first; i < iterations->count; i++) {
    count += icp_begins_push(&begin, iterations->history[i]);
  }
  return count;
}

/* Follow the iterations from event `first` of the history on, and note when those began that have
 * passed; the latest event, which may begin the next, is yet to be counted. */
static void follow_from(icp_iterations *iterations, size_t first) {
  icp_early *early = &iterations->early;
  early->count = 0;
  for (size_t i = first; i + 1 < iterations->count; i++) {
    if (!icp_begins_push(&iterations->begin, iterations->history[i])) continue;
    early->moment[early->count++ % ICP_EARLY] = (uint64_t)iterations->moment[i];
  }
}

static bool is_same(const icp_begins *a, const icp_begins *b) {
  return a->anchor == b->anchor && a->previous == b->previous &&
         a->not_after == b->not_after && a->every == b->every;
}

/* Whether the latest look found this loop too. */
static bool is_found_again(icp_iterations *iterations, const icp_begins *begin) {
  bool is_again = is_same(&iterations->other, begin);
  iterations->other = *begin;
  return is_again;
}

/* Whether to follow the loop that was found instead of another one that is followed, with
 * numbers that begin anew: at once if it contains that one; if it has more iterations, when the next
 * look finds it too. With as many it is the same loop from another place on. */
static bool takes_over(icp_iterations *iterations, const tsanom_dpd_main *found,
                       const icp_begins *begin) {
  size_t count = count_since(iterations, found);
  if (count > found->iterations + 1) return true;
  return count + 1 < found->iterations && is_found_again(iterations, begin);
}

/* Follow the loop that was found, unless the one that is followed goes on beside it. */
static void follow(icp_iterations *iterations, const tsanom_dpd_main *found,
                   const icp_begins *begin) {
  bool is_first = iterations->begin.anchor == ICP_NO_ANCHOR;
  bool anew = is_first || takes_over(iterations, found, begin);
  if (!anew && !has_ended(iterations)) return;
  iterations->restarts |= anew;
  iterations->moved = !anew || (iterations->left_out && !is_first);
  iterations->begin = *begin;
  iterations->longest = iterations->since = 0;
  if (found->iterations) {
    iterations->longest = 2 * (iterations->count - found->first) / found->iterations;
  }
  iterations->unchanged = iterations->begins = 0;
  iterations->fruitless = 0;
  iterations->settles = ICP_SETTLED_SPANS * (iterations->count - found->first);
  if (iterations->settles < ICP_SETTLED) iterations->settles = ICP_SETTLED;
  set_places(iterations, found->first, iterations->count, iterations->member);
  follow_from(iterations, found->first);
}

static tsanom_status find(const icp_iterations *iterations,
                          const tsanom_dpd_main_options *options, tsanom_dpd_main *found,
                          tsanom_dpd_iteration *iteration, size_t capacity) {
  tsanom_exec exec;
  tsanom_exec_init(&exec, sizeof exec);
  exec.work = work;
  exec.work_bytes = work_bytes;
  *found = (tsanom_dpd_main){.struct_size = sizeof *found};
  iterations->moment[iterations->count] = iterations->moment[iterations->count - 1];
  return tsanom_dpd_main_loop(iterations->history, iterations->moment, iterations->count,
                              options, &exec, found, iteration, capacity);
}

static void look(void *argument) {
  icp_iterations *iterations = argument;
  tsanom_dpd_main found;
  tsanom_dpd_main_options options = options_of(iterations->kinds);
  iterations->looked = iterations->count;
  if (find(iterations, &options, &found, NULL, 0) != TSANOM_OK) return;
  icp_begins begin = begins_of(&found);
  if (is_same(&iterations->begin, &begin)) {
    iterations->other = no_loop;
  } else {
    follow(iterations, &found, &begin);
  }
}

bool icp_iterations_look_last(const icp_iterations *iterations, icp_whole *whole) {
  tsanom_dpd_main found;
  tsanom_dpd_main_options options = options_of(iterations->kinds);
  options.ended = 1;
  options.active = 0;
  if (!iterations->count || iterations->left_out) return false;
  tsanom_dpd_iteration *iteration = take(ICP_HISTORY * sizeof *iteration);
  if (!iteration) return false;
  tsanom_status status = find(iterations, &options, &found, iteration, ICP_HISTORY);
  *whole = (icp_whole){.moment = iterations->moment, .iteration = iteration};
  if (status == TSANOM_OK) {
    whole->count = found.iterations;
    whole->covered = found.covered;
  }
  return status == TSANOM_OK || status == TSANOM_INFEASIBLE;
}

/* Whether no look at this history will come. */
static bool is_passed_over(const icp_iterations *iterations) {
  uint32_t number = iterations->fruitless + 1;
  return (number & (number - 1)) != 0;
}

/* A full history without a loop that goes on is of no more use. */
static void keep(icp_iterations *iterations, uint32_t event) {
  if (iterations->count == ICP_HISTORY) {
    iterations->left_out = true;
    iterations->count = iterations->looked = 0;
    iterations->fruitless++;
    memset(iterations->seen, 0, TSN_REGIONS_PLACES_MAX);
  }
  if (is_passed_over(iterations)) {
    iterations->count++;
    return;
  }
  iterations->moment[iterations->count] = (double)tsn_clock_monotonic();
  iterations->history[iterations->count++] = event;
  if (event >= iterations->kinds) iterations->kinds = event + 1;
  if (iterations->seen[event] < THIRD_DONE) iterations->seen[event]++;
}

/* Behind a loop that has ended, the events since then count, not those before. */
static bool is_due(const icp_iterations *iterations, bool is_fourth) {
  uint64_t count = iterations->count, more = count - iterations->looked;
  bool is_over = has_ended(iterations);
  if (more < count / 8 && !is_over && count < ICP_HISTORY) return false;
  if (count < ICP_LEAST) return false;
  if (iterations->fruitless) {
    return count == ICP_HISTORY && !is_passed_over(iterations);
  }
  if (is_over && iterations->since < count) count = iterations->since;
  bool is_usual = iterations->unchanged >= more && is_same(&iterations->other, &no_loop);
  return more > count / (is_usual ? 2 : 4) || (is_fourth && more >= count / 8) ||
         iterations->count == ICP_HISTORY;
}

bool icp_iterations_detect(icp_iterations *iterations, uint32_t event) {
  if (iterations->named) return false;
  bool is_fourth = iterations->seen[event] == THIRD_DONE - 1;
  keep(iterations, event);
  if (is_due(iterations, is_fourth)) icp_section(look, iterations);
  bool begins = icp_iterations_count(iterations, event);
  if (iterations->begin.anchor == ICP_NO_ANCHOR) return false;
  iterations->begins += begins;
  iterations->unchanged++;
  if (!icp_set_has(iterations->member, event)) {
    iterations->unchanged = iterations->begins = 0;
  }
  iterations->settled = iterations->unchanged >= iterations->settles &&
                        iterations->begins >= ICP_SETTLED_ITERATIONS;
  iterations->left_out |= iterations->settled;
  return begins;
}
