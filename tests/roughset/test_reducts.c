/* SPDX-License-Identifier: BSD-3-Clause */
/* Reducts against all subsets, known hypergraphs, and the limits. */
#include <math.h>
#include <string.h>

#include "roughset/naive.h"
#include "roughset/random_table.h"
#include "support/check.h"
#include "support/exec.h"

enum { MOST_SETS = 1 << 16 };

static bool good[1 << ATTRIBUTES];

typedef struct {
  size_t count, stop_after;
  uint64_t sets[MOST_SETS];
} set_list;

static int32_t collect(void *user, const uint64_t *reduct, size_t size) {
  set_list *list = user;
  cr_assert((size_t)__builtin_popcountll(reduct[0]) == size);
  cr_assert(list->count < MOST_SETS);
  list->sets[list->count++] = reduct[0];
  return list->count == list->stop_after;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void sort_sets(set_list *list) {
  if (list->count > 0) qsort(list->sets, list->count, sizeof *list->sets, by_number);
}

Test(roughset_reducts, are_the_minimal_subsets_that_preserve_the_reading) {
  uint64_t seed = 21;
  static set_list expected, found;
  for (int trial = 0; trial < CASES(1500); trial++) {
    random_table r = make_random_table(&seed);
    uint64_t elements[ROWS * ROWS];
    size_t count, visited;
    expected.count = naive_reducts(&r.table, &r.options, good, expected.sets);
    CHECK_STATUS(tsanom_roughset_elements(&r.table, &r.options, NULL, elements,
                                          ROWS * ROWS, &count),
                 TSANOM_OK);
    found.count = 0;
    CHECK_STATUS(
        tsanom_roughset_reducts(elements, count, r.table.attributes, NULL, NULL,
                                &(tsanom_roughset_visitor){collect, &found}, &visited),
        TSANOM_OK);
    sort_sets(&found);
    cr_assert(visited == expected.count && found.count == visited,
              "trial %d: %zu, not %zu", trial, visited, expected.count);
    cr_assert(memcmp(found.sets, expected.sets, visited * sizeof *found.sets) == 0);
  }
}

Test(roughset_reducts, the_smallest_and_the_greedy_are_among_all) {
  uint64_t seed = 22;
  static set_list expected, found;
  for (int trial = 0; trial < CASES(1500); trial++) {
    random_table r = make_random_table(&seed);
    size_t least = ATTRIBUTES, many = 0, visited, size;
    expected.count = naive_reducts(&r.table, &r.options, good, expected.sets);
    for (size_t i = 0; i < expected.count; i++) {
      size_t here = (size_t)__builtin_popcountll(expected.sets[i]);
      many = here < least ? 1 : many + (here == least);
      least = here < least ? here : least;
    }
    tsanom_roughset_bounds bounds;
    uint64_t reduct;
    found.count = 0;
    CHECK_STATUS(tsanom_roughset_minimum(&r.table, use_reading(&r.options), NULL,
                                         &(tsanom_roughset_visitor){collect, &found},
                                         &bounds, &reduct, &visited),
                 TSANOM_OK);
    cr_assert(bounds.lower == least && bounds.upper == least, "trial %d", trial);
    cr_assert(visited == many && found.count == many, "trial %d: %zu", trial, visited);
    for (size_t i = 0; i < found.count; i++) {
      cr_assert(bsearch(&found.sets[i], expected.sets, expected.count,
                        sizeof *expected.sets, by_number));
    }
    CHECK_STATUS(tsanom_roughset_minimum(&r.table, use_reading(&r.options), NULL, NULL,
                                         &bounds, &reduct, NULL),
                 TSANOM_OK);
    cr_assert((size_t)__builtin_popcountll(reduct) == least && bounds.lower == least);
    cr_assert(bsearch(&reduct, expected.sets, expected.count, sizeof reduct, by_number));
    CHECK_STATUS(
        tsanom_roughset_greedy(&r.table, use_reading(&r.options), NULL, &reduct, &size),
        TSANOM_OK);
    cr_assert(bsearch(&reduct, expected.sets, expected.count, sizeof reduct, by_number),
              "trial %d: greedy %llx is no reduct", trial, (unsigned long long)reduct);
    cr_assert((size_t)__builtin_popcountll(reduct) == size);
  }
}

/* Large enough for the counting of the greedy reduct to go parallel. */
Test(roughset_reducts, large_tables_do_not_depend_on_threads_or_level) {
  enum { MANY = 6000, FEW = 18 };
  int32_t *values = malloc(sizeof(int32_t) * MANY * FEW), decision[MANY];
  fill_family(FAMILY_PLANTED, MANY, FEW, values, decision);
  for (size_t i = 0; i < MANY; i += 50) decision[i] = 1; /* some are inconsistent */
  tsanom_roughset_table table = table_of(values, decision, MANY, FEW);
  uint64_t greedy[2], least[2], core[2];
  size_t elements[2];
  FOR_EACH_ISA (isa) {
    for (int32_t threads = 1; threads <= 3; threads++) {
      tsanom_exec exec = exec_at(isa, threads);
      int k = isa != TSANOM_ISA_BASE || threads != 1;
      tsanom_roughset_bounds bounds;
      CHECK_STATUS(tsanom_roughset_greedy(&table, NULL, &exec, &greedy[k], NULL),
                   TSANOM_OK);
      CHECK_STATUS(
          tsanom_roughset_minimum(&table, NULL, &exec, NULL, &bounds, &least[k], NULL),
          TSANOM_OK);
      CHECK_STATUS(tsanom_roughset_core(&table, NULL, &exec, &core[k]), TSANOM_OK);
      CHECK_STATUS(tsanom_roughset_elements(&table, NULL, &exec, NULL, 0, &elements[k]),
                   TSANOM_PARTIAL);
      if (k == 0) continue;
      cr_assert(greedy[0] == greedy[1] && least[0] == least[1] && core[0] == core[1]);
      cr_assert(elements[0] == elements[1]);
    }
  }
  free(values);
}

/* ---- hypergraphs of more attributes than a lattice holds */

static bool hits_minimally(uint64_t set, const uint64_t *edges, size_t count) {
  uint64_t needed = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t met = set & edges[i];
    if (met == 0) return false;
    if ((met & (met - 1)) == 0) needed |= met;
  }
  return needed == set;
}

Test(roughset_reducts, order_and_result_are_the_same_for_every_thread_and_level) {
  uint64_t seed = 23;
  static set_list first, other;
  for (int trial = 0; trial < 40; trial++) {
    uint64_t edges[60];
    size_t m = random_between(&seed, 25, 64), count = random_between(&seed, 1, 24);
    for (size_t i = 0; i < count; i++) {
      edges[i] = 0;
      size_t size = random_between(&seed, 1, 4);
      for (size_t k = 0; k < size; k++) {
        edges[i] |= (uint64_t)1 << random_between(&seed, 0, m - 1);
      }
    }
    first.count = 0;
    tsanom_roughset_options options;
    tsanom_roughset_options_init(&options, sizeof options);
    options.reduct_limit = 20000;
    tsanom_status status =
        tsanom_roughset_reducts(edges, count, m, &options, NULL,
                                &(tsanom_roughset_visitor){collect, &first}, NULL);
    cr_assert(status == TSANOM_OK || status == TSANOM_PARTIAL);
    for (size_t i = 0; i < first.count; i++) {
      cr_assert(hits_minimally(first.sets[i], edges, count));
    }
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1 + trial % 4);
      other.count = 0;
      CHECK_STATUS(
          tsanom_roughset_reducts(edges, count, m, &options, &exec,
                                  &(tsanom_roughset_visitor){collect, &other}, NULL),
          status);
      cr_assert(other.count == first.count);
      cr_assert(memcmp(other.sets, first.sets, first.count * sizeof *first.sets) == 0);
    }
    sort_sets(&first);
    for (size_t i = 1; i < first.count; i++) {
      cr_assert(first.sets[i - 1] != first.sets[i]);
    }
  }
}

/* Sets of the vertices below `vertices`: how many, and a sum of their hashes. */
typedef struct {
  size_t vertices, count;
  uint64_t sum;
} set_sum;

static int32_t add_to_sum(void *user, const uint64_t *set, size_t size) {
  set_sum *s = user;
  if (*set >> s->vertices) return 0;
  s->count++;
  s->sum += *set * (*set ^ 0x9e3779b97f4a7c15u) * (2 * size + 1);
  return 0;
}

/* Thousands of edges of 25 and 26 vertices are solved on the lattice. Two twins of vertex
 * 0 make it a hypergraph of 27 or 28, which is searched, and whose minimal hitting sets
 * without a twin are those of the other. */
Test(roughset_reducts, many_edges_of_25_and_26_vertices_agree_with_the_search) {
  uint64_t seed = 26;
  enum { EDGES = 4500 };
  static uint64_t edges[EDGES];
  for (size_t m = 25; m <= 26; m++) {
    size_t count = m == 25 ? EDGES / 2 : EDGES;
    for (size_t i = 0; i < count; i++) {
      edges[i] = 0;
      while (__builtin_popcountll(edges[i]) < 7) {
        edges[i] |= (uint64_t)1 << random_between(&seed, 0, m - 1);
      }
    }
    set_sum expected = {.vertices = m};
    tsanom_roughset_visitor visitor = {add_to_sum, &expected};
    for (size_t i = 0; i < count; i++) edges[i] |= (edges[i] & 1) * ((uint64_t)3 << m);
    CHECK_STATUS(tsanom_roughset_reducts(edges, count, m + 2, NULL, NULL, &visitor, NULL),
                 TSANOM_OK);
    for (size_t i = 0; i < count; i++) edges[i] &= ((uint64_t)1 << m) - 1;
    FOR_EACH_ISA (isa) {
      tsanom_exec exec = exec_at(isa, 1);
      set_sum found = {.vertices = m};
      visitor.user = &found;
      CHECK_STATUS(tsanom_roughset_reducts(edges, count, m, NULL, &exec, &visitor, NULL),
                   TSANOM_OK);
      cr_assert(found.count == expected.count && found.sum == expected.sum);
    }
  }
}

static size_t count_reducts(const uint64_t *edges, size_t count, size_t attributes) {
  size_t found;
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 2);
  CHECK_STATUS(
      tsanom_roughset_reducts(edges, count, attributes, NULL, &exec, NULL, &found),
      TSANOM_OK);
  return found;
}

/* Families with known counts: K. Murakami and T. Uno's matching graphs, and
 * threshold graphs. */
Test(roughset_reducts, known_hypergraphs_have_their_known_counts) {
  static uint64_t edges[2 * 1600];
  for (size_t n = 20; n <= 40; n += 10) {
    for (size_t i = 0; i < n / 2; i++) edges[i] = (uint64_t)3 << (2 * i);
    cr_assert(count_reducts(edges, n / 2, n) == (size_t)1 << (n / 2));
  }
  /* The dual of a matching: one vertex of each of 10 pairs. */
  for (size_t i = 0; i < 1024; i++) {
    edges[i] = 0;
    for (size_t k = 0; k < 10; k++) edges[i] |= (uint64_t)1 << (2 * k + (i >> k & 1));
  }
  cr_assert(count_reducts(edges, 1024, 20) == 10);
  /* TH40: pairs i < j <= 40 with j even; and as a hypergraph of two words, TH80. */
  for (size_t n = 40; n <= 80; n += 40) {
    size_t words = (n + 63) / 64, count = 0;
    memset(edges, 0, sizeof edges);
    for (size_t j = 1; j < n; j += 2) {
      for (size_t i = 0; i < j; i++, count++) {
        edges[count * words + i / 64] |= (uint64_t)1 << (i % 64);
        edges[count * words + j / 64] |= (uint64_t)1 << (j % 64);
      }
    }
    cr_assert(count == (n == 40 ? 400 : 1600));
    cr_assert(count_reducts(edges, count, n) == n / 2 + 1);
  }
}

/* SDTH42: {41, 42}, {41} with the edges of TH40, {42} with their transversals. Its
 * minimal hitting sets are its edges. */
Test(roughset_reducts, a_self_dual_hypergraph_is_its_own_answer) {
  static uint64_t edges[422];
  static set_list found;
  size_t count = 0, edge_count = 0;
  for (size_t j = 1; j < 40; j += 2) {
    for (size_t i = 0; i < j; i++) {
      edges[edge_count++] = (uint64_t)1 << i | (uint64_t)1 << j;
    }
  }
  CHECK_STATUS(
      tsanom_roughset_reducts(edges, edge_count, 40, NULL, NULL,
                              &(tsanom_roughset_visitor){collect, &found}, &count),
      TSANOM_OK);
  cr_assert(count == 21);
  for (size_t k = 0; k < edge_count; k++) edges[k] |= (uint64_t)1 << 40;
  for (size_t k = 0; k < count; k++) {
    edges[edge_count++] = found.sets[k] | (uint64_t)1 << 41;
  }
  edges[edge_count++] = (uint64_t)3 << 40;
  cr_assert(edge_count == 422);
  found.count = 0;
  CHECK_STATUS(
      tsanom_roughset_reducts(edges, edge_count, 42, NULL, NULL,
                              &(tsanom_roughset_visitor){collect, &found}, &count),
      TSANOM_OK);
  cr_assert(count == 422);
  sort_sets(&found);
  qsort(edges, edge_count, sizeof *edges, by_number);
  cr_assert(memcmp(found.sets, edges, sizeof edges) == 0);
}

Test(roughset_reducts, limits_and_visitors_stop_the_enumeration) {
  static set_list list;
  uint64_t edges[15];
  size_t found;
  for (size_t i = 0; i < 15; i++) edges[i] = (uint64_t)3 << (2 * i);
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  options.reduct_limit = 100;
  CHECK_STATUS(tsanom_roughset_reducts(edges, 15, 30, &options, NULL, NULL, &found),
               TSANOM_PARTIAL);
  cr_assert(found == 100);
  options.reduct_limit = 32768;
  CHECK_STATUS(tsanom_roughset_reducts(edges, 15, 30, &options, NULL, NULL, &found),
               TSANOM_OK);
  list.count = 0;
  list.stop_after = 7;
  CHECK_STATUS(
      tsanom_roughset_reducts(edges, 15, 30, NULL, NULL,
                              &(tsanom_roughset_visitor){collect, &list}, &found),
      TSANOM_STOPPED);
  cr_assert(found == 7 && list.count == 7);
  edges[15 - 1] = 0;
  CHECK_STATUS(tsanom_roughset_reducts(edges, 15, 30, NULL, NULL, NULL, &found),
               TSANOM_INFEASIBLE);
  cr_assert(found == 0);
  CHECK_STATUS(tsanom_roughset_reducts(NULL, 0, 30, NULL, NULL, NULL, &found), TSANOM_OK);
  cr_assert(found == 1);
}

/* A poll that stops at its third call. */
static int32_t stop_third(void *calls, uint64_t done, uint64_t total) {
  (void)done;
  (void)total;
  return ++*(int *)calls == 3;
}

/* Of 2^30 choices, none of which is small enough, few are looked at; those that are can be many. */
Test(roughset_reducts, choices_beyond_a_size_limit_are_left_early, .timeout = 60) {
  enum { PAIRS = 30 };
  uint64_t edges[PAIRS];
  size_t found;
  int calls = 0;
  tsanom_exec exec = exec_polled(stop_third, &calls);
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  for (size_t i = 0; i < PAIRS; i++) edges[i] = (uint64_t)3 << (2 * i);
  options.size_limit = PAIRS - 1;
  CHECK_STATUS(
      tsanom_roughset_reducts(edges, PAIRS, 2 * PAIRS, &options, NULL, NULL, &found),
      TSANOM_OK);
  cr_assert(found == 0);
  options.size_limit = PAIRS;
  CHECK_STATUS(
      tsanom_roughset_reducts(edges, PAIRS, 2 * PAIRS, &options, &exec, NULL, &found),
      TSANOM_STOPPED);
  cr_assert(calls == 3 && found > 0 && found < (size_t)3 << 16);
}

/* Every attribute discerns the two rows; with wildcards the choice is another function.
 */
Test(roughset_reducts, of_equal_attributes_the_greedy_reduct_has_the_lowest) {
  int32_t values[] = {0, 0, 0, 1, 1, 1}, decision[] = {0, 1};
  tsanom_roughset_table table = table_of(values, decision, 2, 3);
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  for (int32_t missing = 0; missing <= TSANOM_ROUGHSET_WILDCARD; missing++) {
    uint64_t reduct = 0;
    options.missing = missing;
    CHECK_STATUS(tsanom_roughset_greedy(&table, &options, NULL, &reduct, NULL),
                 TSANOM_OK);
    cr_assert(reduct == 1);
  }
}

Test(roughset_reducts, a_size_limit_keeps_exactly_the_smaller_ones) {
  int32_t values[100 * 30], decision[100];
  static uint64_t elements[4950];
  fill_family(FAMILY_MIXED, 100, 30, values, decision);
  tsanom_roughset_table table = table_of(values, decision, 100, 30);
  size_t count, all, limited;
  static set_list list;
  CHECK_STATUS(tsanom_roughset_elements(&table, NULL, NULL, elements, 4950, &count),
               TSANOM_OK);
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  size_t expected = 0;
  for (size_t size = 0; size <= 5; size++) {
    options.size_limit = size;
    list.count = 0;
    CHECK_STATUS(
        tsanom_roughset_reducts(elements, count, 30, &options, NULL,
                                &(tsanom_roughset_visitor){collect, &list}, &limited),
        TSANOM_OK);
    cr_assert(limited >= expected);
    for (size_t i = 0; i < limited; i++) {
      cr_assert((size_t)__builtin_popcountll(list.sets[i]) <= size);
      cr_assert(hits_minimally(list.sets[i], elements, count));
    }
    expected = limited;
  }
  CHECK_STATUS(tsanom_roughset_reducts(elements, count, 30, NULL, NULL, NULL, &all),
               TSANOM_OK);
  cr_assert(all > expected && expected > 0);
}

/* ---- the paper's step 3 by really multiplying out */

/* How often each set occurs in the distributed product of the clauses. */
static void distribute(const uint64_t *clauses, size_t count, size_t m, double *times) {
  size_t sets = (size_t)1 << m;
  double *next = malloc(sets * sizeof *next);
  memset(times, 0, sets * sizeof *times);
  times[0] = 1;
  for (size_t c = 0; c < count; c++) {
    memset(next, 0, sets * sizeof *next);
    for (size_t s = 0; s < sets; s++) {
      for (size_t a = 0; a < m && times[s] > 0; a++) {
        if (clauses[c] >> a & 1) next[s | (size_t)1 << a] += times[s];
      }
    }
    memcpy(times, next, sets * sizeof *times);
  }
  free(next);
}

Test(roughset_reducts, the_papers_choice_is_what_multiplying_out_gives) {
  uint64_t seed = 24;
  static set_list chosen;
  for (int trial = 0; trial < CASES(1000); trial++) {
    random_table r = make_random_table(&seed);
    uint64_t elements[ROWS * ROWS], clauses[ROWS * ROWS], core = 0;
    size_t m = r.table.attributes, count, clause_count = 0, found, expected = 0;
    static double times[1 << ATTRIBUTES];
    r.options.absorb = 0;
    CHECK_STATUS(tsanom_roughset_elements(&r.table, &r.options, NULL, elements,
                                          ROWS * ROWS, &count),
                 TSANOM_OK);
    for (size_t i = 0; i < count; i++) {
      if (__builtin_popcountll(elements[i]) == 1) core |= elements[i];
    }
    for (size_t i = 0; i < count && clause_count < 30; i++) {
      if (!(elements[i] & core)) clauses[clause_count++] = elements[i];
    }
    distribute(clauses, clause_count, m, times);
    int least = (int)m + 1;
    double most = 0;
    for (size_t s = 0; s < (size_t)1 << m; s++) {
      int size = __builtin_popcountll(s);
      if (times[s] == 0 || size > least) continue;
      if (size < least || times[s] > most) most = times[s];
      least = size;
    }
    for (size_t s = 0; s < (size_t)1 << m; s++) {
      expected += __builtin_popcountll(s) == least && times[s] == most;
    }
    chosen.count = 0;
    CHECK_STATUS(tsanom_roughset_paper_choice(
                     elements, count, m, NULL,
                     &(tsanom_roughset_visitor){collect, &chosen}, &found),
                 TSANOM_OK);
    cr_assert(found == expected && chosen.count == found, "trial %d: %zu, not %zu", trial,
              found, expected);
    for (size_t i = 0; i < found; i++) {
      cr_assert((chosen.sets[i] & core) == core && times[chosen.sets[i] & ~core] == most);
    }
  }
}
