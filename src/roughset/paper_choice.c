/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's step 3 without multiplying out. In a minimal hitting set S every
 * attribute has a clause that only it hits, so that any choice of one attribute
 * of S from each clause uses all of S: the conjunction S occurs as often as there
 * are such choices, N(S) = prod over clauses c of |c intersected with S|.
 *
 *     clauses  (a + b)(a + c)(b + c) = ab + ab + ac + ac + bc + bc + abc + abc
 *     S = ab:  |ab & ab| |ac & ab| |bc & ab| = 2 * 1 * 1 = 2 occurrences
 *
 * The paper ("A Novel Similarity Analysis and Rough Set Method", section 4.1) excludes
 * the core in steps 1 and 2, and takes in step 3, of the shortest conjunctions of the
 * disjunctive form, the one that occurs most often. Multiplying out has a number of terms
 * that is exponential in the clauses; here the shortest hitting sets are searched
 * (cover.h), and each is counted in O(clauses).
 *
 * The search uses the minimal clauses, which have the same hitting sets. The product is
 * over all distinct ones, unabsorbed, because absorbed clauses change the choice. Two
 * searches: the first finds the largest product and the number of sets that attain it,
 * the second visits those, so that no set is stored. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <tsanom/roughset.h>

#include "core/exec.h"
#include "core/size.h"
#include "roughset/cover.h"
#include "roughset/elements.h"

typedef struct {
  tsn_rs_input input;
  size_t words, attributes;
  tsn_rs_family clauses; /* minimal, for the search */
  uint64_t *clause;      /* all, distinct and free of the core */
  size_t clause_count;
  tsn_rs_cover cover;
  uint64_t *core, *candidates, *set;
  size_t core_size;
  /* How many clauses meet the set in k attributes, for each k; as it is now, and
   * for the best set so far. */
  uint64_t *exponent, *best;
  bool have_best;
  /* Integers of `digits` digits, the two sides of a comparison. */
  uint32_t *left, *right;
  size_t digits;
  bool counting;            /* the first search finds the best, the second visits */
  const uint64_t *elements; /* the caller's */
  size_t element_count;
  tsanom_roughset_visitor visitor;
  size_t found, visits, *result;
} choice_run;

/* Digits of 32 bits that hold a product of one factor for each element, each factor being
 * at most the number of attributes. */
static size_t digits_of(size_t elements, size_t attributes) {
  size_t bits = 1;
  while (attributes >> bits) bits++;
  size_t all = tsn_product(elements, bits);
  return all < SIZE_MAX ? all / 32 + 3 : SIZE_MAX;
}

static void layout(tsn_arena *arena, void *context) {
  choice_run *r = context;
  size_t elements = r->element_count, attributes = r->input.table.attributes;
  size_t capacity = elements ? elements : 1;
  r->words = tsn_rs_words(attributes);
  r->attributes = attributes;
  r->digits = digits_of(capacity, attributes);
  tsn_rs_family_layout(arena, attributes, capacity, r->input.exec.threads, &r->clauses);
  r->clause = tsn_arena_take(arena, tsn_product(capacity, r->words), sizeof *r->clause);
  tsn_rs_cover_layout(arena, attributes, capacity,
                      attributes < capacity ? attributes : capacity, &r->cover);
  r->core = tsn_arena_take(arena, r->words, sizeof *r->core);
  r->candidates = tsn_arena_take(arena, r->words, sizeof *r->candidates);
  r->set = tsn_arena_take(arena, r->words, sizeof *r->set);
  r->exponent = tsn_arena_take(arena, attributes + 1, sizeof *r->exponent);
  r->best = tsn_arena_take(arena, attributes + 1, sizeof *r->best);
  r->left = tsn_arena_take(arena, r->digits, sizeof *r->left);
  r->right = tsn_arena_take(arena, r->digits, sizeof *r->right);
}

/* ---- comparing products */

/* Multiply a number of `digits` digits by a factor; returns its new length. */
static size_t multiply(uint32_t *number, size_t digits, uint32_t factor) {
  uint64_t carry = 0;
  for (size_t i = 0; i < digits; i++) {
    carry += (uint64_t)number[i] * factor;
    number[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) number[digits++] = (uint32_t)carry;
  return digits;
}

/* The product of k to the power more[k] - less[k], where that is positive. */
static size_t product(const uint64_t *more, const uint64_t *less, size_t most,
                      uint32_t *number) {
  size_t digits = 1;
  number[0] = 1;
  for (size_t k = 2; k <= most; k++) {
    for (uint64_t e = less[k]; e < more[k]; e++) {
      digits = multiply(number, digits, (uint32_t)k);
    }
  }
  return digits;
}

/* The sign of N(S) - N(best). Logarithms decide unless they are closer than their error;
 * then the integers themselves are compared. With logarithms known to 4 units in the last
 * place and a sum in order, the error of the difference is less than (terms + 8) * 2^-53
 * times the sum of magnitudes; the margin is twice that. */
static int compare_products(choice_run *r) {
  double difference = 0, magnitude = 0, terms = 0;
  for (size_t k = 2; k <= r->attributes; k++) {
    if (r->exponent[k] == r->best[k]) continue;
    double term = ((double)r->exponent[k] - (double)r->best[k]) * log((double)k);
    difference += term;
    magnitude += fabs(term);
    terms++;
  }
  if (fabs(difference) > (terms + 8) * DBL_EPSILON * magnitude) {
    return difference > 0 ? 1 : -1;
  }
  size_t left = product(r->exponent, r->best, r->attributes, r->left);
  size_t right = product(r->best, r->exponent, r->attributes, r->right);
  if (left != right) return left > right ? 1 : -1;
  while (left-- > 0) {
    if (r->left[left] != r->right[left]) return r->left[left] > r->right[left] ? 1 : -1;
  }
  return 0;
}

/* ---- the searches */

static void count_exponents(choice_run *r, const tsn_rs_cover *cover) {
  memset(r->set, 0, r->words * sizeof *r->set);
  for (size_t d = 0; d < cover->depth; d++) tsn_rs_add(r->set, cover->chosen[d]);
  memset(r->exponent, 0, (r->attributes + 1) * sizeof *r->exponent);
  for (size_t i = 0; i < r->clause_count; i++) {
    size_t met = 0;
    for (size_t w = 0; w < r->words; w++) {
      met += (size_t)__builtin_popcountll(r->clause[i * r->words + w] & r->set[w]);
    }
    r->exponent[met]++;
  }
}

/* Called for each shortest hitting set; TSANOM_INFEASIBLE: continue (cover.h). */
static tsanom_status examine(void *context, tsn_rs_cover *cover) {
  choice_run *r = context;
  count_exponents(r, cover);
  int sign = r->have_best ? compare_products(r) : 1;
  if (r->counting) {
    if (sign > 0) {
      memcpy(r->best, r->exponent, (r->attributes + 1) * sizeof *r->best);
      r->have_best = true;
      r->found = 0;
    }
    if (sign >= 0) r->found++;
    return TSANOM_INFEASIBLE;
  }
  if (sign < 0) return TSANOM_INFEASIBLE;
  for (size_t w = 0; w < r->words; w++) r->set[w] |= r->core[w];
  r->visits++;
  const tsanom_roughset_visitor *v = &r->visitor;
  bool stop = v->visit(v->user, r->set, cover->depth + r->core_size) != 0;
  return stop ? TSANOM_STOPPED : TSANOM_INFEASIBLE;
}

/* Take the core out of the clauses and give the minimal ones to the search. */
static void split_clauses(choice_run *r, const uint64_t *elements, size_t count) {
  memset(r->core, 0, r->words * sizeof *r->core);
  for (size_t i = 0; i < count; i++) {
    const uint64_t *set = elements + i * r->words;
    if (tsn_rs_size(set, r->words) != 1) continue;
    for (size_t w = 0; w < r->words; w++) r->core[w] |= set[w];
  }
  r->core_size = tsn_rs_size(r->core, r->words);
  tsn_rs_family_clear(&r->clauses, r->attributes);
  for (size_t i = 0; i < count; i++) {
    const uint64_t *set = elements + i * r->words;
    uint64_t met = 0;
    for (size_t w = 0; w < r->words; w++) met |= set[w] & r->core[w];
    if (!met) tsn_rs_family_insert(&r->clauses, set);
  }
  r->clause_count = r->clauses.count;
  memcpy(r->clause, r->clauses.sets, r->clause_count * r->words * sizeof *r->clause);
  tsn_rs_family_sort(&r->clauses, true, &r->input.exec);
  tsn_rs_cover_clear(&r->cover, r->attributes);
  for (size_t i = 0; i < r->clauses.count; i++) {
    tsn_rs_cover_add(&r->cover, r->clauses.sets + i * r->words);
  }
  memset(r->candidates, 0, r->words * sizeof *r->candidates);
  for (size_t a = 0; a < r->attributes; a++) {
    if (!tsn_rs_has(r->core, a)) tsn_rs_add(r->candidates, a);
  }
}

/* Raise the size until there are hitting sets of it: that is the shortest. */
static tsanom_status choose(choice_run *r) {
  tsanom_status status = TSANOM_OK;
  size_t limit = 0;
  r->counting = true;
  for (; status == TSANOM_OK && !r->have_best; limit++) {
    status =
        tsn_rs_cover_search(&r->cover, limit, r->candidates, &r->input.exec, examine, r);
  }
  if (status != TSANOM_OK || !r->visitor.visit) {
    r->visits = status == TSANOM_OK ? r->found : 0;
    return status;
  }
  r->counting = false;
  return tsn_rs_cover_search(&r->cover, limit - 1, r->candidates, &r->input.exec, examine,
                             r);
}

static tsanom_status check(void *context) {
  const choice_run *r = context;
  return tsn_rs_check_elements(&r->input, r->elements, r->element_count);
}

static tsanom_status body(void *context) {
  choice_run *r = context;
  tsanom_status status = TSANOM_OK;
  for (size_t i = 0; i < r->element_count && status == TSANOM_OK; i++) {
    if (tsn_rs_is_empty(r->elements + i * r->words, r->words)) {
      status = TSANOM_INFEASIBLE;
    }
  }
  if (status == TSANOM_OK) {
    split_clauses(r, r->elements, r->element_count);
    status = choose(r);
  }
  if (r->result) *r->result = r->visits;
  return status;
}

tsanom_status tsanom_roughset_paper_choice(const uint64_t *elements, size_t count,
                                           size_t attributes, const tsanom_exec *exec,
                                           const tsanom_roughset_visitor *visitor,
                                           size_t *found) {
  choice_run run = {.elements = elements, .element_count = count, .result = found};
  if (visitor) run.visitor = *visitor;
  tsanom_status status =
      tsn_rs_read_elements(&run.input, 0, count, attributes, NULL, exec);
  return status < 0 ? status
                    : tsn_workspace_run(&run.input.exec, layout, check, body, &run);
}
