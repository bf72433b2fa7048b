/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that state more than they store: memory and time of the commands stay in
 * proportion to what is stored. And names that are commands to a terminal. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/checksum.h"
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
    (void)snprintf(line, sizeof line, "exec tsanom %s >o 2>e", arguments);
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
  shell_ok("tsanom record -o run -- ./loop 40 >out 2>&1; test $? -lt 128");
  return 1;
}

Test(bounded, lines_without_an_end) {
  run_bounded("rate /dev/zero", 3);
  cr_assert(file_holds("e", "a NUL"), "%s", slurp("e"));
  shell_ok(
      "truncate -s 8G hole.csv; { echo thread,time; yes 0,1 | tr -d '\\n' | head -c "
      "300000000; } >long.csv");
  run_bounded("learn -o m hole.csv", 3);
  run_bounded("rate long.csv", 3);
  cr_assert(file_holds("e", "long.csv:2: the line is longer than 65535 bytes"), "%s",
            slurp("e"));
  /* What a line may have, and a last line without an end. */
  shell_ok(
      "{ echo thread,time,x; for i in 1 2 3 4; do printf '0,%%d,' $i; head -c 60000 "
      "/dev/zero | tr '\\0' y; echo; done; printf 0,5,z; } >wide.csv");
  run_bounded("rate --window 1 wide.csv", 0);
}

Test(bounded, holes_in_a_run) {
  if (!record_loop()) return;
  static const char *const files[] = {"heartbeat.vital", "regions/places.tsv",
                                      "heartbeat.00000", "regions/heartbeat.00000"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (shell("rm -rf r && cp -r run r && test -e r/%s", files[i]) != 0) continue;
    shell_ok("truncate -s 20G r/%s", files[i]);
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
  shell_ok("test -e run/heartbeat.vital && truncate -s 8G run/heartbeat.vital");
  run_bounded("rate run", 3);
  cr_assert(file_holds("e", "must contain"), "%s", slurp("e"));
  run_bounded("rate --salvage run", 0);
}

/* Two threads with numbers that are far apart. */
Test(bounded, thread_numbers_without_beats) {
  shell_ok(
      "for i in 1 2 3; do { echo thread,time; for k in 1 2 3 4 5 6 7 8; do echo 0,$k.$i; "
      "echo 65535,$k.$i; done; } >far.$i; sed s/65535/1/ far.$i >near.$i; done");
  run_bounded("learn -o m near.1 near.2 near.3", 0);
  run_bounded("learn -o n far.1 far.2 far.3", 3);
  cr_assert(file_holds("e", "far.1: the highest thread number is 65535, but only 2"),
            "%s", slurp("e"));
  run_bounded("diagnose -m m far.1", 3);
  run_bounded("rate --window 1 far.1", 0);
  shell_ok("sed -i s/65535/1023/ far.?");
  run_bounded("learn -o n far.1 far.2 far.3", 0);
}

Test(bounded, ranks_that_are_stated) {
  shell_ok(
      "mkdir job; printf 'tsanom ranks 1\\nsize\\t16777216\\njob\\t7\\n' >job/ranks.tsv");
  run_bounded("watch --wait job", 3);
  cr_assert(file_holds("e", "16777216 ranks"), "%s", slurp("e"));
  shell_ok("sed -i s/16777216/65536/ job/ranks.tsv");
  run_bounded("watch job", 3);
  cr_assert(file_holds("e", "no rank recorded a run"), "%s", slurp("e"));
}

/* ---- each number of each file, times 1000 */

enum { FACTOR = 1000, HEAD = 512, TEXT = 1 << 16, NUMBERS = 30 };

/* What has a sum: bytes from `begin` on; a sample's is XORed with its number. */
static const struct {
  size_t begin, bytes, number;
} summed[] = {{0, 120, 0}, {0, 504, 0}, {128, 120, 104}};

static uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

static void sum_again(const uint8_t *before, uint8_t *head) {
  for (size_t i = 0; i < sizeof summed / sizeof *summed; i++) {
    size_t begin = summed[i].begin, bytes = summed[i].bytes, number = summed[i].number;
    uint64_t sum = tsn_checksum(before + begin, bytes);
    if (number) sum ^= word_at(before + begin + number);
    if (sum != word_at(before + begin + bytes)) continue;
    sum = tsn_checksum(head + begin, bytes);
    if (number) sum ^= word_at(head + begin + number);
    memcpy(head + begin + bytes, &sum, sizeof sum);
  }
}

static void run_commands(const char *file, size_t at, const char *const *commands) {
  for (; *commands; commands++) {
    cr_log_info("%s:%zu", file, at);
    run_bounded(*commands, ANY);
  }
}

/* The words of 4 and of 8 bytes at the beginning of a binary file. */
static void scale_words(const char *file, const char *const *commands) {
  uint8_t before[HEAD] = {0}, head[HEAD];
  int opened = open(file, O_RDWR | O_CLOEXEC);
  cr_assert(opened >= 0);
  size_t size = (size_t)pread(opened, before, HEAD, 0);
  for (size_t bytes = 4; bytes <= 8; bytes += 4) {
    for (size_t at = 8; at + bytes <= size; at += bytes) {
      uint64_t word = 0;
      memcpy(&word, before + at, bytes);
      if (!word || word == UINT64_MAX) continue;
      memcpy(head, before, HEAD);
      word *= FACTOR;
      memcpy(head + at, &word, bytes);
      sum_again(before, head);
      cr_assert(pwrite(opened, head, size, 0) == (ssize_t)size);
      run_commands(file, at, commands);
    }
  }
  cr_assert(pwrite(opened, before, size, 0) == (ssize_t)size && close(opened) == 0);
}

static void write_parts(const char *file, const char *text, size_t at,
                        const char *middle) {
  FILE *out = fopen(file, "we");
  cr_assert(out && fwrite(text, 1, at, out) == at && fputs(middle, out) >= 0 &&
            fputs(text + at, out) >= 0 && fclose(out) == 0);
}

/* At most NUMBERS of a text file. */
static void scale_numbers(const char *file, const char *const *commands) {
  static char text[TEXT];
  FILE *in = fopen(file, "re");
  cr_assert(in);
  text[fread(text, 1, TEXT - 1, in)] = '\0';
  (void)fclose(in);
  size_t count = 0, done = 0;
  for (const char *c = text; *c; c++) count += isdigit(*c) && !isdigit(c[1]);
  for (size_t at = 1; text[at - 1]; at++) {
    if (!isdigit(text[at - 1]) || isdigit(text[at])) continue;
    if (done++ % (count / NUMBERS + 1) != 0) continue;
    write_parts(file, text, at, "000");
    run_commands(file, at, commands);
  }
  write_parts(file, text, 0, "");
}

static void scale_files(const char *files, const char *const *commands) {
  char line[256], file[128];
  (void)snprintf(line, sizeof line, "find %s -type f -size +0 | LC_ALL=C sort", files);
  FILE *list = popen(line, "re");
  while (list && fgets(file, sizeof file, list)) {
    file[strcspn(file, "\n")] = '\0';
    bool is_text = shell("LC_ALL=C grep -qU '[^[:print:][:space:]]' %s", file) != 0;
    (is_text ? scale_numbers : scale_words)(file, commands);
  }
  cr_assert(list && pclose(list) == 0);
}

Test(bounded, counts_of_a_run, .timeout = 400) {
  static const char *const commands[] = {"speedup run", "rate --salvage run", "watch run",
                                         NULL};
  if (!record_loop()) return;
  scale_files("run", commands);
}

Test(bounded, counts_of_totals, .timeout = 400) {
  static const char *const commands[] = {"speedup run", "watch run", NULL};
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return;
  shell_ok("tsanom record --profile -o run -- ./loop 40 >out 2>&1; test $? -lt 128");
  scale_files("run", commands);
}

/* Thread 65 becomes 65000. */
Test(bounded, counts_of_beats, .timeout = 400) {
  static const char *const commands[] = {"watch run", "learn -o n run run run", NULL};
  shell_ok(
      "printf '#include <tsanom/heartbeat.h>\nint main(void) {\n"
      "tsanom_heartbeat_init(\"run\", 1, 0, 0);\n"
      "for (int i = 0; i < 40; i++) tsanom_heartbeat_beat((i & 1) * 65, 0);\n"
      "return tsanom_heartbeat_finish();\n}\n' >beats.c && gcc "
      "-I'" TSANOM_WORKLOAD_SOURCES "/../../include' beats.c '" TSANOM_HEARTBEAT_LIBRARY
      "' " TSANOM_COVERAGE_LIBRARY " -lm -pthread -o beats && ./beats");
  run_bounded("learn -o m run run run", 0);
  run_bounded("watch run", 0);
  scale_files("run", commands);
}

Test(bounded, counts_of_text_files, .timeout = 400) {
  static const char *const commands[] = {"rate --window 1 b.1", "learn -o n b.1 b.2 b.3",
                                         "diagnose -m m b.1", NULL};
  static const char *const ranks[] = {"watch job", "similar job", NULL};
  shell_ok(
      "for i in 1 2 3; do { echo thread,time; for k in 1 2 3 4 5 6 7 8; do echo 1,$k.$i; "
      "echo 65,$k.$i; done; } >b.$i; done; mkdir job; printf 'tsanom ranks "
      "1\\nsize\\t4\\njob\\t7\\n' >job/ranks.tsv");
  run_bounded("learn -o m b.1 b.2 b.3", 0);
  scale_files("m b.1", commands);
  scale_files("job", ranks);
}

Test(bounded, collect_copies_what_a_run_stores) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return;
  shell_ok(
      "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7 tsanom record -o "
      "first -- ./loop 20 >out 2>&1; test $? -lt 128");
  shell_ok(
      "truncate -s 3G first/rank.0/hole; cd first/rank.0; i=0; while test $i -lt 300; do "
      "mkdir d && cd d || exit 1; i=$((i + 1)); done");
  run_bounded("collect first -o run", 0);
  shell_ok(
      "test $(du -s run | cut -f1) -lt 20000 && test $(stat -c %%s run/rank.0/hole) = "
      "3221225472 && test ! -e run/rank.0/d/d");
}

/* All are done, and nothing is left beside the rank. */
Test(bounded, several_calls_collect_the_same) {
  setenv("OMP_NUM_THREADS", "2", 1);
  if (!build_program("gcc", "loop")) return;
  shell_ok(
      "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7 tsanom record -o "
      "first -- ./loop 20 >out 2>&1; test $? -lt 128");
  for (int trial = 0; trial < 5; trial++) {
    shell_ok(
        "rm -rf run; for i in 1 2 3 4; do { tsanom collect first -o run >o.$i 2>&1; echo "
        "$? >s.$i; } & done; wait; cat o.?; test \"$(cat s.?)\" = \"$(printf "
        "'0\\n0\\n0\\n0')\" && test \"$(ls -A run | wc -l)\" = 3 && diff -r first/rank.0 "
        "run/rank.0");
  }
}

/* The name of a module in the run, and that of a file on the command line. */
Test(bounded, names_do_not_command_a_terminal) {
  if (!record_loop()) return;
  int terminal = open_terminal();
  const char *title = "\033]0;owned\a";
  shell_ok(
      "sed -i 's|\\t[^\\t]*/loop|\\t/none/%s\302\233x|' run/regions/places.tsv && grep "
      "-q owned run/regions/places.tsv",
      title);
  shell_ok(
      "cp -r run 'r%s' && (for c in period speedup; do for r in run 'r%s' 'none%s'; do "
      "tsanom $c \"$r\"; done; done) >%s 2>&1 &",
      title, title, title, ptsname(terminal));
  const char *text = read_terminal(terminal);
  cr_assert(strstr(text, "owned") || strstr(text, "?+0x"), "%s", text);
  cr_assert(!strchr(text, '\033') && !strchr(text, '\a') && !strstr(text, "\302\233"));
}
