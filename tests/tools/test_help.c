/* SPDX-License-Identifier: BSD-3-Clause */
/* Help, man pages and completion come from one table of options. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "run.h"
#include "support/skip.h"

TestSuite(command_help, .init = enter_folder, .fini = leave_folder, .timeout = 60);

static const char *const subcommands[] = {
    "cluster", "collect", "compare", "diagnose", "dtw",     "fit",  "learn",   "period",
    "rate",    "record",  "reduce",  "search",   "similar", "slow", "speedup", "watch"};
enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

Test(command_help, every_way_to_ask_prints_the_same) {
  for (size_t i = 0; i < SUBCOMMANDS; i++) {
    outcome o = tsanom("%s --help", subcommands[i]);
    cr_assert(o.status == 0 && *o.err == '\0', "%s: %s", subcommands[i], o.err);
    write_text("help", o.out);
    static const char *const ways[] = {"%s -h", "%s '-?'", "help %s"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
      char line[64];
      snprintf(line, sizeof line, ways[k], subcommands[i]);
      o = tsanom("%s >other", line);
      cr_assert(o.status == 0 && system("cmp -s help other") == 0, "%s", line);
    }
    cr_assert(tsanom("%s --usage", subcommands[i]).status == 0);
  }
}

/* The page has every option of the help, and roff has nothing to say about it. */
Test(command_help, each_subcommand_has_a_man_page) {
  int has_groff = system("command -v groff >/dev/null") == 0;
  if (!has_groff) note_skipped("needs the Debian package groff-base");
  for (size_t i = 0; i < SUBCOMMANDS; i++) {
    outcome o = tsanom("%s --man >page", subcommands[i]);
    cr_assert(o.status == 0 && file_holds("page", ".SH OPTIONS"), "%s", subcommands[i]);
    cr_assert(!has_groff || system("test -z \"$(groff -man -ww -Tutf8 page 2>&1 "
                                   ">/dev/null)\"") == 0,
              "%s", subcommands[i]);
    o = tsanom(
        "%s --complete | cut -f 1 | sed 's/-/\\\\-/g' >names; "
        "while read -r name; do grep -qF -- \"$name\" page || echo \"$name\"; done "
        "<names",
        subcommands[i]);
    cr_assert(*o.out == 0, "%s: not in the page: %s", subcommands[i], o.out);
  }
}

/* What bash offers for a line; its last word is completed. */
static int bash_offers(const char *line, const char *candidate) {
  char script[1024];
  snprintf(script, sizeof script,
           "PATH=\"$(dirname '" TSANOM_COMMAND
           "'):$PATH\"\n"
           ". '" TSANOM_COMPLETION
           "/tsanom.bash'\n"
           "COMP_WORDS=(%s '')\nlast=$((${#COMP_WORDS[@]} - 2))\n"
           "if [ '%c' = ' ' ]; then last=$((last + 1)); fi\n"
           "COMP_CWORD=$last\n_tsanom\nprintf '%%s\\n' \"${COMPREPLY[@]}\" >offers\n",
           line, line[strlen(line) - 1]);
  write_text("script", script);
  cr_assert(system("bash script") == 0);
  char check[128];
  snprintf(check, sizeof check, "grep -qxF -- '%s' offers", candidate);
  return system(check) == 0;
}

Test(command_help, bash_completes_subcommands_options_words_and_files) {
  if (system("command -v bash >/dev/null")) SKIP_TEST("needs the Debian package bash");
  write_text("points.csv", "");
  cr_expect(bash_offers("tsanom clu", "cluster"));
  cr_expect(bash_offers("tsanom help rec", "record"));
  cr_expect(bash_offers("tsanom cluster --me", "--metric"));
  cr_expect(bash_offers("tsanom record --cpu", "--cpu-time"));
  cr_expect(bash_offers("tsanom cluster --metric man", "manhattan"));
  cr_expect(bash_offers("tsanom cluster --metric ", "chebyshev"));
  cr_expect(bash_offers("tsanom cluster po", "points.csv"));
  cr_expect(!bash_offers("tsanom cluster po", "--metric"));
}

Test(command_help, progress_shows_the_share_and_the_time_left) {
  char text[128];
  progress_text(text, sizeof text, 1, 4, 10);
  cr_expect_str_eq(text, "[#######.......................]  25 %, 30 s left");
  progress_text(text, sizeof text, 1, 100, 10);
  cr_expect_str_eq(text, "[..............................]   1 %, 16 min left");
  progress_text(text, sizeof text, 4, 4, 10);
  cr_expect_str_eq(text, "[##############################] 100 %");
  progress_text(text, sizeof text, 0, 4, 10);
  cr_expect_str_eq(text, "[..............................]   0 %");
  progress_text(text, sizeof text, 3 << 20, 0, 10);
  cr_expect_str_eq(text, "3 MiB read");
}
