/* SPDX-License-Identifier: BSD-3-Clause */
/* Help, man pages and completion come from one table of options. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "support/random.h"
#include "support/skip.h"

TestSuite(command_help, .init = enter_folder, .fini = leave_folder, .timeout = 60);

static const char *const subcommands[] = {
    "cluster", "collect", "compare", "diagnose", "dtw",     "fit",  "learn",   "period",
    "rate",    "record",  "reduce",  "search",   "similar", "slow", "speedup", "watch"};
enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

Test(command_help, every_way_to_ask_prints_the_same) {
  for (size_t i = 0; i < SUBCOMMANDS; i++) {
    outcome o = check_quiet(tsanom("%s --help", subcommands[i]), 0);
    cr_assert(strstr(o.out, subcommands[i]), "%s", o.out);
    write_text("help", o.out);
    static const char *const ways[] = {"%s -h", "%s '-?'", "help %s"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
      char line[64];
      snprintf(line, sizeof line, ways[k], subcommands[i]);
      o = tsanom("%s >other", line);
      cr_assert(o.status == 0 && system("cmp -s help other") == 0, "%s", line);
    }
    tsanom_ok("%s --usage", subcommands[i]);
  }
}

/* The page has every option of the help, and roff has nothing to say about it. */
Test(command_help, each_subcommand_has_a_man_page) {
  int has_groff = system("command -v groff >/dev/null") == 0;
  if (!has_groff) note_skipped("needs the Debian package groff-base");
  for (size_t i = 0; i < SUBCOMMANDS; i++) {
    outcome o = tsanom("%s --man >page", subcommands[i]);
    cr_assert(o.status == 0 && file_holds("page", ".SH OPTIONS"), "%s", subcommands[i]);
    cr_assert(
        !has_groff ||
            system("test -z \"$(groff -man -ww -Tutf8 page 2>&1 >/dev/null)\"") == 0,
        "%s", subcommands[i]);
    o = tsanom(
        "%s --complete | cut -f 1 | sed 's/-/\\\\-/g' >names; while read -r name; do "
        "grep -qF -- \"$name\" page || echo \"$name\"; done <names",
        subcommands[i]);
    cr_assert(*o.out == 0, "%s: not in the page: %s", subcommands[i], o.out);
  }
}

/* What bash offers for a line; its last word is completed. */
static int bash_offers(const char *line, const char *candidate) {
  char script[1024];
  snprintf(script, sizeof script,
           ". '" TSANOM_COMPLETION
           "/tsanom.bash'\n"
           "COMP_WORDS=(%s '')\nlast=$((${#COMP_WORDS[@]} - 2))\n"
           "if [ '%c' = ' ' ]; then last=$((last + 1)); fi\n"
           "COMP_CWORD=$last\n_tsanom\nprintf '%%s\\n' \"${COMPREPLY[@]}\" >offers\n",
           line, line[strlen(line) - 1]);
  write_text("script", script);
  shell_ok("bash script");
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

/* On a terminal. The command is stopped for a while, so that it takes longer than the
 * seconds without a bar, and again until it has printed its result, so that there are two
 * bars however fast the machine is. */
Test(command_help, progress_shows_the_share_and_the_time_left) {
  enum { POINTS = 12000, DIMENSIONS = 14, MARKS = 30 };
  uint64_t seed = 1;
  FILE *points = fopen("points", "w");
  cr_assert(points);
  for (int i = 0; i < POINTS * DIMENSIONS; i++) {
    (void)fprintf(points, "%d%c", (int)random_between(&seed, 0, 999),
                  i % DIMENSIONS == DIMENSIONS - 1 ? '\n' : ',');
  }
  cr_assert(fclose(points) == 0);
  int terminal = open_terminal();
  shell_ok(
      "{ tsanom cluster points >out 2>%s & for pause in 2.2 1.2 1.2 1.2 1.2 1.2 1.2 1.2; "
      "do sleep 0.2; test -s out && break; kill -STOP $!; sleep $pause; kill -CONT $!; "
      "done; wait $!; } &",
      ptsname(terminal));
  char *text = read_terminal(terminal);
  size_t used = strlen(text);
  int before = 0, bars = 0, lefts = 0;
  for (char *bar = text; (bar = strchr(bar, '['));) {
    char *share;
    if (*++bar == 'K') continue; /* of the removal */
    size_t marks = strspn(bar, "#"), gaps = strspn(bar + marks, ".");
    cr_assert(marks + gaps == MARKS && bar[MARKS] == ']', "%s", text);
    long percent = strtol(bar + MARKS + 1, &share, 10);
    cr_assert(!strncmp(share, " %", 2) && percent >= before && percent <= 100, "%s",
              text);
    cr_assert(labs((long)marks * 100 - percent * MARKS) <= 100 + MARKS, "%s", text);
    if (percent > 0 && percent < 100) {
      char *unit;
      cr_assert(!strncmp(share, " %, ", 4), "%s", text);
      cr_assert(strtod(share + 4, &unit) >= 0 &&
                    (!strncmp(unit, " s left", 7) || !strncmp(unit, " min left", 9)),
                "%s", text);
      lefts++;
    }
    before = (int)percent;
    bars++;
  }
  size_t end = sizeof "\r\033[K" - 1;
  cr_assert(bars >= 2 && lefts >= 1 && used > end, "%s", text);
  cr_assert(!strcmp(text + used - end, "\r\033[K"), "the bar is left: %s", text);
}
