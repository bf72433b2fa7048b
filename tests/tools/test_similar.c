/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom similar on region times in JSON: kinds and causes that are planted, and the
 * paper's Geo-ST, reported as in figure 4. Invalid files are rejected with the place in
 * the JSON. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

TestSuite(command_similar, .init = enter_folder, .fini = leave_folder);

/* Two kinds of processes; the loop in the step is to blame, by its instructions. */
static const char two_kinds[] =
    "{\"regions\": [{\"name\": \"init\"}, {\"name\": \"step\", \"parent\": null},\n"
    "  {\"name\": \"the loop\", \"parent\": \"step\"},\n"
    "  {\"name\": \"send\", \"parent\": \"step\"}],\n"
    " \"processes\": [\"a\", \"b\", \"c\", \"d\"],\n"
    " \"time\": [[1, 6, 4, 1], [1, 6, 4, 1], [1, 10, 8, 1], [1, 10, 8, 1]],\n"
    " \"metrics\": [\n"
    "  {\"name\": \"misses\", \"value\": [[1, 1, 1, null], [1, 1, 1, null],\n"
    "    [1, 1, 1, 1], [1, 1, 1, 1]]},\n"
    "  {\"name\": \"instructions\", \"value\": [[1, 1, 4, 1], [1, 1, 4, 1],\n"
    "    [1, 1, 8, 1], [1, 1, 8, 1]]}],\n"
    " \"elapsed\": 12}\n";

Test(command_similar, names_region_and_cause) {
  write_text("r.json", two_kinds);
  json_t *r = tsanom_json("similar --fixed r.json --json");
  json_t *clusters = json_object_get(r, "clusters");
  cr_assert_eq(json_array_size(clusters), 2);
  cr_assert_str_eq(text_at(json_array_get(clusters, 1), 0), "c");
  json_t *ccr = json_object_get(r, "ccr");
  cr_assert_eq(json_array_size(ccr), 2);
  cr_assert_eq(number_of(json_array_get(ccr, 0), "level"), 1);
  cr_assert_str_eq(text_at(json_object_get(r, "cccr"), 0), "the loop");
  cr_assert_eq(size_of(r, "cccr"), 1);
  cr_assert_str_eq(text_at(json_object_get(r, "root_causes"), 0), "instructions");
  cr_assert_eq(size_of(r, "root_causes"), 1);
  /* Vectors (1, 6) and (1, 10). */
  cr_assert_float_eq(number_of(r, "severity"), 4 / sqrt(101), 1e-15);
  json_t *balance = json_object_get(r, "balance");
  cr_assert_float_eq(number_of(balance, "scheduling"), 11.0 / 12, 1e-15);
  cr_assert_float_eq(number_of(balance, "efficiency"), 9.0 / 12, 1e-15);
  json_t *table = json_object_get(r, "decision_table");
  cr_assert_eq(size_of(table, "rows"), 4);
  cr_assert_eq(size_of(r, "decisions"), 1 + 2 + 2);
}

Test(command_similar, the_text_is_that_of_figure_4) {
  write_text("r.json", two_kinds);
  outcome o = tsanom("similar --fixed r.json");
  static const char *const pieces[] = {
      "The processes of kind 1 ( c d ) are slowest in the loop, where the kinds differ "
      "in instructions; ideal balance would run in 18 % less time.\n",
      "there are 2 kinds of processes\nkind 0: a b\nkind 1: c d\n"
      "dissimilarity severity: 0.398015\nCCCR: the loop\nCCR tree:\n"
      "step (1-CCR) ---> the loop (2-CCR & CCCR)\nroot cause: instructions\n"};
  cr_assert_eq(o.status, 0);
  for (size_t p = 0; p < 2; p++) cr_assert(strstr(o.out, pieces[p]), "%s", o.out);
  CHECK_PRINTS(tsanom("similar --fixed --explain r.json"),
               "without                  step: 1 kinds, changed: critical\n");
  cr_assert_eq(tsanom("similar --fixed --check r.json").status, 1);
  cr_assert_eq(tsanom("similar --fixed --check --tolerance 0.5 r.json").status, 0);
}

/* Two regions make the same two kinds, one of them nested. */
Test(command_similar, deep_goes_on_where_the_paper_ends) {
  write_text("r.json",
             "{\"regions\": [{\"name\": \"a\"}, {\"name\": \"in a\", \"parent\": \"a\"}, "
             " {\"name\": \"b\"}, {\"name\": \"c\"}], \"time\": [[4, 1, 3, 2], [4, 1, 3, "
             "2], [8, 5, 7, 2], [8, 5, 7, 2]]}");
  CHECK_PRINTS(tsanom("similar --fixed r.json"), "CCCR: a, b\n");
  outcome o =
      CHECK_PRINTS(tsanom("similar --fixed r.json --deep --explain"),
                   "CCCR: in a, b\nCCR tree:\na (1-CCR) ---> in a (2-CCR & CCCR)\n");
  cr_assert(strstr(o.out, "alone of these:          a: 2 kinds, as before: critical\n"),
            "%s", o.out);
}

/* Noise of some 20 % in all regions. */
Test(command_similar, noise_separates_nothing) {
  write_text("r.json",
             "{\"regions\": [{\"name\": \"a\"}, {\"name\": \"b\"}, {\"name\": \"c\"},  "
             "{\"name\": \"d\"}, {\"name\": \"e\"}, {\"name\": \"f\"}], \"time\": [[10, "
             "12, 8, 11, 9, 10], [12, 9, 10, 8, 11, 12],  [8, 11, 12, 10, 12, 9], [11, "
             "8, 9, 12, 10, 8]]}");
  cr_assert_eq(tsanom("similar --check --fixed r.json").status, 1);
  cr_assert_eq(tsanom("similar --check --noise r.json").status, 0);
  cr_assert_eq(tsanom("similar --check r.json").status, 0);
}

/* The metrics that were measured do not differ, or none was. */
Test(command_similar, without_a_cause_it_says_why) {
  static const char *const metrics[][2] = {
      {"", "as no metrics were measured\n"},
      {",\"metrics\":[{\"name\":\"calls\",\"value\":[[null],[null],[null]]}]",
       "as no metrics were measured\n"},
      {",\"metrics\":[{\"name\":\"calls\",\"value\":[[7],[7],[7]]},{\"name\":\"steps\","
       "\"value\":[[1],[1],[1]]},{\"name\":\"misses\",\"value\":[[null],[null],[null]]}]",
       "as the kinds do not differ in calls or steps\n"}};
  for (size_t m = 0; m < 3; m++) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"regions\": [{\"name\": \"x\"}], \"time\": [[3], [3], [9]]%s}",
                   metrics[m][0]);
    write_text("r.json", text);
    CHECK_PRINTS(tsanom("similar --fixed r.json"), "root cause: unknown, ",
                 metrics[m][1]);
  }
}

/* Each metric of two processes separates them. */
Test(command_similar, with_few_processes_metrics_are_counted) {
  write_text("r.json",
             "{\"regions\": [{\"name\": \"x\"}], \"time\": [[3], [9]], \"metrics\": "
             "[{\"name\": \"calls\", \"value\": [[1], [7]]},{\"name\": \"steps\", "
             "\"value\": [[2], [9]]},{\"name\": \"misses\", \"value\": [[5], [1]]}]}");
  outcome o =
      CHECK_PRINTS(tsanom("similar --fixed r.json"),
                   "slowest in x, where the kinds differ in several metrics alike;");
  cr_assert(strstr(o.out,
                   "root cause: calls\n        or: steps\n        or: misses\n"
                   "3 metrics or sets of metrics separate the kinds equally well; 2 "
                   "processes cannot tell which is the cause.\n"),
            "%s", o.out);
}

Test(command_similar, draws) {
  write_text("r.json", two_kinds);
  check_quiet(tsanom("similar --fixed r.json --plot r.svg"), 0);
  check_svg("r.svg");
  cr_assert(file_holds("r.svg", "time / mean of the region") &&
            file_holds("r.svg", "(CCCR)") && file_holds("r.svg", ">process<"));
  check_quiet(tsanom("similar - --tolerance 1 --plot s.svg <r.json"), 0);
  check_svg("s.svg");
  /* No tree, no metric. */
  write_text("r.json", "{\"regions\": [{\"name\": \"x\"}], \"time\": [[3], [3], [9]]}");
  check_quiet(tsanom("similar r.json --plot t.svg"), 0);
  check_svg("t.svg");
}

/* The paper's figure 4, but for the severity, whose definition is lost. */
Test(command_similar, geo_st_is_reported_as_in_figure_4) {
  outcome o = tsanom("similar --fixed " TSANOM_TEST_DATA "/geo_st.json --plot geo.svg");
  cr_assert_eq(o.status, 0);
  check_svg("geo.svg");
  cr_assert(strstr(o.out,
                   "\nPerformance similarity\n"
                   "there are 5 kinds of processes\n"
                   "kind 0: 0\n"
                   "kind 1: 1 2\n"
                   "kind 2: 3\n"
                   "kind 3: 4 6\n"
                   "kind 4: 5 7\n"
                   "dissimilarity severity: 0."),
            "%s", o.out);
  cr_assert(strstr(o.out,
                   "\nCCCR: region 11\n"
                   "CCR tree:\n"
                   "region 14 (1-CCR) ---> region 11 (2-CCR & CCCR)\n"
                   "root cause: executing instruction number\n"),
            "%s", o.out);
  CHECK_PRINTS(tsanom("similar --fixed " TSANOM_TEST_DATA "/geo_st_repaired.json"),
               "there are 1 kinds of processes\nkind 0: 0-7\n");
}

Test(command_similar, one_process_without_metrics) {
  write_text("r.json", "{\"regions\": [{\"name\": \"x\"}], \"time\": [[3]]}");
  outcome o = tsanom("similar --fixed r.json");
  cr_assert_eq(o.status, 0);
  cr_assert(strstr(o.out, "All processes behave the same"), "%s", o.out);
}

Test(command_similar, bad_files_are_rejected) {
  static const struct {
    const char *text, *pieces[3];
  } bad[] = {
      {"[]", {"r.json", "a JSON object"}},
      {"{\"regions\": [], \"time\": []}", {"regions", "1 to 16384"}},
      {"{\"regions\": [{}], \"time\": [[1]]}", {"regions[0].name", "a name"}},
      {"{\"regions\": [{\"name\":\"a\"},{\"name\":\"a\"}], \"time\": [[1]]}",
       {"regions[1].name", "\"a\" is used twice"}},
      {"{\"regions\": [{\"name\":\"a\",\"parent\":\"b\"}], \"time\": [[1]]}",
       {"regions[0].parent", "\"b\" is not a region"}},
      {"{\"regions\": "
       "[{\"name\":\"a\",\"parent\":\"b\"},{\"name\":\"b\",\"parent\":\"a\"}], \"time\": "
       "[[1, 1]]}",
       {"regions[0].parent", "nested in itself"}},
      {"{\"regions\": [{\"name\":\"a\"},{\"name\":\"b\"}], \"time\": [[1, 1], [1]]}",
       {"time[1]", "2 numbers", "region \"b\""}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[1], [-1]]}",
       {"time[1][0]", "must be >= 0"}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[null]]}", {"time[0][0]", "a time"}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[NaN]]}", {"r.json:1", "column"}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[1]], \"processes\": []}",
       {"processes", "one name per row"}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[1]], \"elapsed\": 0}",
       {"elapsed", "> 0"}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[1]], \"metrics\": "
       "[{\"name\":\"m\",\"value\":[[\"x\"]]}]}",
       {"metrics[0].value[0][0]", "null where none"}},
      {"{\"regions\": [{\"name\":\"a\"}], \"time\": [[1]], \"metrics\": "
       "[{\"name\":\"m\",\"value\":[]}]}",
       {"metrics[0].value", "1 rows"}},
  };
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    write_text("r.json", bad[b].text);
    const char *pieces[] = {bad[b].pieces[0], bad[b].pieces[1], bad[b].pieces[2], NULL};
    check_rejected(tsanom("similar r.json"), 3, pieces);
  }
  write_text("r.json",
             "{\"regions\": [{\"name\":\"a\"},{\"name\":\"b\",\"parent\":\"a\"}], "
             "\"time\": [[1, 1]]}");
  cr_assert_eq(tsanom("similar --program r.json").status, 0);
  write_text("r.json",
             "{\"regions\": [{\"name\":\"a\"},{\"name\":\"b\"}], \"time\": [[1, 1]]}");
  CHECK_REJECTED(tsanom("similar --program r.json"), 3, "r.json", "--program", "a and b");
  cr_assert_eq(tsanom("similar --tolerance 0 r.json").status, 2);
  cr_assert_eq(tsanom("similar").status, 2);
  CHECK_REJECTED(tsanom("similar no.json"), 3, "no.json", "cannot open");
}
