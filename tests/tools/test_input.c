/* SPDX-License-Identifier: BSD-3-Clause */
/* What all subcommands share: how bad files are rejected, and how results
 * leave. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

TestSuite(command_input, .init = enter_folder, .fini = leave_folder);

typedef struct {
  const char *text;     /* of the file "bad" */
  const char *column;   /* option to read it with */
  const char *place;    /* the message starts with */
  const char *sentence; /* and contains */
} bad_file;

static const bad_file bad_files[] = {
    {"", "", "bad: ", "holds no numbers"},
    {"# only a comment\n\n", "", "bad: ", "holds no numbers"},
    {"", "--column x", "bad: ", "header"},
    {"x\n", "--column x", "bad: ", "holds no numbers"},
    {"1\nnan\n", "", "bad:2: column 1: \"nan\"", "not finite"},
    {"1\n-inf\n", "", "bad:2: column 1: \"-inf\"", "not finite"},
    {"1\n1e999\n", "", "bad:2: column 1: \"1e999\"", "1.79e308"},
    {"1\n2024-01-02\n", "", "bad:2: column 1: \"2024-01-02\"", "not a number"},
    {"1\n0x10\n", "", "bad:2: column 1: \"0x10\"", "not a number"},
    {"1\n\n2 3\n", "", "bad:3: column 1: \"2 3\"", "not a number"},
    {"1\n2;3\n", "", "bad:2: column 1: \"2;3\"", "commas, semicolons, tabs"},
    {"1\n\"1,5\"\n", "", "bad:2: column 1: \"1,5\"", "point"},
    {"1\n2,3\n", "", "bad:2: 2 fields", "--column"},
    {"x,y\n1,2\n3\n", "--column y", "bad:3: 1 fields", "header has 2"},
    {"x,y\n1,2\n3,4,5\n", "--column y", "bad:3: 3 fields", "header has 2"},
    {"x,y\n1,2\n3,\n", "--column y", "bad:3: column 2 (y): \"\"", "empty"},
    {"x,y\n1,2\n3,four\n", "--column y", "bad:3: column 2 (y): \"four\"", "not a number"},
    {"x,y\n1,2\n", "--column z", "bad:1: ", "no column is called \"z\""},
    {"x,y\n1,2\n", "--column z", "bad:1: ", "the header has \"x\", \"y\""},
    {"x,x\n1,2\n", "--column x", "bad:1: columns 1 and 2", "both"},
    {"1\n\xff\xfe\n", "", "bad:2: byte 1 (0xff)", "UTF-8"},
    {"1\n\xed\xa0\x80\n", "", "bad:2: byte 1 (0xed)", "UTF-8"},
    {"1\n\xc3", "", "bad:2: byte 1 (0xc3)", "UTF-8"},
    {"1\n\"2\n3\n", "", "bad:2: ", "not closed"},
    {"1\n2\"3\n", "", "bad:2: ", "before byte 2"},
    {"1\r2\r3\r", "", "bad:1: ", "\\x0d"},
};

Test(command_input, bad_text_is_rejected_with_its_place_and_what_would_be_right) {
  write_text("good", "1\n");
  write_text("good.csv", "x,y,z\n1,1,1\n");
  for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
    const bad_file *b = &bad_files[i];
    write_text("bad", b->text);
    outcome o = tsanom("dtw %s bad %s", *b->column ? "good.csv" : "good", b->column);
    CHECK_REJECTED(o, 3, b->place, b->sentence);
    char start[64];
    snprintf(start, sizeof start, "tsanom dtw: %s", b->place);
    cr_assert(!strncmp(o.err, start, strlen(start)), "%s", o.err);
  }
}

Test(command_input, a_long_field_is_cut_in_the_message) {
  char text[5001];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  write_text("bad", text);
  outcome o = tsanom("dtw bad bad");
  CHECK_REJECTED(o, 3, "bad:1: column 1: \"xxx", "...\"");
  cr_assert(strlen(o.err) < 300);
}

Test(command_input, bytes_that_are_no_text_are_rejected) {
  write_bytes("bad", "1\n2\0003\n", 6);
  CHECK_REJECTED(tsanom("dtw bad bad"), 3, "bad:2: byte 2 is NUL");
  write_bytes("bad", "\xff\xfe\x31\0\n\0", 6); /* UTF-16 */
  CHECK_REJECTED(tsanom("dtw bad bad"), 3, "bad:1: byte 1 (0xff)", "iconv");
  CHECK_REJECTED(tsanom("dtw /dev/zero bad"), 3, "/dev/zero:1: ", "16 MiB");
}

Test(command_input, files_that_cannot_be_read_are_named) {
  write_text("a", "1\n");
  mkdir("d", 0777);
  CHECK_REJECTED(tsanom("dtw a missing"), 3, "missing: ", "No such file");
  CHECK_REJECTED(tsanom("dtw a d"), 3, "d: ", "directory");
  CHECK_REJECTED(tsanom("dtw a - <d"), 3, "standard input: ", "directory");
  CHECK_REJECTED(tsanom("dtw a - <&-"), 3, "standard input: ");
}

Test(command_input, a_result_that_cannot_be_written_is_an_error) {
  write_text("a", "1\n");
  static const char *const ways[] = {"dtw a a", "dtw a a --json", "--help", "--version",
                                     "dtw --help"};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    CHECK_REJECTED(tsanom("%s >/dev/full", ways[i]), 3, "standard output", "No space");
    CHECK_REJECTED(tsanom("%s >&-", ways[i]), 3, "standard output");
  }
}

Test(command_input, a_picture_appears_whole_or_not_at_all) {
  write_text("a", "1\n2\n");
  mkdir("d", 0777);
  CHECK_REJECTED(tsanom("dtw a a --plot d"), 3, "d: is a directory");
  CHECK_REJECTED(tsanom("dtw a a --plot no/p.svg"), 3, "no/p.svg: cannot write");
  CHECK_REJECTED(tsanom("dtw a a --plot p.txt"), 2, "p.txt", "FILE.svg or FILE.png");
  CHECK_REJECTED(tsanom("dtw a a --plot ./no.svg/p.pdf"), 2, "p.pdf", "FILE.png");
  CHECK_REJECTED(tsanom("dtw a a --plot -"), 2, "\"-\"", "FILE.svg");
  CHECK_REJECTED(tsanom("dtw a a --plot --json"), 2, "--json", "FILE.svg");
  CHECK_REJECTED(tsanom("dtw a a --plot /dev/full"), 3, "/dev/full");
  write_text("gnuplot", "#!/bin/sh\necho '<svg>'\necho reason >&2\nexit 1\n");
  chmod("gnuplot", 0755);
  setenv("PATH", "/nowhere", 1);
  CHECK_REJECTED(tsanom("dtw a a --plot p.svg"), 3, "gnuplot is not installed");
  setenv("PATH", ".", 1);
  write_text("old.svg", "as it was");
  CHECK_REJECTED(tsanom("dtw a a --plot old.svg"), 3, "old.svg: gnuplot failed",
                 "reason");
  setenv("PATH", "/usr/bin:/bin", 1);
  shell_ok("test \"$(cat old.svg)\" = 'as it was'");
  cr_assert(count_files() == 4, "something was left");
}

Test(command_input, pictures_of_samples_that_are_all_equal_are_drawn_silently) {
  write_text("a", "5\n5\n");
  write_text("t.csv", "x,y\n5,5\n5,5\n");
  static const char *const calls[] = {"dtw a a", "dtw a a --path", "fit t.csv",
                                      "cluster t.csv -k 2", "search --stream a a"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    check_quiet(tsanom("%s --plot p.svg", calls[i]), 0);
    check_svg("p.svg");
  }
}

Test(command_input, a_link_is_followed_and_permissions_are_kept) {
  write_text("a", "1\n2\n");
  write_text("p.svg", "");
  chmod("p.svg", 0640);
  cr_assert(symlink("p.svg", "link") == 0);
  tsanom_ok("dtw a a --plot link");
  struct stat about;
  cr_assert(lstat("link", &about) == 0 && S_ISLNK(about.st_mode));
  cr_assert(stat("p.svg", &about) == 0 && (about.st_mode & 0777) == 0640);
  check_svg("p.svg");
}

Test(command_input, an_interrupted_run_leaves_no_file) {
  write_text("a", "1\n2\n");
  write_text("gnuplot", "#!/bin/sh\nkill -TERM $PPID\ncat >/dev/null\n");
  chmod("gnuplot", 0755);
  cr_assert(system("PATH=.:$PATH; tsanom dtw a a --plot p.svg") != 0);
  cr_assert(count_files() == 2, "something was left");
}

Test(command_input, help_and_version_are_printed) {
  outcome o = tsanom("--version");
  cr_assert(o.status == 0 && !strncmp(o.out, "tsanom ", 7));
  CHECK_PRINTS(tsanom("--help"), "dtw", "diagnose");
  cr_assert(tsanom("help dtw").status == 0 && tsanom("help record").status == 0);
  CHECK_REJECTED(tsanom("%s", ""), 2, "Usage");
  CHECK_REJECTED(tsanom("no-such-thing"), 2, "\"no-such-thing\": unknown subcommand");
}

/* The same table with each separator. */
Test(command_input, fields_are_separated_as_in_the_first_row) {
  static const char *const tables[] = {"x,y\n1,2\n2,4\n3,7\n",
                                       "x;y\n1;2\n2;4\n3;7\n",
                                       "x\ty\n1\t2\n2\t4\n3\t7\n",
                                       "x y\n1 2\n2 4\n3 7\n",
                                       "# names\n x   y \n 1  2\n2 \t 4\n3 7",
                                       "\"x\";\"y\"\n1;2\n2;4\n3;7\n"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    write_text("t", tables[i]);
    tsanom_ok("fit t --json");
    if (i == 0) shell_ok("cp t first");
    cr_assert(tsanom("fit t >a").status == 0 && tsanom("fit first >b").status == 0);
    cr_assert(system("cmp -s a b") == 0, "table %zu", i);
  }
  write_text("t", "1 2\n2 4\n9 8\n");
  cr_assert(strstr(tsanom("cluster t -k 1").out, "3 points"));
}

/* Blanks separate names only if they separate as many numbers below. */
Test(command_input, a_name_may_contain_blanks) {
  write_text("t", "my column\n1\n2\n");
  tsanom_ok("dtw t t --column 'my column'");
  write_text("t", "one event\nother event\none event\n");
  cr_assert(strstr(tsanom("period --events t").out, "3 samples"));
  write_text("t", "my column\n");
  CHECK_REJECTED(tsanom("dtw t t --column 'my column'"), 3, "holds no numbers");
  write_text("t", "1;2,5\n2;3,5\n");
  CHECK_REJECTED(tsanom("cluster t"), 3, "t:1: column 2: \"2,5\"", "a point");
}

/* The name of the file decides. */
Test(command_input, plots_are_svg_or_png) {
  write_text("a", "1\n2\n1\n");
  tsanom_ok("dtw a a --plot p.PNG");
  shell_ok("head -c 4 p.PNG | grep -q PNG && tail -c 8 p.PNG | grep -q IEND");
  tsanom_ok("dtw a a --plot q");
  check_svg("q");
}
