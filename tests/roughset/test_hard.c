/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that take more nodes than a search without bounds is allowed. A sparse one:
 * local search, Lagrangian bounds and cuts; its smallest size, 47, was also proven by an
 * integer program. One whose rows are split. */
#include <string.h>

#include "roughset/tables.h"
#include "support/check.h"

enum { HARD_ROWS = 200, HARD_ATTRIBUTES = 80, LEAST = 47, WORDS = 2 };

static int32_t values[HARD_ROWS * HARD_ATTRIBUTES], decision[HARD_ROWS];
static tsanom_roughset_table table;

static void prepare(void) {
  fill_family(FAMILY_SPARSE, HARD_ROWS, HARD_ATTRIBUTES, values, decision);
  table = table_of(values, decision, HARD_ROWS, HARD_ATTRIBUTES);
}

static void check_suffices(const uint64_t *reduct, size_t size) {
  size_t all, kept;
  cr_assert((size_t)(__builtin_popcountll(reduct[0]) + __builtin_popcountll(reduct[1])) ==
            size);
  CHECK_STATUS(tsanom_roughset_dependency(&table, NULL, NULL, NULL, NULL, &all, NULL),
               TSANOM_OK);
  CHECK_STATUS(tsanom_roughset_dependency(&table, reduct, NULL, NULL, NULL, &kept, NULL),
               TSANOM_OK);
  cr_assert(kept == all);
}

Test(roughset_hard, the_smallest_reduct_is_the_same_for_every_level_and_thread,
     .init = prepare) {
  uint64_t first[WORDS], reduct[WORDS];
  FOR_EACH_ISA (isa) {
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    exec.isa = isa;
    exec.threads = 1 + (isa != TSANOM_ISA_BASE);
    tsanom_roughset_bounds bounds;
    CHECK_STATUS(
        tsanom_roughset_minimum(&table, NULL, &exec, NULL, &bounds, reduct, NULL),
        TSANOM_OK);
    cr_assert(bounds.lower == LEAST && bounds.upper == LEAST);
    check_suffices(reduct, LEAST);
    if (isa == TSANOM_ISA_BASE) memcpy(first, reduct, sizeof first);
    cr_assert(memcmp(first, reduct, sizeof first) == 0);
  }
}

static int32_t check_visited(void *user, const uint64_t *reduct, size_t size) {
  check_suffices((const uint64_t[WORDS]){*reduct}, size);
  ++*(size_t *)user;
  return 0;
}

/* The search for hitting sets finds as many. */
Test(roughset_hard, smallest_sets_that_discern_all_rows) {
  enum { TALL = 150, WIDE = 36, SMALLEST = 10, SETS = 2366 };
  fill_family(FAMILY_DISTINCT, TALL, WIDE, values, decision);
  table = table_of(values, decision, TALL, WIDE);
  for (int limited = 0; limited <= 1; limited++) {
    size_t visited = 0, found = 0, wanted = limited ? 5 : SETS;
    tsanom_roughset_options options;
    tsanom_roughset_bounds bounds;
    uint64_t reduct[WORDS] = {0};
    tsanom_roughset_options_init(&options, sizeof options);
    options.reduct_limit = limited ? wanted : SIZE_MAX;
    const tsanom_roughset_visitor visitor = {check_visited, &visited};
    CHECK_STATUS(tsanom_roughset_minimum(&table, &options, NULL, &visitor, &bounds,
                                         reduct, &found),
                 limited ? TSANOM_PARTIAL : TSANOM_OK);
    cr_assert(bounds.lower == SMALLEST && bounds.upper == SMALLEST);
    cr_assert(visited == wanted && found == wanted, "%zu", found);
    check_suffices(reduct, SMALLEST);
  }
}

static int32_t stop_after(void *user, uint64_t done, uint64_t total) {
  (void)done, (void)total;
  return --*(long *)user < 0;
}

/* The search for hitting sets takes 2881 polls, that by splitting 1704. */
Test(roughset_hard, rows_that_all_differ_are_split) {
  enum { WIDE = 48 };
  long left = 2300;
  tsanom_exec exec;
  tsanom_roughset_bounds bounds;
  uint64_t reduct[WORDS];
  fill_family(FAMILY_DISTINCT, HARD_ROWS, WIDE, values, decision);
  table = table_of(values, decision, HARD_ROWS, WIDE);
  tsanom_exec_init(&exec, sizeof exec);
  exec.poll = stop_after;
  exec.poll_user = &left;
  CHECK_STATUS(tsanom_roughset_minimum(&table, NULL, &exec, NULL, &bounds, reduct, NULL),
               TSANOM_OK);
  cr_assert(bounds.lower == 10 && bounds.upper == 10);
}

/* In the search without bounds, in the local search, at the
 * root, and below. */
Test(roughset_hard, bounds_hold_wherever_the_call_is_stopped, .init = prepare) {
  long left = 0;
  tsanom_status status = TSANOM_STOPPED;
  size_t lower = 0, upper = HARD_ATTRIBUTES;
  for (long after = 40; status == TSANOM_STOPPED; after += after / 2) {
    tsanom_exec exec;
    tsanom_roughset_bounds bounds;
    uint64_t reduct[WORDS];
    tsanom_exec_init(&exec, sizeof exec);
    exec.poll = stop_after;
    exec.poll_user = &left;
    left = after;
    status = tsanom_roughset_minimum(&table, NULL, &exec, NULL, &bounds, reduct, NULL);
    cr_assert(status == TSANOM_OK || (status == TSANOM_STOPPED && left == -1));
    cr_assert(bounds.lower <= LEAST && bounds.upper >= LEAST);
    cr_assert(bounds.lower >= lower && bounds.upper <= upper);
    check_suffices(reduct, bounds.upper);
    lower = bounds.lower;
    upper = bounds.upper;
  }
  cr_assert(lower == LEAST && upper == LEAST && left >= 0);
}

/* The same for a table that takes few nodes, at each poll. */
Test(roughset_hard, bounds_hold_at_every_poll_of_an_easy_table) {
  enum { TALL = 40, WIDE = 12 };
  tsanom_roughset_bounds full, bounds;
  uint64_t reduct[WORDS] = {0};
  long left = 0;
  fill_family(FAMILY_MIXED, TALL, WIDE, values, decision);
  table = table_of(values, decision, TALL, WIDE);
  CHECK_STATUS(tsanom_roughset_minimum(&table, NULL, NULL, NULL, &full, reduct, NULL),
               TSANOM_OK);
  tsanom_status status = TSANOM_STOPPED;
  for (long after = 0; status == TSANOM_STOPPED; after++) {
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    exec.poll = stop_after;
    exec.poll_user = &left;
    left = after;
    status = tsanom_roughset_minimum(&table, NULL, &exec, NULL, &bounds, reduct, NULL);
    cr_assert(bounds.lower <= full.lower && bounds.upper >= full.upper);
    check_suffices(reduct, bounds.upper);
  }
  CHECK_STATUS(status, TSANOM_OK);
  cr_assert(bounds.lower == full.lower && bounds.upper == full.upper);
}
