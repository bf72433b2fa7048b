/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that state more than they store: memory and time of the commands stay in
 * proportion to what is stored. And names that are commands to a terminal. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded.h"
#include "support/skip.h"

TestSuite(bounded, .init = enter_folder, .fini = leave_folder, .timeout = 120);

enum { ANY = -1 };

/* Run "tsanom ARGUMENTS" with at most 300 MiB and 10 s of processor time: it must end by
 * itself with the status, or ANY. What it printed is in `o` and `e`. */
static void run_bounded(const char *arguments, int expected) {
  enum { MEGABYTES = 300, SECONDS = 10 };
  struct rusage use;
  int status;
  pid_t child = fork();
  if (child == 0) {
    char line[1024];
    (void)snprintf(line, sizeof line, "exec '" TSANOM_COMMAND "' %s >o 2>e", arguments);
    (void)setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
  }
  cr_assert(wait4(child, &status, 0, &use) == child);
  cr_assert(WIFEXITED(status), "%s: ended by signal %d", arguments, WTERMSIG(status));
  cr_assert(use.ru_maxrss < MEGABYTES << 10, "%s: %ld KiB", arguments, use.ru_maxrss);
  cr_assert(expected == ANY || WEXITSTATUS(status) == expected, "%s: %d\n%s%s", arguments,
            WEXITSTATUS(status), slurp("o"), slurp("e"));
}

static int record_loop(void) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return 0;
  cr_assert(shell("'" TSANOM_COMMAND
                  "' record -o run -- ./loop 40 >out 2>&1; test $? -lt 128") == 0);
  return 1;
}

Test(bounded, lines_without_an_end) {
  run_bounded("rate /dev/zero", 3);
  cr_assert(file_holds("e", "a NUL"), "%s", slurp("e"));
  cr_assert(shell("truncate -s 8G hole.csv; { echo thread,time; yes 0,1 | tr -d '\\n' | "
                  "head -c 300000000; } >long.csv") == 0);
  run_bounded("learn -o m hole.csv", 3);
  run_bounded("rate long.csv", 3);
  cr_assert(file_holds("e", "long.csv:2: the line is longer than 65535 bytes"), "%s",
            slurp("e"));
  /* What a line may have, and a last line without an end. */
  cr_assert(shell("{ echo thread,time,x; for i in 1 2 3 4; do printf '0,%%d,' $i; "
                  "head -c 60000 /dev/zero | tr '\\0' y; echo; done; printf 0,5,z; } "
                  ">wide.csv") == 0);
  run_bounded("rate --window 1 wide.csv", 0);
}

Test(bounded, holes_in_a_run) {
  if (!record_loop()) return;
  static const char *const files[] = {"heartbeat.vital", "regions/places.tsv",
                                      "heartbeat.00000", "regions/heartbeat.00000"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (shell("rm -rf r && cp -r run r && test -e r/%s", files[i]) != 0) continue;
    cr_assert(shell("truncate -s 20G r/%s", files[i]) == 0);
    for (int salvage = 0; salvage < 2; salvage++) {
      static const char *const commands[] = {"rate", "speedup", "period"};
      for (size_t k = 0; k < 3; k++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s %s r", commands[k],
                       salvage ? "--salvage" : "");
        run_bounded(line, ANY);
      }
    }
  }
}

/* A hole behind the samples is damage, and what is in front of it is kept. */
Test(bounded, vital_signs_with_a_hole) {
  if (!record_loop()) return;
  cr_assert(shell("test -e run/heartbeat.vital && truncate -s 8G run/heartbeat.vital") ==
            0);
  run_bounded("rate run", 3);
  cr_assert(file_holds("e", "must contain"), "%s", slurp("e"));
  run_bounded("rate --salvage run", 0);
}

Test(bounded, collect_copies_what_a_run_stores) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return;
  cr_assert(shell("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7 "
                  "'" TSANOM_COMMAND
                  "' record -o first -- ./loop 20 >out 2>&1; test $? -lt 128") == 0);
  cr_assert(shell("truncate -s 3G first/rank.0/hole; cd first/rank.0; i=0; while test $i "
                  "-lt 300; do mkdir d && cd d || exit 1; i=$((i + 1)); done") == 0);
  run_bounded("collect first -o run", 0);
  cr_assert(shell("test $(du -s run | cut -f1) -lt 20000 && "
                  "test $(stat -c %%s run/rank.0/hole) = 3221225472 && "
                  "test ! -e run/rank.0/d/d") == 0);
}

/* All are done, and nothing is left beside the rank. */
Test(bounded, several_calls_collect_the_same) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return;
  cr_assert(shell("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7 "
                  "'" TSANOM_COMMAND
                  "' record -o first -- ./loop 20 >out 2>&1; test $? -lt 128") == 0);
  for (int trial = 0; trial < 5; trial++) {
    cr_assert(shell("rm -rf run; for i in 1 2 3 4; do { '" TSANOM_COMMAND
                    "' collect first -o run >o.$i 2>&1; echo $? >s.$i; } & done; wait; "
                    "cat o.?; test \"$(cat s.?)\" = \"$(printf '0\\n0\\n0\\n0')\" && "
                    "test \"$(ls -A run | wc -l)\" = 3 && "
                    "diff -r first/rank.0 run/rank.0") == 0);
  }
}

/* The name of a module in the run, and that of a file on the command line. */
Test(bounded, names_do_not_command_a_terminal) {
  if (!record_loop()) return;
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) SKIP_TEST("needs a pseudoterminal, and /dev/pts is not mounted");
  cr_assert(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const char *title = "\033]0;owned\a";
  cr_assert(shell("sed -i 's|\\t[^\\t]*/loop|\\t/none/%s\302\233x|' "
                  "run/regions/places.tsv && grep -q owned run/regions/places.tsv",
                  title) == 0);
  cr_assert(shell("cp -r run 'r%s' && (for c in period speedup; do for r in run 'r%s' "
                  "'none%s'; do '" TSANOM_COMMAND "' $c \"$r\"; done; done) >%s 2>&1 &",
                  title, title, title, ptsname(terminal)) == 0);
  static char text[1 << 18];
  size_t used = 0;
  for (ssize_t got; (got = read(terminal, text + used, sizeof text - 1 - used)) > 0;) {
    used += (size_t)got;
  }
  text[used] = '\0';
  (void)close(terminal);
  cr_assert(strstr(text, "owned") || strstr(text, "?+0x"), "%s", text);
  cr_assert(!strchr(text, '\033') && !strchr(text, '\a') && !strstr(text, "\302\233"));
}
