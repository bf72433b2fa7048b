/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden values: counts, cores, sizes and winners of generated tables. */
#include <stdio.h>
#include <string.h>

#include "roughset/tables.h"
#include "support/check.h"
#include "support/exec.h"
#include "support/random.h"

enum { NAME = 32, LINE = 512, LARGEST = 32 };

typedef struct {
  char name[NAME];
  int32_t *values, *decision;
  tsanom_roughset_table table;
  size_t positive;
} golden_table;

static golden_table make_table(const char *line) {
  golden_table g;
  int family;
  size_t rows, attributes;
  cr_assert(sscanf(line, "table %31s %d %zu %zu %zu", g.name, &family, &rows, &attributes,
                   &g.positive) == 5);
  g.values = malloc(rows * attributes * sizeof *g.values);
  g.decision = malloc(rows * sizeof *g.decision);
  fill_family(family, rows, attributes, g.values, g.decision);
  g.table = table_of(g.values, g.decision, rows, attributes);
  return g;
}

static void free_table(golden_table *g) {
  free(g->values);
  free(g->decision);
}

typedef struct {
  size_t by_size[LARGEST + 1];
} size_counts;

static int32_t count_size(void *user, const uint64_t *reduct, size_t size) {
  size_counts *counts = user;
  cr_assert((size_t)__builtin_popcountll(reduct[0]) == size);
  counts->by_size[size]++;
  return 0;
}

/* The elements of a table with at most 64 attributes. */
static uint64_t *elements_of(const tsanom_roughset_table *table,
                             const tsanom_roughset_options *options, size_t *count) {
  tsanom_exec exec = exec_at(TSANOM_ISA_AUTO, 2);
  size_t capacity = (size_t)1 << 20;
  uint64_t *elements = malloc(capacity * sizeof *elements);
  CHECK_STATUS(tsanom_roughset_elements(table, options, &exec, elements, capacity, count),
               TSANOM_OK);
  return elements;
}

typedef struct {
  size_t classes, inconsistent, pairs, distinct, elements, least, largest, reducts;
  size_t minimum, minimum_count;
} expectation;

static void check_elements(const golden_table *g, tsanom_roughset_options *options,
                           const expectation *e) {
  size_t count;
  uint64_t *elements = elements_of(&g->table, options, &count);
  cr_assert(count == e->elements, "%s: %zu elements", g->name, count);
  cr_assert((size_t)__builtin_popcountll(elements[0]) == e->least);
  cr_assert((size_t)__builtin_popcountll(elements[count - 1]) == e->largest);
  free(elements);
  if (e->distinct == 0) return;
  options->absorb = 0;
  elements = elements_of(&g->table, options, &count);
  cr_assert(count == e->distinct, "%s: %zu distinct elements", g->name, count);
  free(elements);
  options->absorb = 1;
}

static void check_minimum(const golden_table *g, const tsanom_roughset_options *options,
                          const expectation *e) {
  tsanom_roughset_bounds bounds;
  uint64_t reduct;
  size_t found;
  size_counts counts = {{0}};
  CHECK_STATUS(tsanom_roughset_minimum(&g->table, use_reading(options), NULL,
                                       &(tsanom_roughset_visitor){count_size, &counts},
                                       &bounds, &reduct, &found),
               TSANOM_OK);
  cr_assert(bounds.lower == e->minimum && bounds.upper == e->minimum, "%s: %zu to %zu",
            g->name, bounds.lower, bounds.upper);
  cr_assert(found == e->minimum_count, "%s: %zu smallest", g->name, found);
  cr_assert(counts.by_size[e->minimum] == found);
  CHECK_STATUS(tsanom_roughset_minimum(&g->table, use_reading(options), NULL, NULL,
                                       &bounds, &reduct, NULL),
               TSANOM_OK);
  cr_assert((size_t)__builtin_popcountll(reduct) == e->minimum);
  CHECK_STATUS(
      tsanom_roughset_greedy(&g->table, use_reading(options), NULL, &reduct, &found),
      TSANOM_OK);
  cr_assert(found >= e->minimum && found <= e->minimum + 2, "%s: greedy %zu", g->name,
            found);
}

static void check_reading(const golden_table *g, int reading, const expectation *e,
                          const char *core_line, const char *sizes_line) {
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  options.reading = reading - 1;
  check_elements(g, &options, e);
  check_minimum(g, &options, e);
  uint64_t core, expected = 0;
  int at, used, number;
  size_t size, many;
  cr_assert(sscanf(core_line, "core %*s %*d%n", &at) == 0);
  for (; sscanf(core_line + at, "%d%n", &number, &used) == 1; at += used) {
    expected |= (uint64_t)1 << number;
  }
  CHECK_STATUS(tsanom_roughset_core(&g->table, use_reading(&options), NULL, &core),
               TSANOM_OK);
  cr_assert(core == expected, "%s: core %llx", g->name, (unsigned long long)core);

  size_t count, found;
  size_counts counts = {{0}};
  uint64_t *elements = elements_of(&g->table, &options, &count);
  CHECK_STATUS(
      tsanom_roughset_reducts(elements, count, g->table.attributes, NULL, NULL,
                              &(tsanom_roughset_visitor){count_size, &counts}, &found),
      TSANOM_OK);
  free(elements);
  cr_assert(found == e->reducts, "%s: %zu reducts", g->name, found);
  cr_assert(sscanf(sizes_line, "sizes %*s %*d%n", &at) == 0);
  for (; sscanf(sizes_line + at, "%zu:%zu%n", &size, &many, &used) == 2; at += used) {
    cr_assert(counts.by_size[size] == many, "%s: %zu of size %zu", g->name,
              counts.by_size[size], size);
    found -= many;
  }
  cr_assert(found == 0);
}

typedef struct {
  uint64_t sets[8];
  size_t count;
} winners;

static int32_t collect(void *user, const uint64_t *reduct, size_t size) {
  winners *w = user;
  (void)size;
  if (w->count < 8) w->sets[w->count] = reduct[0];
  w->count++;
  return 0;
}

static void check_choice(const golden_table *g, const winners *expected) {
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  options.absorb = 0;
  size_t count, found;
  winners chosen = {.count = 0};
  uint64_t *elements = elements_of(&g->table, &options, &count);
  CHECK_STATUS(
      tsanom_roughset_paper_choice(elements, count, g->table.attributes, NULL,
                                   &(tsanom_roughset_visitor){collect, &chosen}, &found),
      TSANOM_OK);
  free(elements);
  cr_assert(found == expected->count && chosen.count == found, "%s: %zu winners", g->name,
            found);
  for (size_t i = 0; i < found; i++) {
    cr_assert(chosen.sets[i] == expected->sets[i], "%s: winner %llx", g->name,
              (unsigned long long)chosen.sets[i]);
  }
}

static void check_dependency(const golden_table *g) {
  size_t size;
  double gamma;
  CHECK_STATUS(
      tsanom_roughset_dependency(&g->table, NULL, NULL, NULL, NULL, &size, &gamma),
      TSANOM_OK);
  cr_assert(size == g->positive, "%s: %zu positive rows", g->name, size);
  cr_assert(gamma == (double)size / (double)g->table.rows);
}

/* Lines of a table come together: table, three readings, winners. */
static void run_golden(bool small) {
  FILE *file = fopen(TSANOM_TEST_DATA "/roughset/golden.txt", "r");
  cr_assert(file != NULL);
  char line[LINE], core[LINE], sizes[LINE];
  golden_table g = {.values = NULL};
  winners expected = {.count = 0};
  size_t tables = 0;
  bool wanted = false;
  while (fgets(line, sizeof line, file)) {
    expectation e;
    int reading, at, used, number;
    if (expected.count > 0 && strncmp(line, "choice", 6) != 0) {
      check_choice(&g, &expected);
      expected.count = 0;
    }
    if (strncmp(line, "table", 5) == 0) {
      free_table(&g);
      g = make_table(line);
      wanted = (g.table.rows < 10000) == small && tables % ONE_CASE_IN == 0;
      tables++;
      if (wanted) check_dependency(&g);
    } else if (!wanted) {
      continue;
    } else if (sscanf(line, "reading %*s %d %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu",
                      &reading, &e.classes, &e.inconsistent, &e.pairs, &e.distinct,
                      &e.elements, &e.least, &e.largest, &e.reducts, &e.minimum,
                      &e.minimum_count) == 11) {
      cr_assert(fgets(core, sizeof core, file) && fgets(sizes, sizeof sizes, file));
      check_reading(&g, reading, &e, core, sizes);
    } else if (sscanf(line, "choice %*s %*d%n", &at) == 0) {
      uint64_t set = 0;
      for (; sscanf(line + at, "%d%n", &number, &used) == 1; at += used) {
        set |= (uint64_t)1 << number;
      }
      expected.sets[expected.count++] = set;
    }
  }
  if (expected.count > 0) check_choice(&g, &expected);
  free_table(&g);
  fclose(file);
  cr_assert(tables >= 10);
}

Test(roughset_golden, tables_of_up_to_a_thousand_rows) {
  run_golden(true);
}

Test(roughset_golden, tables_of_ten_thousand_rows) {
  run_golden(false);
}

/* ---- the paper's tables */

static const char *name_of(uint64_t set) {
  static char name[16];
  size_t length = 0;
  for (int a = 0; a < 5; a++) {
    if (set >> a & 1) name[length++] = (char)('1' + a);
  }
  name[length] = 0;
  return name;
}

static void check_matrix(const tsanom_roughset_table *table,
                         const char *const *expected) {
  uint64_t elements[28];
  int32_t kind[28];
  size_t pair = 0;
  CHECK_STATUS(tsanom_roughset_matrix(table, NULL, NULL, elements, kind), TSANOM_OK);
  for (size_t i = 0; i < table->rows; i++) {
    for (size_t j = i + 1; j < table->rows; j++, pair++) {
      cr_assert_str_eq(name_of(elements[pair]), expected[pair], "pair %zu, %zu", i, j);
      cr_assert(kind[pair] == (expected[pair][0] != 0));
    }
  }
}

static void check_reducts(const tsanom_roughset_table *table, uint64_t core,
                          const winners *expected, const winners *chosen) {
  uint64_t found_core, elements[28];
  winners reducts = {.count = 0}, choice = {.count = 0};
  size_t count, found;
  tsanom_roughset_options options;
  tsanom_roughset_options_init(&options, sizeof options);
  CHECK_STATUS(tsanom_roughset_core(table, NULL, NULL, &found_core), TSANOM_OK);
  cr_assert(found_core == core);
  options.absorb = 0;
  CHECK_STATUS(tsanom_roughset_elements(table, &options, NULL, elements, 28, &count),
               TSANOM_OK);
  CHECK_STATUS(
      tsanom_roughset_reducts(elements, count, table->attributes, NULL, NULL,
                              &(tsanom_roughset_visitor){collect, &reducts}, &found),
      TSANOM_OK);
  cr_assert(found == expected->count && reducts.count == found);
  for (size_t i = 0; i < found; i++) cr_assert(reducts.sets[i] == expected->sets[i]);
  CHECK_STATUS(
      tsanom_roughset_paper_choice(elements, count, table->attributes, NULL,
                                   &(tsanom_roughset_visitor){collect, &choice}, &found),
      TSANOM_OK);
  cr_assert(found == chosen->count && choice.count == found);
  for (size_t i = 0; i < found; i++) cr_assert(choice.sets[i] == chosen->sets[i]);
}

Test(roughset_paper, figure_2_core_reducts_and_choice_of_table_1) {
  tsanom_roughset_table table = table_of(weather_values, weather_decision, 4, 4);
  static const char *const figure[] = {"", "1", "23", "14", "234", ""};
  check_matrix(&table, figure);
  winners reducts = {.sets = {1 | 2, 1 | 4}, .count = 2};
  check_reducts(&table, 1, &reducts, &reducts);
}

Test(roughset_paper, figure_5_and_the_reduct_of_geost) {
  tsanom_roughset_table table = table_of(geost_values, geost_decision, 8, 5);
  /* The figure's (1,5) and (2,5) print a2a4a5: with (0,1) = a5 rows 0 and 1 share
   * a1, which (0,5) has, so that they must have it as well. */
  static const char *const figure[] = {
      "5",    "5",    "15",  "25", "1245", "1245", "125",  "",    "15",  "25",
      "1245", "1245", "125", "15", "25",   "1245", "1245", "125", "125", "245",
      "245",  "25",   "145", "",   "125",  "25",   "",     "45"};
  check_matrix(&table, figure);
  winners reducts = {.sets = {16}, .count = 1};
  check_reducts(&table, 16, &reducts, &reducts);
}
