/* SPDX-License-Identifier: BSD-3-Clause */
/* Decision tables: reducts, core, minimum and greedy reducts, and dependency beside all
 * subsets of the attributes, for every reading. */
#include "input.h"
#include "roughset/naive.h"
#include "roughset/tables.h"
#include "support/ask.h"

enum { ROWS = 10, ATTRIBUTES = 6, SUBSETS = 1 << ATTRIBUTES, PAIRS = ROWS * ROWS };

typedef struct {
  tsanom_roughset_table table;
  tsanom_roughset_options options;
  int32_t values[ROWS * ATTRIBUTES], decision[ROWS];
} problem;

typedef struct {
  size_t count;
  uint64_t sets[SUBSETS];
} set_list;

static int32_t collect(void *user, const uint64_t *reduct, size_t size) {
  set_list *list = user;
  demand((size_t)__builtin_popcountll(*reduct) == size && list->count < SUBSETS);
  list->sets[list->count++] = *reduct;
  return 0;
}

static int32_t take_code(fuzz_input *in) {
  static const int32_t codes[] = {0, 1, 2, -1, INT32_MAX};
  return codes[take_between(in, 0, 4)];
}

static void take_problem(fuzz_input *in, problem *p) {
  size_t rows = take_between(in, 1, ROWS), m = take_between(in, 1, ATTRIBUTES);
  p->table = table_of(p->values, p->decision, rows, m);
  tsanom_roughset_options_init(&p->options, sizeof p->options);
  p->options.reading = (int32_t)take_between(in, 0, 2);
  p->options.missing = (int32_t)take_between(in, 0, 1);
  p->options.absorb = (int32_t)take_between(in, 0, 1);
  size_t lost = take_byte(in);
  for (size_t i = 0; i < rows; i++) {
    p->decision[i] = take_code(in);
    for (size_t a = 0; a < m; a++) {
      int32_t code = take_code(in);
      p->values[i * m + a] = lost > 100 && code == -1 ? TSANOM_ROUGHSET_MISSING : code;
    }
  }
}

static int contains(const set_list *list, uint64_t set) {
  size_t i = 0;
  while (i < list->count && list->sets[i] != set) i++;
  return i < list->count;
}

static int same_sets(const set_list *a, const set_list *b) {
  for (size_t i = 0; i < a->count; i++) {
    if (!contains(b, a->sets[i])) return 0;
  }
  return a->count == b->count;
}

static void check_reducts(const problem *p, const set_list *expected,
                          const tsanom_exec *exec) {
  uint64_t elements[PAIRS];
  set_list found = {0};
  tsanom_roughset_visitor visitor = {collect, &found};
  size_t count, visited, bytes;
  demand(tsanom_roughset_elements(&p->table, &p->options, exec, elements, PAIRS,
                                  &count) == TSANOM_OK);
  tsanom_exec ask = ask_exec(exec, &bytes);
  demand(tsanom_roughset_reducts(NULL, count, p->table.attributes, NULL, &ask, NULL,
                                 NULL) == TSANOM_E_WORKSPACE);
  tsanom_exec own = with_work(*exec, bytes);
  demand(tsanom_roughset_reducts(elements, count, p->table.attributes, NULL, &own,
                                 &visitor, &visited) == TSANOM_OK);
  drop_work(&own);
  demand(visited == found.count && same_sets(&found, expected));
}

/* The core is in all reducts, and everything that is in all reducts is in the core. */
static void check_core(const problem *p, const set_list *expected,
                       const tsanom_exec *exec) {
  uint64_t core, all = UINT64_MAX;
  for (size_t i = 0; i < expected->count; i++) all &= expected->sets[i];
  demand(tsanom_roughset_core(&p->table, use_reading(&p->options), exec, &core) ==
         TSANOM_OK);
  demand(core == all);
}

static void check_minimum(const problem *p, const set_list *expected,
                          const tsanom_exec *exec) {
  set_list found = {0}, least = {0};
  tsanom_roughset_visitor visitor = {collect, &found};
  tsanom_roughset_bounds bounds;
  uint64_t reduct;
  size_t visited, size;
  int smallest = ATTRIBUTES;
  for (size_t i = 0; i < expected->count; i++) {
    int own = __builtin_popcountll(expected->sets[i]);
    smallest = own < smallest ? own : smallest;
  }
  for (size_t i = 0; i < expected->count; i++) {
    if (__builtin_popcountll(expected->sets[i]) == smallest) {
      least.sets[least.count++] = expected->sets[i];
    }
  }
  const tsanom_roughset_options *options = use_reading(&p->options);
  demand(tsanom_roughset_minimum(&p->table, options, exec, &visitor, &bounds, &reduct,
                                 &visited) == TSANOM_OK);
  demand(bounds.lower == (size_t)smallest && bounds.upper == (size_t)smallest);
  demand(visited == found.count && same_sets(&found, &least) && contains(&least, reduct));
  demand(tsanom_roughset_greedy(&p->table, options, exec, &reduct, &size) == TSANOM_OK);
  demand(contains(expected, reduct) && size == (size_t)__builtin_popcountll(reduct));
}

static void check_dependency(const problem *p, uint64_t subset, const tsanom_exec *exec) {
  int wild = p->options.missing == TSANOM_ROUGHSET_WILDCARD;
  int32_t positive[ROWS];
  size_t size, expected = naive_positive(&p->table, wild, subset);
  double gamma;
  demand(tsanom_roughset_dependency(&p->table, &subset, use_missing(&p->options), exec,
                                    positive, &size, &gamma) == TSANOM_OK);
  demand(size == expected && gamma == (double)expected / (double)p->table.rows);
  for (size_t x = 0; x < p->table.rows; x++) {
    demand(positive[x] == naive_certain(&p->table, subset, wild, x));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static problem p;
  static bool good[SUBSETS];
  fuzz_input in = {data, data + size};
  tsanom_exec exec = take_exec(&in);
  uint64_t subset = take_byte(&in);
  take_problem(&in, &p);
  set_list expected;
  expected.count = naive_reducts(&p.table, &p.options, good, expected.sets);
  check_reducts(&p, &expected, &exec);
  check_core(&p, &expected, &exec);
  check_minimum(&p, &expected, &exec);
  check_dependency(&p, subset & (((uint64_t)1 << p.table.attributes) - 1), &exec);
  return 0;
}
