/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch: several runs, and the ranks of a job. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pulses.h"

TestSuite(command_watch_ranks, .init = enter_folder, .fini = leave_folder,
          .timeout = 120);

/* Each has its lines; the slowest is named. A run that fails does not end the others. */
Test(command_watch_ranks, several_runs_are_watched_together) {
  record_pulse("a", 40, "plain");
  record_pulse("b", 40, "kill");
  outcome o = tsanom("watch --check --openmetrics all.prom a b");
  cr_assert(o.status == 1 && strstr(o.out, " a: finished, iteration 40") &&
                strstr(o.out, " b: killed, iteration 21") && strstr(o.out, "slowest: "),
            "%d: %s", o.status, o.out);
  cr_assert(file_holds("all.prom", "tsanom_beats{run=\"a\",thread=\"1\"} 40\n"));
  cr_assert(file_holds("all.prom", "tsanom_beats{run=\"b\",thread=\"1\"} 21\n"));
  o = tsanom("watch a none");
  cr_assert(o.status == 3 && strstr(o.err, "none") && strstr(o.out, "a: finished"),
            "%s%s", o.out, o.err);
}

/* The third rank recorded nothing. */
Test(command_watch_ranks, the_ranks_of_a_run_are_watched) {
  shell_ok("mkdir job");
  write_text("job/ranks.tsv", "tsanom ranks 1\nsize\t3\njob\t-\n");
  CHECK_REJECTED(tsanom("watch job"), 3, "job", "no rank recorded a run");
  record_pulse("job/rank.0", 40, "plain");
  record_pulse("job/rank.1", 40, "kill");
  outcome o = tsanom("watch --check job");
  cr_assert(o.status == 1 && strstr(o.out, "job/rank.1: killed") &&
                strstr(o.out, "job/rank.0: finished") && strstr(o.out, "slowest: rank "),
            "%d: %s%s", o.status, o.out, o.err);
  o = tsanom("watch --json job >lines");
  int ranks = 0;
  size_t i;
  const json_t *line;
  json_array_foreach(json_lines("lines"), i, line) {
    ranks |= 1 << (int)number_of(line, "rank");
    cr_assert(json_is_string(json_object_get(line, "slowest_run")));
  }
  cr_assert(o.status == 0 && ranks == 3, "%d", ranks);
}

/* The second one begins when the first one does not beat any more. When the first one is named, the command goes on as soon as the other one is
 * known to wait. */
static void start_ranks(const char *command) {
  shell_ok("mkdir job");
  write_text("job/ranks.tsv", "tsanom ranks 1\nsize\t2\njob\t-\n");
  /* At most 20 s: it must not outlive a test that fails. */
  write_text("until_waiting",
             "for i in $(seq 400); do\n"
             "  grep -q waiting lines && exit\n  sleep 0.05\ndone\n");
  write_text("act", command);
  start_pulse("job/rank.1", 400, "hold");
  shell_ok("until [ -e holds ]; do sleep 0.05; done; mv pid pid.1");
  start_pulse("job/rank.0", 402, "hold"); /* one beat more: it waits */
}

/* Of two ranks that are silent, the one that hung first is named, and the slowest. */
Test(command_watch_ranks, the_rank_that_hangs_first_is_named) {
  start_ranks(
      "echo $TSANOM_RUN $TSANOM_CAUSE >>named\n(sh ./until_waiting; touch resume) &\n");
  outcome o = tsanom("watch --every 0.05 --hang 1.5 --on-anomaly 'sh ./act' job >lines");
  cr_assert(o.status == 0 && system("echo job/rank.1 hang | cmp - named") == 0, "%s",
            o.err);
  cr_assert(file_holds("lines", "job/rank.1: thread 1: hang since iteration"));
  cr_assert(file_holds("lines", "job/rank.0: thread 1: waiting since iteration"));
  cr_assert(file_holds("lines", "job/rank.0: thread 1: waiting recovered"));
  cr_assert(file_holds("lines", "slowest: rank 1"));
}

/* The one that waited hangs itself when the first one is gone. */
Test(command_watch_ranks, a_rank_that_waits_for_a_killed_one_hangs) {
  start_ranks(
      "echo $TSANOM_RUN $TSANOM_CAUSE >>named\n"
      "case $TSANOM_RUN in\n*1) (sh ./until_waiting; kill -9 $(cat pid.1)) & ;;\n"
      "*) touch resume ;;\nesac\n");
  outcome o = tsanom("watch --every 0.05 --hang 1.5 --on-anomaly 'sh ./act' job >lines");
  cr_assert(o.status == 0 &&
                file_holds("named", "job/rank.1 hang\njob/rank.1 shutdown\n") &&
                file_holds("named", "shutdown\njob/rank.0 hang\n"),
            "%s", o.err);
}
