/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom reduce: core and reducts of table 1 of the SPMD paper, and rules of small tables
 * whose answers can be seen at once: inconsistent ones, with numbers to be cut, with
 * missing values. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

TestSuite(command_reduce, .init = enter_folder, .fini = leave_folder);

/* Table 1 of the SPMD paper. Without a1, rows 0 and 2 differ in the decision alone. */
static const char weather[] =
    "ID,a1,a2,a3,a4,decision\n"
    "0,sunny,hot,high,False,N\n1,sunny,hot,high,True,N\n"
    "2,overcast,hot,high,False,P\n3,sunny,cool,low,False,P\n";

static void check_member(const json_t *result, const char *key, const char *expected) {
  char *text = json_dumps(json_object_get(result, key),
                          JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
  cr_assert(text && strcmp(text, expected) == 0, "%s: %s, not %s", key, text, expected);
  free(text);
}

Test(command_reduce, the_papers_table_has_its_core_and_reducts) {
  write_text("t.csv", weather);
  static const char *const kinds[] = {"", "--all", "--minimum", "--paper"};
  for (size_t k = 0; k < 4; k++) {
    json_t *r =
        tsanom_json("reduce t.csv --decision decision --ignore ID --json %s", kinds[k]);
    check_member(r, "core", "[\"a1\"]");
    check_member(r, "reducts", "[[\"a1\",\"a2\"],[\"a1\",\"a3\"]]");
    check_member(r, "inconsistent", "[]");
    check_member(r, "complete", "true");
    cr_assert(number_of(r, "dependency") == 1);
    check_member(r, "significance", "{\"a1\":0.5,\"a2\":0.0,\"a3\":0.0,\"a4\":0.0}");
  }
  json_t *r =
      tsanom_json("reduce - -d decision --ignore ID --greedy --threads 2 --json <t.csv");
  check_member(r, "reducts", "[[\"a1\",\"a2\"]]");
}

Test(command_reduce, rules_are_said_as_a_person_would) {
  write_text("t.csv", weather);
  outcome o = tsanom_ok("reduce t.csv --decision decision --ignore ID");
  static const char answer[] = "decision is explained by 2 of 4 attributes: a1, a2\n";
  cr_assert(!strncmp(o.out, answer, sizeof answer - 1), "%s", o.out);
  static const char *const said[] = {
      "core          a1\n", "  2: a1, a2\n",
      "  If a1 is sunny and a2 is hot, then decision is N (2 of 2 rows, 100 %).\n",
      "  If a1 is overcast and a2 is hot, then decision is P (1 of 1 row, 100 %).\n"};
  for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
    cr_assert(strstr(o.out, said[k]), "%s in\n%s", said[k], o.out);
  }
}

Test(command_reduce, inconsistent_rows_are_reported_and_the_readings_differ) {
  write_text("t.csv", "a,b,d\n0,0,x\n0,0,y\n1,0,x\n1,1,y\n");
  json_t *r = tsanom_json("reduce t.csv -d d --json --reading positive");
  check_member(r, "inconsistent", "[[0,1]]");
  check_member(r, "inconsistent_pairs", "1");
  cr_assert(number_of(r, "dependency") == 0.5);
  outcome o = tsanom("reduce t.csv -d d");
  cr_assert(
      strstr(
          o.out,
          "consistent    no: 1 pair of rows that differ in the decision alone: (0, 1)\n"),
      "%s", o.out);
}

Test(command_reduce, numbers_are_cut_and_missing_values_have_a_say) {
  write_text(
      "t.csv",
      "time,kind,d\n1,?,slow\n2.5,a,slow\n9,,fast\n10,a,fast\n11,b,fast\n0,b,slow\n");
  json_t *r = tsanom_json("reduce t.csv -d d --json --minimum --cut width --bins 2");
  check_member(r, "reducts", "[[\"time\"]]");
  check_member(r, "bounds", "[1,1]");
  check_member(item_of(r, "rules", 0), "if", "{\"time\":[null,5.5]}");
  CHECK_PRINTS(tsanom("reduce t.csv -d d --cut width --bins 2 --missing wildcard"),
               "  If time is below 5.5, then d is slow (3 of 3 rows, 100 %).\n");
}

/* A rule is true of the rows as it is printed: cuts have the digits that tell them from samples. */
Test(command_reduce, cuts_are_printed_exactly) {
  enum { ROWS = 40 };
  char text[4096] = "x,d\n";
  for (int i = 0; i < ROWS; i++) {
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "%.1f,%s\n", 1e6 + 0.1 * i,
                   i < ROWS / 2 ? "a" : "b");
  }
  write_text("t.csv", text);
  CHECK_PRINTS(tsanom("reduce t.csv -d d --cut entropy"), "x is below 1000001.95, then d",
               "x is at least 1000001.95, then d");
}

/* The cuts are 1 + 3 k / bins, also where no row lies between two of them: d is c from the
 * last one that is not above 4. */
Test(command_reduce, more_bins_than_rows) {
  static const int bins[] = {4, 5, 10, 1000000};
  write_text("t.csv", "x,d\n1,a\n2,a\n3,b\n4,c\n");
  for (size_t k = 0; k < sizeof bins / sizeof *bins; k++) {
    json_t *r =
        tsanom_json("reduce t.csv -d d --json --minimum --cut width --bins %d", bins[k]);
    check_member(r, "reducts", "[[\"x\"]]");
    json_t *rules = json_object_get(r, "rules");
    for (size_t i = 0; i < json_array_size(rules); i++) {
      json_t *rule = json_array_get(rules, i);
      if (strcmp(text_of(rule, "then"), "c") != 0) continue;
      json_t *ends = json_object_get(json_object_get(rule, "if"), "x");
      double low = json_number_value(json_array_get(ends, 0));
      double last = 1 + 3 * (double)(bins[k] - 1) / bins[k];
      cr_assert(fabs(low - last) < 1e-12, "%d bins: %g", bins[k], low);
    }
    cr_assert(json_array_size(rules) == 4);
  }
}

Test(command_reduce, one_decision_gives_the_empty_reduct) {
  write_text("t.csv", "a,d\n1,x\n2,x\n");
  json_t *r = tsanom_json("reduce t.csv -d d --json");
  check_member(r, "core", "[]");
  check_member(r, "reducts", "[[]]");
  CHECK_PRINTS(tsanom("reduce t.csv -d d"), "  Always d is x (2 of 2 rows, 100 %).\n");
}

Test(command_reduce, a_limit_says_that_there_are_more) {
  write_text("t.csv", "a,b,c,d\n0,0,0,x\n1,1,1,y\n");
  json_t *r = tsanom_json("reduce t.csv -d d --json --limit 2");
  cr_assert(size_of(r, "reducts") == 2);
  check_member(r, "complete", "false");
}

Test(command_reduce, bad_input_is_answered_with_its_place) {
  write_text("ragged.csv", "a,d\n1,x\n2\n");
  CHECK_REJECTED(tsanom("reduce ragged.csv -d d"), 3,
                 "ragged.csv:3:", "1 fields where the header has 2");
  write_text("empty.csv", "");
  CHECK_REJECTED(tsanom("reduce empty.csv -d d"), 3, "empty.csv", "header");
  write_text("header.csv", "a,d\n");
  CHECK_REJECTED(tsanom("reduce header.csv -d d"), 3, "header.csv", "no rows");
  write_text("t.csv", "a,d\n1,x\n2,\n");
  CHECK_REJECTED(tsanom("reduce t.csv -d d"), 3, "t.csv:3: column 2 (d)", "missing");
  CHECK_REJECTED(tsanom("reduce t.csv -d e"), 3, "t.csv:1:", "\"e\"", "\"a\" to \"d\"");
  CHECK_REJECTED(tsanom("reduce t.csv -d d --ignore z"), 3, "--ignore", "\"z\"");
  CHECK_REJECTED(tsanom("reduce t.csv -d d --ignore a"), 3, "no column beside");
  write_text("twice.csv", "a,a,d\n1,2,x\n");
  CHECK_REJECTED(tsanom("reduce twice.csv -d d"), 3, "columns 1 and 2", "\"a\"");
  write_text("nameless.csv", "a,,d\n1,2,x\n");
  CHECK_REJECTED(tsanom("reduce nameless.csv -d d"), 3, "column 2 has no name");
  CHECK_REJECTED(tsanom("reduce none.csv -d d"), 3, "none.csv", "No such file");
}

Test(command_reduce, wrong_usage_is_explained) {
  static const char *const wrong[] = {"reduce",
                                      "reduce t.csv",
                                      "reduce a b -d",
                                      "reduce t.csv -d d --reading odd",
                                      "reduce t.csv -d d --bins 3",
                                      "reduce t.csv -d d --cut width --bins 0",
                                      "reduce t.csv -d d --limit 0",
                                      "reduce t.csv -d d --plot p.svg"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    outcome o = tsanom("%s", wrong[k]);
    cr_assert(o.status == 2 && *o.err, "%s: %d", wrong[k], o.status);
  }
}
