/* SPDX-License-Identifier: BSD-3-Clause */
/* Smallest reducts of calls that are stopped: both bounds hold, and every set that is
 * visited suffices. */
#include <string.h>

#include "roughset/tables.h"
#include "support/check.h"

enum { MOST_ROWS = 100, MOST_ATTRIBUTES = 40, LEAST = 8 };

static int32_t values[MOST_ROWS * MOST_ATTRIBUTES], decision[MOST_ROWS];
static tsanom_roughset_table table;

static void prepare(void) {
  fill_family(FAMILY_BINARY, MOST_ROWS, MOST_ATTRIBUTES, values, decision);
  table = table_of(values, decision, MOST_ROWS, MOST_ATTRIBUTES);
}

static void check_suffices(const uint64_t *reduct, size_t size) {
  size_t all, kept;
  cr_assert((size_t)__builtin_popcountll(*reduct) == size);
  CHECK_STATUS(tsanom_roughset_dependency(&table, NULL, NULL, NULL, NULL, &all, NULL),
               TSANOM_OK);
  CHECK_STATUS(tsanom_roughset_dependency(&table, reduct, NULL, NULL, NULL, &kept, NULL),
               TSANOM_OK);
  cr_assert(kept == all);
}

static int32_t check_visited(void *user, const uint64_t *reduct, size_t size) {
  check_suffices(reduct, size);
  ++*(size_t *)user;
  return 0;
}

Test(roughset_minimum, a_limit_keeps_the_first_reducts, .init = prepare) {
  enum { WANTED = 5 };
  size_t visited = 0, found = 0;
  tsanom_roughset_options options;
  tsanom_roughset_bounds bounds;
  uint64_t reduct = 0;
  tsanom_roughset_options_init(&options, sizeof options);
  options.reduct_limit = WANTED;
  const tsanom_roughset_visitor visitor = {check_visited, &visited};
  CHECK_STATUS(
      tsanom_roughset_minimum(&table, &options, NULL, &visitor, &bounds, &reduct, &found),
      TSANOM_PARTIAL);
  cr_assert(bounds.lower == LEAST && bounds.upper == LEAST);
  cr_assert(visited == WANTED && found == WANTED, "%zu", found);
  check_suffices(&reduct, LEAST);
}

static int32_t stop_after(void *user, uint64_t done, uint64_t total) {
  (void)done, (void)total;
  return --*(long *)user < 0;
}

/* At each poll: the core, the greedy reduct, and the search. */
Test(roughset_minimum, bounds_hold_wherever_the_call_is_stopped, .init = prepare) {
  tsanom_status status = TSANOM_STOPPED;
  size_t lower = 0, upper = MOST_ATTRIBUTES;
  long left = 0;
  for (long after = 0; status == TSANOM_STOPPED; after++) {
    tsanom_exec exec;
    tsanom_roughset_bounds bounds;
    uint64_t reduct = 0;
    tsanom_exec_init(&exec, sizeof exec);
    exec.poll = stop_after;
    exec.poll_user = &left;
    left = after;
    status = tsanom_roughset_minimum(&table, NULL, &exec, NULL, &bounds, &reduct, NULL);
    cr_assert(status == TSANOM_OK || (status == TSANOM_STOPPED && left == -1));
    cr_assert(bounds.lower <= LEAST && bounds.upper >= LEAST);
    cr_assert(bounds.lower >= lower && bounds.upper <= upper);
    check_suffices(&reduct, bounds.upper);
    lower = bounds.lower;
    upper = bounds.upper;
  }
  cr_assert(lower == LEAST && upper == LEAST && left >= 0);
}
