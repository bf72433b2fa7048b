/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of every function of the module: workspaces, allocators, rejections,
 * stopping, untouched outputs. What rejections name: test_rejections.c. */
#include <string.h>

#include "roughset/tables.h"
#include "support/polls.h"
#include "support/workspace.h"

enum { TALL = 40, WIDE = 12, PAIRS = TALL * (TALL - 1) / 2 };

/* Everything a call can write, so that one comparison shows whether it did. */
typedef struct {
  uint64_t elements[PAIRS], set;
  int32_t kind[PAIRS], positive[TALL];
  size_t pairs[2 * PAIRS], count, size;
  double gamma, significance[WIDE], cuts[TALL];
  tsanom_roughset_bounds bounds;
  tsanom_roughset_rule rules[TALL];
} outputs;

static outputs out;
static int32_t values[TALL * WIDE], decision[TALL];
static double samples[TALL];
static uint64_t elements[PAIRS];
static size_t element_count;
static tsanom_roughset_table table;
static tsanom_roughset_options options;

/* The options that each kind of function uses. */
static const tsanom_roughset_options *only(bool reading, bool absorb,
                                           bool element_limit) {
  static tsanom_roughset_options o, defaults;
  o = options;
  tsanom_roughset_options_init(&defaults, sizeof defaults);
  if (!reading && o.reading >= 0 && o.reading <= 2) o.reading = defaults.reading;
  if (!absorb && o.absorb != 2) o.absorb = defaults.absorb;
  if (!element_limit && o.element_limit) o.element_limit = defaults.element_limit;
  return &o;
}

static void prepare(void) {
  fill_family(FAMILY_INCONSISTENT, TALL, WIDE, values, decision);
  table = table_of(values, decision, TALL, WIDE);
  tsanom_roughset_options_init(&options, sizeof options);
  for (int i = 0; i < TALL; i++) {
    samples[i] = i * 7 % 11;
  }
  CHECK_STATUS(
      tsanom_roughset_elements(&table, &options, NULL, elements, PAIRS, &element_count),
      TSANOM_OK);
  memset(&out, 0x5A, sizeof out);
}

typedef struct {
  const char *name;
  tsanom_status (*call)(const tsanom_exec *exec);
  bool of_table, stops, options, workspace;
} entry;

static const tsanom_roughset_options *only_limits(void) {
  static tsanom_roughset_options o;
  o = *only(false, false, false);
  if (o.missing == TSANOM_ROUGHSET_WILDCARD) o.missing = TSANOM_ROUGHSET_OWN_VALUE;
  return &o;
}

/* Arrays, outputs and callbacks of the next calls are NULL. */
static bool asks;

#define GIVEN(argument) (asks ? NULL : (argument))

static tsanom_status call_elements(const tsanom_exec *exec) {
  return tsanom_roughset_elements(&table, only(true, true, true), exec,
                                  GIVEN(out.elements), PAIRS, GIVEN(&out.count));
}

static tsanom_status call_matrix(const tsanom_exec *exec) {
  return tsanom_roughset_matrix(&table, only(false, false, false), exec, out.elements,
                                out.kind);
}

static tsanom_status call_inconsistent(const tsanom_exec *exec) {
  return tsanom_roughset_inconsistent(&table, only(false, false, false), exec,
                                      GIVEN(out.pairs), PAIRS, GIVEN(&out.count));
}

static tsanom_status call_core(const tsanom_exec *exec) {
  return tsanom_roughset_core(&table, only(true, false, false), exec, GIVEN(&out.set));
}

static tsanom_status call_reducts(const tsanom_exec *exec) {
  return tsanom_roughset_reducts(GIVEN(elements), element_count, WIDE, only_limits(),
                                 exec, NULL, GIVEN(&out.count));
}

static int32_t go_on(void *user, const uint64_t *reduct, size_t size) {
  (void)user, (void)reduct, (void)size;
  return 0;
}

static const tsanom_roughset_visitor visitor = {go_on, NULL};

static tsanom_status call_minimum(const tsanom_exec *exec) {
  return tsanom_roughset_minimum(&table, only(true, false, true), exec, GIVEN(&visitor),
                                 GIVEN(&out.bounds), GIVEN(&out.set), GIVEN(&out.count));
}

static tsanom_status call_greedy(const tsanom_exec *exec) {
  return tsanom_roughset_greedy(&table, only(true, false, true), exec, GIVEN(&out.set),
                                GIVEN(&out.size));
}

static tsanom_status call_choice(const tsanom_exec *exec) {
  return tsanom_roughset_paper_choice(GIVEN(elements), element_count, WIDE, exec,
                                      GIVEN(&visitor), GIVEN(&out.count));
}

static tsanom_status call_dependency(const tsanom_exec *exec) {
  return tsanom_roughset_dependency(&table, NULL, only(false, false, false), exec,
                                    GIVEN(out.positive), GIVEN(&out.size),
                                    GIVEN(&out.gamma));
}

static tsanom_status call_significance(const tsanom_exec *exec) {
  return tsanom_roughset_significance(&table, NULL, only(false, false, false), exec,
                                      GIVEN(out.significance));
}

static tsanom_status call_rules(const tsanom_exec *exec) {
  return tsanom_roughset_rules(&table, NULL, exec, GIVEN(out.rules), TALL,
                               GIVEN(&out.count));
}

static tsanom_status call_cuts(const tsanom_exec *exec) {
  return tsanom_roughset_cuts(GIVEN(samples), GIVEN(decision), TALL,
                              TSANOM_ROUGHSET_ENTROPY, 0, exec, GIVEN(out.cuts), TALL,
                              GIVEN(&out.count));
}

static const entry entries[] = {
    {"elements", call_elements, true, true, true, true},
    {"matrix", call_matrix, true, true, true, false},
    {"inconsistent", call_inconsistent, true, true, true, true},
    {"core", call_core, true, true, true, true},
    {"reducts", call_reducts, false, false, true, true},
    {"minimum", call_minimum, true, true, true, true},
    {"greedy", call_greedy, true, false, true, true},
    {"choice", call_choice, false, true, false, true},
    {"dependency", call_dependency, true, true, true, true},
    {"significance", call_significance, true, true, true, true},
    {"rules", call_rules, true, false, false, true},
    {"cuts", call_cuts, false, true, false, true}};

enum { ENTRIES = sizeof entries / sizeof *entries };

#define FOR_EACH_MODE(mode) for (int mode = 0; mode < 6; mode++)

static void set_mode(int mode) {
  options.reading = mode % 3;
  options.missing = mode / 3;
}

static bool untouched(const outputs *before) {
  return memcmp(before, &out, sizeof out) == 0;
}

/* The call as a workspace_call: everything that it writes is in `out`. */
static const entry *called;

static tsanom_status call_in(const tsanom_exec *exec, void *result) {
  const tsanom_roughset_table given = table;
  asks = !result;
  if (asks) table.values = table.decision = NULL;
  memset(&out, 0x5A, sizeof out);
  tsanom_status status = called->call(exec);
  if (status >= 0) memcpy(result, &out, sizeof out);
  table = given;
  asks = false;
  return status;
}

Test(roughset_contract, a_workspace_is_as_large_as_reported, .init = prepare) {
  FOR_EACH_MODE(mode) {
    set_mode(mode);
    for (size_t k = 0; k < ENTRIES; k++) {
      called = &entries[k];
      workspace_case one = {called->name, call_in, sizeof out};
      for (int32_t threads = 1; called->workspace && threads <= 3; threads += 2) {
        check_workspace(&one, threads);
      }
    }
  }
}

/* There are no more elements than sets of attributes. */
Test(roughset_contract, few_attributes_need_a_small_workspace) {
  tsanom_roughset_table tall = {.struct_size = sizeof tall, .rows = 100000};
  size_t bytes, count;
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 1);
  exec.work = &bytes;
  exec.work_needed = &bytes;
  for (tall.attributes = 1; tall.attributes <= 10; tall.attributes++) {
    CHECK_STATUS(tsanom_roughset_elements(&tall, NULL, &exec, NULL, 0, &count),
                 TSANOM_E_WORKSPACE);
    cr_assert_lt(bytes, (8 << 20) + 100 * tall.rows, "%zu", tall.attributes);
  }
}

Test(roughset_contract, tables_are_rejected_for_their_own_reasons, .init = prepare) {
  outputs before = out;
  const tsanom_roughset_table good = table;
  for (size_t k = 0; k < ENTRIES; k++) {
    if (!entries[k].of_table) continue;
    table.values = NULL;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_NULL);
    table = good;
    table.decision = NULL;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_NULL);
    table = good;
    table.rows = 0;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_COUNT);
    table = good;
    table.attributes = 0;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_COUNT);
    table = good;
    table.ld = WIDE - 1;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_OPTION);
    table = good;
    table.rows = SIZE_MAX / 8;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_OVERFLOW);
    table = good;
    decision[3] = TSANOM_ROUGHSET_MISSING;
    CHECK_STATUS(entries[k].call(NULL), TSANOM_E_VALUE);
    decision[3] = 0;
    cr_assert(untouched(&before), "%s", entries[k].name);
  }
}

Test(roughset_contract, options_and_execution_are_rejected, .init = prepare) {
  outputs before = out;
  const tsanom_roughset_options good = options;
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, -1);
  for (size_t k = 0; k < ENTRIES; k++) {
    CHECK_STATUS(entries[k].call(&exec), TSANOM_E_EXEC);
    if (!entries[k].options) continue;
    for (int field = 0; field < 5; field++) {
      options = good;
      if (field == 0) options.reading = 3;
      if (field == 1) options.missing = -1;
      if (field == 2) options.absorb = 2;
      if (field == 3) options.reserved0 = 1;
      if (field == 4) options.element_limit = 0;
      CHECK_STATUS(entries[k].call(NULL), TSANOM_E_OPTION);
    }
    options = good;
    cr_assert(untouched(&before), "%s", entries[k].name);
  }
}

Test(roughset_contract, the_poll_stops_every_search, .init = prepare) {
  FOR_EACH_MODE(mode) {
    set_mode(mode);
    for (size_t k = 0; k < ENTRIES; k++) {
      if (!entries[k].stops) continue;
      test_polls p = {.stop_at = 1};
      tsanom_exec exec = exec_polled(test_poll, &p);
      tsanom_status status = entries[k].call(&exec);
      cr_assert(status == TSANOM_STOPPED, "%s: %s", entries[k].name,
                tsanom_status_name(status));
    }
  }
}

Test(roughset_contract, a_limit_on_elements_is_kept, .init = prepare) {
  outputs before = out;
  options.element_limit = 3;
  CHECK_STATUS(call_elements(NULL), TSANOM_E_WORKSPACE);
  cr_assert(untouched(&before));
  tsanom_status status = call_minimum(NULL);
  cr_assert(status == TSANOM_PARTIAL && out.bounds.lower <= out.bounds.upper);
}
