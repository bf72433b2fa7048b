/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom collect: ranks that were recorded in the directories of several machines. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"

TestSuite(collect, .init = enter_folder, .fini = leave_folder, .timeout = 60);

/* Record a rank of 4 as the variables of a launcher say; kills itself after `killed`
 * iterations, if not 0. */
static void record_rank(int rank, const char *directory, const char *job, int killed) {
  shell_ok(
      "(ulimit -c 0; OMPI_COMM_WORLD_RANK=%d OMPI_COMM_WORLD_SIZE=4 PMIX_NAMESPACE=%s "
      "tsanom record -o %s -- ./loop 20 %d) >out 2>&1; test $? -%s 128",
      rank, job, directory, killed ? killed : -1, killed ? "gt" : "lt");
  /* How it was killed is written afterwards. */
  cr_assert(!killed || shell("until tsanom summary --json %s/rank.%d | grep -q "
                             "'\"signal\": [0-9]'; do sleep 0.01; done",
                             directory, rank) == 0);
}

static int prepare_ranks(void) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return 0;
  for (int rank = 0; rank < 4; rank++) {
    record_rank(rank, rank < 2 ? "first" : "second", "7", rank == 3 ? 10 : 0);
  }
  return 1;
}

Test(collect, ranks_of_two_machines) {
  if (!prepare_ranks()) return;
  json_t *r = tsanom_json("collect first second -o run --json");
  cr_assert(number_of(r, "ranks") == 4 && number_of(r, "size") == 4);
  cr_assert(number_of(r, "copied") == 4 && number_of(r, "records") > 4 * 100);
  for (int rank = 0; rank < 4; rank++) {
    shell_ok("diff -r %s/rank.%d run/rank.%d", rank < 2 ? "first" : "second", rank, rank);
  }
  shell_ok("test \"$(ls -A run | wc -l)\" = 6");
  cr_assert(strstr(tsanom("speedup run").out, "rank 3: "));
  CHECK_REJECTED(tsanom("run"), 2, "run is a recording: tsanom summary run");
  /* Again: nothing is to do. One machine by itself: the other ranks are missing. */
  outcome o = tsanom("collect second -o run");
  cr_assert(
      o.status == 0 &&
          strcmp(o.out, "run: 4 ranks, of which 0 were copied with 0 records\n") == 0,
      "%s%s", o.out, o.err);
  CHECK_WARNS(tsanom("collect second -o part"), "part: 2 of 4 ranks recorded nothing");
  cr_assert(strstr(tsanom("collect first -o part").out, "4 ranks, of which 2"));
  shell_ok("diff -r run part");
}

Test(collect, what_does_not_belong_together) {
  if (!prepare_ranks()) return;
  record_rank(2, "other", "8", 0);
  record_rank(2, "again", "7", 0);
  CHECK_REJECTED(tsanom("collect first other -o run"), 3, "run",
                 "contains the run of another job than other");
  tsanom_ok("collect second -o run");
  CHECK_REJECTED(tsanom("collect again -o run"), 3, "run/rank.2",
                 "there is another run of this rank");
  CHECK_REJECTED(tsanom("collect loop -o run"), 3, "loop", "not a directory with");
  CHECK_REJECTED(tsanom("collect loop -o new"), 3, "loop", "not a directory with");
  shell_ok("test ! -e new");
  CHECK_REJECTED(tsanom("collect first -o loop"), 3, "loop", "not a directory; give");
  CHECK_REJECTED(tsanom("collect first -o none/run"), 3, "none/run", "cannot create");
  CHECK_REJECTED(tsanom("collect first -o first/rank.0"), 3, "first/rank.0",
                 "contains the run of a single process");
  check_status(tsanom("collect first"), 2);
  check_status(tsanom("collect -o run"), 2);
}

/* The signal comes while a large file of the rank is copied. */
Test(collect, nothing_is_left_of_what_was_interrupted) {
  if (!build_program("gcc", "loop")) return;
  record_rank(0, "first", "7", 0);
  shell_ok("yes | head -c 300000000 >first/rank.0/large");
  cr_assert(shell("tsanom collect first -o run 2>messages & until ls run/.rank.0.* || "
                  "[ -e run/rank.0 ]; do :; done >out 2>&1; kill -TERM $!; wait $!") ==
            143);
  cr_assert(file_holds("messages", "Interrupted"), "%s", slurp("messages"));
  shell_ok("test -z \"$(ls -A run | grep rank.0)\"");
}

/* Two machines of one job, with a rank each. The group spawned.1 has processes on both,
 * spawned.2 is a single process on the second. */
Test(collect, spawned_processes) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return;
  for (int rank = 0; rank < 2; rank++) {
    cr_assert(
        shell("tsanom record --force -o m%d -- sh -c 'export OMPI_COMM_WORLD_RANK=%d "
              "OMPI_COMM_WORLD_SIZE=2; for n in 1 2; do PMIX_NAMESPACE=p-5@$n ./loop 20; "
              "done; test %d = 0 || OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 "
              "PMIX_NAMESPACE=p-5@3 ./loop 20' >out 2>err",
              rank, rank, rank) == (rank ? 5 : 0));
  }
  json_t *r = tsanom_json("collect m0 m1 -o run --json");
  cr_assert(number_of(r, "ranks") == 2 && number_of(r, "copied") == 2);
  cr_assert(number_of(r, "spawned") == 3);
  shell_ok("diff -r m1/spawned.2 run/spawned.2");
  for (int rank = 0; rank < 2; rank++) {
    shell_ok(
        "diff -r m%d/rank.%d run/rank.%d && diff -r m%d/spawned.1/rank.%d "
        "run/spawned.1/rank.%d",
        rank, rank, rank, rank, rank, rank);
  }
  shell_ok("test \"$(ls -A run | wc -l)\" = 6");
  shell_ok("test \"$(ls -A run/spawned.1 | wc -l)\" = 3");
  cr_assert(strstr(tsanom("collect m1 -o run").out, "2 ranks, of which 0 were copied "));
  cr_assert(strstr(tsanom("collect m1 -o part").out,
                   "1 were copied, and 2 processes that they spawned, with"));
}

/* A rank that is damaged is copied as it is. A copy that cannot be written leaves
 * nothing. */
Test(collect, damage_and_full_disks) {
  if (!prepare_ranks()) return;
  shell_ok(
      "printf X | dd of=first/rank.1/heartbeat.00000 bs=1 seek=4100 conv=notrunc "
      "2>/dev/null");
  tsanom_ok("collect first -o run");
  shell_ok("diff -r first run");
  shell_ok(
      "(ulimit -f 1; trap '' XFSZ; tsanom collect first -o small >out 2>err); test $? = "
      "3");
  cr_assert(file_holds("err", "cannot write"));
  shell_ok("test \"$(ls -A small)\" = ranks.tsv");
}
