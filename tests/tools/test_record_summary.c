/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom summary names what was planted in recorded programs. */
#include <criterion/criterion.h>
#include <string.h>

#include "recorded.h"
#include "support/skip.h"

TestSuite(record_summary, .init = enter_folder, .fini = leave_folder, .timeout = 240);

/* Whether the first sentence has `text`, and --check the exit status. */
static int says(const char *path, const char *text, int status) {
  outcome o = tsanom("summary --check %s", path);
  const char *page = strstr(o.out, "\n\n");
  const char *at = strstr(o.out, text);
  return o.status == status && page && at && at < page;
}

static void expect(const char *path, const char *text, int status) {
  cr_assert(says(path, text, status), "%s", tsanom("summary %s", path).out);
}

/* Half as much work again as the other thread. A host may give two processors speeds that
 * differ by as much, or stop one (of runs of 0.9 s, 1 of 20 was not named on one host, and 2
 * of 10 on another that was busy): one of some runs decides. */
Test(record_summary, a_thread_with_more_work) {
  if (!build_program("gcc", "shares")) SKIP_TEST("needs the Debian package gcc");
  enum { TRIES = 8 };
  int named = 0;
  for (int i = 0; i < TRIES && !named; i++) {
    shell_ok("rm -rf run");
    tsanom_ok("record -o run -- ./shares 200 2000000 1.5");
    named = says("run", "; thread 1 takes ", 1);
  }
  cr_assert(named, "%s", tsanom("summary run").out);
  outcome o = tsanom("run");
  cr_assert(
      o.status == 2 && !strcmp(o.err, "tsanom: run is a recording: tsanom summary run\n"),
      "%s", o.err);
}

/* The run of a rank that starts programs begins in MPI_Init. */
Test(record_summary, a_program_that_recorded_nothing) {
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  tsanom_ok("record --force -o run -- true");
  CHECK_REJECTED(tsanom("summary run"), 3,
                 "run: nothing was recorded; the recorder reports: nothing is recorded: "
                 "the program has opened no parallel region");
}

Test(record_summary, a_program_without_regions_has_a_page_by_all_options) {
  static const char *const by[] = {"--force", "--functions", "--ompt"};
  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
    tsanom_ok("record %s -o run.%zu -- true", by[i], i);
    CHECK_PRINTS(tsanom("summary run.%zu", i), "The program ended normally after ");
  }
}

Test(record_summary, how_programs_end) {
  if (!build_program("gcc", "loop")) SKIP_TEST("needs the Debian package gcc");
  check_status(tsanom("record -o run -- ./loop"), 5);
  expect("run", "The program exited with status 5 after ", 1);
}
