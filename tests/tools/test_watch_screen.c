/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch on a terminal of 24 lines. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pulses.h"
#include "support/skip.h"

enum { ROWS = 24, RANKS = 64, KILLED = 37 };

static char *text;
static char *line[ROWS];

/* Before anything is started: a container may be without /dev/pts. */
static void enter_with_terminal(void) {
  (void)close(open_terminal());
  enter_folder();
}

TestSuite(command_watch_screen, .init = enter_with_terminal, .fini = leave_folder,
          .timeout = 120);

/* What the command writes to a terminal. */
static void watch_on_terminal(unsigned short columns, const char *arguments) {
  const struct winsize size = {.ws_row = ROWS, .ws_col = columns};
  int terminal = open_terminal();
  cr_assert(ioctl(terminal, TIOCSWINSZ, &size) == 0);
  shell_ok("tsanom watch %s >%s &", arguments, ptsname(terminal));
  text = read_terminal(terminal);
}

/* The lines of the last screen, which must fit. Returns their number. */
static int last_screen(size_t columns) {
  char *from = text, *next;
  int lines = 0;
  while ((next = strstr(from, "\033[?7l"))) from = next + strlen("\033[?7l");
  char *end = strstr(from, "\033[?7h");
  cr_assert(from > text && end);
  *end = '\0';
  for (; *from; from = next + 1) {
    next = strchr(from, '\n');
    cr_assert(next && lines < ROWS - 1, "%d lines", lines);
    *next = '\0';
    from[strcspn(from, "\r")] = '\0';
    cr_assert(strlen(from) <= columns, "%s", from);
    line[lines++] = from;
  }
  return lines;
}

/* What is not normal comes first, and then the slowest. */
Test(command_watch_screen, more_ranks_than_lines) {
  double before = 0;
  record_pulse("plain", 40, "plain");
  record_pulse("slow", 80, "slow");
  shell_ok("mkdir job");
  write_text("job/ranks.tsv", "tsanom ranks 1\nsize\t64\njob\t-\n");
  for (int i = 0; i < RANKS; i++) {
    if (i == KILLED) continue;
    shell_ok("cp -r %s job/rank.%d", i % 5 ? "plain" : "slow", i);
  }
  record_pulse("job/rank.37", 40, "kill");
  watch_on_terminal(80, "job");
  cr_assert(last_screen(80) == ROWS - 1);
  cr_assert(strstr(line[0], "job/rank.37: killed, iteration 21"), "%s", line[0]);
  cr_assert(strstr(line[1], "    shutdown since iteration 21"), "%s", line[1]);
  for (int i = 2; i < ROWS - 3; i++) {
    const char *slowest = strstr(line[i], ": finished, iteration ");
    cr_assert(slowest && strchr(slowest, '('), "%s", line[i]);
    double rate = strtod(strchr(slowest, '(') + 1, NULL);
    cr_assert(rate > 0 && rate >= before, "%s after %g", line[i], before);
    before = rate;
  }
  cr_assert_str_eq(line[ROWS - 3], "44 more runs (0 with anomalies)");
  cr_assert(strncmp(line[ROWS - 2], "slowest: rank ", 14) == 0, "%s", line[ROWS - 2]);
  outcome o = tsanom("watch --json job");
  size_t objects = 0;
  for (const char *c = o.out; *c; c++) objects += *c == '\n';
  cr_assert(objects == RANKS, "%zu", objects);
}

/* All are shown if they fit, in lines of the terminal. */
Test(command_watch_screen, long_lines_are_cut) {
  record_pulse("plain", 40, "plain");
  record_pulse("killed", 40, "kill");
  for (unsigned short columns = 60; columns <= 200; columns += 140) {
    watch_on_terminal(columns, "plain killed");
    cr_assert(last_screen(columns) == 4);
    cr_assert(strstr(line[0], " killed: killed, iteration 21"), "%s", line[0]);
    cr_assert(strstr(line[1], "    shutdown since iteration 21"), "%s", line[1]);
    cr_assert(strstr(line[2], " plain: finished, iteration 40"), "%s", line[2]);
    cr_assert(strstr(line[3], "slowest: "));
  }
}

/* The slowest threads are shown, and all 64 of them hang. The watch ends with the first
 * that does: on a busy machine the others stop a little later, so that it begins late. */
Test(command_watch_screen, more_threads_than_lines) {
  int more = 0;
  start_pulse("run", 100, "many");
  shell_ok(UNTIL_STOPPED "; sleep 3");
  watch_on_terminal(80, "--wait --every 0.1 --until-anomaly run");
  end_pulse();
  int lines = last_screen(80);
  cr_assert(lines == ROWS - 1);
  cr_assert(strstr(line[0], "running, iteration 51, last beat "), "%s", line[0]);
  cr_assert(strstr(line[1], "    thread ") && strstr(line[1], ": hang since iteration"),
            "%s", line[1]);
  cr_assert(sscanf(line[ROWS - 2], "%d more anomalies", &more) == 1, "%s",
            line[ROWS - 2]);
  cr_assert(more > 0 && more <= 43, "%d", more);
  record_pulse("over", 40, "wide");
  CHECK_PRINTS(tsanom("watch over"), "slowest threads 5 (", ", 56 more threads");
}
