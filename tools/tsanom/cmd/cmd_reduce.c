/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom reduce: which columns of a table tell its decisions apart. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "reduction.h"

enum {
  KEY_DECISION = 'd',
  KEY_ALL = KEY_OWN,
  KEY_MINIMUM,
  KEY_GREEDY,
  KEY_PAPER,
  KEY_IGNORE,
  KEY_READING,
  KEY_MISSING,
  KEY_CUT,
  KEY_BINS,
  KEY_LIMIT,
  KEY_RULES
};

enum { PAIRS_KEPT = 1 << 16 };

typedef struct {
  shared_options shared;
  tsanom_roughset_options roughset;
  const char *file, *decision;
  char **ignored;
  size_t ignored_count;
  int kind; /* KEY_ALL ... */
  int32_t method;
  int cut;
  size_t bins, limit, rules;
} request;

static const struct argp_option options[] = {
    {"decision", KEY_DECISION, "COLUMN", 0, "The column that is to be explained", 0},
    {"all", KEY_ALL, NULL, 0, "Find all reducts (default)", 1},
    {"minimum", KEY_MINIMUM, NULL, 0, "Find all reducts of the least size", 1},
    {"paper", KEY_PAPER, NULL, 0,
     "Of these, the ones that occur most often in the distributed form", 1},
    {"greedy", KEY_GREEDY, NULL, 0, "Find one reduct quickly, maybe not the least", 1},
    {"limit", KEY_LIMIT, "N", 0, "Find at most N reducts (default: 10000)", 1},
    {"ignore", KEY_IGNORE, "COLUMN", 0, "Leave this column out, as a row's name", 2},
    {"reading", KEY_READING, "ordinary|positive|generalised", 0,
     "What rows that differ in the decision alone mean (default: ordinary)", 2},
    {"missing", KEY_MISSING, "value|wildcard", 0,
     "An empty field or ? is a value of its own (default), or equals every value", 2},
    {"cut", KEY_CUT, "width|frequency|entropy", 0,
     "Cut columns of numbers into intervals of equal width, of equal frequency, or "
     "where the decision changes (default: each number is a value)",
     2},
    {"bins", KEY_BINS, "N", 0,
     "Intervals of a cut column (default: 4; for entropy: no limit)", 2},
    {"rules", KEY_RULES, "N", 0, "Print at most N rules (default: 20)", 3},
    {0}};

static const char *const readings[] = {"ordinary", "positive", "generalised", NULL};
static const char *const missings[] = {"value", "wildcard", NULL};
static const char *const methods[] = {"width", "frequency", "entropy", NULL};

static void parse_end(struct argp_state *state, request *r) {
  if (!r->file) argp_error(state, "a table is expected");
  if (!r->decision) argp_error(state, "--decision COLUMN is expected");
  if (r->bins > 0 && !r->cut) argp_error(state, "--bins needs --cut");
  if (r->bins == 0 && r->method != TSANOM_ROUGHSET_ENTROPY) r->bins = 4;
  if (r->shared.plot) argp_error(state, "--plot: there is no picture of a table");
}

static error_t parse_data(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case KEY_READING:
      r->roughset.reading = word_argument(state, "--reading", text, readings);
      return 0;
    case KEY_MISSING:
      r->roughset.missing = word_argument(state, "--missing", text, missings);
      return 0;
    case KEY_CUT:
      r->method = word_argument(state, "--cut", text, methods);
      r->cut = 1;
      return 0;
    case KEY_BINS:
      r->bins = count_argument(state, "--bins", text);
      if (r->bins == 0 || r->bins > INT32_MAX)
        argp_error(state, "--bins: from 1 to %d is expected", INT32_MAX);
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->shared;
      tsanom_roughset_options_init(&r->roughset, sizeof r->roughset);
      r->kind = KEY_ALL;
      r->limit = 10000;
      r->rules = 20;
      r->ignored = calloc((size_t)state->argc, sizeof *r->ignored);
      return r->ignored ? 0 : ENOMEM;
    case KEY_DECISION:
      r->decision = text;
      return 0;
    case KEY_ALL:
    case KEY_MINIMUM:
    case KEY_PAPER:
    case KEY_GREEDY:
      r->kind = key;
      return 0;
    case KEY_IGNORE:
      r->ignored[r->ignored_count++] = text;
      return 0;
    case KEY_LIMIT:
      r->limit = count_argument(state, "--limit", text);
      if (r->limit == 0) argp_error(state, "--limit: at least 1 is expected");
      return 0;
    case KEY_RULES:
      r->rules = count_argument(state, "--rules", text);
      return 0;
    case ARGP_KEY_ARG:
      if (state->arg_num == 1) argp_error(state, "one table is expected");
      r->file = text;
      return 0;
    case ARGP_KEY_END:
      parse_end(state, r);
      return 0;
    default:
      return parse_data(key, text, state);
  }
}

/* ---- reducts */

static int32_t keep_reduct(void *user, const uint64_t *set, size_t size) {
  reduction *f = user;
  if (f->count == f->limit) {
    f->complete = 0;
    return 1;
  }
  if (f->count == f->room) {
    size_t room = f->room ? 2 * f->room : 64;
    uint64_t *reducts = realloc(f->reducts, room * f->words * sizeof *reducts);
    if (reducts) f->reducts = reducts;
    size_t *sizes = realloc(f->sizes, room * sizeof *sizes);
    if (sizes) f->sizes = sizes;
    f->out_of_memory = !reducts || !sizes;
    if (f->out_of_memory) return 1;
    f->room = room;
  }
  memcpy(f->reducts + f->count * f->words, set, f->words * sizeof *set);
  f->sizes[f->count++] = size;
  return 0;
}

/* The elements of a table; sets *count. NULL with a status if there are none. */
static uint64_t *find_elements(const request *r, const tsanom_roughset_table *view,
                               size_t words, size_t *count, tsanom_status *status) {
  tsanom_roughset_options o = r->roughset;
  o.absorb = r->kind == KEY_ALL;
  size_t capacity = 1 << 12;
  for (;;) {
    uint64_t *elements = calloc(capacity, words * sizeof *elements);
    if (!elements) {
      *status = TSANOM_E_MEMORY;
      return NULL;
    }
    *status =
        tsanom_roughset_elements(view, &o, &r->shared.exec, elements, capacity, count);
    if (*status != TSANOM_PARTIAL) {
      if (*status < 0) free(elements);
      return *status < 0 ? NULL : elements;
    }
    free(elements);
    capacity = *count;
  }
}

static tsanom_status from_elements(const request *r, const tsanom_roughset_table *view,
                                   reduction *f) {
  size_t count = 0;
  tsanom_status status;
  uint64_t *elements = find_elements(r, view, f->words, &count, &status);
  if (!elements) return status;
  const tsanom_roughset_visitor visitor = {keep_reduct, f};
  status = r->kind == KEY_ALL
               ? tsanom_roughset_reducts(elements, count, view->attributes, NULL,
                                         &r->shared.exec, &visitor, NULL)
               : tsanom_roughset_paper_choice(elements, count, view->attributes,
                                              &r->shared.exec, &visitor, NULL);
  free(elements);
  return status;
}

static tsanom_status find_reducts(const request *r, const tsanom_roughset_table *view,
                                  reduction *f) {
  tsanom_status status;
  f->limit = r->limit;
  f->complete = 1;
  if (r->kind == KEY_GREEDY) {
    f->kind = "greedy";
    uint64_t *set = calloc(f->words, sizeof *set);
    if (!set) return TSANOM_E_MEMORY;
    size_t size;
    status = tsanom_roughset_greedy(view, &r->roughset, &r->shared.exec, set, &size);
    if (status == TSANOM_OK) keep_reduct(f, set, size);
    free(set);
  } else if (r->kind == KEY_MINIMUM) {
    f->kind = "of the least size";
    uint64_t *set = calloc(f->words, sizeof *set);
    if (!set) return TSANOM_E_MEMORY;
    const tsanom_roughset_visitor visitor = {keep_reduct, f};
    status = tsanom_roughset_minimum(view, &r->roughset, &r->shared.exec, &visitor,
                                     &f->bounds, set, NULL);
    if (status > 0) f->complete = 0;
    if (status >= 0 && f->count == 0) keep_reduct(f, set, f->bounds.upper);
    free(set);
  } else {
    f->kind = r->kind == KEY_ALL ? "all" : "the paper's choice";
    status = from_elements(r, view, f);
  }
  return f->out_of_memory ? TSANOM_E_MEMORY : status;
}

/* Smaller ones first; of one size, that with the first attribute where they
 * differ. */
static int compare_reducts(const void *left, const void *right, void *words) {
  const uint64_t *a = left, *b = right;
  size_t x = 0, y = 0, count = *(const size_t *)words;
  for (size_t w = 0; w < count; w++) {
    x += (size_t)__builtin_popcountll(a[w]);
    y += (size_t)__builtin_popcountll(b[w]);
  }
  if (x != y) return x < y ? -1 : 1;
  for (size_t w = 0; w < count; w++) {
    uint64_t differing = a[w] ^ b[w];
    if (differing) return a[w] & (differing & -differing) ? -1 : 1;
  }
  return 0;
}

static void sort_reducts(reduction *f) {
  if (f->count > 0) {
    qsort_r(f->reducts, f->count, f->words * sizeof *f->reducts, compare_reducts,
            &f->words);
  }
  for (size_t k = 0; k < f->count; k++) {
    f->sizes[k] = 0;
    for (size_t w = 0; w < f->words; w++) {
      f->sizes[k] += (size_t)__builtin_popcountll(f->reducts[k * f->words + w]);
    }
  }
}

static int compare_rules(const void *a, const void *b) {
  const tsanom_roughset_rule *x = a, *y = b;
  if (x->support != y->support) return x->support > y->support ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* ---- the rest */

static tsanom_status describe(const request *r, const tsanom_roughset_table *view,
                              reduction *f) {
  tsanom_roughset_options by_rows =
      r->roughset; /* functions of rows use only `missing` */
  by_rows.reading = TSANOM_ROUGHSET_ORDINARY;
  const tsanom_roughset_options *o = &by_rows;
  const tsanom_exec *exec = &r->shared.exec;
  f->core = calloc(f->words, sizeof *f->core);
  f->inconsistent = calloc(PAIRS_KEPT, 2 * sizeof *f->inconsistent);
  f->significance = calloc(view->attributes, sizeof *f->significance);
  f->rules = calloc(view->rows, sizeof *f->rules);
  if (!f->core || !f->inconsistent || !f->significance || !f->rules) {
    return TSANOM_E_MEMORY;
  }
  tsanom_status status = tsanom_roughset_core(view, &r->roughset, exec, f->core);
  if (status < 0) return status;
  status = tsanom_roughset_inconsistent(view, o, exec, f->inconsistent, PAIRS_KEPT,
                                        &f->inconsistent_all);
  if (status < 0) return status;
  f->inconsistent_count =
      f->inconsistent_all < PAIRS_KEPT ? f->inconsistent_all : PAIRS_KEPT;
  status =
      tsanom_roughset_dependency(view, NULL, o, exec, NULL, &f->positive, &f->dependency);
  if (status < 0) return status;
  return tsanom_roughset_significance(view, NULL, o, exec, f->significance);
}

static tsanom_status find_rules(const request *r, const tsanom_roughset_table *view,
                                reduction *f) {
  if (f->count == 0) return TSANOM_OK;
  tsanom_status status = tsanom_roughset_rules(view, f->reducts, &r->shared.exec,
                                               f->rules, view->rows, &f->rule_count);
  if (status >= 0) {
    qsort(f->rules, f->rule_count, sizeof *f->rules, compare_rules);
  }
  return status;
}

static int reduce(const request *r, decision_table *t, reduction *f, failure *why) {
  if (decision_table_read(r->file, r->decision, r->ignored, r->ignored_count, t, why)) {
    return -1;
  }
  if (r->cut && decision_table_cut(t, r->method, r->bins, &r->shared.exec, why)) {
    return -1;
  }
  tsanom_roughset_table view = decision_table_view(t);
  f->words = (view.attributes + 63) / 64;
  tsanom_status status = describe(r, &view, f);
  if (status >= 0) status = find_reducts(r, &view, f);
  if (status == TSANOM_E_WORKSPACE) {
    return fail(why,
                "%s: the table has too many discernibility elements to hold them all; "
                "--minimum and --greedy do without",
                t->file);
  }
  if (status >= 0) {
    sort_reducts(f);
    status = find_rules(r, &view, f);
  }
  return status < 0 ? fail_status(why, t->file, status) : 0;
}

int command_reduce(int argc, char **argv) {
  static const struct argp_child children[] = {{&shared_argp, 0, NULL, 0}, {0}};
  static const struct argp argp = {
      options,
      parse,
      "FILE",
      "Reducts of a decision table: the least sets of columns that tell the values of "
      "the decision apart as all of them do.\v"
      "FILE is a CSV file with a header; \"-\" is the standard input. Rows are "
      "numbered from 0.",
      children,
      NULL,
      NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &r);
  decision_table t = {0};
  reduction found = {0};
  failure why;
  int status;
  if (reduce(&r, &t, &found, &why)) {
    status = refuse(&why);
  } else if (r.shared.json) {
    status = print_json(reduction_json(&t, &found));
  } else {
    print_reduction(&t, &found, r.rules);
    status = EXIT_DONE;
  }
  reduction_free(&found);
  decision_table_free(&t);
  free(r.ignored);
  return status;
}
