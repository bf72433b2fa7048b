/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch while a disk is full. A limit of file sizes stands for it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "pulses.h"

TestSuite(command_watch_disk, .init = enter_folder, .fini = leave_folder, .timeout = 120);

static size_t times_in(const char *text, const char *piece) {
  size_t times = 0;
  while ((text = strstr(text, piece))) {
    text += strlen(piece);
    times++;
  }
  return times;
}

/* Both threads beat, but most of their beats are dropped: the latest one that was written
 * becomes older than the limit. */
Test(command_watch_disk, beats_that_are_dropped_are_no_hang) {
  shell_ok("(trap '' XFSZ; ulimit -f 24; exec '" TSANOM_PULSE "' run 2000 plain) &");
  outcome o = CHECK_PRINTS(tsanom("watch --wait --every 0.05 --check run"),
                           "finished, iteration");
  cr_assert(
      !strstr(o.out, "hang") && times_in(o.err, "drops records (File too large)") == 1,
      "%s%s", o.out, o.err);
}

/* The metrics of the last success stay, and no part of the new ones. */
Test(command_watch_disk, metrics_are_written_as_a_whole_or_not_at_all) {
  enum { LIMIT = 1024 };
  struct rlimit limit = {.rlim_cur = LIMIT, .rlim_max = LIMIT};
  record_pulse("run", 40, "plain");
  write_text("run.prom", "old\n");
  cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
  outcome o = tsanom("watch --openmetrics run.prom run");
  cr_assert(
      o.status == 3 && strstr(o.err, "run.prom: ") && strstr(o.err, strerror(EFBIG)),
      "%s", o.err);
  cr_assert(strstr(o.out, "finished, iteration 40"));
  cr_assert(file_holds("run.prom", "old\n") && count_files() == 2);
}

/* It does not go on without anyone to read it. */
Test(command_watch_disk, output_that_cannot_be_written_ends_it) {
  static const char *const option[] = {"", "--json"};
  for (int i = 0; i < 2; i++) {
    start_pulse(i ? "json" : "text", 400, "hold");
    outcome o = tsanom("watch --wait --every 0.05 %s %s >/dev/full", option[i],
                       i ? "json" : "text");
    cr_assert(o.status == 3 && strstr(o.err, "cannot write the standard output"),
              "%d: %s", o.status, o.err);
    end_pulse();
  }
}
