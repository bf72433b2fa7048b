/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom search: neighbors, places in a stream and classes of a few short series, whose
 * distances are worked out by hand; and a result for which the memory does not suffice.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "run.h"
#include "support/sanitized.h"

TestSuite(command_search, .init = enter_folder, .fini = leave_folder);

static json_t *neighbor(json_t *result, size_t query, size_t place) {
  json_t *of = item_of(result, "queries", query);
  return item_of(of, "neighbors", place);
}

/* By hand: 1 2 3 costs 0 against itself, 1 against 1 2 2 and 6 against 3 4 5
 * with radius 1 (1-3 2-3 3-4 3-5 or the like). */
Test(command_search, neighbors_of_whole_series) {
  write_text("queries", "1,2,3\n3,4,5\n");
  write_text("series", "3,4,5\n1,2,2\n1,2,3\n");
  json_t *result = tsanom_json("search queries series -k 2 --radius 1 --json");
  cr_assert(size_of(result, "queries") == 2);
  cr_assert(number_of(neighbor(result, 0, 0), "index") == 2);
  cr_assert(number_of(neighbor(result, 0, 0), "distance") == 0);
  cr_assert(number_of(neighbor(result, 0, 1), "index") == 1);
  cr_assert(number_of(neighbor(result, 0, 1), "distance") == 1);
  cr_assert(number_of(neighbor(result, 1, 0), "index") == 0);
  json_t *pruned = json_object_get(item_of(result, "queries", 0), "pruned");
  cr_assert(number_of(pruned, "candidates") == 3);
  cr_assert(number_of(pruned, "means") + number_of(pruned, "kim") +
                number_of(pruned, "keogh") + number_of(pruned, "dtw_abandoned") +
                number_of(pruned, "dtw_computed") ==
            3);
  CHECK_PRINTS(tsanom("search queries series --plot p.svg"), "    0  2           0\n");
  check_svg("p.svg");
}

Test(command_search, a_query_in_a_stream) {
  write_text("query", "1\n5\n1\n");
  write_text("stream", "0\n0\n1\n5\n1\n0\n0\n0\n2\n6\n2\n0\n");
  json_t *result =
      tsanom_json("search --stream query stream -k 2 --radius 0 --json --threads 2");
  cr_assert(number_of(neighbor(result, 0, 0), "index") == 2);
  cr_assert(number_of(neighbor(result, 0, 0), "distance") == 0);
  cr_assert(number_of(neighbor(result, 0, 1), "index") == 8);
  cr_assert(number_of(neighbor(result, 0, 1), "distance") == 3);
  result = tsanom_json(
      "search --stream query stream -k 2 --radius 0 --z-normalize --cost squared --json");
  cr_assert(number_of(neighbor(result, 0, 1), "index") == 8);
  cr_assert(number_of(neighbor(result, 0, 1), "distance") < 1e-20);
  result =
      tsanom_json("search --stream query stream -k 9 --exclusion 100 --radius 0 --json");
  json_t *all = json_object_get(item_of(result, "queries", 0), "neighbors");
  cr_assert(json_array_size(all) == 1);
  CHECK_PRINTS(tsanom("search --stream query stream -k 9 --exclusion 100"),
               "no more than 1 of the 9 asked for");
  CHECK_PRINTS(tsanom("search --stream query stream -k 2 --z-normalize --plot p.svg"),
               "start");
  check_svg("p.svg");
}

Test(command_search, classes_by_the_nearest) {
  write_text("train", "up\t1\t2\t3\ndown\t3\t2\t1\n");
  write_text("test", "up\t1\t2\t4\nup\t3\t2\t2\ndown\t4\t2\t1\ndown\t9\t5\t1\n");
  json_t *result = tsanom_json("search --classify train test --radius 1 --json");
  cr_assert(number_of(result, "error_rate") == 0.25);
  cr_assert(number_of(result, "tested") == 4);
  json_t *predicted = json_object_get(result, "predicted");
  cr_assert_str_eq(text_at(predicted, 1), "down");
  CHECK_PRINTS(tsanom("search --classify train test"), "error rate 0.2500: 1 of 4\n");
}

/* The memory suffices for the numbers of the neighbors, not for their distances. A
 * sanitizer reserves more. */
#if !SANITIZED
Test(command_search, a_result_that_does_not_fit_the_memory) {
  enum { SERIES = 20000 };
  const struct rlimit limit = {(rlim_t)5 << 30, (rlim_t)5 << 30};
  FILE *file = fopen("many", "w");
  for (int i = 0; i < SERIES; i++) fprintf(file, "1,%d\n", i);
  fclose(file);
  cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK_REJECTED(tsanom("search many many -k 20000"), 3, "no memory",
                 "20000 neighbors of 20000 queries");
}
#endif

Test(command_search, bad_input_is_rejected_with_its_place) {
  write_text("good", "1,2,3\n");
  write_text("short", "1,2,3\n1,2\n");
  write_text("word", "1,2,3\n1,x,3\n");
  write_text("label", "a\n");
  write_text("empty", "");
  write_text("one", "1\n2\n");
  write_text("three", "1\n2\n3\n");
  write_text("huge", "1,2,1e200\n");
  CHECK_REJECTED(tsanom("search good huge --cost squared"), 3, "good, query 0",
                 "distances overflow");
  write_text("wide", "1e200\n-1e200\n1e200\n");
  CHECK_REJECTED(tsanom("search --stream --cost squared three wide"), 3, "three",
                 "distances overflow");
  CHECK_REJECTED(tsanom("search good short"), 3, "short:2", "2 samples", "3");
  CHECK_REJECTED(tsanom("search short good"), 3, "short:2");
  CHECK_REJECTED(tsanom("search good word"), 3, "word:2: column 2", "\"x\"");
  CHECK_REJECTED(tsanom("search good empty"), 3, "empty: holds no series");
  CHECK_REJECTED(tsanom("search good none"), 3, "none", "No such file");
  CHECK_REJECTED(tsanom("search one three"), 3, "three: one sample a row", "--stream");
  CHECK_REJECTED(tsanom("search good good -k 2"), 3, "1 series", "2 neighbors");
  CHECK_REJECTED(tsanom("search --classify label label"), 3, "label:1");
  CHECK_REJECTED(tsanom("search --stream three one"), 3, "3 samples", "only 2");
  write_text("large", "1,2e200\n");
  CHECK_REJECTED(tsanom("search large large --z-normalize"), 3, "large", "up to 1e140");
  CHECK_REJECTED(tsanom("search --stream good one"), 3, "good:1");
}

Test(command_search, wrong_usage_is_reported) {
  write_text("good", "1,2,3\n");
  static const char *const wrong[] = {
      "search good",
      "search good good good",
      "search good good -k 0",
      "search good good --exclusion 1",
      "search good good --column x",
      "search --stream --classify good good",
      "search --classify good good -k 2",
      "search --classify good good --plot p.svg",
      "search - -",
      "search good good --cost cubic",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    check_status(tsanom("%s", wrong[i]), 2);
  }
}
