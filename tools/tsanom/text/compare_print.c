/* SPDX-License-Identifier: BSD-3-Clause */
/* A comparison of runs as text and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "json_value.h"

static const char *const kinds[] = {"loop", "region", "thread", "rank", "sign"};

/* The row that explains most of a change: a region that changed. */
static const compared *reason_of(const comparison *c) {
  for (size_t i = 1; i < c->rows; i++) {
    const compared *row = &c->row[i];
    int is_same_way = (row->ratio > 1) == (c->row[0].ratio > 1);
    if (row->kind == NUMBER_REGION && row->changed && is_same_way) return row;
  }
  return NULL;
}

/* Whether more waiting for processors is half of a change. */
static int has_waited(const comparison *c) {
  double change = c->row[0].b - c->row[0].a;
  for (size_t i = 1; i < c->rows; i++) {
    const compared *row = &c->row[i];
    if (row->kind == NUMBER_SIGN && !strcmp(row->name, NUMBER_READY)) {
      return row->changed && change > 0 && row->b - row->a > change / 2;
    }
  }
  return 0;
}

static void print_number_of_runs(const comparison *c) {
  if (c->paired) {
    printf("%zu pairs", c->a);
  } else {
    printf("%zu + %zu runs", c->a, c->b);
  }
}

static void print_verdict(const comparison *c) {
  const compared *first = &c->row[0];
  if (!isfinite(first->detectable) && !first->changed) {
    printf("Too few runs for an answer: ");
    print_number_of_runs(c);
    printf("; %s.\n", c->sequential ? "ten pairs are the fewest"
                      : c->paired   ? "eight pairs are the fewest"
                                    : "five of each are the fewest");
    return;
  }
  printf(!first->changed    ? "No difference was found"
         : first->ratio > 1 ? "B is slower"
                            : "B is faster");
  printf(": %s takes %.3g times as long", first->name, first->ratio);
  if (isfinite(first->low) && isfinite(first->high) && first->low > 0) {
    printf(" (%.3g to %.3g)", first->low, first->high);
  }
  printf(", ");
  print_number_of_runs(c);
  const compared *reason = first->changed ? reason_of(c) : NULL;
  if (reason) printf("; most of it in %s", reason->name);
  if (first->changed && has_waited(c)) printf("; B waited for processors");
  if (!first->changed) {
    printf("; a difference of %.3g %% can be seen", 100 * (first->detectable - 1));
  }
  printf(".\n");
}

/* Sets of labels that tell the runs apart, each by itself. */
static void print_labels(const comparison *c) {
  const run_labels *l = &c->labels;
  if (!l->sets) {
    if (l->keys) printf("No labels tell the runs of A and B apart.\n");
    return;
  }
  printf("The runs of A and B differ in ");
  for (size_t s = 0; s < l->sets; s++) {
    const char *between = s ? ", or in " : "";
    for (size_t k = 0; k < l->keys; k++) {
      if (!(l->set[s] >> k & 1)) continue;
      printf("%s", between);
      run_labels_print(l, k, c->a);
      between = " and ";
    }
  }
  printf(".\n");
}

void comparison_print(const comparison *c) {
  print_verdict(c);
  print_labels(c);
  printf("\n%-6s  %10s  %10s  %7s  %-15s  %s\n", "", "A", "B", "B / A", "95 %", "");
  for (size_t i = 0; i < c->rows; i++) {
    const compared *row = &c->row[i];
    char interval[32] = "-";
    if (isfinite(row->low) && isfinite(row->high) && row->low > 0) {
      (void)snprintf(interval, sizeof interval, "%.3f to %.3f", row->low, row->high);
    }
    printf("%-6s  %10.4g  %10.4g  %7.3f  %-15s %c %.38s\n", kinds[row->kind], row->a,
           row->b, row->ratio, interval, row->changed ? '*' : ' ', row->name);
  }
  printf("\nseconds of an iteration, or what the name says; * changed\n");
}

json_t *comparison_to_json(const comparison *c, double threshold) {
  json_t *changes = json_array();
  for (size_t i = 0; i < c->rows; i++) {
    const compared *row = &c->row[i];
    json_array_append_new(
        changes,
        json_pack("{ss so so so so so so so so sb}", "kind", kinds[row->kind], "name",
                  json_name(row->name), "a", json_finite(row->a), "b",
                  json_finite(row->b), "ratio", json_finite(row->ratio), "low",
                  json_finite(row->low > 0 ? row->low : NAN), "high",
                  json_finite(row->high), "significance", json_finite(row->significance),
                  "detectable", json_finite(row->detectable), "changed", row->changed));
  }
  const compared *first = &c->row[0];
  const char *verdict = first->changed ? first->ratio > 1 ? "slower" : "faster"
                        : isfinite(first->detectable) ? "same"
                                                      : "too few runs";
  return json_pack("{ss sb so sI sI so so}", "verdict", verdict, "fails",
                   comparison_is_slower(c, threshold), "detectable",
                   json_finite(first->detectable), "runs_a", (json_int_t)c->a, "runs_b",
                   (json_int_t)c->b, "labels", run_labels_to_json(&c->labels), "changes",
                   changes);
}
