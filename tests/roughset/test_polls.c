/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of many rows: the poll is called while rows are grouped, and stops each of these
 * steps. */
#include "roughset/tables.h"
#include "support/check.h"
#include "support/exec.h"

enum { ROWS = 60000, ATTRIBUTES = 16, MANY_CUTS = 3 << 20 };

static int32_t values[ROWS * ATTRIBUTES], decision[ROWS];
static double samples[ROWS], cuts[ROWS], many_cuts[MANY_CUTS];
static size_t pairs[2 * ROWS], found;
static uint64_t set;
static tsanom_roughset_table table;

static void prepare(void) {
  uint64_t seed = 1;
  for (size_t i = 0; i < ROWS * ATTRIBUTES; i++) {
    values[i] = (int32_t)random_between(&seed, 0, 9);
  }
  for (size_t i = 0; i < ROWS; i++) {
    decision[i] = (int32_t)random_between(&seed, 0, 1);
    samples[i] = random_unit(&seed);
  }
  table = (tsanom_roughset_table){.struct_size = sizeof table};
  table.values = values;
  table.rows = ROWS;
  table.attributes = ATTRIBUTES;
  table.decision = decision;
}

static tsanom_status call_greedy(const tsanom_exec *exec) {
  return tsanom_roughset_greedy(&table, NULL, exec, &set, &found);
}

static tsanom_status call_core(const tsanom_exec *exec) {
  return tsanom_roughset_core(&table, NULL, exec, &set);
}

static tsanom_status call_inconsistent(const tsanom_exec *exec) {
  return tsanom_roughset_inconsistent(&table, NULL, exec, pairs, ROWS, &found);
}

static tsanom_status call_cuts(const tsanom_exec *exec) {
  return tsanom_roughset_cuts(samples, decision, ROWS, TSANOM_ROUGHSET_ENTROPY, 4, exec,
                              cuts, ROWS, &found);
}

/* Of few samples the bins take the time. */
static tsanom_status call_many_bins(const tsanom_exec *exec) {
  return tsanom_roughset_cuts(samples, NULL, 4, TSANOM_ROUGHSET_EQUAL_WIDTH, 3 << 20,
                              exec, many_cuts, MANY_CUTS, &found);
}

typedef struct {
  int calls, most;
  bool beyond;
} polls;

static int32_t count_polls(void *user, uint64_t done, uint64_t total) {
  polls *p = user;
  p->beyond |= done > total;
  return p->calls++ == p->most;
}

Test(roughset_polls, every_step_of_a_large_table_can_be_stopped, .init = prepare) {
  tsanom_status (*const functions[])(const tsanom_exec *) = {
      call_greedy, call_core, call_inconsistent, call_cuts, call_many_bins};
  /* Without polls in the grouping of rows: 20, 16, ROWS, 1, 1. */
  const int least[] = {60, ATTRIBUTES + 6, ROWS + 3, 7, 3};
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    for (int32_t threads = 1; threads <= 2; threads++) {
      int most = 0, before = 0;
      for (; before <= most; before += 1 + before / 8) {
        polls seen = {.most = most ? before : -1};
        tsanom_exec exec = exec_polled(count_polls, &seen);
        exec.threads = threads;
        set = 77;
        tsanom_status status = functions[k](&exec);
        if (most == 0) {
          cr_assert(status >= 0 && status != TSANOM_STOPPED);
          cr_assert(!seen.beyond || functions[k] == call_cuts);
          most = seen.calls - 1;
          before = -1;
          continue;
        }
        /* The share of thread 0, which polls, varies. */
        if (threads > 1 && seen.calls <= before) continue;
        cr_assert(status == TSANOM_STOPPED && seen.calls == before + 1);
        cr_assert(set == 77);
      }
      cr_assert(threads > 1 || most + 1 >= least[k], "function %zu: %d polls", k,
                most + 1);
    }
  }
}

/* Pairs are marked in a bitmap, unit by unit. */
Test(roughset_polls, the_marking_of_pairs_can_be_stopped, .init = prepare) {
  static uint64_t elements[64];
  size_t count = 0;
  table.rows = 20000;
  polls seen = {.most = 10};
  tsanom_exec exec = exec_polled(count_polls, &seen);
  cr_assert(tsanom_roughset_elements(&table, NULL, &exec, elements, 64, &count) ==
            TSANOM_STOPPED);
  cr_assert(seen.calls == 11 && !seen.beyond);
}

/* Rows of one decision have no pairs: what is stopped is their grouping and packing. */
Test(roughset_polls, the_packing_of_rows_can_be_stopped, .init = prepare) {
  size_t count = 0;
  memset(decision, 0, sizeof decision);
  int most = -1, calls = 0;
  do {
    polls seen = {.most = most};
    tsanom_exec exec = exec_polled(count_polls, &seen);
    tsanom_status status = tsanom_roughset_elements(&table, NULL, &exec, &set, 1, &count);
    cr_assert(status == (most < 0 ? TSANOM_OK : TSANOM_STOPPED) && !seen.beyond);
    if (most < 0) calls = seen.calls;
    cr_assert(most < 0 || seen.calls == most + 1);
  } while (++most < calls);
  /* One for each attribute, one for 2^14 rows. */
  cr_assert(calls >= ATTRIBUTES + ROWS / 16384, "%d polls", calls);
}
